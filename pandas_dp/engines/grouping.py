"""From values to the codes of declared groups.  Reads private columns: runs after the charge, and no value may raise or warn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.engines import Groups
from pandas_dp.engines.kernel import BLOCK
from pandas_dp.engines.pandas import column_of, read_column
from pandas_dp.keys import Bins, KeyList

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pandas_dp.keys import KeySet

__all__ = ["group_codes"]

_SPAN = 1 << 22


def group_codes(frame: pd.DataFrame | pd.Series[Any], keys: KeySet) -> Groups:
    """Return the group of every row."""
    with np.errstate(all="ignore"):
        codes = _part_codes(frame, keys.parts[0])
        size = len(keys.parts[0].labels)
        for part in keys.parts[1:]:
            more, others = _part_codes(frame, part), len(part.labels)
            outside = (codes == size) | (more == others)
            codes = codes * others + more
            size *= others
            codes[outside] = size
    if keys.chosen is not None:
        table = np.full(size + 1, len(keys), dtype=np.int64)
        table[keys.chosen] = np.arange(len(keys))
        codes = table[codes]
    return Groups(codes, len(keys))


def _part_codes(frame: pd.DataFrame | pd.Series[Any], part: KeyList | Bins) -> NDArray[np.int64]:
    """Return the place of each row's value among the labels of one column; their number for a row that has none."""
    series = column_of(frame, part.column)
    return _bin_codes(series, part) if isinstance(part, Bins) else _key_codes(series, part)


def _key_codes(series: pd.Series[Any], part: KeyList) -> NDArray[np.int64]:
    """Return the place of each value among the declared ones; their number for others, which is the place of ``other``."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        places: NDArray[np.int64] = np.append(_lookup(pd.Series(dtype.categories), part.values), len(part.values))
        codes: NDArray[np.int64] = places.take(np.asarray(series.cat.codes), mode="wrap")  # -1, a missing value, is the last
        return codes
    return _lookup(series, part.values)


def _lookup(series: pd.Series[Any], values: tuple[Any, ...]) -> NDArray[np.int64]:
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iub" and all(isinstance(value, (int, np.integer, np.bool_)) for value in values):
        low, high = int(min(values)), int(max(values))
        if high - low < _SPAN:
            return _dense(series.to_numpy(), [int(value) for value in values], low, high)
    if _is_arrow_text(dtype):
        return _arrow_text(series, values)
    if not (isinstance(dtype, np.dtype) and dtype.kind == "O"):
        try:
            found = pd.Index(values).get_indexer(pd.Index(series)).astype(np.int64)
        except Exception:  # noqa: BLE001  (keys that cannot be compared with the column's values)
            return _one_by_one(series, values)
        return _none(found, len(values))
    try:
        codes, uniques = pd.factorize(series.to_numpy())
    except Exception:  # noqa: BLE001  (a cell that cannot be hashed)
        return _one_by_one(series, values)
    return np.append(_one_by_one(uniques, values), len(values))[codes]


def _none(places: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Turn -1 into ``size``."""
    places[places < 0] = size
    return places


def _dense(array: NDArray[Any], values: list[int], low: int, high: int) -> NDArray[np.int64]:
    size = len(values)
    ordered = values == list(range(low, high + 1))
    table = np.full(high - low + 3, size, dtype=np.int64)
    table[np.array(values, dtype=object).astype(np.int64) - low + 1] = np.arange(size)
    codes = np.empty(len(array), dtype=np.int64)
    for start in range(0, len(array), BLOCK):
        block, out = array[start : start + BLOCK], codes[start : start + BLOCK]
        if block.dtype.kind == "u" and block.dtype.itemsize == 8:  # noqa: PLR2004
            block = np.minimum(block, np.uint64(2**63 - 1))
        # A difference that wraps around is far outside on the other side, which is outside, too.
        np.subtract(block, low if ordered else low - 1, out=out, casting="unsafe", dtype=np.int64)
        if ordered:
            unsigned = out.view(np.uint64)
            np.minimum(unsigned, np.uint64(size), out=unsigned)
        else:
            out[...] = table.take(out, mode="clip")
    return codes


def _is_arrow_text(dtype: Any) -> bool:
    if isinstance(dtype, pd.StringDtype):
        return dtype.storage == "pyarrow"
    return isinstance(dtype, pd.ArrowDtype) and str(dtype.pyarrow_dtype) in {"string", "large_string"}


def _arrow_text(series: pd.Series[Any], values: tuple[Any, ...]) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    array: Any = pa.array(series.array)
    texts = pa.array([value if isinstance(value, str) else None for value in values], type=array.type)
    found = pc.index_in(array, value_set=texts, skip_nulls=True)
    places: NDArray[np.int64] = found.fill_null(len(values)).to_numpy().astype(np.int64)
    return places


def _one_by_one(cells: Any, values: tuple[Any, ...]) -> NDArray[np.int64]:
    places = {value: place for place, value in enumerate(values)}
    size = len(values)

    def place(cell: Any) -> int:
        try:
            return places.get(cell, size)
        except Exception:  # noqa: BLE001  (cannot be hashed: not among the keys)
            return size

    return np.fromiter((place(cell) for cell in cells), dtype=np.int64, count=len(cells))


def _bin_codes(series: pd.Series[Any], part: Bins) -> NDArray[np.int64]:
    read = read_column(series)
    codes = np.empty(len(series), dtype=np.int64)
    last = len(part.edges) - 1
    for start in range(0, len(series), BLOCK):
        values, missing = read(start, start + BLOCK)
        numbers = values.astype(np.float64)
        places = np.searchsorted(part.edges, numbers, side="left" if part.right else "right") - 1
        outside = (places < 0) | (places >= last) | np.isnan(numbers)
        if missing is not None:
            outside |= missing
        codes[start : start + BLOCK] = np.where(outside, last, places)
    return codes
