"""Engines turn a frame into exact integer totals.

The contract is one function::

    totals(frame, cells, *, unit=None) -> list[int]

``frame`` is whatever the engine handles, ``cells`` a sequence of :class:`pandas_dp.cells.Cell`, ``unit`` says which rows count (a boolean
array in row order, from contribution bounding; None for all).  The answer has one Python int per cell and is a
function of the multiset of rows alone: the same on every engine, partitioning and row order, bit for bit.

An engine knows nothing of ε, budgets or noise, and must not raise or warn because of a value.
``pandas_dp.testing.check_engine`` holds an engine to this contract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pandas_dp.cells import Cell

__all__ = ["Totals"]


class Totals(Protocol):
    """The type of an engine's one function."""

    def __call__(self, frame: Any, cells: Sequence[Cell], *, unit: NDArray[np.bool_] | None = None) -> list[int]:
        """Return the exact total of every cell."""
