"""Exact noise on integers: the discrete Gaussian mechanism.

Everything in a draw is integer arithmetic on public parameters and random bits.  This module must never let a float
take part in a draw (floats only describe the noise: ``tail`` and ``half_width``), round a variance, take randomness from
anywhere but :mod:`pandas_dp.noise.entropy`, or see pandas or data.
Read it when auditing that the noise has the distribution that is claimed: ``k`` has a probability proportional to
``e(k) = exp(-k**2 / (2 * variance))``.

How a draw is made
------------------
The curve ``e`` is covered by stairs.  Step 0 is the value zero; step ``i`` holds the ``w`` magnitudes from ``1 + (i - 1) * w``
on, where ``w`` is the power of two that makes a standard deviation some 16 to 32 (for many draws: 128 to 256) steps, or 1 if it
is less.  With an integer ``C``, each step has an integer ``floor`` below and an integer ``ceiling`` above ``C * e`` of all its
magnitudes, and ``gap = ceiling - floor``.  The numbers of 64 bits are dealt out: ``floor`` of them to each step, ``gap`` of them
to each step once more, and the few left to the tail.  One uniform number of 64 bits thus chooses

* a step, for good: take one of its magnitudes, all alike, and a fair sign;
* a step, in doubt: take a magnitude ``x`` and a sign alike, but keep them with probability ``(C * e(x) - floor) / gap`` only;
* the tail: propose a magnitude beyond the last step, and keep it with the probability that its proposal asks for;

and what is not kept is drawn anew, from the start.  A magnitude ``x`` of a step comes out of one round, with one of its signs, with
probability ``(floor + gap * (C * e(x) - floor) / gap) / (2**64 * 2 * w)``, which is ``e(x)`` times a constant, whatever integers
``C``, ``floor`` and ``ceiling`` are: their quality decides how often a round is repeated, and nothing else.  They need proven bounds,
but no normalising constant.

Coins of irrational probability are decided with as many binary digits as it takes.  One draw in 20 to 40 (for many draws: one in
160 to 320; with ``w = 1``: none, in practice) is in doubt, and half of these repeat: that much the time of a draw may tell.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.noise.entropy import random_bytes
from pandas_dp.noise.exact import WORD, bernoulli, bernoulli_rest, exp_bounds, floor_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ints = NDArray[Any]  # int64, or Python ints where they might not fit
    Chance = Callable[[int], tuple[int, int]]  # bounds on a probability's first binary digits

__all__ = ["DiscreteGaussian", "discrete_gaussian"]

_COARSE = 5  # a standard deviation has fewer than 2**_COARSE steps: quick to build, for single draws
_FINE = 8  # and here fewer than 2**_FINE: hardly ever in doubt, for many draws
_PRECISION = 192
_NEGLIGIBLE = 80  # the stairs end where the curve is below 2**-_NEGLIGIBLE, after some 10.6 standard deviations ...
_TAIL = 13  # ... which is fewer than 2**_TAIL steps
_PREFIX = 16  # bits of a uniform number that a table look-up decides by, nearly always
_UNDECIDED = 0xFFFF
_VECTOR = 1000  # draws from which building the fine stairs pays
_BLOCK = 1 << 15
_FITS = 55  # standard deviations up to 2**_FITS keep all stairs below 2**60
_HALF = 32  # bits of the quantities that decide most doubts
_SUMMED = 1 << 20  # variances up to here have their tails summed term by term
_SURE = 1 + 2.0**-40  # more than all rounding of a tail probability


@lru_cache(maxsize=256)
def discrete_gaussian(variance: Fraction) -> DiscreteGaussian:
    """Return the sampler for a variance; samplers depend on public numbers only and are kept."""
    return DiscreteGaussian(variance)


class DiscreteGaussian:
    """Discrete Gaussian noise of a rational variance parameter, on the integers.

    Parameters
    ----------
    variance : Fraction
        The ``sigma**2`` of the law, positive.  Used exactly, never rounded.

    References
    ----------
    .. [1] C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020, arXiv:2004.00010
       (the distribution and its privacy; the sampler here is another one).
    """

    def __init__(self, variance: Fraction) -> None:
        if variance <= 0:
            msg = "variance must be positive"
            raise ValueError(msg)
        self.variance = Fraction(variance)
        self._stairs = _Stairs(self.variance, _COARSE)
        self._size = WORD // 8 + self._stairs.shift // 8 + 1
        self._tables: _Tables | None = None
        self._half_widths: dict[float, int] = {}
        self._mass: float | None = None

    def draw(self) -> int:
        """Draw one integer."""
        stairs = self._stairs
        while True:
            uniform = int.from_bytes(random_bytes(self._size), "little")
            outcome = bisect_right(stairs.ends, uniform & 0xFFFF_FFFF_FFFF_FFFF)
            sign = uniform >> WORD & 1
            low = uniform >> (WORD + 1) & stairs.mask
            magnitude = stairs.magnitude(outcome, low) if outcome <= stairs.count else stairs.doubtful(outcome, low)
            if magnitude is not None:
                return -magnitude if sign else magnitude

    def draws(self, count: int) -> Ints:
        """Draw ``count`` integers.

        Returns
        -------
        ndarray of shape (count,)
            ``int64``; of Python ints should one not fit (standard deviations above ``2**55``, or an outlier of
            probability below ``1e-100``).
        """
        if count < _VECTOR or self.variance.numerator > self.variance.denominator << 2 * _FITS:
            drawn = [self.draw() for _ in range(count)]
            fits = all(abs(value) < 1 << 62 for value in drawn)
            return np.array(drawn, dtype=np.int64 if fits else object)
        if self._tables is None:
            self._tables = _Tables(_Stairs(self.variance, _FINE))
        return self._tables.draws(count)

    def tail(self, bound: float) -> float:
        """Return the probability of an absolute value greater than ``bound``, as a float."""
        steps = math.floor(bound) + 1
        if steps <= 0:
            return 1.0
        if steps * steps > 1500 * self.variance:  # exp(-750) is no float any more
            return 0.0
        if self.variance <= _SUMMED:
            return self._summed(steps)
        # The sum is an integral from half a step earlier, plus two terms of the Euler-Maclaurin formula; with a standard
        # deviation above 1000 the third is smaller than the rounding, and so is what the normalising constant differs by.
        square = Fraction(2 * steps - 1, 2) ** 2 / self.variance
        z = math.sqrt(float(square))
        inverse = math.sqrt(float(1 / self.variance))
        density = math.exp(-float(square) / 2) * math.sqrt(2 / math.pi)
        return math.erfc(z / math.sqrt(2)) - density * inverse**2 * z * (1 / 24 + 7 / 5760 * inverse**2 * (3 - z * z))

    def _summed(self, steps: int) -> float:
        variance = float(self.variance)
        terms = np.arange(math.isqrt(math.ceil(100 * self.variance)) + 2, dtype=np.float64)
        if self._mass is None:
            self._mass = float(2 * np.exp(terms**2 / (-2 * variance)).sum() - 1)
        return min(1.0, float(2 * np.exp((terms + steps) ** 2 / (-2 * variance)).sum()) / self._mass)

    def half_width(self, level: float) -> int:
        """Return the smallest integer ``k`` with ``P(abs(noise) <= k) >= level``; never one too small."""
        if level not in self._half_widths:
            self._half_widths[level] = self._half_width(level)
        return self._half_widths[level]

    def _half_width(self, level: float) -> int:
        if level >= 1:
            msg = "level must be below 1"
            raise ValueError(msg)
        alpha = 1 - level
        low, high = -1, 0
        while self.tail(high) * _SURE > alpha:
            low, high = high, 2 * high + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.tail(middle) * _SURE > alpha else (low, middle)
        return high


class _Stairs:
    """The stairs of one variance: which numbers of 64 bits stand for which step, for good or in doubt, and for the tail."""

    def __init__(self, variance: Fraction, fineness: int) -> None:
        self.variance = variance
        self.shift = max(0, math.isqrt(math.floor(variance)).bit_length() - fineness)
        self.mask = (1 << self.shift) - 1
        lows, highs = self._curve()
        self.count = len(highs) - 1  # steps but the first; what follows them is the tail
        # Zero has one sign and is one magnitude, where the others share two signs and 2**shift magnitudes: its step has the
        # height C / 2**(shift + 1).  With this C all ceilings together leave more than one number to the tail.
        room = (1 << WORD) - 2 * self.count - 16
        self.scale = scale = (room << _PRECISION) // (sum(highs[:-1]) + (1 << _PRECISION >> self.shift + 1) + 1)
        # A step's least height is above the next step's greatest one; steps of one magnitude have one height.
        least = lows[1:] if self.shift else lows[:-1]
        self.floors = [scale >> self.shift + 1, *(scale * low >> _PRECISION for low in least)]
        ceilings = [self.floors[0] + 1, *((scale * high >> _PRECISION) + 1 for high in highs[:-1])]
        self.gaps = [ceiling - floor for ceiling, floor in zip(ceilings, self.floors, strict=True)]
        self.ends = list(accumulate([*self.floors, *self.gaps]))
        self.left = (1 << WORD) - self.ends[-1]

    def _curve(self) -> tuple[list[int], list[int]]:
        """Return bounds on ``e * 2**_PRECISION`` at the first magnitude of each step but step 0, and of the tail.

        Exponents of neighbours differ by an arithmetic sequence, so that the values are products; every rounding is outward.
        In fewer than ``2**12`` products the bounds come to differ by less than ``2**30`` units, that is by ``2**-162``.
        """
        width = self.mask + 1
        low, high = exp_bounds(1 / (2 * self.variance), _PRECISION)
        ratio_low, ratio_high = exp_bounds((width * width + 2 * width) / (2 * self.variance), _PRECISION)
        change_low, change_high = exp_bounds(width * width / self.variance, _PRECISION)
        lows, highs = [low], [high]
        while high >> (_PRECISION - _NEGLIGIBLE):
            low, high = low * ratio_low >> _PRECISION, (high * ratio_high >> _PRECISION) + 1
            ratio_low, ratio_high = ratio_low * change_low >> _PRECISION, (ratio_high * change_high >> _PRECISION) + 1
            lows.append(low)
            highs.append(high)
        return lows, highs

    def magnitude(self, step: int, low: int) -> int:
        """Return a magnitude of a step."""
        return (step - 1 << self.shift) + low + 1 if step else 0

    def doubtful(self, outcome: int, low: int) -> int | None:
        """Return the magnitude that an outcome beyond the sure ones stands for; None if it is not kept."""
        step = outcome - self.count - 1
        if step > self.count:
            return self._beyond()
        return self.magnitude(step, low) if bernoulli(self.chance(step, low)) else None

    def chance(self, step: int, low: int) -> Chance:
        """Return bounds on the probability with which a magnitude of a step in doubt is kept."""
        if step == 0:
            return self._fraction
        return self._share(self.magnitude(step, low), self.scale, self.floors[step], self.gaps[step])

    def _fraction(self, bits: int) -> tuple[int, int]:
        """Return bounds on the fractional part of zero's height; from some ``bits`` on they are equal to it."""
        fraction = (self.scale & (2 * self.mask + 1)) << bits
        return fraction >> self.shift + 1, -(-fraction >> self.shift + 1)

    def _share(self, magnitude: int, scale: int, floor: int, gap: int) -> Chance:
        """Return bounds on ``(scale * e(magnitude) - floor) / gap``: irrational, so that their digits come to agree."""
        rate = magnitude * magnitude / (2 * self.variance)

        def bounds(bits: int) -> tuple[int, int]:
            precision = bits + scale.bit_length()
            low, high = (scale * bound - (floor << precision) for bound in exp_bounds(rate, precision))
            share = gap << precision - bits
            return max(0, low // share), min(1 << bits, -(-high // share))

        return bounds

    def _beyond(self) -> int | None:
        """Propose a magnitude beyond the stairs and return it, or None if it is not kept.

        The proposal is a stretch ``j`` with probability ``2**-(j+1)`` and one of its ``2**(shift + _TAIL)`` magnitudes.
        Kept with probability ``C * e(x) * 2**(j + 1 + _TAIL) / left`` it comes out, with one of its signs, with
        probability ``C * e(x) / (2**64 * 2 * w)``, as on the stairs.  That is at most 1: at ``j = 0`` because ``C`` is below
        ``2**66``, ``e`` below ``2**-80`` and ``left`` above 1.  A stretch is longer than the stairs, so that ``e`` falls at least to
        its power ``(j + 1)**2``, which is by more than ``2**-j``.
        """
        stretch = 0
        while random_bytes(1)[0] & 1:
            stretch += 1
        length = self.shift + _TAIL
        low = int.from_bytes(random_bytes(length // 8 + 1), "little") & ((1 << length) - 1)
        magnitude = self.magnitude(self.count + 1, (stretch << length) + low)
        kept = bernoulli(self._share(magnitude, self.scale << stretch + 1 + _TAIL, 0, self.left))
        return magnitude if kept else None


class _Tables:
    """Stairs for many draws: a table look-up by the first bits, and a quick decision of doubts."""

    def __init__(self, stairs: _Stairs) -> None:
        self.stairs = stairs
        self.ends = np.array(stairs.ends, dtype=np.uint64)
        prefixes = np.arange(1 << _PREFIX, dtype=np.uint64)
        shift = np.uint64(WORD - _PREFIX)
        first = np.searchsorted(self.ends, prefixes << shift, side="right")
        last = np.searchsorted(self.ends, ((prefixes + np.uint64(1)) << shift) - np.uint64(1), side="right")
        guide = first.astype(np.uint16)
        guide[first != last] = _UNDECIDED
        self.guide = guide
        self.margins = np.array(self._margins(), dtype=np.int64)
        # One signed number has the sign and, in its lowest bits, the place in the step.
        self.width = next(width for width in (8, 16, 32, 64) if stairs.shift < width)
        self.part = np.dtype(f"<i{self.width // 8}")

    def _margins(self) -> list[int]:
        """Return, for each step, how far the probability of being kept may be from a straight line, times ``2**_HALF``.

        At the part ``t`` of a step, ``C * e`` is within ``D = C * max(abs(e'')) * w**2 / 8`` of the chord between the step's ends, and
        ``ceiling`` and ``floor`` are within 2 of the chord's ends, as ``C`` times the error of the curve is below 1.  So the probability is within ``(D + 2) / gap`` of ``1 - t``.
        And ``e''(x) = (x**2 / v - 1) / v * e(x)`` with the variance ``v``, where the first factor grows and the last one falls.
        """
        stairs, width = self.stairs, self.stairs.mask + 1
        whole = 1 << _HALF
        if width == 1:  # not worth it: a doubt has a probability of 2**-50
            return [whole] * (stairs.count + 1)
        top, bottom = stairs.variance.numerator, stairs.variance.denominator
        bends = [abs(stairs.magnitude(step, 0) ** 2 * bottom - top) for step in range(1, stairs.count + 2)]
        margins = [whole]
        for step in range(1, stairs.count + 1):
            ceiling, gap = stairs.floors[step] + stairs.gaps[step], stairs.gaps[step]
            bend = max(bends[step - 1], bends[step])
            numerator = ceiling * bend * width * width * bottom + 16 * top * top
            margins.append(min(whole, (numerator << _HALF) // (8 * top * top * gap) + 1))
        return margins

    def draws(self, count: int) -> Ints:
        """Draw ``count`` integers."""
        values: Ints = np.empty(count, dtype=np.int64)
        missing = []
        outliers: dict[int, int] = {}
        for start in range(0, count, _BLOCK):
            here = slice(start, min(start + _BLOCK, count))
            values[here], rejected = self._block(here.stop - start, outliers, start)
            missing.append(rejected + start)
        again = np.concatenate(missing)
        while again.size:
            later: dict[int, int] = {}
            values[again], rejected = self._block(again.size, later, 0)
            outliers.update((int(again[position]), value) for position, value in later.items())
            again = again[rejected]
        if any(abs(value) >> 62 for value in outliers.values()):
            values = values.astype(object)
        for position, value in outliers.items():
            values[position] = value
        return values

    def _block(self, count: int, outliers: dict[int, int], start: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """Return a block of draws and the positions of those that are not kept; add values of the tail to ``outliers``."""
        stairs = self.stairs
        step = self._outcomes(count)
        parts = np.frombuffer(random_bytes(count * self.width // 8), dtype=self.part)
        low = (parts & self.part.type(stairs.mask)).astype(np.int64)
        sign = (parts >> self.part.type(self.width - 1)).astype(np.int64)  # 0 or -1
        doubts = np.flatnonzero(step > stairs.count)
        rejected = doubts[:0]
        if doubts.size:
            step[doubts] -= np.uint16(stairs.count + 1)
            kept = self._kept(step[doubts].astype(np.int64), low[doubts])
            for i in np.flatnonzero(step[doubts] > stairs.count):
                position = int(doubts[i])
                magnitude = stairs.doubtful(2 * stairs.count + 2, 0)
                kept[i] = magnitude is not None
                if magnitude is not None:
                    outliers[start + position] = -magnitude if sign[position] else magnitude
            rejected = doubts[~kept]
        values = step.astype(np.int64)
        values -= 1
        values <<= stairs.shift
        values += low
        values ^= sign  # with the magnitude minus 1 in `values`, this is minus the magnitude where the sign is -1
        values += sign
        values += 1
        values[step == 0] = 0
        return values, rejected

    def _outcomes(self, count: int) -> NDArray[np.uint16]:
        """Return how many of the stairs' ends each of ``count`` uniform numbers has passed."""
        prefixes = np.frombuffer(random_bytes(2 * count), dtype="<u2")
        outcome: NDArray[np.uint16] = self.guide.take(prefixes)
        undecided = np.flatnonzero(outcome == _UNDECIDED)
        if undecided.size:
            rest = np.frombuffer(random_bytes(8 * undecided.size), dtype="<u8") >> np.uint64(_PREFIX)
            words = (prefixes[undecided].astype(np.uint64) << np.uint64(WORD - _PREFIX)) | rest
            outcome[undecided] = np.searchsorted(self.ends, words, side="right")
        return outcome

    def _kept(self, step: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Decide which draws in doubt are kept; steps beyond the last one are the tail, and decided elsewhere."""
        shift = self.stairs.shift
        words = np.frombuffer(random_bytes(8 * step.size), dtype="<u8")
        # A uniform number, and the part of the step: each is known up to one unit of 2**-_HALF.
        uniform = (words >> np.uint64(WORD - _HALF)).astype(np.int64)
        part = low >> (shift - _HALF) if shift > _HALF else low << (_HALF - shift)
        above = uniform + part - (1 << _HALF)  # how far the uniform number is above 1 - t
        on_stairs = step <= self.stairs.count
        margin = self.margins[np.where(on_stairs, step, 0)]
        kept: NDArray[np.bool_] = above + 2 <= -margin
        for i in np.flatnonzero(on_stairs & ~kept & (above < margin)):
            kept[i] = _below(int(words[i]), self.stairs.chance(int(step[i]), int(low[i])))
        return kept


def _below(uniform: int, chance: Chance) -> bool:
    """Return whether a uniform number of the given first 64 digits is below a probability."""
    threshold = floor_bits(chance, WORD)
    return uniform < threshold if uniform != threshold else bernoulli_rest(chance)
