"""What completion offers of a class: the names that its users call, and not those by which the package's modules call each other; and what a wrong name is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pandas_dp.errors import NoSuchQuery

__all__ = ["Guided", "Listed"]


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


class Guided:
    """A class whose missing names are answered with what there is; type checkers do not see it, so that they go on to find such names."""

    _called = "df.dp"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise ``NoSuchQuery`` with the queries that there are, and what stands in for a name that pandas has."""
            if name.startswith("_"):
                raise AttributeError(name)
            raise NoSuchQuery.of(self._called, name, [one for one in dir(self) if not one.startswith("_")])
