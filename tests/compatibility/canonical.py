"""Answers, errors and books as texts that JSON holds: exact, and the same under every supported pandas."""

from __future__ import annotations

import hashlib
import json
import re
from fractions import Fraction

import numpy as np
import pandas as pd

__all__ = ["books", "entropy", "error", "exact", "facts", "line", "record", "unnamed"]

_TOKEN = re.compile(r"#[0-9a-f]{8}\b")
_TEXTS = re.compile(r"\b(object|str|string(\[\w+\])?)\b")
_FIRST = 20
_LONG = 64
_PLAIN = {"int64": "int", "float64": "float", "str_": "str", "bool_": "bool"}


def unnamed(text):
    """Return a text without the random part of handles."""
    return _TOKEN.sub("#", str(text))


def exact(thing):  # noqa: PLR0911  (one for each kind)
    """Return a value as a text from which it could be made again; of what pandas holds it in, nothing."""
    if thing is None or thing is pd.NaT or thing is pd.NA:
        return str(thing)
    if isinstance(thing, (bool, np.bool_)):
        return str(bool(thing))
    if isinstance(thing, Fraction):
        return f"{type(thing).__name__} {thing.numerator}/{thing.denominator}"
    if isinstance(thing, (int, np.integer)):
        return int.__repr__(int(thing))
    if isinstance(thing, (float, np.floating)):
        return float.__repr__(float(thing))
    if isinstance(thing, str):
        return str.__repr__(str.__str__(thing))
    if isinstance(thing, (pd.Timestamp, np.datetime64)):
        return pd.Timestamp(thing).as_unit("ns").isoformat(timespec="nanoseconds")
    if isinstance(thing, (pd.Timedelta, np.timedelta64)):
        return f"{pd.Timedelta(thing).as_unit('ns').asm8.view('i8')} ns"
    if isinstance(thing, pd.Interval):
        return f"{thing.closed} {exact(thing.left)} {exact(thing.right)}"
    if isinstance(thing, (tuple, list)):
        return [exact(one) for one in thing]
    return str(thing)


def record(thing, *, rounded=False):  # noqa: PLR0911  (one for each kind)
    """Return an answer of any kind: its type, its values, its labels, and how it shows; with the digest of many values over as many digits as all versions of NumPy share."""
    if isinstance(thing, pd.DataFrame):
        columns = [_values(thing.iloc[:, place], rounded=rounded) for place in range(thing.shape[1])]
        return {"type": "DataFrame", "index": _index(thing.index), "columns": _index(thing.columns), "values": columns}
    if isinstance(thing, pd.Series):
        return {"type": "Series", "name": exact(thing.name), "index": _index(thing.index), **_values(thing, rounded=rounded)}
    if isinstance(thing, pd.Index):
        return _index(thing)
    if isinstance(thing, np.ndarray):
        return {
            "type": "array",
            "shape": list(thing.shape),
            "kind": thing.dtype.kind,
            "values": [exact(one) for one in thing.ravel().tolist()],
        }
    kind = type(thing).__name__
    if kind == "PrivateBounds":
        return {"type": kind, "value": exact(tuple(thing)), "clamped": exact(thing.clamped), "shown": repr(thing)}
    if kind == "Preview":
        widths = thing.half_width
        widths = {str(exact(name)): exact(one) for name, one in widths.items()} if isinstance(widths, dict) else exact(widths)
        facts = {name: exact(getattr(thing, name)) for name in ("query", "cost", "remaining", "level", "fits")}
        return {"type": kind, **facts, "half_width": widths, "shown": repr(thing)}
    if isinstance(thing, (list, tuple)):
        return {"type": kind, "values": [record(one) for one in thing]}
    found = {"type": _PLAIN.get(kind, kind), "value": exact(thing)}
    return {**found, "shown": repr(thing)} if kind in {"NoisyInt", "NoisyFloat", "Epsilon", "Rho", "Delta"} else found


