"""What all accounts share: exact sums, an append-only ledger, one lock; in memory, or kept in a file.

An account compares and appends under the lock, and what it has charged it never gives back.  One that is kept in a file takes its sums from there alone, its own
charges included, once they are on the disk: so that it counts what other processes charge, and a process that is killed has charged or has not asked.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pandas_dp.accounting import lock
from pandas_dp.accounting.blocks import Answered, Block, Labelled
from pandas_dp.accounting.ledger import NO_DELTA, Cost, Entry
from pandas_dp.accounting.records import AMENDMENT, ANSWER, CHARGE, FRAME, START, Record, amended, body_of, entry_of
from pandas_dp.amounts import Delta, Epsilon, Rho
from pandas_dp.errors import BudgetExhausted, LabelError, LedgerError, LedgerUnwritable, ParameterError, SessionClosed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pandas_dp.accounting.files import LedgerFile
    from pandas_dp.accounting.records import Mark

__all__ = ["Accountant"]

Money = TypeVar("Money", Epsilon, Rho)


class Accountant(Generic[Money]):
    """What all accounts share.

    Parameters
    ----------
    budget : Epsilon or Rho
        What may be spent in all.
    delta : Delta
        What may be spent of δ in all; 0 for pure and for concentrated differential privacy.
    """

    unit: type[Money]

    def __init__(self, budget: Money, delta: Delta = NO_DELTA) -> None:
        self.budget: Money = budget
        self.delta = delta
        self._limit = Fraction(budget)
        self._epsilon = self._delta = self._rho = Fraction(0)
        self._pure = True
        self._entries: list[Entry] = []
        self._labels: dict[str, Labelled] = {}
        self._answers: dict[int, Any] = {}
        self._frames: dict[str, Mapping[str, str]] = {}
        self._file: LedgerFile | None = None
        self._mark: Mark = START
        self._unwritten: list[Record] = []
        self._process = os.getpid()
        self._closed = False
        self._blocks: list[Block] = []
        self._here: ContextVar[tuple[Block, ...]] = ContextVar("blocks", default=())

    @property
    def spent(self) -> Money:
        """What the charges come to together, in the unit of the budget."""
        self.refresh()
        with lock.LOCK:
            return self._spent()

    @property
    def remaining(self) -> Money:
        """The most that one more query may ask for, here."""
        self.refresh()
        return self._remaining()

    @property
    def spent_delta(self) -> Delta:
        """The exact sum of all charges of δ."""
        self.refresh()
        return Delta(self._delta)

    @property
    def remaining_delta(self) -> Delta:
        """The exact rest of the half of δ that is for private keys."""
        self.refresh()
        return Delta(self.delta / 2 - self._delta)

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

    @property
    def path(self) -> str | None:
        """The file that the account is kept in."""
        return None if self._file is None else str(self._file.path)

    def same_file(self, other: Accountant[Any]) -> bool:
        """Whether both are kept in one file, and this one is open."""
        mine, its = self._file, other._file
        return not self._closed and mine is not None and its is not None and mine.identity == its.identity

    def keep_in(self, file: LedgerFile, records: list[Record], mark: Mark) -> None:
        """Keep the account in a file from now on, beginning with what is there."""
        self._file = file
        self._take(records, mark)

    def refresh(self) -> None:
        """Read what other processes wrote into the file."""
        if self._file is not None:
            with lock.FILES:
                self._take(*self._file.news(self._mark))

    def close(self) -> None:
        """Refuse every later charge."""
        with lock.LOCK:
            self._closed = True

    def check_open(self) -> None:
        """Raise ``SessionClosed`` if no charge can be accepted any more."""
        if self._process != os.getpid() and self._file is None:
            raise SessionClosed.forked()
        if self._closed:
            raise SessionClosed.closed()

    def charge(
        self,
        cost: Cost,
        *,
        frame: str,
        query: str,
        mechanism: str,
        scale: float,
        margin: float,
        private: bool,
        label: str | None = None,
        asked: Mapping[str, str] | None = None,
    ) -> Entry:
        """Charge, or refuse and leave everything as it was.

        Raises
        ------
        BudgetExhausted
            When more is asked than is left.
        SessionClosed
            After ``close()``, and in a forked process.
        LabelError
            If the label was used for another question.
        LedgerError
            If the file cannot be read and written.
        Answered
            If the label has an answer.
        """
        details = (frame, query, cost, mechanism, scale, margin, private, label, asked)
        if self._file is None:
            with lock.LOCK:
                self.check_open()
                self.check_label(label, asked)
                blocks = self._affordable(cost, query)
                # An interrupt in between over-counts, which is the harmless side.
                self._add(cost)
                entry = Entry(len(self._entries) + 1, datetime.now(UTC), *details)
                self._enter(entry)
                for block in blocks:
                    block.spent += self._price(cost)
                return entry
        made: list[tuple[Entry, tuple[Block, ...]]] = []

        def build() -> list[Record]:
            with lock.LOCK:
                self.check_open()
                self.check_label(label, asked)
                blocks = self._affordable(cost, query)
                made.append((Entry(len(self._entries) + 1, datetime.now(UTC), *details), blocks))
            return [Record(CHARGE, body_of(made[0][0]))]

        self._append(build)
        entry, blocks = made[0]
        with lock.LOCK:
            for block in blocks:
                block.spent += self._price(cost)
        return entry

    def check_label(self, label: str | None, asked: Mapping[str, str] | None) -> None:
        """Raise ``LabelError`` if a label was used for another question, ``Answered`` if it has an answer."""
        known = None if label is None else self._labels.get(label)
        if known is None or label is None or asked is None:
            return
        differences = [f"{key}: {known.asked.get(key)} before, {asked[key]} now" for key in asked if known.asked.get(key) != asked[key]]
        if differences:
            raise LabelError.differs(label, differences)
        if known.number is not None:
            raise Answered

    def answered(self, number: int, body: Any) -> None:
        """Record that a charge was answered, and in a file what was answered."""
        record = Record(ANSWER, {"number": number, "release": body})
        if self._file is None:
            with lock.LOCK:
                self._take_one(record)
            return
        try:
            self._append(lambda: [record])
        except LedgerError:
            with lock.LOCK:
                self._unwritten.append(record)
                self._take_one(record)
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
        known: Mapping[str, str] = self._frames[name]
        keys = dict.fromkeys([*known, *declared])
        return [
            f"{key}: {known.get(key, 'nothing')} recorded, {declared.get(key, 'nothing')} now"
            for key in keys
            if known.get(key) != declared.get(key)
        ]

    def amend(self, budget: Any, delta: Delta, reason: str) -> Entry:
        """Change the budget of an account that is kept in a file; an entry of its own."""
        made: list[Record] = []

        def build() -> list[Record]:
            with lock.LOCK:
                self.check_open()
                if not self._covers(budget, delta):
                    raise ParameterError.number("amend", f"given at least what was spent, {self._spent()!r}")
                made.append(amended(len(self._entries) + 1, (self.budget, self.delta), (budget, delta), reason))
            return made

        self._append(build)
        return entry_of(made[0].body["entry"])

    def _append(self, build: Callable[[], list[Record]]) -> None:
        """Append to the file what ``build`` returns, after what could not be written before."""
        if self._file is None:
            raise LedgerError.missing("")
        with lock.FILES:
            rest: list[Record] = list(self._unwritten)
            known: set[int] = {record.body["number"] for record in rest}

            def take(records: list[Record], mark: Mark) -> None:
                self._take([record for record in records if record.kind != ANSWER or record.body["number"] not in known], mark)

            self._file.append(self._mark, take, lambda: [*rest, *build()])
            del self._unwritten[: len(rest)]

    def _take(self, records: Sequence[Record], mark: Mark) -> None:
        """Take records of the file into the sums."""
        with lock.LOCK:
            for record in records:
                self._take_one(record)
            self._mark = mark

    def _take_one(self, record: Record) -> None:
        body = record.body
        if record.kind == CHARGE:
            entry = entry_of(body)
            self._add(entry.cost)
            self._enter(entry)
        elif record.kind == ANSWER:
            number = body["number"]
            self._answers[number] = body["release"]
            label = self._entries[number - 1].label
            if label is not None and self._labels[label].number is None:
                self._labels[label].number = number
        elif record.kind == FRAME:
            self._frames.setdefault(body["name"], body["declared"])
        elif record.kind == AMENDMENT:
            self._set(self.unit(Fraction(body["budget"])), Delta(Fraction(body["delta"])))
            self._entries.append(entry_of(body["entry"]))

    def _enter(self, entry: Entry) -> None:
        self._entries.append(entry)
        if entry.label is not None and entry.asked is not None:
            self._labels.setdefault(entry.label, Labelled(entry.asked))

    def _affordable(self, cost: Cost, query: str) -> tuple[Block, ...]:
        """Return the blocks that a charge counts in, or raise."""
        blocks = self._mine() if self._here.get() else ()
        for block in blocks:
            if self._price(cost) > block.left(blocks):
                raise BudgetExhausted.refuse(
                    query, self.unit(self._price(cost)), self.unit(block.left(blocks)), self.unit(block.limit), of="the allocated"
                )
        if cost.delta and self._delta + cost.delta > self.delta / 2:
            raise BudgetExhausted.refuse(query, cost.delta, Delta(self.delta / 2 - self._delta), self.delta)
        if not self._fits(cost):
            raise BudgetExhausted.refuse(query, self.unit(self._price(cost)), self._left_for(cost), self.budget)
        return blocks

    @contextmanager
    def allocate(self, amount: Fraction, query: str) -> Iterator[Block]:
        """Set an amount aside for what is asked inside; give back what is left of it.

        Notes
        -----
        What is set aside counts as spent for everybody outside in this process, in other threads, too, where sums are all that counts (pure and concentrated budgets).
        """
        self.refresh()
        with lock.LOCK:
            self.check_open()
            outer: tuple[Block, ...] = self._mine()
            left = self._remaining()
            if amount > Fraction(left):
                raise BudgetExhausted.refuse(query, self.unit(amount), left, self.budget)
            block = Block(amount)
            siblings = outer[-1].inner if outer else self._blocks
            siblings.append(block)
        token = self._here.set((*outer, block))
        try:
            yield block
        finally:
            with lock.LOCK:
                block.open = False
                siblings.remove(block)
            with suppress(ValueError):  # closed from another context, as a generator may be: the block is no longer open there, either
                self._here.reset(token)

    def _mine(self) -> tuple[Block, ...]:
        """Return the open blocks that this context is in, outermost first."""
        return tuple(block for block in self._here.get() if block.open)

    def _remaining(self) -> Money:
        with lock.LOCK:
            rest = self._rest() - self._set_aside()
            mine = self._mine()
            for block in mine:
                rest = min(rest, block.left(mine))
            return self.unit(rest)

    def _spent(self) -> Money:
        raise NotImplementedError

    def _covers(self, budget: Money, delta: Delta) -> bool:
        """Whether another budget would have allowed what was charged."""
        raise NotImplementedError

    def _left_for(self, cost: Cost) -> Money:  # noqa: ARG002  (where noise of one kind may spend less than another)
        return self._remaining()

    def _add(self, cost: Cost) -> None:
        """Take a cost into the sums."""
        self._rho += cost.rho
        self._delta += cost.delta
        self._epsilon += cost.epsilon
        self._pure = self._pure and cost.pure

    def _set(self, budget: Money, delta: Delta) -> None:
        """Take another budget."""
        self.budget, self.delta, self._limit = budget, delta, Fraction(budget)

    def _set_aside(self) -> Fraction:
        """Return what blocks of others have reserved and not spent."""
        mine = self._mine()[:1]
        return sum((block.limit - block.spent for block in self._blocks if block not in mine), Fraction(0))

    def _price(self, cost: Cost) -> Fraction:
        """Return a cost in the unit of the budget."""
        return Fraction(cost.epsilon)

    def _rest(self) -> Fraction:
        """Return the most that one more query may ask for, if nothing is set aside."""
        raise NotImplementedError

    def _fits(self, cost: Cost) -> bool:
        return self._price(cost) + self._set_aside() <= self._rest()

    def after(self, cost: Cost) -> Money:
        """Return what would be left after a charge, or, negative, what is missing for it."""
        with lock.LOCK:
            return self.unit(Fraction(self._remaining()) - self._price(cost))

    def share(self, count: int) -> Money:
        """Return the equal share of one of ``count`` queries in the whole budget."""
        return self.unit(Fraction(self.budget) / count)

    def shares(self, weights: Sequence[Fraction]) -> tuple[Money, ...]:
        """Divide what is left by weights."""
        left, whole = Fraction(self.remaining), sum(weights)
        return tuple(self.unit(left * weight / whole) for weight in weights)
