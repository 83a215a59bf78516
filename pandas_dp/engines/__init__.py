"""Engines turn a frame into exact integer totals.

The contract is one function::

    totals(frame, cells, *, by=None, unit=None) -> list

``frame`` is whatever the engine handles, ``cells`` a sequence of :class:`pandas_dp.cells.cells.Cell`.  ``unit`` says which rows count (a boolean
array in row order, from contribution bounding; None for all).  The answer has one Python int per cell; with ``by``, one array per cell
of one exact integer per group (int64, or Python ints where they might not fit).  It is a
function of the multiset of rows alone: the same on every engine, partitioning and row order, bit for bit.

An engine knows nothing of ε, budgets or noise, and must not raise or warn because of a value.
``pandas_dp.testing.check_engine`` holds an engine to this contract.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pandas_dp.cells.cells import Cell

__all__ = ["Groups", "Totals"]


@dataclass(frozen=True, slots=True)
class Groups:
    """To which of a fixed number of groups each row belongs.

    Attributes
    ----------
    codes : ndarray of int64, shape (rows,)
        0 to ``size`` - 1; ``size`` for a row that belongs to none.
    size : int
        The number of groups, which is public.
    """

    codes: NDArray[np.int64]
    size: int


class Totals(Protocol):
    """The type of an engine's one function."""

    def __call__(self, frame: Any, cells: Sequence[Cell], *, by: Groups | None = None, unit: NDArray[np.bool_] | None = None) -> list[Any]:
        """Return the exact total of every cell, or of every cell in every group."""
