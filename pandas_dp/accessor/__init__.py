"""The ``.dp`` accessors: every public query, its signature and its documentation.  Nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas_dp.accessor.frames import DPFrame, DPSeries

    __all__ = ["DPFrame", "DPSeries"]
