"""Ledger files: how the first version's were written, and how they are read."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

from compatibility.ask import counted_noise, failing_noise
from compatibility.canonical import books, exact, facts, record, unnamed
from compatibility.questions import QUESTIONS, SECRET, SESSIONS, protected

import pandas_dp

__all__ = ["asked", "asked_again", "begun", "content", "digests", "questions"]


def questions(kind):
    """Return the labelled questions of a kind of session, and under which noise each is asked."""
    repeatable = {label: (ask, True) for label, ask in QUESTIONS[kind].items()}
    return repeatable | ({label: (ask, False) for label, ask in SECRET.items()} if kind == "pure" else {})


def asked(kind, frames, label):
    """Ask a labelled question."""
    ask, repeatable = questions(kind)[label]
    if not repeatable:
        return ask(frames, label=label)
    with counted_noise(f"{kind}: {label}", []):
        return ask(frames, label=label)


def begun(kind, path):
    """Write a ledger with all that happens to one: labelled answers, one without a label, a charge that was not answered, and another budget."""
    session = pandas_dp.Session(**SESSIONS[kind], ledger=path)
    frames = protected(session)
    for label in questions(kind):
        asked(kind, frames, label)
    with counted_noise(f"{kind}: no label", []):
        frames["every"].dp.count(**({"rho": "0.01"} if kind == "concentrated" else {"epsilon": "0.05"}))
    try:
        with failing_noise():
            frames["every"].dp.count(epsilon="0.05", label="failed")
    except pandas_dp.ComputationFailed:
        pass
    if kind == "pure":
        session.amend(epsilon=12, reason="the board, May 2024")
    return session


def content(session):
    """Return all that a session says: its budget, its ledger with times and handles, its answers, and each by its label."""
    ledger = session.ledger
    lines = [{name: exact(row[name]) for name in ledger.columns if name not in {"time", "label"}} for _, row in ledger.iterrows()]
    times = [one.isoformat() for one in ledger["time"]]
    labels = [one if isinstance(one, str) else None for one in ledger["label"]]
    answered = {release.number for release in session.releases}
    replayed = {label: record(session.replay(label)) for number, label in enumerate(labels, 1) if label is not None and number in answered}
    return {
        "books": books(session),
        "times": times,
        "lines": [{**one, "label": label} for one, label in zip(lines, labels, strict=True)],
        "releases": [facts(release) for release in session.releases],
        "replayed": replayed,
    }


def asked_again(kind, session):
    """Return what the labelled questions return when they are asked again."""
    frames = protected(session)
    return {label: record(asked(kind, frames, label)) for label in questions(kind)}


def digests(path):
    """Return the parts of a ledger file that hold no answer: its form, what is declared, and what is asked under each label, with its digest."""
    with closing(sqlite3.connect(path)) as connection:
        form = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        tables = sorted(text for (text,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
        records = [(kind, json.loads(body)) for kind, body in connection.execute("SELECT kind, body FROM records ORDER BY number")]
    found = {"form": {"numbers": form, "tables": tables, "kinds": [kind for kind, _ in records]}}
    for kind, body in records:
        if kind == "charge":
            found[f"charge {body['number']}"] = {**body, "time": "", "frame": unnamed(body["frame"])}
        elif kind == "frame":
            found[f"frame {body['name']}"] = body
        elif kind == "answer":
            found[f"answer {body['number']}"] = {
                "keys": sorted(body),
                "release": sorted(body["release"]),
                "fields": sorted(body["release"]["v"]),
            }
        elif kind == "amendment":
            found[f"amendment {body['entry']['number']}"] = {**body, "entry": {**body["entry"], "time": ""}}
        else:
            found[kind] = {name: value for name, value in body.items() if name not in {"time", "version"}}
    return found
