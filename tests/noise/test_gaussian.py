"""The Gaussian sampler: proven stairs, the exact law by every path, doubts and ties, an independent oracle, and what must be rejected."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats
from support import ALPHA, pooled_p

from pandas_dp.noise import entropy as noise
from pandas_dp.noise import gaussian
from pandas_dp.noise.gaussian import DiscreteGaussian, discrete_gaussian

SIGMAS = [Fraction(3, 10), Fraction(1), Fraction(21, 2), Fraction(100025, 100), Fraction(2**15), Fraction(2**40)]
VARIANCES = [*(sigma**2 for sigma in SIGMAS), Fraction(1, 10**9), Fraction(2), Fraction(32**2), Fraction(10**7, 3), Fraction(2**301 + 1, 7)]
SINGLE, MANY, SAMPLE = 20_000, 500_000, 30_000
WORDS = 2**64


@pytest.fixture(autouse=True)
def _sixty_digits():
    """Give the independent arithmetic 60 decimal digits: the standard library's ``decimal``, which the package does not use."""
    with localcontext() as context:
        context.prec = 60
        yield


def curve(x, variance):
    """Return exp(-x^2 / (2 variance))."""
    return (-Decimal(x * x * variance.denominator) / Decimal(2 * variance.numerator)).exp()


def first(stairs, step):
    """Return the least magnitude of a step beyond zero's, or with the number of all steps that of the tail."""
    return 1 + (step - 1) * 2**stairs.shift


def enclosed(stairs, variance):
    """Return whether every step's floor and ceiling enclose C times the curve at its first and at its last magnitude."""
    height, starts = stairs.scale, [first(stairs, step + 1) for step in range(stairs.count + 1)]
    zero = Decimal(height) / 2 ** (stairs.shift + 1)
    least = [zero, *(height * curve(start - 1, variance) for start in starts[1:])]
    most = [zero, *(height * curve(start, variance) for start in starts[:-1])]
    rows = zip(stairs.floors, stairs.gaps, least, most, strict=True)
    return all(floor <= low and high <= floor + gap for floor, gap, low, high in rows)


@pytest.mark.parametrize("variance", VARIANCES, ids=lambda variance: f"{float(variance):.3g}")
@pytest.mark.parametrize("fineness", [gaussian._COARSE, gaussian._FINE])
def test_stairs_enclose_the_curve(variance, fineness):
    """Each step's floor and ceiling enclose C exp(-x^2 / 2v) for all its magnitudes: all that exactness needs. Of the curve with a
    variance 2 % larger or smaller this is false (where there are steps at all).
    """
    stairs = gaussian._Stairs(variance, fineness)
    assert enclosed(stairs, variance)
    if stairs.count > 1:
        assert not enclosed(stairs, variance * Fraction(51, 50))
        assert not enclosed(stairs, variance * Fraction(49, 50))


@pytest.mark.parametrize("variance", VARIANCES, ids=lambda variance: f"{float(variance):.3g}")
@pytest.mark.parametrize("fineness", [gaussian._COARSE, gaussian._FINE])
def test_all_words_are_dealt_out(variance, fineness):
    """Every step gets ``floor`` and then ``gap`` numbers of 64 bits, few of them, and the tail gets the rest, which is enough: whatever the
    stretch, it keeps nothing with a probability above 1, and stretches are longer than the stairs.
    """
    stairs = gaussian._Stairs(variance, fineness)
    dealt = [end - start for start, end in itertools.pairwise([0, *stairs.ends, WORDS])]
    assert dealt == [*stairs.floors, *stairs.gaps, stairs.left]
    assert min(dealt) >= 0
    assert min(stairs.gaps) >= 1
    assert sum(stairs.gaps) < (WORDS >> 50 if stairs.shift == 0 else WORDS >> fineness - 1)
    length, start = 2 ** (stairs.shift + gaussian._TAIL), first(stairs, stairs.count + 1)
    assert length >= start
    for stretch in range(6):
        assert stairs.scale * 2 ** (stretch + 1 + gaussian._TAIL) * curve(start + stretch * length, variance) <= stairs.left


