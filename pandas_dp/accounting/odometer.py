"""What has been spent so far, told as tightly as is known: through privacy-loss distributions.

A reading, not a rule: what a session refuses is decided by its accountant, whose sums hold for queries chosen as one goes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pandas_dp.composition import zcdp_to_approx
from pandas_dp.errors import AccountingMissing, ParameterError
from pandas_dp.quantities.budget import Delta, Epsilon
from pandas_dp.quantities.rounding import rounded_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas_dp.accounting import Entry

__all__ = ["concentrated", "tightest"]


def concentrated(entries: Sequence[Entry], delta: Delta) -> Epsilon | None:
    """Return the ε of the sums of ρ at δ, less what the selection of keys took of it; None if that leaves nothing."""
    left = Fraction(delta) - sum((Fraction(entry.delta) for entry in entries), Fraction(0))
    if left <= 0:
        return None
    rho = sum((Fraction(entry.cost.rho) for entry in entries), Fraction(0))
    return Epsilon(rounded_up(Fraction(zcdp_to_approx(rho, left))))


def tightest(entries: Sequence[Entry], delta: Delta) -> Epsilon:
    """Return the smallest ε at δ that any account of the entries gives.

    Raises
    ------
    AccountingMissing
        Without ``dp_accounting``; the figure of the concentrated account is its attribute.

    Notes
    -----
    Pure mechanisms are composed as distributions of the privacy loss that dominates every ε-differentially private mechanism, which is optimal
    composition [1]_, in Google's ``dp-accounting``, rounded pessimistically; Gaussian ones as ρ, at half of δ each where there are both.  The smallest of this, of the plain sum and of
    the concentrated account counts.

    References
    ----------
    .. [1] P. Kairouz, S. Oh, P. Viswanath. The composition theorem for differential privacy. ICML 2015, theorem 3.3; heterogeneous by J. Murtagh, S. Vadhan. The
       complexity of computing the optimal composition of differential privacy. TCC 2016-A, theorem 1.5.
    """
    entries = [entry for entry in entries if entry.epsilon]  # an amendment costs nothing
    figure = concentrated(entries, delta)
    distributions: Any = None
    try:
        from dp_accounting.pld import common, privacy_loss_distribution

        distributions = privacy_loss_distribution
    except ImportError:
        distributions = None
    if distributions is None:
        raise AccountingMissing.not_installed(figure)
    pure = [entry for entry in entries if entry.cost.pure]
    others = [entry for entry in entries if not entry.cost.pure]
    found = [figure] if figure is not None else []
    if not others:
        if sum((Fraction(entry.delta) for entry in entries), Fraction(0)) <= delta:
            found.append(Epsilon(sum((Fraction(entry.epsilon) for entry in pure), Fraction(0))))
        part = Fraction(delta)
    else:
        part = Fraction(delta) / 2
    if pure:
        reached = _composed(pure, part, distributions, common) if part else None
        if reached is not None and others:
            rest = concentrated(others, Delta(part))
            reached = None if rest is None else reached + Fraction(rest)
        if reached is not None:
            found.append(Epsilon(rounded_up(reached)))
    if entries and not found:
        raise ParameterError.number("delta", "larger than what private keys took of it")
    return min(found, default=Epsilon(0))


def _composed(entries: Sequence[Entry], delta: Fraction, distributions: Any, common: Any) -> Fraction | None:
    """Return the ε of the composed privacy-loss distributions; None if there is none, or they are too large to compose."""
    # Losses are rounded up to multiples of a step: one that divides the smallest ε, which all have if they are equal.
    least = min(float(entry.epsilon) for entry in entries)
    most = sum(float(entry.epsilon) for entry in entries)
    step = max(least / math.ceil(least / _STEP) * (1 + 1e-12), most / _STEPS)
    whole: Any = None
    try:
        for (epsilon, own), count in _counted(entries).items():
            one = distributions.from_privacy_parameters(
                common.DifferentialPrivacyParameters(_above(epsilon), _above(own)), value_discretization_interval=step
            ).self_compose(count)
            whole = one if whole is None else whole.compose(one)
        reached = float(whole.get_epsilon_for_delta(_below(delta)))
    except (OverflowError, ValueError):
        return None
    return Fraction(reached) if math.isfinite(reached) else None


_STEP = 1e-4
_STEPS = 200_000  # of the whole sum, beyond which a distribution takes long to compose


def _counted(entries: Sequence[Entry]) -> dict[tuple[Fraction, Fraction], int]:
    counts: dict[tuple[Fraction, Fraction], int] = {}
    for entry in entries:
        key = Fraction(entry.epsilon), Fraction(entry.delta)
        counts[key] = counts.get(key, 0) + 1
    return counts


def _above(number: Fraction) -> float:
    return float(number) * (1 + 1e-15)


def _below(number: Fraction) -> float:
    return float(number) * (1 - 1e-15)
