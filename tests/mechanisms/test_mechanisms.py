"""Mechanisms for values in hand: the grid, the scale and the sensitivity as exact fractions; the Gaussian's proof in numbers; the choice by enumeration; oracles; what must be rejected."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import certified_loss

import pandas_dp
from pandas_dp import mechanisms
from pandas_dp.mechanisms import additive, calibration
from pandas_dp.mechanisms.calibration import gaussian_plan, gaussian_ratio, geometric_plan, laplace_plan, rounding_loss
from pandas_dp.mechanisms.choices import score_distances
from pandas_dp.mechanisms.containers import open_values
from pandas_dp.noise import choice
from pandas_dp.noise import entropy as noise
from pandas_dp.quantities import directed

SIZES = st.fractions(Fraction(1, 10**9), 10**9, max_denominator=10**12)
EPSILONS = st.fractions(Fraction(1, 10**6), 10**4, max_denominator=10**9)
DELTAS = st.sampled_from([Fraction(1, 10**k) for k in (1, 3, 6, 12, 40)])
COUNTS = st.integers(0, 10**7)
DRAWS = 50_000


class Silent:
    """A sampler whose noise is zero."""

    def draws(self, count):
        return np.zeros(count, dtype=np.int64)


def steps_of(values, plan):
    """Return the exact steps that noise is added to."""
    quiet = type("Quiet", (), {"sampler": Silent(), "step": plan.step, "exponent": plan.exponent})()
    opened = open_values(values, "laplace")
    return [int(step) for step in additive._totals(opened.floats, opened.exact, quiet)]


# The grid and the scale, as exact fractions.


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(SIZES, EPSILONS, COUNTS)
def test_laplace_noise_is_enough(size, epsilon, count):
    """The scale is exactly sensitivity / ε in steps, the sensitivity has room for the rounding of every value, and a step is below 2^-30 of the scale; with room in the
    sampler's range all this costs at most 2^-18 of noise.
    """
    plan = laplace_plan(size, epsilon, count)
    step = Fraction(2) ** plan.exponent
    assert plan.size * epsilon == plan.sensitivity
    assert plan.sensitivity.denominator == 1
    assert plan.sensitivity >= size / step + count
    assert step * 2**30 <= size / epsilon
    assert not plan.gaussian
    if step * 2**50 > 2 * size / epsilon:  # not at the end of the range
        assert plan.sensitivity * step <= size * (1 + Fraction(1, 2**18))


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(SIZES, EPSILONS, DELTAS, COUNTS)
def test_gaussian_noise_is_enough(size, epsilon, delta, count):
    """The ratio of σ and sensitivity keeps (ε, δ) less 2^-20 of each on the exact curve of the continuous mechanism, the sensitivity has room for the rounding of every value, the variance is theirs exactly, and what
    the discrete law may lose beyond fits into the 2^-20, tails included.
    """
    ratio, plan = gaussian_ratio(epsilon, delta), gaussian_plan(size, epsilon, delta, count)
    part = Fraction(1, 2**20)
    assert directed.gaussian(ratio, epsilon * (1 - part)) <= delta * (1 - part)
    assert plan.size == (plan.sensitivity * ratio) ** 2
    step = Fraction(2) ** plan.exponent
    assert (plan.sensitivity - size / step - 1) ** 2 >= max(count, 1)
    assert plan.size >= 2**60
    loss = rounding_loss(plan.size, plan.sensitivity, count)
    assert epsilon * (1 - part) + loss <= epsilon
    assert (1 + 2 * loss) * delta * (1 - part) + count * Fraction(1, 2**2900) <= delta


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.integers(1, 10**12), EPSILONS)
def test_geometric_noise_is_exact(size, epsilon):
    """Whole numbers are their own grid: scale sensitivity / ε, nothing added."""
    plan = geometric_plan(size, epsilon)
    assert (plan.exponent, plan.sensitivity, plan.size) == (0, size, size / epsilon)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.sampled_from([0.0, 1e-12, -1e-9, 0.25, 0.5, -1.0, 1 / 3, 7.0])), min_size=1, max_size=8),
    EPSILONS,
)
def test_steps_of_neighbours_are_close(moves, epsilon):
    """Neighbours that differ by Δ in L1 (exactly, as fractions) are at most ``sensitivity`` steps apart in L1, and by Δ in L2 at most that of the Gaussian plan in L2."""
    one = [value for value, _ in moves]
    other = [value + move for value, move in moves]
    gaps = [abs(Fraction(a) - Fraction(b)) for a, b in zip(one, other, strict=True)]
    assume(any(gaps))
    plan = laplace_plan(sum(gaps), epsilon, len(one))
    apart = [abs(a - b) for a, b in zip(steps_of(one, plan), steps_of(other, plan), strict=True)]
    assert sum(apart) <= plan.sensitivity
    length = Fraction(math.isqrt(sum(gap * gap for gap in gaps).__ceil__() * 2**80) + 1, 2**40)
    curved = gaussian_plan(length, epsilon, Fraction(1, 10**6), len(one))
    apart = [abs(a - b) for a, b in zip(steps_of(one, curved), steps_of(other, curved), strict=True)]
    assert sum(gap * gap for gap in apart) <= curved.sensitivity**2


def test_steps_are_exact():
    """A value's step is the nearest one, whatever its type: a large integer is not rounded to a double first, nor a Decimal; NaN counts as 0 and an infinity as the end of the grid."""
    plan = laplace_plan(Fraction(1), Fraction(1), 1)
    unit = Fraction(2) ** plan.exponent
    for value in (2**60 + 1, -(2**62) - 1, 0.1, Fraction(1, 3), 10**25 + 1):
        assert steps_of([value], plan) == [round(Fraction(value) / unit)]
        assert steps_of(value, plan) == [round(Fraction(value) / unit)]
    ints = np.array([2**60 + 1, -(2**62) - 1, 5])
    assert steps_of(ints, plan) == [int(value / unit) for value in map(Fraction, ints.tolist())]
    assert steps_of([math.inf, -math.inf, 1e308, 10**400], plan) == [2**200, -(2**200), 2**200, 2**200]


