"""Quantiles, minima and maxima: ε of the integers that are really used, the law of the draws, ties, the ends of every range, and what must be rejected."""

from __future__ import annotations

import hashlib
import itertools
import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from support import ALPHA, certified_loss, pooled_p

from pandas_dp.engines import order_statistics
from pandas_dp.engines.order_statistics import OrderStatistics
from pandas_dp.noise import entropy as noise
from pandas_dp.noise import quantiles
from pandas_dp.noise.exact import exp_bounds
from pandas_dp.noise.quantiles import extreme_rank, rank_error

HALF = Fraction(1, 2)
HUGE = Fraction(10**6)  # here a point of distance one has a probability of at most 2**-40
CONFIDENCE = 1e-6
DECILES = [Fraction(k, 10) for k in range(1, 10)]


class Source:
    """A repeatable source of random bytes."""

    def __init__(self, seed):
        self.state = seed

    def __call__(self, count):
        self.state = hashlib.sha256(repr(self.state).encode()).digest()
        return hashlib.shake_256(self.state).digest(count)


def array(values, dtype=np.int64):
    return np.array(values, dtype=dtype)


def private_quantiles(heights, top, *arguments):
    """The quantiles of heights in an array."""
    return quantiles.private_quantiles(OrderStatistics(heights, top), top, *arguments)


def private_extreme(heights, top, *arguments, **options):
    """The minimum or maximum of heights in an array."""
    return quantiles.private_extreme(OrderStatistics(heights, top), top, *arguments, **options)


def window(ranked, start, stop):
    """The values of ranks ``start..stop - 1``, one for each record."""
    values, edges = ranked.window(start, stop)
    assert (edges[0], edges[-1]) == (start, stop)
    assert len(set(values.tolist())) == len(values)
    return np.repeat(values, np.diff(edges)).tolist()


def points(stretches):
    """Every candidate with its integer weight."""
    return [
        (start + k, weight)
        for start, count, weight in zip(stretches.starts, stretches.counts, stretches.weights, strict=True)
        for k in range(count)
    ]


def exact_law(call):
    """The exact probabilities of what ``call`` returns: it is run once for every sequence of choices, each weighed by the integers that the real code prepared, which
    depend on the choices before.
    """
    law, script, prepared = {}, [], {}
    original = quantiles._choose
    try:
        while True:
            step, probability = 0, Fraction(1)

            def choose(ranked, part, target, weights):
                nonlocal step, probability
                before = tuple(place for place, _ in script[:step])
                if before not in prepared:
                    candidates = points(quantiles._stretches(ranked, part, target, weights))
                    assert [point for point, _ in candidates] == list(range(part.low, part.high + 1))
                    prepared[before] = candidates, sum(weight for _, weight in candidates)
                candidates, mass = prepared[before]
                if step == len(script):
                    script.append([0, len(candidates)])
                point, weight = candidates[script[step][0]]
                probability *= Fraction(weight, mass)
                step += 1
                return point

            quantiles._choose = choose
            answer = call()
            answer = tuple(answer) if isinstance(answer, list) else answer
            law[answer] = law.get(answer, 0) + probability
            while script and script[-1][0] + 1 == script[-1][1]:
                script.pop()
            if not script:
                break
            script[-1][0] += 1
    finally:
        quantiles._choose = original
    assert sum(law.values()) == 1
    return law


def within(left, right, epsilon, bits=160):
    """Whether two laws differ by a factor of at most exp(ε) at every outcome, both ways; exp(-ε) is replaced by an integer bound from above."""
    _, high = exp_bounds(epsilon, bits)
    assert set(left) == set(right), "every outcome must be possible with both"
    return all(min(p, right[x]) * 2**bits >= max(p, right[x]) * high for x, p in left.items())


def datasets(top, size):
    return list(itertools.combinations_with_replacement(range(top + 1), size))


def neighbours(top, largest, records):
    """All multisets of at most ``largest`` heights, with those that up to ``records`` more make of it."""
    for size in range(largest):
        for more in range(1, min(records, largest - size) + 1):
            for small in datasets(top, size):
                for added in datasets(top, more):
                    yield small, tuple(sorted(small + added))