@pytest.mark.parametrize("variance", [Fraction(10**6), Fraction(2**80), Fraction(441, 4)], ids=str)
def test_chances_are_exact(variance):
    """The probability with which a doubt is kept is (C e(x) - floor) / gap, enclosed in units of the last of 100 digits; it is not
    that of a variance larger by 1 part in 10^20: no variance is rounded.
    """
    stairs = gaussian._Stairs(variance, gaussian._COARSE)
    for step in range(4, 60, 7):
        for low in {0, stairs.mask // 3, stairs.mask}:
            low_bound, high_bound = stairs.chance(step, low)(100)
            for factor, right in ((Fraction(1), True), (1 + Fraction(1, 10**20), False)):
                height = stairs.scale * curve(first(stairs, step) + low, variance * factor)
                exact = (height - stairs.floors[step]) / stairs.gaps[step] * 2**100
                assert (low_bound <= exact <= high_bound) is right
            assert high_bound - low_bound <= 4


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(2**20), Fraction(2**160)], ids=str)
def test_chance_of_zero_is_exact(variance):
    """Zero in doubt is kept with the fractional part of C / 2^(shift + 1): the law has an exact share of zeros."""
    stairs = gaussian._Stairs(variance, gaussian._COARSE)
    exact = Fraction(stairs.scale, 2 ** (stairs.shift + 1)) - stairs.floors[0]
    for bits in (1, 64, 400):
        low, high = stairs.chance(0, 0)(bits)
        assert low <= exact * 2**bits <= high <= low + 1
    assert low == high


class Script:
    """A source of random bytes that returns prepared bytes, and then zeros."""

    def __init__(self, *parts):
        self.data = b"".join(part if isinstance(part, bytes) else int(part).to_bytes(8, "little") for part in parts)
        self.read = 0

    def __call__(self, count):
        taken, self.data = self.data[:count], self.data[count:]
        self.read += count
        return taken.ljust(count, b"\x00")


def ties(chance):
    """Return coins that share 64 or 128 digits with a probability and differ then, and whether they are below it."""
    low, high = chance(300)
    assert low >> 108 == high >> 108
    one, two, three = [(low >> shift) & (WORDS - 1) for shift in (236, 172, 108)]
    return [((one, two - 1), True), ((one, two + 1), False), ((one, two, three - 1), True), ((one, two, three + 1), False)]


def test_guide_agrees_with_search():
    """A 16-bit prefix decides by look-up exactly where all 2**48 numbers it stands for have the same outcome; elsewhere all 64 bits decide,
    and a step's first number is the step's.
    """
    tables = gaussian._Tables(gaussian._Stairs(Fraction(10**6), gaussian._FINE))
    assert tables.ends.tolist() == tables.stairs.ends
    for prefix in (*range(0, 2**16, 101), 2**16 - 1):
        first_outcome, last_outcome = (sum(end <= word for end in tables.stairs.ends) for word in (prefix << 48, (prefix + 1 << 48) - 1))
        assert tables.guide[prefix] == (first_outcome if first_outcome == last_outcome else gaussian._UNDECIDED)
    for word in (end - late for end in tables.stairs.ends[::50] for late in (0, 1)):
        with noise.injected(Script((word >> 48).to_bytes(2, "little"), (word << 16) % WORDS)):
            assert tables._outcomes(1).tolist() == [sum(end <= word for end in tables.stairs.ends)]


@pytest.mark.parametrize("variance", [Fraction(10**6), Fraction(2**100)], ids=str)
def test_margins_enclose_the_curve(variance):
    """At the part t of a step the probability of being kept is within the step's margin of 1 - t, so that quick decisions are right; the
    margins are not idle, half of them would be too little somewhere.
    """
    tables = gaussian._Tables(gaussian._Stairs(variance, gaussian._FINE))
    stairs, worst = tables.stairs, Decimal(0)
    for step in (1, 2, 3, *range(4, stairs.count + 1, 40)):
        for low in {int(stairs.mask * part) for part in (0, 0.25, 0.5, 0.75, 1)}:
            kept = (stairs.scale * curve(first(stairs, step) + low, variance) - stairs.floors[step]) / stairs.gaps[step]
            distance = abs(kept - (1 - Decimal(low) / 2**stairs.shift)) * 2**32
            worst = max(worst, distance / int(tables.margins[step]))
    assert 0.5 < worst <= 1


