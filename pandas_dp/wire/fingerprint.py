"""What two questions have to share to be one question: a digest of what they mean.

Not of how that is held: the same bounds as int or float, keys read from another file type, dates in another unit, another version of pandas, are the same question.
What consists of more than that has a method ``means()``, which returns what counts: as a dict, if that has to be what a dataclass of these fields would mean.
Classes and fields count under the names of :mod:`pandas_dp.wire.names`.  Nothing that a digest is made of may depend on data.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
from contextlib import suppress
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.wire.names import name_of, written_field

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["digest_of", "plain_text"]

_FOLLOWS = frozenset({"design", "grid", "heights", "mass", "moments", "row_limit", "settle", "text", "weights"})
"""Fields, as they are written, that follow from a question's text, bounds and keys."""

_PER_SECOND: dict[str, int | Fraction] = {
    "D": Fraction(1, 86400),
    "h": Fraction(1, 3600),
    "m": Fraction(1, 60),
    "s": 1,
    "ms": 10**3,
    "us": 10**6,
    "ns": 10**9,
}


def digest_of(thing: Any) -> str:
    """Return a short digest of what public parameters mean, the same in every process and version."""
    text = json.dumps(_meaning(thing), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain_text(value: Any) -> str:
    """Return a value as a text that is the same for the same number or date, however it is held."""
    if isinstance(value, str):
        return str.__repr__(value)
    if isinstance(value, (dt.date, np.datetime64)):
        return str(pd.Timestamp(value))
    if isinstance(value, (dt.timedelta, np.timedelta64)):
        return str(pd.Timedelta(value))
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, (float, Decimal)) and math.isfinite(plain) and plain == int(plain):
        plain = int(plain)
    return str(plain)


def _meaning(thing: Any) -> Any:
    """Return what JSON can hold of a meaning."""
    if thing is None or isinstance(thing, (bool, np.bool_)):
        return None if thing is None else bool(thing)
    if isinstance(thing, str):
        return str.__str__(thing)
    name = name_of(type(thing)) or type(thing).__name__
    if hasattr(thing, "means"):
        means = thing.means()
        return [name, {key: _meaning(value) for key, value in means.items()} if isinstance(means, dict) else _meaning(means)]
    for types, meaning in _MEANINGS:
        if isinstance(thing, types):
            return meaning(thing)
    if is_dataclass(thing):
        written = {written_field(name, field.name): getattr(thing, field.name) for field in fields(thing)}
        return [name, {field: _meaning(value) for field, value in written.items() if field not in _FOLLOWS}]
    return [name, repr(thing)]


def _number(thing: Any) -> Any:
    plain = thing.item() if isinstance(thing, np.generic) else thing
    finite = plain.is_finite() if isinstance(plain, Decimal) else isinstance(plain, (int, Fraction)) or math.isfinite(plain)
    return {"number": str(Fraction(plain)) if finite else str(float(plain))}


def _moment(thing: Any) -> Any:
    """Return a date or duration as an exact number of seconds."""
    date = isinstance(thing, (dt.date, np.datetime64))
    moment: Any = None
    with suppress(ValueError, OverflowError):  # beyond what pandas has
        moment = pd.Timestamp(thing) if date else pd.Timedelta(thing)
    if moment is None:
        return [type(thing).__name__, repr(thing)]
    if moment is pd.NaT:
        return {"date": "missing"}
    seconds = Fraction(int(moment.asm8.view("i8"))) / _PER_SECOND[moment.unit]
    return {"date" if date else "duration": str(seconds), "zoned": date and moment.tzinfo is not None}


_MEANINGS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((dt.date, dt.timedelta, np.datetime64, np.timedelta64), _moment),
    ((Fraction, int, float, Decimal, np.integer, np.floating), _number),
    (frozenset, lambda thing: sorted(map(_meaning, thing), key=json.dumps)),
    ((tuple, list), lambda thing: [_meaning(one) for one in thing]),
    ((np.ndarray, pd.Index), lambda thing: [_meaning(one) for one in thing]),
    (pd.Interval, lambda thing: [_meaning(thing.left), _meaning(thing.right), thing.closed]),
)
