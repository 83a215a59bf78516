"""From the price that a call names to the noise it buys, and what is charged for it.  Charges nothing, and must never make noise cheaper than it is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pandas_dp.accounting.ledger import NO_DELTA, Cost
from pandas_dp.errors import ParameterError
from pandas_dp.quantities.budget import Epsilon, Rho, as_epsilon, as_rho
from pandas_dp.quantities.rounding import root_down, root_up

if TYPE_CHECKING:
    from pandas_dp.accounting.filters import Filter

__all__ = ["Strength", "strength_of"]

_MECHANISMS = ("laplace", "gaussian")


@dataclass(slots=True)
class Strength:
    """How much noise a query gets: for ε, or for ρ if it is Gaussian; and what that costs."""

    epsilon: Fraction
    rho: Fraction | None
    cost: Cost


def strength_of(rule: Filter, epsilon: object, rho: object, mechanism: object, queries: int | None, *, chosen: bool = False) -> Strength:
    """Return what a query may spend, by its own price or the equal share, and on which noise.

    Raises
    ------
    ParameterError
        For prices that this budget does not know, or none at all.
    """
    if mechanism is not None and (not isinstance(mechanism, str) or mechanism not in _MECHANISMS):
        raise ParameterError.choice("mechanism", _MECHANISMS)
    concentrated = rule.unit is Rho
    if epsilon is None and rho is None:
        if queries is None:
            raise ParameterError.epsilon_missing()
        share = rule.unit(rule.share(queries))
        epsilon, rho = (None, share) if concentrated else (share, None)
    if chosen and mechanism is not None:
        raise ParameterError.chosen()
    gaussian = (rho is not None) if mechanism is None else mechanism == "gaussian"
    if rule.pure and (gaussian or rho is not None):
        raise ParameterError.pure_only()
    if rho is not None:
        amount = as_rho(rho)
        nominal = Epsilon(root_up(2 * Fraction(amount)))
        if gaussian:
            return Strength(Fraction(nominal), Fraction(amount), Cost.gaussian(amount, nominal))
        # Laplace noise for the largest ε whose square is within 2ρ; charged as typed.
        exact = Epsilon(root_down(2 * Fraction(amount)))
        return Strength(Fraction(exact), None, Cost(exact, NO_DELTA, amount))
    called = as_epsilon(epsilon)
    cost = Cost.laplace(called)
    if gaussian:
        return Strength(Fraction(called), Fraction(cost.rho), Cost.gaussian(cost.rho, called))
    return Strength(called, None, cost)