def test_noise_is_drawn_by_plan(monkeypatch):
    """What is drawn is the planned noise, once for each value: the exact samplers get the exact scale or variance."""
    seen = []

    class Recorder(Silent):
        def __init__(self, size):
            self.size = size

        def draws(self, count):
            seen.append((self.size, count))
            return super().draws(count)

    monkeypatch.setattr(calibration, "discrete_laplace", Recorder)
    monkeypatch.setattr(calibration, "discrete_gaussian", Recorder)
    third = Fraction(1, 3)
    mechanisms.laplace(np.zeros((2, 3)), third, "1/7", lower=0)
    mechanisms.geometric(pd.Series([1, 2]), 3, "1/7")
    mechanisms.gaussian([1.0] * 4, third, "1/7", "1e-6", integer=True)
    expected = [
        laplace_plan(third, Fraction(1, 7), 6),
        geometric_plan(3, Fraction(1, 7)),
        gaussian_plan(third, Fraction(1, 7), Fraction(1, 10**6), 4),
    ]
    assert seen == [(plan.size, count) for plan, count in zip(expected, (6, 2, 4), strict=True)]
    assert geometric_plan(3, Fraction(1, 7)).size == 21


# The Gaussian mechanism.


def discrete_delta(epsilon, variance, distance):
    """Return the exact δ of discrete Gaussian noise at an integer distance: Canonne, Kamath, Steinke 2020, theorem 7.

    Sums become integrals half a step earlier with one more term of the Euler-Maclaurin formula: at a σ of 2^30 steps the next one is below 2^-100 of it.
    """
    with mpmath.workdps(60):
        v, d, e = mpmath.mpf(variance.numerator) / variance.denominator, int(distance), mpmath.mpf(epsilon.numerator) / epsilon.denominator
        sigma = mpmath.sqrt(v)

        def tail(bound):  # P(noise > bound)
            z = (mpmath.floor(bound) + mpmath.mpf(1) / 2) / sigma
            return mpmath.erfc(z / mpmath.sqrt(2)) / 2 - mpmath.npdf(z) * z / (24 * v)

        return tail(e * v / d - mpmath.mpf(d) / 2) - mpmath.exp(e) * tail(e * v / d + mpmath.mpf(d) / 2)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5", "1", "3", "8", "20", "50"])
@pytest.mark.parametrize("delta", ["1e-1", "1e-3", "1e-6", "1e-9", "1e-12"])
def test_delta_of_a_scalar_is_kept(epsilon, delta):
    """By the exact formula for the discrete Gaussian the noise on one number keeps (ε, δ), with no more than a thousandth of δ to spare; with a σ 1 % smaller it does not."""
    e, d = Fraction(epsilon), Fraction(delta)
    plan = gaussian_plan(Fraction(1), e, d, 1)
    distance = math.floor(plan.sensitivity)
    assert d * Fraction(999, 1000) < discrete_delta(e, plan.size, distance) <= d
    assert discrete_delta(e, plan.size * Fraction(99, 100) ** 2, distance) > d


