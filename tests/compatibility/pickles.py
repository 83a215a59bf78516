"""Pickled answers: how the first version's were written, and what they say when they are read."""

from __future__ import annotations

import base64
import pickle
import zlib

from compatibility.ask import counted_noise
from compatibility.canonical import error, exact, facts, record
from compatibility.ledgers import asked, questions
from compatibility.questions import SESSIONS, protected

import pandas_dp

__all__ = ["PLACE", "loaded", "made", "packed", "portable", "said"]

PLACE = "@THE LEDGER@"
"""Stands for the path of a ledger in a pickled session, which protocol 0 holds as a line of text."""


def made():
    """Return an object of every kind that a user may pickle, by names."""
    found = {}
    for kind, options in SESSIONS.items():
        session = pandas_dp.Session(**options)
        frames = protected(session)
        for label in questions(kind):
            if not label.endswith("in secret"):
                answer = asked(kind, frames, label)
                found[f"{kind}, {label}"] = answer
                found[f"{kind}, {label}, release"] = session.releases[-1]
        every, declared = frames["every"], frames["declared"]
        price = {"rho": "0.01"} if kind == "concentrated" else {"epsilon": "0.1"}
        found[f"{kind}, preview"] = every.dp.preview.count(**price)
        found[f"{kind}, preview of several"] = declared.dp.preview.mean(["age", "charge"], rows=240, **price)
        found |= {f"{kind}, {name}": getattr(session, name) for name in ("budget", "spent", "remaining", "delta")}
        found[f"{kind}, cost"] = session.releases[0].cost
        with counted_noise("exhausted", []):
            try:
                every.dp.count(epsilon=100)
            except pandas_dp.BudgetExhausted as raised:
                found[f"{kind}, error"] = raised.with_traceback(None)
    return found


def portable(thing):
    """Whether every supported pandas can read a pickle: the zones of pandas 2 are pytz's, which pandas 3 does not need to have."""
    return b"pytz" not in pickle.dumps(thing, protocol=4)


def packed(thing):
    """Return a pickle as a text."""
    return base64.b64encode(zlib.compress(pickle.dumps(thing, protocol=4), 9)).decode()


def loaded(text):
    """Return the thing of a pickle."""
    return pickle.loads(zlib.decompress(base64.b64decode(text)))


def said(thing):
    """Return what a thing says of itself, the release that it carries included."""
    if isinstance(thing, pandas_dp.Release):
        return {"type": "Release", **facts(thing)}
    if isinstance(thing, Exception):
        return {**error(thing), **{name: exact(value) for name, value in vars(thing).items()}}
    if type(thing).__name__ == "Cost":
        return {"type": "Cost", "amounts": [exact(one) for one in (thing.epsilon, thing.delta, thing.rho)], "named": repr(thing.named)}
    found = record(thing)
    return {**found, "release": facts(thing.release)} if hasattr(thing, "release") else found
