"""Short decimals a little to the safe side, for roots and conversions that are then read by people."""

from __future__ import annotations

from fractions import Fraction
from math import floor, isqrt, log10, sqrt

__all__ = ["root_down", "root_up", "rounded_down", "rounded_up"]

_DIGITS = 9


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
