"""Row identity and contribution bounding: whom each row of a derived frame is about.

``protect()`` keeps a :class:`Roster` of the protected frame's row labels (and, with a named unit, the unit of each label).  A derived
frame is answered only if every row still shows a label of the roster, or its unit.  For row units each label may occur
once; for named units only the first ``max_rows`` rows of a unit count.

Looks at labels and units, never at other columns.  What it decides before the charge (:meth:`Roster.identify`) depends on labels
alone; what depends on units (:meth:`Selection.counted`) runs after it.  No message of this module may name a label.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pandas_dp.engines.first_rows import first_rows
from pandas_dp.errors import LineageError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

__all__ = ["Roster", "Selection"]

_BLOCK = 1 << 16
_MISSING = -1


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows of a derived frame, traced to the roster.

    Attributes
    ----------
    units : ndarray of int64, or None
        The unit of each row, -1 where it is missing; None if each row is a unit of its own.
    places : ndarray of int64, or None
        The place of each row in the protected frame; None if the rows have no labels any more, or none that tell of one unit alone.
    max_rows : int
        How many rows of one unit count.
    """

    units: NDArray[np.int64] | None
    places: NDArray[np.int64] | None
    max_rows: int

    def counted(self, frame: pd.DataFrame | pd.Series[Any], rows: NDArray[np.bool_] | None = None) -> NDArray[np.bool_] | None:
        """Return which of ``rows`` count: ``max_rows`` of each unit; None for all.  Reads values; runs after the charge.

        Notes
        -----
        Adding or removing a unit must not change which rows of another count, but the order at hand may depend on everybody: sorting by a
        column shuffles the ties within a unit's rows when one row is added elsewhere.  So the order is that of the protected frame, and where
        rows have no label, or share one, that of a hash of their content, which depends on nothing but the row.
        """
        if self.units is None:
            return rows
        units = self.units if rows is None else np.where(rows, self.units, _MISSING)
        if int(np.bincount(units[units >= 0], minlength=1).max(initial=0)) <= self.max_rows:
            return units >= 0  # nobody has more
        return first_rows(units, self.max_rows, self.order(frame))

    def order(self, frame: pd.DataFrame | pd.Series[Any]) -> NDArray[np.int64]:
        """Return the rank of each row, which among the rows of one unit depends on these alone."""
        if self.places is None or not _distinct(self.places):
            from pandas_dp.engines.content_order import order_by_content  # noqa: PLC0415  (loaded for those who use it)

            return order_by_content(frame, self.places)
        return self.places


def _distinct(places: NDArray[np.int64]) -> bool:
    return _increasing(places) or len(np.unique(places)) == len(places)


