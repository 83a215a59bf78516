"""Evaluate a checked expression, row by row: every result is computed from its own row and public constants.

Numbers are read as doubles with NaN for missing, and whatever is not finite in a result is missing.  No result depends on another row, not even
in its last digit: functions whose vector code may treat the first and last elements of an array otherwise get arrays padded to whole blocks.
Must not raise or warn because of a value.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from pandas_dp.domains.dtypes import kind_of
from pandas_dp.domains.objects import is_missing, number
from pandas_dp.errors import ColumnError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

    from pandas_dp.expressions.intervals import Range

    Doubles = NDArray[np.float64]
    Truths = NDArray[np.bool_]

T = TypeVar("T")

__all__ = ["NANOSECONDS", "Node", "Rows", "zone_of"]

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_NAT = np.iinfo(np.int64).min
_PAD = 64  # whole vectors, unrolled, on every machine


@dataclass(frozen=True, slots=True)
class Node:
    """A checked part of an expression.

    Attributes
    ----------
    op : str
        ``"column"``, ``"constant"``, or what is done to ``args``.
    kind : str
        The kind of its values, as in ``Column``.
    range : Range
        Their bounds, if numbers.
    args : tuple of Node
        The operands.
    value : object
        A column's name, a constant, a comparison's operator, the parameter of a function.
    part : str
        How it is written.
    """

    op: str
    kind: str
    range: Range
    args: tuple[Node, ...] = ()
    value: Any = None
    part: str = ""


class Instants(NamedTuple):
    """Times or durations as exact integers: ``steps`` of ``unit`` nanoseconds."""

    steps: NDArray[np.int64]
    missing: Truths
    unit: int


class Rows:
    """The rows of a frame, over which nodes are evaluated.

    Parameters
    ----------
    frame : DataFrame
        Has the columns of the expression.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self._length = len(frame)
        self._read: dict[tuple[Callable[..., Any], Hashable], Any] = {}

    def column(self, name: Hashable) -> pd.Series[Any]:
        """Return a column."""
        found = self._frame[name] if name in self._frame.columns else None
        if not isinstance(found, pd.Series):
            raise ColumnError.absent(name, ()) if found is None else ColumnError.ambiguous(name)
        return found

    def _once(self, read: Callable[[pd.Series[Any]], T], name: Hashable) -> T:
        """Read a column in one of the ways below, once."""
        key = (read, name)
        if key not in self._read:
            self._read[key] = read(self.column(name))
        found: T = self._read[key]
        return found

    def number(self, node: Node) -> Doubles:
        """Evaluate a number: missing is NaN, and so is what no finite number expresses."""
        if node.kind == "bool" and node.op not in {"column", "constant", "where"}:
            return self.truth(node).astype(np.float64)
        if node.op == "column":
            return self._once(_numbers, node.value)
        if node.op == "constant":
            return np.full(self._length, float(node.value))
        with np.errstate(all="ignore"):
            result = self._computed(node)
            return np.where(np.isfinite(result), result, np.nan)

    def truth(self, node: Node) -> Truths:
        """Evaluate a condition: missing is False."""
        if node.op in _LOGIC:
            return _LOGIC[node.op](*map(self.truth, node.args))
        if node.op in {"column", "constant"}:
            return np.asarray(self.number(node) == 1, dtype=np.bool_)
        if node.op == "isna":
            return self._isna(node.args[0])
        if node.op == "where":
            condition, left, right = map(self.truth, node.args)
            return np.where(condition, left, right)
        return self._comparison(node)

    def _comparison(self, node: Node) -> Truths:
        if node.op == "compare":
            return self._compare(node)
        return self._compare_times(node) if node.op == "time" else self._same_text(node)

    def _computed(self, node: Node) -> Doubles:
        if node.op == "where":
            condition, left, right = node.args
            return np.where(self.truth(condition), self.number(left), self.number(right))
        if node.op in _FIELDS:
            return self._field(node)
        operands = [self.number(arg) for arg in node.args]
        return _FUNCTIONS[node.op](*operands) if node.value is None else _PARAMETRIC[node.op](operands[0], node.value)

    def _isna(self, node: Node) -> Truths:
        if node.kind in {"int", "float", "bool"}:
            return np.isnan(self.number(node))
        if node.kind in {"datetime", "timedelta"}:
            return self._instants(node).missing
        cells = self.column(node.value)
        try:
            return np.array(pd.isna(cells), dtype=np.bool_)
        except Exception:  # noqa: BLE001  (pandas compares objects with themselves, which some refuse)
            return np.fromiter((is_missing(cell) for cell in cells), dtype=np.bool_, count=self._length)

    def _compare(self, node: Node) -> Truths:
        """Compare numbers: integers with each other exactly, all else as doubles."""
        compare = _COMPARISONS[node.value]
        exact = [self._integers(arg) for arg in node.args]
        if exact[0] is None or exact[1] is None:
            left, right = map(self.number, node.args)
            with np.errstate(all="ignore"):
                return np.asarray(compare(left, right), dtype=np.bool_)
        (left_values, left_missing), (right_values, right_missing) = exact[0], exact[1]
        return np.asarray(compare(left_values, right_values), dtype=np.bool_) & ~left_missing & ~right_missing

    def _integers(self, node: Node) -> tuple[NDArray[Any], Truths] | None:
        """Return exact integers and what is missing of them, or None if the node is no integer column or constant."""
        if node.kind != "int":
            return None
        if node.op == "constant":
            return np.full(self._length, node.value, dtype=np.int64), np.zeros(self._length, dtype=np.bool_)
        return self._once(_integers, node.value)

    def _same_text(self, node: Node) -> Truths:
        """Find where a text equals one of the constants ``value``, or the other text."""
        texts = [self._once(_texts, arg.value) for arg in node.args]
        if len(texts) == 1:
            hits = (cell in node.value for cell in texts[0])
        else:
            hits = (left is not None and left == right for left, right in zip(*texts, strict=True))
        return np.fromiter(hits, dtype=np.bool_, count=self._length)

    def _compare_times(self, node: Node) -> Truths:
        left, right = node.args
        if left.op == "constant":
            order, missing = self._order_to_constant(right, left.value)
            order = -order
        elif right.op == "constant":
            order, missing = self._order_to_constant(left, right.value)
        else:
            order, missing = _order(self._instants(left), self._instants(right))
        return np.asarray(_COMPARISONS[node.value](order, 0), dtype=np.bool_) & ~missing

    def _order_to_constant(self, node: Node, constant: Any) -> tuple[NDArray[np.int8], Truths]:
        instants = self._instants(node)
        nanoseconds = constant if isinstance(constant, int) else _nanoseconds(constant, zone_of(self.column(node.value).dtype))
        whole, rest = divmod(nanoseconds, instants.unit)
        if not _NAT < whole < -_NAT:  # every value lies on one side
            whole, rest = (_NAT, 0) if whole < 0 else (-_NAT - 1, 1)
        return _sign(instants.steps, np.int64(whole), np.int64(rest)), instants.missing

    def _instants(self, node: Node) -> Instants:
        return self._once(_instants, node.value)

    def _field(self, node: Node) -> Doubles:
        """Read a field of local time off a datetime column, as a double."""
        steps, missing, unit = self._instants(node.args[0])
        # Years that no calendar of time zones covers are missing.
        first, last = _YEARS[0] // unit, _YEARS[1] // unit
        unreadable = missing if unit == 1 else missing | (steps < first) | (steps > last)
        name = {size: name for name, size in NANOSECONDS.items()}[unit]
        times: Any = pd.DatetimeIndex(np.where(unreadable, _NAT, steps).view(f"M8[{name}]"))
        zone = zone_of(self.column(node.args[0].value).dtype)
        if zone is not None:
            times = times.tz_localize("UTC").tz_convert(zone)
        return np.where(unreadable, np.nan, np.asarray(getattr(times, _FIELDS[node.op]), dtype=np.float64))


