"""Exact sums of steps over NumPy blocks, in all or by group, shared by the engines that have arrays.

A block is at most ``BLOCK`` values, so that a buffer of one MiB stays in the cache and partial sums cannot overflow; block sums are
added as Python ints.  The work per block is the same whatever the values are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pandas_dp.cells.cells import FloatGrid, Grid, IntGrid

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BLOCK", "GroupSum", "StepSum", "Steps", "steps_of"]

BLOCK = 1 << 17
_WIDE = 1 << 45  # BLOCK times this fits an int64
_NARROW = 1 << 31  # BLOCK times this is exact in a double, and 2**31 rows of it fit an int64
_HALF = 32
_SIGNED = 1 << 63


class Steps(Protocol):
    """Turns a block of values into steps."""

    zero: int

    def read(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        """Return ``zero`` + the step of each value, in a buffer that the next call overwrites, and which are absent (at the first step)."""


def steps_of(grid: Grid, length: int) -> Steps:
    """Return the reader of a grid, for blocks of up to ``length`` values."""
    return _FloatSteps(grid, length) if isinstance(grid, FloatGrid) else _IntSteps(grid, length)


class StepSum:
    """The number of present values, the sum of their steps and, if asked, of their squares.

    Parameters
    ----------
    grid : Grid
        How values become steps.
    length : int
        The length of the longest block.
    squares : bool
        Whether squares are summed, too.
    """

    def __init__(self, grid: Grid, length: int, *, squares: bool = False) -> None:
        self._grid = grid
        self._steps = steps_of(grid, length)
        self._wide = isinstance(grid, IntGrid) and max(abs(grid.first), abs(grid.last)) >= _WIDE
        self._count = 0
        self._total = 0
        self._squares = _Squares(grid, length) if squares else None

    def add(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> None:
        """Take up to ``length`` values; ``missing`` marks those to leave out (NaN is left out anyway)."""
        ints, flags = self._steps.read(values, missing)
        absent = 0 if flags is None else int(np.count_nonzero(flags))
        if self._wide:
            high, low = _halves(ints)
            raw = (int(np.add.reduce(high)) << _HALF) + int(np.add.reduce(low))
        else:
            # The int64 sum may wrap; the sum of the steps is below 2**62, so it is known modulo 2**64.
            raw = _signed(int(np.add.reduce(ints)) - self._steps.zero * len(values))
        self._total += raw - absent * self._grid.first
        self._count += len(values) - absent
        if self._squares is not None:
            np.subtract(ints, ints.dtype.type(self._steps.zero + self._grid.first), out=ints)
            self._squares.add(ints)

    def sums(self) -> tuple[int, int, int]:
        """Return the exact number, sum of steps and sum of squared steps (0 if not asked for)."""
        squares = 0
        if self._squares is not None:
            first = self._grid.first
            # From the squares of the heights above the first step, which absent values do not add to.
            squares = self._squares.total + 2 * first * self._total - first * first * self._count
        return self._count, self._total, squares


class _Squares:
    """The exact sum of squared heights.

    Notes
    -----
    A block's sum of products of numbers below ``2**32`` is known modulo ``2**64`` from integers that wrap around, and to within ``2**45`` from
    doubles (``2**17`` terms below ``2**64``, each operation off by at most one part in ``2**53`` [1]_, in whatever order): together, exactly.

    References
    ----------
    .. [1] N. J. Higham. Accuracy and stability of numerical algorithms. 2002, section 3.1.
    """

    def __init__(self, grid: Grid, length: int) -> None:
        self._wide = grid.last - grid.first >= _NARROW
        self._buffers = np.empty((2, length))
        self.total = 0

    def add(self, heights: NDArray[Any]) -> None:
        """Take a block of heights."""
        if not self._wide:
            self.total += self._dot(heights, heights)
            return
        high, low = _halves(heights.view(np.uint64))
        self.total += (self._dot(high, high) << 2 * _HALF) + (self._dot(high, low) << _HALF + 1) + self._dot(low, low)

    def _dot(self, one: NDArray[Any], other: NDArray[Any]) -> int:
        floats = [self._buffers[place][: len(one)] for place in (0, 1)]
        np.copyto(floats[0], one)
        if other is not one:
            np.copyto(floats[1], other)
        near = int(
            np.einsum("i,i->", floats[0], floats[1] if other is not one else floats[0])
        )  # no BLAS, whose threads wait for each other
        return near + _signed(int(np.einsum("i,i->", one, other)) - near)


class GroupSum:
    """The same for each of many groups at once.

    Parameters
    ----------
    grid : Grid
        How values become steps.
    length : int
        The length of the longest block.
    groups : int
        Their number; code ``groups`` stands for none.
    squares : bool
        Whether squares are summed, too.
    """

    def __init__(self, grid: Grid, length: int, groups: int, *, squares: bool = False) -> None:
        self._grid = grid
        self._steps = steps_of(grid, length)
        self._wide = grid.last - grid.first >= _NARROW
        self._groups = groups
        self._count = np.zeros(groups + 1, dtype=np.int64)
        self._parts = np.zeros((2 if self._wide else 1, groups + 1), dtype=np.int64)
        self._heights = np.empty(0 if self._wide else length)
        # The worth of each part of a square: products of 32-bit halves, in halves again.
        self._worths = ([96, 64, 65, 33, 32, 0] if self._wide else [32, 0]) if squares else []
        self._square_parts = np.zeros((len(self._worths), groups + 1), dtype=np.int64)

    def add(self, values: NDArray[Any], missing: NDArray[np.bool_] | None, codes: NDArray[np.int64]) -> None:
        """Take up to ``length`` values and the group of each."""
        ints, flags = self._steps.read(values, missing)
        self._count += np.bincount(codes, minlength=self._groups + 1)
        if flags is not None:
            # Absent values stand at the first step, which adds nothing to the heights.
            self._count -= np.bincount(codes.take(np.flatnonzero(flags)), minlength=self._groups + 1)
        base = ints.dtype.type(self._steps.zero + self._grid.first)
        np.subtract(ints, base, out=ints)
        if self._wide:
            self._add_parts(self._parts, [ints], codes)
        else:
            heights = self._heights[: len(values)]
            np.copyto(heights, ints)
            self._parts[0] += np.bincount(codes, weights=heights, minlength=self._groups + 1).astype(np.int64)
        if self._worths:
            self._add_parts(self._square_parts, self._products(ints), codes)

    def _products(self, heights: NDArray[Any]) -> list[NDArray[Any]]:
        heights = heights.view(np.uint64)
        if not self._wide:
            return [heights * heights]
        high, low = _halves(heights)
        return [high * high, high * low, low * low]

    def _add_parts(self, parts: NDArray[np.int64], words: list[NDArray[Any]], codes: NDArray[np.int64]) -> None:
        """Add words of 64 bits in halves, whose sums over a block are exact in a double."""
        halves = [half for word in words for half in _halves(word.view(np.uint64))]
        for place, half in enumerate(halves):
            parts[place] += np.bincount(codes, weights=half, minlength=self._groups + 1).astype(np.int64)

    def sums(self) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Return number, sum of steps and sum of squared steps of every group; the sums as Python ints where they might not fit."""
        first, count = self._grid.first, self._count[:-1]
        total: NDArray[Any] = self._parts[-1][:-1]
        if self._wide or max(abs(first), abs(self._grid.last)) >= _NARROW or self._worths:
            total = total.astype(object)
            if self._wide:
                total = total + (self._parts[0][:-1].astype(object) << _HALF)
            total = total + first * count.astype(object)
        else:
            total = total + first * count
        squares: NDArray[Any] = np.zeros(self._groups, dtype=object)
        for worth, part in zip(self._worths, self._square_parts, strict=True):
            squares = squares + (part[:-1].astype(object) << worth)
        if self._worths:
            squares = squares + 2 * first * total - first * first * count.astype(object)
        return count, total, squares


