"""Parts of an account: blocks that were set aside, and labels that were asked under."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Answered", "Block", "Labelled"]


class Answered(Exception):
    """The label of a charge has an answer by now, which costs nothing: that of the charge of this number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass(slots=True)
class Labelled:
    """What was asked under a label, and the number of the first charge whose answer is recorded."""

    asked: Mapping[str, str]
    number: int | None = None


class Block:
    """A part of a budget that was set aside: ``session.allocate(...)``."""

    def __init__(self, limit: Fraction) -> None:
        self.limit = limit
        self.spent = Fraction(0)
        self.inner: list[Block] = []
        self.open = True

    def left(self, mine: tuple[Block, ...]) -> Fraction:
        """Return what those who are in the blocks ``mine`` may spend of this one: not what other blocks inside it have set aside."""
        others = sum((block.limit - block.spent for block in self.inner if block not in mine), Fraction(0))
        return self.limit - self.spent - others