QUERIES = {f"q={q}": (lambda h, e, r, q=q: private_quantiles(h, 4, [q], e, r)) for q in map(Fraction, ("0", "1/10", "1/2", "2/3", "1"))}
QUERIES["min"] = lambda h, e, r: private_extreme(h, 4, e, r, largest=False)
QUERIES["max"] = lambda h, e, r: private_extreme(h, 4, e, r, largest=True)


def worst_pairs(query, epsilon, records):
    laws = {h: exact_law(lambda h=h: QUERIES[query](array(h), epsilon, records)) for size in range(4) for h in datasets(4, size)}
    return [pair for pair in neighbours(4, 3, records) if not within(laws[pair[0]], laws[pair[1]], epsilon)]


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(2), Fraction(5), Fraction(200)], ids=str)
@pytest.mark.parametrize("records", [1, 2])
@pytest.mark.parametrize("query", QUERIES)
def test_every_small_data_set_exhaustively(query, records, epsilon):
    """On all data sets of at most 3 records over 0..4 no probability, an exact ratio of the integers used, differs from a neighbour's by a factor above exp(ε)."""
    assert not worst_pairs(query, epsilon, records)


def divergence(left, right, order):
    """Return the Rényi divergence of two exact laws, to about 1e-12."""
    terms = [order * _log(p) + (1 - order) * _log(right[x]) for x, p in left.items()]
    most = max(terms)
    return (most + math.log(math.fsum(math.exp(term - most) for term in terms))) / (order - 1)


def _log(probability):
    return math.log(probability.numerator) - math.log(probability.denominator)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(5)], ids=str)
@pytest.mark.parametrize("query", QUERIES)
def test_every_small_data_set_is_concentrated(query, epsilon):
    """On the same data sets the Rényi divergence of every order from 1.01 to 100 is at most order * ε²/8, both ways: what a choice is charged in ρ."""
    laws = {h: exact_law(lambda h=h: QUERIES[query](array(h), epsilon, 1)) for size in range(4) for h in datasets(4, size)}
    rho = float(epsilon) ** 2 / 8
    for one, other in neighbours(4, 3, 1):
        for order in (1.01, 1.5, 2.0, 4.0, 16.0, 100.0):
            for left, right in ((laws[one], laws[other]), (laws[other], laws[one])):
                assert divergence(left, right, order) <= order * rho + 1e-9


def test_a_fifth_of_it_would_be_too_little():
    """The twin (case B10): ε²/40, a fifth of it, is exceeded by two candidates."""
    epsilon = Fraction(2)
    laws = [exact_law(lambda h=h: private_quantiles(array(h), 1, [Fraction(1, 2)], epsilon, 1)) for h in ((0, 1), (0, 1, 1))]
    assert max(divergence(laws[0], laws[1], order) / order for order in (1.01, 2.0, 16.0)) > float(epsilon) ** 2 / 40


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1), Fraction(700), Fraction(5000)], ids=str)
@pytest.mark.parametrize("heights", [[0] * 1491, [0] * 1492, [4] * 1500, [0] * 750 + [4] * 750], ids=len)
def test_no_weight_underflows(heights, epsilon):
    """Attack A12: thousands of equal values at tiny and huge ε neither raise nor leave the grid, and at huge ε give the value."""
    for call in (
        lambda: private_quantiles(array(heights), 4, [Fraction(1, 2)], epsilon, 1)[0],
        lambda: private_extreme(array(heights), 4, epsilon, 1, largest=True),
    ):
        assert 0 <= call() <= 4
    if epsilon >= 700 and len(set(heights)) == 1:
        assert private_quantiles(array(heights), 4, [Fraction(1, 2)], epsilon, 1) == [heights[0]]


@pytest.mark.parametrize("query", ["q=1/10", "q=2/3"])
def test_exhaustion_catches_a_small_sensitivity(query, monkeypatch):
    """The twin: with a sensitivity of 1 instead of max(a, b - a) some small neighbours prove a larger loss."""
    monkeypatch.setattr(quantiles, "_sensitivity", lambda quantile: 1)
    assert worst_pairs(query, Fraction(2), 1)


@pytest.mark.parametrize("query", ["q=1/2", "min", "max"])
def test_exhaustion_catches_a_large_rate(query, monkeypatch):
    """The twin: were each record's share of ε twice as large, some small neighbours would prove it (at ε = 1, extremes aiming at the second record)."""
    honest = quantiles._weights
    monkeypatch.setattr(quantiles, "extreme_rank", lambda *args: 2)
    assert not worst_pairs(query, Fraction(1), 1)
    monkeypatch.setattr(quantiles, "_weights", lambda sensitivity, share, grid: honest(sensitivity, 2 * share, grid))
    assert worst_pairs(query, Fraction(1), 1)


