"""The calculators: every claim holds in independent arithmetic of many digits, is close to the best one, and the formulas of tutorials are caught."""

from __future__ import annotations

import itertools
import math
import random
import time
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from pandas_dp import composition
from pandas_dp.composition import (
    advanced,
    approx_to_zcdp,
    basic,
    fits,
    gaussian_delta,
    gaussian_sigma,
    optimal,
    optimal_delta,
    pure_to_zcdp,
    zcdp,
    zcdp_to_approx,
)
from pandas_dp.errors import ParameterError, ParameterTypeError
from pandas_dp.quantities.budget import Epsilon

CLOSE = Decimal("1e-9")


@pytest.fixture(autouse=True)
def _digits():
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 80, 10**12, -(10**12)
        yield


def decimal(number):
    """What a parameter means, to 80 digits; of a result, the exact double."""
    number = Fraction(number)
    return Decimal(number.numerator) / Decimal(number.denominator)


def readings(result):
    """A result as a double and as it prints: a claim has to hold for both."""
    return Decimal(result), Decimal(str(result))


def responses_delta(epsilon, k, target):
    """δ(ε') of k randomized responses: the sum over the number of wrong ones, term by term."""
    with localcontext() as context:
        context.prec = 400  # at a loss that is reached exactly, what rounding leaves has to be less than any δ
        q, growth = (-decimal(epsilon)).exp(), target.exp()
        return sum(math.comb(k, i) * max(q**i - growth * q ** (k - i), Decimal(0)) for i in range(k + 1)) / (1 + q) ** k


def every_outcome(epsilon, k, target, delta):
    """δ(ε') of k responses that fail with probability δ: each of the 4^k outcomes by itself."""
    q = (-decimal(epsilon)).exp()
    right, wrong = (1 - delta) / (1 + q), (1 - delta) * q / (1 + q)
    one = [(delta, Decimal(0)), (right, wrong), (wrong, right), (Decimal(0), delta)]
    pairs = [(math.prod(p for p, _ in chosen), math.prod(p for _, p in chosen)) for chosen in itertools.product(one, repeat=k)]
    return sum(max(p - target.exp() * other, Decimal(0)) for p, other in pairs)


def conversion(rho, delta):
    """The least ε over α of the conversion, from the equation of its minimum, solved by bisection in ln(α - 1)."""
    inverse = -decimal(delta).ln()
    low, high = Decimal(-200), Decimal(800)
    for _ in range(60):  # the minimum is flat: its error is the square
        middle = (low + high) / 2
        a = middle.exp()
        low, high = (middle, high) if a * a * rho + (1 + a).ln() < inverse else (low, middle)
    a = low.exp()
    return (1 + a) * rho + (a / (1 + a)).ln() + (inverse - (1 + a).ln()) / a


def paper_delta(rho, epsilon):
    """δ = min over α of exp((α-1)(αρ-ε))/(α-1) (1-1/α)^α as it is printed: ternary search, no derivative."""
    low, high = Decimal(-20), Decimal(20)

    def log_delta(u):
        a = u.exp()
        return a * ((1 + a) * rho - epsilon) - u + (1 + a) * (a / (1 + a)).ln()

    for _ in range(100):
        first, second = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, second) if log_delta(first) < log_delta(second) else (first, high)
    return log_delta(low).exp()


def normal_delta(sigma, epsilon):
    """δ(σ) for a sensitivity of 1 as the integral of φ(ε/m - m/2) over m from 0 to 1/σ, by tanh-sinh quadrature: no Φ, no cancellation."""
    pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
    step, top, total = Decimal(1) / 128, min(1 / sigma, (2 * epsilon).sqrt() + 30), Decimal(0)  # beyond, φ is below 1e-49
    for j in range(-500, 501):
        t = step * j
        sinh, cosh = (t.exp() - (-t).exp()) / 2, (t.exp() + (-t).exp()) / 2
        share = 1 / (1 + (-pi * sinh).exp())
        m = top * share
        total += (-((epsilon / m - m / 2) ** 2) / 2).exp() * share * (1 - share) * cosh
    return total * step * top * pi / (2 * pi).sqrt()