@pytest.mark.parametrize("sigma", [300, 2**40], ids=str)
def test_quick_decisions_are_exact(sigma):
    """For words close around the exact probability and around both margins, a doubt is decided as 60 digits decide it, and a word equal to
    the probability's first 64 digits by the next digits of both.
    """
    tables = gaussian._Tables(gaussian._Stairs(Fraction(sigma) ** 2, gaussian._FINE))
    stairs = tables.stairs
    for step in (1, 2, 9, 100, 250, 700):
        for low in {0, stairs.mask // 3, stairs.mask}:
            exact = (stairs.scale * curve(first(stairs, step) + low, stairs.variance) - stairs.floors[step]) / stairs.gaps[step] * WORDS
            line = WORDS - low * WORDS // 2**stairs.shift
            margin = int(tables.margins[step]) << 32
            centres = (int(exact), line - margin, line + margin)
            offsets = (-(2**33), -(2**32), -2, -1, 1, 2, 2**32, 2**33)
            words = [centre + offset for centre in centres for offset in offsets if 0 <= centre + offset < WORDS]
            with noise.injected(Script(*words)):
                kept = tables._kept(np.full(len(words), step), np.full(len(words), low))
            assert kept.tolist() == [word < exact for word in words]
            for coins, kept in ties(stairs.chance(step, low)) if low else ():
                with noise.injected(Script(*coins)):
                    assert tables._kept(np.array([step]), np.array([low])).tolist() == [kept]


@pytest.mark.parametrize(("variance", "low"), [(Fraction(10**6), 17), (Fraction(441, 4), 0)], ids=str)
@pytest.mark.parametrize("step", [1, 20, 60])
def test_scalar_tie_reads_more_digits(variance, low, step):
    """A coin that equals its probability's first 64 digits is decided by the next 64 digits of both, compared exactly; equal again, by the
    next; and a draw that is not kept starts from the beginning. So, too, when steps hold one magnitude, and doubts are digits that a word has no room for.
    """
    sampler = DiscreteGaussian(variance)
    stairs = sampler._stairs
    assert low <= stairs.mask
    word = stairs.ends[stairs.count + step]  # the first number that stands for the step in doubt
    for coins, kept in ties(stairs.chance(step, low)):
        source = Script(word, (low << 1 | 1).to_bytes(sampler._size - 8, "little"), *coins)
        with noise.injected(source):
            assert sampler.draw() == (-(first(stairs, step) + low) if kept else 0)
        assert source.read == sampler._size * (1 if kept else 2) + 8 * len(coins)


def test_scalar_tail_goes_on_without_end(monkeypatch):
    """The last number of 64 bits stands for the tail: a proposal is kept by an exact coin or drawn anew, and there is no last stretch."""
    sampler = DiscreteGaussian(Fraction(10**6))
    stairs = sampler._stairs
    sign = b"\x01".ljust(sampler._size - 8, b"\x00")
    length = stairs.shift + gaussian._TAIL
    start = first(stairs, stairs.count + 1)

    def drawn(stretches, coin):
        with noise.injected(Script(WORDS - 1, sign, b"\x01" * stretches, b"\x00", (3).to_bytes(length // 8 + 1, "little"), coin)):
            return sampler.draw()

    coin = math.floor(stairs.scale * 2 ** (1 + gaussian._TAIL) * curve(start + 3, sampler.variance) / stairs.left * WORDS)
    assert drawn(0, coin - 1) == -start - 3
    assert drawn(0, coin + 1) == 0
    monkeypatch.setattr(gaussian, "bernoulli", lambda chance: True)  # far out, a coin needs a million zeros
    assert drawn(2, 0) == -start - 3 - 2 * 2**length


def test_tail_follows_the_exact_law(monkeypatch):
    """With the stairs left out, the tail holds all values but zero, over many stretches: N = 10 000 kept proposals pass chi-square against the
    exact law (false alarm below 1e-6), and reject a sigma 15 % larger or smaller, so that a wrong stretch or chance would show where draws never get to.
    """
    monkeypatch.setattr(gaussian, "_NEGLIGIBLE", 0)
    monkeypatch.setattr(gaussian, "_TAIL", 3)
    stairs = gaussian._Stairs(Fraction(520**2), gaussian._COARSE)
    assert (stairs.count, stairs.shift) == (0, 5)
    stairs.left = stairs.scale << 6  # a stretch of 256 is half a sigma: no proposal asks for more than C * 2**5.5
    proposals = iter(stairs._beyond, "none of these")
    kept = list(itertools.islice((magnitude for magnitude in proposals if magnitude is not None), 10_000))
    values = np.arange(1, 10_000)
    for sigma, right in ((520, True), (600, False), (440, False)):
        edges = np.append(np.arange(0, 30) * 52 + 0.5, np.inf)
        expected = np.histogram(values, edges, weights=np.exp(-(values**2) / (2 * sigma**2)))[0]
        assert (pooled_p(np.histogram(kept, edges)[0], expected / expected.sum() * len(kept)) > ALPHA) is right


@pytest.mark.parametrize("sigma", [10, 1000, 2**50], ids=str)
@pytest.mark.parametrize("stretch", [0, 80])
@pytest.mark.parametrize("kept", [True, False])
def test_vector_tail_is_drawn_one_by_one(sigma, stretch, kept, monkeypatch):
    """A number of the tail among many draws gets its value from the tail, with its sign, or is drawn anew; values of any size are returned,
    as Python ints instead of wrapping.
    """
    tables = gaussian._Tables(gaussian._Stairs(Fraction(sigma) ** 2, gaussian._FINE))
    length = tables.stairs.shift + gaussian._TAIL
    monkeypatch.setattr(gaussian, "bernoulli", lambda chance: kept)
    word, sign = b"\xff", (1 << tables.width - 1).to_bytes(tables.width // 8, "little")
    assert tables.guide[-1] == gaussian._UNDECIDED
    with noise.injected(Script(word * 2, word * 8, sign, 0, b"\x01" * stretch, b"\x00", bytes(length // 8 + 1))):
        drawn = tables.draws(1)
    value = -first(tables.stairs, tables.stairs.count + 1) - (stretch << length)
    assert drawn.tolist() == [value if kept else 0]
    assert (drawn.dtype == object) == (kept and abs(value) >= 2**62)


@pytest.mark.parametrize("coins", [[True], [False, True], [False, False, False, True]], ids=str)
def test_what_is_not_kept_is_drawn_anew(coins, monkeypatch):
    """In blocks of one draw, the second one proposes a value of the tail until it is kept: it is the second value, and the first is as it was."""
    monkeypatch.setattr(gaussian, "_BLOCK", 1)
    left = iter(coins)
    monkeypatch.setattr(gaussian, "bernoulli", lambda chance: next(left))
    tables = gaussian._Tables(gaussian._Stairs(Fraction(10**6), gaussian._FINE))
    proposal = [b"\xff" * 10, b"\x00", 0, b"\x00", (5).to_bytes((tables.stairs.shift + gaussian._TAIL) // 8 + 1, "little")]
    with noise.injected(Script(b"\x00\x00", b"\x00", *proposal * len(coins))):
        assert tables.draws(2).tolist() == [0, first(tables.stairs, tables.stairs.count + 1) + 5]


def chi_square_p(draws, sigma):
    """Return the p-value of draws against the exact law, in bins of an eighth of sigma and two tails."""
    edges = np.concatenate([[-np.inf], np.arange(-40, 41) * float(max(1, round(sigma / 8))) - 0.5, [np.inf]])
    if sigma > 2000:  # the sum between half-integers is the integral, to 1 part in 2**80
        expected = np.diff(special.ndtr(edges / float(sigma)))
    else:
        values = np.arange(-math.ceil(12 * sigma) - 2, math.ceil(12 * sigma) + 3, dtype=float)
        expected = np.histogram(values, edges, weights=np.exp(-(values**2) / (2 * float(sigma) ** 2)))[0]
    return pooled_p(np.histogram(np.asarray(draws, dtype=float), edges)[0], expected / expected.sum() * len(draws))


@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
@pytest.mark.parametrize(("path", "count", "off"), [("scalar", SINGLE, Fraction(1, 10)), ("vector", MANY, Fraction(1, 50))])
def test_draws_follow_the_exact_law(sigma, path, count, off):
    """N = 20 000 single draws, or 500 000 at once, pass chi-square against the exact pmf (each of 12 tests fails falsely below 1e-6),
    and the same draws reject a sigma 10 % (or 2 %) larger or smaller, so that a wrong sigma, step, sign or rejection would show. With a sigma of 3/10, where one draw in 130 is
    not zero, it is 100 000 single draws.
    """
    sampler = DiscreteGaussian(sigma**2)
    draws = sampler.draws(count) if path == "vector" else [sampler.draw() for _ in range(count if sigma >= 1 else 5 * count)]
    assert chi_square_p(draws, sigma) > ALPHA
    assert chi_square_p(draws, sigma * (1 + off)) < ALPHA
    assert chi_square_p(draws, sigma * (1 - off)) < ALPHA


def test_magnitudes_are_right_within_a_step():
    """N = 1 500 000 draws with sigma 2^40 by their place in a (coarse) step, in 16 parts: chi-square (false alarm below 1e-6). Steps taken as flat, with no draw
    rejected, would be off by 1 part in 20 between their ends: that is rejected.
    """
    sigma = 2**40
    tables = gaussian._Tables(gaussian._Stairs(Fraction(sigma) ** 2, gaussian._COARSE))
    magnitudes = np.abs(tables.draws(1_500_000))
    part = 2**tables.stairs.shift // 16
    places = np.bincount((magnitudes[magnitudes > 0] - 1) // part % 16, minlength=16)
    below = special.ndtr((np.arange(16 * 200 + 1) * part + 0.5) / sigma)
    exact = np.diff(below).reshape(-1, 16).sum(axis=0)
    assert stats.chisquare(places, exact / exact.sum() * places.sum()).pvalue > ALPHA
    assert stats.chisquare(places).pvalue < ALPHA


@pytest.mark.parametrize("sigma", [1, 10, 1000])
def test_opendp_agrees(sigma):
    """N = 30 000 of our draws and of OpenDP's exact sampler come from one law: two-sample chi-square (false alarm below 1e-6 each); ours at a sigma 10 % larger do not."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measurement = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float), scale=float(sigma))
    theirs = np.array(measurement([0] * SAMPLE))

    def p_value(ours):
        edges = np.unique(np.round(np.quantile(theirs, np.linspace(0.01, 0.99, 40)))) - 0.5
        table = [np.histogram(sample, np.concatenate([[-np.inf], edges, [np.inf]]))[0] for sample in (ours, theirs)]
        return float(stats.chi2_contingency(table)[1])

    assert p_value(DiscreteGaussian(Fraction(sigma) ** 2).draws(SAMPLE)) > ALPHA
    assert p_value(DiscreteGaussian((Fraction(sigma) * Fraction(11, 10)) ** 2).draws(SAMPLE)) < ALPHA


def test_huge_variances_use_python_ints():
    """Standard deviations beyond 2**55 are drawn one by one and never wrap."""
    sampler = DiscreteGaussian(Fraction(2**160))
    draws = sampler.draws(50)
    assert draws.dtype == object
    assert max(abs(value) for value in draws) > 2**75
    assert abs(DiscreteGaussian(Fraction(10**700)).draw()) > 10**343
    assert DiscreteGaussian(Fraction(2**110)).draws(2000).dtype == np.int64


def test_tiny_variances_are_zero_nearly_always():
    """With a variance of 1e-30 or 1e-400 another value than zero is out of reach, and is still decided exactly."""
    for variance in (Fraction(1, 10**30), Fraction(1, 10**400)):
        sampler = DiscreteGaussian(variance)
        assert {sampler.draw() for _ in range(100)} == {0}
        assert not sampler.draws(2000).any()
        assert sampler.half_width(0.999999) == 0
        assert sampler.tail(0) == 0.0
        with noise.injected(Script(WORDS - 1, b"\x00", b"\x00", bytes(2), 1)):
            assert sampler.draw() == 0


@pytest.mark.parametrize("sigma", [*SIGMAS[:4], Fraction(1025), Fraction(1500)], ids=str)
def test_half_width_is_the_quantile(sigma):
    """half_width is the smallest k with P(|noise| <= k) >= level, and tail(k) is 1 - P(|noise| <= k) to 12 digits, by exact sums of the pmf."""
    sampler = DiscreteGaussian(sigma**2)
    curve_values = [curve(k, sigma**2) for k in range(math.ceil(13 * sigma) + 3)]
    tails = [2 * rest for rest in itertools.accumulate(reversed(curve_values[1:]))][::-1]
    mass = tails[0] + 1
    for level in (0.0, 0.1, 0.5, 0.9, 0.95, 0.999999, 1 - 2**-50):
        alpha = 1 - Decimal(level)
        assert sampler.half_width(level) == next(k for k, tail in enumerate(tails) if tail / mass <= alpha)
    for k in range(0, math.ceil(9 * sigma), math.ceil(sigma / 7)):
        assert sampler.tail(k) == pytest.approx(float(tails[k] / mass), rel=1e-12, abs=0)
        assert sampler.tail(k + 0.5) == sampler.tail(k)
    assert sampler.tail(-1) == 1.0


@pytest.mark.parametrize("sigma", [2**40, 2**50, 2**600], ids=str)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999999])
def test_half_width_is_never_too_small(sigma, level):
    """At any scale half_width is the normal quantile and never below it by more than the half step of a lattice."""
    quantile = Fraction(float(special.ndtri((1 + level) / 2)))
    excess = (DiscreteGaussian(Fraction(sigma) ** 2).half_width(level) + 1) / (quantile * sigma) - 1
    assert -1e-14 < float(excess) < 1e-11


def test_level_and_variance_are_checked():
    """No variance of zero or below is ever accepted, it would be no noise at all, and no k holds with certainty."""
    for variance in (Fraction(0), Fraction(-1)):
        with pytest.raises(ValueError, match="positive"):
            DiscreteGaussian(variance)
    with pytest.raises(ValueError, match="below 1"):
        DiscreteGaussian(Fraction(1)).half_width(1.0)


def test_samplers_are_kept_by_their_public_variance():
    """The same variance is the same sampler, one that differs in the fortieth digit is another: stairs depend on public numbers alone."""
    assert discrete_gaussian(Fraction(7, 3)) is discrete_gaussian(Fraction(7, 3))
    assert discrete_gaussian(Fraction(7, 3) + Fraction(1, 10**40)).variance == Fraction(7, 3) + Fraction(1, 10**40)


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 100_001])
@pytest.mark.parametrize("sigma", [1, 1000])
def test_draws_has_the_length_asked_for(count, sigma):
    """draws(n) returns n integers by either path."""
    draws = DiscreteGaussian(Fraction(sigma) ** 2).draws(count)
    assert draws.shape == (count,)
    assert draws.dtype == np.int64


@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_same_bytes_same_draws(sigma):
    """The bytes from the source are all that a draw depends on, by either path and whatever was drawn before; other bytes, other draws."""
    drawn = []
    used = DiscreteGaussian(sigma**2)
    used.draws(5000)
    for sampler, seed in ((used, 1), (DiscreteGaussian(sigma**2), 1), (used, 2)):
        with noise.injected(np.random.default_rng(seed).bytes):
            drawn.append([*sampler.draws(50_000).tolist(), *(sampler.draw() for _ in range(500)), *sampler.draws(500).tolist()])
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