def several_law(heights, wanted, epsilon, records):
    """The exact law of several quantiles over 0..2 with one random low bit, averaged over the bits."""
    law = {}
    for bits in itertools.product((0, 255), repeat=len(heights)):
        with noise.injected(lambda count, bits=bits: b"".join(bytes([bit] * 4) for bit in bits)):
            found = exact_law(lambda: private_quantiles(array(heights), 2, wanted, epsilon, records))
        for answer, p in found.items():
            law[answer] = law.get(answer, 0) + p / 2 ** len(heights)
    return law


def several_pairs(wanted, epsilon, records):
    laws = {h: several_law(h, wanted, epsilon, records) for size in range(3) for h in datasets(2, size)}
    return [pair for pair in neighbours(2, 2, records) if not within(laws[pair[0]], laws[pair[1]], epsilon)]


@pytest.mark.parametrize("records", [1, 2])
@pytest.mark.parametrize("wanted", [(Fraction(1, 4), Fraction(3, 4)), (Fraction(0), Fraction(1, 3), HALF)], ids=str)
def test_several_quantiles_exhaustively(wanted, records, monkeypatch):
    """On all data sets of at most 2 records over 0..2 the joint law of several quantiles, splits, rescaled ranks and low bits included, keeps ε = 2 for all of them together."""
    monkeypatch.setattr(quantiles, "_SPREAD", 1)
    assert not several_pairs(wanted, Fraction(2), records)


def test_exhaustion_catches_levels_that_are_not_paid_for(monkeypatch):
    """The twin: were ε not divided by the number of levels, small neighbours would show it in the joint law."""
    monkeypatch.setattr(quantiles, "_SPREAD", 1)
    monkeypatch.setattr(quantiles, "_share", lambda epsilon, records, count: 2 * epsilon / records)
    assert several_pairs((Fraction(1, 4), Fraction(3, 4)), Fraction(2), 1)


WEIGHTS = [
    (1, Fraction(1, 10), 30),
    (9, Fraction(1), 84),
    (1, Fraction(10**9), 0),
    (3, Fraction(1, 10**9), 64),
    (10**15, Fraction(7, 10**9), 64),
    (1, Fraction(50), 5),
]


@pytest.mark.parametrize("args", WEIGHTS, ids=str)
def test_weights_satisfy_the_inequality(args):
    """(1 - h) 2^T exp(-rate j) <= E[j] <= 2^T exp(-rate j) with h = e 2^-42, against 400-digit decimals, for distances with all kinds of digits, the clip among them;
    rate D <= (e/2)(1 - 2^-40); and directly: E[i] <= exp(e/2) E[j] where i and j differ by at most D; clipped points weigh at most 2^-40 of the best.
    """
    sensitivity, share, grid = args
    weights = quantiles._Weights(*args)
    assert weights.rate * sensitivity <= share / 2 * (1 - Fraction(1, 2**40))
    clip = weights.clip
    tried = {
        0,
        1,
        clip,
        clip - 1,
        *(min(clip, 256**d * k + r) for d in range(11) for k in (1, 3, 255) for r in (-1, 0, 1, 77)),
        clip // 3,
        clip // 7,
    }
    tried |= {min(clip, max(0, j + side * sensitivity)) for j in tried for side in (-1, 1)}
    distances = sorted(tried)
    exact = dict(zip(distances, (int(weight) for weight in weights.of(np.array(distances, dtype=object))), strict=True))
    assert exact[0] == 2**weights.bits
    getcontext().prec = 400
    loss = min(Decimal(1), Decimal(share.numerator) / share.denominator / 2**42)
    for j, weight in exact.items():
        true = (-Decimal(weights.rate.numerator) * j / weights.rate.denominator).exp() * 2**weights.bits
        assert true * (1 - loss) <= weight <= true
    _, high = exp_bounds(share / 2, weights.bits)
    for i, j in itertools.pairwise(distances):
        if j - i <= sensitivity:
            assert exact[j] << weights.bits >= exact[i] * high
            assert exact[i] << weights.bits >= exact[j] * high
    assert exact[clip] << (grid + 40) <= exact[0]


