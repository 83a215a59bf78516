"""Directed arithmetic for privacy curves: parameters become exact fractions, results are rounded to the side on which the claim stays true.

The decimal functions carry 60 digits and widen by ``SLACK``, which is more than their rounding can amount to, so that only the last bit of the
float is given away.  The float function widens by ``FLOAT_SLACK``.  Nothing here may return the nearest value.
``pandas_dp.composition`` says what is computed, and by which theorem.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pandas_dp.errors import ParameterError, ParameterTypeError
from pandas_dp.quantities.budget import as_fraction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "advanced",
    "as_count",
    "as_delta",
    "as_list",
    "as_rho",
    "as_size",
    "as_target",
    "concentrated",
    "down",
    "edge",
    "gaussian",
    "log_inverse",
    "pure",
    "response_delta",
    "response_epsilon",
    "up",
]

COUNT_MAX = 10**6  # a second of response_epsilon(); SLACK counts on it
DELTA_MIN = Fraction(1, 10**300)
RHO_MAX = Fraction(10**12)
SIZE_MAX = Fraction(10**100)

SLACK = Decimal("1e-45")  # 60 digits lose fewer than 15 in 10**6 steps, and in exp of arguments up to 10**6
FLOAT_SLACK = 1e-14  # 90 half units; the conversion needs fewer than 20 of them, library functions counted double
TOLERANCE = 1e-13

_TRAPS = [InvalidOperation, DivisionByZero, Overflow]
_DIGITS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=_TRAPS)  # not the caller's, which may round, overflow or trap otherwise
_LONG = Context(prec=700, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=_TRAPS)  # for 1 - δ with δ from 1e-300, and what cancellation leaves of it
_WIDER, _NARROWER = 1 + SLACK, Decimal(1) - SLACK
_TINY = Decimal("1e-400")  # becomes the smallest float: no curve here is 0 where it is positive
_ROOT_2PI = Decimal("2.50662827463100050241576528481104525300698674060993831662992")
_SERIES_END = 6  # up to here the series loses at most 9 digits; beyond, 120 steps of the fraction have more than 60
_HALF = Fraction(1, 2)


def as_delta(value: object, parameter: str = "delta", *, zero: bool = False) -> Fraction:
    """Convert a probability exactly, or refuse it."""
    number = as_fraction(value, parameter)
    if not (DELTA_MIN <= number < 1 or (zero and number == 0)):
        raise ParameterError.number(parameter, f"at least {float(DELTA_MIN):g}{', or 0,' if zero else ''} and less than 1")
    return number


def as_rho(value: object, parameter: str = "rho") -> Fraction:
    """Convert a ρ exactly, or refuse it."""
    return _between(value, parameter, Fraction(0), RHO_MAX)


def as_target(value: object) -> Fraction:
    """Convert the ε of a composition exactly, or refuse it: unlike a release's it may be 0, or large."""
    return _between(value, "target_epsilon", Fraction(0), RHO_MAX)


def as_size(value: object, parameter: str) -> Fraction:
    """Convert a standard deviation or a sensitivity exactly, or refuse it."""
    return _between(value, parameter, 1 / SIZE_MAX, SIZE_MAX)


def as_count(value: object) -> int:
    """Convert a number of releases, or refuse it."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ParameterTypeError.wrong_kind("k", "an integer", type(value))
    if not 1 <= value <= COUNT_MAX:
        raise ParameterError.number("k", f"between 1 and {COUNT_MAX:,}")
    return int(value)


def as_list(values: object, parameter: str) -> list[object]:
    """List what is to be added up, or refuse it: the characters of a string are not meant."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ParameterTypeError.wrong_kind(parameter, "a list of numbers", type(values))
    return list(values)


def _between(value: object, parameter: str, least: Fraction, most: Fraction) -> Fraction:
    number = as_fraction(value, parameter)
    if not least <= number <= most:
        raise ParameterError.number(parameter, f"between {float(least):g} and {float(most):g}")
    return number


