"""What an account has come to: charges, sums, labels and answers, as one value that is never changed.

A step makes the next state, and one assignment puts it in place of the one before, which no signal can divide: an account is where it was, or one step further.  Nothing here decides what may
be charged, or knows where it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pandas_dp.accounting.histories import History, Mapped
from pandas_dp.accounting.records import (
    AMENDMENT,
    ANSWER,
    CHARGE,
    FRAME,
    OPENING,
    START,
    Mark,
    Record,
    entry_of,
    fraction_of,
    whole_of,
)
from pandas_dp.errors import LabelError
from pandas_dp.quantities.budget import Delta

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pandas_dp.accounting.filters import Filter, Sums
    from pandas_dp.accounting.ledger import Entry

__all__ = ["DIGESTED", "Answered", "Labelled", "State"]

DIGESTED = "bounds and keys"
"""What of a question is recorded as a digest, and tells a reader nothing."""


class Answered(Exception):
    """The label of a charge has an answer by now, which costs nothing: that of the charge of this number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass(frozen=True, slots=True)
class Labelled:
    """What was asked under a label, and the number of the first charge whose answer is recorded."""

    asked: Mapping[str, str]
    number: int | None = None


class State(NamedTuple):
    """An account between two steps.

    Attributes
    ----------
    rule : Filter
        The budget: an amendment changes it.
    sums : Sums
        What the charges add up to.
    entries : History of Entry
        The lines of the ledger.
    labels : Mapped from str to Labelled
        What was asked under each label.
    answers : Mapped from int to Any
        For the number of each charge that was answered what the file has of the answer; None in memory.
    frames : Mapped from str to mapping
        What was declared of each frame, in a file.
    mark : Mark
        How far the file was read.
    unwritten : tuple of Record
        Answers that the file could not take: to be written before anything else.
    """

    rule: Filter
    sums: Sums
    entries: History[Entry]
    labels: Mapped[str, Labelled]
    answers: Mapped[int, Any]
    frames: Mapped[str, Mapping[str, str]]
    mark: Mark
    unwritten: tuple[Record, ...]

    @classmethod
    def start(cls, rule: Filter) -> State:
        """Return the state of an account that was charged nothing."""
        return cls(rule, rule.start(), History.empty(), Mapped.empty(), Mapped.empty(), Mapped.empty(), START, ())

    def check_label(self, label: str | None, asked: Mapping[str, str] | None) -> None:
        """Raise ``LabelError`` if a label was used for another question, ``Answered`` if it has an answer."""
        known = None if label is None else self.labels.get(label)
        if known is None or label is None or asked is None or known.number is None:
            return
        others = [_difference(key, known.asked.get(key), asked[key]) for key in asked if known.asked.get(key) != asked[key]]
        if others:
            raise LabelError.differs(label, others)
        raise Answered(known.number)

    def charged(self, entry: Entry, sums: Sums | None = None) -> State:
        """Return the state after a charge; what it adds up to then is given by who knows it."""
        labels = self.labels
        if entry.label is not None and entry.asked is not None:
            known = labels.get(entry.label)
            if known is None or known.number is None:  # an unanswered label may ask something else
                labels = labels.plus(entry.label, Labelled(entry.asked))
        after = self.rule.plus(self.sums, entry.cost) if sums is None else sums
        return State(self.rule, after, self.entries.plus(entry), labels, self.answers, self.frames, self.mark, self.unwritten)

    def answered(self, number: int, body: Any) -> State:
        """Return the state after the charge of this number was answered; of several answers the first counts."""
        if number in self.answers:
            return self
        entry, labels = self.entries[number - 1], self.labels
        if entry.label is not None:
            known = labels.get(entry.label)
            if known is None:
                raise LookupError(entry.label)
            if known.number is None:
                labels = labels.plus(entry.label, Labelled(entry.asked or {}, number))
        answers = self.answers.plus(number, body)
        return State(self.rule, self.sums, self.entries, labels, answers, self.frames, self.mark, self.unwritten)

    def kept(self, number: int, body: Any, record: Record) -> State:
        """Return the state after an answer that the file could not take."""
        return self.answered(number, body)._replace(unwritten=(*self.unwritten, record))

    def read(self, records: Sequence[Record], mark: Mark) -> State:
        """Return the state after these records of the file, up to a mark.

        Raises
        ------
        ArithmeticError, LookupError, TypeError, ValueError, AttributeError
            If one of them says what none may say.
        """
        after = self
        for record in records:
            after = after.read_one(record)
        taken = {record.body["number"] for record in records if record.kind == ANSWER}
        left = tuple(record for record in self.unwritten if record.body["number"] not in taken)
        return after._replace(unwritten=left, mark=mark)

    def read_one(self, record: Record) -> State:
        """Return the state after one record of the file."""
        body = record.body
        if record.kind == CHARGE:
            return self.charged(entry_of(body, len(self.entries) + 1))
        if record.kind == ANSWER:
            return self.answered(whole_of(body["number"], len(self.entries)), body["release"])
        if record.kind == FRAME:
            name, declared = str(body["name"]), dict(body["declared"])
            return self if name in self.frames else self._replace(frames=self.frames.plus(name, declared))
        if record.kind == AMENDMENT:
            entry = entry_of(body["entry"], len(self.entries) + 1)
            budget = self.rule.with_budget(self.rule.unit(fraction_of(body["budget"])), Delta(fraction_of(body["delta"])))
            return self._replace(rule=budget, entries=self.entries.plus(entry))
        if record.kind != OPENING or len(self.entries):
            msg = "unknown kind of record"
            raise ValueError(msg)
        return self


def _difference(key: str, before: str | None, now: str) -> str:
    return f"{key}: others now" if key == DIGESTED else f"{key}: {before} before, {now} now"