def _kind(dtype, values):
    """Return how values are held, in words that all versions of pandas share."""
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if all(isinstance(value, str) for value in values) and (values or str(dtype) in {"object", "str"}):
        return "text"
    if isinstance(dtype, np.dtype):
        return {"M": "date", "m": "duration"}.get(dtype.kind, str(dtype))
    return "date" if isinstance(dtype, pd.DatetimeTZDtype) else str(dtype)


def _values(series, *, rounded):
    values = series.tolist()
    kind = _kind(series.dtype, values)
    shown = [f"{type(one).__name__} {exact(one)}" for one in values] if kind == "object" else [exact(one) for one in values]
    return {"kind": kind, "values": _shortened(shown, rounded=rounded)}


def _shortened(values, *, rounded=False):
    """Return values; of many the first, the last and a digest."""
    if len(values) <= _LONG:
        return values
    digested = [f"{float(one):.10g}" if "." in one and " " not in one and ":" not in one else one for one in values] if rounded else values
    digest = hashlib.sha256(json.dumps(digested).encode()).hexdigest()[:16]
    return [*values[:_FIRST], f"{len(values)} values {digest}", *values[-_FIRST:]]


def _index(index):
    if isinstance(index, pd.MultiIndex):
        levels = [_index(index.get_level_values(place)) for place in range(index.nlevels)]
        return {"type": "MultiIndex", "levels": levels}
    found = {"name": exact(index.name), "kind": _kind(index.dtype, index.tolist()), "values": _shortened([exact(one) for one in index])}
    if isinstance(index, pd.DatetimeIndex):
        found = {**found, "freq": index.freqstr, "zone": str(index.tz)}
    if isinstance(index, pd.IntervalIndex):
        found["kind"] = f"interval, {index.closed}, {index.dtype.subtype.kind}"
    return found


def facts(release):
    """Return what a release says of itself."""
    lower, upper = release.interval(0.95)
    return {
        "number": release.number,
        "query": release.query,
        "frame": unnamed(release.frame),
        "cost": [exact(amount) for amount in (release.cost.epsilon, release.cost.delta, release.cost.rho)],
        "named": repr(release.cost.named),
        "mechanism": release.mechanism,
        "columns": exact(release.columns),
        "functions": exact(release.functions),
        "square": release.square,
        "name": exact(release.name),
        "private": release.private,
        "value": record(release.value),
        "interval": [_numbers(lower), _numbers(upper)],
        "half_width": _numbers(release.half_width(0.95)),
        "shown": repr(release),
    }


def _numbers(thing):
    """Return the values of a record alone: labels are those of the answer."""
    found = record(thing, rounded=True)
    return {name: found[name] for name in ("type", "kind", "value", "values") if name in found}


def line(row):
    """Return a line of a ledger without its time; what has no label says so in two ways, by the version of pandas."""
    found = {name: unnamed(value) if name == "frame" else exact(value) for name, value in row.items() if name != "time"}
    return {**found, "label": found["label"] if isinstance(row["label"], str) else "None"}


def books(session):
    """Return what a session says of its budget."""
    amounts = ("budget", "spent", "remaining", "delta", "spent_delta", "remaining_delta")
    return {"shown": repr(session), "name": session.name, **{name: exact(getattr(session, name)) for name in amounts}}


def error(raised):
    """Return what an error is and says; text is called by each pandas as it pleases."""
    builtin = next(one.__name__ for one in type(raised).__mro__ if one.__module__ == "builtins")
    says = _TEXTS.sub("text", unnamed(raised))
    # What it advises depends on how this pandas holds text.
    return {"error": type(raised).__name__, "also": builtin, "says": says.split("dtype text.")[0]}


def entropy(sizes):
    """Return how many bytes were asked for in each call to the source of entropy."""
    digest = hashlib.sha256(",".join(map(str, sizes)).encode()).hexdigest()[:16]
    return {"calls": len(sizes), "bytes": sum(sizes), "first": sizes[:_FIRST], "digest": digest}
