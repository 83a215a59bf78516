"""Public facts about a column: what was declared of it, and how steps between its bounds become answers.

This module never reads a value.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pandas_dp.cells.cells import Grid, IntGrid

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from pandas_dp.domains.dtypes import Kind

__all__ = ["ColumnFacts", "Domain", "timestamp", "whole"]

_SMALL = 2**31


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
    estimated : tuple or None
        Bounds that were released, and serve where none are declared or given.
    derived : bool
        Whether this follows from the expression of a tracked view, and no schema declared it.
    """

    bounds: tuple[Any, Any] | None = None
    keys: tuple[Any, ...] | None = None
    nullable: bool = True
    numeric: bool = False
    dtype: str | None = None
    estimated: tuple[Any, Any] | None = None
    derived: bool = False

    def both_bounds(self) -> tuple[Any, Any] | None:
        """Return the bounds if both ends are declared."""
        if self.bounds is None or None in self.bounds:
            return None
        return self.bounds


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

    @property
    def wide(self) -> bool:
        """Whether sums of fewer than 2**31 rows might not fit an int64."""
        return isinstance(self.grid, IntGrid) and max(abs(self.grid.first), abs(self.grid.last)) >= _SMALL

    @property
    def huge(self) -> bool:
        """Whether a value itself might not fit an int64."""
        return isinstance(self.grid, IntGrid) and max(abs(self.grid.first), abs(self.grid.last)) >= _LIMIT

    def ends(self) -> tuple[Fraction, Fraction]:
        """Return the bounds as exact numbers."""
        if isinstance(self.grid, IntGrid):
            return Fraction(self.grid.first), Fraction(self.grid.last)
        return Fraction(self.grid.lower), Fraction(self.grid.upper)

    def means(self) -> tuple[Any, ...]:
        """Return what counts for the question that is asked: the column and its bounds, whatever its unit."""
        low, high = self.ends()
        if self.kind.name == "datetime":
            return self.column, timestamp(int(low), self.kind), timestamp(int(high), self.kind)
        if self.kind.name == "timedelta":
            return self.column, _timedelta(int(low), self.kind.unit), _timedelta(int(high), self.kind.unit)
        return self.column, low, high

    def decode_share(self, share: float) -> Any:
        """Turn a height between the bounds, from 0 to 1, into the column's type: float, Timestamp or Timedelta."""
        if self.kind.name in {"datetime", "timedelta"}:
            lower, upper = self.ends()
            moment = round(lower + Fraction(share) * (upper - lower))
            return timestamp(moment, self.kind) if self.kind.name == "datetime" else _timedelta(moment, self.kind.unit)
        low, high = self._float_ends()
        return min(max(low + share * (high - low), low), high)

    def decode_shares(self, shares: NDArray[np.float64]) -> Any:
        """Turn many heights into an array of the column's type."""
        if self.kind.name in {"datetime", "timedelta"}:
            moments: list[Any] = [self.decode_share(float(share)) for share in shares]
            if moments or self.kind.name == "timedelta":
                return pd.Series(moments).array if moments else self.collect([])
            none: Any = np.empty(0, dtype=f"datetime64[{self.kind.unit}]")
            return pd.Series(none).array if self.kind.tz is None else pd.Series(none).dt.tz_localize(self.kind.tz).array
        low, high = self._float_ends()
        return np.clip(low + shares * (high - low), low, high)

    def decode_width(self, share: float) -> Any:
        """Turn a part of the distance between the bounds into a float or Timedelta, rounded up."""
        if self.kind.name in {"datetime", "timedelta"}:
            lower, upper = self.ends()
            return _timedelta(math.ceil(Fraction(share) * (upper - lower)), self.kind.unit)
        low, high = self._float_ends()
        return share * (high - low)

    def decode_height(self, height: int, *, whole: bool) -> Any:
        """Turn a number of steps above the lower bound into the column's type; of integers a float unless ``whole``."""
        steps = self.grid.first + height + self.grid.offset
        if self.kind.name == "datetime":
            return timestamp(steps, self.kind)
        if self.kind.name == "timedelta":
            return _timedelta(steps, self.kind.unit)
        if isinstance(self.grid, IntGrid):
            return steps if whole else float(steps)
        return min(max(steps * self.grid.g, self.grid.lower), self.grid.upper)

    def decode_span(self, steps: int) -> Any:
        """Turn a distance in steps into a float or Timedelta."""
        if self.kind.name in {"datetime", "timedelta"}:
            return _timedelta(steps, self.kind.unit)
        return float(steps) if isinstance(self.grid, IntGrid) else steps * self.grid.g

    def collect_points(self, values: list[Any], *, span: bool, whole: bool) -> Any:
        """Return points, or distances, of the column as an array of a dtype that does not depend on them."""
        if self.kind.name in {"datetime", "timedelta"}:
            if span or self.kind.name == "timedelta":
                return self.collect(values)
            return pd.Series(values).array if values else self.decode_shares(np.empty(0))
        if whole and isinstance(self.grid, IntGrid):
            small = max(abs(self.grid.first), abs(self.grid.last)) < _LIMIT
            return np.array(values, dtype=np.int64 if small else np.float64)
        return np.array(values, dtype=np.float64)

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


def _nearest(steps: Any, over: int) -> Any:
    return steps if over == 1 else (2 * steps + over) // (2 * over)


def _times(steps: int, over: int, spacing: float) -> float:
    """Divide, and multiply by a power of two; noise may carry a sum past the largest double, and that must not raise."""
    try:
        return steps / over * spacing
    except OverflowError:
        return math.copysign(sys.float_info.max, steps)


def timestamp(value: int, kind: Kind) -> pd.Timestamp:
    """Return a date of a column's unit and time zone."""
    stamp = pd.Timestamp(np.datetime64(value, cast("Any", kind.unit)))
    return stamp if kind.tz is None else stamp.tz_localize("UTC").tz_convert(kind.tz)


def _timedelta(value: int, unit: str) -> pd.Timedelta:
    # Saturate: noise may carry a total past what a Timedelta holds, and that must not raise.
    per_unit = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    limit = (2**63 - 1) // per_unit
    return pd.Timedelta(np.timedelta64(max(-limit, min(limit, value)), cast("Any", unit)))
