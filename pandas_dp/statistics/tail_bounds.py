"""How far weighted sums of discrete Laplace noises of one scale reach: public, a function of weights, scale and level alone.

A quantile here may be too large, never too small: intervals made of it cover at least as often as they say.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pandas_dp.noise.laplace import discrete_laplace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

__all__ = ["laplace_pair_half_width", "mix_half_width", "solve_outward"]

_APART = 1.001  # weights closer than this are taken apart, the larger one up, so that the fractions below can be computed
_ROUNDS = 12
_OUTWARD = 1e-9


def mix_half_width(weights: Sequence[float], scale: Fraction, level: float) -> float:
    """Return a ``level`` quantile of ``abs(sum(weight * noise))`` for independent noises of one scale.

    Parameters
    ----------
    weights : sequence of float
        At most three of them different from zero.
    scale : Fraction
        Of the discrete Laplace noises.
    level : float
        Between 0 and 1.

    Notes
    -----
    The characteristic function of continuous Laplace noises is ``1 / prod(1 + (w*t)**2)``; partial fractions give the tail ``sum(A_i * exp(-x/w_i))`` with
    ``A_i = prod(w_i**2 / (w_i**2 - w_j**2))``.  A larger weight makes a wider distribution [1]_, so that weights are told apart upwards.  Discrete noise,
    coupled by its quantiles, is never more than 1 away from continuous noise, so that the sum of the weights is added.

    References
    ----------
    .. [1] Z. W. Birnbaum. On random variables with comparable peakedness. Ann. Math. Statist. 19, 1948.
    """
    sizes = sorted(abs(float(weight)) for weight in weights if weight)
    if not sizes:
        return 0.0
    if len(sizes) == 1:
        return sizes[0] * discrete_laplace(scale).half_width(level)
    whole = sum(sizes)
    if len(sizes) == 2:  # noqa: PLR2004
        return whole * laplace_pair_half_width(sizes[0] / whole, float(scale), level)
    for place in range(1, len(sizes)):
        sizes[place] = max(sizes[place], sizes[place - 1] * _APART)
    squares = [size * size for size in sizes]
    shares = [math.prod(one / (one - other) for other in squares if other != one) for one in squares]

    def tail(x: float) -> float:
        return sum(share * math.exp(-x / size) for share, size in zip(shares, sizes, strict=True))

    return _quantile(tail, sizes[-1], 1 - level) * float(scale) + whole


def laplace_pair_half_width(share: float, scale: float, level: float) -> float:
    """Return the ``level`` quantile of ``abs((1-p) * Z1 - p * Z2)`` for two independent noises of one scale.

    Parameters
    ----------
    share : float
        ``p``, between 0 and 1.
    scale : float
        Of the discrete Laplace noises.
    level : float
        Between 0 and 1.

    Notes
    -----
    For continuous Laplace noise and weights ``a > b`` the tail is ``(a**2 exp(-x/a) - b**2 exp(-x/b)) / (a**2 - b**2)`` in units of the
    scale, ``exp(-x/a) * (1 + x/(2a))`` if they are equal.  1 is added for the discrete noise, as in :func:`mix_half_width`.
    """
    a, b = max(share, 1 - share), min(share, 1 - share)

    def tail(x: float) -> float:
        if a - b < 1e-6:  # noqa: PLR2004
            return math.exp(-x / a) * (1 + x / (2 * a))
        second = b * b * math.exp(-x / b) if b > 0 else 0.0
        return (a * a * math.exp(-x / a) - second) / (a * a - b * b)

    return _quantile(tail, 1.0, 1 - level) * scale + 1


def _quantile(tail: Callable[[float], float], start: float, alpha: float) -> float:
    low, high = 0.0, start
    while tail(high) > alpha:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > alpha else (low, middle)
    return high


def solve_outward(centre: float, sign: int, reach: Callable[[float], float], low: float, high: float) -> float:
    """Return the end, between ``low`` and ``high``, of the interval of all ``x`` within ``reach(x)`` of ``centre``, a little outward.

    ``reach`` changes less than ``x`` does, so that this contracts.
    """
    end = min(max(centre, low), high)
    for _ in range(_ROUNDS):
        before = end
        end = min(max(centre + sign * reach(end), low), high)
        if abs(end - before) <= _OUTWARD * (high - low) / 16:
            break
    return min(max(end + sign * _OUTWARD * (high - low), low), high)
