"""From bounds as they were typed or declared to the grid on which values are clamped.

Exact arithmetic on public parameters.  This module never reads a value.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.cells.cells import FloatGrid, Grid, IntGrid
from pandas_dp.domains.domain import Domain, timestamp
from pandas_dp.domains.dtypes import Kind, kind_of
from pandas_dp.errors import BoundsError, UnsupportedDtype

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pandas_dp.domains.domain import ColumnFacts

__all__ = ["PerUnit", "domain_of", "exact_value", "per_unit_of"]

_LARGEST = 2.0**900  # beyond, totals and noise could leave the range of a double
_SQUARE = 2.0**500
_NARROWEST = 2.0**-900  # below, the grid's spacing would be subnormal


def domain_of(statistic: str, column: Hashable, dtype: Any, facts: ColumnFacts | None, given: object | None) -> Domain:
    """Find out how a column is clamped, from public facts.

    Parameters
    ----------
    statistic : str
        For the error's text.
    column : Hashable
        The column's name.
    dtype : pandas or NumPy dtype
        Of the frame at hand.
    facts : ColumnFacts or None
        What the schema declared.
    given : pair or None
        The bounds of the call.

    Returns
    -------
    Domain
        The clamping bounds and their grid.

    Raises
    ------
    UnsupportedDtype
        If the values are no numbers, dates or durations.
    BoundsError
        If there are no bounds, if they are unusable, or wider than the schema's.
    """
    kind = _kind_for(statistic, column, dtype, facts)
    if kind.name == "bool":
        facts = None  # what is declared under its name is of the column that it was made of: t["age"] > 65
    declared = facts.both_bounds() if facts else None
    if given is not None:
        bounds = _parse_bounds(column, given)
        _check_narrower(column, kind, bounds, facts)
    elif declared is not None:
        bounds = _within_dtype(column, kind, declared)
    elif kind.name == "bool":
        bounds = (0, 1)
    elif facts is not None and facts.estimated is not None:
        bounds = _within_dtype(column, kind, facts.estimated)
    else:
        raise BoundsError.missing(column, None if facts is None else facts.bounds)
    plain = type(bounds[0]) in _PLAIN and type(bounds[1]) in _PLAIN
    grid = _plain_grid(column, kind, *bounds) if plain else _grid(column, kind, bounds)
    if statistic == "var" and isinstance(grid, FloatGrid) and grid.upper - grid.lower > _SQUARE:
        raise BoundsError.unusable(column, bounds, "overflow: for a variance they may be at most 2**500 apart")
    return Domain(column, kind, grid, bounds)


def _kind_for(statistic: str, column: Hashable, dtype: Any, facts: ColumnFacts | None) -> Kind:
    kind = kind_of(dtype)
    if kind is None or (kind.name == "object" and not (facts and facts.numeric)):
        raise UnsupportedDtype.cannot(statistic, column, dtype)
    if kind.name in _NOT_OF.get(statistic, ()):
        raise UnsupportedDtype.cannot(statistic, column, f"{kind.name}64[{kind.unit}]")
    return kind


@dataclass(frozen=True, slots=True)
class PerUnit:
    """How the total of a unit's rows is clamped.

    Attributes
    ----------
    domain : Domain
        Of the totals.
    rows : Grid
        How a row's value becomes steps of the same worth.
    lower, upper : int
        The bounds of a total, in steps.
    row_limit : int or None
        How many steps away from zero a row is at most, if rows have bounds.
    """

    domain: Domain
    rows: Grid
    lower: int
    upper: int
    row_limit: int | None


def per_unit_of(column: Hashable, dtype: Any, facts: ColumnFacts | None, given: object | None, per_unit: object) -> PerUnit:
    """Find out how a unit's total is clamped, from public facts.

    Notes
    -----
    Rows are clamped, too, where they have bounds; floats without them at ``2**50`` steps from zero, a million times the width of ``per_unit``.
    """
    kind = _kind_for("sum", column, dtype, facts)
    pair = _parse_bounds(column, per_unit)
    # A total may leave the range of its dtype.
    grid = _grid(column, replace(kind, smallest=-math.inf, largest=math.inf), pair)
    bounded = given is not None or kind.name == "bool" or (facts is not None and facts.both_bounds() is not None)
    rows = domain_of("sum", column, dtype, facts, given).grid if bounded else None
    # Where 0 is no possible total, a unit's total may be clamped away from 0, further than its rows reach.
    limited = bounded and all(sign * _exact(column, kind, pair, end) >= 0 for sign, end in zip((-1, 1), pair, strict=True))
    if kind.name in {"bool", "int", "timedelta"} and isinstance(grid, IntGrid) and not isinstance(rows, FloatGrid):
        if max(abs(grid.first), abs(grid.last)) >= _WHOLE:
            raise BoundsError.unusable(column, pair, "overflow: neither may exceed 2**60 in absolute value")
        if rows is None:
            rows = IntGrid(int(kind.smallest), int(kind.largest)) if kind.name == "int" else IntGrid(1 - 2**63, 2**63 - 1)
        return PerUnit(Domain(column, kind, grid, pair), rows, grid.first, grid.last, _reach(rows) if limited else None)
    low, high = (float(_exact(column, kind, pair, end)) for end in pair)
    g = math.ldexp(1.0, max(math.frexp(high - low)[1] - 30, math.frexp(max(abs(low), abs(high)))[1] - 49))
    far = g * 2.0**50
    ends = (-far, far) if rows is None else tuple(map(float, Domain(column, kind, rows, pair).ends()))
    row_grid = FloatGrid.spaced(max(ends[0], -far), min(ends[1], far), g)
    if row_grid.first >= row_grid.last:
        raise BoundsError.unusable(column, pair, "do not fit the bounds of a row: they are too far from each other")
    first, last = (round(Fraction(end) / Fraction(g)) for end in (low, high))
    return PerUnit(Domain(column, kind, FloatGrid.spaced(low, high, g), pair), row_grid, first, last, _reach(row_grid) if limited else None)


_WHOLE = 2**60


def _reach(grid: Grid) -> int:
    return max(abs(grid.first), abs(grid.last))


_PLAIN = {int, float}
_NOT_OF = {"sum": ("datetime",), "var": ("datetime", "timedelta")}  # as in pandas: no unit to answer in


@lru_cache(maxsize=1024, typed=True)
def _plain_grid(column: Hashable, kind: Kind, lower: float, upper: float) -> Grid:
    """Remember the grid of plain numbers: public parameters, and the exact arithmetic on them takes longer than a small sum."""
    return _grid(column, kind, (lower, upper))


def _within_dtype(column: Hashable, kind: Kind, declared: tuple[Any, Any]) -> tuple[Any, Any]:
    """Narrow declared bounds to what the dtype can hold: a schema may serve frames of several dtypes."""
    lower, upper = (_exact(column, kind, declared, end) for end in declared)
    return (
        declared[0] if lower >= kind.smallest else kind.smallest,
        declared[1] if upper <= kind.largest else kind.largest,
    )


def _parse_bounds(column: Hashable, given: object) -> tuple[Any, Any]:
    """Return bounds as a pair, or raise ``BoundsError``."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:  # noqa: PLR2004
        raise BoundsError.unusable(column, given, "are no pair (lower, upper)")
    return (given[0], given[1])


