"""What completion offers of a class: the names that its users call, and not those by which the package's modules call each other."""

from __future__ import annotations

__all__ = ["Listed"]


class _Listing(type):
    """``dir()`` of a class, which completers ask beside that of its instances."""

    _internal: frozenset[str]

    def __dir__(cls) -> list[str]:
        return sorted(set(super().__dir__()) - cls._internal)


class Listed(metaclass=_Listing):
    """A class that leaves the names in ``_internal`` out of its ``dir()``."""

    _internal: frozenset[str] = frozenset()

    def __dir__(self) -> list[str]:
        """Return the names that are called by users."""
        return sorted(set(super().__dir__()) - self._internal)
