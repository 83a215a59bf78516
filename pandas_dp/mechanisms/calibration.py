"""How much noise, on which grid: everything about a mechanism that is decided before a value is looked at.

Exact fractions of public parameters.  This module must never see a value.

The grid
--------
Values are rounded to multiples of ``g = 2**exponent``, ``|x/g - k| <= 1/2``, and the noise is an integer number of steps.  ``g`` depends on the
sensitivity, ε, δ and the number of values (public, like the shape) and on nothing else, so every output is a multiple of a public number.  Of
``n`` values, two that differ by ``a`` are at most ``a/g + 1`` steps apart; so one person who moves them all by Δ moves the steps by at most

* ``Δ/g + n`` in L1, by the triangle inequality, and an integer, hence ``floor(Δ/g) + n``;
* ``Δ/g + sqrt(n)`` in L2, likewise.

One step more is taken for values that had been rounded to a double before, by up to a step together.  With ``g`` below ``2**-30`` of the noise and
``n*g``, or ``sqrt(n)*g``, below ``2**-20`` of the sensitivity this costs about a millionth of noise; where it is more, it is paid all the same.

The discrete Gaussian on a vector
---------------------------------
It is not rotation invariant, so the curve of Balle and Wang [1]_ does not hold for it as it stands.  Let ``Y`` be real Gaussian noise of variance σ² on each of ``n``
coordinates, in steps, ``σ >= 2**30``; ``R`` the law of ``round(Y)`` and ``Q`` that of the discrete Gaussian.

1.  ``k + round(Y) = round(k + Y)`` for integers ``k``: adding ``R`` is post-processing of the continuous mechanism, hence exactly (ε', δ')-private by [1]_, theorem 8,
    for the L2 sensitivity in steps.
2.  With the density φ, ``R(z)/φ(z)`` is the integral of ``exp(-u**2/2σ²) * cosh(z*u/σ²)`` for ``u`` from -1/2 to 1/2.  As ``1 <= sinh(x)/x <= exp(x**2/6)`` it lies between
    ``exp(-1/8σ²)`` and ``exp(z**2/24σ⁴)``.  And by Poisson summation ``Q(z)/φ(z)`` is the same for all ``z``, between ``exp(-3*exp(-2π²σ²))`` and 1.  So
    ``|ln(Q(z)/R(z))| <= z**2/24σ⁴ + 1/8σ² = h(z)``.
3.  ``Q`` is sub-Gaussian [2]_, because ``sum(exp(t*z - z**2/2σ²))`` is ``exp(t**2 σ²/2)`` times a sum of shifted terms, which by Poisson summation is largest without a
    shift.  So ``P(|z| > 64σ) <= 2*exp(-2048) < 2**-2900``.  Let ``B`` be the noises of which no coordinate is beyond; the noise that leads to the same
    output from a neighbour has no coordinate beyond ``64σ + S``, with the sensitivity ``S``.  So for every set of outputs

        ``Q[k + z in E] <= n * 2**-2900 + exp(n*h) * R[k + z in E, z in B]
        <= n * 2**-2900 + exp(n*h) * (δ' + exp(ε') * R[k' + z' in E, no z' beyond 64σ + S])
        <= n * 2**-2900 + exp(n*h) * δ' + exp(ε' + n*h + n*h') * Q[k' + z' in E]``

    with ``h = h(64σ)`` and ``h' = h(64σ + S)``.
4.  ``ε' = ε*(1 - 2**-20)`` and ``δ' = δ*(1 - 2**-20)`` leave room for this, as long as ``n*(h + h') <= 2**-22 * min(ε, 1)``: the grid is made finer until that holds.

References
----------
.. [1] B. Balle, Y.-X. Wang. Improving the Gaussian mechanism for differential privacy. ICML 2018, arXiv:1805.06530.
.. [2] C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020, arXiv:2004.00010.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from pandas_dp.errors import ParameterError
from pandas_dp.noise.gaussian import discrete_gaussian
from pandas_dp.noise.laplace import discrete_laplace
from pandas_dp.quantities import directed

if TYPE_CHECKING:
    from pandas_dp.noise.gaussian import DiscreteGaussian
    from pandas_dp.noise.laplace import DiscreteLaplace

__all__ = ["Plan", "gaussian_plan", "gaussian_ratio", "geometric_plan", "laplace_plan", "rounding_loss"]

_NOISE_BITS = 30  # a scale, or standard deviation, has at least so many bits in steps
_ROUND_BITS = 20  # and rounding all values adds less than this part of the sensitivity ...
_MOST_BITS = 50  # ... unless more bits than this were needed: the samplers' arrays end at 2**52
_SHARE = Fraction(1, 2**20)
_ROOM = Fraction(1, 2**22)
_STEEP = 100  # from where sinh is half of exp
_BEYOND = 64  # standard deviations
_TAIL = Fraction(1, 2**2900)


@dataclass(frozen=True, slots=True)
class Plan:
    """Noise on a grid.

    Attributes
    ----------
    exponent : int
        A step is ``2**exponent``.
    sensitivity : Fraction
        In steps, rounding included; L1, for Gaussian noise L2.
    size : Fraction
        The scale in steps; of Gaussian noise the variance.
    gaussian : bool
        Which of the two.
    """

    exponent: int
    sensitivity: Fraction
    size: Fraction
    gaussian: bool = False

    @property
    def step(self) -> float:
        """The worth of a step."""
        return math.ldexp(1.0, self.exponent)

    @property
    def sampler(self) -> DiscreteLaplace | DiscreteGaussian:
        """The exact sampler."""
        return discrete_gaussian(self.size) if self.gaussian else discrete_laplace(self.size)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise, in the units of the values."""
        if self.gaussian:
            return math.sqrt(self.size) * self.step
        rate = 1 / (2 * float(self.size))
        return self.step / (math.sqrt(2) * math.sinh(rate)) if rate < _STEEP else self.step * math.sqrt(2) * math.exp(-rate)

    def half_width(self, level: float) -> float:
        """Return a quantile of the absolute value of the noise."""
        return self.sampler.half_width(level) * self.step


