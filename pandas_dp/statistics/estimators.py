"""Estimators: how an answer is read from noisy cells.

Cells of one column are released once; any number of estimators of them (count, sum, mean, spread) is post-processing.  An estimator sees public facts before the
release and noisy integers after it, and never raw data, budgets or randomness.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pandas_dp.cells.cells import mass
from pandas_dp.domains.domain import whole
from pandas_dp.statistics.estimates import CountEstimate, ShareEstimate, SpreadEstimate, SumEstimate, nearest
from pandas_dp.statistics.noise_laws import Laplace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pandas_dp.cells.cells import Cell
    from pandas_dp.domains.domain import Domain
    from pandas_dp.results import Estimate
    from pandas_dp.statistics.noise_laws import Noise

__all__ = ["Count", "Estimator", "Mean", "Spread", "Sum"]


_ANY = Laplace(Fraction(1))
_LARGE = 2**62


class Estimator(Protocol):
    """One answer, read from the noisy cells of a part."""

    def finish(self, noisy: list[int], noise: Any) -> Estimate:
        """Return the estimate."""

    def values(self, noisy: list[NDArray[Any]]) -> Any:
        """Return the answers of many groups."""

    def answer_scale(self, noise: Any) -> float:
        """Return the scale of one cell's noise in the unit of the answer, or of its numerator."""

    def half_width_before(self, noise: Any, level: float, rows: int | None) -> Any:
        """Return the ± that can be told before the answer, None if that needs ``rows`` and there are none."""


