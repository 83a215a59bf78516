"""A column of a frame as NumPy blocks, with a mask of what is missing, for every supported dtype.

Reads private columns: runs after the charge, and no value may raise or warn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.domains.dtypes import kind_of
from pandas_dp.domains.objects import is_missing, number
from pandas_dp.engines.blocks import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

__all__ = ["column_of", "present", "read_column"]

Block = tuple["NDArray[Any]", "NDArray[np.bool_] | None"]
_NAT = np.iinfo(np.int64).min


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