_YEARS = (-62_000_000_000 * 10**9, 253_000_000_000 * 10**9)  # of the years 5 to 9987, in nanoseconds since 1970
_FIELDS = {
    "year": "year",
    "month": "month",
    "day": "day",
    "hour": "hour",
    "dayofweek": "day_of_week",
}  # the newer pandas warns of the older name

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip

_LOGIC: dict[str, Callable[..., Truths]] = {
    "and": lambda *conditions: np.logical_and.reduce(conditions),
    "or": lambda *conditions: np.logical_or.reduce(conditions),
    "not": np.logical_not,
}


def _in_blocks(function: Callable[..., Any], values: Doubles, *parameters: float) -> Doubles:
    """Apply a function to values padded to whole blocks, so that each is treated alike wherever it stands."""
    padded = np.ones(-(-len(values) // _PAD) * _PAD)
    padded[: len(values)] = values
    return np.asarray(function(padded, *parameters)[: len(values)], dtype=np.float64)


def _powers(values: Doubles, exponent: float) -> Doubles:
    if exponent == 0.5:  # noqa: PLR2004  (pandas takes the root and the square by these functions, too)
        return np.sqrt(values)
    if exponent == 2:  # noqa: PLR2004
        return np.square(values)
    return _in_blocks(np.power, values, float(exponent))


_FUNCTIONS: dict[str, Callable[..., Doubles]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.abs,
    "floor": np.floor,
    "sqrt": np.sqrt,
    "log": lambda values: _in_blocks(np.log, values),
    "log1p": lambda values: _in_blocks(np.log1p, values),
    "exp": lambda values: _in_blocks(np.exp, values),
}

_PARAMETRIC: dict[str, Callable[[Doubles, Any], Doubles]] = {
    "power": _powers,
    "round": np.round,
    "clip": lambda values, limits: np.clip(values, *limits),
}


def _numbers(series: pd.Series[Any]) -> Doubles:
    """Read a column as doubles; what is no real number is missing, whatever it is."""
    dtype = series.dtype
    kind = kind_of(dtype)
    with np.errstate(all="ignore"):
        if kind is None or kind.name not in {"bool", "int", "float"}:
            return np.fromiter((number(cell) for cell in series.to_numpy(dtype=object)), dtype=np.float64, count=len(series))
        if isinstance(dtype, np.dtype):
            return series.to_numpy().astype(np.float64)
        exact = _integers(series) if kind.name == "int" else None
        if exact is not None:
            return np.where(exact[1], np.nan, exact[0].astype(np.float64))
        return np.array(series.to_numpy(dtype=np.float64, na_value=np.nan))


def _integers(series: pd.Series[Any]) -> tuple[NDArray[Any], Truths] | None:
    kind = kind_of(series.dtype)
    if kind is None or kind.name != "int":
        return None
    wide = np.dtype(np.uint64 if kind.largest > np.iinfo(np.int64).max else np.int64)
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy().astype(wide), np.zeros(len(series), dtype=np.bool_)
    missing = np.array(series.isna(), dtype=np.bool_)
    return np.array(series.to_numpy(dtype=wide, na_value=0)), missing


def _texts(series: pd.Series[Any]) -> list[str | None]:
    return [str.__str__(cell) if isinstance(cell, str) else None for cell in series.to_numpy(dtype=object)]


def zone_of(dtype: Any) -> Any:
    """Return the time zone of a dtype of datetimes, or None."""
    kind = kind_of(dtype)
    return None if kind is None else kind.tz


def _instants(series: pd.Series[Any]) -> Instants:
    kind = kind_of(series.dtype)
    if kind is None or kind.unit not in NANOSECONDS:
        return Instants(np.zeros(len(series), dtype=np.int64), np.ones(len(series), dtype=np.bool_), 1)
    array: Any = series.array
    if isinstance(series.dtype, pd.ArrowDtype):
        code = "M8" if kind.name == "datetime" else "m8"
        values = series.to_numpy(dtype=f"{code}[{kind.unit}]")
    else:
        values = np.asarray(array if kind.tz is None else array.tz_convert(None))
    steps: NDArray[np.int64] = values.view(np.int64)
    return Instants(steps, steps == _NAT, NANOSECONDS[kind.unit])


def _nanoseconds(moment: pd.Timestamp, zone: Any) -> int:
    """Return a constant as nanoseconds of UTC; without a zone of its own it is local time of the column."""
    if zone is not None and moment.tzinfo is None:
        moment = moment.tz_localize(zone, ambiguous=True, nonexistent="shift_forward")
    if moment.tzinfo is not None:
        moment = moment.tz_convert(None)
    value: Any = moment.asm8
    return int(value.view(np.int64)) * NANOSECONDS[np.datetime_data(value.dtype)[0]]


def _order(left: Instants, right: Instants) -> tuple[NDArray[np.int8], Truths]:
    """Compare times of any two units exactly: negative, zero or positive where left is earlier, the same or later."""
    missing = left.missing | right.missing
    if left.unit < right.unit:
        return -_order(right, left)[0], missing
    whole, rest = np.divmod(right.steps, left.unit // right.unit)
    return _sign(left.steps, whole, rest), missing


def _sign(steps: NDArray[np.int64], whole: Any, rest: Any) -> NDArray[np.int8]:
    """Compare ``steps`` with ``whole`` steps and a nonnegative ``rest`` of one."""
    return np.where(steps < whole, -1, np.where(steps > whole, 1, np.where(rest > 0, -1, 0))).astype(np.int8)
