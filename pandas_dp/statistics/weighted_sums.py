"""How far weighted sums of many discrete Laplace noises reach: never too short."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pandas_dp.statistics.tail_bounds import mix_half_width

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["many_half_width"]

_TERMS = 1 << 13
_BETWEEN = np.arange(1, 33) / 33


def many_half_width(weights: Sequence[float] | Floats, scale: Fraction, level: float) -> float:
    """Return a ``level`` quantile of ``abs(sum(weight * noise))`` for any number of independent discrete Laplace noises of one scale.

    Parameters
    ----------
    weights : sequence of float
        Of the noises; larger ones make it larger [2]_.
    scale : Fraction
        Of each.
    level : float
        Between 0 and 1.

    Notes
    -----
    It may be too large, never too small.  With the characteristic function ``f(t) = 1 / prod(1 + (w*t)**2)`` of continuous Laplace noises, Poisson's summation formula
    gives ``P(abs(X) <= x) + r = d*x/pi + 2/pi * sum(f(k*d) * sin(k*d*x) / k)`` with ``0 <= r <= P(abs(X) > 2*pi/d - x)`` [1]_.  That, and the sum's rest, are made
    small and subtracted; a start, and what is left where the sum would be long, is Chernoff's bound ``2 * exp(-t*x) / prod(1 - (w*t)**2)``.
    Discrete noise adds at most the sum of the weights, as in :func:`pandas_dp.statistics.tail_bounds.mix_half_width`, which serves up to three weights.

    References
    ----------
    .. [1] J. Abate, W. Whitt. The Fourier-series method for inverting transforms of probability distributions. Queueing Systems 10, 1992, section 5.
    .. [2] Z. W. Birnbaum. On random variables with comparable peakedness. Ann. Math. Statist. 19, 1948.
    """
    sizes = np.abs(np.asarray(weights, dtype=np.float64))
    largest = float(sizes.max(initial=0.0))
    if np.count_nonzero(sizes) <= 3 or not math.isfinite(largest):  # noqa: PLR2004
        return mix_half_width(sizes[sizes > 0].tolist(), scale, level) if math.isfinite(largest) else math.inf
    return (_continuous(sizes / largest, 1 - level) * float(scale) + float(sizes.sum()) / largest) * largest


def _continuous(sizes: Floats, alpha: float) -> float:
    """Return the same for continuous noises of scale 1, whose largest weight is 1."""
    high = _chernoff(sizes, alpha)
    spacing = 2 * math.pi / (high + _chernoff(sizes, alpha / 10**6))
    terms = 16
    while _rest(sizes, terms * spacing) > alpha / 10**4:
        terms *= 2
        if terms > _TERMS:
            return high
    k = np.arange(1, terms + 1)
    parts = np.exp(-np.log1p(np.square(np.outer(k * spacing, sizes))).sum(axis=1)) / k
    level = 1 - alpha + alpha / 10**6 + alpha / 10**4 + 1e-12
    low = 0.0
    for _ in range(30):
        middle = (low + high) / 2
        inside = spacing * middle / math.pi + 2 / math.pi * float(np.dot(parts, np.sin(k * (spacing * middle))))
        low, high = (low, middle) if inside >= level else (middle, high)
    return high


def _chernoff(sizes: Floats, alpha: float) -> float:
    """Return the least ``(log(2/alpha) - sum(log(1 - (w*t)**2))) / t`` over some ``t``; each is a bound."""
    low, high = 0.0, 1.0
    best = math.inf
    for _ in range(3):
        t = low + (high - low) * _BETWEEN
        bounds = (math.log(2 / alpha) - np.log1p(-np.square(np.outer(t, sizes))).sum(axis=1)) / t
        place = int(np.argmin(bounds))
        best = min(best, float(bounds[place]))
        low, high = t[place - 1] if place else low, t[place + 1] if place + 1 < len(t) else high
    return best


def _rest(sizes: Floats, t: float) -> float:
    """Return a bound of ``2/pi`` times the sum of ``f(k*d) / k`` over ``k*d > t``: there ``f`` falls as ``t**-2``, times ``1 + t**-2`` at most."""
    return math.exp(-float(np.log1p(np.square(sizes * t)).sum())) * (1 + 1 / t**2) / math.pi
