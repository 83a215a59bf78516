"""Exact arithmetic for samplers: bounds on exp, and coins whose probability is irrational.

A probability is a function from a number of binary digits to integer bounds on it; a uniform number is extended as far as a comparison needs.
Integers and fractions only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pandas_dp.noise.entropy import random_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

__all__ = ["WORD", "bernoulli", "bernoulli_rest", "exp_bounds", "floor_bits"]

WORD = 64


def bernoulli(probability: Callable[[int], tuple[int, int]]) -> bool:
    """Return True with a probability given by bounds on its first binary digits."""
    uniform = int.from_bytes(random_bytes(8), "little")
    threshold = floor_bits(probability, WORD)
    if uniform != threshold:
        return uniform < threshold
    return bernoulli_rest(probability)


def bernoulli_rest(probability: Callable[[int], tuple[int, int]]) -> bool:
    """Decide by the digits after the first 64, which were equal."""
    bits = WORD
    while True:
        bits += WORD
        uniform = int.from_bytes(random_bytes(8), "little")
        threshold = floor_bits(probability, bits) & ((1 << WORD) - 1)
        if uniform != threshold:
            return uniform < threshold


def exp_bounds(rate: Fraction, bits: int) -> tuple[int, int]:
    """Return integers ``low <= exp(-rate) * 2**bits <= high`` that differ by a few units.

    The argument is divided by ``2**r`` until it is below ``1/256``, the alternating series summed with every
    rounding counted, and the result squared ``r`` times with outward rounding.
    """
    r = math.floor(rate * 256).bit_length()
    precision = bits + 2 * r + 32
    z = (rate.numerator << precision) // (rate.denominator << r)
    term = total = 1 << precision
    k = 0
    while term:
        k += 1
        term = (term * z >> precision) // k
        total += -term if k & 1 else term
    # Each of the k terms is low by less than 2, the omitted ones sum to less than 1, and z is low by less than 1.
    slack = 2 * k + 4
    low, high = total - slack, total + slack
    for _ in range(r):
        low, high = low * low >> precision, (high * high >> precision) + 1
    shift = precision - bits
    return max(low, 0) >> shift, min((high >> shift) + 1, 1 << bits)


def floor_bits(probability: Callable[[int], tuple[int, int]], bits: int) -> int:
    """Return ``floor(p * 2**bits)`` exactly, from bounds at growing precision."""
    extra = 32
    while True:
        low, high = probability(bits + extra)
        if low >> extra == high >> extra:
            return low >> extra
        extra *= 2
