"""Budgets as exact fractions, and the account that is charged against them.

A privacy parameter is what the user typed: ``0.1`` is one tenth, not the nearest double, and ten tenths fill 1.
The :class:`Accountant` compares and appends under one lock, and what it has charged it never gives back.  This
module knows nothing of frames, data or noise.
"""

from __future__ import annotations

import math
import os
import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from pandas_dp.errors import BudgetExhausted, ParameterError, ParameterTypeError, SessionClosed

__all__ = ["EPSILON_MAX", "EPSILON_MIN", "LOCK", "Accountant", "Entry", "Epsilon", "as_epsilon"]

EPSILON_MIN = Fraction(1, 10**12)
EPSILON_MAX = Fraction(10**6)
_MAX_BITS = 256  # of numerator and denominator: exact sums of longer ones would grow without use
_PLACES = 30  # of a decimal, beyond which the fraction is shorter
_NUMBER = re.compile(r"[+]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?|\d{1,80}/\d{1,80}", re.ASCII)

LOCK = threading.RLock()
"""Guards every account and the registry of sessions; charges are short, so one is enough."""


def _renew_lock() -> None:
    # Another thread of the parent may have held the lock when the process forked; nobody in the child would free it.
    global LOCK  # noqa: PLW0603
    LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):  # pragma: no branch  (absent on Windows, which cannot fork)
    os.register_at_fork(after_in_child=_renew_lock)


