"""Row identity and contribution bounding: whom each row of a derived frame is about.

``protect()`` keeps a :class:`Roster` of the protected frame's row labels (and, with a named unit, the unit of each label).  A derived
frame is answered only if every row still shows a label of the roster, or its unit.  For row units each label may occur
once; for named units only the first ``max_rows`` rows of a unit count.

Looks at labels and units, never at other columns.  What it decides before the charge (:meth:`Roster.identify`) depends on labels
alone; what depends on units (:meth:`Selection.counted`) runs after it.  No message of this module may name a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.errors import LineageError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

__all__ = ["Roster", "Selection", "first_rows"]

_BLOCK = 1 << 16
_MISSING = -1


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows of a derived frame, traced to the roster.

    Attributes
    ----------
    units : ndarray of int64, or None
        The unit of each row, -1 where it is missing; None if each row is a unit of its own.
    max_rows : int
        How many rows of one unit count.
    """

    units: NDArray[np.int64] | None
    max_rows: int

    def counted(self) -> NDArray[np.bool_] | None:
        """Return which rows count: the first ``max_rows`` of each unit, in the frame's order; None for all."""
        return None if self.units is None else first_rows(self.units, self.max_rows)


def first_rows(units: NDArray[np.int64], max_rows: int) -> NDArray[np.bool_]:
    """Mark the first ``max_rows`` rows of every unit; rows without a unit (-1) are not marked.

    Notes
    -----
    Which rows of a unit are marked depends on that unit's rows and their order alone, so adding or removing a unit changes no other
    unit's rows.  Stable: one sort of (unit, row).
    """
    count = len(units)
    row_bits = max(1, (count - 1).bit_length()) if count else 1
    present = np.flatnonzero(units >= 0)
    packed = (units[present] << row_bits) | present
    packed.sort()
    codes = packed >> row_bits
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1]))) if len(codes) else np.empty(0, np.int64)
    sizes = np.diff(np.append(starts, len(codes)))
    rank = np.arange(len(codes)) - np.repeat(starts, sizes)
    marked = np.zeros(count, dtype=np.bool_)
    marked[packed[rank < max_rows] & ((1 << row_bits) - 1)] = True
    return marked


class Roster:
    """The labels of a protected frame, and whom they stand for.

    Parameters
    ----------
    frame : DataFrame
        The frame that is being protected, with the index it will have.
    unit : Hashable or None
        A column or index level; None if each row is a unit.
    max_rows : int
        How many rows of one unit count; 1 without a unit.
    """

    def __init__(self, frame: pd.DataFrame, unit: Hashable | None, max_rows: int) -> None:
        self.index = frame.index
        self.names = list(frame.index.names)
        self.unit = unit
        self.max_rows = max_rows
        self._dense = _Dense.of(self.index)
        self.unique = bool(self._dense.unique if self._dense else self.index.is_unique)
        self._codes: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._units: pd.Index[Any] = pd.Index([])
        if unit is None:
            if not self.unique:
                raise LineageError.not_unique()
            return
        codes, units = pd.factorize(_unit_values(frame, unit), use_na_sentinel=True)
        self._codes = codes.astype(np.int64)
        self._units = pd.Index(units)

    def identify(self, frame: pd.DataFrame | pd.Series[Any]) -> Selection:
        """Trace a derived frame's rows, or raise ``LineageError``.  Reads labels only."""
        labels = self._labels_of(frame)
        if self.unit is None:
            if labels is None:
                raise LineageError.lost()
            self._check_rows(labels)
            return Selection(None, 1)
        if labels is not None and self.unique:
            return Selection(self._codes_of_labels(labels), self.max_rows)
        return Selection(self.codes_of_units(self._unit_labels(frame, named=labels is not None)), self.max_rows)

    def _labels_of(self, frame: pd.DataFrame | pd.Series[Any]) -> pd.Index[Any] | None:
        """Find the row labels: in the index, in a level of it, or as columns after ``reset_index()``."""
        names = list(frame.index.names)
        if names == self.names:
            return frame.index
        if None in self.names:
            return None
        if len(self.names) == 1 and names.count(self.names[0]) == 1:
            return _level(frame, self.names[0])
        if isinstance(frame, pd.DataFrame) and all(_is_one_column(frame, name) for name in self.names):
            if len(self.names) == 1:
                labels: pd.Index[Any] = pd.Index(frame[self.names[0]])
                return labels
            return pd.MultiIndex.from_frame(frame[self.names])
        return None

    def _unit_labels(self, frame: pd.DataFrame | pd.Series[Any], *, named: bool) -> Any:
        """Find the units of a frame without usable row labels.

        The unit as the index (``groupby(unit)``, ``set_index(unit)``) speaks for itself.  A mere column of that name does so
        only while the index still has its name: after ``groupby("ward").max()`` there is one, too.
        """
        if list(frame.index.names).count(self.unit) == 1:
            return _level(frame, self.unit)
        if named and isinstance(frame, pd.DataFrame) and _is_one_column(frame, self.unit):
            return frame[self.unit]
        raise LineageError.lost()

    def codes_of_units(self, values: Any) -> NDArray[np.int64]:
        """Return the code of each unit label, -1 where it is missing; raise ``LineageError`` for a stranger."""
        index = pd.Index(values)
        missing = np.asarray(pd.isna(index), dtype=np.bool_)
        codes = _indexer(self._units, index)
        if codes is None or bool((codes[~missing] == _MISSING).any()):
            raise LineageError.relabelled()
        codes[missing] = _MISSING
        return codes

    def _codes_of_labels(self, labels: pd.Index[Any]) -> NDArray[np.int64]:
        return self._codes if labels.is_(self.index) else self._codes[self._positions(labels)]

    def _check_rows(self, labels: pd.Index[Any]) -> None:
        """Check that the labels are the roster's and occur once each."""
        if labels.is_(self.index):
            return
        positions = self._positions(labels)
        if _increasing(positions):
            return
        seen = np.zeros(len(self.index), dtype=np.bool_)
        seen[positions] = True
        if int(np.count_nonzero(seen)) != len(positions):
            raise LineageError.repeated()

    def _positions(self, labels: pd.Index[Any]) -> NDArray[np.int64]:
        """Return where each label stands in the roster, or raise ``LineageError``."""
        if not len(labels):
            return np.empty(0, dtype=np.int64)
        if self._dense is not None and labels.dtype.kind in "iu" and isinstance(labels.dtype, np.dtype):
            positions = self._dense.positions(labels.to_numpy())
        else:
            positions = _indexer(self.index, labels)
        if positions is None or int(positions.min()) < 0:
            raise LineageError.relabelled()
        return positions


