"""Blocks: parts of a budget that were set aside, ``session.allocate(...)``.  They limit what is asked inside, and must never make room that the budget does not have."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["Block"]


class Block:
    """A part of a budget that was set aside."""

    __slots__ = ("inner", "limit", "open", "spent")

    def __init__(self, limit: Fraction) -> None:
        self.limit = limit
        self.spent = Fraction(0)
        self.inner: list[Block] = []
        self.open = True

    def left(self, mine: tuple[Block, ...]) -> Fraction:
        """Return what those who are in the blocks ``mine`` may spend of this one: not what other blocks inside it have set aside."""
        others = sum((block.limit - block.spent for block in self.inner if block not in mine), Fraction(0))
        return self.limit - self.spent - others
