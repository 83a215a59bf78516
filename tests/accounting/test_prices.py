"""From a price to noise and a charge: exact for ε, and for ρ never more noise-free than what is charged."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pandas_dp import ParameterError
from pandas_dp.accounting import Delta, Epsilon, Rho
from pandas_dp.accounting.filters import ApproximateFilter, ConcentratedFilter, PureFilter
from pandas_dp.accounting.prices import strength_of

PURE = PureFilter(Epsilon(1))
WIDE = [ApproximateFilter(Epsilon(1), Delta(Fraction(1, 10**6))), ConcentratedFilter(Rho(1))]
AMOUNTS = [Fraction(1, 50), Fraction(1, 2), Fraction(2), Fraction(1, 3), Fraction(7, 10**5)]
NEAR = Fraction(1, 10**6)


@pytest.mark.parametrize("rule", WIDE, ids=["approximate", "concentrated"])
@pytest.mark.parametrize("amount", AMOUNTS, ids=str)
def test_a_price_in_rho(rule, amount):
    """ρ buys a Gaussian of exactly that ρ, which is called by an ε whose square is at least 2ρ; or Laplace noise of an ε whose square is at most 2ρ.  Either is charged ρ.

    It would catch rounding to the wrong side: more would be released than is charged.
    """
    gaussian = strength_of(rule, None, amount, None, None)
    assert gaussian.rho == gaussian.cost.rho == amount
    assert gaussian.cost.pure is False
    assert 2 * amount <= gaussian.cost.epsilon**2 <= 2 * amount * (1 + NEAR)
    laplace = strength_of(rule, None, amount, "laplace", None)
    assert laplace.rho is None
    assert laplace.cost.rho == amount
    assert laplace.cost.pure is True
    assert laplace.epsilon == laplace.cost.epsilon
    assert 2 * amount * (1 - NEAR) <= laplace.epsilon**2 <= 2 * amount


@pytest.mark.parametrize("rule", [PURE, *WIDE], ids=["pure", "approximate", "concentrated"])
@pytest.mark.parametrize("amount", AMOUNTS, ids=str)
def test_a_price_in_epsilon(rule, amount):
    """ε buys Laplace noise of exactly that ε, which costs ε²/2 of ρ; a Gaussian of the same price has that ρ, and is not pure."""
    laplace = strength_of(rule, amount, None, None, None)
    assert (laplace.epsilon, laplace.rho, laplace.cost.epsilon, laplace.cost.pure) == (amount, None, amount, True)
    assert laplace.cost.rho == amount**2 / 2
    assert laplace.cost.delta == 0
    if rule is not PURE:
        gaussian = strength_of(rule, amount, None, "gaussian", None)
        assert (gaussian.rho, gaussian.cost.rho, gaussian.cost.pure, gaussian.cost.epsilon) == (amount**2 / 2, amount**2 / 2, False, amount)


def test_a_pure_budget_knows_no_gaussian():
    """A budget without δ refuses a Gaussian, by name and by ρ, and ρ for Laplace noise: what it promises has none."""
    for options in ({"rho": 1, "mechanism": None}, {"rho": 1, "mechanism": "laplace"}, {"rho": None, "mechanism": "gaussian"}):
        with pytest.raises(ParameterError):
            strength_of(PURE, None if options["rho"] else 1, options["rho"], options["mechanism"], None)


def test_the_equal_share():
    """Without a price a query gets its share of the planned number; without that number it is refused; a choice is made by no named noise."""
    assert strength_of(PURE, None, None, None, 4).epsilon == Fraction(1, 4)
    assert strength_of(WIDE[1], None, None, None, 4).rho == Fraction(1, 4)
    assert strength_of(WIDE[0], None, None, None, 4).rho is None
    assert strength_of(WIDE[0], None, None, "gaussian", 4).cost.pure is False
    for rule in (PURE, *WIDE):
        with pytest.raises(ParameterError):
            strength_of(rule, None, None, None, None)
        with pytest.raises(ParameterError):
            strength_of(rule, 1, None, "laplace", None, chosen=True)
        for mechanism in ("exponential", 1):
            with pytest.raises(ParameterError):
                strength_of(rule, 1, None, mechanism, None)
