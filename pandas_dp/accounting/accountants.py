"""The accounts that are charged: a stopping rule each, that holds for queries chosen one after the other with any parameters.

Calculators that need all parameters beforehand are in :mod:`pandas_dp.composition`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from pandas_dp.accounting import lock
from pandas_dp.accounting.base import Accountant
from pandas_dp.quantities.budget import Delta, Epsilon, Rho
from pandas_dp.quantities.rounding import root_down, rounded_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas_dp.accounting.ledger import Cost

__all__ = ["Accountant", "ApproximateAccountant", "ConcentratedAccountant", "PureAccountant"]


class PureAccountant(Accountant[Epsilon]):
    """ε-differential privacy: the sum of all ε stays within the budget [1]_.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman, S. Vadhan. Privacy odometers and filters: pay-as-you-go composition.
       NeurIPS 2016, section 3 (basic composition holds for adaptively chosen parameters).
    """

    unit = Epsilon

    def _spent(self) -> Epsilon:
        return Epsilon(self._epsilon)

    def _covers(self, budget: Epsilon, delta: Delta) -> bool:  # noqa: ARG002  (one signature for all)
        return self._epsilon <= Fraction(budget)

    def _rest(self) -> Fraction:
        return self._limit - self._epsilon

    def _fits(self, cost: Cost) -> bool:
        if self._blocks:
            return super()._fits(cost)
        return self._epsilon + cost.epsilon <= self._limit  # a sum of Fractions, which compares exactly

    def _add(self, cost: Cost) -> None:
        self._epsilon += cost.epsilon


class ConcentratedAccountant(Accountant[Rho]):
    """ρ-zero-concentrated differential privacy: the sum of all ρ stays within the budget [1]_.

    References
    ----------
    .. [1] V. Feldman, T. Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021, theorem 4.3 (the sum is a filter for adaptively chosen parameters).
    """

    unit = Rho

    def _spent(self) -> Rho:
        return Rho(self._rho)

    def _covers(self, budget: Rho, delta: Delta) -> bool:  # noqa: ARG002  (one signature for all)
        return self._rho <= Fraction(budget)

    def _price(self, cost: Cost) -> Fraction:
        return Fraction(cost.rho)

    def _rest(self) -> Fraction:
        return self._limit - self._rho


class ApproximateAccountant(Accountant[Epsilon]):
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

    unit = Epsilon

    def _spent(self) -> Epsilon:
        """Return the smaller of what both accounts say: the sum of all ε if all were pure, and the ε at the conversion's half of δ, rounded up."""
        from pandas_dp.composition import zcdp_to_approx  # noqa: PLC0415  (for those who have such a budget)

        found = [self._epsilon] if self._pure else []
        if self._rho:
            found.append(rounded_up(Fraction(zcdp_to_approx(Rho(self._rho), Delta(self.delta / 2)))))
        return Epsilon(min(found, default=Fraction(0)))

    def _covers(self, budget: Epsilon, delta: Delta) -> bool:
        from pandas_dp.composition import approx_to_zcdp  # noqa: PLC0415  (as above)

        within = (self._pure and self._epsilon <= budget) or self._rho <= approx_to_zcdp(budget, Delta(delta / 2))
        return within and self._delta <= delta / 2

    def _set(self, budget: Epsilon, delta: Delta) -> None:
        super()._set(budget, delta)
        self._known = None

    def _most_rho(self) -> Fraction:
        """Return the largest ρ that keeps the promise at the conversion's half of δ, rounded down."""
        from pandas_dp.composition import approx_to_zcdp  # noqa: PLC0415  (as above)

        if self._known is None:
            self._known = Fraction(approx_to_zcdp(self.budget, Delta(self.delta / 2)))
        return self._known

    def _rest(self) -> Fraction:
        return max(self._concentrated_rest(), self._limit - self._epsilon if self._pure else Fraction(0))

    def _concentrated_rest(self) -> Fraction:
        left = self._most_rho() - self._rho
        return root_down(2 * left) if left > 0 else Fraction(0)

    def _left_for(self, cost: Cost) -> Epsilon:
        return self._remaining() if cost.pure else Epsilon(self._concentrated_rest())

    def _set_aside(self) -> Fraction:
        return Fraction(0)  # two sums at once cannot be reserved in one number: a block is a limit, and no reservation

    def _fits(self, cost: Cost) -> bool:
        if self._pure and cost.pure and self._epsilon + cost.epsilon <= self._limit:
            return True
        return self._rho + cost.rho <= self._most_rho()

    def after(self, cost: Cost) -> Epsilon:
        """Return the most that one more query could ask for after a charge, or, negative, what is missing for it."""
        with lock.LOCK:
            if not self._fits(cost) or self._delta + cost.delta > self.delta / 2:
                return Epsilon(min(Fraction(self._remaining()) - self._price(cost), Fraction(-1, 10**12)))
            before = self._epsilon, self._delta, self._rho, self._pure
            self._epsilon, self._delta, self._rho = before[0] + cost.epsilon, before[1] + cost.delta, before[2] + cost.rho
            self._pure = before[3] and cost.pure
            try:
                return Epsilon(self._rest())
            finally:
                self._epsilon, self._delta, self._rho, self._pure = before

    def share(self, count: int) -> Epsilon:
        """Return the larger of the equal shares of ``count`` queries in either account."""
        return Epsilon(max(self._limit / count, root_down(2 * self._most_rho() / count)))

    def shares(self, weights: Sequence[Fraction]) -> tuple[Epsilon, ...]:
        """Divide what is left by weights, in the account where it is more."""
        with lock.LOCK:
            whole = sum(weights)
            basic = (self._limit - self._epsilon) / whole if self._pure else Fraction(0)
            left = max(self._most_rho() - self._rho, Fraction(0))
            factor = max(basic, root_down(2 * left / sum((weight * weight for weight in weights), Fraction(0))))
        return tuple(Epsilon(factor * weight) for weight in weights)
