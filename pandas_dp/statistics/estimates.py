"""From noisy cells to answers with intervals.

Post-processing: everything here is a function of released numbers and public parameters, so it costs nothing, and it may not fail whatever
the noise was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pandas_dp.display.progress import steps
from pandas_dp.statistics.tail_bounds import solve_outward

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pandas_dp.domains.domain import Domain
    from pandas_dp.statistics.noise_laws import Noise

__all__ = ["CountEstimate", "GroupEstimate", "ShareEstimate", "SpreadEstimate", "SumEstimate", "nearest"]

_SURE = 4  # noisy mass, in widest half widths, above which an interval is worth solving for
_MOST_SPREAD = 0.25  # of the square of the bounds' width


def nearest(numerator: Any, denominator: int) -> Any:
    """Return the integer nearest to a fraction, or integers for an array of numerators."""
    return numerator if denominator == 1 else (2 * numerator + denominator) // (2 * denominator)


@dataclass(frozen=True, slots=True)
class CountEstimate:
    """A count: the sum of cells that hold ``mass`` for each record; unbiased, possibly negative."""

    noisy: tuple[int, ...]
    mass: int
    noise: Noise

    @property
    def value(self) -> int:
        """The noisy count."""
        return int(nearest(sum(self.noisy), self.mass))

    def half_width(self, level: float) -> int:
        """Return the quantile of the noise, exact for one cell."""
        if len(self.noisy) == 1:
            return math.ceil(Fraction(self.noise.half_width(level), self.mass))
        return math.ceil(self.noise.mix([1.0] * len(self.noisy), level) / self.mass + 0.5)

    def interval(self, level: float) -> tuple[int, int]:
        """Return value ± half width."""
        width = self.half_width(level)
        return self.value - width, self.value + width


@dataclass(frozen=True, slots=True)
class SumEstimate:
    """A sum: cells that hold ``mass`` for each record, weighted by the steps that each stands for; unbiased.

    A lone signed cell has weight and mass 1.
    """

    noisy: tuple[int, ...]
    weights: tuple[int, ...]
    mass: int
    noise: Noise
    domain: Domain

    @property
    def wide(self) -> bool:
        """Whether the sum might not fit an int64."""
        return self.domain.wide

    @property
    def value(self) -> Any:
        """The noisy sum in the column's type."""
        return self._decode(sum(weight * cell for weight, cell in zip(self.weights, self.noisy, strict=True)))

    def half_width(self, level: float) -> Any:
        """Return the quantile of the noise, exact for one cell."""
        return self._decode(self._reach(level))

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return value ± half width."""
        centre = sum(weight * cell for weight, cell in zip(self.weights, self.noisy, strict=True))
        return self._decode(centre - self._reach(level)), self._decode(centre + self._reach(level))

    def _reach(self, level: float) -> int:
        """Return the half width in steps times mass."""
        if len(self.noisy) == 1:
            return abs(self.weights[0]) * self.noise.half_width(level)
        largest = max(map(abs, self.weights))  # may be beyond a double's range of integers
        wide = self.noise.mix([weight / largest for weight in self.weights], level)
        return math.ceil(Fraction(wide) * largest) + self.mass

    def _decode(self, numerator: int) -> Any:
        return self.domain.decode_steps(numerator, self.mass)


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """A mean: cells of which each stands for a height between the bounds, and whose share of the whole mass weighs it.

    Attributes
    ----------
    noisy : tuple of int
        The totals, of mass 1 for each record all alike.
    heights : tuple of float
        The height of each cell, from 0 to 1.
    noise : Noise
        On each.
    domain : Domain
        The column's bounds and grid.
    """

    noisy: tuple[int, ...]
    heights: tuple[float, ...]
    noise: Noise
    domain: Domain

    @property
    def value(self) -> Any:
        """The estimated mean, always inside the bounds."""
        return self.domain.decode_share(self.share())

    def half_width(self, level: float) -> Any:
        """Return the distance from the estimate to the farther end of its interval."""
        lower, upper = self.shares(level)
        share = self.share()
        return self.domain.decode_width(max(upper - share, share - lower))

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return the ends of the interval, inside the bounds.

        Notes
        -----
        At the true share ``p`` the pivot ``sum((height - p) * cell)``, for a mean ``(1-p) * high - p * low``, is pure noise, whatever the number of rows: the
        interval holds every ``p`` for which it lies within its ``level`` quantile (Fieller's method), so its coverage does not rest on the
        denominator being far from zero.  With few rows it is the whole range.

        References
        ----------
        .. [1] E. C. Fieller. Some problems in interval estimation. J. R. Stat. Soc. B 16, 1954.
        """
        lower, upper = self.shares(level)
        return self.domain.decode_share(lower), self.domain.decode_share(upper)

    def share(self) -> float:
        """Return the mean's height."""
        present = [max(cell, 0) for cell in self.noisy]
        whole = sum(present)
        high = sum(height * cell for height, cell in zip(self.heights, present, strict=True))
        return min(high / whole, 1.0) if whole else 0.5

    def shares(self, level: float) -> tuple[float, float]:
        """Return the heights of the interval's ends."""
        mass = float(sum(self.noisy))
        if mass <= _SURE * self._reach(0.0, level):
            return 0.0, 1.0
        centre = sum(height * float(cell) for height, cell in zip(self.heights, self.noisy, strict=True)) / mass
        low, high = (solve_outward(centre, sign, lambda p: self._reach(p, level) / mass, 0.0, 1.0) for sign in (-1, 1))
        return min(low, self.share()), max(high, self.share())

    def _reach(self, share: float, level: float) -> float:
        return self.noise.mix([height - share for height in self.heights], level)


