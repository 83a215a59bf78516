"""Order statistics of many integers in linear time: what the exponential mechanism needs to know of the data.

A mechanism that chooses by rank needs the sorted values in a narrow window of ranks around its target, and how many values lie below a point.
:class:`Ranked` finds both without sorting everything: a regular sample suggests which heights bound a window, one pass takes all heights between those bounds
and counts the ones below, and only these are sorted.  The sample decides how long it takes, never what comes out: a window that was missed is found by
:func:`numpy.partition`.

Ties can be spread: every record gets ``bits`` uniformly random low bits of its own, behind its height, and all ranks are those of the longer integers.  The bits are
drawn when a record's height is first looked at and kept from then on, which has the same distribution as drawing all of them at the start.

Everything here is private data.  This module never rounds, never sees pandas, never raises or decides anything that is released, and takes
randomness from :mod:`pandas_dp.noise.entropy` alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.noise.entropy import random_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Heights = NDArray[Any]  # int64 or uint64

__all__ = ["Ranked"]

_WORD = 64
_SMALL = 1 << 17  # up to here everything is sorted
_SAMPLE = 1 << 16
_BLOCK = 1 << 16  # heights that stay in the processor's cache while they are compared with all windows' bounds
_MANY = 16  # windows from which sorting everything is faster


@dataclass(frozen=True, slots=True)
class _Piece:
    """All records with heights in ``[low, high]``, in order; ``first`` is the number of records below them."""

    low: int
    high: int
    first: int
    heights: Heights
    spread: NDArray[np.uint32]

    @property
    def last(self) -> int:
        return self.first + len(self.heights)


class Ranked:
    """The order statistics of integers, on demand.

    Parameters
    ----------
    heights : ndarray of int64 or uint64
        In any order, each in ``0..top``.
    top : int
        At most ``2**64 - 1``.
    bits : int
        Random low bits behind each height, at most 31: every value below is ``height * 2**bits + low bits``.
    """

    def __init__(self, heights: Heights, top: int, bits: int = 0) -> None:
        self.heights = heights
        self.size = len(heights)
        self.top = min(top, int(np.iinfo(heights.dtype).max))
        self.bits = bits
        self._pieces: list[_Piece] = []

    def prepare(self, windows: Iterable[tuple[int, int]]) -> None:
        """Fetch windows of ranks ``start..stop - 1`` that will probably be asked for, in one pass; they may reach beyond the data."""
        wanted = sorted((min(max(start, 0), self.size), min(max(stop, 0), self.size)) for start, stop in windows)
        if self.size <= _SMALL or len(wanted) > _MANY:
            self._cover([(0, self.top)])
            return
        sample = np.sort(self.heights[:: self.size // _SAMPLE])
        # The rank of a sample's value is off by less than five standard deviations, nearly always, if the order of the records means nothing.
        margin = 1 + 5 * math.isqrt(len(sample)) // 2
        ranges = []
        for start, stop in wanted:
            left = start * len(sample) // self.size - margin
            right = stop * len(sample) // self.size + margin
            ranges.append((int(sample[left]) if left >= 0 else 0, int(sample[right]) if right < len(sample) else self.top))
        self._cover(ranges)

    def window(self, start: int, stop: int) -> NDArray[Any]:
        """Return the values of ranks ``start..stop - 1`` in order: as uint64, or Python ints where they might not fit."""
        if start >= stop:
            return np.zeros(0, dtype=np.uint64)
        piece = next((piece for piece in self._pieces if piece.first <= start and stop <= piece.last), None)
        if piece is None:
            bounds = np.partition(self.heights, [start, stop - 1])
            piece = self._cover([(int(bounds[start]), int(bounds[stop - 1]))])[0]
        inside = slice(start - piece.first, stop - piece.first)
        heights, spread = piece.heights[inside], piece.spread[inside]
        if self.top.bit_length() + self.bits > _WORD:
            whole: NDArray[Any] = heights.astype(object) * (1 << self.bits) + spread.astype(object)
            return whole
        return (heights.astype(np.uint64) << np.uint64(self.bits)) | spread

    def below(self, value: int) -> tuple[int, int]:
        """Return how many records are below a value, and how many are at most it."""
        height, low_bits = value >> self.bits, value & ((1 << self.bits) - 1)
        if height > self.top:
            return self.size, self.size
        piece = next((piece for piece in self._pieces if piece.low <= height <= piece.high), None)
        if piece is None:
            piece = self._cover([(height, height)])[0]
        key = self.heights.dtype.type(height)
        start, stop = (int(np.searchsorted(piece.heights, key, side)) for side in ("left", "right"))
        tied = piece.spread[start:stop]
        less, most = (int(np.searchsorted(tied, np.uint32(low_bits), side)) for side in ("left", "right"))
        return piece.first + start + less, piece.first + start + most

    def _cover(self, ranges: Sequence[tuple[int, int]]) -> list[_Piece]:
        """Make pieces for ranges of heights, joined where they meet, also with what is there already; return the new ones."""
        joined: list[tuple[int, int]] = []
        known = [(piece.low, piece.high) for piece in self._pieces if any(low <= piece.high and piece.low <= high for low, high in ranges)]
        for low, high in sorted([*ranges, *known]):
            if joined and low <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(joined[-1][1], high)
            else:
                joined.append((low, high))
        found = [
            self._piece(low, high, first, heights) for (low, high), (first, heights) in zip(joined, self._between(joined), strict=True)
        ]
        kept = [piece for piece in self._pieces if not any(new.low <= piece.low and piece.high <= new.high for new in found)]
        self._pieces = kept + found
        return found

    def _between(self, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, Heights]]:
        """Return for each range the number of heights below it, and those in it, sorted."""
        if list(ranges) == [(0, self.top)]:
            return [(0, np.sort(self.heights))]
        kind = self.heights.dtype.type
        bounds = [(kind(low), kind(high)) for low, high in ranges]
        first = [0] * len(bounds)
        parts: list[list[Heights]] = [[] for _ in bounds]
        for start in range(0, self.size, _BLOCK):
            block = self.heights[start : start + _BLOCK]
            for k, (low, high) in enumerate(bounds):
                inside = block >= low
                first[k] += len(block) - int(np.count_nonzero(inside))
                inside &= block <= high
                parts[k].append(block[np.flatnonzero(inside)])
        return [(count, np.sort(np.concatenate(part))) for count, part in zip(first, parts, strict=True)]

    def _piece(self, low: int, high: int, first: int, heights: Heights) -> _Piece:
        spread = self._low_bits(heights)
        for piece in self._pieces:  # records whose bits are drawn keep them: a piece has all records of its heights
            if low <= piece.low and piece.high <= high:
                spread[piece.first - first : piece.last - first] = piece.spread
        return _Piece(low, high, first, heights, spread)

    def _low_bits(self, heights: Heights) -> NDArray[np.uint32]:
        """Draw low bits for sorted heights, sorted among equal ones."""
        if not self.bits or not len(heights):
            return np.zeros(len(heights), dtype=np.uint32)
        drawn: NDArray[np.uint32] = np.frombuffer(random_bytes(4 * len(heights)), dtype="<u4") >> np.uint32(32 - self.bits)
        new = heights[1:] != heights[:-1]
        if new.all():
            return drawn
        runs = np.zeros(len(heights), dtype=np.uint64)
        np.cumsum(new, out=runs[1:])
        runs <<= np.uint64(self.bits)
        runs |= drawn
        runs.sort()
        runs &= np.uint64((1 << self.bits) - 1)
        return runs.astype(np.uint32)
