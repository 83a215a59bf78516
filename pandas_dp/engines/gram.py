"""Sums and sums of products of several columns, over the rows that have a value in all of them.

Reads private columns: runs after the charge, gives exact Python ints, the same in every row order, and no value may raise or warn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.cells.second_moments import shift_of
from pandas_dp.engines.blocks import BLOCK, steps_of
from pandas_dp.engines.columns import column_of, read_column

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from pandas_dp.cells.cells import Grid

__all__ = ["exact_dot", "gram"]

_WORD = 1 << 64


def gram(
    frame: pd.DataFrame | pd.Series[Any],
    columns: Sequence[Hashable],
    grids: Sequence[Grid],
    unit: NDArray[np.bool_] | None = None,
) -> tuple[int, list[int], dict[tuple[int, int], int]]:
    """Return the number of complete rows, the sums of their heights and the sums of products of two heights.

    Parameters
    ----------
    frame : DataFrame or Series
        The rows.
    columns : sequence of Hashable
        The columns; a row counts if it has a value in every one.
    grids : sequence of Grid
        How each column's values become steps.  The height is ``(step - grid.first) >> shift_of(grid)``, from 0 to its entry of :func:`tops_of`.
    unit : ndarray of bool, optional
        Which rows count at all.

    Returns
    -------
    n : int
        The number of rows that count and are complete.
    sums : list of int
        One for each column.
    products : dict
        ``products[i, j]`` for the positions ``i <= j`` of two columns.
    """
    length = len(frame)
    readers = [read_column(column_of(frame, column)) for column in columns]
    steps = [steps_of(grid, min(length, BLOCK)) for grid in grids]
    places = range(len(grids))
    count, sums = 0, [0 for _ in places]
    products = {(i, j): 0 for i in places for j in places if i <= j}
    with np.errstate(all="ignore"):
        for start in range(0, length, BLOCK):
            stop = min(start + BLOCK, length)
            complete = np.ones(stop - start, dtype=np.bool_) if unit is None else unit[start:stop].copy()
            heights = np.empty((len(grids), stop - start), dtype=np.int64)
            for place, grid in enumerate(grids):
                ints, absent = steps[place].read(*readers[place](start, stop))
                above = (ints - ints.dtype.type(steps[place].zero + grid.first)).view(np.uint64)
                heights[place] = (above >> np.uint64(shift_of(grid))).view(np.int64)
                if absent is not None:
                    complete &= ~absent
            heights = heights[:, complete]
            floats = heights.astype(np.float64)
            count += heights.shape[1]
            for i, j in products:
                products[i, j] += exact_dot(heights[i], heights[j], floats[i], floats[j])
            sums = [total + int(part) for total, part in zip(sums, np.add.reduce(heights, axis=1), strict=True)]
    return count, sums, products


def exact_dot(
    one: NDArray[np.int64], other: NDArray[np.int64], one_as_floats: NDArray[np.float64], other_as_floats: NDArray[np.float64]
) -> int:
    """Return the exact sum of products of up to ``2**17`` integers from 0 to ``2**31``, given as integers and as doubles.

    Notes
    -----
    Integers that wrap around give it modulo ``2**64``, doubles to within ``2**45``, in whatever order they are added [1]_: together, exactly.

    References
    ----------
    .. [1] N. J. Higham. Accuracy and stability of numerical algorithms. 2002, section 3.1.
    """
    near = int(np.einsum("i,i->", one_as_floats, other_as_floats))  # no BLAS, whose threads wait for each other
    return near + (int(np.einsum("i,i->", one, other)) - near + _WORD // 2) % _WORD - _WORD // 2
