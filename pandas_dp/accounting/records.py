"""What a ledger file holds: a chain of records, each sealed by a digest that covers the one before.

A record is a kind and a JSON object.  Digests find accidents, torn files and edits; they are no signature, for whoever can write the file can write another chain.
Nothing here opens a file.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pandas_dp.accounting.ledger import Cost, Entry
from pandas_dp.amounts import Delta, Epsilon, Rho

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AMENDMENT",
    "ANSWER",
    "CHARGE",
    "FRAME",
    "OPENING",
    "START",
    "Mark",
    "Record",
    "amended",
    "body_of",
    "entry_of",
    "fraction",
    "seal",
    "text_of",
    "written",
]

OPENING, FRAME, CHARGE, ANSWER, AMENDMENT = "opening", "frame", "charge", "answer", "amendment"


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a ledger was read: the number of its last record, and that record's digest."""

    number: int
    digest: bytes


START = Mark(0, hashlib.sha256(b"pandas_dp ledger 1").digest())


@dataclass(frozen=True, slots=True)
class Record:
    """One record: what kind it is, and what it says."""

    kind: str
    body: dict[str, Any]


def text_of(body: dict[str, Any]) -> str:
    """Return a record's body as the text that is stored and sealed."""
    return json.dumps(body, allow_nan=False, separators=(",", ":"))


def seal(before: Mark, kind: str, text: str) -> Mark:
    """Return the mark after one more record."""
    number = before.number + 1
    sealed = hashlib.sha256(before.digest + f"{number} {kind} ".encode() + text.encode())
    return Mark(number, sealed.digest())


def written(number: Fraction) -> str:
    """Return an exact amount as text."""
    return f"{number.numerator}/{number.denominator}"


def fraction(text: str | None) -> Fraction | None:
    """Return an exact amount from its text."""
    return None if text is None else Fraction(text)


def body_of(entry: Entry) -> dict[str, Any]:
    """Return a charge as a record's body."""
    cost = entry.cost
    return {
        "number": entry.number,
        "time": entry.time.isoformat(),
        "frame": entry.frame,
        "query": entry.query,
        "epsilon": written(cost.epsilon),
        "delta": written(cost.delta),
        "rho": None if cost.told is None else written(cost.told),
        "pure": cost.pure,
        "mechanism": entry.mechanism,
        "scale": entry.scale,
        "margin": None if math.isnan(entry.margin) else entry.margin,
        "private": entry.private,
        "label": entry.label,
        "asked": None if entry.asked is None else dict(entry.asked),
    }


def amended(number: int, before: Sequence[Fraction], now: Sequence[Fraction], reason: str) -> Record:
    """Return the record of a changed budget and δ, with its line of the ledger, which costs nothing."""
    steps = [f"{one!r} to {other!r}" for one, other in zip(before, now, strict=True) if one != other]
    line = {
        "number": number,
        "time": datetime.now(UTC).isoformat(),
        "frame": "",
        "query": f"amend: {', '.join(steps) or 'nothing'} ({reason})",
        "epsilon": "0/1",
        "delta": "0/1",
        "rho": None,
        "pure": True,
        "mechanism": "amendment",
        "scale": 0.0,
        "margin": None,
        "private": True,
        "label": None,
        "asked": None,
    }
    return Record(AMENDMENT, {"budget": written(now[0]), "delta": written(now[1]), "reason": reason, "entry": line})


def entry_of(body: dict[str, Any]) -> Entry:
    """Return the charge that a record's body says."""
    told = fraction(body["rho"])
    cost = Cost(Epsilon(Fraction(body["epsilon"])), Delta(Fraction(body["delta"])), None if told is None else Rho(told), body["pure"])
    margin = math.nan if body["margin"] is None else float(body["margin"])
    return Entry(
        body["number"],
        datetime.fromisoformat(body["time"]),
        body["frame"],
        body["query"],
        cost,
        body["mechanism"],
        float(body["scale"]),
        margin,
        body["private"],
        body["label"],
        body["asked"],
    )