class Roster:
    """The labels of a protected frame, and whom they stand for.

    Parameters
    ----------
    frame : DataFrame
        The frame that is being protected, with the index it will have.
    handle : str
        Its handle, which names the index or a level of it unless the index has a name of its own.
    unit : Hashable or None
        A column or index level; None if each row is a unit.
    max_rows : int
        How many rows of one unit count; 1 without a unit.
    adopted : bool
        Whether its rows may stand in an order that depends on others.
    """

    def __init__(self, frame: pd.DataFrame, handle: str, unit: Hashable | None, max_rows: int, *, adopted: bool = False) -> None:
        names = list(frame.index.names)
        self.index = _level(frame, handle) if handle in names else frame.index
        self.names = list(self.index.names)
        self._own_names = [None if name == handle else name for name in names]
        self._lead = len(names)
        self.unit = unit
        self.max_rows = max_rows
        self._dense = _Dense.of(self.index)
        self.unique = self._dense.unique if self._dense else _is_unique(self.index, unit)
        self._codes: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._units: pd.Index[Any] = pd.Index([])
        # Where the unit is part of the index, whether labels are unique depends on everybody; so do the positions in an adopted frame.
        self._ordered = not adopted and unit not in names
        if unit is None:
            if not self.unique:
                raise LineageError.not_unique()
            return
        factorized = None
        values = _unit_values(frame, unit)
        with suppress(TypeError, ValueError):  # as below
            factorized = pd.factorize(values, use_na_sentinel=True)
        if factorized is None:
            raise ParameterError.unit_unknown(unit)
        self._codes = factorized[0].astype(np.int64)
        self._units = pd.Index(factorized[1])

    def same_as(self, other: Roster) -> bool:
        """Whether both describe the same rows of the same units."""
        return (
            (self.unit, self.max_rows) == (other.unit, other.max_rows)
            and list(map(_text, self._own_names)) == list(map(_text, other._own_names))
            and len(self.index) == len(other.index)
            and bool(self.index.equals(other.index))
            and bool(np.array_equal(self._codes, other._codes))
            and bool(self._units.equals(other._units))
        )

    def identify(self, frame: pd.DataFrame | pd.Series[Any]) -> Selection:
        """Trace a derived frame's rows, or raise ``LineageError``.  Reads labels only."""
        labels = self._labels_in_index(frame) if self.unique else None
        in_levels = self.unit is not None and list(frame.index.names).count(self.unit) == 1
        if labels is None and in_levels:
            # The unit as the index (groupby(unit), set_index(unit)) speaks for itself.  A column of that name does not: after
            # groupby("ward").max() there is one, too.
            return Selection(self.codes_of_units(_level(frame, self.unit)), None, self.max_rows)
        if labels is None and self._was_reset(frame):
            if not self.unique:
                return Selection(self.codes_of_units(_unit_values(frame, self.unit)), None, self.max_rows)
            labels = self._labels_in_columns(cast("pd.DataFrame", frame))
        if labels is None:
            raise LineageError.lost()
        if self.unit is None:
            self._check_rows(labels)
            return Selection(None, None, 1)
        positions = np.arange(len(self._codes)) if labels.is_(self.index) else self._positions(labels)
        return Selection(self._codes[positions], positions if self._ordered else None, self.max_rows)

    def _labels_in_index(self, frame: pd.DataFrame | pd.Series[Any]) -> pd.Index[Any] | None:
        """Find the row labels in the index, or in levels of it."""
        index = frame.index
        names = list(index.names)
        if names == self.names:
            return index
        if None in self.names or any(names.count(name) != 1 for name in self.names):
            return None
        levels = [_level(frame, name) for name in self.names]
        return levels[0] if len(levels) == 1 else pd.MultiIndex.from_arrays(levels)

    def _was_reset(self, frame: pd.DataFrame | pd.Series[Any]) -> bool:
        """Whether the labels are columns as ``reset_index()`` leaves them: the first ones, under an unnamed index of integers.

        That tells it from ``reset_index().groupby("ward").max()``, in any of its forms that keeps the ward.
        """
        index = frame.index
        plain = index.nlevels == 1 and index.name is None and (index.dtype.kind in "iu" or not len(index))
        if not plain or not isinstance(frame, pd.DataFrame) or None in self.names:
            return False
        return all(name in frame.columns[: self._lead] and _is_one_column(frame, name) for name in self.names)

    def _labels_in_columns(self, frame: pd.DataFrame) -> pd.Index[Any]:
        labels: pd.Index[Any] = pd.Index(frame[self.names[0]]) if len(self.names) == 1 else pd.MultiIndex.from_frame(frame[self.names])
        return labels

    def knows_units_of(self, frame: pd.DataFrame | pd.Series[Any]) -> bool:
        """Whether the unit can be read from one column or level of a frame, and each of its labels is known."""
        try:
            self.codes_of_units(_unit_values(frame, self.unit))
        except (ParameterError, LineageError):
            return False
        return True

    def codes_of_units(self, values: Any) -> NDArray[np.int64]:
        """Return the code of each unit label, -1 where it is missing; raise ``LineageError`` for a stranger."""
        index = pd.Index(values)
        missing = np.asarray(pd.isna(index), dtype=np.bool_)
        codes = _indexer(self._units, index)
        if codes is None or bool((codes[~missing] == _MISSING).any()):
            raise LineageError.relabelled()
        codes[missing] = _MISSING
        return codes

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


def _unit_values(frame: pd.DataFrame | pd.Series[Any], unit: Hashable | None) -> Any:
    """Return the unit column or level of a frame."""
    levels: list[Any] = list(frame.index.names)
    columns: list[Any] = list(frame.columns) if isinstance(frame, pd.DataFrame) else []
    in_levels = levels.count(unit) if unit is not None else 0
    in_columns = columns.count(unit)
    if in_levels + in_columns != 1:
        raise ParameterError.unit_unknown(unit)
    column: Any = unit
    return frame[column] if in_columns else _level(frame, unit)


def _is_unique(index: pd.Index[Any], unit: Hashable | None) -> bool:
    unique = None
    with suppress(TypeError, ValueError):  # labels that cannot be hashed; the text may quote them
        unique = bool(index.is_unique)
    if unique is None:
        raise LineageError.not_unique() if unit is None else ParameterError.unit_unknown(unit)
    return unique


def _indexer(index: pd.Index[Any], labels: pd.Index[Any]) -> NDArray[np.int64] | None:
    """Return the place of each label in a unique index, -1 where it is not there; None for labels that cannot be compared."""
    for one, other in ((index, labels), (index.astype(object), labels.astype(object))):
        try:
            return one.get_indexer(other).astype(np.int64)
        except Exception:  # noqa: BLE001, S112  (pandas raises many kinds; overlapping intervals are found only as objects)
            continue
    return None


def _text(name: Hashable) -> Hashable:
    return str(name) if isinstance(name, str) else name


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