# Figures: what tutorials print, and what is true.


@pytest.mark.parametrize(
    ("epsilon", "k", "delta", "figures"),
    [
        (1, 100, 1e-6, (83.5, 52.6, 0.207)),
        (0.5, 1000, 1e-5, (186.1, 75.9, 0.998)),
        (0.5, 50, 1e-6, (20.3, 18.6, 2.2e-5)),
        (0.1, 1000, 1e-6, (19.3, 16.6, 4.8e-5)),
    ],
)
def test_advanced_composition_without_its_second_term_is_caught(epsilon, k, delta, figures):
    """ε√(2k ln(1/δ)) alone is below the optimum, its true δ is many times the claimed one, and the full theorem is on the safe side."""
    best, tutorial, truth = figures
    claim = epsilon * math.sqrt(2 * k * math.log(1 / delta))
    assert round(claim, 1) == tutorial
    assert round(optimal(epsilon, k, delta), 1) == best > tutorial
    assert optimal_delta(epsilon, k, claim) == pytest.approx(truth, rel=0.01)
    assert optimal_delta(epsilon, k, claim) > 20 * delta
    assert optimal_delta(epsilon, k, advanced(epsilon, k, delta)[0]) <= delta


def test_advanced_composition_where_it_happens_to_be_safe_or_useless():
    """For k = 100, ε = 0.1 the short formula is above the optimum; for k = 10, ε = 1 it is worse than adding up, which is what is returned."""
    assert round(optimal(0.1, 100, 1e-6), 2) == 4.77
    assert round(0.1 * math.sqrt(200 * math.log(1e6)), 2) == 5.26
    assert round(math.sqrt(20 * math.log(1e6)), 1) == 16.6
    assert advanced(1, 10, 1e-6) == (10.0, 0)
    assert optimal(1, 10, 1e-6) < 10


@pytest.mark.parametrize(("epsilon", "k", "claim", "truth"), [(1, 10, 7.13, 0.134), (0.1, 100, 3.04, 1.2e-3), (1, 100, 30.4, 0.948)])
def test_strong_composition_at_no_delta_is_caught(epsilon, k, claim, truth):
    """ε√(2k ln(e + k)) with δ = 0 has a large true δ; at δ = 0 the optimum is kε, read either way."""
    formula = epsilon * math.sqrt(2 * k * math.log(math.e + k))
    assert formula == pytest.approx(claim, rel=2e-3)
    assert optimal_delta(epsilon, k, formula) == pytest.approx(truth, rel=0.03)
    assert optimal(epsilon, k, 0) == pytest.approx(k * epsilon, rel=1e-15)
    assert min(readings(optimal(epsilon, k, 0))) >= k * Decimal(str(epsilon))


def classic(epsilon, delta):
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@pytest.mark.parametrize(("delta", "breaks"), [(0.1, 5.8), (1e-2, 6.8), (1e-3, 7.5), (1e-5, 8.4), (1e-6, 8.8), (1e-9, 9.65)])
def test_classic_gaussian_calibration_is_caught_where_it_breaks(delta, breaks):
    """√(2 ln(1.25/δ))/ε keeps its promise just below the given ε and breaks it just above."""
    assert gaussian_delta(classic(breaks - 0.1, delta), 1, breaks - 0.1) <= delta
    assert gaussian_delta(classic(breaks + 0.1, delta), 1, breaks + 0.1) > delta


