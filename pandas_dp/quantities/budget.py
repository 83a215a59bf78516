"""Privacy parameters as exact fractions: what the user typed.

``0.1`` is one tenth, not the nearest double, and ten tenths fill 1.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from operator import index
from typing import Any

import numpy as np

from pandas_dp.errors import ParameterError, ParameterTypeError

__all__ = [
    "DELTA_MIN",
    "EPSILON_MAX",
    "EPSILON_MIN",
    "RHO_MAX",
    "RHO_MIN",
    "Amount",
    "Delta",
    "Epsilon",
    "Rho",
    "as_delta",
    "as_epsilon",
    "as_fraction",
    "as_real",
    "as_rho",
    "checked_count",
    "checked_flag",
]

EPSILON_MIN = Fraction(1, 10**12)
EPSILON_MAX = Fraction(10**6)
DELTA_MIN = Fraction(1, 10**60)
RHO_MIN = EPSILON_MIN**2 / 2
RHO_MAX = EPSILON_MAX**2 / 2
_MAX_BITS = 256  # of numerator and denominator: exact sums of longer ones would grow without use
_SHOWN_BITS = 1024
_PLACES = 30  # of a decimal, beyond which the fraction is shorter
_NUMBER = re.compile(r"[+]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?|\d{1,80}/\d{1,80}", re.ASCII)


class Amount(Fraction):
    """An exact privacy parameter: a ``Fraction`` that prints as a decimal and compares with floats as typed."""

    __slots__ = ()
    symbol = ""

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
        """Return a decimal if it is exact and short, else the fraction; of a sum of many different fractions about what it is."""
        short = format(float(self), ".15g")
        if Fraction(short) == self:
            return short
        if self.denominator.bit_length() > _SHOWN_BITS:
            return f"about {short}"
        twos = (self.denominator & -self.denominator).bit_length() - 1
        fives = round(math.log(self.denominator >> twos, 5))
        places = max(twos, fives)
        if self.denominator != 2**twos * 5**fives or places > _PLACES:
            return super().__str__()
        digits = str(self.numerator * 10**places // self.denominator).rjust(places + 1, "0")
        return f"{digits[:-places]}.{digits[-places:]}"

    def __repr__(self) -> str:
        """Return the amount with its unit."""
        return f"{self.symbol}={self}"

    def __format__(self, spec: str) -> str:
        """Format as a float if a format is given."""
        return format(float(self), spec) if spec else str(self)

    def __reduce__(self) -> tuple[type[Amount], tuple[int, int]]:
        """Pickle by the exact fraction."""
        return type(self), (self.numerator, self.denominator)


class Epsilon(Amount):
    """An exact amount of ε.

    Examples
    --------
    >>> from pandas_dp.quantities.budget import Epsilon
    >>> Epsilon("0.1") * 3 == Epsilon("0.3")
    True
    >>> Epsilon("0.2"), str(Epsilon(1) / 4), Epsilon(1, 3)
    (ε=0.2, '1/4', ε=1/3)
    >>> Epsilon("0.1") == 0.1
    True
    """

    __slots__ = ()
    symbol = "ε"


class Delta(Amount):
    """An exact amount of δ."""

    __slots__ = ()
    symbol = "δ"


class Rho(Amount):
    """An exact amount of ρ, of zero-concentrated differential privacy."""

    __slots__ = ()
    symbol = "ρ"


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
    return _checked(as_fraction(value, parameter), parameter)


def as_delta(value: object, parameter: str = "delta") -> Delta:
    """Convert a δ exactly, or refuse it; it may be of the types that :func:`as_epsilon` takes, from ``DELTA_MIN`` to below 1."""
    number = as_fraction(value, parameter)
    if not DELTA_MIN <= number < 1:
        raise ParameterError.number(parameter, f"between {float(DELTA_MIN):g} and 1, and far below one over the number of people")
    return Delta(_short(number, parameter))


def as_rho(value: object, parameter: str = "rho") -> Rho:
    """Convert a ρ exactly, or refuse it; it may be of the types that :func:`as_epsilon` takes, between ``RHO_MIN`` and ``RHO_MAX``."""
    number = as_fraction(value, parameter)
    if not RHO_MIN <= number <= RHO_MAX:
        raise ParameterError.number(parameter, f"between {float(RHO_MIN):g} and {float(RHO_MAX):,.0f}")
    return Rho(_short(number, parameter))


@lru_cache(maxsize=1024, typed=True)
def _plain_epsilon(value: object, parameter: str) -> Epsilon:
    return _checked(as_fraction(value, parameter), parameter)


def _checked(number: Fraction, parameter: str) -> Epsilon:
    if not EPSILON_MIN <= number <= EPSILON_MAX:
        raise ParameterError.number(parameter, f"between {float(EPSILON_MIN):g} and {float(EPSILON_MAX):,.0f}")
    return Epsilon(_short(number, parameter))


def _short(number: Fraction, parameter: str) -> Fraction:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MAX_BITS:
        raise ParameterError.number(parameter, f"a fraction of at most {_MAX_BITS} bits above and below the line")
    return number


def as_fraction(value: object, parameter: str) -> Fraction:
    """Convert a positive number exactly, or refuse it."""
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


def as_real(value: object, parameter: str) -> Fraction:
    """Convert a finite number of either sign exactly, or refuse it; floats mean what they print."""
    text = str(value).strip() if isinstance(value, (float, np.floating, Decimal, str)) else None
    if text is None:
        return as_fraction(value, parameter)
    size = text.removeprefix("-")
    if _NUMBER.fullmatch(size) and (size == text or size[0] != "+"):
        with suppress(ZeroDivisionError):
            return Fraction(text)
    raise ParameterError.number(parameter, "a finite number, such as -2.5 or '1/3'")


def checked_count(parameter: str, value: object) -> int:
    """Return a parameter that is a whole number of at least 1, or refuse it."""
    number: int | None = None
    with suppress(Exception):  # whatever an object of the caller's raises
        number = None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    if number is None:
        raise ParameterTypeError.wrong_kind(parameter, "a whole number", type(value))
    if not 1 <= number <= 10**9:
        raise ParameterError.number(parameter, "a whole number of at least 1")
    return number


def checked_flag(parameter: str, value: object) -> bool:
    """Return a parameter that is True or False, or refuse it."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterTypeError.wrong_kind(parameter, "True or False", type(value))
    return bool(value)
