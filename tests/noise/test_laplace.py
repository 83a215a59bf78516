"""The sampler: exact thresholds, the exact law by both paths, ties, an independent oracle, and what must be rejected."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from support import ALPHA, chi_square_p

from pandas_dp.noise import entropy as noise
from pandas_dp.noise import laplace
from pandas_dp.noise.exact import exp_bounds
from pandas_dp.noise.laplace import DiscreteLaplace, discrete_laplace

SCALES = [Fraction(1, 5), Fraction(1), Fraction(10), Fraction(22, 7), Fraction(1000, 3), Fraction(2**40)]
RATES = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 3),
    Fraction(50),
    Fraction(10**6),
    Fraction(1, 2**60),
    Fraction(1, 10**12),
    Fraction(2**70 + 1, 2**69),
]
SINGLE, MANY = 30_000, 100_000


def decimal_exp(rate):
    """An independent exponential: the standard library's decimal arithmetic at 400 digits."""
    getcontext().prec = 400
    return (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("bits", [8, 64, 200, 700])
def test_exponential_bounds_enclose(rate, bits):
    """exp_bounds encloses exp(-rate) * 2**bits, within a few units, at every precision: the root of every threshold."""
    low, high = exp_bounds(rate, bits)
    exact = decimal_exp(rate) * (Decimal(2) ** bits)
    assert low <= exact <= high
    assert high - low <= 4


@pytest.mark.parametrize("scale", [*SCALES, Fraction(1, 1000), Fraction(2**100), Fraction(10**12, 7)], ids=str)
def test_first_words_are_exact(scale):
    """Each 64-bit threshold is the floor of its probability times 2**64: q^w/(1+q^w) for bit weight w, 2q/(1+q) for "not zero"."""
    sampler = DiscreteLaplace(scale)
    *bits, nonzero = sampler._thresholds
    for j, threshold in enumerate(bits):
        q = decimal_exp(2**j / scale)
        assert threshold == math.floor(q / (1 + q) * 2**64)
    q = decimal_exp(1 / scale)
    assert nonzero == math.floor(2 * q / (1 + q) * 2**64)
    assert decimal_exp(2**sampler.bits / scale) < Decimal(2) ** -64, "beyond the last bit only a word of zero may count"


@pytest.mark.parametrize("scale", [Fraction(3, 2), Fraction(300), Fraction(2**40)], ids=str)
def test_table_thresholds_are_exact(scale):
    """Each threshold of the look-up tables is the floor of the digit's cumulative probability: (1 - Q^(k+1)) / (1 - Q^size)."""
    tables = laplace._Tables(1 / scale)
    for offset, width, table in zip(tables.offsets, tables.widths, tables.digits, strict=True):
        q = decimal_exp(2**offset / scale)
        expected = [math.floor((1 - q ** (k + 1)) / (1 - q ** (2**width)) * 2**64) for k in range(2**width - 1)]
        assert table.floors.tolist() == expected
    top = decimal_exp(2**tables.bits / scale)
    assert tables.top.floors.tolist() == [math.floor((1 - top ** (k + 1)) * 2**64) for k in range(len(tables.top.floors))]
    assert int(tables.top.floors[-1]) == 2**64 - 1


def test_guide_agrees_with_search():
    """A 16-bit prefix decides by look-up exactly where all 2**48 numbers it stands for have the same outcome."""
    table = laplace._Tables(Fraction(1, 300)).digits[0]
    floors = [int(floor) for floor in table.floors]
    for prefix in range(0, 2**16, 17):
        first, last = prefix << 48, ((prefix + 1) << 48) - 1
        inside = [floor for floor in floors if first <= floor <= last]
        below = sum(floor < first for floor in floors)
        assert table.guide[prefix] == (laplace._UNDECIDED if inside else below)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("path", ["scalar", "vector"])
def test_draws_follow_the_exact_law(scale, path):
    """N = 100 000 draws at once, or 30 000 one by one, pass chi-square against the exact pmf (each of 12 tests fails falsely below 1e-6), and the same
    draws reject a scale 15 % larger or smaller, so that a wrong scale or a wrong tail would show. Of the scale 1/5, where one draw in 75 is not zero, it is 100 000 by
    both paths.
    """
    sampler = DiscreteLaplace(scale)
    draws = sampler.draws(MANY) if path == "vector" else [sampler.draw() for _ in range(SINGLE if scale >= 1 else MANY)]
    assert chi_square_p(draws, scale) > ALPHA
    assert chi_square_p(draws, scale * Fraction(115, 100)) < ALPHA
    assert chi_square_p(draws, scale * Fraction(85, 100)) < ALPHA


@pytest.mark.parametrize("scale", [1, 10, 1000])
def test_opendp_agrees(scale):
    """N = 30 000 of our draws and of OpenDP's exact sampler come from one law: two-sample chi-square (false alarm below 1e-6 each); ours at a scale 15 % larger do not."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measurement = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=float(scale))
    theirs = np.array(measurement([0] * SINGLE))

    def p_value(ours):
        edges = np.unique(np.round(np.quantile(theirs, np.linspace(0.01, 0.99, 40)))) - 0.5
        table = [np.histogram(sample, np.concatenate([[-np.inf], edges, [np.inf]]))[0] for sample in (ours, theirs)]
        return float(stats.chi2_contingency(table)[1])

    assert p_value(DiscreteLaplace(Fraction(scale)).draws(SINGLE)) > ALPHA
    assert p_value(DiscreteLaplace(Fraction(scale) * Fraction(115, 100)).draws(SINGLE)) < ALPHA


class Script:
    """A source of random bytes that returns prepared words, lowest byte first, and then zeros."""

    def __init__(self, *words):
        self.data = b"".join(int(word).to_bytes(8, "little") for word in words)
        self.read = 0

    def __call__(self, count):
        taken, self.data = self.data[:count], self.data[count:]
        self.read += count
        return taken.ljust(count, b"\x00")


@pytest.mark.parametrize("bit", range(6))
def test_scalar_tie_reads_more_digits(bit):
    """A word equal to its threshold decides by the next 64 digits of both, compared exactly; equal again, by the next 64."""
    scale = Fraction(10)
    sampler = DiscreteLaplace(scale)
    q = decimal_exp(2**bit / scale)
    expansion = math.floor(q / (1 + q) * Decimal(2) ** 192)
    digits = [(expansion >> shift) & (2**64 - 1) for shift in (128, 64, 0)]
    full = 2**64 - 1
    for continuation, taken in (
        ([digits[1] - 1], True),
        ([digits[1] + 1], False),
        ([digits[1], digits[2] - 1], True),
        ([digits[1], digits[2] + 1], False),
    ):
        words = [full] * (sampler.bits + 3)  # nothing drawn but what is scripted
        words[bit] = digits[0]
        words[sampler.bits] = 0  # not zero
        source = Script(*words, *continuation)
        with noise.injected(source):
            value = sampler.draw()
        assert abs(value) == 1 + (2**bit if taken else 0)


def test_scalar_tail_goes_on_without_end():
    """A tail word of zero may add multiples of 2**bits: the law has no last value."""
    sampler = DiscreteLaplace(Fraction(10))
    full = 2**64 - 1
    words = [full] * (sampler.bits + 3)
    words[sampler.bits] = 0
    words[sampler.bits + 1] = 0  # tail: a tie with the threshold 0
    with noise.injected(Script(*words, 0, 0, 0, full)):
        value = sampler.draw()
    assert abs(value) > 2**sampler.bits
    assert (abs(value) - 1) % 2**sampler.bits == 0


def test_table_tie_reads_more_digits():
    """In the vector path, too, a word equal to a threshold is extended and compared with the threshold's next digits."""
    tables = laplace._Tables(Fraction(1, 300))
    table = tables.digits[0]
    k = 100
    floors = table.refine(128)
    assert table.floors[k] == floors[k] >> 64
    rest = floors[k] & (2**64 - 1)
    for extension, outcome in ((rest - 1, k), (rest + 1, k + 1)):
        with noise.injected(Script(extension)):
            assert table._resolve(int(table.floors[k])) == outcome


def test_vector_outlier_becomes_python_ints():
    """A value that the table does not hold is resolved to any size, and the block is returned as Python ints instead of wrapping."""
    tables = laplace._Tables(Fraction(1, 2**50))
    block = tables._with_outliers(np.zeros(3, dtype=np.int64), {1: 2**20})
    assert block.dtype == object
    assert abs(block[1]) >= 2**70


def test_huge_scales_use_python_ints():
    """Scales beyond 2**52 are drawn one by one and never wrap."""
    draws = DiscreteLaplace(Fraction(2**80)).draws(50)
    assert draws.dtype == object
    assert max(abs(value) for value in draws) > 2**70


@pytest.mark.parametrize("scale", [2**51, 2**53, 2**60, 2**70])
def test_many_draws_of_a_huge_scale_are_as_large_as_they_should_be(scale):
    """Of 2000 draws by the path for many, half are beyond scale * ln 2, about (another share than 0.43 to 0.57 with a probability below 1e-9), whatever the scale.

    It would catch the quick path at scales where 64 bits cannot hold its outcomes: noise would wrap, and be small.
    """
    draws = DiscreteLaplace(Fraction(scale)).draws(2000)
    assert 860 < sum(abs(int(value)) > scale * math.log(2) for value in draws) < 1140
    assert 860 < sum(int(value) > 0 for value in draws) < 1140


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 100_001])
def test_draws_has_the_length_asked_for(count):
    """draws(n) returns n integers by either path."""
    assert len(DiscreteLaplace(Fraction(10)).draws(count)) == count


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999999])
def test_half_width_is_the_quantile(scale, level):
    """half_width is the smallest k with P(|noise| <= k) >= level."""
    sampler = DiscreteLaplace(scale)
    k = sampler.half_width(level)
    assert sampler.tail(k) <= 1 - level
    assert k == 0 or sampler.tail(k - 1) > 1 - level


