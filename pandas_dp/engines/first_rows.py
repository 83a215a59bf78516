"""The first rows of every unit, vectorised and stable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["first_rows"]


def first_rows(units: NDArray[np.int64], max_rows: int, order: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
    """Mark the first ``max_rows`` rows of every unit by ``order``; rows without a unit (-1) are not marked.

    Which rows of a unit are marked depends on that unit's rows and their order alone.
    """
    count = len(units)
    row_bits = max(1, (count - 1).bit_length()) if count else 1
    rows = np.flatnonzero(units >= 0)
    if order is not None:
        rows = rows[np.argsort(order[rows], kind="stable")]
    packed = (units[rows] << row_bits) | np.arange(len(rows))
    packed.sort()
    codes = packed >> row_bits
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1]))) if len(codes) else np.empty(0, np.int64)
    sizes = np.diff(np.append(starts, len(codes)))
    rank = np.arange(len(codes)) - np.repeat(starts, sizes)
    marked = np.zeros(count, dtype=np.bool_)
    marked[rows[packed[rank < max_rows] & ((1 << row_bits) - 1)]] = True
    return marked