@pytest.mark.parametrize("sigma", [1, 2, 5, 16])
def test_discrete_gaussian_is_near_the_rounded_one(sigma):
    """``|ln(Q(z)/R(z))| <= z^2/24σ^4 + 1/8σ^2`` for the discrete Gaussian Q and the rounded continuous one R, at every z up to 20σ: the inequality that vectors rest on. Half of the bound is exceeded."""
    with mpmath.workdps(150):
        v = mpmath.mpf(sigma) ** 2
        mass = 2 * mpmath.fsum(mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * v)) for z in range(1, 60 * sigma)) + 1
        half, exceeded = mpmath.mpf(1) / 2, False
        for z in range(20 * sigma + 1):
            rounded = (mpmath.erfc((z - half) / (sigma * mpmath.sqrt(2))) - mpmath.erfc((z + half) / (sigma * mpmath.sqrt(2)))) / 2
            distance = abs(mpmath.log(mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * v)) / mass / rounded))
            bound = mpmath.mpf(z) ** 2 / (24 * v**2) + 1 / (8 * v)
            assert distance <= bound
            exceeded |= distance > bound / 2
        assert exceeded


def test_tail_bound_holds():
    """P(|z| > cσ) <= 2 exp(-c^2/2) for the discrete Gaussian, and 64σ are beyond 2^-2900."""
    with mpmath.workdps(100):
        for sigma in (1, 3, 10):
            weights = [mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * sigma**2)) for z in range(60 * sigma)]
            mass = 2 * mpmath.fsum(weights) - 1
            for c in (1, 2, 5, 10):
                assert 2 * mpmath.fsum(weights[c * sigma + 1 :]) / mass <= 2 * mpmath.exp(-(mpmath.mpf(c) ** 2) / 2)
        assert 2 * mpmath.exp(-2048) < mpmath.mpf(2) ** -2900


@pytest.mark.parametrize(("epsilon", "delta"), [(10, 2.27e-5), (20, 1.5e-3), (50, 0.586)])
def test_textbook_sigma_breaks_its_promise(epsilon, delta):
    """σ = sqrt(2 ln(1.25/δ))/ε at δ = 1e-5 has a true δ far above it for ε of 10, 20, 50; at ε = 1 it has 30 % more noise than needed."""
    textbook = math.sqrt(2 * math.log(1.25e5)) / epsilon
    assert pandas_dp.composition.gaussian_delta(textbook, 1, epsilon) == pytest.approx(delta, rel=0.02)
    assert gaussian_plan(Fraction(1), Fraction(epsilon), Fraction(1, 10**5), 1).deviation > textbook
    assert math.sqrt(2 * math.log(1.25e5)) / gaussian_plan(Fraction(1), Fraction(1), Fraction(1, 10**5), 1).deviation == pytest.approx(
        1.30, abs=0.005
    )


# The exponential mechanism.


def probabilities(scores, sensitivity, epsilon):
    """Return exact bounds on the probability of each candidate."""
    distances, rate = score_distances(open_values(scores, "exponential"), Fraction(sensitivity), Fraction(epsilon))
    lows, highs = choice.weight_bounds(distances, rate, 300)
    return [(Fraction(low, sum(highs)), Fraction(high, sum(lows))) for low, high in zip(lows, highs, strict=True)]


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_choice_is_private_by_enumeration(epsilon):
    """For all pairs of score vectors whose scores move by -1, 0 or 1 (of sensitivity 1) no candidate's exact probability changes by more than e^ε; the worst pair uses 99.9 % of it
    (with enough candidates), and against 99 % of ε the check fails.
    """
    moves = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)]
    worst = Fraction(0)
    for scores in ([0.0, 0.3, 8.1], [1.0, 1.0, 1.0], [-1e9, 0.0, 2**-40], [0.0, 200.0, 200.0]):
        here = probabilities(scores, 1, epsilon)
        for move in moves:
            there = probabilities([score + change for score, change in zip(scores, move, strict=True)], 1, epsilon)
            worst = max(worst, *(high / low for (_, high), (low, _) in zip(here, there, strict=True) if low))
    with mpmath.workdps(50):
        loss = mpmath.log(mpmath.mpf(worst.numerator) / worst.denominator)
        assert 0.99 * float(epsilon) < float(loss)
        assert loss <= mpmath.mpf(epsilon)


