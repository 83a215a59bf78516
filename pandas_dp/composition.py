"""Calculators: what several private releases amount to together, and how much noise a promise needs.

They plan budgets and check claims.  They charge nothing, know no session and see no data.  ``advanced`` and ``optimal`` must never stand in for
an account: they take k and every parameter as fixed in advance, which an analyst who chooses the next query by the last answer does not.  (The
plain sums, ``basic`` and ``zcdp``, hold for parameters chosen on the way, too [RRUV16]_, [FZ21]_.)

Results are directed: rounded to the side on which the claim stays true, read as a double or as printed; ε, δ and σ up, a ρ to spend down.
``basic`` and ``zcdp`` are exact, the conversions between ρ and (ε, δ) floats that give away 1e-14 of the sum of their absolute terms, the others
decimals of 60 digits that give away the last bit (where a parameter is searched for, 1e-13 of it).  A float parameter means what it prints.

References
----------
.. [DR14] C. Dwork, A. Roth. The algorithmic foundations of differential privacy. 2014.
.. [DRV10] C. Dwork, G. Rothblum, S. Vadhan. Boosting and differential privacy. FOCS 2010.
.. [KOV15] P. Kairouz, S. Oh, P. Viswanath. The composition theorem for differential privacy. ICML 2015, arXiv:1311.0776.
.. [BS16] M. Bun, T. Steinke. Concentrated differential privacy: simplifications, extensions, and lower bounds. TCC 2016, arXiv:1605.02065.
.. [BW18] B. Balle, Y.-X. Wang. Improving the Gaussian mechanism for differential privacy. ICML 2018, arXiv:1805.06530.
.. [CKS20] C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020, arXiv:2004.00010.
.. [St24] T. Steinke. Sharp RDP & zCDP from pure DP. DifferentialPrivacy.org, 2024.
.. [EXACT25] Exact zCDP characterizations for fundamental differentially private mechanisms. 2025, arXiv:2510.25746.
.. [RRUV16] R. Rogers, A. Roth, J. Ullman, S. Vadhan. Privacy odometers and filters: pay-as-you-go composition. NeurIPS 2016, arXiv:1605.08294.
.. [FZ21] V. Feldman, T. Zrnic. Individual privacy accounting via a Rényi filter. NeurIPS 2021, arXiv:2008.11193.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from pandas_dp.errors import ParameterError
from pandas_dp.quantities import directed
from pandas_dp.quantities.budget import Epsilon, as_epsilon
from pandas_dp.quantities.directed import as_count, as_delta, as_list, as_rho, as_size, as_target

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "advanced",
    "approx_to_zcdp",
    "basic",
    "fits",
    "gaussian_delta",
    "gaussian_sigma",
    "optimal",
    "optimal_delta",
    "pure_to_zcdp",
    "zcdp",
    "zcdp_to_approx",
]


def basic(epsilons: Iterable[object], deltas: Iterable[object] | None = None) -> tuple[Epsilon, Fraction]:
    """Add up: (εᵢ, δᵢ)-private releases are (Σεᵢ, Σδᵢ)-private together, chosen adaptively or not ([DR14]_, theorem 3.16 and appendix B).

    Parameters
    ----------
    epsilons, deltas : iterables of numbers
        One ε, in nats, and one δ, a probability, per release; without ``deltas`` all are pure.

    Returns
    -------
    epsilon : Epsilon
    delta : Fraction
        The exact sums; a δ of 1 or more promises nothing.

    Raises
    ------
    ParameterError
        For parameters out of range or of different number; what is no number at all is its subclass ``ParameterTypeError``, as everywhere.

    Examples
    --------
    >>> basic(["0.1"] * 10, [1e-7] * 10)
    (ε=1, Fraction(1, 1000000))
    """
    first = [as_epsilon(value, "epsilons") for value in as_list(epsilons, "epsilons")]
    second = [] if deltas is None else [as_delta(value, "deltas", zero=True) for value in as_list(deltas, "deltas")]
    if deltas is not None and len(second) != len(first):
        raise ParameterError.number("deltas", "as many as epsilons")
    return Epsilon(sum(first, Fraction(0))), sum(second, Fraction(0))


def advanced(epsilon: object, k: int, delta_slack: object, delta: object = 0) -> tuple[float, Fraction]:
    """Bound k adaptive releases by ε√(2k ln(1/δ')) + kε(e^ε - 1) at kδ + δ' ([DRV10]_, theorem III.3; [DR14]_, theorem 3.20).

    Where kε is less, it is kε at kδ.  Without the second term the claim is false.  ``optimal`` is never worse.

    Parameters
    ----------
    epsilon, delta : number
        Of each release; ε in nats.
    k : int
        How many, up to 1,000,000.
    delta_slack : number
        δ', the probability given away for a smaller ε.

    Returns
    -------
    epsilon : float
        Rounded up.
    delta : Fraction
        Exact.

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> advanced(0.1, 100, 1e-6), advanced(1, 10, 1e-6)
    ((6.308..., Fraction(1, 1000000)), (10.0, Fraction(0, 1)))
    """
    each, count = Fraction(as_epsilon(epsilon)), as_count(k)
    slack, base = as_delta(delta_slack, "delta_slack"), as_delta(delta, zero=True)
    bound = directed.advanced(each, count, slack)
    return (directed.up(count * each), count * base) if bound is None else (bound, count * base + slack)


def optimal(epsilon: object, k: int, delta: object, delta_per_query: object = 0) -> float:
    """Find the least ε' for which any k adaptive (ε, δ₀)-private releases are (ε', δ)-private ([KOV15]_, theorem 3.3).

    The worst case is k-fold randomized response.  Its δ(ε'), a sum of binomial terms, is A - e^ε' B between two losses (k - 2i)ε, so that its
    inverse is a logarithm, exact on the theorem's grid and between.  At δ = 0 nothing below kε is possible.

    Parameters
    ----------
    epsilon, delta_per_query : number
        ε, in nats, and δ₀ of each release.
    k : int
        How many, up to 1,000,000 (about a second).
    delta : number
        The δ of all together; it may be 0 if δ₀ is.

    Returns
    -------
    float
        ε', rounded up.

    Raises
    ------
    ParameterError
        For parameters out of range; and for a δ below 1 - (1 - δ₀)^k, to which the δ₀ alone amount.

    Examples
    --------
    >>> optimal(1, 100, 1e-6)
    83.53...
    """
    each, count, total = Fraction(as_epsilon(epsilon)), as_count(k), as_delta(delta, zero=True)
    result = directed.response_epsilon(each, count, total, as_delta(delta_per_query, "delta_per_query", zero=True))
    if result is None:
        raise ParameterError.number("delta", "at least 1 - (1 - delta_per_query)**k")
    return result


def optimal_delta(epsilon: object, k: int, target_epsilon: object, delta_per_query: object = 0) -> float:
    """Return the δ at which any k adaptive (ε, δ₀)-private releases are (ε', δ)-private: that of the worst case ([KOV15]_, theorem 3.3).

    Parameters
    ----------
    epsilon, delta_per_query : number
        ε, in nats, and δ₀ of each release.
    k : int
        How many, up to 1,000,000 (about a second).
    target_epsilon : number
        ε', from 0.

    Returns
    -------
    float
        δ, rounded up; 0.0 only for an ε' of kε or more.

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> optimal_delta(1, 100, 52.565)  # of "ε√(2k ln(1/δ))" with δ = 1e-6
    0.207...
    """
    each, count = Fraction(as_epsilon(epsilon)), as_count(k)
    target = as_target(target_epsilon)
    return directed.response_delta(each, count, target, as_delta(delta_per_query, "delta_per_query", zero=True))


def zcdp(rhos: Iterable[object]) -> Fraction:
    """Add up: ρᵢ-zCDP releases are (Σρᵢ)-zCDP together, chosen adaptively or not ([BS16]_, lemma 2.3).

    Parameters
    ----------
    rhos : iterable of numbers
        In nats, from 0.

    Returns
    -------
    Fraction
        The exact sum.

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> zcdp([0.005] * 100)
    Fraction(1, 2)
    """
    return sum((as_rho(value, "rhos") for value in as_list(rhos, "rhos")), Fraction(0))


def zcdp_to_approx(rho: object, delta: object) -> float:
    """Find the least ε for which ρ-zCDP is known to imply (ε, δ)-privacy ([CKS20]_, proposition 12 and corollary 13).

    It solves δ = min over α > 1 of exp((α - 1)(αρ - ε)) (1 - 1/α)^α / (α - 1).  Every α gives a true bound.

    Parameters
    ----------
    rho, delta : number
        ρ in nats, from 0; δ a probability.

    Returns
    -------
    float
        ε in nats, rounded up.

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> zcdp_to_approx(0.5, 1e-6)
    5.22...
    """
    return directed.concentrated(float(as_rho(rho)), directed.log_inverse(as_delta(delta)))


def approx_to_zcdp(epsilon: object, delta: object) -> float:
    """Find the largest ρ that ``zcdp_to_approx`` converts to ε or less: what may be spent under an (ε, δ) promise ([CKS20]_, corollary 13).

    Parameters
    ----------
    epsilon, delta : number
        The promise; ε in nats.

    Returns
    -------
    float
        ρ in nats, rounded down, such that ``fits(rho, epsilon, delta)``.

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> approx_to_zcdp(1, 1e-6)
    0.02...
    """
    promise, inverse = directed.down(Fraction(as_epsilon(epsilon))), directed.log_inverse(as_delta(delta))
    return directed.edge(lambda rho: directed.concentrated(rho, inverse) <= promise, 0.5)


def fits(rho: object, epsilon: object, delta: object) -> bool:
    """Tell whether ρ-zCDP keeps an (ε, δ) promise ([CKS20]_, corollary 13).  Within the margin of rounding the answer is no.

    ``rho <= approx_to_zcdp(epsilon, delta)`` says the same, to 1e-13, and its right side is a constant of the promise.

    Parameters
    ----------
    rho, epsilon, delta : number
        What was spent, in nats, from 0, and the promise.

    Returns
    -------
    bool

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> fits(0.02, 1, 1e-6), fits(0.03, 1, 1e-6)
    (True, False)
    """
    return Fraction(zcdp_to_approx(rho, delta)) <= Fraction(as_epsilon(epsilon))


def pure_to_zcdp(epsilon: object, bound: Literal["simple", "tight", "laplace"] = "simple") -> Fraction:
    """Return a ρ for which a pure ε-private release is ρ-zCDP: ε²/2 ([BS16]_, proposition 1.4), or a sharper one.

    "tight" is ε tanh(ε/2), the least that holds for all ε-private releases [St24]_.  "laplace" is ε - 1 + e^-ε, the least for Laplace noise on real
    values [EXACT25]_; it is false for noise on integers, where a count behaves like randomized response and needs "tight".

    Parameters
    ----------
    epsilon : number
        In nats.
    bound : {"simple", "tight", "laplace"}
        Which.

    Returns
    -------
    Fraction
        ρ in nats; exact if "simple", else rounded up to a float.

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> pure_to_zcdp(0.1), float(pure_to_zcdp(1, "tight")), float(pure_to_zcdp(1, "laplace"))
    (Fraction(1, 200), 0.46211..., 0.36787...)
    """
    if bound not in {"simple", "tight", "laplace"}:
        raise ParameterError.choice("bound", ("simple", "tight", "laplace"))
    each = Fraction(as_epsilon(epsilon))
    return each**2 / 2 if bound == "simple" else Fraction(directed.pure(each, laplace=bound == "laplace"))


def gaussian_delta(sigma: object, sensitivity: object, epsilon: object) -> float:
    """Return the true δ of real-valued Gaussian noise, Φ(Δ/2σ - εσ/Δ) - e^ε Φ(-Δ/2σ - εσ/Δ) ([BW18]_, theorem 8).

    Parameters
    ----------
    sigma, sensitivity : number
        Standard deviation and Δ, in the units of the answer, from 1e-100 to 1e100.
    epsilon : number
        In nats.

    Returns
    -------
    float
        δ, rounded up.

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> gaussian_delta(0.4845, 1, 10)  # of "√(2 ln(1.25/δ))/ε" with δ = 1e-5
    2.26...e-05
    """
    ratio = as_size(sigma, "sigma") / as_size(sensitivity, "sensitivity")
    return directed.gaussian(ratio, Fraction(as_epsilon(epsilon)))


def gaussian_sigma(epsilon: object, delta: object, sensitivity: object) -> float:
    """Find the least σ with which real-valued Gaussian noise is (ε, δ)-private: ``gaussian_delta``, inverted ([BW18]_, theorem 8).

    Parameters
    ----------
    epsilon, delta : number
        The promise; ε in nats, of any size.
    sensitivity : number
        Δ, in the units of the answer, from 1e-100 to 1e100.

    Returns
    -------
    float
        σ in the units of the answer, rounded up.

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> gaussian_sigma(1, 1e-5, 1)
    3.730...
    """
    each, promise, size = Fraction(as_epsilon(epsilon)), directed.down(as_delta(delta)), as_size(sensitivity, "sensitivity")
    return directed.up(Fraction(directed.edge(lambda ratio: directed.gaussian(Fraction(ratio), each) <= promise, 2.0)) * size)
