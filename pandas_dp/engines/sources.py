"""Which engine holds what a query is asked of.  A second engine is a module of this room, and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pandas_dp.engines.pandas import PandasSource

if TYPE_CHECKING:
    from pandas_dp.engines.contract import Source
    from pandas_dp.lineage.roster import Roster

__all__ = ["source_of"]


def source_of(base: Any, roster: Roster) -> Source:
    """Return a derived frame as its engine holds it, or raise ``LineageError`` if a row of it is none of the protected frame's."""
    return PandasSource(base, roster)