class _Dense:
    """Integer labels close together: positions by arithmetic or one look-up, without a hash table."""

    def __init__(self, start: int, size: int, table: NDArray[np.int64] | None, *, unique: bool) -> None:
        self.start = start
        self.size = size
        self.table = table
        self.unique = unique

    @classmethod
    def of(cls, index: pd.Index[Any]) -> _Dense | None:
        """Return the look-up for an index of integers that span at most twice their number, else None."""
        if isinstance(index, pd.RangeIndex) and index.step == 1:
            return cls(index.start, len(index), None, unique=True)
        if not (isinstance(index.dtype, np.dtype) and index.dtype.kind in "iu" and len(index)):
            return None
        values = index.to_numpy()
        low, high = int(values.min()), int(values.max())
        span = high - low + 1
        if span > 2 * len(values) + 1024 or high >= 1 << 62 or low <= -(1 << 62):
            return None
        table = np.full(span, _MISSING, dtype=np.int64)
        table[values.astype(np.int64) - low] = np.arange(len(values))
        return cls(low, span, table, unique=int(np.count_nonzero(table != _MISSING)) == len(values))

    def positions(self, labels: NDArray[Any]) -> NDArray[np.int64] | None:
        """Return the positions, with -1 or None for labels that are not there."""
        if int(labels.min()) < self.start or int(labels.max()) >= self.start + self.size:
            return None
        places = labels.astype(np.int64, copy=False)
        if self.start:
            places = places - self.start
        return places if self.table is None else self.table[places]


def _unit_values(frame: pd.DataFrame, unit: Hashable) -> Any:
    """Return the unit column or level of the frame to protect."""
    levels = list(frame.index.names)
    in_levels = levels.count(unit) if unit is not None else 0
    in_columns = int(np.count_nonzero([name == unit for name in frame.columns.tolist()]))
    if in_levels + in_columns != 1:
        raise ParameterError.unit_unknown(unit)
    return frame[unit] if in_columns else _level(frame, unit)


def _indexer(index: pd.Index[Any], labels: pd.Index[Any]) -> NDArray[np.int64] | None:
    """Return the place of each label in a unique index, -1 where it is not there; None for labels that cannot be compared."""
    try:
        return index.get_indexer(labels).astype(np.int64)
    except (TypeError, ValueError, KeyError):
        return None


def _level(frame: pd.DataFrame | pd.Series[Any], name: Hashable) -> pd.Index[Any]:
    level: pd.Index[Any] = frame.index.get_level_values(list(frame.index.names).index(name))
    return level


def _is_one_column(frame: pd.DataFrame, name: Hashable) -> bool:
    return name in frame.columns and isinstance(frame.columns.get_loc(name), int)


def _increasing(positions: NDArray[np.int64]) -> bool:
    """Whether positions increase strictly, found out in blocks: the usual case after a filter."""
    last = len(positions) - 1
    return all(
        bool((positions[start + 1 : start + _BLOCK + 1] > positions[start : min(start + _BLOCK, last)]).all())
        for start in range(0, max(last, 0), _BLOCK)
    )
