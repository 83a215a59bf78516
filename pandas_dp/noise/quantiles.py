"""Quantiles, minimum and maximum under pure ε: the exponential mechanism on an integer grid, exactly.

Everything that decides an outcome is integer arithmetic on counts, public parameters and random bits: no float, no pandas.  Nothing here raises, warns or
logs because of the data; what a failure says is about public parameters.  The data are seen through an :class:`pandas_dp.cells.ranks.Order` alone, the runs of equal heights around given ranks, so that
it does not matter which engine holds them.

Utility
-------
Let ``L`` and ``R`` be the numbers of records below and above a point ``x`` of the grid ``0..top``, ``E`` that of the records at it, and ``n`` their sum.
For the quantile ``a/b`` the point has the *distance*

    ``s(x) = max(0, b*L - a*n, a*n - b*(L + E))``,

``b`` times the number of ranks between the target rank ``a*n/b`` and the ranks ``L..L + E`` that the point covers; without a record at ``x`` that is
``abs((b - a)*L - a*R)``.  (With ties the last formula would be wrong: of a value that 30 % to 90 % of the records have, it makes a bad median.)
As ``b*L - a*n = (b - a)*L - a*(R + E)`` and ``a*n - b*(L + E) = a*R - (b - a)*(L + E)``, one record more moves each by ``b - a`` or ``-a`` or ``a`` or ``a - b``, so that ``s`` moves by
at most ``D = max(a, b - a)``, at every point.

For the minimum the target is the ``t``-th smallest record, ``t`` public: ``s(x) = max(0, L - (t - 1), t - (L + E))``, and ``D = 1``.  That record's height alone has distance
zero: gaps have at least 1, so that ``t = 1`` at a large ε gives the minimum itself.  The maximum is the mirror image.

Weights
-------
A point's weight is an integer ``E[min(s, J)]`` that approximates ``2**T * exp(-rate*s)``.  Distances are clipped at a public ``J``, which keeps their sensitivity; it is so large that
all clipped points together weigh at most ``2**-40`` of one of distance zero.  Only the order statistics in a window of ranks can then matter.

Why it is exactly ε, for the integers that are used:  with ``e`` the share of ε of one record and one choice,

    ``(1 - h) * 2**T * exp(-rate*j) <= E[j] <= 2**T * exp(-rate*j)``   for ``0 <= j <= J``, with ``h <= e * 2**-42``, and
    ``rate * D <= (e/2) * (1 - 2**-40)``.

So for two distances that differ by at most ``D``, ``E[i] / E[j] <= exp(rate*D) / (1 - h) <= exp(rate*D + 2*h) <= exp(e/2)``.  Between neighbours every point's weight changes by at most that factor, their total by
at most its inverse, the probability of every point, an exact ratio of integers, by at most ``exp(e)``.

Several records of one unit are added or removed one after the other: with ``e = ε / records`` they lose at most ε together.

Several quantiles in one charge
-------------------------------
The middle quantile is chosen first, from all records; then those below it from the records strictly below the answer, those above it from the records strictly above, and so on [1]_.  Their
ranks are rescaled by public numbers, their candidates are bounded by answers that are known by then.  With the answers so far given, one record takes part in at most one choice
of each of the ``depth = ceil(log2(m + 1))`` levels, so that ``e = ε / (records * depth)`` for each is ``ε / records`` for one record, and the unit's records come one
after the other, as above: wherever they fall, the losses of a level's choices add up to at most ``ε / depth``.

A height that many records share would belong to both sides of a split.  So, for more than one quantile, every record's height gets random low bits, the quantiles are
those of the longer integers, and the answers drop the bits: a common height is split in proportion.  That costs nothing: the bits are drawn for each record by itself, and for every outcome of
them neighbours stay neighbours; the probability of an answer is the average over the bits, and each term of it changes by a factor of at most ``exp(ε)``.  They are drawn when a run of equal heights is
first looked at, run by run in the order of heights, and kept: which runs these are depends on public numbers, on the counts of heights and on the answers before, never on an engine or a partition.

References
----------
.. [1] H. Kaplan, S. Schnapp, U. Stemmer. Differentially private approximate quantiles. ICML 2022.
.. [2] F. McSherry, K. Talwar. Mechanism design via differential privacy. FOCS 2007.
.. [3] A. Smith. Privacy-preserving statistical estimation with optimal convergence rates. STOC 2011 (quantiles by the exponential mechanism).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pandas_dp.noise.entropy import random_bytes
from pandas_dp.noise.exact import exp_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from pandas_dp.cells.ranks import Order

    Ints = NDArray[Any]  # integers, or Python ints where they might not fit

__all__ = ["extreme_rank", "private_extreme", "private_quantiles", "rank_error"]

_SPREAD = 20  # random low bits that spread ties, for several quantiles
_CLIP = 40  # all clipped points together weigh at most 2**-_CLIP of the best one
_LN2 = Fraction(7, 10)  # above the logarithm of 2
_SLACK = Fraction(1, 2**40)  # share of ε that pays for rounded weights
_DIGIT = 8
_LOW = 3  # -log of the probability that an extreme falls beyond all records, about 5 %
_FITS = 1 << 62
_WORD = 64


def private_quantiles(order: Order, top: int, quantiles: Sequence[Fraction], epsilon: Fraction, records: int) -> list[int]:
    """Return private quantiles of integers, all of them for one ε.

    Parameters
    ----------
    order : Order
        The private heights, each in ``0..top``.  There may be none: the answers are then uniform over the grid (of several, the middle one is).
    top : int
        Last point of the grid, from 0 to ``2**64 - 1``.  Public.
    quantiles : sequence of Fraction
        In ``[0, 1]``, in any order; repeated ones get the same answer.  0 and 1 are any point that no record is below, or above: for minimum and maximum see
        :func:`private_extreme`.
    epsilon : Fraction
        ε of all answers together.
    records : int
        How many records one unit has at most.

    Returns
    -------
    list of int
        A point of the grid for each quantile, monotone in it.
    """
    _check(top, epsilon, records)
    if any(not 0 <= quantile <= 1 for quantile in quantiles):
        msg = "quantiles must lie between 0 and 1"
        raise ValueError(msg)
    distinct = sorted(set(quantiles))
    if not distinct:
        return []
    share = _share(epsilon, records, len(distinct))
    bits = _spread(len(distinct))
    ranked = _Ranked(order, top, bits)
    # Half a window more than one choice needs, for ranks that move with the answers before.
    reach = 2 + math.ceil(3 * (top.bit_length() + bits + _CLIP) * _LN2 / share) if len(distinct) > 1 else _reach(top, distinct[0], share)
    targets = [(quantile.numerator * ranked.size) // quantile.denominator for quantile in distinct]
    ranked.prepare([(target - reach, target + reach + 1) for target in targets])
    whole = _Part(0, ((top + 1) << bits) - 1, 0, ranked.size)
    answers = dict(zip(distinct, _answers(ranked, whole, distinct, share, top.bit_length() + bits), strict=True))
    return [answers[quantile] >> bits for quantile in quantiles]


def private_extreme(order: Order, top: int, epsilon: Fraction, records: int, *, largest: bool) -> int:
    """Return a private minimum or maximum of integers.

    Parameters
    ----------
    order, top, epsilon, records
        As for :func:`private_quantiles`.
    largest : bool
        Whether the maximum is wanted.

    Returns
    -------
    int
        A point of the grid.

    Notes
    -----
    One record decides the true minimum, which therefore stays private: the target is the ``t``-th smallest record, ``t`` being :func:`extreme_rank`, so that the many points below all
    records do not win.  The answer is biased inwards, by about ``t`` records; if there are fewer than ``t`` records it tends to the other end of the grid.
    """
    _check(top, epsilon, records)
    ranked = _Ranked(order, top, 0)
    rank = extreme_rank(top, epsilon, records)
    place = ranked.size - rank if largest else rank - 1
    weights = _weights(1, epsilon / records, top.bit_length())
    reach = weights.clip + 1
    ranked.prepare([(place - reach, place + reach + 1)])
    return _choose(ranked, _Part(0, top, 0, ranked.size), _Target(1, place, place + 1), weights)


def extreme_rank(top: int, epsilon: Fraction, records: int) -> int:
    """Return which record from the end the private minimum and maximum aim at: 1 for a large ε.

    The points beyond all records have a distance of at least this, ``t``, so that all of them together weigh at most ``(top + 1) * exp(-ε*t / (2*records))`` of the target: at most about 5 %.
    """
    return math.ceil(2 * records * (top.bit_length() * _LN2 + _LOW) / epsilon)


def rank_error(top: int, quantiles_count: int, q: Fraction, epsilon: Fraction, records: int, *, level: float) -> int:
    """Return how many ranks a private quantile may be away from the true one.

    Parameters
    ----------
    top, epsilon, records
        As for :func:`private_quantiles`.
    quantiles_count : int
        How many different quantiles are asked for together.
    q : Fraction
        The quantile.
    level : float
        The probability with which the bound holds for this answer, at most ``1 - 2**-36``.

    Returns
    -------
    int
        The target rank ``q*n`` is at most so far from the ranks ``L..L + E`` that the answer covers; without ties, ``abs((1 - q)*L - q*R)``, rounded up.

    Notes
    -----
    Of one choice the distance is ``d`` or more with a probability of at most ``(number of points) * exp(-rate*d)`` [2]_.  Among several quantiles, an answer inherits the errors of those
    that it was split from, in full at worst, and loses the record at each split; so the bound is that of one level times the number of levels, each with its part of ``1 - level``.
    (More than one record at a split, equal even in their random bits, would be lost as well; with fewer than a million equal heights that is rare.)
    """
    _check(top, epsilon, records)
    if not 0 < level <= 1 - 2.0**-36:
        msg = "level must lie between 0 and 1, and not be too close to 1"
        raise ValueError(msg)
    depth = quantiles_count.bit_length()
    bits = _spread(quantiles_count)
    share = _share(epsilon, records, quantiles_count)
    logarithm = (math.log(top + 1) + bits * math.log(2) + math.log(depth / (1 - level))) * (1 + 1e-12)
    if depth == 1:
        weights = _weights(_sensitivity(q), share, top.bit_length())
        distance = math.ceil(logarithm / float(weights.rate)) - 1
        return max(0, -(-distance // q.denominator))
    # Relative quantiles are not known here: D <= b, and the largest rate is for a distance of one or more.
    each = max(2 * (1 + 1e-9) / float(share), 1 / float(_steepest(top.bit_length() + bits)))
    return depth * (math.ceil(each * logarithm) + 1)


def _check(top: int, epsilon: Fraction, records: int) -> None:
    if not 0 <= top < 1 << 64:
        msg = "top must lie between 0 and 2**64 - 1"
        raise ValueError(msg)
    if epsilon <= 0 or records < 1:
        msg = "epsilon and records must be positive"
        raise ValueError(msg)


def _share(epsilon: Fraction, records: int, count: int) -> Fraction:
    """Return the part of ε for one record in one choice: there are ``count.bit_length()`` levels of choices."""
    return epsilon / (records * count.bit_length())


def _spread(count: int) -> int:
    return _SPREAD if count > 1 else 0


def _sensitivity(quantile: Fraction) -> int:
    return max(quantile.numerator, quantile.denominator - quantile.numerator)


def _reach(top: int, quantile: Fraction, share: Fraction) -> int:
    return 2 + _weights(_sensitivity(quantile), share, top.bit_length()).clip // quantile.denominator


class _Ranked:
    """The order of long integers: each record's height, followed by ``bits`` random low bits of its own, so that ties are spread.

    Parameters
    ----------
    order : Order
        Of the heights.
    top : int
        The largest possible one.
    bits : int
        At most 31; 0 for the heights themselves.
    """

    def __init__(self, order: Order, top: int, bits: int) -> None:
        self.size = order.size
        self._order = order
        self._bits = bits
        self._wide = top.bit_length() + bits > _WORD
        # Of the runs whose bits were drawn: heights, the places where their records begin, and the bits, ascending in each run.
        self._heights = np.zeros(0, dtype=np.uint64)
        self._places = np.zeros(1, dtype=np.int64)
        self._low = np.zeros(0, dtype=np.uint64)

    def prepare(self, windows: Iterable[tuple[int, int]]) -> None:
        """Take note of windows that will probably be asked for, and draw the low bits of their runs."""
        wanted = sorted((min(max(start, 0), self.size), min(max(stop, 0), self.size)) for start, stop in windows)
        self._order.prepare(wanted)
        if self._bits:
            for start, stop in wanted:
                self._spread(*self._order.runs(start, stop))

    def window(self, start: int, stop: int) -> tuple[Ints, NDArray[np.int64]]:
        """Return the different values of ranks ``start..stop - 1``, ascending, with the number of records below each, from ``start``, and ``stop``."""
        heights, edges = self._order.runs(start, stop)
        if not self._bits:
            return heights, np.clip(edges, start, stop)
        low = self._spread(heights, edges)
        repeated = np.repeat(heights.astype(np.uint64), np.diff(edges))
        values: Ints = (
            repeated.astype(object) * (1 << self._bits) + low.astype(object) if self._wide else (repeated << np.uint64(self._bits)) | low
        )
        values = values[start - int(edges[0]) : stop - int(edges[0])]
        firsts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])) if len(values) else np.zeros(0, dtype=np.intp)
        return values[firsts], np.append(firsts, len(values)) + start

    def below(self, value: int) -> tuple[int, int]:
        """Return how many records are below a value, and how many are at most it."""
        height, low_bits = value >> self._bits, value & ((1 << self._bits) - 1)
        less, most = self._order.below(height)
        if not self._bits or less == most:
            return less, most
        tied = self._spread(np.array([height], dtype=np.uint64), np.array([less, most], dtype=np.int64))
        first, last = (int(np.searchsorted(tied, np.uint64(low_bits), side)) for side in ("left", "right"))
        return less + first, less + last

    def _spread(self, heights: Ints, edges: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the low bits of the records of neighbouring runs, ascending in each; those that were not drawn yet are now, in the order of heights."""
        if not len(heights):
            return self._low[:0]
        runs = heights.astype(np.uint64)
        at = np.searchsorted(self._heights, runs)
        known = np.append(self._heights, np.uint64(0))[at] == runs
        known &= at < len(self._heights)
        if not known.all():
            counts = np.diff(edges)[~known]
            every = np.concatenate([self._heights, runs[~known]])
            records = np.concatenate([np.diff(self._places), counts])
            drawn = np.concatenate([self._low, self._drawn(counts)])
            self._low = drawn[np.argsort(np.repeat(every, records), kind="stable")]
            sorting = np.argsort(every, kind="stable")
            self._heights = every[sorting]
            self._places = np.concatenate([[0], np.cumsum(records[sorting])])
        first = int(np.searchsorted(self._heights, runs[0]))
        return self._low[int(self._places[first]) : int(self._places[first + len(runs)])]

    def _drawn(self, counts: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Draw the low bits of new runs, ascending in each."""
        number = int(counts.sum())
        drawn = (np.frombuffer(random_bytes(4 * number), dtype="<u4") >> np.uint32(32 - self._bits)).astype(np.uint64)
        if len(counts) == number:
            return drawn
        runs = np.repeat(np.arange(len(counts), dtype=np.uint64), counts) << np.uint64(self._bits)
        runs |= drawn
        runs.sort()
        return runs & np.uint64((1 << self._bits) - 1)


class _Part(NamedTuple):
    """A choice's candidates, ``low..high``, and its records: those of ranks ``first..last - 1``."""

    low: int
    high: int
    first: int
    last: int


class _Target(NamedTuple):
    """The distance ``max(0, scale*L - lower, upper - scale*(L + E))``, with ``upper - lower`` 0 or 1."""

    scale: int
    lower: int
    upper: int


def _answers(ranked: _Ranked, part: _Part, quantiles: list[Fraction], share: Fraction, grid: int) -> list[int]:
    """Return quantiles, ascending, of a part: the middle one, then those of the two parts that it splits."""
    if not quantiles:
        return []
    middle = len(quantiles) // 2
    quantile = quantiles[middle]
    goal = quantile.numerator * (part.last - part.first)
    split = _choose(ranked, part, _Target(quantile.denominator, goal, goal), _weights(_sensitivity(quantile), share, grid))
    if len(quantiles) == 1:
        return [split]
    less, most = (min(max(count, part.first), part.last) for count in ranked.below(split))
    below = [other / quantile for other in quantiles[:middle]]
    above = [(other - quantile) / (1 - quantile) for other in quantiles[middle + 1 :]]
    return [
        *_answers(ranked, _Part(part.low, split, part.first, less), below, share, grid),
        split,
        *_answers(ranked, _Part(split, part.high, most, part.last), above, share, grid),
    ]


def _choose(ranked: _Ranked, part: _Part, target: _Target, weights: _Weights) -> int:
    """Draw a point by the exponential mechanism."""
    stretches = _stretches(ranked, part, target, weights)
    cumulative = list(accumulate(stretches.counts * stretches.weights))
    drawn = _uniform_below(cumulative[-1])
    k = bisect_right(cumulative, drawn)
    if k:
        drawn -= cumulative[k - 1]
    return int(stretches.starts[k]) + int(drawn // stretches.weights[k])


def _uniform_below(total: int) -> int:
    """Draw an integer from ``0..total - 1``."""
    bits = total.bit_length()
    while True:
        drawn = int.from_bytes(random_bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if drawn < total:
            return drawn


@dataclass(frozen=True, slots=True)
class _Stretches:
    """All candidates, in order, as stretches of equal distance: first point, number of points, weight of each; arrays of Python ints."""

    starts: Ints
    counts: Ints
    weights: Ints


def _stretches(ranked: _Ranked, part: _Part, target: _Target, weights: _Weights) -> _Stretches:
    """Group a choice's candidates.

    Gaps whose ``L``, and runs of equal values whose ranks, are not between ``start`` and ``stop`` have at least the distance ``J``: ``scale*start <= upper - J`` and ``scale*stop >= lower + J``, but for
    the ends of the data.  A run that the window cuts may be taken for a shorter one: what is cut off counts only in terms of the distance that are not positive.
    """
    size, scale, clip = part.last - part.first, target.scale, weights.clip
    start = min(max((target.upper - clip) // scale, 0), size)
    stop = min(max(-((-target.lower - clip) // scale), 0), size)
    values, ranks = ranked.window(part.first + start, part.first + stop)
    runs = values.astype(object)
    edges = ranks - part.first  # L of each gap; of a run, then L + E
    if scale * size + abs(target.lower) + clip >= _FITS:
        edges = edges.astype(object)
    over, under = scale * edges - target.lower, target.upper - scale * edges
    gap_distances = np.minimum(np.maximum(over, under), clip)
    run_distances = np.minimum(np.maximum(np.maximum(over[:-1], under[1:]), 0), clip)
    starts, counts, each = (np.ones(2 * len(runs) + 1, dtype=object) for _ in range(3))
    starts[0], starts[1::2], starts[2::2] = part.low, runs, runs + 1
    counts[0::2] = np.append(runs, part.high + 1) - starts[0::2]
    each[0::2], each[1::2] = weights.of(gap_distances), weights.of(run_distances)
    return _Stretches(starts, counts, each)


def _steepest(grid: int) -> Fraction:
    """Return the rate at which a distance of 1 is as good as clipped; no larger one is used."""
    return (grid + _CLIP) * _LN2


@lru_cache(maxsize=64)
def _weights(sensitivity: int, share: Fraction, grid: int) -> _Weights:
    """Return the weights of a choice; they depend on public numbers only and are kept."""
    return _Weights(sensitivity, share, grid)


class _Weights:
    """The integers ``E[0..J]``.

    Parameters
    ----------
    sensitivity : int
        ``D``: what one record can move a distance by.
    share : Fraction
        ``e``: what one record may lose.
    grid : int
        There are at most ``2**grid`` points.

    Notes
    -----
    A distance is a number in base 256 and ``E`` the product of a factor for each digit, rounded down.  The factors ``exp(-rate * 256**d * digit)`` are powers of one that :func:`exp_bounds` gives
    too low by less than 8 units of ``2**-T``; every product of two numbers of at most ``2**T`` adds their errors and less than one unit; so that a factor is low by less than ``9 * 255 < 2**12`` units, and
    ``E`` by less than ``2**12`` times the number of digits.  ``T`` is so large that this is less than the part ``h`` of the smallest, ``E[J]``.
    """

    def __init__(self, sensitivity: int, share: Fraction, grid: int) -> None:
        self.rate = min(share * (1 - _SLACK) / (2 * sensitivity), _steepest(grid))
        self.clip = math.ceil(_steepest(grid) / self.rate)
        digits = -(-self.clip.bit_length() // _DIGIT)
        smallest = math.ceil(self.rate * self.clip * 3 / 2)  # E[J] is at least 2**(T - smallest), as 3/2 > 1 / ln 2
        precise = 2 + (_SLACK.denominator.bit_length() - 1) + math.ceil(1 / share).bit_length()  # h = 2**-precise <= share * 2**-42
        self.bits = smallest + precise + _DIGIT + 4 + digits.bit_length()
        self._factors = [self._powers(256**d) for d in range(digits)]

    def _powers(self, weight: int) -> Ints:
        base, _ = exp_bounds(self.rate * weight, self.bits)
        powers = np.ones(1 << _DIGIT, dtype=object)
        powers[0] = 1 << self.bits
        for k in range(1, len(powers)):
            powers[k] = powers[k - 1] * base >> self.bits
        return powers

    def of(self, distances: Ints) -> Ints:
        """Return the weights of distances, which are at most ``clip``."""
        product: Ints = self._factors[0][(distances & 255).astype(np.intp)]
        for d, factors in enumerate(self._factors[1:], 1):
            product = product * factors[(distances >> (_DIGIT * d) & 255).astype(np.intp)] >> self.bits
        return product