@dataclass(frozen=True, slots=True)
class SpreadEstimate:
    """A variance or standard deviation: three cells ``(k**2, 2*k*(m-k), (m-k)**2)``, of mass ``m**2`` for each record.

    Attributes
    ----------
    noisy : tuple of int
        The totals.
    mass : int
        ``m**2``.
    noise : Noise
        On each.
    domain : Domain
        The column's bounds and grid.
    ddof : int
        The answer's divisor is ``n - ddof``.
    root : bool
        Whether the answer is the standard deviation.
    """

    noisy: tuple[int, ...]
    mass: int
    noise: Noise
    domain: Domain
    ddof: int
    root: bool

    @property
    def value(self) -> Any:
        """The estimate, never negative."""
        return self._decode(self._spread())

    def half_width(self, level: float) -> Any:
        """Return the distance from the estimate to the farther end of its interval."""
        lower, upper = (self._scaled(end) for end in self._spreads(level))
        value = self._scaled(self._spread())
        widest = max(upper - value, value - lower)
        return self.domain.decode_width(widest) if self.root else self.domain.decode_square(widest)

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return the ends of the interval.

        Notes
        -----
        About the true mean's height ``p`` the second moment is ``v``, for which ``sum(w * cell)`` with weights ``(1-p)**2 - v``, ``-p*(1-p) - v`` and
        ``p**2 - v`` is pure noise: Fieller's method once for ``p``, and for ``v`` at every ``p`` that it leaves.  The number of records, which ``ddof`` needs, is
        bounded in the same way.  The three miss with at most ``1 - level`` together.
        """
        lower, upper = self._spreads(level)
        return self._decode(lower), self._decode(upper)

    def _most(self) -> float:
        return _MOST_SPREAD * (self.ddof + 1)

    def _spread(self) -> float:
        """Return the variance in units of the squared width of the bounds."""
        present = [max(cell, 0) for cell in self.noisy]
        whole = sum(present)
        if not whole:
            return _MOST_SPREAD / 2
        share = (present[0] + present[1] / 2) / whole
        return min(max(present[0] / whole - share * share, 0.0) * self._factor(sum(self.noisy) / self.mass), self._most())

    def _factor(self, count: float) -> float:
        """Return ``n / (n - ddof)``, with as many records as that needs at least."""
        count = max(count, self.ddof + 1.0)
        return count / (count - self.ddof)

    def _spreads(self, level: float) -> tuple[float, float]:
        whole = float(sum(self.noisy))
        alpha = 1 - level
        middle = ShareEstimate(self.noisy, (1.0, 0.5, 0.0), self.noise, self.domain)
        least, greatest = middle.shares(1 - alpha / 10)
        if whole <= _SURE * self._reach(0.0, 0.0, 1 - alpha / 10) or (least, greatest) == (0.0, 1.0):
            return 0.0, self._most()
        ends = [self._about(share, whole, 1 - 0.8 * alpha) for share in (least, middle.share(), greatest)]
        lower, upper = min(end[0] for end in ends), max(end[1] for end in ends)
        count = whole / self.mass
        off = self.noise.mix([1.0, 1.0, 1.0], 1 - alpha / 10) / self.mass
        value = self._spread()
        return (
            min(lower * self._factor(count + off), value),
            max(min(upper * self._factor(count - off), self._most()), value),
        )

    def _about(self, share: float, whole: float, level: float) -> tuple[float, float]:
        """Return the interval of the second moment about a height."""
        weights = ((1 - share) ** 2, -share * (1 - share), share**2)
        centre = sum(weight * float(cell) for weight, cell in zip(weights, self.noisy, strict=True)) / whole
        low, high = (solve_outward(centre, sign, lambda v: self._reach(share, v, level) / whole, 0.0, _MOST_SPREAD) for sign in (-1, 1))
        return low, high

    def _reach(self, share: float, moment: float, level: float) -> float:
        weights = ((1 - share) ** 2 - moment, -share * (1 - share) - moment, share**2 - moment)
        return self.noise.mix(weights, level)

    def _scaled(self, spread: float) -> float:
        return math.sqrt(spread) if self.root else spread

    def _decode(self, spread: float) -> Any:
        return self.domain.decode_width(math.sqrt(spread)) if self.root else self.domain.decode_square(spread)


@dataclass(frozen=True, slots=True)
class GroupEstimate:
    """One answer for many groups: noisy cells as arrays, one place a group.

    Attributes
    ----------
    estimator : Estimator
        How one group's cells become an estimate.
    noisy : tuple of ndarray
        One array for each cell.
    noise : Noise
        On each.
    value : ndarray
        The answers.
    """

    estimator: Any
    noisy: tuple[NDArray[Any], ...]
    noise: Noise
    value: Any

    def of(self, group: int) -> Any:
        """Return the estimate of one group."""
        return self.estimator.finish([int(cell[group]) for cell in self.noisy], self.noise)

    def each(self) -> Iterator[Any]:
        """Return the estimates of all groups, which are released by now."""
        groups = len(self.noisy[0])
        return map(self.of, steps(range(groups), groups))

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return the lower and upper ends, one place a group."""
        ends = [estimate.interval(level) for estimate in self.each()]
        return [end[0] for end in ends], [end[1] for end in ends]

    def half_width(self, level: float) -> Any:
        """Return the half widths, one place a group."""
        return [estimate.half_width(level) for estimate in self.each()]