@pytest.mark.parametrize("query", ["q=1/2", "q=1/10", "min", "max"])
def test_draws_follow_the_exact_law(query):
    """N = 10 000 answers pass chi-square against the exact law of the integers (false alarm below 1e-6 each); that of an ε 30 % larger is rejected."""
    heights, epsilon = array([0, 1, 1, 2, 2, 4]), Fraction(1)
    observed = np.bincount([np.ravel(QUERIES[query](heights, epsilon, 1))[0] for _ in range(10_000)], minlength=5)

    def p_value(epsilon):
        law = exact_law(lambda: QUERIES[query](heights, epsilon, 1))
        return pooled_p(observed, [10_000 * float(law.get((x,), law.get(x))) for x in range(5)])

    assert p_value(epsilon) > ALPHA
    assert p_value(epsilon * Fraction(13, 10)) < ALPHA


def test_several_draws_follow_the_exact_joint_law(monkeypatch):
    """N = 3000 pairs of quantiles pass chi-square (false alarm below 1e-6) against their exact joint law, low bits included; that of an ε 50 % larger is rejected."""
    monkeypatch.setattr(quantiles, "_SPREAD", 1)
    heights, wanted, epsilon = (0, 1, 1), [Fraction(1, 4), Fraction(2, 3)], Fraction(4)
    drawn = [tuple(private_quantiles(array(heights), 2, wanted, epsilon, 1)) for _ in range(3000)]

    def p_value(epsilon):
        law = several_law(heights, wanted, epsilon, 1)
        return pooled_p([drawn.count(x) for x in law], [3000 * float(p) for p in law.values()])

    assert p_value(epsilon) > ALPHA
    assert p_value(epsilon * Fraction(3, 2)) < ALPHA


@pytest.mark.parametrize("share", [1, 3])
def test_neighbours_from_outside(share, monkeypatch):
    """N = 10 000 medians a side prove no loss above ε = 1 on a pair made for it (false alarm below 1e-6), and a rate three times as large is caught."""
    honest = quantiles._weights
    monkeypatch.setattr(quantiles, "_weights", lambda sensitivity, e, grid: honest(sensitivity, share * e, grid))
    left, right = array([3]), array([3, 9])
    samples = [[private_quantiles(side, 9, [HALF], Fraction(1), 1)[0] for _ in range(10_000)] for side in (left, right)]
    loss = certified_loss(*samples)
    assert (loss > 1) == (share == 3)
    assert loss > 0.3


def covers(heights, point, quantile):
    """Whether a point is a true quantile: L <= q n <= L + E."""
    return int(np.sum(heights < point)) <= quantile * len(heights) <= int(np.sum(heights <= point))