def test_classic_gaussian_figures():
    """At δ = 1e-5 the classic σ has the true δ 2.27e-5, 1.5e-3, 0.586 for ε = 10, 20, 50, and wastes 30 % and 8.6 % at ε = 1 and 5."""
    truths = [gaussian_delta(classic(epsilon, 1e-5), 1, epsilon) for epsilon in (10, 20, 50)]
    assert truths == pytest.approx([2.27e-5, 1.53e-3, 0.586], rel=5e-3)
    assert [classic(e, 1e-5) / gaussian_sigma(e, 1e-5, 1) for e in (1, 5)] == pytest.approx([1.30, 1.086], abs=2e-3)


# Exact sums.


def test_basic_and_zcdp_add_exactly():
    """Ten tenths are one, 49 49ths are one, and floats are added as they print."""
    assert basic([0.1] * 10) == (Epsilon(1), 0)
    assert basic(["1/49"] * 49, [1e-9] * 49) == (Epsilon(1), Fraction(49, 10**9))
    assert basic([]) == (0, 0)
    assert zcdp([0.1] * 3) == Fraction(3, 10)
    assert zcdp(iter([0, Fraction(1, 3)])) == Fraction(1, 3)


# Composition of pure releases.


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "7/3", "20"])
@pytest.mark.parametrize("k", [1, 2, 3, 10, 71])
def test_optimal_is_optimal(epsilon, k):
    """The true δ at the returned ε' is at most δ, also where the grid's points are hit, and above δ 1e-9 to the left; never above kε."""
    on_grid = [responses_delta(epsilon, k, (k - 2 * i) * decimal(epsilon)) for i in range(1, (k + 1) // 2)][:2]
    for delta in [*map(float, on_grid), 1e-300, 1e-9, 0.3, 0.999]:
        if not 1e-300 <= delta < 1:
            continue
        result = optimal(epsilon, k, delta)
        target = min(Decimal(delta), Decimal(str(delta)))
        assert result <= math.nextafter(k * float(Fraction(epsilon)), math.inf)
        assert all(responses_delta(epsilon, k, reading) <= Decimal(str(delta)) for reading in readings(result))
        assert not result or responses_delta(epsilon, k, Decimal(result) * (1 - CLOSE)) > target * (1 - Decimal("1e-15"))


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "5"])
@pytest.mark.parametrize("k", [1, 2, 7, 64, 201])
def test_optimal_delta_is_the_worst_case(epsilon, k):
    """δ(ε') is not below the term-by-term sum and within 1e-9 of it, for ε' from 0 to kε; at kε it is 0."""
    for share in (0, 0.01, 0.3, 0.5, 0.77, 0.99, 1):
        target = Fraction(epsilon) * k * Fraction(str(share))
        truth = responses_delta(epsilon, k, decimal(target))
        result = optimal_delta(epsilon, k, target)
        if share == 1:
            assert result == 0
            continue
        assert min(readings(result)) >= truth
        assert Decimal(result) <= truth * (1 + CLOSE) or (result == 5e-324 and truth < Decimal("1e-323"))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_releases_with_their_own_delta(k):
    """With δ₀ per release, δ agrees with the sum over all 4^k outcomes, ε' inverts it, and less than 1 - (1 - δ₀)^k is refused."""
    epsilon, own = Fraction(3, 4), Fraction(1, 1000)
    for share in ("0", "0.4", "0.9"):
        target = k * epsilon * Fraction(share)
        truth = every_outcome(epsilon, k, decimal(target), decimal(own))
        result = optimal_delta(epsilon, k, target, own)
        assert truth <= min(readings(result)) <= truth * (1 + CLOSE)
        inverse = optimal(epsilon, k, Fraction(result), own)
        assert all(every_outcome(epsilon, k, reading, decimal(own)) <= Decimal(result) for reading in readings(inverse))
        assert inverse == pytest.approx(float(target), rel=1e-9, abs=1e-9)
    failures = 1 - (1 - own) ** k
    assert optimal(epsilon, k, k * own, own) <= k * epsilon
    assert optimal(epsilon, 1, "1/3", "1/3") == 0.75
    with pytest.raises(ParameterError, match="delta must be at least 1 -"):
        optimal(epsilon, k, failures * Fraction(999_999, 10**6), own)
    assert optimal(epsilon, 5, "0.001", "1e-4") > optimal(epsilon, 5, "0.001")
    assert optimal_delta(epsilon, 5, 4, "1e-300") == pytest.approx(5e-300, rel=1e-12, abs=0)


