"""What a wrong name is told: the names that there are.  Must never be reached by a name that there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pandas_dp.errors import NoSuchQuery

__all__ = ["Guided"]


class Guided:
    """A class whose missing names are answered with what there is; type checkers do not see it, so that they go on to find such names."""

    _called = "df.dp"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise ``NoSuchQuery`` with the queries that there are, and what stands in for a name that pandas has."""
            if name.startswith("_"):
                raise AttributeError(name)
            raise NoSuchQuery.of(self._called, name, [one for one in dir(self) if not one.startswith("_")])
