"""Answers as JSON, for ledger files.

A closed set of types: numbers, texts, dates, arrays and indexes, and the listed dataclasses of released answers.  Decoding builds these and nothing else: a file can make no code
run.  The classes stand here by name, and their modules are loaded when an answer of theirs is read.
"""

from __future__ import annotations

import base64
import datetime as dt
import importlib
import json
import math
import re
from contextlib import suppress
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.quantities.budget import Delta, Epsilon, Rho

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["decode", "encode", "fits"]

_CLASSES = {
    name: module
    for module, names in {
        "pandas_dp.results": ("Release",),
        "pandas_dp.accounting.ledger": ("Cost",),
        "pandas_dp.cells.cells": ("FloatGrid", "IntGrid"),
        "pandas_dp.cells.second_moments": ("Design",),
        "pandas_dp.domains.domain": ("Domain",),
        "pandas_dp.domains.dtypes": ("Kind",),
        "pandas_dp.statistics.estimates": ("CountEstimate", "GroupEstimate", "ShareEstimate", "SpreadEstimate", "SumEstimate"),
        "pandas_dp.statistics.association": ("CorrelationEstimate", "CovarianceEstimate"),
        "pandas_dp.statistics.noise_laws": ("Exponential", "Gaussian", "Laplace"),
        "pandas_dp.statistics.order": ("Height", "OrderEstimate"),
        "pandas_dp.statistics.estimators": ("Count", "Mean", "Spread", "Sum"),
        "pandas_dp.statistics.query": ("OrderChoice",),
    }.items()
    for name in names
}
_AMOUNTS: dict[str, type[Fraction]] = {"Fraction": Fraction, "Epsilon": Epsilon, "Delta": Delta, "Rho": Rho}
_KIND = "$"
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")
_LONGEST = 10_000_000  # groups


def fits(thing: Any) -> bool:
    """Whether a thing comes back from a ledger as it was."""
    try:
        data = json.loads(json.dumps(encode(thing), allow_nan=False))
        return bool(encode(decode(data)) == data)
    except Exception:  # noqa: BLE001  (whatever an unusual type raises)
        return False


def encode(thing: Any) -> Any:
    """Return what JSON can hold of a thing.

    Raises
    ------
    TypeError
        For types outside the closed set.
    """
    if thing is None or isinstance(thing, (bool, np.bool_)):
        return None if thing is None else bool(thing)
    if thing is pd.NaT or thing is pd.NA:
        return {_KIND: "NaT" if thing is pd.NaT else "NA"}
    for types, encoder in _ENCODERS:
        if isinstance(thing, types):
            return encoder(thing)
    name = type(thing).__name__
    if is_dataclass(thing) and name in _CLASSES:
        return {_KIND: name, "v": {field.name: encode(getattr(thing, field.name)) for field in fields(thing)}}
    msg = f"a ledger cannot hold a {name}"
    raise TypeError(msg)


def _container(thing: Any) -> Any:
    values = [tuple(item) for item in thing.items()] if isinstance(thing, dict) else thing
    encoded = [encode(one) for one in values]
    return encoded if isinstance(thing, tuple) else {_KIND: type(thing).__name__, "v": encoded}


def _number(thing: Any) -> Any:
    if isinstance(thing, Fraction):
        name = type(thing).__name__
        return {_KIND: name if name in _AMOUNTS else "Fraction", "v": f"{thing.numerator}/{thing.denominator}"}
    if isinstance(thing, np.generic) and thing.dtype.kind in "mM":
        return _moment(thing)
    if isinstance(thing, Decimal):
        return {_KIND: "Decimal", "v": str(thing)}
    plain = thing.item() if isinstance(thing, np.generic) else thing
    if isinstance(plain, str):
        return str.__str__(plain)
    if isinstance(plain, int):
        return int(plain)
    if isinstance(plain, float):
        return float(plain) if math.isfinite(plain) else {_KIND: "float", "v": str(float(plain))}
    msg = f"a ledger cannot hold a {type(thing).__name__}"
    raise TypeError(msg)


