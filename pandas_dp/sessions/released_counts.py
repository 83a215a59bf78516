"""Released numbers of rows, for the ± of a mean: each of one frame, or of one view of it, and of no other rows.

A frame is known as an object, whatever it holds by now: whether a change in place changed its rows is private.
"""

from __future__ import annotations

import weakref
from typing import Any

__all__ = ["Counts"]


class Counts:
    """What a session remembers of the counts that it released; public by then."""

    def __init__(self) -> None:
        self._found: list[tuple[weakref.ref[Any], str, int]] = []

    def last(self, asked: object, steps: str) -> int | None:
        """Return the last count of this very frame, or of a view of it with these steps."""
        return next((count for counted, its, count in reversed(self._found) if counted() is asked and its == steps), None)

    def note(self, asked: object, steps: str, count: int) -> None:
        """Remember a count, as long as the frame lives."""
        others = [one for one in self._found if one[0]() is not None and (one[0]() is not asked or one[1] != steps)]
        self._found = [*others, (weakref.ref(asked), steps, max(1, count))]