@pytest.mark.parametrize("epsilon", ["1e-12", "0.01", "0.3", "2"])
@pytest.mark.parametrize("k", [1, 30, 10**6])
def test_advanced_is_the_theorem(epsilon, k):
    """The result is the smaller of kε at kδ and of ε√(2k ln(1/δ')) + kε(e^ε - 1) at kδ + δ', rounded up, and never below the optimum."""
    e = decimal(epsilon)
    for slack in ("1e-300", "1e-6", "0.5"):
        bound = e * (2 * k * -decimal(slack).ln()).sqrt() + k * e * (e.exp() - 1)
        result, delta = advanced(epsilon, k, slack, "1e-9")
        truth = min(bound, k * e)
        assert truth <= min(readings(result)) <= truth * (1 + CLOSE)
        assert delta == k * Fraction(1, 10**9) + (Fraction(slack) if bound < k * e else 0)
        assert k > 100 or result >= optimal(epsilon, k, slack) * (1 - 1e-15)


def test_large_compositions_do_not_overflow():
    """10^5 releases of ε = 5 and a δ of 1e-300 give the logarithm of the first term; ε = 10^6 and 10^6 releases stay finite."""
    epsilon, k, delta = Decimal(5), 10**5, Decimal("1e-300")
    truth = k * epsilon + (1 - delta * (1 + (-epsilon).exp()) ** k).ln()
    assert truth <= min(readings(optimal(5, 10**5, 1e-300))) <= truth * (1 + CLOSE)
    assert optimal(10**6, 10**6, 1e-9) == advanced(10**6, 10**6, 1e-9)[0] == 10**12
    assert optimal_delta(5, 10**5, 0) == 1
    assert 0 < optimal_delta(0.01, 10**5, 100) < 1e-9


def test_optimal_is_monotone():
    """ε' does not fall with k or ε and does not rise with δ; δ does not rise with ε'."""
    for row in (
        [optimal(0.2, k, 1e-6) for k in range(1, 60)],
        [optimal(e / 50, 20, 1e-6) for e in range(1, 60)],
        [optimal(0.2, 20, 10.0**-d) for d in range(1, 60)],
        [-optimal_delta(0.2, 20, t / 10) for t in range(40)],
    ):
        assert row == sorted(row)


# Concentrated privacy.


def test_conversion_is_the_papers_minimum():
    """The paper's δ at the returned ε, minimised without our equation, is at most δ, and above it 1e-9 to the left."""
    for rho, delta in [("0.5", "1e-6"), ("0.001", "1e-9"), ("30", "0.01"), ("2", "1e-100"), ("0.05", "0.1")]:
        result = zcdp_to_approx(rho, delta)
        assert all(paper_delta(decimal(rho), reading) <= decimal(delta) for reading in readings(result))
        assert paper_delta(decimal(rho), Decimal(result) * (1 - CLOSE)) > decimal(delta)


def test_conversions_never_under_report():
    """For ρ from 1e-20 to 1e5 and δ from 1e-300 to nearly 1, ε is not below the true minimum and within 1e-9 of it; and so is the inverse."""
    draw = random.Random(5)
    for _ in range(60):
        rho = f"{draw.uniform(1, 9):.3f}e{draw.randint(-20, 4)}"
        delta = draw.choice([f"{draw.uniform(1, 9):.3f}e-{draw.choice([1, 2, 6, 40, 300])}", f"0.9{'9' * draw.randint(0, 20)}"])
        truth = conversion(decimal(rho), delta)
        result = zcdp_to_approx(rho, delta)
        assert min(readings(result)) >= truth
        assert Decimal(result) <= max(truth, Decimal(0)) * (1 + CLOSE) + Decimal("1e-16")
        if result > 1e-12:
            back = approx_to_zcdp(result, delta)
            assert fits(back, result, delta)
            assert back == pytest.approx(float(rho), rel=1e-9, abs=0)