def _moment(thing: Any) -> Any:
    if isinstance(thing, pd.Timestamp):
        plain = thing if thing.tz is None else thing.tz_convert("UTC").tz_localize(None)
        return {_KIND: "Timestamp", "v": [int(plain.asm8.view("i8")), thing.unit, encode(thing.tz)]}
    if isinstance(thing, pd.Timedelta):
        return {_KIND: "Timedelta", "v": [int(thing.asm8.view("i8")), thing.unit]}
    if isinstance(thing, np.generic):
        return {_KIND: "moment", "v": [int(thing.view("i8")), str(thing.dtype)]}
    if isinstance(thing, dt.timedelta):
        return {_KIND: "timedelta", "v": [thing.days, thing.seconds, thing.microseconds]}
    return {_KIND: "datetime" if isinstance(thing, dt.datetime) else "date", "v": thing.isoformat()}


def _zone(thing: dt.tzinfo) -> Any:
    """Return a fixed offset in microseconds, or the name of a zone that is found by it."""
    offset = thing.utcoffset(None)
    if offset is not None:
        return {_KIND: "offset", "v": offset // dt.timedelta(microseconds=1)}
    found = False
    with suppress(Exception):  # whatever an unusual zone raises
        found = str(_named(str(thing))) == str(thing)
    if not found:
        msg = "a ledger cannot hold a time zone that has no name"
        raise TypeError(msg)
    return {_KIND: "tz", "v": str(thing)}


@lru_cache
def _named(zone: str) -> Any:
    if not _ZONE.fullmatch(zone) or zone.startswith("dateutil"):  # which would open any file
        msg = "no name of a time zone"
        raise ValueError(msg)
    return pd.Timestamp(0).tz_localize("UTC").tz_convert(zone).tz


def _array_of(thing: Any) -> Any:
    if thing.dtype.kind in "biufmM":
        data = base64.b64encode(np.ascontiguousarray(thing).astype(thing.dtype.newbyteorder("<")).tobytes()).decode()
        return {_KIND: "array", "dtype": str(thing.dtype), "shape": list(thing.shape), "v": data}
    return {_KIND: "objects", "shape": list(thing.shape), "v": [encode(one) for one in thing.ravel().tolist()]}


def _index_of(thing: Any) -> Any:
    name = encode(thing.name)
    if isinstance(thing, pd.IntervalIndex):
        return {_KIND: "IntervalIndex", "v": [encode(thing.left), encode(thing.right), thing.closed], "name": name}
    if isinstance(thing, pd.DatetimeIndex):
        plain = thing if thing.tz is None else thing.tz_convert("UTC").tz_localize(None)
        return {_KIND: "DatetimeIndex", "v": encode(plain.to_numpy()), "tz": encode(thing.tz), "freq": thing.freqstr, "name": name}
    if isinstance(thing, pd.RangeIndex):
        return {_KIND: "RangeIndex", "v": [thing.start, thing.stop, thing.step], "name": name}
    values = thing.to_numpy() if isinstance(thing.dtype, np.dtype) else np.array([*thing.tolist(), None], dtype=object)[:-1]
    return {_KIND: "Index", "v": encode(values), "dtype": str(thing.dtype), "name": name}


def _multi_index_of(thing: Any) -> Any:
    codes = [encode(np.asarray(one)) for one in thing.codes]
    names = [encode(name) for name in thing.names]
    return {_KIND: "MultiIndex", "v": [encode(level) for level in thing.levels], "codes": codes, "names": names}


_ENCODERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((Fraction, int, float, str, Decimal, np.generic), _number),
    ((dt.date, dt.timedelta), _moment),
    ((tuple, list, dict, frozenset), _container),
    (np.ndarray, _array_of),
    (pd.MultiIndex, _multi_index_of),
    (pd.Index, _index_of),
    (pd.api.extensions.ExtensionArray, lambda thing: {_KIND: "extension", "v": encode(pd.Index(thing))}),
    (pd.Interval, lambda thing: {_KIND: "Interval", "v": [encode(thing.left), encode(thing.right), thing.closed]}),
    (dt.tzinfo, _zone),
)


def decode(data: Any) -> Any:
    """Return the thing that was encoded.

    Raises
    ------
    Exception
        Of any kind, for data that :func:`encode` did not make.
    """
    if isinstance(data, list):
        return tuple(decode(one) for one in data)
    if not isinstance(data, dict):
        return data
    kind = data[_KIND]
    if kind in _CLASSES:
        made: Any = getattr(importlib.import_module(_CLASSES[kind]), kind)
        return made(**{name: decode(value) for name, value in data["v"].items()})
    if kind in _AMOUNTS:
        return _AMOUNTS[kind](Fraction(data["v"]))
    return _DECODERS[kind](data)


