"""The accounts that are charged: exact sums, an append-only ledger, one lock.

An account compares and appends under the lock, and what it has charged it never gives back.  Each kind is a stopping rule that holds for queries
chosen one after the other with any parameters; calculators that need all parameters beforehand are in :mod:`pandas_dp.composition`.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from fractions import Fraction
from math import floor, isqrt, log10, sqrt
from typing import TYPE_CHECKING, Generic, TypeVar

from pandas_dp.accounting import lock
from pandas_dp.accounting.ledger import NO_DELTA, Cost, Entry
from pandas_dp.amounts import Delta, Epsilon, Rho
from pandas_dp.errors import BudgetExhausted, SessionClosed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "Accountant",
    "ApproximateAccountant",
    "Block",
    "ConcentratedAccountant",
    "PureAccountant",
    "root_down",
    "root_up",
    "rounded_down",
    "rounded_up",
]

Money = TypeVar("Money", Epsilon, Rho)

_DIGITS = 9  # of roots and conversions, which are rounded to the safe side and then read by people


def _places(number: float) -> int:
    """Return to how many decimal places a number is written."""
    return _DIGITS + max(0, -floor(log10(number))) if number > 0 else _DIGITS


def rounded_down(number: Fraction) -> Fraction:
    """Return a short decimal a little below."""
    ten = 10 ** _places(float(number))
    return Fraction(number.numerator * ten // number.denominator, ten)


def rounded_up(number: Fraction) -> Fraction:
    """Return a short decimal a little above."""
    ten = 10 ** _places(float(number))
    return Fraction(-(-number.numerator * ten // number.denominator), ten)


def root_down(square: Fraction) -> Fraction:
    """Return a short decimal a little below the square root."""
    ten = 10 ** _places(sqrt(square))
    return Fraction(isqrt(square.numerator * ten * ten // square.denominator), ten)


def root_up(square: Fraction) -> Fraction:
    """Return a short decimal a little above the square root."""
    ten = 10 ** _places(sqrt(square))
    above = -(-square.numerator * ten * ten // square.denominator)
    return Fraction(isqrt(above - 1) + 1, ten) if above else Fraction(0)


class Block:
    """A part of a budget that was set aside: ``session.allocate(...)``."""

    def __init__(self, limit: Fraction) -> None:
        self.limit = limit
        self.spent = Fraction(0)
        self.inner: list[Block] = []
        self.open = True

    def left(self, mine: tuple[Block, ...]) -> Fraction:
        """Return what those who are in the blocks ``mine`` may spend of this one: not what other blocks inside it have set aside."""
        others = sum((block.limit - block.spent for block in self.inner if block not in mine), Fraction(0))
        return self.limit - self.spent - others


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
        self._process = os.getpid()
        self._closed = False
        self._blocks: list[Block] = []
        self._here: ContextVar[tuple[Block, ...]] = ContextVar("blocks", default=())

    @property
    def spent(self) -> Money:
        """What the charges come to together, in the unit of the budget."""
        raise NotImplementedError

    @property
    def remaining(self) -> Money:
        """The most that one more query may ask for, here."""
        with lock.LOCK:
            rest = self._rest() - self._set_aside()
            mine = self._mine()
            for block in mine:
                rest = min(rest, block.left(mine))
            return self.unit(rest)

    @property
    def spent_delta(self) -> Delta:
        """The exact sum of all charges of δ."""
        return Delta(self._delta)

    @property
    def remaining_delta(self) -> Delta:
        """The exact rest of the half of δ that is for private keys."""
        return Delta(self.delta / 2 - self._delta)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All charges, oldest first."""
        with lock.LOCK:
            return tuple(self._entries)

    def close(self) -> None:
        """Refuse every later charge."""
        with lock.LOCK:
            self._closed = True

    def check_open(self) -> None:
        """Raise ``SessionClosed`` if no charge can be accepted any more."""
        if self._process != os.getpid():
            raise SessionClosed.forked()
        if self._closed:
            raise SessionClosed.closed()

    def charge(self, cost: Cost, *, frame: str, query: str, mechanism: str, scale: float, margin: float, private: bool) -> Entry:
        """Charge, or refuse and leave everything as it was.

        Raises
        ------
        BudgetExhausted
            When more is asked than is left.
        SessionClosed
            After ``close()``, and in a forked process.
        """
        with lock.LOCK:
            self.check_open()
            blocks = self._mine() if self._here.get() else ()
            for block in blocks:
                if self._price(cost) > block.left(blocks):
                    raise BudgetExhausted.refuse(
                        query, self.unit(self._price(cost)), self.unit(block.left(blocks)), self.unit(block.limit), of="the allocated"
                    )
            if cost.delta and self._delta + cost.delta > self.delta / 2:
                raise BudgetExhausted.refuse(query, cost.delta, self.remaining_delta, self.delta)
            if not self._fits(cost):
                raise BudgetExhausted.refuse(query, self.unit(self._price(cost)), self._left_for(cost), self.budget)
            # An interrupt in between over-counts, which is the harmless side.
            self._add(cost)
            for block in blocks:
                block.spent += self._price(cost)
            entry = Entry(len(self._entries) + 1, datetime.now(UTC), frame, query, cost, mechanism, scale, margin, private)
            self._entries.append(entry)
            return entry

    @contextmanager
    def allocate(self, amount: Fraction, query: str) -> Iterator[Block]:
        """Set an amount aside for what is asked inside; give back what is left of it.

        Notes
        -----
        What is set aside counts as spent for everybody outside, in other threads, too, where sums are all that counts (pure and concentrated budgets).
        """
        with lock.LOCK:
            self.check_open()
            outer: tuple[Block, ...] = self._mine()
            if amount > Fraction(self.remaining):
                raise BudgetExhausted.refuse(query, self.unit(amount), self.remaining, self.budget)
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

    def _left_for(self, cost: Cost) -> Money:  # noqa: ARG002  (where noise of one kind may spend less than another)
        return self.remaining

    def _add(self, cost: Cost) -> None:
        """Take a cost into the sums."""
        self._rho += cost.rho
        self._delta += cost.delta
        self._epsilon += cost.epsilon
        self._pure = self._pure and cost.pure

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
            return self.unit(Fraction(self.remaining) - self._price(cost))

    def share(self, count: int) -> Money:
        """Return the equal share of one of ``count`` queries in the whole budget."""
        return self.unit(Fraction(self.budget) / count)

    def shares(self, weights: Sequence[Fraction]) -> tuple[Money, ...]:
        """Divide what is left by weights."""
        left, whole = Fraction(self.remaining), sum(weights)
        return tuple(self.unit(left * weight / whole) for weight in weights)


