"""The books of an account: charges, labels and answers, in memory or kept in a file.

An account that is kept in a file takes its sums from there alone, its own charges included, once they are on the disk: so that it counts what other processes charge, and a process that is
killed has charged or has not asked.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from pandas_dp.accounting import lock
from pandas_dp.accounting.blocks import Answered, Labelled
from pandas_dp.accounting.records import (
    AMENDMENT,
    ANSWER,
    CHARGE,
    FRAME,
    OPENING,
    START,
    Record,
    amended,
    differences,
    entry_of,
    fraction_of,
    whole_of,
)
from pandas_dp.errors import LabelError, LedgerDamaged, LedgerError, LedgerUnwritable, ParameterError
from pandas_dp.quantities.budget import Delta

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pandas_dp.accounting.ledger import Cost, Entry
    from pandas_dp.accounting.records import Mark
    from pandas_dp.accounting.sqlite import LedgerFile

__all__ = ["DIGESTED", "Books"]

DIGESTED = "bounds and keys"
"""What of a question is recorded as a digest, and tells a reader nothing."""

_COPIED = ("_entries", "_labels", "_answers", "_frames")
_BOOKS = (*_COPIED, "budget", "delta", "_limit", "_known", "_epsilon", "_delta", "_rho", "_pure", "_unwritten", "_mark")


class Books:
    """What was charged, asked and answered; an account decides what may be."""

    budget: Any
    delta: Delta
    unit: Any

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._labels: dict[str, Labelled] = {}
        self._answers: dict[int, Any] = {}
        self._frames: dict[str, Mapping[str, str]] = {}
        self._file: LedgerFile | None = None
        self._mark: Mark = START
        self._unwritten: list[Record] = []
        self._closed = False
        self.opening: Mapping[str, str | None] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All charges, oldest first, and what else changed the account."""
        self.refresh()
        with lock.LOCK:
            return tuple(self._entries)

    @property
    def answers(self) -> dict[int, Any]:
        """For each charge that was answered, in the order of the answers, what the file has of it; None in memory."""
        self.refresh()
        with lock.LOCK:
            return dict(self._answers)

    @property
    def labels(self) -> dict[str, Labelled]:
        """What was asked under each label."""
        self.refresh()
        with lock.LOCK:
            return dict(self._labels)

    def answer_of(self, number: int) -> Any:
        """Return what the file has of an answer that this account has read of; None in memory."""
        with lock.LOCK:
            return self._answers[number]

    @property
    def path(self) -> str | None:
        """The file that the account is kept in."""
        return None if self._file is None else str(self._file.path)

    def keep_in(self, file: LedgerFile, records: list[Record], mark: Mark) -> None:
        """Keep the account in a file from now on, beginning with what is there."""
        self._file = file
        self._take(records, mark)

    def refresh(self) -> None:
        """Read what other processes wrote into the file."""
        if self._file is not None:
            self._file.news(lambda: self._mark, self._take)

    def check_label(self, label: str | None, asked: Mapping[str, str] | None) -> None:
        """Raise ``LabelError`` if a label was used for another question, ``Answered`` if it has an answer."""
        known = None if label is None else self._labels.get(label)
        if known is None or label is None or asked is None or known.number is None:
            return
        others = [_difference(key, known.asked.get(key), asked[key]) for key in asked if known.asked.get(key) != asked[key]]
        if others:
            raise LabelError.differs(label, others)
        raise Answered(known.number)

    def answered(self, number: int, body: Any) -> None:
        """Record that a charge was answered, and in a file what was answered."""
        if self._file is None:
            with lock.LOCK:
                self._mark_answered(number, None)
            return
        record = Record(ANSWER, {"number": number, "release": body})
        try:
            self._append(lambda: [record])
        except LedgerError:
            with lock.LOCK:
                self._unwritten.append(record)
                self._mark_answered(number, body)
                query = next((entry.query for entry in self._entries if entry.number == number), "the query")
            failed = LedgerUnwritable.answer_kept(str(self._file.path), query)
        else:
            return
        raise failed

    def declare(self, name: str, declared: Mapping[str, str]) -> list[str]:
        """Record what is declared of a frame, or return in what it differs from what was recorded under its name."""
        if self._file is None:
            return []
        self.refresh()
        if name not in self._frames:
            self._append(lambda: [] if name in self._frames else [Record(FRAME, {"name": name, "declared": dict(declared)})])
        return differences(self._frames[name], declared, "nothing")

    def amend(self, budget: Any, delta: Delta, reason: str) -> None:
        """Change the budget of an account that is kept in a file; an entry of its own."""

        def build() -> list[Record]:
            with lock.LOCK:
                self.check_open()
                if not self._covers(budget, delta):
                    raise ParameterError.number("amend", f"given at least what was spent, {self._spent()!r}")
                return [amended(len(self._entries) + 1, (self.budget, self.delta), (budget, delta), reason)]

        self._append(build)

    def _append(self, build: Callable[[], list[Record]]) -> None:
        """Append to the file what ``build`` returns, after what could not be written before."""
        if self._file is None:
            raise LedgerError.missing("")
        self._file.append(lambda: self._mark, self._take, lambda: [*self._unwritten, *build()])

    def _take(self, records: Sequence[Record], mark: Mark) -> None:
        """Take records of the file into the sums: all of them, or none if anything goes wrong or a signal interrupts."""
        with lock.LOCK:
            if not records:
                return
            after = copy(self)
            for name in _COPIED:
                setattr(after, name, copy(getattr(self, name)))
            failed = False
            try:
                for record in records:
                    after._take_one(record)  # noqa: SLF001  (a copy of this account)
            except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
                failed = True
            if failed:
                raise LedgerDamaged.found(str(self.path), "a record does not say what a ledger's does")
            taken = {record.body["number"] for record in records if record.kind == ANSWER}
            left = [record for record in self._unwritten if record.body["number"] not in taken]
            after._unwritten, after._mark = left, mark  # noqa: SLF001  (as above)
            # One step, which no signal can divide.
            self.__dict__.update({name: getattr(after, name) for name in _BOOKS})

    def _take_one(self, record: Record) -> None:
        body = record.body
        if record.kind == CHARGE:
            entry = entry_of(body, len(self._entries) + 1)
            self._add(entry.cost)
            self._enter(entry)
        elif record.kind == ANSWER:
            self._mark_answered(whole_of(body["number"], len(self._entries)), body["release"])
        elif record.kind == FRAME:
            self._frames.setdefault(str(body["name"]), dict(body["declared"]))
        elif record.kind == AMENDMENT:
            entry = entry_of(body["entry"], len(self._entries) + 1)
            self._set(self.unit(fraction_of(body["budget"])), Delta(fraction_of(body["delta"])))
            self._entries.append(entry)
        elif record.kind != OPENING or self._entries:
            msg = "unknown kind of record"
            raise ValueError(msg)

    def _mark_answered(self, number: int, body: Any) -> None:
        if number in self._answers:
            return
        self._answers[number] = body
        label = self._entries[number - 1].label
        if label is not None and self._labels[label].number is None:
            self._labels[label] = Labelled(self._entries[number - 1].asked or {}, number)

    def _enter(self, entry: Entry) -> None:
        self._entries.append(entry)
        if entry.label is not None and entry.asked is not None:
            known = self._labels.get(entry.label)
            if known is None or known.number is None:  # an unanswered label may ask something else
                self._labels[entry.label] = Labelled(entry.asked)

    def check_open(self) -> None:
        """Raise ``SessionClosed`` if no charge can be accepted any more."""
        raise NotImplementedError

    def _spent(self) -> Any:
        raise NotImplementedError

    def _covers(self, budget: Any, delta: Delta) -> bool:
        """Whether another budget would have allowed what was charged."""
        raise NotImplementedError

    def _add(self, cost: Cost) -> None:
        """Take a cost into the sums."""
        raise NotImplementedError

    def _set(self, budget: Any, delta: Delta) -> None:
        """Take another budget."""
        raise NotImplementedError


def _difference(key: str, before: str | None, now: str) -> str:
    return f"{key}: others now" if key == DIGESTED else f"{key}: {before} before, {now} now"
