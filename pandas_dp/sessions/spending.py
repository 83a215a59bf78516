"""What a session shows of its budget, and how the budget is divided, limited and amended.

Nothing is charged here: that is the account's, at the request of ``release.py`` alone.
"""

from __future__ import annotations

from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from pandas_dp.accounting.prices import strength_of
from pandas_dp.errors import ParameterError, ParameterTypeError, SessionConflict, boundary
from pandas_dp.quantities.budget import Delta, Epsilon, Rho, as_delta, as_epsilon, as_rho, checked_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pandas_dp.accounting.prices import Account, Strength

__all__ = ["Spending"]

_DELTA_SHARES = 20


class Spending:
    """The budget of a session."""

    _accountant: Account
    _queries: int | None

    @property
    def budget(self) -> Epsilon | Rho:
        """What may be spent in all: ε, or ρ."""
        self._accountant.refresh()
        return self._accountant.budget

    @property
    def spent(self) -> Epsilon | Rho:
        """What has been charged: an exact sum; with δ, the smaller of the sum and of what the concentrated account comes to."""
        return self._accountant.spent

    @property
    def remaining(self) -> Epsilon | Rho:
        """What is left: the most that one more query may ask for."""
        return self._accountant.remaining

    @property
    def delta(self) -> Delta:
        """What may be spent of δ in all; 0 in a session of pure differential privacy."""
        self._accountant.refresh()
        return self._accountant.delta

    @property
    def spent_delta(self) -> Delta:
        """What has been charged of δ, exactly."""
        return self._accountant.spent_delta

    @property
    def remaining_delta(self) -> Delta:
        """What is left, exactly, of the half of δ that is for private keys; the other half is the conversion's."""
        return self._accountant.remaining_delta

    def split(self, shares: int | Sequence[object]) -> tuple[Epsilon | Rho, ...]:
        """Divide what is left, exactly.

        Parameters
        ----------
        shares : int or sequence of numbers
            A number of equal shares, or weights.

        Returns
        -------
        tuple of Epsilon or Rho
            Their sum is ``remaining``; with δ, they are as large as all of them still fit.  Nothing is reserved or charged.

        Examples
        --------
        >>> import pandas_dp
        >>> pandas_dp.Session(epsilon=1).split(4)
        (ε=0.25, ε=0.25, ε=0.25, ε=0.25)
        >>> pandas_dp.Session(epsilon=1).split([2, 1])
        (ε=2/3, ε=1/3)
        """
        if isinstance(shares, (str, bytes, type)):
            raise ParameterTypeError.wrong_kind("shares", "a number of shares or a sequence of weights", type(shares))
        if not hasattr(shares, "__iter__") or getattr(shares, "ndim", 1) == 0:
            weights: list[Fraction] = [Fraction(1)] * checked_count("shares", shares)
        else:
            weights = [Fraction(as_epsilon(weight, "weight")) for weight in shares]
            checked_count("shares", len(weights))
        return self._accountant.shares(weights)

    @boundary
    def odometer(self, *, delta: object = None) -> Epsilon:
        """Return the tightest ε that is known to have been spent, at a δ.

        Parameters
        ----------
        delta : number, optional
            By default the session's.

        Returns
        -------
        Epsilon
            Rounded up.  Less than ``spent`` after many queries.

        Raises
        ------
        AccountingMissing
            Without the extra ``accounting``; its attribute ``concentrated`` is what the concentrated account says.
        ParameterError
            Without a δ.

        Notes
        -----
        A reading, for queries whose parameters did not depend on earlier answers: the account decides what is refused.
        """
        from pandas_dp.accounting.odometer import tightest  # noqa: PLC0415  (for those who ask)

        if delta is None and not self.delta:
            raise ParameterError.number("delta", "given, such as 1e-6: this session has none")
        return tightest(self._accountant.entries, self.delta if delta is None else as_delta(delta))

    @boundary
    @contextmanager
    def allocate(self, *, epsilon: object = None, rho: object = None) -> Iterator[Self]:
        """Limit what is asked inside a ``with`` block, and give back what it does not spend.

        Parameters
        ----------
        epsilon, rho : number
            How much, in the unit of the session's budget.

        Yields
        ------
        Session
            This session; ``remaining`` inside is what is left of the block.

        Raises
        ------
        BudgetExhausted
            If that much is not left.

        Notes
        -----
        In sessions of pure and of concentrated differential privacy the amount is set aside: others cannot spend it meanwhile.  In a session with δ it is a
        limit alone.  Blocks may be nested.  A block belongs to its thread, and to tasks that inherit its context: a thread that is started inside of it is outside.

        Examples
        --------
        >>> import pandas_dp
        >>> session = pandas_dp.Session(epsilon=1)
        >>> with session.allocate(epsilon=0.3):
        ...     session.remaining
        ε=0.3
        >>> session.remaining
        ε=1
        """
        amount = as_epsilon(epsilon) if rho is None else as_rho(rho, "rho")
        if (epsilon is None) == (rho is None) or not isinstance(amount, self._accountant.unit):
            raise ParameterError.number("allocate", f"given one amount in the unit of the budget, such as {self.budget!r}")
        with self._accountant.allocate(Fraction(amount), "allocate()"):
            yield self

    @boundary
    def amend(self, *, epsilon: object = None, delta: object = None, rho: object = None, reason: str) -> None:
        """Change the budget of a session that is kept in a file: the decision of the data's owner, and an entry of the ledger.

        Parameters
        ----------
        epsilon, rho : number
            The new budget in all, in the unit of the old one; left out, it stays.
        delta : number, optional
            The new δ in all, in a session that has one.
        reason : str
            Who decided it, and why; recorded.

        Raises
        ------
        SessionConflict
            If the session is in memory.
        ParameterError
            If less is given than was spent, or the amount is in another unit.

        Notes
        -----
        From then on the ledger is continued with the new parameters: ``protect(epsilon=...)`` with the old ones is an error.
        """
        account = self._accountant
        if account.path is None:
            raise SessionConflict.no_ledger("amend()")
        if not isinstance(reason, str) or not reason.strip():
            raise ParameterError.number("reason", "given: who decided it, and why")
        named = [amount for amount in (None if epsilon is None else as_epsilon(epsilon), None if rho is None else as_rho(rho)) if amount]
        if not named and delta is None:
            raise ParameterError.number("amend", f"given the new budget in all, such as epsilon= where it is {account.budget!r}")
        fits = len(named) <= 1 and all(isinstance(amount, account.unit) for amount in named) and (delta is None or bool(account.delta))
        if not fits:
            raise ParameterError.number("amend", f"given amounts in the unit of the budget, such as {account.budget!r}")
        account.amend(named[0] if named else account.budget, account.delta if delta is None else as_delta(delta), reason.strip())

    def price(self, epsilon: object, rho: object, mechanism: object, *, chosen: bool = False) -> Strength:
        """Return what a query may spend, by its own price or the equal share, and on which noise, or on a choice."""
        return strength_of(self._accountant, epsilon, rho, mechanism, self._queries, chosen=chosen)

    def query_delta(self, delta: object | None) -> Delta:
        """Return the δ of a query that selects private keys: its own, or a share of half the session's, or else a tenth of that half."""
        if not self.delta:
            raise ParameterError.delta_needed()
        return Delta(self.delta / (2 * self._queries if self._queries else _DELTA_SHARES)) if delta is None else as_delta(delta)