def test_the_largest_rho_fits_and_no_larger():
    """approx_to_zcdp's ρ keeps its promise as a double and as it prints; 1e-9 more breaks it, by the true conversion and by fits."""
    for epsilon, delta in itertools.product(["1e-12", "0.001", "1", "40", "1e6"], ["1e-300", "1e-9", "0.01", "0.9"]):
        rho = approx_to_zcdp(epsilon, delta)
        assert fits(rho, epsilon, delta)
        assert all(conversion(reading, delta) <= decimal(epsilon) for reading in readings(rho))
        more = rho * (1 + 1e-9)
        assert not fits(more, epsilon, delta)
        assert conversion(Decimal(more), delta) > decimal(epsilon)


def test_fits_refuses_what_is_exactly_enough():
    """At the very edge, within the margin, the answer is no; nothing spent always fits."""
    edge = conversion(Decimal("0.25"), "1e-6")
    assert not fits("0.25", Fraction(edge).limit_denominator(10**30), "1e-6")
    assert fits("0.25", float(edge) * (1 + 1e-12), "1e-6")
    assert fits(0, 1e-12, 1e-300)
    assert zcdp_to_approx(0, 1e-6) == 0


@pytest.mark.parametrize(("rho", "delta"), [(0.5, 1e-6), (0.01, 1e-9), (5, 1e-3), (50, 1e-12)])
def test_a_gaussian_keeps_what_the_conversion_claims(rho, delta):
    """Gaussian noise is ρ-zCDP with ρ = 1/2σ², so its true δ at the converted ε is below δ; without the term ρ a large one is caught."""
    sigma = 1 / math.sqrt(2 * rho)
    assert gaussian_delta(sigma, 1, zcdp_to_approx(rho, delta)) < delta
    assert zcdp_to_approx(rho, delta) < rho + 2 * math.sqrt(rho * math.log(1 / delta)), "the loose textbook conversion"
    assert rho < 1 or gaussian_delta(sigma, 1, 2 * math.sqrt(rho * math.log(1 / delta))) > delta


def test_opendp_agrees():
    """OpenDP's conversion gives the same ε to six digits, and is not above ours by more."""
    import opendp.prelude as dp

    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=int)
    dp.enable_features("contrib")
    for scale, delta in [(1.0, 1e-6), (10.0, 1e-9), (0.3, 1e-3)]:
        converted = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale))
        rho = Fraction(1, 2) / Fraction(str(scale)) ** 2
        assert zcdp_to_approx(rho, delta) == pytest.approx(converted.map(1).epsilon(delta), rel=1e-6)


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "3", "30"])
def test_pure_releases_are_concentrated(epsilon):
    """(α - 1)D_α of randomized response and of Laplace noise stays below α(α - 1)ρ for its bound, and reaches it as α goes to 1."""
    e = decimal(epsilon)
    for name in ("tight", "laplace"):
        rho = pure_to_zcdp(epsilon, name)
        assert 0 < rho < pure_to_zcdp(epsilon) == Fraction(epsilon) ** 2 / 2
        ratios = []
        for a in [Decimal("1e-9"), *(Decimal(2) ** j for j in range(-16, 24, 2))]:
            if name == "tight":
                moment = (((1 + a) * e).exp() + (-a * e).exp()) / (1 + e.exp())
            else:
                moment = ((1 + a) * (a * e).exp() + a * (-(1 + a) * e).exp()) / (1 + 2 * a)
            ratios.append(moment.ln() / (a * (1 + a)))
        assert max(ratios) <= decimal(rho)
        assert ratios[0] > decimal(rho) * (1 - Decimal("1e-7"))
        assert ratios == sorted(ratios, reverse=True)


