"""The filters by themselves: at the last charge that fits, and at the first that does not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pandas_dp.accounting import Cost, Delta, Epsilon, Rho
from pandas_dp.accounting.filters import ApproximateFilter, ConcentratedFilter, PureFilter
from pandas_dp.composition import approx_to_zcdp, zcdp_to_approx
from pandas_dp.quantities.rounding import root_down, rounded_up

NOTHING = Fraction(0)
DELTA = Delta(Fraction(1, 10**6))
MOST = Fraction(approx_to_zcdp(Epsilon(1), Delta(DELTA / 2)))


def laplace(epsilon):
    """Return the cost of Laplace noise."""
    return Cost.laplace(Epsilon(epsilon))


def admits(rule, sums, cost, aside=NOTHING):
    """Whether a filter lets a charge pass; the sums that it returns then are those with the charge."""
    after = rule.admitted(sums, cost, aside)
    assert after in (None, rule.plus(sums, cost))
    return after is not None


def gaussian(epsilon):
    """Return the cost of a Gaussian that is called so."""
    return Cost.gaussian(Rho(epsilon * epsilon / 2), Epsilon(epsilon))


def test_the_sum_of_epsilon_is_a_promise_of_pure_charges_alone():
    """A Gaussian first, and Laplace noise that fits the sum of ε and not the concentrated account is refused; the mirror, too; after pure charges it is accepted.

    It would catch a filter that forgets either flag: (ε, δ) = (1, 1e-6) would be sold as 4 or more.
    """
    rule = ApproximateFilter(Epsilon(1), DELTA)
    small, large = Fraction(15, 100), Fraction(8, 10)
    for first, second, fits in (
        (gaussian(small), laplace(large), False),
        (laplace(large), gaussian(small), False),
        (gaussian(small), gaussian(large), False),
        (laplace(small), laplace(large), True),
    ):
        sums = rule.plus(rule.start(), first)
        assert admits(rule, rule.start(), first, NOTHING)
        assert admits(rule, sums, second) is fits
        assert (rule.after(sums, second, rule.rest(sums)) >= 0) is fits
        assert rule.covers(rule.plus(sums, second)) is fits
    assert not admits(rule, rule.start(), gaussian(Fraction(9, 10)), NOTHING)
    assert admits(rule, rule.start(), laplace(Fraction(9, 10)), NOTHING)


@pytest.mark.parametrize("spent", [Fraction(0), MOST / 3, MOST * Fraction(99, 100)])
def test_the_rest_is_what_fits(spent):
    """What remains after Gaussian charges is the largest ε that still fits, and the δ of the conversion is half of the session's.

    It would catch a rest that is told too small or too large, and the other half of δ, which is for private keys, used twice.
    """
    rule = ApproximateFilter(Epsilon(1), DELTA)
    sums = rule.start() if not spent else rule.plus(rule.start(), Cost.gaussian(Rho(spent), Epsilon(1)))
    rest = rule.rest_for(sums, gaussian(Fraction(1, 10)), rule.rest(sums))
    assert rest == root_down(2 * (MOST - spent))
    assert admits(rule, sums, gaussian(rest), NOTHING)
    assert not admits(rule, sums, gaussian(rest + Fraction(1, 10**6)), NOTHING)
    if spent:
        assert rule.rest(sums) == rest
        assert rule.spent(sums) == rounded_up(Fraction(zcdp_to_approx(Rho(spent), Delta(DELTA / 2))))
    assert rule.rest(rule.start()) == 1


def test_delta_of_private_keys_has_its_half():
    """A budget covers what was charged only if the δ of private keys is within half of its δ."""
    rule = ApproximateFilter(Epsilon(1), DELTA)
    for delta, covered in ((DELTA / 2, True), (DELTA / 2 + Fraction(1, 10**12), False)):
        assert rule.covers(rule.plus(rule.start(), Cost.laplace(Epsilon(1), Delta(delta)))) is covered


@pytest.mark.parametrize(
    ("rule", "cost"), [(PureFilter(Epsilon(1)), laplace), (ConcentratedFilter(Rho(1)), lambda rho: Cost.gaussian(Rho(rho), Epsilon(1)))]
)
def test_a_budget_is_spent_to_the_last_and_no_further(rule, cost):
    """The last charge may take exactly what is left, and no more; what others have set aside is not left."""
    sums = rule.plus(rule.start(), cost(Fraction(1, 3)))
    assert admits(rule, sums, cost(Fraction(2, 3)), NOTHING)
    assert not admits(rule, sums, cost(Fraction(2, 3) + Fraction(1, 10**9)), NOTHING)
    assert admits(rule, sums, cost(Fraction(1, 3)), Fraction(1, 3))
    assert not admits(rule, sums, cost(Fraction(1, 2)), Fraction(1, 3))
    assert rule.rest(sums) == Fraction(2, 3)
    assert rule.covers(rule.plus(sums, cost(Fraction(2, 3))))
    assert not rule.covers(rule.plus(sums, cost(1)))
