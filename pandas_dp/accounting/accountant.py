"""The account that is charged: exact sums, an append-only ledger, one lock.

It compares and appends under the lock, and what it has charged it never gives back.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from pandas_dp.accounting import lock
from pandas_dp.accounting.amounts import Delta, Epsilon
from pandas_dp.errors import BudgetExhausted, SessionClosed

__all__ = ["NO_DELTA", "Accountant", "Entry"]

NO_DELTA = Delta(0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger: a charge, written before any data was read.

    Attributes
    ----------
    number : int
        1, 2, 3, ... within the session.
    time : datetime
        UTC.
    frame : str
        The handle of the protected frame.
    query : str
        The query's text; names and parameters are public.
    epsilon : Epsilon
        What was charged.
    delta : Delta
        What was charged of δ; 0 except for the selection of private keys.
    mechanism : str
        For example ``"discrete Laplace"``.
    scale : float
        The largest noise scale, in the units of the answer.
    margin : float
        Half width of the 95 % interval where it is known before the answer, else NaN.
    private : bool
        False for answers drawn with ``pandas_dp.testing``'s repeatable noise.
    """

    number: int
    time: datetime
    frame: str
    query: str
    epsilon: Epsilon
    delta: Delta
    mechanism: str
    scale: float
    margin: float
    private: bool


class Accountant:
    """The sum of all charges stays within the budget, in ε and in δ.

    The plain sums are valid stopping rules for queries chosen one after the other with any parameters [1]_.

    Parameters
    ----------
    budget : Epsilon
        What may be spent in all.
    delta : Delta
        What may be spent of δ in all; 0 for pure differential privacy.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman, S. Vadhan. Privacy odometers and filters: pay-as-you-go composition.
       NeurIPS 2016, section 3 (basic composition holds for adaptively chosen parameters).
    """

    def __init__(self, budget: Epsilon, delta: Delta = NO_DELTA) -> None:
        self.budget = budget
        self.delta = delta
        self._limits = Fraction(budget), Fraction(delta)
        self._spent = Fraction(0), Fraction(0)
        self._entries: list[Entry] = []
        self._process = os.getpid()
        self._closed = False

    @property
    def spent(self) -> Epsilon:
        """The exact sum of all charges."""
        return Epsilon(self._spent[0])

    @property
    def remaining(self) -> Epsilon:
        """The exact rest."""
        return Epsilon(self.budget - self._spent[0])

    @property
    def spent_delta(self) -> Delta:
        """The exact sum of all charges of δ."""
        return Delta(self._spent[1])

    @property
    def remaining_delta(self) -> Delta:
        """The exact rest of δ."""
        return Delta(self.delta - self._spent[1])

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

    def charge(
        self,
        epsilon: Epsilon,
        delta: Delta = NO_DELTA,
        *,
        frame: str,
        query: str,
        mechanism: str,
        scale: float,
        margin: float,
        private: bool,
    ) -> Entry:
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
            # Plain Fractions, so that the comparisons are exact.
            spent = self._spent[0] + epsilon, self._spent[1] + delta
            if spent[0] > self._limits[0]:
                raise BudgetExhausted.refuse(query, epsilon, self.remaining, self.budget)
            if spent[1] > self._limits[1]:
                raise BudgetExhausted.refuse(query, delta, self.remaining_delta, self.delta)
            # An interrupt between the two lines over-counts, which is the harmless side.
            self._spent = spent
            entry = Entry(len(self._entries) + 1, datetime.now(UTC), frame, query, epsilon, delta, mechanism, scale, margin, private)
            self._entries.append(entry)
            return entry
