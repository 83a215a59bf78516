"""Counts of units, and sums of their totals: one record for each unit, and group, instead of one for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pandas_dp.cells.cells import OneEach, clamped_total, rows
from pandas_dp.errors import ParameterTypeError
from pandas_dp.statistics.estimators import Count, Sum
from pandas_dp.statistics.query import CellTotals, Part, Query

if TYPE_CHECKING:
    from pandas_dp.domains.keysets import KeySet
    from pandas_dp.domains.public_frame import PublicFrame

__all__ = ["occurring", "unit_totals", "units"]


def units(frame: PublicFrame, column: Any) -> Query:
    """Count units that have a row, or with a column a present value there."""
    if column is not None and not frame.is_series:
        frame.check(column)
    text = "count(unique=True)" if column is None else f"count({column!r}, unique=True)"
    return Query(text, (Part(CellTotals(rows()), (Count(),)),), one_each=OneEach(column, None))


def unit_totals(frame: PublicFrame, column: Any, bounds: Any, per_unit: Any) -> Query:
    """Sum the totals of units, each clamped."""
    if not frame.is_series and (column is None or isinstance(column, list)):
        raise ParameterTypeError.wrong_kind("column", "the name of one column where per_unit= is given", type(column))
    given = bounds.get(column) if isinstance(bounds, dict) else bounds
    clamp = frame.per_unit(column, given, per_unit)
    name = clamp.domain.column
    low, high = clamp.domain.bounds
    within = "" if given is None else f" in [{given[0]}, {given[1]}]"
    part = Part(CellTotals(clamped_total("total", clamp.lower, clamp.upper), clamp.row_limit), (Sum(clamp.domain),))
    return Query(f"sum({name!r}{within}, per_unit=[{low}, {high}])", (part,), one_each=OneEach(name, clamp.rows))


def occurring(keys: KeySet, text: str) -> Query:
    """Count the keys that occur."""
    return Query(text, (Part(CellTotals(rows()), (Count(),)),), distinct=keys)
