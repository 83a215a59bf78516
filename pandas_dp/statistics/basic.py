"""count, sum and mean.

Each builder turns public facts into a :class:`Query`: the statistics to release together, one per column.  References and figures are in the accessor's
docstrings, sensitivities in :mod:`pandas_dp.cells`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.cells import Cell, l1_sensitivity, mean_cells, present, rows, signed_sum
from pandas_dp.domain import whole
from pandas_dp.samplers.laplace import discrete_laplace
from pandas_dp.statistics.estimates import CountEstimate, RatioEstimate, SumEstimate, worst_mean_half_width

if TYPE_CHECKING:
    from collections.abc import Hashable
    from fractions import Fraction

    from numpy.typing import NDArray

    from pandas_dp.domain import Domain
    from pandas_dp.keys import KeySet
    from pandas_dp.public import PublicFrame

__all__ = ["Query", "Statistic", "count", "grouped", "mean", "total"]


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, in public terms.

    Attributes
    ----------
    text : str
        For the ledger.
    statistics : tuple of Statistic
        One per column; the query's ε is divided among them, for they are about the same people.
    columns : tuple of Hashable or None
        The index of a Series answer; None for a scalar answer.
    """

    text: str
    statistics: tuple[Statistic, ...]
    columns: tuple[Hashable, ...] | None
    keys: KeySet | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """Rows, or the present values of a column."""

    column: Hashable = None
    everything: bool = True

    def cells(self) -> tuple[Cell, ...]:
        """One cell."""
        return rows() if self.everything else present(self.column)

    def finish(self, noisy: list[int], scale: Fraction) -> CountEstimate:
        """Return the noisy count."""
        return CountEstimate(noisy[0], scale)

    def values(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        """Return the noisy counts of many groups."""
        return whole(noisy[0])

    def answer_scale(self, scale: Fraction) -> float:
        """Return the noise's scale in rows."""
        return float(scale)

    def half_width_before(self, scale: Fraction, level: float, rows: int | None) -> Any:  # noqa: ARG002  (one signature for all)
        """Return the ±, which depends on nothing private."""
        return discrete_laplace(scale).half_width(level)


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of clamped values: a lone signed cell."""

    domain: Domain

    def cells(self) -> tuple[Cell, ...]:
        """One signed cell."""
        return signed_sum(self.domain.column, self.domain.grid)

    def finish(self, noisy: list[int], scale: Fraction) -> SumEstimate:
        """Return the noisy sum."""
        return SumEstimate(noisy[0], scale, self.domain)

    def values(self, noisy: list[NDArray[Any]]) -> Any:
        """Return the noisy sums of many groups; int64 where no sum of fewer than 2**31 rows could pass it, else float64."""
        return self.domain.decode_all_steps(noisy[0])

    def answer_scale(self, scale: Fraction) -> float:
        """Return the noise's scale in the column's unit."""
        return float(scale) * float(self.domain.grid.unit)

    def half_width_before(self, scale: Fraction, level: float, rows: int | None) -> Any:  # noqa: ARG002  (one signature for all)
        """Return the ±, which depends on nothing private."""
        return SumEstimate(0, scale, self.domain).half_width(level)


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of clamped values: two cells, whose noise is added with the whole ε each."""

    domain: Domain

    def cells(self) -> tuple[Cell, ...]:
        """Two cells, ``(k, m - k)``."""
        return mean_cells(self.domain.column, self.domain.grid)

    def finish(self, noisy: list[int], scale: Fraction) -> RatioEstimate:
        """Return the share of the first cell, between the bounds."""
        return RatioEstimate(noisy[0], noisy[1], scale, self.domain)

    def values(self, noisy: list[NDArray[Any]]) -> Any:
        """Return the means of many groups, inside the bounds."""
        high, low = (np.maximum(cell, 0).astype(np.float64) for cell in noisy)
        mass = high + low
        share = np.divide(high, mass, out=np.full(len(mass), 0.5), where=mass > 0)
        return self.domain.decode_shares(share)

    def answer_scale(self, scale: Fraction) -> float:
        """Return the scale of each cell's noise in the column's unit; the mean's is about a row count smaller."""
        return float(scale) * float(self.domain.grid.unit)

    def half_width_before(self, scale: Fraction, level: float, rows: int | None) -> Any:
        """Return the ± at either end of the bounds, where it is largest, for ``rows`` rows; None without them."""
        if rows is None:
            return None
        return self.domain.decode_width(worst_mean_half_width(scale, level, float(rows) * l1_sensitivity(self.cells())))


Statistic = Count | Sum | Mean


def grouped(query: Query, keys: KeySet, by: str) -> Query:
    """Ask a query for every group of ``keys``."""
    return Query(f"groupby({by}).{query.text}", query.statistics, query.columns, keys)


def count(frame: PublicFrame, column: Any) -> Query:
    """Count rows, or with a column its present values."""
    if frame.is_series:
        return Query("count()", (Count(frame.series, everything=False),), None)
    if column is None:
        return Query("count()", (Count(),), None)
    if isinstance(column, list):
        frame.check_list(column)
        return Query(f"count({column!r})", tuple(Count(name, everything=False) for name in column), tuple(column))
    frame.check(column)
    return Query(f"count({column!r})", (Count(column, everything=False),), None)


def total(frame: PublicFrame, column: object, bounds: object | None) -> Query:
    """Sum one column or all with bounds."""
    return _query("sum", Sum, frame, column, bounds)


def mean(frame: PublicFrame, column: object, bounds: object | None) -> Query:
    """Average one column or all with bounds."""
    return _query("mean", Mean, frame, column, bounds)


def _query(name: str, kind: type[Sum | Mean], frame: PublicFrame, column: object, bounds: object | None) -> Query:
    domains, single = frame.domains(name, column, bounds)
    typed = column is not None or frame.is_series or isinstance(bounds, Mapping)
    arguments = ", ".join(f"{frame.shown(d.column, typed=typed)} in [{d.bounds[0]}, {d.bounds[1]}]" for d in domains)
    return Query(
        f"{name}({arguments})",
        tuple(kind(domain) for domain in domains),
        None if single else tuple(domain.column for domain in domains),
    )
