"""Heights by rank: what a choice by rank may ask of data, wherever they are held.

The height of a value is how many steps of its column's grid it is above the first.  This module reads no values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Order"]


class Order(Protocol):
    """The private heights of some records, each in ``0..top``, by rank."""

    size: int
    """The number of records."""

    def prepare(self, windows: Iterable[tuple[int, int]]) -> None:
        """Take note of windows of ranks ``start..stop - 1`` that will probably be asked for; they may reach beyond the data."""

    def runs(self, start: int, stop: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the heights that ranks ``start..stop - 1`` have, ascending, with the number of records below each, and at or below the last: whole runs."""

    def below(self, height: int) -> tuple[int, int]:
        """Return how many records are below a height, and how many are at most it."""