def test_choice_has_the_law_that_it_says():
    """Shares lie side by side: of all numbers of 12 binary digits, those that decide at once fall to the candidates in proportion to exp(-rate distance), up to the undecided ones at the edges, of which
    there are at most two for each.
    """
    distances, rate = [0, 3, 1, 1, 400], Fraction(1, 2)
    lows, highs = choice.weight_bounds(distances, rate, 40)
    found = [choice._located(word, 12, lows, highs) for word in range(2**12)]
    weights = [math.exp(-distance / 2) for distance in distances]
    for place, weight in enumerate(weights):
        assert abs(found.count(place) - 2**12 * weight / sum(weights)) <= 2
    assert found.count(None) <= 2 * len(distances)
    known = [place for place in found if place is not None]
    assert known == sorted(known)


def test_choice_is_certain_or_silent():
    """With loose bounds on the weights a candidate is only named if all numbers that begin with the digits are in its share, whatever the weights between the bounds are; some digits are left open."""
    lows, highs, bits = [40, 0, 90, 7], [44, 1, 97, 9], 7
    found = [choice._located(word, bits, lows, highs) for word in range(2**bits)]
    assert None in found
    assert {0, 2} <= set(found)
    for weights in itertools.product(*zip(lows, highs, strict=True)):
        ends = [0, *itertools.accumulate(weights)]
        for word, place in enumerate(found):
            if place is not None:
                assert ends[place] * 2**bits <= word * ends[-1]
                assert (word + 1) * ends[-1] <= ends[place + 1] * 2**bits


def test_choice_extends_a_number_at_an_edge():
    """Of two equal candidates the share ends at exactly 1/2: a number that begins with 0.1000... or 0.0111... is extended until it differs, and then decides rightly."""
    for first, second, place in ((2**127, 1 << 126, 1), (2**127 - 1, 2**128 - 2**100, 0), (2**127, 0, None)):
        words = [first, second, 2**255 >> 128]

        def source(count, words=words):
            return words.pop(0).to_bytes(count, "little") if words else b"\xff" * count

        with noise.injected(source):
            assert choice.choose([7, 7], Fraction(1)) == (1 if place is None else place)


def test_choice_survives_all_scores():
    """Scores that are missing, infinite, enormous or no numbers raise nothing, and the candidate comes back as it was given."""
    hard = [math.nan, math.inf, -math.inf, None, 10**400, -1e308, "text", pd.NA]
    for candidates in (
        list(range(8)),
        tuple("abcdefgh"),
        np.arange(8),
        pd.Index(list("abcdefgh")),
        pd.Series(list("abcdefgh"), index=range(8, 16)),
    ):
        assert mechanisms.exponential(candidates, hard, 1, 1) in list(candidates)
    assert mechanisms.exponential(["only"], pd.Series([1], dtype="Int64"), 1, 1) == "only"
    assert mechanisms.exponential(["a", "b"], [0, 10**6], 1, 1) == "b"


# Oracles and black boxes.


