"""What all accounts share: exact sums, an append-only ledger, one lock.

An account compares and appends under the lock, and what it has charged it never gives back.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Generic, TypeVar

from pandas_dp.accounting import lock
from pandas_dp.accounting.blocks import Block
from pandas_dp.accounting.books import Books
from pandas_dp.accounting.ledger import NO_DELTA, Cost, Entry
from pandas_dp.accounting.records import (
    CHARGE,
    Record,
    body_of,
)
from pandas_dp.errors import BudgetExhausted, SessionClosed, SessionConflict
from pandas_dp.quantities.budget import Delta, Epsilon, Rho

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


__all__ = ["Accountant"]

Money = TypeVar("Money", Epsilon, Rho)


class Accountant(Books, Generic[Money]):
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
        super().__init__()
        self.budget: Money = budget
        self.delta = delta
        self._limit = Fraction(budget)
        self._epsilon = self._delta = self._rho = Fraction(0)
        self._pure = True
        self._known: Fraction | None = None  # what an account remembers of its budget
        self._process = os.getpid()
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
    def closed(self) -> bool:
        """Whether it accepts no charge any more."""
        return self._closed

    def close(self) -> None:
        """Refuse every later charge."""
        with lock.LOCK:
            self._closed = True

    def check_open(self) -> None:
        """Raise ``SessionClosed`` if no charge can be accepted any more."""
        if self._process != os.getpid() and self._file is None:
            raise SessionClosed.forked()
        if self._closed:
            raise SessionClosed.closed(self.path)

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
        SessionConflict
            In the handler of a signal that came during another charge.
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
                if lock.charging:  # by this thread, that holds the lock: a signal's handler asks
                    raise SessionConflict.interrupted()
                try:
                    lock.charging = threading.get_ident()
                    self.check_label(label, asked)
                    blocks = self._affordable(cost, query)
                    # An interrupt in between over-counts, which is the harmless side.
                    for block in blocks:
                        block.spent += self._price(cost)
                    self._add(cost)
                    entry = Entry(len(self._entries) + 1, datetime.now(UTC), *details)
                    self._enter(entry)
                    return entry
                finally:
                    lock.charging = 0
        made: list[Entry] = []

        def build() -> list[Record]:
            with lock.LOCK:
                self.check_open()
                self.check_label(label, asked)
                for block in self._affordable(cost, query):
                    block.spent += self._price(cost)
                made[:] = [Entry(len(self._entries) + 1, datetime.now(UTC), *details)]
            return [Record(CHARGE, body_of(made[0]))]

        self._append(build)
        return made[0]

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
