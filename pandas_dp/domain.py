"""Public facts about a column: its kind by dtype, its bounds, and the grid they make.

Everything here is decided from dtypes, declarations and arguments.  This module never reads a value.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pandas_dp.cells import FloatGrid, Grid, IntGrid
from pandas_dp.errors import BoundsError, UnsupportedDtype

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

__all__ = ["ColumnFacts", "Domain", "Kind", "domain_of", "exact_value", "kind_of", "whole"]

_LARGEST = 2.0**900  # beyond, totals and noise could leave the range of a double
_SMALL = 2**31
_NARROWEST = 2.0**-900  # below, the grid's spacing would be subnormal


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What a schema declares about a column, frozen at ``protect()``.

    Attributes
    ----------
    bounds : tuple or None
        Lower and upper bound, both inclusive; either may be None where only one is declared.
    keys : tuple or None
        The allowed values of an ``isin`` check, in declared order.
    nullable : bool
        Whether missing values are allowed.
    numeric : bool
        Whether the declared dtype is a number.
    dtype : str or None
        The declared dtype.
    """

    bounds: tuple[Any, Any] | None = None
    keys: tuple[Any, ...] | None = None
    nullable: bool = True
    numeric: bool = False
    dtype: str | None = None

    def both_bounds(self) -> tuple[Any, Any] | None:
        """Return the bounds if both ends are declared."""
        if self.bounds is None or None in self.bounds:
            return None
        return self.bounds


@dataclass(frozen=True, slots=True)
class Kind:
    """How a dtype's values become steps and answers.

    Attributes
    ----------
    name : str
        ``"bool"``, ``"int"``, ``"float"``, ``"datetime"``, ``"timedelta"`` or ``"object"``.
    smallest, largest : int or float
        What the dtype can represent (``int`` and ``float``).
    unit : str
        The resolution of datetimes and timedeltas.
    tz : tzinfo or None
        The time zone of datetimes.
    """

    name: str
    smallest: float = -math.inf
    largest: float = math.inf
    unit: str = ""
    tz: Any = None


@dataclass(frozen=True, slots=True)
class Domain:
    """A column with usable bounds.

    Attributes
    ----------
    column : Hashable
        Its name.
    kind : Kind
        By dtype.
    grid : Grid
        Made from the bounds.
    bounds : tuple
        As the user gave or declared them, for the ledger's text.
    """

    column: Hashable
    kind: Kind
    grid: Grid
    bounds: tuple[Any, Any]

    def ends(self) -> tuple[Fraction, Fraction]:
        """Return the bounds as exact numbers."""
        if isinstance(self.grid, IntGrid):
            return Fraction(self.grid.first), Fraction(self.grid.last)
        return Fraction(self.grid.lower), Fraction(self.grid.upper)

    def decode_share(self, share: float) -> Any:
        """Turn a height between the bounds, from 0 to 1, into the column's type: float, Timestamp or Timedelta."""
        if self.kind.name in {"datetime", "timedelta"}:
            lower, upper = self.ends()
            moment = round(lower + Fraction(share) * (upper - lower))
            return _timestamp(moment, self.kind) if self.kind.name == "datetime" else _timedelta(moment, self.kind.unit)
        low, high = self._float_ends()
        return min(max(low + share * (high - low), low), high)

    def decode_shares(self, shares: NDArray[np.float64]) -> Any:
        """Turn many heights into an array of the column's type."""
        if self.kind.name in {"datetime", "timedelta"}:
            return pd.Series([self.decode_share(float(share)) for share in shares]).array
        low, high = self._float_ends()
        return np.clip(low + shares * (high - low), low, high)

    def decode_width(self, share: float) -> Any:
        """Turn a part of the distance between the bounds into a float or Timedelta, rounded up."""
        if self.kind.name in {"datetime", "timedelta"}:
            lower, upper = self.ends()
            return _timedelta(math.ceil(Fraction(share) * (upper - lower)), self.kind.unit)
        low, high = self._float_ends()
        return share * (high - low)

    def decode_square(self, share: float) -> float:
        """Turn a part of the squared distance between the bounds into a float."""
        low, high = self._float_ends()
        return share * (high - low) ** 2

    def decode_steps(self, steps: int, over: int = 1) -> Any:
        """Turn a sum in steps, divided by ``over``, into int, float or Timedelta, whatever its size."""
        if self.kind.name == "timedelta":
            return _timedelta(_nearest(steps, over), self.kind.unit)
        return _nearest(steps, over) if isinstance(self.grid, IntGrid) else _times(steps, over, self.grid.g)

    def decode_all_steps(self, steps: NDArray[Any], over: int = 1) -> Any:
        """Turn many sums into an array: int64 where fewer than 2**31 rows cannot pass it, else float64; or timedelta64."""
        if self.kind.name == "timedelta":
            return self.collect([self.decode_steps(int(step), over) for step in steps])
        if isinstance(self.grid, IntGrid):
            small = max(abs(self.grid.first), abs(self.grid.last)) < _SMALL
            whole_steps = steps if over == 1 else _nearest(steps.astype(object), over)
            return whole(whole_steps) if small else whole_steps.astype(np.float64)
        if over == 1:
            return steps.astype(np.float64) * self.grid.g
        return np.array([_times(int(step), over, self.grid.g) for step in steps], dtype=np.float64)

    def collect(self, values: list[Any]) -> Any:
        """Return sums or widths as an array of floats or timedelta64."""
        if self.kind.name in {"datetime", "timedelta"}:
            return pd.Series(values, dtype=cast("Any", f"timedelta64[{self.kind.unit}]")).array
        return np.array(values, dtype=np.float64)

    def _float_ends(self) -> tuple[float, float]:
        if isinstance(self.grid, IntGrid):
            return float(self.grid.first), float(self.grid.last)
        return self.grid.lower, self.grid.upper


