"""The exact totals of cells over a frame, as a release takes them from the pandas engine's sums."""

from __future__ import annotations

import numpy as np

from pandas_dp.engines.contract import Sums
from pandas_dp.engines.sums import all_sums, group_sums


def totals(frame, cells, *, by=None, unit=None):
    """Return the total of every cell, or one array for each with the totals of the groups."""
    squared = {(cell.column, cell.grid) for cell in cells if cell.per_square}
    found = []
    with np.errstate(all="ignore"):
        for cell in cells:
            read = Sums(cell.column, cell.grid, squares=(cell.column, cell.grid) in squared, everything=cell.everything)
            found.append(cell.of(*(all_sums(frame, read, unit) if by is None else group_sums(frame, read, by, unit))))
    return found