def test_opendp_agrees():
    """OpenDP's discrete Laplace at the same scale and distance loses what is claimed, to 1e-9."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    for size, epsilon in ((Fraction(1), Fraction(1)), (Fraction(3, 7), Fraction(1, 10)), (Fraction(5), Fraction(20))):
        for plan in (laplace_plan(size, epsilon, 1), geometric_plan(math.ceil(size), epsilon)):
            measure = dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=float(plan.size))
            assert measure.map(int(plan.sensitivity)) == pytest.approx(float(epsilon), rel=1e-9)


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_neighbours_cannot_be_told_apart(mechanism):
    """Black box: 50 000 answers a side at ε = 1 prove no loss above 1 (false alarm below 1e-6); neighbours 1.3 sensitivities apart, which lose 1.3, are caught: it
    would find a scale 15 % too small.
    """
    draw = getattr(mechanisms, mechanism)
    zeros, size = np.zeros(DRAWS, dtype=np.int64), 10
    here = draw(zeros, size, 1)
    assert certified_loss(here, draw(zeros + size, size, 1)) <= 1
    assert certified_loss(here, draw(zeros + 13, size, 1)) > 1


@pytest.mark.parametrize("neighbours", [(0, 1), (0, 2**20), (1 / 3, 4 / 3), (-1, 0), (1e12, 1e12 + 1)])
def test_low_bits_say_nothing(neighbours):
    """Every answer, for either of two neighbours, scalar or array, is a whole multiple of the same public power of two: which low bits are set depends on the noise alone."""
    for value in neighbours:
        for count, ask in ((1, float(value)), (2000, np.full(2000, float(value)))):
            for plan, answers in (
                (laplace_plan(Fraction(1), Fraction(1, 2), count), mechanisms.laplace(ask, 1, 0.5)),
                (gaussian_plan(Fraction(1), Fraction(1, 2), Fraction(1, 10**6), count), mechanisms.gaussian(ask, 1, 0.5, 1e-6)),
            ):
                steps = np.atleast_1d(answers) / plan.step
                assert (steps == np.rint(steps)).all()
    assert mechanisms.laplace(0.1, 1, 1) % 2.0**-30 == 0
    assert 0.1 % 2.0**-30 != 0


def test_an_answer_is_one_conversion_of_the_exact_sum():
    """Whether sums fit 64 bits does not show: int64 and Python ints of one sum give the same float, the nearest."""
    small, plan = [3.0, -7.25], laplace_plan(Fraction(1), Fraction(1), 2)
    for noises in ([5, -9], [2**61, -(2**61) - 3], [2**70 + 1, 12345]):
        fixed = type(
            "Fixed", (), {"draws": lambda self, count, noises=noises: np.array(noises, dtype=object if max(noises) > 2**62 else np.int64)}
        )()
        quiet = type("Plan", (), {"sampler": fixed, "step": plan.step, "exponent": plan.exponent})()
        exact = [round(Fraction(x) / Fraction(plan.step)) + z for x, z in zip(small, noises, strict=True)]
        got = additive._totals(np.array(small), {}, quiet, scaled=True)
        wide = additive._totals(np.array(small), dict(enumerate(map(Fraction, small))), quiet, scaled=True)
        assert got.tolist() == wide.tolist() == [float(Fraction(total) * Fraction(plan.step)) for total in exact]


# The comparison.


def test_comparison_is_of_the_noise_that_is_drawn():
    """The table's figures are those of the laws: Laplace √2Δ/ε and ln(20)Δ/ε, Gaussian σ and 1.96σ of the analytic curve, geometric as summed, the choice twice Laplace; a vector scales them by L1 or L2."""
    table = mechanisms.compare(sensitivity=2, epsilon=0.5, delta=1e-6)
    assert table.index.tolist() == ["Laplace", "geometric", "Gaussian", "exponential"]
    sigma = pandas_dp.composition.gaussian_sigma(0.5, 1e-6, 2)
    q = math.exp(-1 / 4)
    weights = [q ** abs(k) for k in range(-400, 401)]
    spread = math.sqrt(sum(w * k * k for w, k in zip(weights, range(-400, 401), strict=True)) / sum(weights))
    assert table["deviation"].tolist() == pytest.approx([math.sqrt(2) * 4, spread, sigma, math.sqrt(2) * 8], rel=1e-5)
    assert table["within 95 %"].tolist() == pytest.approx([math.log(20) * 4, 12, 1.959964 * sigma, math.log(20) * 8], rel=1e-5)
    many = mechanisms.compare(sensitivity=2, epsilon=0.5, delta=1e-6, answers=100)
    assert (many["deviation"] / table["deviation"]).tolist() == pytest.approx([100, 100 * math.sqrt(2) * 4 / spread, 10, 100], rel=1e-3)
    assert mechanisms.compare(epsilon=10**6)["deviation"]["geometric"] == 0.0


@pytest.mark.parametrize("name", ["gradients", "mechanisms", "sensitivity"])
def test_modules_are_attributes(name):
    """After ``import pandas_dp`` the modules are there, and listed; what is not there is an AttributeError."""
    assert name in dir(pandas_dp)
    assert getattr(pandas_dp, name).__name__ == f"pandas_dp.{name}"
    with pytest.raises(AttributeError):
        pandas_dp.nothing  # noqa: B018


def test_no_more_values_than_the_proof_allows(monkeypatch):
    """Where the discrete Gaussian's loss could not be paid, the parameters are refused."""
    monkeypatch.setattr(calibration, "_ROOM", Fraction(1, 2**200))
    with pytest.raises(pandas_dp.ParameterError, match="epsilon"):
        gaussian_plan(Fraction(1), Fraction(1, 7), Fraction(1, 10**6), 5)