def _signed(number: int) -> int:
    """Return the representative modulo ``2**64`` that is nearest to zero."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _halves(ints: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the upper and the lower 32 bits."""
    return ints >> ints.dtype.type(_HALF), ints & ints.dtype.type((1 << _HALF) - 1)


class _FloatSteps:
    """Adds ``magic`` and reads the bits as integers; see :class:`pandas_dp.cells.cells.FloatGrid`."""

    def __init__(self, grid: FloatGrid, length: int) -> None:
        self._grid = grid
        self._lower = np.float64(grid.lower)
        self._origin = np.float64(grid.origin)
        self._magic = np.float64(grid.magic)
        self.zero = int(self._magic.view(np.int64))
        self._last = np.int64(self.zero + grid.last)
        self._floats = np.empty(length)
        self._ints = self._floats.view(np.int64)
        self._flags = np.empty(length, dtype=np.bool_)
        self._copy: NDArray[np.float64] | None = None

    def read(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        length = len(values)
        floats, ints, flags = self._floats[:length], self._ints[:length], self._flags[:length]
        if values.dtype != np.float64 or missing is not None:
            values = self._as_doubles(values, missing)
        # NaN becomes the lower bound.  This order reads memory once, at the slower step.
        np.fmax(values, self._lower, out=floats)
        np.isnan(values, out=flags)
        if self._origin:
            np.minimum(floats, self._grid.upper, out=floats)  # before the subtraction, which could round past the last step
            np.subtract(floats, self._origin, out=floats)
        np.add(floats, self._magic, out=floats)
        # Positive doubles sort like their bits: clamping at the last step clamps at the upper bound, +inf included.
        np.minimum(ints, self._last, out=ints)
        return ints, flags

    def _as_doubles(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        if self._copy is None:
            self._copy = np.empty(len(self._floats))
        copy = self._copy[: len(values)]
        np.copyto(copy, values, casting="unsafe")
        if missing is not None:
            np.copyto(copy, np.nan, where=missing)
        return copy


class _IntSteps:
    """Clamps integers; doubles, which a partition may hold in their place, to the nearest one, half to even."""

    zero = 0

    def __init__(self, grid: IntGrid, length: int) -> None:
        self._grid = grid
        self._length = length
        self._buffer: NDArray[Any] | None = None

    def read(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        length = len(values)
        if values.dtype.kind == "f":
            values, missing = self._whole(values, missing)
        if self._buffer is None:
            self._buffer = np.empty(self._length, dtype=np.uint64 if values.dtype.kind == "u" and values.dtype.itemsize == 8 else np.int64)  # noqa: PLR2004
        buffer = self._buffer[:length]
        first, last = buffer.dtype.type(self._grid.first), buffer.dtype.type(self._grid.last)
        if values.dtype == buffer.dtype:
            np.clip(values, first, last, out=buffer)
        else:
            np.copyto(buffer, values)
            np.clip(buffer, first, last, out=buffer)
        if missing is not None:
            np.copyto(buffer, first, where=missing)
        return buffer, missing

    def _whole(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return doubles as integers between the bounds, or next to them, and which are absent."""
        absent = np.isnan(values) if missing is None else missing | np.isnan(values)
        kind = np.uint64 if self._grid.last >= _SIGNED else np.int64
        low, high = max(self._grid.first, np.iinfo(kind).min), min(self._grid.last, np.iinfo(kind).max)
        # The largest double that the type holds: the next one is the power of two that wraps.
        inside = np.clip(
            np.where(absent, 0.0, values), float(low), min(float(high), float(np.nextafter(2.0 ** (64 if kind is np.uint64 else 63), 0)))
        )
        return np.rint(inside).astype(kind), absent