def test_laplaces_rho_is_caught_for_integer_noise():
    """A count with integer noise is a randomized response in disguise: the ρ of real-valued Laplace noise promises less than 100 of them cost."""
    for bound, caught in [("tight", False), ("simple", False), ("laplace", True)]:
        claim = zcdp_to_approx(100 * pure_to_zcdp(1, bound), 0.5)
        assert (optimal_delta(1, 100, claim) > 0.5) is caught


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 3])
def test_concentrated_composition_is_not_below_the_optimum(epsilon):
    """Composing pure releases by ρ can only lose against the exact optimum."""
    for k, delta in itertools.product([1, 10, 300], [1e-12, 1e-6, 0.1]):
        assert zcdp_to_approx(k * pure_to_zcdp(epsilon, "tight"), delta) >= optimal(epsilon, k, delta)


# Gaussian noise.


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "3", "300"])
def test_gaussian_delta_is_true(epsilon):
    """δ is not below the integral and within 1e-9 of it, far in both tails, also where Φ's terms cancel; SciPy agrees where it can."""
    for share in ("0.03", "0.5", "3", "20"):
        sigma = Fraction(share) / Fraction(epsilon)
        with localcontext() as context:
            context.prec = 45
            truth = normal_delta(decimal(sigma), decimal(epsilon))
        result = gaussian_delta(sigma, 1, epsilon)
        assert gaussian_delta(sigma * 10**50, 10**50, epsilon) == result
        if truth < Decimal("1e-307"):
            assert Decimal(result) >= truth
            continue
        assert truth * (1 - Decimal("1e-20")) <= min(readings(result))
        assert Decimal(result) <= truth * (1 + CLOSE)
        m, e = float(1 / sigma), float(Fraction(epsilon))
        logs = special.log_ndtr(m / 2 - e / m), e + special.log_ndtr(-m / 2 - e / m)
        if logs[0] - logs[1] > 1e-3:
            assert result == pytest.approx(math.exp(logs[0]) * -math.expm1(logs[1] - logs[0]), rel=1e-8, abs=0)


@pytest.mark.parametrize("epsilon", ["1e-12", "0.1", "1", "60", "1e6"])
def test_gaussian_sigma_keeps_the_promise_and_is_the_least(epsilon):
    """With the returned σ the true δ is at most δ, with 1e-9 less it is above; it scales with the sensitivity."""
    for delta in ("1e-300", "1e-9", "0.1", "0.999"):
        sigma = gaussian_sigma(epsilon, delta, "0.1")
        assert gaussian_delta(sigma, "0.1", epsilon) <= float(delta)
        assert gaussian_delta(Fraction(sigma), "0.1", epsilon) <= float(delta)
        assert gaussian_delta(sigma * (1 - 1e-9), "0.1", epsilon) > float(delta)
        assert gaussian_sigma(epsilon, delta, 1e90) == pytest.approx(sigma * 1e91, rel=1e-12, abs=0)


def test_nothing_here_is_zero_that_is_positive():
    """A δ too small for a float is rounded up to the smallest one, and a δ near 1 to 1."""
    assert gaussian_delta(1e100, 1e-100, 10) == optimal_delta(1, 10**4, 9999) == 5e-324
    assert gaussian_delta(1e-100, 1e100, 10) == 1


# The rest.


def test_the_callers_decimal_context_does_not_matter():
    """A context with three digits that traps every rounding changes nothing."""
    calls = [
        lambda: optimal(1, 100, 1e-6),
        lambda: gaussian_sigma(1, 1e-5, 1),
        lambda: advanced(0.1, 100, 1e-6),
        lambda: pure_to_zcdp(1, "tight"),
    ]
    before = [call() for call in calls]
    with localcontext() as context:
        context.prec, context.Emax = 3, 5
        context.traps[Inexact] = True
        assert [call() for call in calls] == before