def _array(data: Any) -> Any:
    dtype = np.dtype(data["dtype"])
    flat = np.frombuffer(base64.b64decode(data["v"]), dtype=dtype.newbyteorder("<")).astype(dtype)
    return _shaped(flat, data["shape"])


def _shaped(flat: Any, shape: list[int]) -> Any:
    """Return an array in its shape, which may not be longer than what it holds."""
    if any(not 0 <= axis <= flat.size for axis in shape):
        msg = "no shape of an array"
        raise ValueError(msg)
    return flat.reshape(shape)


def _range(data: Any) -> pd.RangeIndex:
    found = pd.RangeIndex(data["v"][0], data["v"][1], data["v"][2], name=decode(data["name"]))
    if len(found) > _LONGEST:
        msg = "no range of groups"
        raise ValueError(msg)
    return found


def _objects(data: Any) -> Any:
    flat = np.empty(len(data["v"]), dtype=object)
    for place, one in enumerate(data["v"]):
        flat[place] = decode(one)
    return _shaped(flat, data["shape"])


def _timestamp(value: int, unit: str, zone: Any) -> pd.Timestamp:
    plain = pd.Timestamp(np.datetime64(value, unit))  # type: ignore[call-overload]
    return plain if zone is None else plain.tz_localize("UTC").tz_convert(decode(zone))


def _datetimes(data: Any) -> pd.DatetimeIndex:
    plain = pd.DatetimeIndex(decode(data["v"]), name=decode(data["name"]))
    found = plain if data["tz"] is None else plain.tz_localize("UTC").tz_convert(decode(data["tz"]))
    with suppress(ValueError):  # a frequency that this pandas does not have, or counts otherwise
        found = found if data["freq"] is None else pd.DatetimeIndex(found, freq=data["freq"])
    return found


def _multi_index(data: Any) -> pd.MultiIndex:
    codes = [decode(one) for one in data["codes"]]
    return pd.MultiIndex([decode(level) for level in data["v"]], codes, names=[decode(name) for name in data["names"]])


def _index(data: Any) -> Any:
    values, name = decode(data["v"]), decode(data["name"])
    try:
        return pd.Index(values, dtype=data["dtype"], name=name, tupleize_cols=False)
    except (TypeError, ImportError):  # a dtype that this pandas does not have
        return pd.Index(values, dtype=object, name=name, tupleize_cols=False)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda data: list(decode(data["v"])),
    "dict": lambda data: dict(decode(data["v"])),
    "frozenset": lambda data: frozenset(decode(data["v"])),
    "float": lambda data: float(data["v"]),
    "Decimal": lambda data: Decimal(data["v"]),
    "Timestamp": lambda data: _timestamp(*data["v"]),
    "Timedelta": lambda data: pd.Timedelta(np.timedelta64(*data["v"])),
    "moment": lambda data: np.array(data["v"][0], dtype="i8").view(data["v"][1])[()],
    "timedelta": lambda data: dt.timedelta(*data["v"]),
    "datetime": lambda data: dt.datetime.fromisoformat(data["v"]),
    "date": lambda data: dt.date.fromisoformat(data["v"]),
    "NaT": lambda _: pd.NaT,
    "NA": lambda _: pd.NA,
    "offset": lambda data: dt.timezone(dt.timedelta(microseconds=data["v"])),
    "tz": lambda data: _named(data["v"]),
    "Interval": lambda data: pd.Interval(decode(data["v"][0]), decode(data["v"][1]), closed=data["v"][2]),
    "array": _array,
    "objects": _objects,
    "extension": lambda data: decode(data["v"]).array,
    "MultiIndex": _multi_index,
    "IntervalIndex": lambda data: pd.IntervalIndex.from_arrays(
        decode(data["v"][0]), decode(data["v"][1]), closed=data["v"][2], name=decode(data["name"])
    ),
    "DatetimeIndex": _datetimes,
    "RangeIndex": _range,
    "Index": _index,
}
