"""The pandas engine: one pass over each column, in blocks, into exact integers.

Reads values of every supported dtype as NumPy blocks with a mask of what is missing.  Never calls a pandas reduction: those round,
wrap and differ between versions.  Must not raise or warn because of a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.engines.blocks import BLOCK, GroupSum, StepSum
from pandas_dp.domains.dtypes import kind_of
from pandas_dp.display.progress import steps
from pandas_dp.domains.objects import is_missing, number

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from pandas_dp.cells.cells import Cell, Grid
    from pandas_dp.engines import Groups

__all__ = ["column_of", "present", "read_column", "totals"]

Block = tuple["NDArray[Any]", "NDArray[np.bool_] | None"]
_MANY = 8192
_NAT = np.iinfo(np.int64).min


def totals(
    frame: pd.DataFrame | pd.Series[Any],
    cells: Sequence[Cell],
    *,
    by: Groups | None = None,
    unit: NDArray[np.bool_] | None = None,
) -> list[Any]:
    """Return the exact total of every cell; see :mod:`pandas_dp.engines` for the contract."""
    squared = {(cell.column, cell.grid) for cell in cells if cell.per_square}
    measured: dict[tuple[bool, Hashable, Grid | None], tuple[Any, Any, Any]] = {}
    answer = []
    with np.errstate(all="ignore"):
        for cell in steps(cells, len(cells), least=10):
            key = (cell.everything, cell.column, cell.grid)
            if key not in measured:
                squares = (cell.column, cell.grid) in squared
                measured[key] = (
                    _moments(frame, cell, unit, squares=squares) if by is None else _group_moments(frame, cell, by, unit, squares=squares)
                )
            answer.append(cell.of(*measured[key]))
    return answer


def _moments(frame: pd.DataFrame | pd.Series[Any], cell: Cell, unit: NDArray[np.bool_] | None, *, squares: bool) -> tuple[int, int, int]:
    if cell.everything:
        return len(frame) if unit is None else int(np.count_nonzero(unit)), 0, 0
    series = column_of(frame, cell.column)
    length = len(series)
    if cell.grid is None:
        return sum(int(np.count_nonzero(present(series, start, unit))) for start in range(0, length, BLOCK)), 0, 0
    read = read_column(series)
    steps = StepSum(cell.grid, min(length, BLOCK), squares=squares)
    for start in range(0, length, BLOCK):
        values, missing = read(start, start + BLOCK)
        if unit is not None:
            counted = unit[start : start + BLOCK]
            values = values[counted]
            missing = None if missing is None else missing[counted]
        steps.add(values, missing)
    return steps.moments()


def _group_moments(
    frame: pd.DataFrame | pd.Series[Any], cell: Cell, by: Groups, unit: NDArray[np.bool_] | None, *, squares: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    length = len(frame)
    codes = by.codes if unit is None else np.where(unit, by.codes, by.size)
    if cell.everything:
        count = np.bincount(codes, minlength=by.size + 1)[:-1]
        return count, np.zeros_like(count), np.zeros_like(count)
    series = column_of(frame, cell.column)
    if cell.grid is None:
        count = np.zeros(by.size + 1, dtype=np.int64)
        for start in range(0, length, BLOCK):
            count += np.bincount(codes[start : start + BLOCK][present(series, start, None)], minlength=by.size + 1)
        none = np.zeros(by.size, dtype=np.int64)
        return count[:-1], none, none
    read = read_column(series)
    block = BLOCK if by.size <= _MANY else 4 * BLOCK  # a result per group and block is not free
    steps = GroupSum(cell.grid, min(length, block), by.size, squares=squares)
    for start in range(0, length, block):
        steps.add(*read(start, start + block), codes[start : start + block])
    return steps.moments()


def column_of(frame: pd.DataFrame | pd.Series[Any], column: Hashable) -> pd.Series[Any]:
    """Return a column, or the Series itself."""
    return frame if isinstance(frame, pd.Series) else frame[column]


def present(series: pd.Series[Any], start: int, unit: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """Return which of the block of rows from ``start`` have a value, and count."""
    found = ~_missing(series, start)
    return found if unit is None else found & unit[start : start + BLOCK]


def _missing(series: pd.Series[Any], start: int) -> NDArray[np.bool_]:
    kind = kind_of(series.dtype)
    if kind is not None and kind.name == "float":
        # NaN and NA may live side by side in a nullable column, and which of them isna() sees depends on the version.
        values, missing = read_column(series)(start, start + BLOCK)
        unknown: NDArray[np.bool_] = np.isnan(values)
        return unknown if missing is None else unknown | missing
    part = series.array[start : start + BLOCK]
    try:
        return np.asarray(pd.isna(part), dtype=np.bool_)
    except Exception:  # noqa: BLE001  (pandas compares objects with themselves, which some refuse: a signalling NaN, say)
        return np.fromiter((is_missing(cell) for cell in part), dtype=np.bool_, count=len(part))


def read_column(series: pd.Series[Any]) -> Callable[[int, int], Block]:
    """Return a function that reads rows ``start`` to ``stop`` as a NumPy array and a mask."""
    dtype = series.dtype
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow_reader(series, dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _zoned_reader(series)
    if not isinstance(dtype, np.dtype):
        return _masked_reader(series)
    array = series.to_numpy()
    if dtype.kind in "mM":
        return lambda start, stop: _times(array[start:stop])
    if dtype.kind == "O":
        return lambda start, stop: (_numbers(array[start:stop]), None)
    return lambda start, stop: (array[start:stop], None)


def _times(values: NDArray[Any]) -> Block:
    ints = values.view(np.int64)
    return ints, ints == _NAT


def _zoned_reader(series: pd.Series[Any]) -> Callable[[int, int], Block]:
    array: Any = series.array
    return lambda start, stop: _times(np.asarray(array[start:stop].tz_convert(None)))


def _masked_reader(series: pd.Series[Any]) -> Callable[[int, int], Block]:
    array: Any = series.array
    numpy_dtype = np.dtype(bool) if isinstance(series.dtype, pd.BooleanDtype) else np.dtype(series.dtype.type)

    def read(start: int, stop: int) -> Block:
        part = array[start:stop]
        return part.to_numpy(dtype=numpy_dtype, na_value=numpy_dtype.type(0)), np.asarray(part.isna())

    return read


def _arrow_reader(series: pd.Series[Any], dtype: pd.ArrowDtype) -> Callable[[int, int], Block]:
    import pyarrow as pa

    arrow = dtype.pyarrow_dtype
    if pa.types.is_timestamp(arrow) or pa.types.is_duration(arrow):
        target = pa.int64()
    elif pa.types.is_decimal(arrow):
        target = pa.float64()
    else:
        target = arrow
    array: Any = series.array

    def read(start: int, stop: int) -> Block:
        part = pa.array(array[start:stop])
        if isinstance(part, pa.ChunkedArray):
            part = part.combine_chunks()
        missing = part.is_null().to_numpy(zero_copy_only=False)
        values = part.cast(target).fill_null(pa.scalar(0).cast(target)).to_numpy(zero_copy_only=False)
        return values, missing

    return read


def _numbers(cells: NDArray[Any]) -> NDArray[np.float64]:
    """Read Python objects as doubles; what is no real number is missing, whatever it is."""
    return np.fromiter((number(cell) for cell in cells), dtype=np.float64, count=len(cells))
