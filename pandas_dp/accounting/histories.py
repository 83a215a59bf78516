"""Sequences and mappings that grow by one and stay as they were for whoever holds them.

A charge makes a new state of an account, and the one before has to remain true until the new one stands in its place: an interrupt may come at any instruction.  Copying what was there would
make an account of many charges quadratic, so that old and new share one list, and each knows how much of it is its own.  What an interrupted step left behind belongs to nobody: the next step
copies what is its own.  Whoever makes a step holds the account's lock; nothing here may take anything out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["History", "Mapped"]

Item = TypeVar("Item")
Key = TypeVar("Key")


class History(Generic[Item]):
    """A sequence to which one is added at a time."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: list[Item] | None = None) -> None:
        self._items: list[Item] = [] if items is None else items
        self._length = len(self._items)

    def plus(self, item: Item) -> History[Item]:
        """Return the sequence with one more; this one stays as it is."""
        items = self._items
        if len(items) != self._length:  # somebody went on from here, and what came of it was given up
            items = items[: self._length]
        items.append(item)
        return History(items)

    def shares(self, other: History[Item]) -> bool:
        """Whether both are parts of one list."""
        return self._items is other._items

    def __len__(self) -> int:
        """Return how many there are."""
        return self._length

    def __getitem__(self, place: int) -> Item:
        """Return the one at a place, from 0."""
        if not 0 <= place < self._length:
            raise IndexError(place)
        return self._items[place]

    def __iter__(self) -> Iterator[Item]:
        """Return all, oldest first."""
        return iter(self._items[: self._length])


class Mapped(Generic[Key, Item]):
    """A mapping in which one key is set at a time."""

    __slots__ = ("_pairs", "_places")

    def __init__(self, pairs: History[tuple[Key, Item]] | None = None, places: dict[Key, int] | None = None) -> None:
        self._pairs: History[tuple[Key, Item]] = History() if pairs is None else pairs
        self._places: dict[Key, int] = {} if places is None else places

    def plus(self, key: Key, item: Item) -> Mapped[Key, Item]:
        """Return the mapping with a key set; this one stays as it is."""
        pairs, places = self._pairs.plus((key, item)), self._places
        if pairs.shares(self._pairs):
            places[key] = len(pairs) - 1
        else:
            places = {known: place for place, (known, _) in enumerate(pairs)}
        return Mapped(pairs, places)

    def get(self, key: Key) -> Item | None:
        """Return what a key was last set to, or None."""
        place = self._places.get(key)
        if place is None:
            return None
        if place < len(self._pairs):
            return self._pairs[place][1]
        # Set by a step that went on from here: what it was before that.
        return next((item for known, item in reversed(list(self._pairs)) if known == key), None)

    def __contains__(self, key: Key) -> bool:
        """Whether a key was set."""
        place = self._places.get(key)
        return place is not None and (place < len(self._pairs) or any(known == key for known, _ in self._pairs))

    def as_dict(self) -> dict[Key, Item]:
        """Return a plain dict, in the order in which keys were first set."""
        return dict(self._pairs)
