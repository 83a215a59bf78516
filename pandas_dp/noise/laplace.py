"""Exact noise on integers: the discrete Laplace mechanism.

Everything here is integer arithmetic on public parameters and random bits; no float takes part in
a draw, and this module never sees pandas or data.  Read it when auditing that the noise has the
distribution that :mod:`pandas_dp.release.path` claims.

How a draw is made
------------------
With ``q = exp(-1/scale)`` the discrete Laplace distribution gives ``k`` the probability
``(1-q)/(1+q) * q**abs(k)``.  A draw decides three independent things:

* whether it differs from zero, with probability ``2q/(1+q)``;
* its sign, a fair bit;
* ``abs(k) - 1``, which is geometric with ratio ``q``.  Its digits in a mixed radix are *independent*, because
  ``q**x`` is the product of ``q**(digit * weight)`` over the digits of ``x``; the digits below ``2**b`` have finitely
  many values each and the rest is geometric again, with ratio ``q**(2**b)``.

Every decision compares a uniform number with thresholds whose first 64 binary digits are computed
with proven integer bounds.  A uniform number is only known as far as needed: when its known digits
equal a threshold's, both are extended (probability ``2**-64`` each time), so the result is exact and not
merely close.  The thresholds are irrational (``exp`` of a nonzero rational), so extending ends.

One draw reads a fixed number of random bits and takes a fixed number of comparisons, so its time tells little about it.
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_right
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.noise.entropy import random_bytes
from pandas_dp.noise.exact import WORD, bernoulli, bernoulli_rest, exp_bounds, floor_bits

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    Ints = NDArray[Any]  # int64, or Python ints where they might not fit

__all__ = ["DiscreteLaplace", "discrete_laplace"]

_GUARD = 32
_PREFIX = 16  # bits of a uniform number that a table look-up decides by, nearly always
_DIGIT = 8  # bits of one digit in the vectorised path
_VECTOR = 1000  # draws from which building the tables pays
_BLOCK = 1 << 15
_UNDECIDED = 0xFFFF


@lru_cache(maxsize=256)
def discrete_laplace(scale: Fraction) -> DiscreteLaplace:
    """Return the sampler for a scale; samplers depend on public numbers only and are kept."""
    return DiscreteLaplace(scale)


class DiscreteLaplace:
    """Discrete Laplace noise of a rational scale, on the integers.

    Parameters
    ----------
    scale : Fraction
        ``sensitivity / epsilon``, positive.  Used exactly, never rounded.

    References
    ----------
    .. [1] A. Ghosh, T. Roughgarden, M. Sundararajan. Universally utility-maximizing privacy mechanisms. STOC 2009.
    .. [2] C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020
       (the distribution and its exact sampling; the sampler here is another one).
    """

    def __init__(self, scale: Fraction) -> None:
        if scale <= 0:
            msg = "scale must be positive"
            raise ValueError(msg)
        self.scale = scale
        self.rate = 1 / scale
        # Digits are drawn one bit at a time up to 2**bits >= scale * 64 ln 2: beyond, one word decides with a
        # threshold of zero, so that only a word of zero needs a second look.
        self.bits = max(0, (math.ceil(scale * 45) - 1).bit_length())
        self._thresholds = self._first_words()
        self._layout = struct.Struct(f"<{self.bits + 3}Q")
        self._tables: _Tables | None = None
        self._half_widths: dict[float, int] = {}

    def _first_words(self) -> list[int]:
        """Return the first 64 binary digits of each bit's probability, lowest bit first, then of "not zero"."""
        precision = WORD + _GUARD + self.bits + 16
        low, high = exp_bounds(self.rate, precision)
        one = 1 << precision
        slack = high - low  # the power of q lies between `low` and `low` + `slack`
        words = []
        nonzero = _sure((low << (WORD + _GUARD + 1)) // (one + low), (slack >> (self.bits + 15)) + 2)
        for j in range(self.bits):
            # q / (1 + q) grows more slowly than q, so that it is low by less than `slack`, and 1 for the division.
            word = _sure((low << (WORD + _GUARD)) // (one + low), (slack >> (self.bits + 16)) + 2)
            words.append(floor_bits(self._bit(j), WORD) if word is None else word)
            low = low * low >> precision
            slack = 2 * slack + 1
        words.append(floor_bits(_nonzero(self.rate), WORD) if nonzero is None else nonzero)
        return words

    def _bit(self, j: int) -> Callable[[int], tuple[int, int]]:
        return partial(_logistic, self.rate * 2**j)

    def draw(self) -> int:
        """Draw one integer."""
        *uniforms, tail, flip = self._layout.unpack(random_bytes(self._layout.size))
        magnitude = 0
        weight = 1
        for uniform, threshold in zip(uniforms, self._thresholds, strict=True):
            if uniform < threshold or (uniform == threshold and self._resolve(weight)):
                magnitude += weight
            weight += weight
        # The last comparison was "not zero": its weight is 2**bits.
        nonzero, magnitude = divmod(magnitude, 1 << self.bits)
        if tail == 0:
            magnitude += self._beyond()
        if not nonzero:
            return 0
        return magnitude + 1 if flip & 1 else -magnitude - 1

    def _resolve(self, weight: int) -> bool:
        """Finish a comparison whose first word was a tie."""
        j = weight.bit_length() - 1
        return bernoulli_rest(_nonzero(self.rate) if j == self.bits else self._bit(j))

    def _beyond(self) -> int:
        """Return the multiple of 2**bits that a tail word of zero may stand for."""
        count = 0
        probability = partial(exp_bounds, self.rate * 2**self.bits)
        if bernoulli_rest(probability):
            count = 1
            while bernoulli(probability):
                count += 1
        return count << self.bits

    def draws(self, count: int) -> Ints:
        """Draw ``count`` integers.

        Returns
        -------
        ndarray of shape (count,)
            ``int64``; of Python ints should one not fit (scales above ``2**52``, or an outlier of
            probability below ``1e-100``).
        """
        if count < _VECTOR or self.scale.numerator > self.scale.denominator << 52:
            drawn = [self.draw() for _ in range(count)]
            fits = all(abs(value) < 1 << 62 for value in drawn)
            return np.array(drawn, dtype=np.int64 if fits else object)
        if self._tables is None:
            self._tables = _Tables(self.rate)
        blocks = [self._tables.draws(min(_BLOCK, count - start)) for start in range(0, count, _BLOCK)]
        return np.concatenate(blocks)

    def tail(self, bound: float) -> float:
        """Return the probability of an absolute value greater than ``bound``, as a float."""
        rate = float(self.rate)
        steps = math.floor(bound) + 1
        if steps <= 0:
            return 1.0
        return 2 * math.exp(-rate * steps) / (1 + math.exp(-rate))

    def half_width(self, level: float) -> int:
        """Return the smallest integer ``k`` with ``P(abs(noise) <= k) >= level``."""
        if level not in self._half_widths:
            self._half_widths[level] = self._half_width(level)
        return self._half_widths[level]

    def _half_width(self, level: float) -> int:
        alpha, rate = 1 - level, float(self.rate)
        guess = max(0, math.ceil(math.log(2 / ((1 + math.exp(-rate)) * alpha)) / rate) - 1)
        step = 1 + (guess >> 45)  # the formula is good to about as many digits as a double has
        low, high = guess - 1, guess
        while low >= 0 and self.tail(low) <= alpha:
            low, step = low - step, 2 * step
        while self.tail(high) > alpha:
            high, step = high + step, 2 * step
        low = max(low, -1)
        while high - low > 1:  # by bisection: at large scales the tail, a float, is the same for many neighbours
            middle = (low + high) // 2
            low, high = (middle, high) if self.tail(middle) > alpha else (low, middle)
        return high


class _Tables:
    """Look-up tables for many draws of one scale: digits of up to 8 bits, and the geometric rest."""

    def __init__(self, rate: Fraction) -> None:
        self.rate = rate
        bits = max(0, (math.ceil(1 / rate) - 1).bit_length())
        self.widths = [min(_DIGIT, bits - start) for start in range(0, bits, _DIGIT)]
        self.offsets = list(range(0, bits, _DIGIT))
        self.bits = bits
        self.zero = _Table(self._nonzero_floor(WORD), self._nonzero_floor)
        self.digits = [
            _Table(self._digit_floors(offset, width, WORD), partial(self._digit_floors, offset, width))
            for offset, width in zip(self.offsets, self.widths, strict=True)
        ]
        self.top = _Table(self._top_floors(WORD), self._top_floors)

    def _nonzero_floor(self, n: int) -> list[int]:
        return [floor_bits(_nonzero(self.rate), n)]

    def _digit_floors(self, offset: int, width: int, n: int) -> list[int]:
        """Return ``floor(P(digit <= k) * 2**n)`` for all but the last digit value."""
        size = 1 << width
        precision = n + WORD + 2 * self.bits
        while True:
            low, high = exp_bounds(self.rate * 2**offset, precision)
            one = 1 << precision
            lows, highs = [low], [high]
            for _ in range(size - 1):
                lows.append(lows[-1] * low >> precision)
                highs.append((highs[-1] * high >> precision) + 1)
            floors = [
                _agree(((one - highs[k]) << n) // (one - lows[-1]), ((one - lows[k]) << n) // (one - highs[-1])) for k in range(size - 1)
            ]
            known = [floor for floor in floors if floor is not None]
            if len(known) == size - 1:
                return known
            precision *= 2

    def _top_floors(self, n: int) -> list[int]:
        """Return ``floor(P(top <= k) * 2**n)`` up to the ``k`` from which it is ``2**n - 1``."""
        rate = self.rate * 2**self.bits
        last = (1 << n) - 1
        floors: list[int] = []
        while not floors or floors[-1] < last:
            # Of 1 - exp(-x), which is irrational; by way of exp(-x), whose digits are known at once where there are only zeros.
            floors.append(last - floor_bits(partial(exp_bounds, rate * (len(floors) + 1)), n))
        return floors

    def draws(self, count: int) -> Ints:
        """Draw a block."""
        top, outliers = self.top.draws(count)
        magnitude = top.astype(np.int64)
        if outliers:
            return self._with_outliers(magnitude, outliers)
        magnitude <<= self.bits
        self._add_digits(magnitude)
        return self._signed(magnitude)

    def _with_outliers(self, top: NDArray[np.int64], outliers: dict[int, int]) -> Ints:
        magnitude = top.astype(object)
        for position, value in outliers.items():
            magnitude[position] = value
        magnitude *= 1 << self.bits
        digits = np.zeros(len(top), dtype=np.int64)
        self._add_digits(digits)
        magnitude += digits
        return self._signed(magnitude)

    def _add_digits(self, magnitude: NDArray[np.int64]) -> None:
        for offset, table in zip(self.offsets, self.digits, strict=True):
            digit, _ = table.draws(len(magnitude))
            magnitude += digit.astype(np.int64) << offset

    def _signed(self, magnitude: Ints) -> Ints:
        count = len(magnitude)
        zero, _ = self.zero.draws(count)
        magnitude += 1
        negative = (np.frombuffer(random_bytes(count), dtype=np.uint8) & 1).astype(bool)
        np.negative(magnitude, out=magnitude, where=negative)
        magnitude[zero == 1] = 0
        return magnitude


class _Table:
    """Draws of one digit: outcome = number of thresholds that a uniform number has passed.

    A 16-bit prefix decides by look-up unless a threshold lies among the numbers it stands for.
    """

    def __init__(self, floors: list[int], refine: Callable[[int], list[int]]) -> None:
        self.refine = refine
        self.floors = np.array(floors, dtype=np.uint64)
        self.last = len(floors)
        prefixes = np.arange(1 << _PREFIX, dtype=np.uint64)
        shift = np.uint64(WORD - _PREFIX)
        first = np.searchsorted(self.floors, prefixes << shift, side="left")
        beyond = np.searchsorted(self.floors, ((prefixes + np.uint64(1)) << shift) - np.uint64(1), side="right")
        guide = first.astype(np.uint16)
        guide[first != beyond] = _UNDECIDED
        self.guide = guide

    def draws(self, count: int) -> tuple[NDArray[np.uint16], dict[int, int]]:
        """Return ``count`` outcomes, and by position those too large for the table."""
        prefixes = np.frombuffer(random_bytes(2 * count), dtype="<u2")
        outcome = self.guide.take(prefixes)
        undecided = np.flatnonzero(outcome == _UNDECIDED)
        outliers: dict[int, int] = {}
        if undecided.size:
            rest = np.frombuffer(random_bytes(8 * undecided.size), dtype="<u8") >> np.uint64(_PREFIX)
            words = (prefixes[undecided].astype(np.uint64) << np.uint64(WORD - _PREFIX)) | rest
            found = np.searchsorted(self.floors, words, side="left")
            outcome[undecided] = found
            ties = np.flatnonzero(self.floors[np.minimum(found, self.last - 1)] == words)
            for tie in ties:
                value = self._resolve(int(words[tie]))
                if value > self.last:
                    outliers[int(undecided[tie])] = value
                else:
                    outcome[undecided[tie]] = value
        return outcome, outliers

    def _resolve(self, uniform: int) -> int:
        """Extend a uniform number that ties with a threshold until it does no longer."""
        bits = WORD
        while True:
            uniform = uniform << WORD | int.from_bytes(random_bytes(8), "little")
            bits += WORD
            floors = self.refine(bits)
            passed = bisect_right(floors, uniform)
            if passed == 0 or floors[passed - 1] != uniform:
                return passed


def _logistic(rate: Fraction, bits: int) -> tuple[int, int]:
    """Return bounds on ``2**bits * q / (1 + q)`` with ``q = exp(-rate)``."""
    low, high = exp_bounds(rate, bits + 8)
    one = 1 << (bits + 8)
    return (low << bits) // (one + low), (high << bits) // (one + high) + 1


def _nonzero(rate: Fraction) -> Callable[[int], tuple[int, int]]:
    """Return bounds on ``2q / (1 + q)``, the probability of a draw other than zero."""
    return lambda bits: _logistic(rate, bits + 1)


def _sure(value: int, slack: int) -> int | None:
    """Return the first 64 digits of a number known with ``_GUARD`` more, and at most ``slack`` too low; None if a carry might reach them."""
    return value >> _GUARD if (value & ((1 << _GUARD) - 1)) + slack < 1 << _GUARD else None


def _agree(low: int, high: int) -> int | None:
    return low if low == high else None