@dataclass(slots=True)
class Count:
    """The number of records, from ``cells`` that hold ``mass`` for each."""

    mass: int = 1
    cells: int = 1

    def finish(self, noisy: list[int], noise: Noise) -> CountEstimate:
        """Return the noisy count."""
        return CountEstimate(tuple(noisy), self.mass, noise)

    def values(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        """Return the noisy counts of many groups."""
        total = _sum(noisy, [1] * len(noisy))
        return whole(total if self.mass == 1 else nearest(total.astype(object), self.mass))

    def answer_scale(self, noise: Noise) -> float:
        """Return the noise's scale in rows."""
        return noise.size / self.mass

    def half_width_before(self, noise: Noise, level: float, rows: int | None) -> Any:  # noqa: ARG002  (one signature for all)
        """Return the ±, which depends on nothing private."""
        return self.finish([0] * self.cells, noise).half_width(level)


@dataclass(slots=True)
class Sum:
    """The sum of clamped values: a lone signed cell, or cells that share the mass of each record."""

    domain: Domain
    weights: tuple[int, ...] = (1,)
    mass: int = 1

    @classmethod
    def shared(cls, domain: Domain, cells: Sequence[Cell]) -> Sum:
        """Return the estimator of two or three cells: each stands for one bound, or for the middle."""
        grid = domain.grid
        low, high = grid.first + grid.offset, grid.last + grid.offset
        if len(cells) == 2:  # noqa: PLR2004
            return cls(domain, (high, low), mass(cells))
        return cls(domain, (2 * high, high + low, 2 * low), 2 * mass(cells))

    def finish(self, noisy: list[int], noise: Noise) -> SumEstimate:
        """Return the noisy sum."""
        return SumEstimate(tuple(noisy), self.weights, self.mass, noise, self.domain)

    def values(self, noisy: list[NDArray[Any]]) -> Any:
        """Return the noisy sums of many groups; int64 where no sum of fewer than 2**31 rows could pass it, else float64."""
        return self.domain.decode_all_steps(_sum(noisy, self.weights), self.mass)

    def answer_scale(self, noise: Noise) -> float:
        """Return the noise's scale in the column's unit, for the weightiest cell."""
        return noise.size * (max(map(abs, self.weights)) / self.mass) * float(self.domain.grid.unit)

    def half_width_before(self, noise: Noise, level: float, rows: int | None) -> Any:  # noqa: ARG002  (one signature for all)
        """Return the ±, which depends on nothing private."""
        return self.finish([0] * len(self.weights), noise).half_width(level)


@dataclass(slots=True)
class Mean:
    """The mean of clamped values: cells that stand for heights between the bounds."""

    domain: Domain
    mass: int
    heights: tuple[float, ...] = (1.0, 0.0)

    def finish(self, noisy: list[int], noise: Noise) -> ShareEstimate:
        """Return the weighted share, between the bounds."""
        return ShareEstimate(tuple(noisy), self.heights, noise, self.domain)

    def values(self, noisy: list[NDArray[Any]]) -> Any:
        """Return the means of many groups, inside the bounds."""
        return self.domain.decode_shares(_share(_present(noisy), self.heights))

    def answer_scale(self, noise: Noise) -> float:
        """Return the scale of one cell's noise in the column's unit; the mean's is about a row count smaller."""
        width = self.domain.grid.last - self.domain.grid.first
        return noise.size * (width / self.mass) * float(self.domain.grid.unit)

    def half_width_before(self, noise: Noise, level: float, rows: int | None) -> Any:
        """Return the ± at either end of the bounds, where it is largest, for ``rows`` rows; None without them."""
        if rows is None:
            return None
        return self.domain.decode_width(min(1.0, noise.mix(self.heights, level) / (float(rows) * self.mass)))


@dataclass(slots=True)
class Spread:
    """The variance, or its root, of clamped values: three cells."""

    domain: Domain
    mass: int
    ddof: int = 1
    root: bool = False

    def finish(self, noisy: list[int], noise: Noise) -> SpreadEstimate:
        """Return the estimate, never negative."""
        return SpreadEstimate(tuple(noisy), self.mass, noise, self.domain, self.ddof, self.root)

    def values(self, noisy: list[NDArray[Any]]) -> Any:
        """Return the spreads of many groups, each as one alone would be."""
        groups = zip(*(cell.tolist() for cell in noisy), strict=True)
        return self.domain.collect([self.finish(list(cells), _ANY).value for cells in groups])

    def answer_scale(self, noise: Noise) -> float:
        """Return the scale of one cell's noise in the answer's unit; the answer's is about a row count smaller."""
        low, high = self.domain.ends()
        return noise.size / self.mass * float(high - low) ** (1 if self.root else 2)

    def half_width_before(self, noise: Noise, level: float, rows: int | None) -> Any:
        """Return the ± where it is largest, with all values at one bound; None without ``rows``."""
        if rows is None:
            return None
        reach = min(0.5, noise.half_width(level) / (float(rows) * self.mass))
        return self.domain.decode_width(math.sqrt(reach)) if self.root else self.domain.decode_square(reach)


def _sum(noisy: list[NDArray[Any]], weights: Sequence[int]) -> NDArray[Any]:
    """Return the weighted sum, in Python ints where it might not fit."""
    largest = sum(abs(weight) * int(np.abs(cell).max(initial=0)) for weight, cell in zip(weights, noisy, strict=True))
    kind = np.int64 if largest < _LARGE and max(map(abs, weights)) < _LARGE else np.object_
    total: NDArray[Any] = np.zeros(len(noisy[0]), dtype=kind)
    for weight, cell in zip(weights, noisy, strict=True):
        total = total + weight * cell.astype(kind)
    return total


def _present(noisy: list[NDArray[Any]]) -> list[NDArray[np.float64]]:
    return [np.maximum(cell, 0).astype(np.float64) for cell in noisy]


def _share(cells: list[NDArray[np.float64]], heights: Sequence[float]) -> NDArray[np.float64]:
    whole = np.add.reduce(cells)
    high = np.add.reduce([height * cell for height, cell in zip(heights, cells, strict=True)])
    share: NDArray[np.float64] = np.divide(high, whole, out=np.full(len(whole), 0.5), where=whole > 0)
    return share
