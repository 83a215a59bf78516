"""Answers as JSON, for ledger files and pickles.

A closed set of types: numbers, texts, dates, arrays and indexes, and the listed dataclasses of released answers.  Decoding builds these and nothing else: a file can make no code
run.  Classes and fields are written under the names of :mod:`pandas_dp.wire.names`.
"""

from __future__ import annotations

import base64
import datetime as dt
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
from pandas_dp.wire.names import CLASSES, class_of, field_of, name_of, written_field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["decode", "encode", "fits"]

_AMOUNTS: dict[str, type[Fraction]] = {"Fraction": Fraction, "Epsilon": Epsilon, "Delta": Delta, "Rho": Rho}
_KIND = "$"
_OTHER = "other"
_EXACT = frozenset({
    type(None), bool, int, float, str, Fraction, Epsilon, Delta, Rho, Decimal, tuple, list, dict, frozenset, np.ndarray, pd.Timestamp, pd.Timedelta, pd.Interval,
})  # fmt: skip
"""Types whose things come back as they are, if what they consist of does."""
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")
_LONGEST = 10_000_000  # groups


def fits(thing: Any) -> bool:
    """Whether a thing comes back from a ledger as it was."""
    try:
        data = json.loads(json.dumps(encode(thing), allow_nan=False))
        return bool(encode(decode(data)) == data)
    except Exception:  # noqa: BLE001  (whatever an unusual type raises)
        return False


def encode(thing: Any, others: list[Any] | None = None) -> Any:
    """Return what JSON can hold of a thing.

    Parameters
    ----------
    thing : Any
        Of an answer.
    others : list, optional
        Takes what is outside the closed set, or would not come back exactly as it is: for pickles, which can hold it beside the JSON.

    Raises
    ------
    TypeError
        For types outside the closed set, without ``others``.
    """
    if others is None:
        return _encoded(thing, None)
    encoded: Any = None
    with suppress(Exception):  # whatever an unusual type raises
        if _exact(thing):
            encoded = [_encoded(thing, others)]
    if encoded is None:
        others.append(thing)
        encoded = [{_KIND: _OTHER, "v": len(others) - 1}]
    return encoded[0]


def _encoded(thing: Any, others: list[Any] | None) -> Any:
    if thing is None or isinstance(thing, (bool, np.bool_)):
        return None if thing is None else bool(thing)
    if thing is pd.NaT or thing is pd.NA:
        return {_KIND: "NaT" if thing is pd.NaT else "NA"}
    for types, encoder in _ENCODERS:
        if isinstance(thing, types):
            return encoder(thing, others)
    name = name_of(type(thing))
    if is_dataclass(thing) and name in CLASSES:
        return {_KIND: name, "v": {written_field(name, one.name): encode(getattr(thing, one.name), others) for one in fields(thing)}}
    msg = f"a ledger cannot hold a {type(thing).__name__}"
    raise TypeError(msg)


def _exact(thing: Any) -> bool:
    """Whether a thing comes back as it is, its type included, if what it consists of does."""
    if thing is pd.NaT or thing is pd.NA:
        return True
    if isinstance(thing, pd.Index):
        return _same(decode(json.loads(json.dumps(_encoded(thing, None), allow_nan=False))), thing)
    if isinstance(thing, pd.api.extensions.ExtensionArray):
        return _exact(pd.Index(thing)) and type(pd.Index(thing).array) is type(thing)
    if isinstance(thing, dt.tzinfo):
        return thing.utcoffset(None) is None and type(_named(str(thing))) is type(thing)
    return type(thing) in _EXACT or name_of(type(thing)) in CLASSES


def _same(one: Any, other: Any) -> bool:
    """Whether two labels, or indexes of labels, are the same, in type, names and every value."""
    if type(one) is not type(other):
        return False
    if isinstance(one, pd.MultiIndex):
        levels = zip(one.levels, other.levels, strict=True)
        return _same(tuple(one.names), tuple(other.names)) and all(_same(*pair) for pair in levels) and one.equals(other)
    if isinstance(one, pd.Index):
        kept = one.dtype == other.dtype and _same(one.name, other.name) and getattr(one, "freq", None) == getattr(other, "freq", None)
        return bool(kept) and _same(tuple(one), tuple(other))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, pd.Interval):
        return _same((one.left, one.right, one.closed), (other.left, other.right, other.closed))
    return one is other or bool(one == other) or (one != one and other != other)  # noqa: PLR0124  (NaN)


def _container(thing: Any, others: list[Any] | None) -> Any:
    values = [tuple(item) for item in thing.items()] if isinstance(thing, dict) else thing
    encoded = [encode(one, others) for one in values]
    return encoded if isinstance(thing, tuple) else {_KIND: type(thing).__name__, "v": encoded}


