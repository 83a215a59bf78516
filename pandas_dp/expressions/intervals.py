"""Interval arithmetic, rounded outwards: the bounds of an expression from those of its columns.

Every rule takes the bounds of the operands and returns bounds that no result leaves while the operands stay within theirs, *as computed in
doubles*: ends are found exactly, as fractions, and rounded away from the interval only where a double cannot hold them; for functions that
libraries compute to a few last digits (``exp``, ``log``, ``log1p``, powers above 2) the ends are moved out by several of these.
Infinite bounds never come out.  Reads no values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Interval", "Range", "Unknown", "derive", "enclose", "year_range"]


@dataclass(frozen=True, slots=True)
class Interval:
    """Finite bounds, both inclusive."""

    low: float
    high: float

    def point(self) -> bool:
        """Return whether both ends are the same number."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Unknown:
    """No bounds can be derived.

    Attributes
    ----------
    reason : str
        Why, naming the part of the expression.
    """

    reason: str


Range = Interval | Unknown


class _NoBoundsError(Exception):
    """A rule finds no bounds: because of this operation, or because an operand has none (``inherited``)."""

    def __init__(self, reason: str, *, inherited: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.inherited = inherited


def derive(op: str, part: str, *operands: Range, value: Any = None) -> Range:
    """Return the bounds of an operation.

    Parameters
    ----------
    op : str
        The operator or function; see the table below.
    part : str
        How the operation is written, to be named where bounds are unknown.
    *operands : Range
        The bounds of the operands.
    value : object
        The constant of ``power``, ``round`` and ``clip``.
    """
    rule = _RULES[op]
    try:
        return rule(*operands) if value is None else rule(*operands, value)
    except _NoBoundsError as found:
        return Unknown(found.reason if found.inherited else f"{part} {found.reason}")


def enclose(low: Any, high: Any) -> Interval | None:
    """Return the smallest interval of doubles around two numbers, or None where they are no bounds."""
    try:
        low, high = (end.item() if isinstance(end, np.generic) else end for end in (low, high))
        return _outward(Fraction(low), Fraction(high)) if low <= high else None
    except (TypeError, ValueError, ArithmeticError, _NoBoundsError):
        return None


def year_range(bounds: Any) -> Interval | None:
    """Return the calendar years of two timestamps, a year more where a time zone can move them across New Year."""
    try:
        low, high = bounds
        if low.tzinfo is None and high.tzinfo is None:
            return enclose(low.year, high.year)
        return enclose(low.year - (low.day_of_year <= _NEAR), high.year + (high.day_of_year > 365 - _NEAR))
    except (TypeError, ValueError, AttributeError):
        return None


_NEAR = 2  # days: no two zones are further apart
_ULPS = 8  # more than any library's error in exp, log, log1p and pow
_TINY = 1e-300  # near here a library may flush a result to zero
_FINE = 2.0**51  # beyond, the quotient of a floor division is rounded


def _known(operand: Range) -> tuple[Fraction, Fraction]:
    if isinstance(operand, Unknown):
        raise _NoBoundsError(operand.reason, inherited=True)
    return Fraction(operand.low), Fraction(operand.high)


def _outward(low: Fraction, high: Fraction, ulps: int = 0) -> Interval:
    """Round two exact ends to doubles that enclose them, and further out by a number of last digits."""
    try:
        ends = [float(low), float(high)]
    except OverflowError:
        raise _NoBoundsError("may overflow") from None
    if Fraction(ends[0]) > low:
        ends[0] = math.nextafter(ends[0], -math.inf)
    if Fraction(ends[1]) < high:
        ends[1] = math.nextafter(ends[1], math.inf)
    return _checked(*_widened(ends[0], ends[1], ulps))


def _widened(low: float, high: float, ulps: int) -> tuple[float, float]:
    """Move ends out; a zero stays, since no library errs there, and what is all but zero is moved past it."""
    if ulps:
        tiny_low, tiny_high = 0.0 < low < _TINY, -_TINY < high < 0.0
        low = 0.0 if tiny_low else low and low - ulps * math.ulp(low)
        high = 0.0 if tiny_high else high and high + ulps * math.ulp(high)
    return low, high


def _checked(low: float, high: float) -> Interval:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise _NoBoundsError("may overflow")
    return Interval(low + 0.0, high + 0.0)  # no negative zeros


def _add(left: Range, right: Range) -> Interval:
    (a, b), (c, d) = _known(left), _known(right)
    return _outward(a + c, b + d)


def _subtract(left: Range, right: Range) -> Interval:
    (a, b), (c, d) = _known(left), _known(right)
    return _outward(a - d, b - c)


def _multiply(left: Range, right: Range) -> Interval:
    (a, b), (c, d) = _known(left), _known(right)
    products = (a * c, a * d, b * c, b * d)
    return _outward(min(products), max(products))


def _quotients(left: Range, right: Range) -> tuple[Fraction, ...]:
    (a, b), (c, d) = _known(left), _known(right)
    if c <= 0 <= d:
        raise _NoBoundsError("may divide by 0")
    return (a / c, a / d, b / c, b / d)


def _divide(left: Range, right: Range) -> Interval:
    quotients = _quotients(left, right)
    return _outward(min(quotients), max(quotients))


def _divisor(right: Range) -> float:
    if isinstance(right, Unknown) or not right.point():
        raise _NoBoundsError("divides by something that is not constant")
    if right.low == 0:
        raise _NoBoundsError("divides by 0")
    return right.low


def _floor_divide(left: Range, right: Range) -> Interval:
    _divisor(right)
    quotients = _quotients(left, right)
    low, high = math.floor(min(quotients)), math.floor(max(quotients))
    return _outward(Fraction(low), Fraction(high), _ULPS if max(abs(low), abs(high)) > _FINE else 0)


def _remainder(left: Range, right: Range) -> Interval:
    divisor = _divisor(right)
    if isinstance(left, Interval) and 0 <= left.low <= left.high < divisor:
        return left
    return _checked(min(divisor, 0.0), max(divisor, 0.0))


def _negate(operand: Range) -> Interval:
    low, high = _known(operand)
    return _outward(-high, -low)


def _absolute(operand: Range) -> Interval:
    low, high = _known(operand)
    return _outward(max(low, -high, Fraction(0)), max(-low, high))


def _power(operand: Range, exponent: float) -> Interval:
    if exponent == 0.5:  # noqa: PLR2004  (the one fraction that the grammar has)
        return _sqrt(operand)
    n = int(exponent)
    if n == 0:
        return Interval(1.0, 1.0)
    low, high = _known(_absolute(operand) if n % 2 == 0 else operand)
    return _outward(low**n, high**n, _ULPS if n > 2 else 0)  # noqa: PLR2004  (a square is one multiplication)


def _sqrt(operand: Range) -> Interval:
    low, high = _known(operand)
    if high < 0:
        raise _NoBoundsError("is always missing: the root of negative numbers")
    return _checked(math.sqrt(max(low, Fraction(0))), math.sqrt(high))


def _log(operand: Range) -> Interval:
    low, high = _known(operand)
    if low <= 0:
        raise _NoBoundsError("takes the logarithm of what may be 0 or less")
    return _checked(*_widened(math.log(low), math.log(high), _ULPS))


def _log1p(operand: Range) -> Interval:
    low, high = _known(operand)
    if low <= -1:
        raise _NoBoundsError("takes the logarithm of what may be 0 or less")
    return _checked(*_widened(math.log1p(low), math.log1p(high), _ULPS))


def _exp(operand: Range) -> Interval:
    low, high = _known(operand)
    try:
        return _checked(*_widened(math.exp(low), math.exp(high) or math.ulp(0.0), _ULPS))
    except OverflowError:
        raise _NoBoundsError("may overflow") from None


def _floor(operand: Range) -> Interval:
    low, high = _known(operand)
    return _outward(Fraction(math.floor(low)), Fraction(math.floor(high)))


def _round(operand: Range, digits: int) -> Interval:
    """Apply the very same function to the ends: each of its steps is monotone."""
    low, high = _known(operand)
    with np.errstate(all="ignore"):
        return _checked(float(np.round(float(low), digits)), float(np.round(float(high), digits)))


def _clip(operand: Range, limits: tuple[float, float]) -> Interval:
    low, high = limits
    if isinstance(operand, Unknown):
        return Interval(low, high)
    return Interval(min(max(operand.low, low), high), max(min(operand.high, high), low))


def _hull(condition: Range, left: Range, right: Range) -> Interval:
    del condition
    (a, b), (c, d) = _known(left), _known(right)
    return _outward(min(a, c), max(b, d))


_RULES: dict[str, Callable[..., Interval]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "//": _floor_divide,
    "%": _remainder,
    "neg": _negate,
    "pos": lambda operand: _outward(*_known(operand)),
    "power": _power,
    "abs": _absolute,
    "log": _log,
    "log1p": _log1p,
    "exp": _exp,
    "sqrt": _sqrt,
    "floor": _floor,
    "round": _round,
    "clip": _clip,
    "where": _hull,
    "month": lambda _: Interval(1.0, 12.0),
    "day": lambda _: Interval(1.0, 31.0),
    "hour": lambda _: Interval(0.0, 23.0),
    "dayofweek": lambda _: Interval(0.0, 6.0),
}