@lru_cache(maxsize=256)
def laplace_plan(sensitivity: Fraction, epsilon: Fraction, count: int) -> Plan:
    """Return discrete Laplace noise of scale ``sensitivity / epsilon``: ε for any move of at most the sensitivity, in L1 [1]_.

    References
    ----------
    .. [1] C. Dwork, A. Roth. The algorithmic foundations of differential privacy. 2014, definition 3.3 and theorem 3.6.
    """
    size = _floor_log2(sensitivity / epsilon)
    fine = min(size - _NOISE_BITS, _floor_log2(sensitivity / max(count, 1)) - _ROUND_BITS)
    exponent = max(fine, size - _MOST_BITS)
    steps = Fraction(math.floor(sensitivity / _power(exponent)) + count + 1)
    return Plan(exponent, steps, steps / epsilon)


def geometric_plan(sensitivity: int, epsilon: Fraction) -> Plan:
    """Return discrete Laplace noise on the integers themselves, where nothing is rounded."""
    return Plan(0, Fraction(sensitivity), sensitivity / epsilon)


@lru_cache(maxsize=256)
def gaussian_plan(sensitivity: Fraction, epsilon: Fraction, delta: Fraction, count: int) -> Plan:
    """Return discrete Gaussian noise that is (ε, δ)-private for any move of at most the sensitivity, in L2: see the module's text."""
    ratio = gaussian_ratio(epsilon, delta)
    root = math.isqrt(max(count, 1) - 1) + 1  # not below the square root
    size = _floor_log2(sensitivity * ratio)
    exponent = min(size - _NOISE_BITS, _floor_log2(sensitivity / root) - _ROUND_BITS)
    while True:
        exponent = max(exponent, size - _MOST_BITS)
        steps = sensitivity / _power(exponent) + root + 1
        variance = (steps * ratio) ** 2
        if rounding_loss(variance, steps, count) <= _ROOM * min(epsilon, Fraction(1)):
            break
        if exponent == size - _MOST_BITS:  # more values than any machine holds
            raise ParameterError.number("epsilon", "larger, for so many values")
        exponent -= 1
    return Plan(exponent, steps, variance, gaussian=True)


def rounding_loss(variance: Fraction, steps: Fraction, count: int) -> Fraction:
    """Return ``n * (h + h')`` of the module's text, or more: what the discrete Gaussian may lose beyond the continuous one."""
    # |z| is at most 64σ + S, and its square at most 2 * (64σ)**2 + 2 * S**2.
    squares = _BEYOND**2 * variance + 2 * (_BEYOND**2 * variance + steps**2)
    return count * (squares / (24 * variance**2) + 1 / (4 * variance))


@lru_cache(maxsize=256)
def gaussian_ratio(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return σ/Δ of real Gaussian noise, never too little, for a little less than ε and δ."""
    promise, budget = epsilon * (1 - _SHARE), directed.down(delta * (1 - _SHARE))
    return Fraction(directed.edge(lambda ratio: directed.gaussian(Fraction(ratio), promise) <= budget, 2.0))


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _floor_log2(number: Fraction) -> int:
    """Return the largest ``e`` with ``2**e <= number``."""
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if _power(guess) <= number else guess - 1
