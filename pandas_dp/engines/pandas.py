"""The pandas engine: frames and Series in memory, and tracked views of them.

A source looks at labels, names and dtypes alone; its reader reads values, after the charge.  No value may raise or warn, and what goes wrong all the same ends in a round that
returns None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.cells.cells import OneEach, top_of
from pandas_dp.display.progress import steps as followed
from pandas_dp.domains.keysets import KeySet
from pandas_dp.engines.columns import column_of
from pandas_dp.engines.contract import Ranks, Sums, contained
from pandas_dp.engines.contribution import counted_rows, one_record_each, order_of, within_groups
from pandas_dp.engines.group_codes import group_codes
from pandas_dp.engines.sums import all_sums, group_sums

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from pandas_dp.engines.candidates import Candidates
    from pandas_dp.engines.contract import Gram, Occurring, ReadPlan
    from pandas_dp.engines.group_codes import Groups
    from pandas_dp.engines.order_statistics import OrderStatistics
    from pandas_dp.lineage.roster import Roster, Selection

    Frame = pd.DataFrame | pd.Series[Any]

__all__ = ["PandasSource"]

_SIGNED = 2**62  # heights below it are compared as int64


class PandasSource:
    """A frame or Series whose rows were traced: a :class:`pandas_dp.engines.contract.Source`.

    Parameters
    ----------
    frame : DataFrame or Series
        Derived from a protected frame.
    roster : Roster
        Of the protected frame.

    Raises
    ------
    LineageError
        If a row is none of the protected frame's.
    """

    __slots__ = ("_fetched", "_selection", "frame", "is_series", "series")

    def __init__(self, frame: Frame, roster: Roster) -> None:
        self.frame = frame
        self.is_series = isinstance(frame, pd.Series)
        self.series = frame.name if isinstance(frame, pd.Series) else None
        self._selection = roster.identify(frame)
        self._fetched: dict[Hashable, pd.Series[Any]] = {}

    @property
    def columns(self) -> pd.Index[Any]:
        """The names of the columns."""
        return pd.Index([self.frame.name], tupleize_cols=False) if isinstance(self.frame, pd.Series) else self.frame.columns

    def dtype(self, column: Hashable) -> Any:
        """Return the dtype of a column, or of the Series."""
        return self.frame.dtype if self.is_series else self.fetch(column).dtype

    def fetch(self, column: Hashable) -> Any:
        """Return a column, which pandas takes longer to find than to sum where there are few rows: it is kept for when it may be read."""
        found = self._fetched.get(column)
        if found is None:
            found = self._fetched[column] = column_of(self.frame, column)
        return found

    def unsupported(self, plan: ReadPlan) -> str | None:  # noqa: ARG002  (one signature for all)
        """Return None: every plan can be read."""
        return None

    def open(self, plan: ReadPlan, salt: bytes) -> _Reader:
        """Return the reader of a plan."""
        return _Reader(self, self._selection, plan, salt)


class _Reader:
    """The rounds of a plan on a frame; a :class:`pandas_dp.engines.contract.Reader`."""

    def __init__(self, source: PandasSource, selection: Selection, plan: ReadPlan, salt: bytes) -> None:
        self._source, self._selection, self._plan, self._salt = source, selection, plan, salt
        self._frame: Frame = source.frame
        self._counted: NDArray[np.bool_] | None = None
        self._candidates: Candidates | None = None
        self._shown: Groups | None = None
        self._records: tuple[Frame, Groups | None, NDArray[np.bool_] | None] | None = None
        self._ordered: tuple[Ranks, NDArray[Any], NDArray[np.int64]] | None = None

    @contained
    def candidates(self) -> NDArray[Any]:
        """Return the numbers of units of the keys that occur, ascending by key."""
        groups = self._all_candidates().groups
        units, counted = self._units(self._counted)
        if self._plan.contribution.max_groups is not None:
            order = order_of(self._selection, self._frame, self._salt)
            self._counted = counted = within_groups(groups, units, counted, self._plan.contribution.max_groups, order)
        records, by = one_record_each(self._frame, OneEach(None, None), groups, units, counted)
        return group_sums(records, Sums(None, None, everything=True), by or groups, None)[0]

    @contained
    def show(self, which: NDArray[Any]) -> pd.Index[Any]:
        """Let the candidates at these places be the groups; return their index."""
        self._shown, index = self._all_candidates().chosen(which)
        return index

    @contained
    def sums(self) -> list[tuple[Any, Any, Any]]:
        """Return number, sum and sum of squares, in all or by group."""
        frame, groups, counted = self._all_records()
        reads = [read for read in self._plan.reads if isinstance(read, Sums)]
        found: list[tuple[Any, Any, Any]] = []
        with np.errstate(all="ignore"):
            for read in followed(reads, len(reads), least=10):
                column = self._column(frame, read)
                found.append(all_sums(column, read, counted) if groups is None else group_sums(column, read, groups, counted))
        return found

    @contained
    def gram(self, read: Gram) -> tuple[int, list[int], dict[tuple[int, int], int]]:
        """Return number, sums and sums of products of several columns."""
        from pandas_dp.engines.gram import gram  # noqa: PLC0415  (loaded for those who use it)

        frame, _, counted = self._all_records()
        return gram(frame, read.columns, read.grids, counted)

    @contained
    def occurring(self, read: Occurring) -> int:
        """Return the number of keys that a counted row has."""
        frame, _, counted = self._all_records()
        groups = group_codes(frame, read.keys)
        codes = groups.codes if counted is None else groups.codes[counted]
        return int(np.count_nonzero(np.bincount(codes, minlength=groups.size + 1)[: groups.size]))

    @contained
    def ranks(self, read: Ranks, group: int | None) -> OrderStatistics:
        """Return the ranks of all counted rows, or of those of one group."""
        from pandas_dp.engines.order_statistics import OrderStatistics  # noqa: PLC0415  (as above)

        heights, ends = self._heights(read)
        return OrderStatistics(heights if group is None else heights[ends[group] : ends[group + 1]], top_of(read.grid))

    def _begin(self) -> None:
        """Take the steps, and bound each unit's rows: the first round does, when it may read."""
        plan, frame, rows = self._plan, self._source.frame, None
        if plan.steps:
            frame, rows = taken(frame, plan.steps)
        self._frame, self._counted = frame, counted_rows(self._selection, frame, rows, plan.contribution.max_rows, self._salt)

    def _all_candidates(self) -> Candidates:
        """Return the keys that occur."""
        from pandas_dp.engines.candidates import observed  # noqa: PLC0415  (as above)

        if self._candidates is None:
            self._begin()
            keys: Any = self._plan.keys  # private ones: only then are there candidates
            self._candidates = observed(self._frame, keys)
        return self._candidates

    def _all_records(self) -> tuple[Frame, Groups | None, NDArray[np.bool_] | None]:
        """Return the records, their groups, and which of them count: rows, or one for each unit and group."""
        if self._records is None:
            plan, groups = self._plan, self._shown
            if self._candidates is None:
                self._begin()
            counted = self._counted
            if isinstance(plan.keys, KeySet):
                groups = group_codes(self._frame, plan.keys)
                if plan.contribution.max_groups is not None:
                    order = order_of(self._selection, self._frame, self._salt)
                    counted = within_groups(groups, *self._units(counted), plan.contribution.max_groups, order)
            if plan.records is None:
                self._records = self._frame, groups, counted
            else:
                self._records = *one_record_each(self._frame, plan.records, groups, *self._units(counted)), None
        return self._records

    def _units(self, counted: NDArray[np.bool_] | None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the unit of each row, and which rows count."""
        rows, units = len(self._frame), self._selection.units
        return np.arange(rows) if units is None else units, np.ones(rows, dtype=np.bool_) if counted is None else counted

    def _column(self, frame: Frame, read: Sums) -> Frame:
        """Return what a read needs of a frame: the column that was looked up before, or the frame."""
        return self._source.fetch(read.column) if frame is self._source.frame and not read.everything else frame

    def _heights(self, read: Ranks) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the heights of the counted rows, group by group, and where each group ends."""
        if self._ordered is None or self._ordered[0] != read:
            self._ordered = read, *self._order(read)
        return self._ordered[1:]

    def _order(self, read: Ranks) -> tuple[NDArray[Any], NDArray[np.int64]]:
        from pandas_dp.engines.contribution import heights_of  # noqa: PLC0415  (as above)

        frame, groups, counted = self._all_records()
        heights, there = heights_of(column_of(frame, read.column), read.grid)
        rows = np.flatnonzero(there if counted is None else there & counted)
        values: NDArray[Any] = heights[rows] if top_of(read.grid) >= _SIGNED else heights[rows].view(np.int64)
        if groups is None:
            return values, np.array([0, len(values)])
        codes = groups.codes[rows]
        sorting = np.argsort(codes, kind="stable")
        return values[sorting], np.searchsorted(codes[sorting], np.arange(groups.size + 1))


def taken(frame: Any, steps: Sequence[Any]) -> tuple[Any, NDArray[np.bool_]]:
    """Take the steps of a tracked view: return the columns, and which rows fulfil the conditions."""
    frame = frame.copy(deep=False)
    rows = np.ones(len(frame), dtype=np.bool_)
    for step in steps:
        if step.condition is not None:
            rows &= step.condition.mask(frame).to_numpy()
        for name, expression in step.assigned:
            frame[name] = expression.evaluate(frame)
    return frame, rows
