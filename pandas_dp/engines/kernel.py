"""Exact sums of steps over NumPy blocks, shared by the engines that have arrays.

A block is at most ``BLOCK`` values, so that a buffer of one MiB stays in the cache and partial sums cannot overflow; block sums are
added as Python ints.  The work per block is the same whatever the values are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pandas_dp.cells import FloatGrid, Grid, IntGrid, Moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BLOCK", "StepSum", "step_sum"]

BLOCK = 1 << 17
_WIDE = 1 << 45  # BLOCK times this fits an int64


class StepSum(Protocol):
    """Collects the number of present values and the sum of their steps."""

    def add(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> None:
        """Take up to ``BLOCK`` values; ``missing`` marks those to leave out (NaN is left out anyway)."""

    def moments(self) -> Moments:
        """Return the exact result."""


def step_sum(grid: Grid, length: int) -> StepSum:
    """Return a collector for values on ``grid`` in blocks of at most ``length``."""
    return _FloatSteps(grid, length) if isinstance(grid, FloatGrid) else _IntSteps(grid, length)


class _FloatSteps:
    """Adds ``magic``, reads the bits as integers and sums those; see :class:`pandas_dp.cells.FloatGrid`."""

    def __init__(self, grid: FloatGrid, length: int) -> None:
        self._grid = grid
        self._lower = np.float64(grid.lower)
        self._origin = np.float64(grid.origin)
        self._magic = np.float64(grid.magic)
        self._base = int(self._magic.view(np.int64))
        self._last = np.int64(self._base + grid.last)
        self._floats = np.empty(length)
        self._ints = self._floats.view(np.int64)
        self._flags = np.empty(length, dtype=np.bool_)
        self._copy: NDArray[np.float64] | None = None
        self._count = 0
        self._total = 0

    def add(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> None:
        length = len(values)
        floats, ints, flags = self._floats[:length], self._ints[:length], self._flags[:length]
        if values.dtype != np.float64 or missing is not None:
            values = self._as_doubles(values, missing)
        # NaN becomes the lower bound here, and is taken out again by its number.  This order reads memory once, at the slower step.
        np.fmax(values, self._lower, out=floats)
        absent = int(np.count_nonzero(np.isnan(values, out=flags)))
        if self._origin:
            np.minimum(floats, self._grid.upper, out=floats)  # before the subtraction, which could round past the last step
            np.subtract(floats, self._origin, out=floats)
        np.add(floats, self._magic, out=floats)
        # Positive doubles sort like their bits: clamping at the last step clamps at the upper bound, +inf included.
        np.minimum(ints, self._last, out=ints)
        raw = int(np.add.reduce(ints)) - self._base * length
        # The int64 sum may have wrapped; the sum of the steps is below 2**58, so it is known modulo 2**64.
        self._total += (raw + (1 << 63)) % (1 << 64) - (1 << 63) - absent * self._grid.first
        self._count += length - absent

    def _as_doubles(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        if self._copy is None:
            self._copy = np.empty(len(self._floats))
        copy = self._copy[: len(values)]
        np.copyto(copy, values, casting="unsafe")
        if missing is not None:
            np.copyto(copy, np.nan, where=missing)
        return copy

    def moments(self) -> Moments:
        return Moments(self._count, self._total)


class _IntSteps:
    """Clamps integers and sums them, in two halves where a block's sum might not fit."""

    def __init__(self, grid: IntGrid, length: int) -> None:
        self._grid = grid
        self._wide = max(abs(grid.first), abs(grid.last)) >= _WIDE
        self._length = length
        self._buffer: NDArray[Any] | None = None
        self._count = 0
        self._total = 0

    def add(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> None:
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
        absent = 0
        if missing is not None:
            absent = int(np.count_nonzero(missing))
            np.copyto(buffer, first, where=missing)
        if self._wide:
            high = int(np.add.reduce(buffer >> buffer.dtype.type(32)))
            low = int(np.add.reduce(buffer & buffer.dtype.type(0xFFFFFFFF)))
            raw = (high << 32) + low
        else:
            raw = int(np.add.reduce(buffer))
        self._total += raw - absent * self._grid.first
        self._count += length - absent

    def moments(self) -> Moments:
        return Moments(self._count, self._total)
