"""From noisy integers to answers with intervals.

Post-processing: everything here is a function of released numbers and public parameters, so it costs nothing, and it may not fail whatever
the noise was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pandas_dp.samplers.laplace import discrete_laplace

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from pandas_dp.domain import Domain

_SURE = 4  # noisy mass, in widest half widths, above which an interval is worth solving for
_ROUNDS = 12
_OUTWARD = 1e-9

__all__ = ["CountEstimate", "GroupEstimate", "RatioEstimate", "SumEstimate", "laplace_pair_half_width", "worst_mean_half_width"]


@dataclass(frozen=True, slots=True)
class CountEstimate:
    """A count: one cell, unbiased, possibly negative."""

    total: int
    scale: Fraction

    @property
    def value(self) -> int:
        """The noisy count."""
        return self.total

    def half_width(self, level: float) -> int:
        """Return the exact quantile of the noise."""
        return discrete_laplace(self.scale).half_width(level)

    def interval(self, level: float) -> tuple[int, int]:
        """Return value ± half width."""
        width = self.half_width(level)
        return self.total - width, self.total + width


@dataclass(frozen=True, slots=True)
class SumEstimate:
    """A sum: one signed cell, unbiased."""

    total: int
    scale: Fraction
    domain: Domain

    @property
    def value(self) -> Any:
        """The noisy sum in the column's type."""
        return self._decode(self.total)

    def half_width(self, level: float) -> Any:
        """Return the exact quantile of the noise."""
        return self._decode(discrete_laplace(self.scale).half_width(level))

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return value ± half width."""
        width = discrete_laplace(self.scale).half_width(level)
        return self._decode(self.total - width), self._decode(self.total + width)

    def _decode(self, steps: int) -> Any:
        return self.domain.decode_steps(steps)


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """A mean: two cells ``(k, m - k)``, of which the share of the first is the mean's height between the bounds.

    Attributes
    ----------
    high, low : int
        The noisy totals.
    scale : Fraction
        Of the noise on each.
    domain : Domain
        The column's bounds and grid.
    """

    high: int
    low: int
    scale: Fraction
    domain: Domain

    @property
    def value(self) -> Any:
        """The estimated mean, always inside the bounds."""
        return self.domain.decode_share(self._share())

    def half_width(self, level: float) -> Any:
        """Return the distance from the estimate to the farther end of its interval."""
        lower, upper = self._shares(level)
        share = self._share()
        return self.domain.decode_width(max(upper - share, share - lower))

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return the ends of the interval, inside the bounds.

        Notes
        -----
        At the true share ``p`` the pivot ``(1-p) * high - p * low`` is pure noise, whatever the number of rows: the
        interval holds every ``p`` for which it lies within its ``level`` quantile (Fieller's method), so its coverage does not rest on the
        denominator being far from zero.  With few rows it is the whole range.

        References
        ----------
        .. [1] E. C. Fieller. Some problems in interval estimation. J. R. Stat. Soc. B 16, 1954.
        """
        lower, upper = self._shares(level)
        return self.domain.decode_share(lower), self.domain.decode_share(upper)

    def _share(self) -> float:
        high, low = max(self.high, 0), max(self.low, 0)
        return high / (high + low) if high + low else 0.5

    def _shares(self, level: float) -> tuple[float, float]:
        scale = float(self.scale)
        mass = float(self.high + self.low)
        widest = laplace_pair_half_width(0.0, scale, level)
        if mass <= _SURE * widest:
            return 0.0, 1.0
        centre = float(self.high) / mass

        def end(sign: int) -> float:
            # The quantile changes by at most `widest` over the whole range, so this contracts by 1 / _SURE a round.
            share = min(max(centre, 0.0), 1.0)
            for _ in range(_ROUNDS):
                share = min(max(centre + sign * laplace_pair_half_width(share, scale, level) / mass, 0.0), 1.0)
            return min(max(share + sign * _OUTWARD, 0.0), 1.0)

        return min(end(-1), self._share()), max(end(1), self._share())


@dataclass(frozen=True, slots=True)
class GroupEstimate:
    """One statistic of many groups: noisy cells as arrays, one place a group.

    Attributes
    ----------
    statistic : Statistic
        How one group's cells become an estimate.
    noisy : tuple of ndarray
        One array for each cell.
    scale : Fraction
        Of the noise on each.
    value : ndarray
        The answers.
    """

    statistic: Any
    noisy: tuple[NDArray[Any], ...]
    scale: Fraction
    value: Any

    def of(self, group: int) -> Any:
        """Return the estimate of one group."""
        return self.statistic.finish([int(cell[group]) for cell in self.noisy], self.scale)

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return the lower and upper ends, one place a group."""
        ends = [self.of(group).interval(level) for group in range(len(self.noisy[0]))]
        return [end[0] for end in ends], [end[1] for end in ends]

    def half_width(self, level: float) -> Any:
        """Return the half widths, one place a group."""
        return [self.of(group).half_width(level) for group in range(len(self.noisy[0]))]


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
    scale, ``exp(-x/a) * (1 + x/(2a))`` if they are equal (partial fractions of the characteristic function).  Discrete Laplace noise, coupled by its quantiles, is
    never more than 1 away from it, so 1 is added.
    """
    a, b = max(share, 1 - share), min(share, 1 - share)
    alpha = 1 - level

    def tail(x: float) -> float:
        if a - b < 1e-6:  # noqa: PLR2004
            return math.exp(-x / a) * (1 + x / (2 * a))
        second = b * b * math.exp(-x / b) if b > 0 else 0.0
        return (a * a * math.exp(-x / a) - second) / (a * a - b * b)

    low, high = 0.0, 1.0
    while tail(high) > alpha:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > alpha else (low, middle)
    return high * scale + 1


def worst_mean_half_width(scale: Fraction, level: float, mass: float) -> float:
    """Return the share's half width at either end of the bounds, where it is largest, for a total ``mass``."""
    return min(1.0, laplace_pair_half_width(0.0, float(scale), level) / mass) if mass > 0 else 1.0