def _number(thing: Any, others: list[Any] | None) -> Any:
    if isinstance(thing, Fraction):
        name = type(thing).__name__
        return {_KIND: name if name in _AMOUNTS else "Fraction", "v": f"{thing.numerator}/{thing.denominator}"}
    if isinstance(thing, np.generic) and thing.dtype.kind in "mM":
        return _moment(thing, others)
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


def _moment(thing: Any, others: list[Any] | None) -> Any:
    if isinstance(thing, pd.Timestamp):
        plain = thing if thing.tz is None else thing.tz_convert("UTC").tz_localize(None)
        return {_KIND: "Timestamp", "v": [int(plain.asm8.view("i8")), thing.unit, encode(thing.tz, others)]}
    if isinstance(thing, pd.Timedelta):
        return {_KIND: "Timedelta", "v": [int(thing.asm8.view("i8")), thing.unit]}
    if isinstance(thing, np.generic):
        return {_KIND: "moment", "v": [int(thing.view("i8")), str(thing.dtype)]}
    if isinstance(thing, dt.timedelta):
        return {_KIND: "timedelta", "v": [thing.days, thing.seconds, thing.microseconds]}
    return {_KIND: "datetime" if isinstance(thing, dt.datetime) else "date", "v": thing.isoformat()}


def _zone(thing: dt.tzinfo, _: list[Any] | None) -> Any:
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


def _array_of(thing: Any, others: list[Any] | None) -> Any:
    if thing.dtype.kind in "biufmM":
        data = base64.b64encode(np.ascontiguousarray(thing).astype(thing.dtype.newbyteorder("<")).tobytes()).decode()
        return {_KIND: "array", "dtype": str(thing.dtype), "shape": list(thing.shape), "v": data}
    return {_KIND: "objects", "shape": list(thing.shape), "v": [encode(one, others) for one in thing.ravel().tolist()]}


def _index_of(thing: Any, others: list[Any] | None) -> Any:
    name = encode(thing.name, others)
    if isinstance(thing, pd.IntervalIndex):
        return {_KIND: "IntervalIndex", "v": [encode(thing.left, others), encode(thing.right, others), thing.closed], "name": name}
    if isinstance(thing, pd.DatetimeIndex):
        plain = thing if thing.tz is None else thing.tz_convert("UTC").tz_localize(None)
        return {
            _KIND: "DatetimeIndex",
            "v": encode(plain.to_numpy(), others),
            "tz": encode(thing.tz, others),
            "freq": thing.freqstr,
            "name": name,
        }
    if isinstance(thing, pd.RangeIndex):
        return {_KIND: "RangeIndex", "v": [thing.start, thing.stop, thing.step], "name": name}
    values = thing.to_numpy() if isinstance(thing.dtype, np.dtype) else np.array([*thing.tolist(), None], dtype=object)[:-1]
    return {_KIND: "Index", "v": encode(values, others), "dtype": str(thing.dtype), "name": name}


def _multi_index_of(thing: Any, others: list[Any] | None) -> Any:
    codes = [encode(np.asarray(one), others) for one in thing.codes]
    names = [encode(name, others) for name in thing.names]
    return {_KIND: "MultiIndex", "v": [encode(level, others) for level in thing.levels], "codes": codes, "names": names}


_ENCODERS: tuple[tuple[Any, Callable[[Any, list[Any] | None], Any]], ...] = (
    ((Fraction, int, float, str, Decimal, np.generic), _number),
    ((dt.date, dt.timedelta), _moment),
    ((tuple, list, dict, frozenset), _container),
    (np.ndarray, _array_of),
    (pd.MultiIndex, _multi_index_of),
    (pd.Index, _index_of),
    (pd.api.extensions.ExtensionArray, lambda thing, others: {_KIND: "extension", "v": encode(pd.Index(thing), others)}),
    (pd.Interval, lambda thing, others: {_KIND: "Interval", "v": [encode(thing.left, others), encode(thing.right, others), thing.closed]}),
    (dt.tzinfo, _zone),
)


def decode(data: Any, others: Sequence[Any] = ()) -> Any:
    """Return the thing that was encoded.

    Parameters
    ----------
    data : Any
        As :func:`encode` made it.
    others : sequence
        What it held beside the JSON; nothing, for a file.

    Raises
    ------
    Exception
        Of any kind, for data that :func:`encode` did not make.
    """
    if isinstance(data, list):
        return tuple(decode(one, others) for one in data)
    if not isinstance(data, dict):
        return data
    kind = data[_KIND]
    if kind in CLASSES:
        return class_of(kind)(**{field_of(kind, name): decode(value, others) for name, value in data["v"].items()})
    if kind in _AMOUNTS:
        return _AMOUNTS[kind](Fraction(data["v"]))
    return _DECODERS[kind](data, others)


