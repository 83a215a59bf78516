"""The account that is charged: a filter that decides, a store that keeps, and the state that both are about.

It compares and charges in one step, under the lock, and what it has charged it never gives back.  It knows nothing of frames, data or noise.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pandas_dp.accounting import lock
from pandas_dp.accounting.blocks import Block
from pandas_dp.accounting.ledger import Cost, Entry
from pandas_dp.accounting.records import amended
from pandas_dp.accounting.state import State
from pandas_dp.accounting.stores import MemoryStore
from pandas_dp.errors import BudgetExhausted, ParameterError, SessionClosed
from pandas_dp.quantities.budget import Delta, Epsilon, Rho

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pandas_dp.accounting.filters import Filter, Sums
    from pandas_dp.accounting.state import Labelled
    from pandas_dp.accounting.stores import Store

__all__ = ["Accountant"]


class Accountant:
    """An account: an append-only ledger, exact sums, one lock.

    Parameters
    ----------
    rule : Filter
        The budget, and when it is spent.
    store : Store
        Where the account is kept; by default in memory.
    state : State
        What it has come to; by default nothing.

    Examples
    --------
    >>> from pandas_dp.accounting import Accountant, Epsilon, PureFilter
    >>> Accountant(PureFilter(Epsilon(1))).remaining
    ε=1
    """

    __slots__ = ("__weakref__", "_blocks", "_closed", "_here", "_process", "_store", "state")

    def __init__(self, rule: Filter, store: Store | None = None, state: State | None = None) -> None:
        self.state: State = State.start(rule) if state is None else state
        self._store: Store = MemoryStore() if store is None else store
        self._closed = False
        self._process = os.getpid()
        self._blocks: list[Block] = []
        self._here: ContextVar[tuple[Block, ...]] = ContextVar("blocks", default=())

    # What there is to read.

    @property
    def rule(self) -> Filter:
        """The filter: of the last amendment that this process has read of."""
        return self.state.rule

    @property
    def unit(self) -> Any:
        """The class of the budget: Epsilon or Rho."""
        return self.state.rule.unit

    @property
    def budget(self) -> Epsilon | Rho:
        """What may be spent in all."""
        return self.state.rule.budget

    @property
    def delta(self) -> Delta:
        """What may be spent of δ in all; 0 for pure and for concentrated differential privacy."""
        return self.state.rule.delta

    @property
    def spent(self) -> Epsilon | Rho:
        """What the charges come to together, in the unit of the budget."""
        self.refresh()
        state = self.state
        return state.rule.spent(state.sums)

    @property
    def remaining(self) -> Epsilon | Rho:
        """The most that one more query may ask for, here."""
        self.refresh()
        return self._in_unit(self._remaining())

    @property
    def spent_delta(self) -> Delta:
        """The exact sum of all charges of δ."""
        self.refresh()
        return Delta(self.state.sums.delta)

    @property
    def remaining_delta(self) -> Delta:
        """The exact rest of the half of δ that is for private keys."""
        self.refresh()
        return self._rest_of_delta(self.state)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All charges, oldest first, and what else changed the account."""
        self.refresh()
        return tuple(self.state.entries)

    @property
    def answers(self) -> dict[int, Any]:
        """For each charge that was answered, in the order of the answers, what the file has of it; None in memory."""
        self.refresh()
        return self.state.answers.as_dict()

    @property
    def labels(self) -> dict[str, Labelled]:
        """What was asked under each label."""
        self.refresh()
        return self.state.labels.as_dict()

    def answer_of(self, number: int) -> Any:
        """Return what the file has of an answer that this account has read of; None in memory."""
        return self.state.answers.get(number)

    @property
    def path(self) -> str | None:
        """The file that the account is kept in."""
        return self._store.path

    @property
    def opening(self) -> Mapping[str, str | None]:
        """The parameters that the file records; empty in memory."""
        return self._store.opening

    def refresh(self) -> None:
        """Read what other processes wrote into the file."""
        self._store.refresh(self)

    # Whether it goes on.

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
        if self._process != os.getpid() and self._store.path is None:
            raise SessionClosed.forked()
        if self._closed:
            raise SessionClosed.closed(self._store.path)

    # What changes it.

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

        def build() -> tuple[Entry, Sums]:
            state = self.state
            if label is not None:
                state.check_label(label, asked)
            sums = self._affordable(state, cost, query)
            number = len(state.entries) + 1
            return Entry(number, datetime.now(UTC), frame, query, cost, mechanism, scale, margin, private, label, asked), sums

        return self._store.charge(self, build)

    def answered(self, number: int, body: Any) -> None:
        """Record that a charge was answered, and in a file what was answered."""
        self._store.answer(self, number, body)

    def declare(self, name: str, declared: Mapping[str, str]) -> list[str]:
        """Record what is declared of a frame, or return in what it differs from what was recorded under its name."""
        return self._store.declare(self, name, declared)

    def amend(self, budget: Epsilon | Rho, delta: Delta, reason: str) -> None:
        """Change the budget of an account that is kept in a file; an entry of its own."""

        def build() -> Any:
            self.check_open()
            state = self.state
            if not state.rule.with_budget(budget, delta).covers(state.sums):
                raise ParameterError.number("amend", f"given at least what was spent, {state.rule.spent(state.sums)!r}")
            return amended(len(state.entries) + 1, (state.rule.budget, state.rule.delta), (budget, delta), reason)

        self._store.amend(self, build)

    def check_label(self, label: str | None, asked: Mapping[str, str] | None) -> None:
        """Raise ``LabelError`` if a label was used for another question, ``Answered`` if it has an answer."""
        self.state.check_label(label, asked)

    # What is affordable, here: in the blocks that this context is in.

    def _affordable(self, state: State, cost: Cost, query: str) -> Sums:
        """Return the sums after a charge, which from now on counts in the blocks that it is made in; or raise."""
        rule = state.rule
        blocks = self._mine() if self._here.get() else ()
        for block in blocks:
            price = rule.price(cost)
            if price > block.left(blocks):
                raise BudgetExhausted.refuse(
                    query, rule.unit(price), rule.unit(block.left(blocks)), rule.unit(block.limit), of="the allocated"
                )
        if cost.delta and state.sums.delta + cost.delta > rule.delta / 2:
            raise BudgetExhausted.refuse(query, cost.delta, self._rest_of_delta(state), rule.delta)
        after = rule.admitted(state.sums, cost, self._set_aside() if self._blocks else _NOTHING)
        if after is None:
            left = rule.rest_for(state.sums, cost, self._remaining())
            raise BudgetExhausted.refuse(query, rule.unit(rule.price(cost)), rule.unit(left), rule.budget)
        for block in blocks:
            block.spent += rule.price(cost)  # an interrupt from here on over-counts, which is the harmless side
        return after

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
            if amount > left:
                raise BudgetExhausted.refuse(query, self._in_unit(amount), self._in_unit(left), self.budget)
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

    def _set_aside(self) -> Fraction:
        """Return what blocks of others have reserved and not spent."""
        if not self.state.rule.reserves:
            return _NOTHING
        mine = self._mine()[:1]
        return sum((block.limit - block.spent for block in self._blocks if block not in mine), Fraction(0))

    def _remaining(self) -> Fraction:
        with lock.LOCK:
            state = self.state
            rest = state.rule.rest(state.sums) - self._set_aside()
            mine = self._mine()
            for block in mine:
                rest = min(rest, block.left(mine))
            return rest

    def _rest_of_delta(self, state: State) -> Delta:
        return Delta(state.rule.delta / 2 - state.sums.delta)

    def _in_unit(self, amount: Fraction) -> Epsilon | Rho:
        found: Epsilon | Rho = self.unit(amount)
        return found

    # What a query could spend.

    def after(self, cost: Cost) -> Epsilon | Rho:
        """Return what would be left after a charge, or, negative, what is missing for it."""
        with lock.LOCK:
            state = self.state
            return self._in_unit(state.rule.after(state.sums, cost, self._remaining()))

    def share(self, count: int) -> Epsilon | Rho:
        """Return the equal share of one of ``count`` queries in the whole budget."""
        return self._in_unit(self.state.rule.share(count))

    def shares(self, weights: Sequence[Fraction]) -> tuple[Epsilon | Rho, ...]:
        """Divide what is left by weights."""
        self.refresh()
        with lock.LOCK:
            state = self.state
            return tuple(self._in_unit(one) for one in state.rule.shares(state.sums, weights, self._remaining()))


_NOTHING = Fraction(0)