def up(number: Fraction | Decimal) -> float:
    """Return the first float that is not below, whether it is read as a double or as it prints."""
    kind, result = type(number), float(number)
    while kind(result) < number or kind(str(result)) < number:
        result = math.nextafter(result, math.inf)
    return result


def down(number: Fraction) -> float:
    """Return the first float that is not above, likewise."""
    return -up(-number)


def edge(safe: Callable[[float], bool], direction: float) -> float:
    """Return a safe number next to the unsafe ones: the least if ``direction`` is 2, the greatest if it is 1/2.

    What is returned has passed ``safe`` itself; no slope or starting point is trusted.
    """
    good = 1.0
    while not safe(good):
        good *= direction
    bad = good / direction
    while safe(bad):
        good, bad = bad, bad / direction
    while abs(good - bad) > TOLERANCE * good:
        middle = (good + bad) / 2
        if safe(middle):
            good = middle
        else:
            bad = middle
    return good


def advanced(epsilon: Fraction, k: int, slack: Fraction) -> float | None:
    """Bound ε√(2k ln(1/δ')) + kε(e^ε - 1) from above; None if kε is less."""
    with localcontext(_DIGITS):
        e = _decimal(epsilon)
        bound = (e * (-2 * k * _decimal(slack).ln()).sqrt() + k * e * (e.exp() - 1)) * _WIDER
        return up(bound) if bound < k * e else None


def response_epsilon(epsilon: Fraction, k: int, delta: Fraction, delta_each: Fraction) -> float | None:
    """Invert ``response_delta`` from above; None if no ε' reaches ``delta``."""
    failures = _failures(delta_each, k)
    with localcontext(_LONG):
        rest = (_decimal(delta) - failures) / (1 - failures)
    if rest <= 0:
        # Rounding alone may have made it negative; kδ₀ is never less than the failures.
        return up(k * epsilon) if k * delta_each <= delta else None
    with localcontext(_DIGITS):
        rest *= _NARROWER
        for i, above, below in _responses(epsilon, k):  # pragma: no branch  (δ' is reached, or ε' = 0 is)
            # δ at this loss is taken at its highest, so that the interval is never left too late, and ε' never falls below the loss.
            if 2 * i >= k or above * _WIDER - below * _NARROWER >= rest:
                break
        loss = _decimal((k - 2 * i) * epsilon)
        ratio = (above * _WIDER - rest) / (below * _NARROWER)
        bound = loss + ratio.ln() if ratio > 1 else loss
        return min(up(max(bound, Decimal(0)) * _WIDER), up(k * epsilon))


def response_delta(epsilon: Fraction, k: int, target: Fraction, delta_each: Fraction) -> float:
    """Bound δ(ε') of k randomized responses, each of which fails with probability ``delta_each``, from above."""
    failures = _failures(delta_each, k)
    stop = math.ceil((k - target / epsilon) / 2)
    with localcontext(_DIGITS):
        excess = Decimal(0)
        if stop > 0:
            i, above, below = next(step for step in _responses(epsilon, k) if step[0] == stop)
            growth = _decimal(target - (k - 2 * i) * epsilon).exp()
            excess = max(above * _WIDER - growth * below * _NARROWER, _TINY)
        return min(up((failures + (1 - failures) * excess) * _WIDER), 1.0)


def _responses(epsilon: Fraction, k: int) -> Iterator[tuple[int, Decimal, Decimal]]:
    """Yield i, the probability A of a loss above (k - 2i)ε, and e^((k - 2i)ε) times its probability B under the neighbour.

    Between the losses (k - 2i)ε and (k - 2i + 2)ε the hockey-stick divergence is A - e^ε' B, with the A and B of i.
    """
    q = (-_decimal(epsilon)).exp()
    square, mass = q * q, (1 + q) ** -k  # of i wrong responses
    above = below = Decimal(0)
    for i in range(k + 1):
        yield i, above, below
        above += mass
        below = square * (below + mass)
        mass = mass * q * (k - i) / (i + 1)