def _array(data: Any, _: Sequence[Any]) -> Any:
    dtype = np.dtype(data["dtype"])
    flat = np.frombuffer(base64.b64decode(data["v"]), dtype=dtype.newbyteorder("<")).astype(dtype)
    return _shaped(flat, data["shape"])


def _shaped(flat: Any, shape: list[int]) -> Any:
    """Return an array in its shape, which may not be longer than what it holds."""
    if any(not 0 <= axis <= flat.size for axis in shape):
        msg = "no shape of an array"
        raise ValueError(msg)
    return flat.reshape(shape)


def _range(data: Any, others: Sequence[Any]) -> pd.RangeIndex:
    found = pd.RangeIndex(data["v"][0], data["v"][1], data["v"][2], name=decode(data["name"], others))
    if len(found) > _LONGEST:
        msg = "no range of groups"
        raise ValueError(msg)
    return found


def _objects(data: Any, others: Sequence[Any]) -> Any:
    flat = np.empty(len(data["v"]), dtype=object)
    for place, one in enumerate(data["v"]):
        flat[place] = decode(one, others)
    return _shaped(flat, data["shape"])


def _timestamp(held: list[Any], others: Sequence[Any]) -> pd.Timestamp:
    value, unit, zone = held
    plain = pd.Timestamp(np.datetime64(value, unit))
    return plain if zone is None else plain.tz_localize("UTC").tz_convert(decode(zone, others))


def _datetimes(data: Any, others: Sequence[Any]) -> pd.DatetimeIndex:
    plain = pd.DatetimeIndex(decode(data["v"], others), name=decode(data["name"], others))
    found = plain if data["tz"] is None else plain.tz_localize("UTC").tz_convert(decode(data["tz"], others))
    with suppress(ValueError):  # a frequency that this pandas does not have, or counts otherwise
        found = found if data["freq"] is None else pd.DatetimeIndex(found, freq=data["freq"])
    return found


def _multi_index(data: Any, others: Sequence[Any]) -> pd.MultiIndex:
    codes = [decode(one, others) for one in data["codes"]]
    return pd.MultiIndex([decode(level, others) for level in data["v"]], codes, names=[decode(name, others) for name in data["names"]])


def _index(data: Any, others: Sequence[Any]) -> Any:
    values, name = decode(data["v"], others), decode(data["name"], others)
    try:
        return pd.Index(values, dtype=data["dtype"], name=name, tupleize_cols=False)
    except (TypeError, ImportError):  # a dtype that this pandas does not have
        return pd.Index(values, dtype=object, name=name, tupleize_cols=False)


_DECODERS: dict[str, Callable[[Any, Sequence[Any]], Any]] = {
    _OTHER: lambda data, others: others[data["v"]],
    "list": lambda data, others: list(decode(data["v"], others)),
    "dict": lambda data, others: dict(decode(data["v"], others)),
    "frozenset": lambda data, others: frozenset(decode(data["v"], others)),
    "float": lambda data, _: float(data["v"]),
    "Decimal": lambda data, _: Decimal(data["v"]),
    "Timestamp": lambda data, others: _timestamp(data["v"], others),
    "Timedelta": lambda data, _: pd.Timedelta(np.timedelta64(*data["v"])),
    "moment": lambda data, _: np.array(data["v"][0], dtype="i8").view(data["v"][1])[()],
    "timedelta": lambda data, _: dt.timedelta(*data["v"]),
    "datetime": lambda data, _: dt.datetime.fromisoformat(data["v"]),
    "date": lambda data, _: dt.date.fromisoformat(data["v"]),
    "NaT": lambda *_: pd.NaT,
    "NA": lambda *_: pd.NA,
    "offset": lambda data, _: dt.timezone(dt.timedelta(microseconds=data["v"])),
    "tz": lambda data, _: _named(data["v"]),
    "Interval": lambda data, others: pd.Interval(decode(data["v"][0], others), decode(data["v"][1], others), closed=data["v"][2]),
    "array": _array,
    "objects": _objects,
    "extension": lambda data, others: decode(data["v"], others).array,
    "MultiIndex": _multi_index,
    "IntervalIndex": lambda data, others: pd.IntervalIndex.from_arrays(
        decode(data["v"][0], others), decode(data["v"][1], others), closed=data["v"][2], name=decode(data["name"], others)
    ),
    "DatetimeIndex": _datetimes,
    "RangeIndex": _range,
    "Index": _index,
}
