"""From scalars, lists, arrays, Series and DataFrames to flat numbers, and back: the edge of the mechanisms towards pandas.

What something *is* (its type, dtype, shape and labels) is public and decides what comes back, and what is refused.  What is *in* it is private: no value
may raise, warn or change a dtype here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.domains.dtypes import kind_of
from pandas_dp.domains.objects import number
from pandas_dp.errors import ParameterTypeError, UnsupportedDtype

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from numpy.typing import NDArray

__all__ = ["Opened", "open_values"]

_SCALARS = (int, float, Decimal, Fraction, np.bool_, np.integer, np.floating, type(None))
_NESTED = (list, tuple, dict, set, np.ndarray, pd.Series, pd.DataFrame, pd.Index)
_EXACT = 2**53  # integers up to here are doubles
_ACCEPTED = "a number, or a flat list or tuple of numbers, a NumPy array, a Series or a DataFrame"


@dataclass(frozen=True, slots=True)
class Opened:
    """Values in a row.

    Attributes
    ----------
    floats : ndarray of float64
        The values; NaN where one is missing or no number.
    exact : mapping of int to int or Fraction
        By place, the values that no double holds; ``floats`` has what is nearest.
    rebuild : callable
        Turns as many answers into what the values came in.
    several : bool
        Whether they are more than a scalar.
    """

    floats: NDArray[np.float64]
    exact: Mapping[int, int | Fraction]
    rebuild: Callable[[NDArray[Any]], Any]
    several: bool


def open_values(value: Any, mechanism: str, *, whole: bool = False) -> Opened:
    """Read values, or refuse what they are.

    Parameters
    ----------
    value : scalar, list, tuple, ndarray, Series or DataFrame
        As the caller handed it over.
    mechanism : str
        Which mechanism asks, for the error's text.
    whole : bool
        Whether arrays must have a dtype of whole numbers.

    Raises
    ------
    ParameterTypeError
        For any other type.
    UnsupportedDtype
        For arrays of anything but numbers.
    """
    if isinstance(value, pd.DataFrame):
        return _frame(value, mechanism, whole=whole)
    if isinstance(value, pd.Series):
        index, name = value.index, value.name
        floats, exact = _column(value, mechanism, name, whole=whole)
        return Opened(floats, exact, lambda result: pd.Series(result, index=index, name=name), several=True)
    if isinstance(value, np.ndarray):
        shape = value.shape
        _check(value.dtype, mechanism, None, whole=whole)
        floats, exact = _plain(np.asarray(value).reshape(-1), _mask(value))
        return Opened(floats, exact, lambda result: result.reshape(shape), several=True)
    if isinstance(value, (list, tuple)):
        if any(isinstance(cell, _NESTED) for cell in value):
            raise ParameterTypeError.wrong_kind("value", f"{_ACCEPTED} (np.array for what is nested)", type(value))
        floats, exact = _cells(value)
        rebuild = (lambda result: tuple(result.tolist())) if isinstance(value, tuple) else (lambda result: result.tolist())
        return Opened(floats, exact, rebuild, several=True)
    if value is pd.NA or (isinstance(value, _SCALARS) and not isinstance(value, np.timedelta64)):
        floats, exact = _cells([value])
        return Opened(floats, exact, lambda result: result.item(), several=False)
    raise ParameterTypeError.wrong_kind("value", _ACCEPTED, type(value))


Numbers = tuple["NDArray[np.float64]", dict[int, "int | Fraction"]]


def _frame(frame: pd.DataFrame, mechanism: str, *, whole: bool) -> Opened:
    index, columns = frame.index, frame.columns
    parts = [_column(frame.iloc[:, place], mechanism, columns[place], whole=whole) for place in range(len(columns))]
    floats = np.concatenate([part for part, _ in parts]) if parts else np.empty(0)
    exact = {column * len(index) + place: cell for column, (_, found) in enumerate(parts) for place, cell in found.items()}

    def rebuild(result: NDArray[Any]) -> pd.DataFrame:
        return pd.DataFrame(result.reshape(len(columns), len(index)).T, index=index, columns=columns)

    return Opened(floats, exact, rebuild, several=True)


def _check(dtype: Any, mechanism: str, column: Hashable, *, whole: bool) -> None:
    kind = kind_of(dtype)
    if kind is None or kind.name not in ({"bool", "int"} if whole else {"bool", "int", "float"}):
        raise UnsupportedDtype.not_numbers(mechanism, column, dtype, whole=whole)


def _column(series: pd.Series[Any], mechanism: str, name: Hashable, *, whole: bool) -> Numbers:
    dtype = series.dtype
    _check(dtype, mechanism, name, whole=whole)
    if isinstance(dtype, np.dtype):
        return _plain(series.to_numpy(), None)
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow(series.array)
    array: Any = series.array
    plain = np.dtype(bool) if isinstance(dtype, pd.BooleanDtype) else np.dtype(dtype.type)
    return _plain(array.to_numpy(dtype=plain, na_value=plain.type(0)), np.asarray(array.isna()))


def _arrow(array: Any) -> Numbers:
    import pyarrow as pa

    values = pa.array(array)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_decimal(values.type):
        return _cells(values.to_pylist())
    missing = values.is_null().to_numpy(zero_copy_only=False)
    return _plain(values.fill_null(pa.scalar(0).cast(values.type)).to_numpy(zero_copy_only=False), missing)


def _mask(array: NDArray[Any]) -> NDArray[np.bool_] | None:
    return np.ma.getmaskarray(array).reshape(-1) if isinstance(array, np.ma.MaskedArray) else None


def _plain(array: NDArray[Any], missing: NDArray[np.bool_] | None) -> Numbers:
    """Read numbers of a NumPy dtype; ``missing`` marks those to leave out."""
    floats = array.astype(np.float64)
    if missing is not None:
        floats[missing] = np.nan
    exact: dict[int, int | Fraction] = {}
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:  # noqa: PLR2004  (bytes)
        large = array > _EXACT
        if array.dtype.kind == "i":
            large |= array < -_EXACT
        if missing is not None:
            large &= ~missing
        exact = {int(place): int(array[place]) for place in np.flatnonzero(large)}
    return floats, exact


def _cells(cells: Iterable[Any]) -> Numbers:
    """Read Python objects; what is no real number is missing, whatever it is."""
    floats: list[float] = []
    exact: dict[int, int | Fraction] = {}
    for place, cell in enumerate(cells):
        nearest = number(cell)
        floats.append(nearest)
        if math.isfinite(nearest) and nearest and not isinstance(cell, (float, np.floating)):
            try:
                precise = int(cell) if isinstance(cell, (int, np.integer, np.bool_)) else Fraction(cell)
                if precise != nearest:
                    exact[place] = precise
            except Exception:  # noqa: BLE001  (a subclass that misbehaves)
                floats[-1] = math.nan
    return np.array(floats, dtype=np.float64), exact