def _check_narrower(column: Hashable, kind: Kind, bounds: tuple[Any, Any], facts: ColumnFacts | None) -> None:
    limits: tuple[Any, Any] = (0, 1) if kind.name == "bool" else (facts.bounds if facts and facts.bounds else (None, None))
    if limits == (None, None):
        return
    exact = [_exact(column, kind, bounds, end) for end in bounds]
    low, high = (None if end is None else _exact(column, kind, limits, end) for end in limits)
    if (low is not None and exact[0] < low) or (high is not None and exact[1] > high):
        raise BoundsError.wider(column, bounds, limits, derived=facts is not None and facts.derived)


def exact_value(column: Hashable, kind: Kind, value: Any) -> Fraction:
    """Return a value as an exact number, of the column's unit for dates and durations; raise ``BoundsError`` if it is none."""
    return _exact(column, kind, (value, value), value)


def _exact(column: Hashable, kind: Kind, bounds: tuple[Any, Any], end: Any) -> Fraction:
    """Return one bound as an exact number: of the column's unit for dates and durations."""
    if kind.name in {"datetime", "timedelta"}:
        return _exact_time(column, kind, bounds, end)
    if isinstance(end, (bool, np.bool_)):
        return Fraction(int(end))
    if isinstance(end, np.generic):
        end = end.item()
    return _exact_number(column, bounds, end)


