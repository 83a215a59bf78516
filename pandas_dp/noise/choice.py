"""The exponential mechanism on a list of candidates, exactly: candidate ``i`` with a probability proportional to ``exp(-rate * distance_i)``.

Distances are integers, the rate a fraction; the weights are irrational, and known as far as a draw asks.  A uniform number of [0, 1) is compared with bounds on the candidates' shares
laid side by side; where it lies too close to an edge to tell, both are extended (the first time with a probability of about the number of candidates times ``2**-120``).
So the law is exact and no weight is rounded.  This module takes randomness from :mod:`pandas_dp.noise.entropy` alone, never sees pandas, and no distance may raise.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from pandas_dp.noise.entropy import random_bytes
from pandas_dp.noise.exact import exp_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

__all__ = ["choose", "weight_bounds"]

_BITS = 128
_GUARD = 64


def choose(distances: Sequence[int], rate: Fraction) -> int:
    """Return the place of a candidate.

    Parameters
    ----------
    distances : sequence of int
        At least one; only their differences count.
    rate : Fraction
        Positive.
    """
    bits = _BITS
    uniform = int.from_bytes(random_bytes(bits // 8), "little")
    while True:
        place = _located(uniform, bits, *weight_bounds(distances, rate, bits + _GUARD))
        if place is not None:
            return place
        uniform = uniform << bits | int.from_bytes(random_bytes(bits // 8), "little")
        bits *= 2


def weight_bounds(distances: Sequence[int], rate: Fraction, bits: int) -> tuple[list[int], list[int]]:
    """Return integer bounds on ``2**bits * exp(-rate * (distance - least))`` for each candidate."""
    least = min(distances)
    negligible = math.ceil(bits / rate)  # exp(-bits) is below 2**-bits
    known = {
        distance: exp_bounds(rate * (distance - least), bits) if distance - least < negligible else (0, 1) for distance in set(distances)
    }
    return [known[distance][0] for distance in distances], [known[distance][1] for distance in distances]


def _located(uniform: int, bits: int, lows: list[int], highs: list[int]) -> int | None:
    """Return the place whose share has all numbers that begin with these digits, or None where that is not certain."""
    low_ends, high_ends = list(accumulate(lows)), list(accumulate(highs))
    # The share of places up to i ends between low_ends[i] / (low_ends[i] + rest from above) and likewise; with the total between these two:
    low_total, high_total = low_ends[-1], high_ends[-1]
    place = bisect_right(low_ends, uniform * low_total >> bits)
    for candidate in (place - 1, place):
        if 0 <= candidate < len(lows):
            starts_below = candidate == 0 or high_ends[candidate - 1] << bits <= uniform * low_total
            ends_above = candidate == len(lows) - 1 or (uniform + 1) * high_total <= low_ends[candidate] << bits
            if starts_below and ends_above:
                return candidate
    return None