class PureAccountant(Accountant[Epsilon]):
    """ε-differential privacy: the sum of all ε stays within the budget [1]_.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman, S. Vadhan. Privacy odometers and filters: pay-as-you-go composition.
       NeurIPS 2016, section 3 (basic composition holds for adaptively chosen parameters).
    """

    unit = Epsilon

    @property
    def spent(self) -> Epsilon:
        """The exact sum of all charges."""
        return Epsilon(self._epsilon)

    def _rest(self) -> Fraction:
        return self._limit - self._epsilon

    def _fits(self, cost: Cost) -> bool:
        if self._blocks:
            return super()._fits(cost)
        return self._epsilon + cost.epsilon <= self._limit  # a sum of Fractions, which compares exactly

    def _add(self, cost: Cost) -> None:
        self._epsilon += cost.epsilon


class ConcentratedAccountant(Accountant[Rho]):
    """ρ-zero-concentrated differential privacy: the sum of all ρ stays within the budget [1]_.

    References
    ----------
    .. [1] V. Feldman, T. Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021, theorem 4.3 (the sum is a filter for adaptively chosen parameters).
    """

    unit = Rho

    @property
    def spent(self) -> Rho:
        """The exact sum of all charges."""
        return Rho(self._rho)

    def _price(self, cost: Cost) -> Fraction:
        return Fraction(cost.rho)

    def _rest(self) -> Fraction:
        return self._limit - self._rho


