"""Contribution bounding: which rows and groups of a privacy unit count, and one record for each unit and group.

Reads private columns: runs after the charge, and no value may raise or warn.  What becomes of one unit's rows depends on these rows alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.engines.blocks import BLOCK, steps_of
from pandas_dp.engines.columns import column_of, present, read_column
from pandas_dp.engines.group_codes import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pandas_dp.cells.cells import Grid, OneEach
    from pandas_dp.lineage.roster import Selection

__all__ = ["counted_rows", "first_rows", "heights_of", "one_record_each", "order_of", "within_groups"]

_FLAGS = 1 << 27  # pairs of unit and group, up to which each has a place in a table
_HALF = 31
_FAR = 1 << 30  # in units of 2**31: beyond, a total is as good as infinite


def counted_rows(
    selection: Selection, frame: pd.DataFrame | pd.Series[Any], rows: NDArray[np.bool_] | None, max_rows: int, salt: bytes
) -> NDArray[np.bool_] | None:
    """Return which of ``rows`` count: ``max_rows`` of each unit; None for all.

    Notes
    -----
    Adding or removing a unit must not change which rows of another count, but the order at hand may depend on everybody: sorting by a
    column shuffles the ties within a unit's rows when one row is added elsewhere.  So the order is that of the protected frame, and where
    rows have no label, or share one, that of a hash of their content, which depends on nothing but the row.
    """
    if selection.units is None:
        return rows
    units = selection.units if rows is None else np.where(rows, selection.units, -1)
    if int(np.bincount(units[units >= 0], minlength=1).max(initial=0)) <= max_rows:
        return units >= 0  # nobody has more
    return first_rows(units, max_rows, order_of(selection, frame, salt))


def order_of(selection: Selection, frame: pd.DataFrame | pd.Series[Any], salt: bytes) -> NDArray[np.int64]:
    """Return the rank of each row, which among the rows of one unit depends on these alone."""
    if selection.places is None or not selection.distinct:
        from pandas_dp.engines.content_order import order_by_content  # noqa: PLC0415  (loaded for those who use it)

        return order_by_content(frame, salt, selection.places)
    return selection.places


def first_rows(units: NDArray[np.int64], max_rows: int, order: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
    """Mark the first ``max_rows`` rows of every unit by ``order``; rows without a unit (-1) are not marked.

    Which rows of a unit are marked depends on that unit's rows and their order alone.
    """
    count = len(units)
    row_bits = max(1, (count - 1).bit_length()) if count else 1
    rows = np.flatnonzero(units >= 0)
    if order is not None:
        rows = rows[np.argsort(order[rows], kind="stable")]
    packed = (units[rows] << row_bits) | np.arange(len(rows))
    packed.sort()
    codes = packed >> row_bits
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1]))) if len(codes) else np.empty(0, np.int64)
    sizes = np.diff(np.append(starts, len(codes)))
    rank = np.arange(len(codes)) - np.repeat(starts, sizes)
    marked = np.zeros(count, dtype=np.bool_)
    marked[rows[packed[rank < max_rows] & ((1 << row_bits) - 1)]] = True
    return marked


def within_groups(
    groups: Groups, units: NDArray[np.int64], counted: NDArray[np.bool_], max_groups: int, order: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Mark the counted rows of each unit that fall into the first ``max_groups`` groups it reaches, by ``order``."""
    rows = np.flatnonzero(counted & (groups.codes < groups.size))
    rows = rows[np.argsort(order[rows], kind="stable")]
    pairs, firsts, which = np.unique(units[rows] * groups.size + groups.codes[rows], return_index=True, return_inverse=True)
    kept = first_rows(pairs // groups.size, max_groups, firsts)
    marked = np.zeros(len(counted), dtype=np.bool_)
    marked[rows[kept[which.ravel()]]] = True
    return marked


def one_record_each(
    frame: pd.DataFrame | pd.Series[Any], each: OneEach, groups: Groups | None, units: NDArray[np.int64], counted: NDArray[np.bool_]
) -> tuple[pd.DataFrame, Groups | None]:
    """Return a frame with one row for each unit, and group, that has a counted row with a value in the column.

    Parameters
    ----------
    frame : DataFrame or Series
        The rows.
    each : OneEach
        The column whose present values matter (None for all rows of a frame), and the grid on which they become steps.
    groups, units, counted : Groups or None, ndarray, ndarray
        Of each row.

    Returns
    -------
    DataFrame, Groups or None
        With the column ``"total"``, the sum of the steps from the value 0: exact up to ``2**61``, beyond it some number of that size and the same sign.
    """
    column = each.column
    size = 1 if groups is None else groups.size
    chosen = counted if groups is None else counted & (groups.codes < size)
    heights = None
    if each.grid is not None:
        heights, present_rows = heights_of(column_of(frame, column), each.grid)
        chosen = chosen & present_rows
    elif isinstance(frame, pd.Series) or column is not None:
        series = column_of(frame, column)
        flags = [present(series, start) for start in range(0, len(series), BLOCK)]
        chosen = chosen & np.concatenate([np.zeros(0, dtype=np.bool_), *flags])
    rows = np.flatnonzero(chosen)
    keys = units[rows] if groups is None else units[rows] * size + groups.codes[rows]
    places = int(keys.max(initial=-1)) + 1
    if places <= _FLAGS:
        seen = np.zeros(places, dtype=np.bool_)
        seen[keys] = True
        pairs = np.flatnonzero(seen)
        which = (np.cumsum(seen) - 1)[keys]
    else:
        pairs, which = np.unique(keys, return_inverse=True)
        which = which.ravel()
    totals = np.zeros(len(pairs), dtype=np.int64)
    if each.grid is not None and heights is not None:
        totals = _totals(heights[rows], which, len(pairs), each.grid.first + each.grid.offset)
    by = None if groups is None else Groups(pairs % size, size)
    return pd.DataFrame({"total": totals}), by


def heights_of(series: pd.Series[Any], grid: Grid) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return how many steps each value stands above the first, and which rows have a value."""
    read = read_column(series)
    steps = steps_of(grid, min(len(series), BLOCK))
    heights = np.empty(len(series), dtype=np.uint64)
    there = np.ones(len(series), dtype=np.bool_)
    with np.errstate(all="ignore"):
        for start in range(0, len(series), BLOCK):
            values, missing = read(start, start + BLOCK)
            ints, absent = steps.read(values, missing)
            heights[start : start + BLOCK] = (ints - ints.dtype.type(steps.zero + grid.first)).view(np.uint64)
            if absent is not None:
                there[start : start + BLOCK] = ~absent
    return heights, there


def _totals(heights: NDArray[np.uint64], which: NDArray[np.int64], size: int, base: int) -> NDArray[np.int64]:
    """Add up heights above ``base`` in two halves, which cannot overflow, and saturate."""
    high, low = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    np.add.at(high, which, (heights >> np.uint64(_HALF)).view(np.int64))
    np.add.at(low, which, (heights & np.uint64((1 << _HALF) - 1)).view(np.int64))
    records = np.bincount(which, minlength=size)
    base_high, base_low = divmod(base, 1 << _HALF)
    high += base_high * records
    low += base_low * records
    high += low >> _HALF
    low &= (1 << _HALF) - 1
    totals: NDArray[np.int64] = (np.clip(high, -_FAR, _FAR) << _HALF) + low
    return totals
