"""Numbers of records, sums of steps and of their squares: one pass over each column, in blocks, into exact integers.

Never calls a pandas reduction: those round, wrap and differ between versions.  Reads private columns: runs after the charge, and no value may raise or warn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.engines.blocks import BLOCK, GroupSum, StepSum
from pandas_dp.engines.columns import column_of, present, read_column

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from pandas_dp.engines.contract import Sums
    from pandas_dp.engines.group_codes import Groups

__all__ = ["all_sums", "group_sums"]

_MANY = 8192


def all_sums(frame: pd.DataFrame | pd.Series[Any], read: Sums, counted: NDArray[np.bool_] | None) -> tuple[int, int, int]:
    """Return number, sum and sum of squares of the rows that count."""
    if read.everything:
        return len(frame) if counted is None else int(np.count_nonzero(counted)), 0, 0
    series = column_of(frame, read.column)
    length = len(series)
    if read.grid is None:
        return sum(int(np.count_nonzero(present(series, start, counted))) for start in range(0, length, BLOCK)), 0, 0
    block_of = read_column(series)
    steps = StepSum(read.grid, min(length, BLOCK), squares=read.squares)
    for start in range(0, length, BLOCK):
        values, missing = block_of(start, start + BLOCK)
        if counted is not None:
            chosen = counted[start : start + BLOCK]
            values = values[chosen]
            missing = None if missing is None else missing[chosen]
        steps.add(values, missing)
    return steps.sums()


def group_sums(
    frame: pd.DataFrame | pd.Series[Any], read: Sums, groups: Groups, counted: NDArray[np.bool_] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the same for each group: int64, or Python ints where they might not fit."""
    length = len(frame)
    codes = groups.codes if counted is None else np.where(counted, groups.codes, groups.size)
    if read.everything:
        count = np.bincount(codes, minlength=groups.size + 1)[:-1]
        return count, np.zeros_like(count), np.zeros_like(count)
    series = column_of(frame, read.column)
    if read.grid is None:
        count = np.zeros(groups.size + 1, dtype=np.int64)
        for start in range(0, length, BLOCK):
            count += np.bincount(codes[start : start + BLOCK][present(series, start, None)], minlength=groups.size + 1)
        none = np.zeros(groups.size, dtype=np.int64)
        return count[:-1], none, none
    block_of = read_column(series)
    block = BLOCK if groups.size <= _MANY else 4 * BLOCK  # a result per group and block is not free
    steps = GroupSum(read.grid, min(length, block), groups.size, squares=read.squares)
    for start in range(0, length, block):
        steps.add(*block_of(start, start + block), codes[start : start + block])
    return steps.sums()