@pytest.mark.parametrize("size", [1, 2, 7, 100, 101])
@pytest.mark.parametrize("top", [1, 110, 2**40, 2**64 - 1])
def test_a_huge_epsilon_gives_order_statistics(size, top):
    """At ε = 10^6 every quantile is a true one: of odd numbers the median itself, of even ones a point between the middle two; the extremes are exact.
    Each of 300 answers is another with a probability below 2^-38.
    """
    rng = np.random.default_rng(size)
    heights = rng.integers(0, top, size, dtype=np.uint64, endpoint=True)
    ordered = np.sort(heights)
    for quantile in [*DECILES, Fraction(0), Fraction(1), Fraction(1, 3)]:
        assert covers(heights, private_quantiles(heights, top, [quantile], HUGE, 1)[0], quantile)
    [median] = private_quantiles(heights, top, [HALF], HUGE, 1)
    assert int(ordered[(size - 1) // 2]) <= median <= int(ordered[size // 2])
    assert private_extreme(heights, top, HUGE, 1, largest=False) == int(ordered[0])
    assert private_extreme(heights, top, HUGE, 1, largest=True) == int(ordered[-1])


def test_quartiles_of_seven_are_order_statistics():
    """At a huge ε the recursion finds the 2nd, 4th and 6th of seven values, which are the quartiles: splits drop no other record (another answer: below 2^-38)."""
    assert private_quantiles(array([60, 10, 50, 30, 70, 20, 40]), 100, [Fraction(3, 4), Fraction(1, 4), HALF], Fraction(10**9), 1) == [
        60,
        20,
        40,
    ]


def test_numbers_beyond_64_bits_do_not_wrap():
    """Quantiles whose denominators times the number of records pass 2^63 are true ones at a huge ε, and a grid may go on where signed heights cannot (another answer: below 2^-38)."""
    heights = array([10, 20, 30, 40, 50])
    for quantile in (Fraction(10**18, 2 * 10**18 + 1), Fraction(1, 10**30), Fraction(10**30 - 1, 10**30)):
        assert covers(heights, private_quantiles(heights, 2**64 - 1, [quantile], Fraction(10**40), 1)[0], quantile)
    ranked = quantiles._Ranked(OrderStatistics(heights, 2**64 - 1), 2**64 - 1, 20)
    ranked.prepare([])
    assert ranked.below((2**64 - 1) << 20) == (5, 5)
    assert [value >> 20 for value in window(ranked, 1, 3)] == [20, 30]


@pytest.mark.parametrize("count", [3, 9, 29])
def test_several_quantiles_of_many_values(count):
    """At a huge ε each of several quantiles of 150 000 values, few enough to be searched or so many that all are sorted, is off by at most one rank per level."""
    heights = np.random.default_rng(count).integers(0, 2**40, 150_000)
    wanted = [Fraction(k, count + 1) for k in range(1, count + 1)]
    ordered = np.sort(heights)
    for quantile, answer in zip(wanted, private_quantiles(heights, 2**40, wanted, HUGE, 1), strict=True):
        assert distance(ordered, answer, quantile) <= count.bit_length()


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("wanted", [[HALF], DECILES], ids=["one", "nine"])
def test_many_equal_values_are_their_quantiles(wanted, dtype):
    """Of 800 000 equal values, also at both ends of the grid, every quantile is that value at ε = 1, and the extremes at a huge ε (another: below 2^-38)."""
    for value in (0, 12345, 2**31):
        heights = np.full(800_000, value, dtype=dtype)
        assert private_quantiles(heights, 2**31, wanted, Fraction(1), 1) == [value] * len(wanted)
        assert private_extreme(heights, 2**31, HUGE, 1, largest=True) == value
        assert private_extreme(heights, 2**31, HUGE, 1, largest=False) == value


@pytest.mark.parametrize("top", [2**20, 2**64 - 1])
@pytest.mark.parametrize("spread", [20, 0])
def test_a_common_value_is_on_both_sides_of_a_split(spread, top, monkeypatch):
    """Of 10 000 values 90 % are one, 500 are below it: at ε = 10 it is all three quartiles; without random low bits, the twin, it is not.
    The quartiles are 2000 ranks inside, at a rate of more than 1 for each; so another answer has a probability below 2^-38.
    """
    monkeypatch.setattr(quantiles, "_SPREAD", spread)
    rng = np.random.default_rng(3)
    heights = np.full(10_000, 777, dtype=np.uint64)
    heights[:500] = rng.integers(0, 777, 500)
    heights[500:1000] = rng.integers(777, top, 500, dtype=np.uint64)
    inner = private_quantiles(heights, top, [Fraction(1, 4), HALF, Fraction(3, 4)], Fraction(10), 1)
    assert (inner == [777] * 3) == (spread > 0)


def test_no_data_is_the_uniform_law():
    """Without records every point has the same weight; so has, with a clip, every point whose distance is clipped."""
    law = exact_law(lambda: private_quantiles(array([]), 9, [Fraction(1, 3)], Fraction(5), 1))
    assert set(law.values()) == {Fraction(1, 10)}
    law = exact_law(lambda: private_extreme(array([]), 9, Fraction(5), 1, largest=True))
    assert set(law.values()) == {Fraction(1, 10)}
    assert private_quantiles(array([]), 9, [], Fraction(5), 1) == []


@pytest.mark.parametrize("top", [0, 1, 2**64 - 1])
def test_smallest_and_largest_grids(top):
    """A grid of one point has one answer; every answer lies on the grid, also with data at both of its ends and with 64-bit heights."""
    heights = array([0, top, top, 0, top], dtype=np.uint64)
    for epsilon in (Fraction(1, 1000), Fraction(3)):
        answers = private_quantiles(heights, top, [Fraction(0), *DECILES, Fraction(1)], epsilon, 3)
        assert all(0 <= answer <= top for answer in answers)
        assert answers == sorted(answers)
        assert all(0 <= private_extreme(heights, top, epsilon, 3, largest=side) <= top for side in (True, False))


@pytest.mark.parametrize("size", [0, 1, 5, 3000])
def test_answers_are_monotone(size):
    """Quantiles in any order, repeated, come back in that order, equal where repeated and never decreasing in the quantile, whatever ε is."""
    rng = np.random.default_rng(size)
    heights = rng.integers(0, 1000, size)
    wanted = [HALF, Fraction(1), Fraction(1, 7), HALF, Fraction(0), Fraction(99, 100), Fraction(3, 7)]
    for k in range(60):
        answers = private_quantiles(heights, 1000, wanted, Fraction(k + 1, 10), 1)
        assert answers[0] == answers[3]
        assert [answer for _, answer in sorted(zip(wanted, answers, strict=True))] == sorted(answers)


DATA = {
    "random": lambda rng, n: rng.integers(0, 2**50, n),
    "sorted": lambda rng, n: np.sort(rng.integers(0, 2**50, n)),
    "periodic": lambda rng, n: np.arange(n) % (n // order_statistics._SAMPLE) * 2**20,
    "few": lambda rng, n: rng.integers(0, 5, n),
    "atom": lambda rng, n: np.where(rng.random(n) < 0.6, 2**30, rng.integers(0, 2**31, n)),
    "words": lambda rng, n: rng.integers(0, 2**64 - 1, n, dtype=np.uint64, endpoint=True),
}


@pytest.mark.parametrize("bits", [0, 20])
@pytest.mark.parametrize("data", DATA)
def test_windows_are_slices_of_the_sorted_values(data, bits):
    """Windows of ranks, prepared or not, and numbers below a value are those of a full sort; low bits once seen never change, which is what keeps a record in one part of a split."""
    n = 200_000
    heights = DATA[data](np.random.default_rng(1), n)
    top = 2**64 - 1 if data == "words" else 2**50
    order = OrderStatistics(heights, top)
    ranked = quantiles._Ranked(order, top, bits)
    ranked.prepare([(-5, 300), (n // 2, n // 2 + 500), (n - 10, n + 5)])
    assert sum(len(piece.heights) for piece in order._pieces) < n or data in {"periodic", "few", "atom"}
    seen = {
        bounds: window(ranked, *bounds)
        for bounds in [(0, 300), (n // 2, n // 2 + 500), (n - 10, n), (60_000, 61_000), (90_000, 120_000), (5, 5)]
    }
    middle = seen[n // 2, n // 2 + 500][77]
    missed = int(np.sort(heights)[150_001]) << bits
    counts = {value: ranked.below(value) for value in (middle, missed, 0, (top << bits) | ((1 << bits) - 1))}
    everything = window(ranked, 0, n)
    assert [value >> bits for value in everything] == np.sort(heights).tolist()
    assert everything == sorted(everything)
    for (start, stop), values in seen.items():
        assert values == everything[start:stop]
    for value, (less, most) in counts.items():
        assert less == sum(other < value for other in everything)
        assert most == sum(other <= value for other in everything)


def test_random_bytes_alone_decide():
    """The same bytes give the same answers, whatever the order of the records and whatever path finds their ranks; other bytes give others."""
    rng = np.random.default_rng(5)
    heights = rng.integers(0, 2**40, 150_000)
    answers = []
    for seed, order, small in ((1, heights, 0), (1, np.sort(heights), 0), (1, heights[::-1], 10**9), (2, heights, 0)):
        with noise.injected(Source(seed)), pytest.MonkeyPatch.context() as patch:
            patch.setattr(order_statistics, "_SMALL", small)
            np.random.seed(seed)
            several = [private_quantiles(order % 50 if tied else order, 2**40, DECILES, HALF, 1) for tied in (False, True)]
            answers.append(
                (private_quantiles(order, 2**40, [HALF], HALF, 1), private_extreme(order, 2**40, HALF, 1, largest=True), *several)
            )
    assert answers[0] == answers[1] == answers[2]
    assert all(one != other for one, other in zip(answers[0][:3], answers[3][:3], strict=True))


def distance(heights, point, quantile):
    low, high = int(np.searchsorted(heights, point, "left")), int(np.searchsorted(heights, point, "right"))
    target = quantile * len(heights)
    return max(0, low - target, target - high)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(5), HUGE], ids=str)
@pytest.mark.parametrize("quantile", [HALF, Fraction(1, 10), Fraction(1)], ids=str)
def test_rank_error_holds_exactly(quantile, epsilon):
    """For one quantile, the probability of a rank error above the bound, computed from the integers, is at most 1 - level; above a tenth of the bound, the twin, it is more."""
    heights = np.sort(np.random.default_rng(1).integers(0, 2000, 400))
    [law] = [exact_law(lambda: private_quantiles(heights, 2000, [quantile], epsilon, 1))]
    for level in (0.5, 0.95, 0.999):
        bound = rank_error(2000, 1, quantile, epsilon, 1, level=level)
        assert sum(p for (x,), p in law.items() if distance(heights, x, quantile) > bound) <= 1 - level
    tenth = rank_error(2000, 1, quantile, epsilon, 1, level=0.95) // 10
    if quantile == HALF and epsilon < 1:
        assert sum(p for (x,), p in law.items() if distance(heights, x, quantile) > tenth) > 0.05
    if epsilon == HUGE:
        assert rank_error(2000, 1, quantile, epsilon, 1, level=0.95) == 0


def test_rank_error_of_several_holds():
    """Of N = 300 runs, each decile's rank error is within the bound at 80 % as often as that promises (at most 95 misses, which a true 80 % passes falsely below 1e-6, by the binomial); one rank, the twin, would be too little."""
    heights = np.sort(np.random.default_rng(1).integers(0, 2**30, 5000))
    runs = [private_quantiles(heights, 2**30, DECILES, Fraction(4), 1) for _ in range(300)]
    bound = rank_error(2**30, 9, HALF, Fraction(4), 1, level=0.8)

    def p_value(k, limit):
        misses = sum(distance(heights, run[k], DECILES[k]) > limit for run in runs)
        return stats.binom.sf(misses - 1, len(runs), 0.2)

    assert all(p_value(k, bound) > CONFIDENCE for k in range(9))
    assert any(p_value(k, 1) < CONFIDENCE for k in range(9))


def test_extremes_stay_inside_the_data():
    """At ε = 1 a minimum falls below all records with a probability of at most 5 %, exactly, though 2000 of 2^11 points lie there; aimed at the first record, the twin, it nearly always does.
    The public rank is 1 at a large ε, and larger for more records or a smaller ε.
    """
    heights = 2000 + np.arange(48)
    law = exact_law(lambda: private_extreme(heights, 2047, Fraction(1), 1, largest=False))
    assert sum(p for x, p in law.items() if x < 2000) <= Fraction(1, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantiles, "extreme_rank", lambda *args: 1)
        law = exact_law(lambda: private_extreme(heights, 2047, Fraction(1), 1, largest=False))
        assert sum(p for x, p in law.items() if x < 2000) > Fraction(9, 10)
    assert extreme_rank(2**64 - 1, HUGE, 1) == 1
    assert extreme_rank(2047, Fraction(1), 1) == math.ceil(2 * (11 * 0.7 + 3))
    assert extreme_rank(2047, Fraction(1, 2), 3) > extreme_rank(2047, Fraction(1, 2), 1) > extreme_rank(2047, Fraction(1), 1)


def test_with_too_few_records_an_extreme_tends_to_the_other_end():
    """With fewer records than its rank, a minimum is nearer the last point than the first: L - t grows with every record that a point is above."""
    law = exact_law(lambda: private_extreme(array([2, 2, 2]), 10, Fraction(1), 1, largest=False))
    assert law[10] > law[0]
    law = exact_law(lambda: private_extreme(array([8, 8, 8]), 10, Fraction(1), 1, largest=True))
    assert law[0] > law[10]


@pytest.mark.parametrize(
    "call",
    [
        lambda: private_quantiles(array([1]), 4, [HALF], Fraction(0), 1),
        lambda: private_quantiles(array([1]), 4, [HALF], Fraction(1), 0),
        lambda: private_quantiles(array([1]), 4, [Fraction(3, 2)], Fraction(1), 1),
        lambda: private_quantiles(array([1]), 2**64, [HALF], Fraction(1), 1),
        lambda: private_extreme(array([1]), 4, Fraction(-1), 1, largest=True),
        lambda: rank_error(4, 1, HALF, Fraction(1), 1, level=1.0),
    ],
)
def test_public_parameters_are_checked(call):
    """Parameters without a meaning are refused before any data is looked at."""
    with pytest.raises(ValueError, match="must"):
        call()
