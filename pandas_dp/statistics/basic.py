"""count, sum and mean.

Each builder turns public facts into a :class:`pandas_dp.statistics.query.Query`.  References and figures are in the accessor's
docstrings, sensitivities in :mod:`pandas_dp.cells.cells`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pandas_dp.cells.cells import mass, mean_cells, present, rows, signed_sum
from pandas_dp.statistics.estimators import Count, Mean, Sum
from pandas_dp.statistics.query import CellTotals, Part, Query

if TYPE_CHECKING:
    from collections.abc import Callable

    from pandas_dp.domains.domain import Domain
    from pandas_dp.domains.keysets import KeySet, PrivateKeys
    from pandas_dp.domains.public_frame import PublicFrame

__all__ = ["bounded", "count", "grouped", "mean", "size", "total"]


def grouped(query: Query, keys: KeySet | PrivateKeys, by: str, max_groups: int | None = None) -> Query:
    """Ask a query for every group of ``keys``."""
    return replace(query, text=f"groupby({by}).{query.text}", keys=keys, max_groups=max_groups)


def count(frame: PublicFrame, column: Any) -> Query:
    """Count rows, or with a column its present values."""
    if frame.is_series:
        return Query("count()", (_present(frame.series),))
    if column is None:
        return size(frame)
    if isinstance(column, list):
        frame.check_list(column)
        return Query(f"count({column!r})", tuple(map(_present, column)), tuple(column))
    frame.check(column)
    return Query(f"count({column!r})", (_present(column),))


def size(_: PublicFrame) -> Query:
    """Count rows, those without a value included."""
    return Query("count()", (Part(CellTotals(rows()), (Count(),)),))


def _present(column: Any) -> Part:
    return Part(CellTotals(present(column)), (Count(),))


def total(frame: PublicFrame, column: object, bounds: object | None) -> Query:
    """Sum one column or all with bounds."""
    return bounded("sum", _sum_part, frame, column, bounds)


def _sum_part(domain: Domain) -> Part:
    return Part(CellTotals(signed_sum(domain.column, domain.grid)), (Sum(domain),))


def mean(frame: PublicFrame, column: object, bounds: object | None) -> Query:
    """Average one column or all with bounds."""
    return bounded("mean", _mean_part, frame, column, bounds)


def _mean_part(domain: Domain) -> Part:
    cells = mean_cells(domain.column, domain.grid)
    return Part(CellTotals(cells), (Mean(domain, mass(cells)),))


def bounded(
    name: str, build: Callable[[Domain], Part], frame: PublicFrame, column: object, bounds: object | None, *, more: str = ""
) -> Query:
    """Ask one statistic of one column, or of several, that have bounds; ``more`` are further arguments for the text."""
    domains, single = frame.domains(name, column, bounds)
    typed = column is not None or frame.is_series or isinstance(bounds, Mapping)
    arguments = ", ".join(f"{frame.shown(d.column, typed=typed)} in [{d.bounds[0]}, {d.bounds[1]}]" for d in domains)
    labels = None if single else tuple(domain.column for domain in domains)
    return Query(f"{name}({arguments}{more})", tuple(map(build, domains)), labels)
