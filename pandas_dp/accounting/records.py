"""What a ledger file holds: a chain of records, each sealed by a digest that covers the one before.

A record is a kind and a JSON object.  Digests find accidents, torn files and edits; they are no signature, for whoever can write the file can write another chain.
Nothing here opens a file.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pandas_dp.accounting.ledger import Cost, Entry
from pandas_dp.quantities.budget import Delta, Epsilon, Rho

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    "differences",
    "entry_of",
    "fraction_of",
    "seal",
    "text_of",
    "whole_of",
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


def differences(recorded: Mapping[str, str | None], now: Mapping[str, str | None], nothing: str) -> list[str]:
    """Return in what parameters differ from those that were recorded, ``nothing`` for what is not there."""
    return [
        f"{key}: {recorded.get(key) or nothing} recorded, {now.get(key) or nothing} now"
        for key in dict.fromkeys([*recorded, *now])
        if (recorded.get(key) or None) != (now.get(key) or None)
    ]


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


_AMOUNT = re.compile(r"\d{1,1000}/[1-9]\d{0,999}", re.ASCII)


def fraction_of(text: object) -> Fraction:
    """Return an exact amount, never negative, from its text.

    Raises
    ------
    ValueError
        If it is none.
    """
    if not isinstance(text, str) or not _AMOUNT.fullmatch(text):
        msg = "no amount"
        raise ValueError(msg)
    return Fraction(text)


def whole_of(value: object, most: int) -> int:
    """Return a whole number from 1 to ``most``, or raise ``ValueError``."""
    if type(value) is not int or not 1 <= value <= most:
        msg = "no number of a record"
        raise ValueError(msg)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        msg = "no text"
        raise TypeError(msg)
    return value


def _time(value: object) -> datetime:
    found = datetime.fromisoformat(_text(value))
    if found.tzinfo is None:
        msg = "a time without a zone"
        raise ValueError(msg)
    return found.astimezone(UTC)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        msg = "neither true nor false"
        raise TypeError(msg)
    return value


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


def entry_of(body: dict[str, Any], number: int) -> Entry:
    """Return the charge that a record's body says, which has to be the one of this number.

    Raises
    ------
    LookupError, TypeError, ValueError
        If it says anything else.
    """
    if whole_of(body["number"], number) != number:
        msg = "a charge is missing"
        raise ValueError(msg)
    cost = Cost(
        Epsilon(fraction_of(body["epsilon"])),
        Delta(fraction_of(body["delta"])),
        None if body["rho"] is None else Rho(fraction_of(body["rho"])),
        _flag(body["pure"]),
    )
    asked = body["asked"]
    return Entry(
        number,
        _time(body["time"]),
        _text(body["frame"]),
        _text(body["query"]),
        cost,
        _text(body["mechanism"]),
        float(body["scale"]),
        math.nan if body["margin"] is None else float(body["margin"]),
        _flag(body["private"]),
        None if body["label"] is None else _text(body["label"]),
        None if asked is None else {_text(name): _text(value) for name, value in asked.items()},
    )