class ApproximateAccountant(Accountant[Epsilon]):
    """(ε, δ)-differential privacy: a query is answered while the sum of all ε, or the concentrated account, stays within the budget.

    Notes
    -----
    Either is a valid stopping rule, and so is their union: outcomes that end inside the concentrated filter are those of the process that it would have stopped, whose
    hockey-stick divergence at ε is at most δ/2; all others end with a sum of at most ε, and lose no more than that [1]_, [2]_.  The other half of δ is for private keys, whichever the rule: were it
    taken off the conversion's as one goes, two branches of an adaptive process could each use nearly all of δ.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman, S. Vadhan. Privacy odometers and filters. NeurIPS 2016, section 3.
    .. [2] V. Feldman, T. Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021, theorem 4.3; conversion by C. Canonne, G. Kamath,
       T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020, proposition 12.
    """

    unit = Epsilon

    def __init__(self, budget: Epsilon, delta: Delta) -> None:
        super().__init__(budget, delta)
        self._known: Fraction | None = None

    @property
    def spent(self) -> Epsilon:
        """The smaller of what both accounts say: the sum of all ε if all were pure, and the ε at what is left of δ, rounded up."""
        from pandas_dp.composition import zcdp_to_approx  # noqa: PLC0415  (for those who have such a budget)

        with lock.LOCK:
            found = [self._epsilon] if self._pure else []
            if self._rho:
                found.append(rounded_up(Fraction(zcdp_to_approx(Rho(self._rho), Delta(self.delta / 2)))))
            return Epsilon(min(found, default=Fraction(0)))

    def _most_rho(self) -> Fraction:
        """Return the largest ρ that keeps the promise at the conversion's half of δ, rounded down."""
        from pandas_dp.composition import approx_to_zcdp  # noqa: PLC0415  (as above)

        if self._known is None:
            self._known = Fraction(approx_to_zcdp(self.budget, Delta(self.delta / 2)))
        return self._known

    def _rest(self) -> Fraction:
        return max(self._concentrated_rest(), self._limit - self._epsilon if self._pure else Fraction(0))

    def _concentrated_rest(self) -> Fraction:
        left = self._most_rho() - self._rho
        return root_down(2 * left) if left > 0 else Fraction(0)

    def _left_for(self, cost: Cost) -> Epsilon:
        return self.remaining if cost.pure else Epsilon(self._concentrated_rest())

    def _set_aside(self) -> Fraction:
        return Fraction(0)  # two sums at once cannot be reserved in one number: a block is a limit, and no reservation

    def _fits(self, cost: Cost) -> bool:
        if self._pure and cost.pure and self._epsilon + cost.epsilon <= self._limit:
            return True
        return self._rho + cost.rho <= self._most_rho()

    def after(self, cost: Cost) -> Epsilon:
        """Return the most that one more query could ask for after a charge, or, negative, what is missing for it."""
        with lock.LOCK:
            if not self._fits(cost) or self._delta + cost.delta > self.delta / 2:
                return Epsilon(min(Fraction(self.remaining) - self._price(cost), Fraction(-1, 10**12)))
            before = self._epsilon, self._delta, self._rho, self._pure
            self._epsilon, self._delta, self._rho = before[0] + cost.epsilon, before[1] + cost.delta, before[2] + cost.rho
            self._pure = before[3] and cost.pure
            try:
                return Epsilon(self._rest())
            finally:
                self._epsilon, self._delta, self._rho, self._pure = before

    def share(self, count: int) -> Epsilon:
        """Return the larger of the equal shares of ``count`` queries in either account."""
        return Epsilon(max(self._limit / count, root_down(2 * self._most_rho() / count)))

    def shares(self, weights: Sequence[Fraction]) -> tuple[Epsilon, ...]:
        """Divide what is left by weights, in the account where it is more."""
        with lock.LOCK:
            whole = sum(weights)
            basic = (self._limit - self._epsilon) / whole if self._pure else Fraction(0)
            left = max(self._most_rho() - self._rho, Fraction(0))
            factor = max(basic, root_down(2 * left / sum((weight * weight for weight in weights), Fraction(0))))
        return tuple(Epsilon(factor * weight) for weight in weights)
