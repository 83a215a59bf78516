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

    def __init__(self, items: list[Item], length: int) -> None:
        self._items = items
        self._length = length

    @classmethod
    def empty(cls) -> History[Item]:
        """Return the sequence of nothing."""
        return cls([], 0)

    def plus(self, item: Item) -> History[Item]:
        """Return the sequence with one more; this one stays as it is."""
        items, length = self._items, self._length
        if len(items) != length:  # somebody went on from here, and what came of it was given up
            items = items[:length]
        items.append(item)
        return History(items, length + 1)

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

    __slots__ = ("_length", "_pairs", "_places")

    def __init__(self, pairs: list[tuple[Key, Item]], places: dict[Key, int], length: int) -> None:
        self._pairs = pairs
        self._places = places
        self._length = length

    @classmethod
    def empty(cls) -> Mapped[Key, Item]:
        """Return the mapping of nothing."""
        return cls([], {}, 0)

    def plus(self, key: Key, item: Item) -> Mapped[Key, Item]:
        """Return the mapping with a key set; this one stays as it is."""
        pairs, places, length = self._pairs, self._places, self._length
        if len(pairs) != length:  # as above
            pairs = pairs[:length]
            places = {known: place for place, (known, _) in enumerate(pairs)}
        pairs.append((key, item))  # first: that the list is longer tells the next step that this one was not finished
        places[key] = length
        return Mapped(pairs, places, length + 1)

    def get(self, key: Key) -> Item | None:
        """Return what a key was last set to, or None."""
        place = self._places.get(key)
        if place is None:
            return None
        if place < self._length:
            return self._pairs[place][1]
        # Set by a step that went on from here: what it was before that.
        return next((item for known, item in reversed(self._pairs[: self._length]) if known == key), None)

    def __contains__(self, key: Key) -> bool:
        """Whether a key was set."""
        place = self._places.get(key)
        return place is not None and (place < self._length or any(known == key for known, _ in self._pairs[: self._length]))

    def as_dict(self) -> dict[Key, Item]:
        """Return a plain dict, in the order in which keys were first set."""
        return dict(self._pairs[: self._length])