class Epsilon(Fraction):
    """An exact amount of ε: a ``Fraction`` that prints as a decimal and compares with floats as typed.

    Examples
    --------
    >>> from pandas_dp.accounting import Epsilon
    >>> Epsilon("0.1") * 3 == Epsilon("0.3")
    True
    >>> Epsilon("0.2"), str(Epsilon(1) / 4), Epsilon(1, 3)
    (ε=0.2, '1/4', ε=1/3)
    >>> Epsilon("0.1") == 0.1
    True
    """

    __slots__ = ()

    def __eq__(self, other: object) -> Any:
        """Compare by what a float prints, as everywhere in the project."""
        return super().__eq__(_typed(other))

    def __hash__(self) -> int:  # type: ignore[override]  # the stubs of Fraction leave it out
        """Hash as the fraction."""
        return super().__hash__()

    def __lt__(self, other: Any) -> Any:
        """Compare as typed."""
        return super().__lt__(_typed(other))

    def __le__(self, other: Any) -> Any:
        """Compare as typed."""
        return super().__le__(_typed(other))

    def __gt__(self, other: Any) -> Any:
        """Compare as typed."""
        return super().__gt__(_typed(other))

    def __ge__(self, other: Any) -> Any:
        """Compare as typed."""
        return super().__ge__(_typed(other))

    def __str__(self) -> str:
        """Return a decimal if it is exact and short, else the fraction."""
        short = format(float(self), ".15g")
        if Fraction(short) == self:
            return short
        twos = (self.denominator & -self.denominator).bit_length() - 1
        fives = round(math.log(self.denominator >> twos, 5))
        places = max(twos, fives)
        if self.denominator != 2**twos * 5**fives or places > _PLACES:
            return super().__str__()
        digits = str(self.numerator * 10**places // self.denominator).rjust(places + 1, "0")
        return f"{digits[:-places]}.{digits[-places:]}"

    def __repr__(self) -> str:
        """Return the amount with its unit."""
        return f"ε={self}"

    def __format__(self, spec: str) -> str:
        """Format as a float if a format is given."""
        return format(float(self), spec) if spec else str(self)

    def __reduce__(self) -> tuple[type[Epsilon], tuple[str]]:
        """Pickle by the exact fraction."""
        return type(self), (f"{self.numerator}/{self.denominator}",)


def _typed(other: Any) -> Any:
    if isinstance(other, (float, np.floating)) and math.isfinite(other):
        return Fraction(str(other))
    return other


def as_epsilon(value: object, parameter: str = "epsilon") -> Epsilon:
    """Convert a privacy parameter exactly, or refuse it.

    Parameters
    ----------
    value : int, float, str, Decimal, Fraction or NumPy scalar
        Floats mean what they print: ``0.1`` is 1/10.  Strings may be decimals or fractions (``"1/3"``).
    parameter : str
        The name for the error.

    Returns
    -------
    Epsilon
        Between ``EPSILON_MIN`` and ``EPSILON_MAX``.

    Raises
    ------
    ParameterTypeError
        For anything that is no real number, booleans among them.
    ParameterError
        For numbers that are not finite, not positive, out of range or absurdly long.
    """
    if type(value) in {float, int, str}:
        return _plain_epsilon(value, parameter)
    return _checked(_as_fraction(value, parameter), parameter)


@lru_cache(maxsize=1024, typed=True)
def _plain_epsilon(value: object, parameter: str) -> Epsilon:
    return _checked(_as_fraction(value, parameter), parameter)


def _checked(number: Fraction, parameter: str) -> Epsilon:
    if not EPSILON_MIN <= number <= EPSILON_MAX:
        raise ParameterError.number(parameter, f"between {float(EPSILON_MIN):g} and {float(EPSILON_MAX):,.0f}")
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MAX_BITS:
        raise ParameterError.number(parameter, f"a fraction of at most {_MAX_BITS} bits above and below the line")
    return Epsilon(number)


def _as_fraction(value: object, parameter: str) -> Fraction:
    if isinstance(value, (bool, np.bool_)):
        raise ParameterTypeError.number_type(parameter, type(value))
    if isinstance(value, (int, np.integer)) and getattr(value, "dtype", np.dtype(int)).kind != "m":
        return Fraction(int(value))
    if isinstance(value, Fraction):
        return Fraction(value.numerator, value.denominator)
    if isinstance(value, (float, np.floating, Decimal, str)):
        text = str(value).strip()
        if not _NUMBER.fullmatch(text):
            raise ParameterError.number(parameter, "a finite, positive number, such as 0.1 or '1/3'")
        try:
            return Fraction(text)
        except ZeroDivisionError:
            pass
        raise ParameterError.number(parameter, "a finite, positive number, such as 0.1 or '1/3'")
    raise ParameterTypeError.number_type(parameter, type(value))


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
    mechanism: str
    scale: float
    margin: float
    private: bool


class Accountant:
    """Pure ε-differential privacy: the sum of all charges stays within the budget.

    The plain sum is a valid stopping rule for queries chosen one after the other with any ε [1]_.

    Parameters
    ----------
    budget : Epsilon
        What may be spent in all.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman, S. Vadhan. Privacy odometers and filters: pay-as-you-go composition.
       NeurIPS 2016, section 3 (basic composition holds for adaptively chosen parameters).
    """

    def __init__(self, budget: Epsilon) -> None:
        self.budget = budget
        self._limit = Fraction(budget)
        self._spent = Fraction(0)
        self._entries: list[Entry] = []
        self._process = os.getpid()
        self._closed = False

    @property
    def spent(self) -> Epsilon:
        """The exact sum of all charges."""
        return Epsilon(self._spent)

    @property
    def remaining(self) -> Epsilon:
        """The exact rest."""
        return Epsilon(self.budget - self._spent)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All charges, oldest first."""
        with LOCK:
            return tuple(self._entries)

    def close(self) -> None:
        """Refuse every later charge."""
        with LOCK:
            self._closed = True

    def check_open(self) -> None:
        """Raise ``SessionClosed`` if no charge can be accepted any more."""
        if self._process != os.getpid():
            raise SessionClosed.forked()
        if self._closed:
            raise SessionClosed.closed()

    def charge(self, epsilon: Epsilon, *, frame: str, query: str, mechanism: str, scale: float, margin: float, private: bool) -> Entry:
        """Charge, or refuse and leave everything as it was.

        Raises
        ------
        BudgetExhausted
            When more is asked than is left.
        SessionClosed
            After ``close()``, and in a forked process.
        """
        with LOCK:
            self.check_open()
            spent = self._spent + epsilon  # a plain Fraction, so that the next line compares exactly
            if spent > self._limit:
                raise BudgetExhausted.refuse(query, epsilon, self.remaining, self.budget)
            # An interrupt between the two lines over-counts, which is the harmless side.
            self._spent = spent
            entry = Entry(len(self._entries) + 1, datetime.now(UTC), frame, query, epsilon, mechanism, scale, margin, private)
            self._entries.append(entry)
            return entry
