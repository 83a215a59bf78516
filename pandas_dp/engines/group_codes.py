"""From values to the codes of declared groups.  Reads private columns: runs after the charge, and no value may raise or warn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.domains.dtypes import kind_of
from pandas_dp.domains.keysets import Bins, KeyList
from pandas_dp.engines.blocks import BLOCK
from pandas_dp.engines.columns import column_of, read_column

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pandas_dp.domains.keysets import KeySet

__all__ = ["Groups", "group_codes"]

_SPAN = 1 << 22


@dataclass(frozen=True, slots=True)
class Groups:
    """To which of a fixed number of groups each row belongs.

    Attributes
    ----------
    codes : ndarray of int64, shape (rows,)
        0 to ``size`` - 1; ``size`` for a row that belongs to none.
    size : int
        The number of groups.
    """

    codes: NDArray[np.int64]
    size: int


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
        # Category by category, each by itself; -1, a missing value, is the last.
        places = np.append(_one_by_one(list(dtype.categories), part.values), len(part.values))
        codes: NDArray[np.int64] = places.take(np.asarray(series.cat.codes), mode="wrap")
        return codes
    kind = kind_of(dtype)
    if kind is not None and kind.name != "object":
        return _stored_codes(series, part.wanted)
    if _is_arrow_text(dtype):
        return _arrow_text(series, part.values)
    # Cell by cell: to find equal objects first, as factorize() does, would let one row decide what another is equal to.
    return _one_by_one(series.array, part.values)


def _stored_codes(series: pd.Series[Any], wanted: tuple[Any, ...]) -> NDArray[np.int64]:
    """Find numbers, dates and durations as the column stores them."""
    read = read_column(series)
    size = len(wanted)
    codes = np.empty(len(series), dtype=np.int64)
    find: Callable[[NDArray[Any]], NDArray[np.int64]] | None = None
    for start in range(0, len(series), BLOCK):
        values, missing = read(start, start + BLOCK)
        if find is None:
            find = _finder(values.dtype, wanted)
        found = find(values)
        if missing is not None:
            found[missing] = size
        codes[start : start + BLOCK] = found
    return codes


def _finder(dtype: np.dtype[Any], wanted: tuple[Any, ...]) -> Callable[[NDArray[Any]], NDArray[np.int64]]:
    """Return a function from values of one dtype to their places."""
    size = len(wanted)
    if dtype.kind == "f":
        kind: Any = np.float64
        possible = list(enumerate(wanted))
    else:
        unsigned = dtype.kind == "u" and dtype.itemsize == 8  # noqa: PLR2004
        kind = np.uint64 if unsigned else np.int64
        info = np.iinfo(kind)
        low, high = min(wanted), max(wanted)
        near = not unsigned and high - low < _SPAN and low > -(2**62) and high < 2**62
        if near:
            return _dense(wanted, low, high)
        possible = [(place, key) for place, key in enumerate(wanted) if info.min <= key <= info.max]
    ordered = sorted(possible, key=lambda pair: pair[1])
    keys = np.array([key for _, key in ordered], dtype=kind)
    places = np.array([*(place for place, _ in ordered), size], dtype=np.int64)

    def find(values: NDArray[Any]) -> NDArray[np.int64]:
        values = values.astype(kind)
        at = np.searchsorted(keys, values)
        hit = keys[np.minimum(at, len(keys) - 1)] == values if len(keys) else np.zeros(len(values), dtype=np.bool_)
        return places[np.where(hit, at, len(keys))]

    return find


def _dense(wanted: tuple[int, ...], low: int, high: int) -> Callable[[NDArray[Any]], NDArray[np.int64]]:
    """Look integers that lie close together up in a table, or by arithmetic if they are in order."""
    size = len(wanted)
    in_order = wanted == tuple(range(low, high + 1))
    table = np.full(0 if in_order else high - low + 3, size, dtype=np.int64)
    if not in_order:
        table[np.array(wanted, dtype=np.int64) - (low - 1)] = np.arange(size)

    def find(values: NDArray[Any]) -> NDArray[np.int64]:
        # A difference that wraps around is far outside on the other side, which is outside, too.
        offsets = np.subtract(values, low if in_order else low - 1, dtype=np.int64, casting="unsafe")
        if in_order:
            unsigned = offsets.view(np.uint64)
            np.minimum(unsigned, np.uint64(size), out=unsigned)
            return np.asarray(offsets)
        return np.asarray(table.take(offsets, mode="clip"))

    return find


def _is_arrow_text(dtype: Any) -> bool:
    if isinstance(dtype, pd.StringDtype):
        return dtype.storage == "pyarrow"
    return isinstance(dtype, pd.ArrowDtype) and str(dtype.pyarrow_dtype) in {"string", "large_string"}


def _arrow_text(series: pd.Series[Any], values: tuple[Any, ...]) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    array: Any = pa.array(series.array)
    try:
        texts = pa.array([value if isinstance(value, str) else None for value in values], type=array.type)
    except UnicodeEncodeError:  # half a character, which no column of Arrow can hold
        return _one_by_one(series.array, values)
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
        numbers = values if part.edges.dtype.kind == values.dtype.kind == "i" else values.astype(np.float64)
        if part.edges[-1] == np.inf:
            numbers = np.minimum(numbers, np.finfo(np.float64).max)  # infinity lies above all bounds, too
        places = np.searchsorted(part.edges, numbers, side="left" if part.right else "right") - 1
        outside = (places < 0) | (places >= last) | np.isnan(numbers)
        if missing is not None:
            outside |= missing
        codes[start : start + BLOCK] = np.where(outside, last, places)
    return codes
