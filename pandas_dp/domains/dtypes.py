"""Kinds of columns: how a dtype's values become steps and answers.  Decided from dtypes alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["Kind", "kind_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """How a dtype's values become steps and answers.

    Attributes
    ----------
    name : str
        ``"bool"``, ``"int"``, ``"float"``, ``"datetime"``, ``"timedelta"`` or ``"object"``.
    smallest, largest : int or float
        What the dtype can represent (``int`` and ``float``).
    unit : str
        The resolution of datetimes and timedeltas.
    tz : tzinfo or None
        The time zone of datetimes.
    """

    name: str
    smallest: float = -math.inf
    largest: float = math.inf
    unit: str = ""
    tz: Any = None


def kind_of(dtype: Any) -> Kind | None:
    """Return the kind of a dtype, or None where sums and means make no sense."""
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow_kind(dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return Kind("datetime", unit=dtype.unit, tz=dtype.tz)
    if isinstance(dtype, pd.BooleanDtype):
        return Kind("bool")
    numpy_dtype = dtype if isinstance(dtype, np.dtype) else _masked_dtype(dtype)
    return None if numpy_dtype is None else _numpy_kind(numpy_dtype)


_MASKED = (
    pd.Int8Dtype, pd.Int16Dtype, pd.Int32Dtype, pd.Int64Dtype, pd.UInt8Dtype, pd.UInt16Dtype, pd.UInt32Dtype, pd.UInt64Dtype,
    pd.Float32Dtype, pd.Float64Dtype,
)  # fmt: skip


def _masked_dtype(dtype: Any) -> np.dtype[Any] | None:
    return np.dtype(dtype.type) if isinstance(dtype, _MASKED) else None


def _numpy_kind(dtype: np.dtype[Any]) -> Kind | None:
    if dtype.kind == "b":
        return Kind("bool")
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return Kind("int", smallest=int(info.min), largest=int(info.max))
    if dtype.kind == "f" and dtype.itemsize <= 8:  # noqa: PLR2004  (a long double does not fit the grid)
        largest = float(np.finfo(dtype).max)
        return Kind("float", smallest=-largest, largest=largest)
    if dtype.kind in "mM":
        return Kind("datetime" if dtype.kind == "M" else "timedelta", unit=np.datetime_data(dtype)[0])
    return Kind("object") if dtype.kind == "O" else None


def _arrow_kind(dtype: pd.ArrowDtype) -> Kind | None:
    import pyarrow as pa

    arrow = dtype.pyarrow_dtype
    if pa.types.is_decimal(arrow):
        return Kind("float")
    if pa.types.is_timestamp(arrow):
        return Kind("datetime", unit=arrow.unit, tz=arrow.tz)
    if pa.types.is_duration(arrow):
        return Kind("timedelta", unit=arrow.unit)
    if pa.types.is_float16(arrow):
        return None  # older versions of Arrow cannot convert it
    if pa.types.is_boolean(arrow) or pa.types.is_integer(arrow) or pa.types.is_floating(arrow):
        return _numpy_kind(np.dtype(arrow.to_pandas_dtype()))
    return None