def _failures(delta_each: Fraction, k: int) -> Decimal:
    with localcontext(_LONG):
        return 1 - (1 - _decimal(delta_each)) ** k


def pure(epsilon: Fraction, *, laplace: bool) -> float:
    """Bound ε - 1 + e^-ε, or ε tanh(ε/2), from above.

    Why they are enough, with y = ε/2, s = 2α - 1 ≥ 1, t = sy, and α(α - 1) = (s² - 1)/4.  For randomized response, the worst ε-private release,
    (α - 1)D_α = ln(cosh(sy)/cosh(y)), whose derivative by s is y tanh(sy) ≤ sy tanh(y); integrate from 1.  For Laplace noise it is
    ln(cosh(sy) + sinh(sy)/s) - y, with derivative ρ/2 at s = 1; and derivative/s falls, because s²t(sinh(2t)/2 - t) +
    s(t cosh(2t) + 2t - 3 sinh(2t)/2) + t² + t sinh(2t)/2 - 2 sinh(t)², to which its slope's sign comes down, has no negative term as a power series.
    """
    with localcontext(_DIGITS):
        e = _decimal(epsilon)
        decay = (-e).exp()
        rho = e - 1 + decay if laplace else e * (1 - decay) / (1 + decay)
        return up(rho + e * SLACK)


def log_inverse(delta: Fraction) -> float:
    """Return ln(1/δ), to two half units also where δ is near 1."""
    return max(-math.log1p(-float(1 - delta)) if delta > _HALF else -math.log(delta), 1e-300)


def concentrated(rho: float, log_inverse: float) -> float:
    """Bound the ε of ρ-zCDP from above: αρ + ln(1 - 1/α) + (ln(1/δ) - ln α)/(α - 1), whatever the α.

    The best a = α - 1 solves a²ρ + ln(1 + a) = ln(1/δ).  The left side is convex in ln a, so Newton's method descends to it from a start that
    makes one of the two terms equal to the right side.
    """
    if not rho:
        return 0.0
    a = min(math.sqrt(log_inverse / rho), math.expm1(log_inverse))
    for _ in range(40):
        square = a * rho * a
        step = (square + math.log1p(a) - log_inverse) / (2 * square + a / (1 + a))
        a *= math.exp(-step)
        if step < 1e-9:  # noqa: PLR2004  (the bound is flat here: its error is the square)
            break
    first, second, third = (1 + a) * rho, math.log1p(1 / a), math.log1p(a)
    size = first + second + (log_inverse + third) / a
    return max(first - second + (log_inverse - third) / a + FLOAT_SLACK * size, 0.0)


def gaussian(ratio: Fraction, epsilon: Fraction) -> float:
    """Bound δ of Gaussian noise with σ = ``ratio`` times the sensitivity from above."""
    with localcontext(_DIGITS):
        m, e = _decimal(1 / ratio), _decimal(epsilon)
        first = _tail(e / m - m / 2)
        excess = first * _WIDER - e.exp() * _tail(e / m + m / 2) * _NARROWER
        return min(up(max(excess, _TINY)), 1.0)


def _tail(x: Decimal) -> Decimal:
    """Return the normal distribution's 1 - Φ(x), to 50 digits."""
    if x < 0:
        return 1 - _tail(-x)
    density = (-x * x / 2).exp() / _ROOT_2PI
    if x > _SERIES_END:
        fraction = x
        for n in range(120, 0, -1):
            fraction = x + n / fraction
        return density / fraction
    total, term, n = x, x, 1
    while term > total * Decimal("1e-62"):
        n += 2
        term = term * x * x / n
        total += term
    return Decimal("0.5") - density * total


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
