"""An order of rows that depends on nothing but each row's own values: for rows that have no place, or share one.

Which rows of a unit count must not depend on anybody else, but positions do: sorting moves everybody's rows, and one odd cell changes the dtype of a whole
column.  So rows are ordered by a keyed hash of their values, which is the same whatever dtype the column has, and then by a stricter one that tells apart what
is equal as a number.  Rows that still tie are equal in every way a query can see.  Reads values: runs after the charge, and no value may raise or warn.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.domains.dtypes import kind_of
from pandas_dp.domains.objects import is_missing, number
from pandas_dp.lineage.handle import HANDLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["order_by_content"]

_EXACT = 2.0**53
_WORD = 1 << 64
_PER_UNIT = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def order_by_content(frame: pd.DataFrame | pd.Series[Any], salt: bytes, places: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Return the rank of each row by place, if it has one, and then by its content.

    Parameters
    ----------
    frame : DataFrame or Series
        The rows.
    salt : bytes
        The key of the hashes, which whoever writes the data must not know: they could make two rows collide.
    places : ndarray, optional
        A first criterion.
    """
    table = frame.to_frame() if isinstance(frame, pd.Series) else frame
    content = np.zeros(len(table), dtype=np.uint64)
    strict = np.zeros(len(table), dtype=np.uint64)
    with np.errstate(all="ignore"):
        for place, name in enumerate(table.columns):
            if isinstance(name, str) and HANDLE.fullmatch(name):
                continue  # row numbers, which depend on everybody
            loose, tags = _hashes(table.iloc[:, place], salt)
            content = _mixed(content * _key(salt, 0) + loose)
            strict = _mixed(strict * _key(salt, 1) + tags)
    sorting = np.lexsort((strict, content) if places is None else (strict, content, places))
    order = np.empty(len(sorting), dtype=np.int64)
    order[sorting] = np.arange(len(sorting))
    return order


@lru_cache(maxsize=64)
def _key(salt: bytes, place: int) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(bytes([place]), key=salt, digest_size=8).digest(), "little") | 1)


def _hashes(series: pd.Series[Any], salt: bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return for each cell a hash that is the same in every dtype, and one that is not.

    Equal numbers have equal first hashes, be they bool, int or float; equal moments, too; all missing cells; texts by their characters.
    """
    kind = kind_of(series.dtype)
    none = np.zeros(len(series), dtype=np.uint64)
    if isinstance(series.dtype, np.dtype) and kind is not None and kind.name in {"bool", "int", "float"}:
        values = series.to_numpy()
        doubles = values.astype(np.float64)
        rest = np.zeros(len(values), dtype=np.uint64)
        if values.dtype.kind in "iu" and values.dtype.itemsize == 8:  # noqa: PLR2004  (others fit a double)
            inside = np.abs(doubles) < _EXACT
            rest = np.where(inside, np.uint64(0), values.astype(np.uint64) - _as_uint64(doubles))
        return _combined(doubles, rest, none, salt), none
    if isinstance(series.dtype, np.dtype) and kind is not None and kind.name in {"datetime", "timedelta"}:
        cells = [_moment(int(value), kind.unit) if value != _NAT else _MISSING for value in series.to_numpy().view(np.int64)]
    else:
        cells = [_cell(cell, salt) for cell in _cells(series)]
    doubles = np.array([cell[0] for cell in cells], dtype=np.float64)
    rest, texts, tags = (np.array([cell[place] for cell in cells], dtype=np.uint64) for place in (1, 2, 3))
    return _combined(doubles, rest, texts, salt), tags


def _cells(series: pd.Series[Any]) -> list[Any]:
    """Return the cells as objects; one that cannot be made one is missing, and takes no other with it."""
    try:
        return list(series.astype(object).array)
    except Exception:  # noqa: BLE001  (a date that no Timestamp holds)
        return [_one(series, place) for place in range(len(series))]


def _one(series: pd.Series[Any], place: int) -> Any:
    try:
        return series.array[place]
    except Exception:  # noqa: BLE001  (as above)
        return None


def _combined(doubles: NDArray[np.float64], rest: NDArray[np.uint64], texts: NDArray[np.uint64], salt: bytes) -> NDArray[np.uint64]:
    bits = np.where(np.isnan(doubles), np.nan, doubles + 0.0).view(np.uint64)  # one NaN, one zero
    return _mixed((bits ^ _key(salt, 2)) * _key(salt, 3)) + _mixed((rest ^ _key(salt, 4)) * _key(salt, 5)) + texts


def _as_uint64(doubles: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return whole doubles modulo 2**64."""
    return np.array([int(double) % _WORD for double in doubles.tolist()], dtype=np.uint64)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix bits, one to one (the finaliser of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


Cell = tuple[float, int, int, int]
"""The nearest double, what is left of a whole number modulo ``2**64``, a hash of what is no number, and a hash of the exact cell with its type."""

_NAT = np.iinfo(np.int64).min
_MISSING: Cell = (math.nan, 0, 0, 0)


def _moment(ticks: int, unit: str) -> Cell:
    whole = ticks * _PER_UNIT[unit]
    return float(whole), (whole - int(float(whole))) % _WORD, _TIME, 0


_TIME = 1


def _cell(cell: Any, salt: bytes) -> Cell:
    try:
        if is_missing(cell):
            return _MISSING
        if isinstance(cell, str):
            text = _hash("str", str.__str__(cell), salt)
            return math.nan, 0, text, text
        if isinstance(cell, (dt.date, dt.timedelta, np.datetime64, np.timedelta64)):
            return _time(cell)
        double = number(cell)
        tag = _hash(type(cell).__name__, repr(cell), salt)
        if math.isnan(double):
            return math.nan, 0, tag, tag
        exact = isinstance(cell, (int, np.integer)) and math.isfinite(double)
        return double, (int(cell) - int(double)) % _WORD if exact else 0, 0, tag
    except Exception:  # noqa: BLE001  (no value may raise)
        return _MISSING


def _time(cell: Any) -> Cell:
    moment: Any = pd.Timestamp(cell) if isinstance(cell, (dt.date, np.datetime64)) else pd.Timedelta(cell)
    if isinstance(moment, pd.Timestamp) and moment.tzinfo is not None:
        moment = moment.tz_convert("UTC").tz_localize(None)
    return _moment(int(moment.asm8.view(np.int64)), moment.unit)


def _hash(kind: str, text: str, salt: bytes) -> int:
    data = f"{kind} {text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, key=salt, digest_size=8).digest(), "little") | 1