@pytest.mark.parametrize(
    ("call", "error", "parameter"),
    [
        (lambda: basic("0.1"), ParameterTypeError, "epsilons"),
        (lambda: basic(0.1), ParameterTypeError, "epsilons"),
        (lambda: basic([1, 0]), ParameterError, "epsilons"),
        (lambda: basic([1], [1e-6, 1e-6]), ParameterError, "deltas"),
        (lambda: basic([1], [1]), ParameterError, "deltas"),
        (lambda: zcdp([-1]), ParameterError, "rhos"),
        (lambda: zcdp([None]), ParameterTypeError, "rhos"),
        (lambda: advanced(1, 10, 0), ParameterError, "delta_slack"),
        (lambda: advanced(1, True, 1e-6), ParameterTypeError, "k"),
        (lambda: advanced(1, 10.0, 1e-6), ParameterTypeError, "k"),
        (lambda: optimal(1, 0, 1e-6), ParameterError, "k"),
        (lambda: optimal(1, 10**6 + 1, 1e-6), ParameterError, "k"),
        (lambda: optimal(0, 10, 1e-6), ParameterError, "epsilon"),
        (lambda: optimal(1, 10, 1), ParameterError, "delta"),
        (lambda: optimal(1, 10, 0, 1e-9), ParameterError, "delta"),
        (lambda: optimal_delta(1, 10, -1), ParameterError, "target_epsilon"),
        (lambda: optimal_delta(1, 10, "many"), ParameterError, "target_epsilon"),
        (lambda: zcdp_to_approx(math.nan, 1e-6), ParameterError, "rho"),
        (lambda: zcdp_to_approx(1, 1e-301), ParameterError, "delta"),
        (lambda: fits(1, math.inf, 1e-6), ParameterError, "epsilon"),
        (lambda: approx_to_zcdp(1, [1e-6]), ParameterTypeError, "delta"),
        (lambda: pure_to_zcdp(1, "best"), ParameterError, "bound"),
        (lambda: gaussian_delta(0, 1, 1), ParameterError, "sigma"),
        (lambda: gaussian_sigma(1, 1e-6, 1e101), ParameterError, "sensitivity"),
    ],
)
def test_unusable_parameters_are_refused_by_name(call, error, parameter):
    """What is no number, out of range or of the wrong kind raises a typed error that names the parameter."""
    with pytest.raises(error, match=f"^{parameter} must be") as caught:
        call()
    assert caught.value.parameter == parameter


def test_numpy_numbers_count():
    """NumPy scalars mean the same as Python's numbers."""
    assert optimal(np.float64(0.1), np.int32(7), np.float64(1e-6)) == optimal(0.1, 7, 1e-6)
    assert basic(np.array([0.1, 0.2]))[0] == 0.3


def test_a_filter_can_afford_the_conversion():
    """fits() takes less than 100 microseconds, so that a filter may call it for each query (the fastest of 200 calls; it takes about ten)."""
    spent, promise = Fraction(1234567, 10**9), Epsilon("1.5")
    times = []
    for _ in range(200):
        start = time.perf_counter()
        fits(spent, promise, 1e-6)
        times.append(time.perf_counter() - start)
    assert min(times) < 100e-6


def test_calculators_charge_nothing():
    """The module reaches no session, no registry and no noise, and every public function states its theorem, units and errors."""
    source = composition.__dict__
    assert not {"session", "registry", "noise", "release", "pd", "pandas"} & set(source)
    for name in composition.__all__:
        text = source[name].__doc__
        assert all(part in text for part in ("Parameters\n", "Returns\n", "Raises\n", "Examples\n", ">>> ", "nats")), name
        assert "]_" in text, name
