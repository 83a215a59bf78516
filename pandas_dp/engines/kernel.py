"""Exact sums of steps over NumPy blocks, in all or by group, shared by the engines that have arrays.

A block is at most ``BLOCK`` values, so that a buffer of one MiB stays in the cache and partial sums cannot overflow; block sums are
added as Python ints.  The work per block is the same whatever the values are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pandas_dp.cells import FloatGrid, Grid, IntGrid

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BLOCK", "GroupSum", "StepSum"]

BLOCK = 1 << 17
_WIDE = 1 << 45  # BLOCK times this fits an int64
_NARROW = 1 << 31  # BLOCK times this is exact in a double, and 2**31 rows of it fit an int64
_HALF = 32


class _Steps(Protocol):
    """Turns a block of values into steps."""

    zero: int

    def read(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        """Return ``zero`` + the step of each value, in a buffer that the next call overwrites, and which are absent (at the first step)."""


def _steps(grid: Grid, length: int) -> _Steps:
    return _FloatSteps(grid, length) if isinstance(grid, FloatGrid) else _IntSteps(grid, length)


class StepSum:
    """The number of present values and the sum of their steps.

    Parameters
    ----------
    grid : Grid
        How values become steps.
    length : int
        The length of the longest block.
    """

    def __init__(self, grid: Grid, length: int) -> None:
        self._grid = grid
        self._steps = _steps(grid, length)
        self._wide = isinstance(grid, IntGrid) and max(abs(grid.first), abs(grid.last)) >= _WIDE
        self._count = 0
        self._total = 0

    def add(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> None:
        """Take up to ``length`` values; ``missing`` marks those to leave out (NaN is left out anyway)."""
        ints, flags = self._steps.read(values, missing)
        absent = 0 if flags is None else int(np.count_nonzero(flags))
        if self._wide:
            high, low = _halves(ints)
            raw = (int(np.add.reduce(high)) << _HALF) + int(np.add.reduce(low))
        else:
            # The int64 sum may wrap; the sum of the steps is below 2**62, so it is known modulo 2**64.
            raw = int(np.add.reduce(ints)) - self._steps.zero * len(values)
            raw = (raw + (1 << 63)) % (1 << 64) - (1 << 63)
        self._total += raw - absent * self._grid.first
        self._count += len(values) - absent

    def moments(self) -> tuple[int, int]:
        """Return the exact result."""
        return self._count, self._total


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
    """

    def __init__(self, grid: Grid, length: int, groups: int) -> None:
        self._grid = grid
        self._steps = _steps(grid, length)
        self._wide = grid.last - grid.first >= _NARROW
        self._groups = groups
        self._count = np.zeros(groups + 1, dtype=np.int64)
        self._parts = np.zeros((2 if self._wide else 1, groups + 1), dtype=np.int64)
        self._heights = np.empty(0 if self._wide else length)

    def add(self, values: NDArray[Any], missing: NDArray[np.bool_] | None, codes: NDArray[np.int64]) -> None:
        """Take up to ``length`` values and the group of each."""
        ints, flags = self._steps.read(values, missing)
        self._count += np.bincount(codes, minlength=self._groups + 1)
        if flags is not None:
            # Absent values stand at the first step, which adds nothing to the heights.
            self._count -= np.bincount(codes.take(np.flatnonzero(flags)), minlength=self._groups + 1)
        base = ints.dtype.type(self._steps.zero + self._grid.first)
        if self._wide:
            for place, half in enumerate(_halves((ints - base).view(np.uint64))):
                self._parts[place] += np.bincount(codes, weights=half, minlength=self._groups + 1).astype(np.int64)
        else:
            heights = self._heights[: len(values)]
            np.subtract(ints, base, out=ints)
            np.copyto(heights, ints)
            self._parts[0] += np.bincount(codes, weights=heights, minlength=self._groups + 1).astype(np.int64)

    def moments(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return count and sum of steps of every group; the sums as Python ints where they might not fit."""
        count = self._count[:-1]
        total: NDArray[Any] = self._parts[-1][:-1]
        if self._wide or max(abs(self._grid.first), abs(self._grid.last)) >= _NARROW:
            total = total.astype(object)
            if self._wide:
                total = total + (self._parts[0][:-1].astype(object) << _HALF)
            return count, total + self._grid.first * count.astype(object)
        return count, total + self._grid.first * count


def _halves(ints: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the upper and the lower 32 bits."""
    return ints >> ints.dtype.type(_HALF), ints & ints.dtype.type((1 << _HALF) - 1)


class _FloatSteps:
    """Adds ``magic`` and reads the bits as integers; see :class:`pandas_dp.cells.FloatGrid`."""

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
    """Clamps integers."""

    zero = 0

    def __init__(self, grid: IntGrid, length: int) -> None:
        self._grid = grid
        self._length = length
        self._buffer: NDArray[Any] | None = None

    def read(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        length = len(values)
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
