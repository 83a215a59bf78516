"""Which noisy counts may be shown at all: thresholds for keys that are themselves private.

A key that one unit alone has must stay hidden but for a probability of δ.  Decided exactly, from the distribution of the noise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pandas_dp.noise.exact import exp_bounds

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["appears_at_most", "key_threshold"]

_GUARD = 64


def appears_at_most(scale: Fraction, delta: Fraction, keys: int, threshold: int) -> bool:
    """Whether any of ``keys`` keys of one unit alone reaches a threshold with a probability of at most δ.  True only if that is certain.

    Parameters
    ----------
    scale : Fraction
        Of the discrete Laplace noise on the number of units.
    delta : Fraction
        δ.
    keys : int
        How many keys one unit may have that nobody else has.
    threshold : int
        At least 2: the noisy count that shows a key.

    Notes
    -----
    With ``q = exp(-1/scale)`` the count 1 of such a key reaches ``t`` if the noise reaches ``t - 1``, which has probability ``q**(t-1) / (1 + q)``; of several keys
    one does with at most the sum.
    """
    bits = max(1, math.ceil(keys / delta).bit_length()) + _GUARD
    _, power = exp_bounds((threshold - 1) / scale, bits)
    low, _ = exp_bounds(1 / scale, bits)
    one = 1 << bits
    # keys * power / (1 + q) <= delta, with the power from above and q from below.
    return keys * power * delta.denominator <= delta.numerator * (one + low)


def key_threshold(scale: Fraction, delta: Fraction, keys: int) -> int:
    """Return the smallest noisy number of units that shows a key, such that one unit's own keys stay hidden but for a probability of δ.

    Notes
    -----
    Thresholding noisy counts of units is (ε, δ)-differentially private [1]_, [2]_: keys that others have, too, are protected by the noise; those of one unit alone appear
    with the probability that :func:`appears_at_most` bounds.

    References
    ----------
    .. [1] A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas. Releasing search queries and clicks privately. WWW 2009, theorem 1.
    .. [2] D. Desfontaines, J. Voss, B. Gipson, C. Mandayam. Differentially private partition selection. PoPETs 2022, section 2.
    """
    low, high = 1, 2
    while not appears_at_most(scale, delta, keys, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if appears_at_most(scale, delta, keys, middle) else (middle, high)
    return high
