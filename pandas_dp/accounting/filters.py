"""What a budget allows: a stopping rule for each kind, that holds for queries chosen one after the other with any parameters (a privacy filter).

A filter is a budget and arithmetic: it is given the sums so far and decides.  It keeps no account and must never remember a charge.  Calculators that need all parameters beforehand are in
:mod:`pandas_dp.composition`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pandas_dp.accounting.ledger import NO_DELTA
from pandas_dp.errors import ParameterError
from pandas_dp.quantities.budget import Delta, Epsilon, Rho, as_delta, as_epsilon, as_rho
from pandas_dp.quantities.rounding import root_down, rounded_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas_dp.accounting.ledger import Cost

__all__ = ["ApproximateFilter", "ConcentratedFilter", "Filter", "PureFilter", "Sums", "as_optional_delta", "filter_of"]


class Sums(NamedTuple):
    """What the charges so far add up to, exactly.

    Attributes
    ----------
    epsilon, delta, rho : Fraction
        The sums; a filter adds up those that it needs.
    pure : bool
        Whether all charges were pure, so that the sum of ε is a promise.
    """

    epsilon: Fraction
    delta: Fraction
    rho: Fraction
    pure: bool


class Filter(ABC):
    """A budget and its stopping rule.

    Parameters
    ----------
    budget : Epsilon or Rho
        What may be spent in all.
    delta : Delta
        What may be spent of δ in all; 0 for pure and for concentrated differential privacy.
    """

    __slots__ = ("_limit", "budget", "delta")

    unit: ClassVar[Any]
    """The class of the budget."""
    reserves: ClassVar[bool] = True
    """Whether a part can be set aside: where one sum is all that counts."""
    pure: ClassVar[bool] = False
    """Whether it knows pure differential privacy alone, and no Gaussian noise."""

    def __init__(self, budget: Epsilon | Rho, delta: Delta = NO_DELTA) -> None:
        self.budget = budget
        self.delta = delta
        self._limit = Fraction(budget)

    def with_budget(self, budget: Epsilon | Rho, delta: Delta) -> Filter:
        """Return the same rule with another budget."""
        return type(self)(budget, delta)

    def price(self, cost: Cost) -> Fraction:
        """Return a cost in the unit of the budget."""
        return Fraction(cost.epsilon)

    def plus(self, sums: Sums, cost: Cost) -> Sums:
        """Return the sums with one more charge."""
        return Sums(sums.epsilon + cost.epsilon, sums.delta + cost.delta, sums.rho + cost.rho, sums.pure and cost.pure)

    @abstractmethod
    def spent(self, sums: Sums) -> Epsilon | Rho:
        """Return what the charges come to together, in the unit of the budget."""

    @abstractmethod
    def rest(self, sums: Sums) -> Fraction:
        """Return the most that one more query may ask for, if nothing is set aside."""

    @abstractmethod
    def covers(self, sums: Sums) -> bool:
        """Whether this budget would have allowed what was charged."""

    def admitted(self, sums: Sums, cost: Cost, aside: Fraction) -> Sums | None:
        """Return the sums with one more charge, or None if it is not within the budget, of which a part is set aside for others."""
        return self.plus(sums, cost) if self.price(cost) + aside <= self.rest(sums) else None

    def rest_for(self, sums: Sums, cost: Cost, remaining: Fraction) -> Fraction:  # noqa: ARG002  (one signature for all)
        """Return how much of what remains noise of this kind could spend."""
        return remaining

    def after(self, sums: Sums, cost: Cost, remaining: Fraction) -> Fraction:  # noqa: ARG002  (as above)
        """Return what would remain after a charge, or, negative, what is missing for it."""
        return remaining - self.price(cost)

    def share(self, count: int) -> Fraction:
        """Return the equal share of one of ``count`` queries in the whole budget."""
        return self._limit / count

    def shares(self, sums: Sums, weights: Sequence[Fraction], remaining: Fraction) -> list[Fraction]:  # noqa: ARG002  (as above)
        """Divide what remains by weights."""
        whole = sum(weights)
        return [remaining * weight / whole for weight in weights]

    def start(self) -> Sums:
        """Return the sums of no charge."""
        return Sums(Fraction(0), Fraction(0), Fraction(0), True)


class PureFilter(Filter):
    """ε-differential privacy: the sum of all ε stays within the budget [1]_.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman, S. Vadhan. Privacy odometers and filters: pay-as-you-go composition.
       NeurIPS 2016, section 3 (basic composition holds for adaptively chosen parameters).
    """

    __slots__ = ()
    unit = Epsilon
    pure = True

    def spent(self, sums: Sums) -> Epsilon:
        """Return the sum of all ε."""
        return Epsilon(sums.epsilon)

    def covers(self, sums: Sums) -> bool:
        """Whether this budget would have allowed what was charged."""
        return sums.epsilon <= self._limit

    def rest(self, sums: Sums) -> Fraction:
        """Return the most that one more query may ask for, if nothing is set aside."""
        return self._limit - sums.epsilon

    def admitted(self, sums: Sums, cost: Cost, aside: Fraction) -> Sums | None:
        """Return the sums with one more charge, or None if that is more than the budget."""
        after, limit = self.plus(sums, cost), self._limit
        whole = after.epsilon + aside if aside else after.epsilon
        # As integers, which is what Fractions compare as, but at once: every query passes here.
        return after if whole.numerator * limit.denominator <= limit.numerator * whole.denominator else None

    def plus(self, sums: Sums, cost: Cost) -> Sums:
        """Return the sums with one more charge: of ε alone, which is all that counts here."""
        return Sums(sums.epsilon + cost.epsilon, sums.delta, sums.rho, sums.pure)


class ConcentratedFilter(Filter):
    """ρ-zero-concentrated differential privacy: the sum of all ρ stays within the budget [1]_.

    References
    ----------
    .. [1] V. Feldman, T. Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021, theorem 4.3 (the sum is a filter for adaptively chosen parameters).
    """

    __slots__ = ()
    unit = Rho

    def spent(self, sums: Sums) -> Rho:
        """Return the sum of all ρ."""
        return Rho(sums.rho)

    def covers(self, sums: Sums) -> bool:
        """Whether this budget would have allowed what was charged."""
        return sums.rho <= self._limit

    def price(self, cost: Cost) -> Fraction:
        """Return a cost in ρ."""
        return Fraction(cost.rho)

    def rest(self, sums: Sums) -> Fraction:
        """Return the most that one more query may ask for, if nothing is set aside."""
        return self._limit - sums.rho


class ApproximateFilter(Filter):
    """(ε, δ)-differential privacy: a query is answered while the sum of all ε, or the concentrated account, stays within the budget.

    Notes
    -----
    Either is a valid stopping rule, and so is their union: outcomes that end inside the concentrated filter are those of the process that it would have stopped, whose
    hockey-stick divergence at ε is at most δ/2; all others end with a sum of at most ε, and lose no more than that [1]_, [2]_.  The other half of δ is for private keys, whichever the rule: were it
    taken off the conversion's as one goes, two branches of an adaptive process could each use nearly all of δ.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman, S. Vadhan. Privacy odometers and filters. NeurIPS 2016, section 3.
    .. [2] V. Feldman, T. Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021, theorem 4.3; conversion by C. Canonne, G. Kamath,
       T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020, proposition 12.
    """

    __slots__ = ("_most_rho",)
    unit = Epsilon
    reserves = False  # two sums at once cannot be reserved in one number: a block is a limit, and no reservation

    def __init__(self, budget: Epsilon | Rho, delta: Delta = NO_DELTA) -> None:
        super().__init__(budget, delta)
        self._most_rho: Fraction | None = None

    def spent(self, sums: Sums) -> Epsilon:
        """Return the smaller of what both accounts say: the sum of all ε if all were pure, and the ε at the conversion's half of δ, rounded up."""
        from pandas_dp.composition import zcdp_to_approx  # noqa: PLC0415  (for those who have such a budget)

        found = [sums.epsilon] if sums.pure else []
        if sums.rho:
            found.append(rounded_up(Fraction(zcdp_to_approx(Rho(sums.rho), Delta(self.delta / 2)))))
        return Epsilon(min(found, default=Fraction(0)))

    def covers(self, sums: Sums) -> bool:
        """Whether this budget would have allowed what was charged."""
        within = (sums.pure and sums.epsilon <= self._limit) or sums.rho <= self._most()
        return within and sums.delta <= self.delta / 2

    def _most(self) -> Fraction:
        """Return the largest ρ that keeps the promise at the conversion's half of δ, rounded down."""
        from pandas_dp.composition import approx_to_zcdp  # noqa: PLC0415  (as above)

        if self._most_rho is None:
            self._most_rho = Fraction(approx_to_zcdp(self.budget, Delta(self.delta / 2)))
        return self._most_rho

    def rest(self, sums: Sums) -> Fraction:
        """Return the most that one more query may ask for, in the account where it is more."""
        return max(self._concentrated_rest(sums), self._limit - sums.epsilon if sums.pure else Fraction(0))

    def _concentrated_rest(self, sums: Sums) -> Fraction:
        left = self._most() - sums.rho
        return root_down(2 * left) if left > 0 else Fraction(0)

    def admitted(self, sums: Sums, cost: Cost, aside: Fraction) -> Sums | None:  # noqa: ARG002  (nothing can be set aside)
        """Return the sums with one more charge, or None if neither the sum nor the concentrated account stays within the budget."""
        after = self.plus(sums, cost)
        return after if (after.pure and after.epsilon <= self._limit) or after.rho <= self._most() else None

    def rest_for(self, sums: Sums, cost: Cost, remaining: Fraction) -> Fraction:
        """Return how much of what remains noise of this kind could spend: Gaussian noise has the concentrated account alone."""
        return remaining if cost.pure else self._concentrated_rest(sums)

    def after(self, sums: Sums, cost: Cost, remaining: Fraction) -> Fraction:
        """Return the most that one more query could ask for after a charge, or, negative, what is missing for it."""
        after = self.admitted(sums, cost, Fraction(0))
        if after is None or after.delta > self.delta / 2:
            return min(remaining - self.price(cost), Fraction(-1, 10**12))
        return self.rest(after)

    def share(self, count: int) -> Fraction:
        """Return the larger of the equal shares of ``count`` queries in either account."""
        return max(self._limit / count, root_down(2 * self._most() / count))

    def shares(self, sums: Sums, weights: Sequence[Fraction], remaining: Fraction) -> list[Fraction]:  # noqa: ARG002  (one signature for all)
        """Divide what is left by weights, in the account where it is more."""
        whole = sum(weights)
        basic = (self._limit - sums.epsilon) / whole if sums.pure else Fraction(0)
        left = max(self._most() - sums.rho, Fraction(0))
        factor = max(basic, root_down(2 * left / sum((weight * weight for weight in weights), Fraction(0))))
        return [factor * weight for weight in weights]


def filter_of(epsilon: object, delta: object, rho: object) -> Filter:
    """Return the filter of a budget as it was typed."""
    if (epsilon is None) == (rho is None):
        raise ParameterError.budget_missing()
    if rho is not None:
        if as_optional_delta(delta):
            raise ParameterError.number("delta", "left out where rho= is the budget")
        return ConcentratedFilter(as_rho(rho))
    exact = as_optional_delta(delta)
    return ApproximateFilter(as_epsilon(epsilon), exact) if exact else PureFilter(as_epsilon(epsilon))


def as_optional_delta(delta: object) -> Delta:
    """Convert a δ exactly, or 0 for none."""
    return NO_DELTA if isinstance(delta, int) and delta == 0 and not isinstance(delta, bool) else as_delta(delta)