def test_tail_is_a_probability():
    """tail(k) is 1 below zero and 2 q^(k+1) / (1+q) from there."""
    sampler = DiscreteLaplace(Fraction(10))
    assert sampler.tail(-1) == 1.0
    q = math.exp(-0.1)
    assert sampler.tail(3.5) == pytest.approx(2 * q**4 / (1 + q))


def test_scale_must_be_positive():
    """No scale of zero or below is ever accepted: it would be no noise at all."""
    for scale in (Fraction(0), Fraction(-1)):
        with pytest.raises(ValueError, match="positive"):
            DiscreteLaplace(scale)


def test_samplers_are_kept_by_their_public_scale():
    """The same scale is the same sampler: thresholds depend on public numbers alone."""
    assert discrete_laplace(Fraction(7, 3)) is discrete_laplace(Fraction(7, 3))


def test_numpy_and_random_seeds_do_not_matter():
    """Seeding the global generators repeats nothing, and a draw leaves their state alone (20 pairs at scale 2**40: a repeat has probability below 1e-9)."""
    import random

    sampler = DiscreteLaplace(Fraction(2**40))
    for _ in range(20):
        pair = []
        for _ in range(2):
            np.random.seed(0)
            random.seed(0)
            pair.append(sampler.draw())
        assert pair[0] != pair[1]
    state = np.random.get_state()[1].copy()
    sampler.draws(2000)
    assert (np.random.get_state()[1] == state).all()


def test_every_draw_reads_fresh_bytes():
    """Nothing is cached: each draw takes its bytes from the source, as many whatever comes out."""
    sampler = DiscreteLaplace(Fraction(10))
    lengths = set()
    for seed in range(1, 51):
        source = Script(*[(seed * 0x9E3779B97F4A7C15) % 2**64] * 40)
        with noise.injected(source):
            sampler.draw()
        lengths.add(source.read)
    assert len(lengths) == 1
    assert lengths.pop() > 0


def test_no_pattern_comes_back():
    """5000 draws show no lag at which more than 10 in a row repeat (scale 2**40: a false alarm is impossible in practice)."""
    draws = DiscreteLaplace(Fraction(2**40)).draws(5000)
    for lag in range(1, 2501):
        assert int(np.sum(draws[lag:] == draws[:-lag])) <= 10
