"""Group keys that occur: candidates for the selection of private keys.

Reads private columns: runs after the charge, and no value may raise or warn.  A candidate is the value alone: what it is called, and where it stands, does
not depend on who has it or on the order of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.domains.dtypes import kind_of
from pandas_dp.engines.blocks import BLOCK
from pandas_dp.engines.columns import column_of, read_column
from pandas_dp.engines.group_codes import Groups

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from pandas_dp.domains.keysets import PrivateKeys

__all__ = ["Candidates", "key_index", "observed"]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Combinations of values that occur, ascending.

    Attributes
    ----------
    groups : Groups
        The candidate of each row.
    values : tuple of list
        For each column, its values.
    places : ndarray of shape (columns, candidates)
        Which value each candidate has.
    keys : PrivateKeys
        The columns.
    """

    groups: Groups
    values: tuple[list[Any], ...]
    places: NDArray[np.int64]
    keys: PrivateKeys

    def chosen(self, which: NDArray[np.int64]) -> tuple[Groups, pd.Index[Any]]:
        """Return the groups, and the index, of some candidates only; whatever else is in a column falls into none."""
        table = np.full(self.groups.size + 1, len(which), dtype=np.int64)
        table[which] = np.arange(len(which))
        columns = [[values[place] for place in places[which]] for values, places in zip(self.values, self.places, strict=True)]
        return Groups(table[self.groups.codes], len(which)), key_index(list(zip(*columns, strict=True)), self.keys)


def key_index(shown: Sequence[tuple[Any, ...]], keys: PrivateKeys) -> pd.Index[Any]:
    """Return the index of keys that are shown, whose dtypes depend on those of the columns alone."""
    columns = list(zip(*shown, strict=True)) or [()] * len(keys.columns)
    levels = [_index(list(values), dtype, column) for values, dtype, column in zip(columns, keys.dtypes, keys.columns, strict=True)]
    return levels[0] if len(levels) == 1 else pd.MultiIndex.from_arrays(levels, names=list(keys.columns))


def observed(frame: pd.DataFrame | pd.Series[Any], keys: PrivateKeys) -> Candidates:
    """Return the combinations of values that occur in the columns."""
    found = [_values(column_of(frame, column)) for column in keys.columns]
    codes, size = found[0][1].copy(), len(found[0][0])
    outside = codes == size
    places = np.arange(size, dtype=np.int64)[np.newaxis]
    for values, more in found[1:]:
        outside |= more == len(values)
        combined = codes * (len(values) + 1) + more
        combined[outside] = -1
        distinct, codes = np.unique(combined, return_inverse=True)
        codes = codes.ravel()
        if len(distinct) and distinct[0] == -1:
            distinct, codes = distinct[1:], codes - 1
        before, last = np.divmod(distinct, len(values) + 1)
        places = np.vstack([places[:, before], last])
        codes[outside] = size = len(distinct)
    return Candidates(Groups(codes, size), tuple(values for values, _ in found), places, keys)


def _values(series: pd.Series[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the values of a column, ascending, and the place of each row's among them; their number for what is no value."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        names, places = _distinct(dtype.categories)
        codes: NDArray[np.int64] = np.append(places, len(names)).take(np.asarray(series.cat.codes), mode="wrap")
        return _occurring(names, codes)
    kind = kind_of(dtype)
    if kind is None or kind.name == "object":
        return _distinct(series.array)
    read = read_column(series)
    blocks = [read(start, start + BLOCK) for start in range(0, len(series), BLOCK)]
    present = [values if missing is None else values[~missing] for values, missing in blocks]
    values = np.unique(np.concatenate([np.unique(block) for block in present])) if present else np.empty(0, dtype=np.int64)
    codes = np.empty(len(series), dtype=np.int64)
    for place, (block, missing) in enumerate(blocks):
        at = np.searchsorted(values, block)
        if missing is not None:
            at[missing] = len(values)
        codes[place * BLOCK : (place + 1) * BLOCK] = at
    return values.tolist(), codes


def _distinct(cells: Iterable[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct texts, whole numbers or booleans among cells: nothing else is a key."""
    keys = [_key(cell) for cell in cells]
    names = sorted({key for key in keys if key is not None})
    places = {key: place for place, key in enumerate(names)}
    return [name for _, name in names], np.fromiter(
        (len(names) if key is None else places[key] for key in keys), dtype=np.int64, count=len(keys)
    )


def _key(cell: Any) -> tuple[int, Any] | None:
    """Return a key with its kind, so that True and 1 are two; None for what is none."""
    try:
        if isinstance(cell, str):
            text = str.__str__(cell)
            text.encode()
            return 2, text
        if isinstance(cell, (bool, np.bool_)):
            return 0, bool(cell)
        if isinstance(cell, (int, np.integer)):
            return (1, int(cell)) if -_INT64 <= int(cell) < _INT64 else None
    except Exception:  # noqa: BLE001  (half a character, or whatever a cell does when it is looked at)
        return None
    return None


def _occurring(names: list[Any], codes: NDArray[np.int64]) -> tuple[list[Any], NDArray[np.int64]]:
    """Leave out categories that no row has."""
    seen = np.bincount(codes, minlength=len(names) + 1)[: len(names)] > 0
    table = np.append(np.where(seen, np.cumsum(seen) - 1, int(seen.sum())), int(seen.sum()))
    return [name for name, there in zip(names, seen, strict=True) if there], table[codes]


def _index(values: list[Any], dtype: Any, column: Hashable) -> pd.Index[Any]:
    """Return an index whose dtype depends on the column's dtype alone."""
    kind = kind_of(dtype)
    if kind is not None and kind.name == "datetime":
        stamps = pd.DatetimeIndex(np.array(values, dtype=np.int64).view(f"datetime64[{kind.unit}]"), name=column)
        zoned: pd.Index[Any] = stamps if kind.tz is None else stamps.tz_localize("UTC").tz_convert(kind.tz)
        return zoned
    if kind is not None and kind.name in {"int", "bool"}:
        plain: Any = np.bool_ if kind.name == "bool" else np.uint64 if kind.smallest == 0 and kind.largest > _INT64 else np.int64
        whole: pd.Index[Any] = pd.Index(np.array(values, dtype=plain), name=column)
        return whole
    texts = all(isinstance(value, str) for value in values)
    labels: pd.Index[Any] = pd.Index(values, dtype=pd.Index(["text"]).dtype if texts else object, name=column, tupleize_cols=False)
    return labels


_INT64 = 2**63