def whole(ints: NDArray[Any]) -> NDArray[np.int64]:
    """Return integers as int64, saturated: which dtype an answer has may not depend on the noise."""
    clipped: NDArray[np.int64] = np.clip(ints, -_LIMIT, _LIMIT).astype(np.int64)
    return clipped


_LIMIT = 2**62


def kind_of(dtype: Any) -> Kind | None:
    """Return the kind of a dtype, or None where sums and means make no sense."""
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow_kind(dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return Kind("datetime", unit=dtype.unit, tz=dtype.tz)
    if isinstance(dtype, pd.BooleanDtype):
        return Kind("bool")
    numpy_dtype = dtype if isinstance(dtype, np.dtype) else _masked_dtype(dtype)
    return None if numpy_dtype is None else _numpy_kind(numpy_dtype)


_MASKED = (
    pd.Int8Dtype, pd.Int16Dtype, pd.Int32Dtype, pd.Int64Dtype, pd.UInt8Dtype, pd.UInt16Dtype, pd.UInt32Dtype, pd.UInt64Dtype,
    pd.Float32Dtype, pd.Float64Dtype,
)  # fmt: skip


def _masked_dtype(dtype: Any) -> np.dtype[Any] | None:
    return np.dtype(dtype.type) if isinstance(dtype, _MASKED) else None


def _numpy_kind(dtype: np.dtype[Any]) -> Kind | None:
    if dtype.kind == "b":
        return Kind("bool")
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return Kind("int", smallest=int(info.min), largest=int(info.max))
    if dtype.kind == "f" and dtype.itemsize <= 8:  # noqa: PLR2004  (a long double does not fit the grid)
        largest = float(np.finfo(dtype).max)
        return Kind("float", smallest=-largest, largest=largest)
    if dtype.kind in "mM":
        return Kind("datetime" if dtype.kind == "M" else "timedelta", unit=np.datetime_data(dtype)[0])
    return Kind("object") if dtype.kind == "O" else None


def _arrow_kind(dtype: pd.ArrowDtype) -> Kind | None:
    import pyarrow as pa

    arrow = dtype.pyarrow_dtype
    if pa.types.is_decimal(arrow):
        return Kind("float")
    if pa.types.is_timestamp(arrow):
        return Kind("datetime", unit=arrow.unit, tz=arrow.tz)
    if pa.types.is_duration(arrow):
        return Kind("timedelta", unit=arrow.unit)
    if pa.types.is_float16(arrow):
        return None  # older versions of Arrow cannot convert it
    if pa.types.is_boolean(arrow) or pa.types.is_integer(arrow) or pa.types.is_floating(arrow):
        return _numpy_kind(np.dtype(arrow.to_pandas_dtype()))
    return None


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
    kind = kind_of(dtype)
    if kind is None or (kind.name == "object" and not (facts and facts.numeric)):
        raise UnsupportedDtype.cannot(statistic, column, dtype)
    if statistic == "sum" and kind.name == "datetime":
        raise UnsupportedDtype.cannot(statistic, column, f"datetime64[{kind.unit}]")
    declared = facts.both_bounds() if facts else None
    if given is not None:
        bounds = _parse_bounds(column, given)
        _check_narrower(column, kind, bounds, facts)
    elif declared is not None:
        bounds = _within_dtype(column, kind, declared)
    elif kind.name == "bool":
        bounds = (0, 1)
    else:
        raise BoundsError.missing(column)
    plain = type(bounds[0]) in _PLAIN and type(bounds[1]) in _PLAIN
    grid = _plain_grid(column, kind, *bounds) if plain else _grid(column, kind, bounds)
    return Domain(column, kind, grid, bounds)


_PLAIN = {int, float}


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
    exact = [_exact(column, kind, bounds, end) for end in bounds]
    limits: tuple[Any, Any] = (0, 1) if kind.name == "bool" else (facts.bounds if facts and facts.bounds else (None, None))
    low, high = (None if end is None else _exact(column, kind, limits, end) for end in limits)
    if (low is not None and exact[0] < low) or (high is not None and exact[1] > high):
        raise BoundsError.wider(column, bounds, limits)


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
            _timestamp(int(converted.asm8.astype(np.int64)), kind)  # an answer may be as far as a bound, in the column's time zone
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


def _nearest(steps: Any, over: int) -> Any:
    return steps if over == 1 else (2 * steps + over) // (2 * over)


def _times(steps: int, over: int, spacing: float) -> float:
    """Divide, and multiply by a power of two; noise may carry a sum past the largest double, and that must not raise."""
    try:
        return steps / over * spacing
    except OverflowError:
        return math.copysign(sys.float_info.max, steps)


def _timestamp(value: int, kind: Kind) -> pd.Timestamp:
    stamp = pd.Timestamp(np.datetime64(value, cast("Any", kind.unit)))
    return stamp if kind.tz is None else stamp.tz_localize("UTC").tz_convert(kind.tz)


def _timedelta(value: int, unit: str) -> pd.Timedelta:
    # Saturate: noise may carry a total past what a Timedelta holds, and that must not raise.
    per_unit = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    limit = (2**63 - 1) // per_unit
    return pd.Timedelta(np.timedelta64(max(-limit, min(limit, value)), cast("Any", unit)))
