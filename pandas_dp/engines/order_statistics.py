"""Order statistics of many integers in linear time: what a choice by rank needs to know of the data.

A mechanism that chooses by rank needs the runs of equal heights in a narrow window of ranks around its target, and how many heights lie below a point.
:class:`OrderStatistics` finds both without sorting everything: a regular sample suggests which heights bound a window, one pass takes all heights between those bounds
and counts the ones below, and only these are sorted.  The sample decides how long it takes, never what comes out: a window that was missed is found by
:func:`numpy.partition`.

Everything here is private data.  This module never rounds, draws or decides anything that is released, never sees pandas, and never raises because of a value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Heights = NDArray[Any]  # int64 or uint64

__all__ = ["OrderStatistics"]

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

    @property
    def last(self) -> int:
        return self.first + len(self.heights)


class OrderStatistics:
    """The order statistics of integers, on demand: a :class:`pandas_dp.cells.ranks.Order`.

    Parameters
    ----------
    heights : ndarray of int64 or uint64
        In any order, each in ``0..top``.
    top : int
        At most ``2**64 - 1``.
    """

    def __init__(self, heights: Heights, top: int) -> None:
        self.heights = heights
        self.size = len(heights)
        self.top = min(top, int(np.iinfo(heights.dtype).max))
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

    def runs(self, start: int, stop: int) -> tuple[Heights, NDArray[np.int64]]:
        """Return the heights that ranks ``start..stop - 1`` have, ascending, and the number of records below each; the last entry is that at or below the last."""
        if start >= stop:
            return self.heights[:0], np.array([start], dtype=np.int64)
        piece = next((piece for piece in self._pieces if piece.first <= start and stop <= piece.last), None)
        if piece is None:
            bounds = np.partition(self.heights, [start, stop - 1])
            piece = self._cover([(int(bounds[start]), int(bounds[stop - 1]))])[0]
        # A piece has all records of its heights: the runs at both ends are whole.
        left = int(np.searchsorted(piece.heights, piece.heights[start - piece.first], "left"))
        right = int(np.searchsorted(piece.heights, piece.heights[stop - 1 - piece.first], "right"))
        inside = piece.heights[left:right]
        firsts = np.flatnonzero(np.concatenate([[True], inside[1:] != inside[:-1]]))
        return inside[firsts], np.append(firsts, len(inside)) + (piece.first + left)

    def below(self, height: int) -> tuple[int, int]:
        """Return how many records are below a height, and how many are at most it."""
        if height > self.top:
            return self.size, self.size
        piece = next((piece for piece in self._pieces if piece.low <= height <= piece.high), None)
        if piece is None:
            piece = self._cover([(height, height)])[0]
        key = self.heights.dtype.type(height)
        less, most = (int(np.searchsorted(piece.heights, key, side)) for side in ("left", "right"))
        return piece.first + less, piece.first + most

    def _cover(self, ranges: Sequence[tuple[int, int]]) -> list[_Piece]:
        """Make pieces for ranges of heights, joined where they meet, also with what is there already; return the new ones."""
        joined: list[tuple[int, int]] = []
        known = [(piece.low, piece.high) for piece in self._pieces if any(low <= piece.high and piece.low <= high for low, high in ranges)]
        for low, high in sorted([*ranges, *known]):
            if joined and low <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(joined[-1][1], high)
            else:
                joined.append((low, high))
        found = [_Piece(low, high, first, heights) for (low, high), (first, heights) in zip(joined, self._between(joined), strict=True)]
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