def _exact_number(column: Hashable, bounds: tuple[Any, Any], end: Any) -> Fraction:
    if not isinstance(end, (int, float, Decimal, Fraction)):
        raise BoundsError.unusable(column, bounds, "are no numbers")
    finite = end.is_finite() if isinstance(end, Decimal) else not isinstance(end, float) or math.isfinite(end)
    if not finite:
        raise BoundsError.unusable(column, bounds, "are not finite")
    if isinstance(end, Decimal) and abs(end.adjusted()) > 400:  # noqa: PLR2004  (before 10**n is written out)
        raise BoundsError.unusable(column, bounds, "are too large or too small for a double")
    return Fraction(end)


def _exact_time(column: Hashable, kind: Kind, bounds: tuple[Any, Any], end: Any) -> Fraction:
    problem = "are no dates" if kind.name == "datetime" else "are no durations (pd.Timedelta)"
    accepted = (str, dt.date, np.datetime64) if kind.name == "datetime" else (str, dt.timedelta, np.timedelta64)
    moment: Any = None
    if isinstance(end, accepted):
        convert: Any = pd.Timestamp if kind.name == "datetime" else pd.Timedelta
        try:
            moment = convert(end)
        except Exception:  # noqa: BLE001  (pandas and its time zones raise many kinds)
            moment = None
    if moment is None or moment is pd.NaT:
        raise BoundsError.unusable(column, bounds, problem)
    converted = None
    try:
        if isinstance(moment, pd.Timestamp):
            if moment.tzinfo is None and kind.tz is not None:
                moment = moment.tz_localize(kind.tz)
            if moment.tzinfo is not None:
                moment = moment.tz_convert("UTC").tz_localize(None)
        converted = moment.as_unit(kind.unit)
        if kind.name == "datetime":
            timestamp(int(converted.asm8.astype(np.int64)), kind)  # an answer may be as far as a bound, in the column's time zone
    except Exception:  # noqa: BLE001  (as above; also times that a change of clocks skips or repeats)
        converted = None
    if converted is None:
        raise BoundsError.unusable(column, bounds, f"cannot be written in the column's unit and time zone ({kind.unit})")
    return Fraction(int(converted.asm8.astype(np.int64)))


def _grid(column: Hashable, kind: Kind, bounds: tuple[Any, Any]) -> Grid:
    lower, upper = (_exact(column, kind, bounds, end) for end in bounds)
    if lower > upper:
        raise BoundsError.unusable(column, bounds, "are reversed: the lower bound comes first")
    if lower == upper:
        raise BoundsError.unusable(column, bounds, "are equal, which leaves nothing to measure")
    if lower < kind.smallest or upper > kind.largest:
        raise BoundsError.unusable(column, bounds, f"do not fit the column's dtype, which holds {kind.smallest} to {kind.largest}")
    whole = lower.denominator == upper.denominator == 1
    if whole and kind.name in {"bool", "int", "datetime", "timedelta"}:
        return IntGrid(int(lower), int(upper))
    if max(abs(lower), abs(upper)) > _LARGEST:
        raise BoundsError.unusable(column, bounds, "overflow: neither may exceed 2**900 in absolute value")
    if not float(upper) - float(lower) >= _NARROWEST:
        raise BoundsError.unusable(column, bounds, "are too close to each other for a double")
    return FloatGrid.between(float(lower), float(upper))
