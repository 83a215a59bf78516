"""``df.dp.preview``: the queries of the accessor, answered by cost and error alone.

Nothing is computed here, and nothing below this module reads data or charges for a preview.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pandas_dp import release
from pandas_dp.errors import boundary
from pandas_dp.statistics import basic

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd

    from pandas_dp.release import Preview

    Bounds = tuple[Any, Any] | list[Any]

__all__ = ["DataFramePreview", "SeriesPreview"]


class DataFramePreview:
    """Cost and error of a query before it is asked: ``df.dp.preview.mean("age", epsilon=0.1)``.

    Nothing is spent and no value is read.  Each method takes the query's arguments, and ``rows``, your own idea of the
    number of rows, which a mean's error depends on; by default the last released count is used.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __repr__(self) -> str:
        """Return a hint."""
        return "<.dp.preview: call count, sum or mean on it>"

    @boundary
    def count(self, column: Hashable | None = None, *, epsilon: object = None, rows: object = None, level: float = 0.95) -> Preview:
        """Preview ``count``."""
        return release.preview(self._frame, partial(basic.count, column=column), epsilon, rows, level)

    @boundary
    def sum(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        rows: object = None,
        level: float = 0.95,
    ) -> Preview:
        """Preview ``sum``."""
        return release.preview(self._frame, partial(basic.total, column=column, bounds=bounds), epsilon, rows, level)

    @boundary
    def mean(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        rows: object = None,
        level: float = 0.95,
    ) -> Preview:
        """Preview ``mean``; the ± is the one at either end of the bounds, where it is largest."""
        return release.preview(self._frame, partial(basic.mean, column=column, bounds=bounds), epsilon, rows, level)


class SeriesPreview:
    """Cost and error of a query on one column before it is asked; see :class:`DataFramePreview`."""

    def __init__(self, series: pd.Series[Any]) -> None:
        self._frame = series

    def __repr__(self) -> str:
        """Return a hint."""
        return "<.dp.preview: call count, sum or mean on it>"

    @boundary
    def count(self, *, epsilon: object = None, rows: object = None, level: float = 0.95) -> Preview:
        """Preview ``count``."""
        return release.preview(self._frame, partial(basic.count, column=None), epsilon, rows, level)

    @boundary
    def sum(self, *, bounds: Bounds | None = None, epsilon: object = None, rows: object = None, level: float = 0.95) -> Preview:
        """Preview ``sum``."""
        return release.preview(self._frame, partial(basic.total, column=None, bounds=bounds), epsilon, rows, level)

    @boundary
    def mean(self, *, bounds: Bounds | None = None, epsilon: object = None, rows: object = None, level: float = 0.95) -> Preview:
        """Preview ``mean``; the ± is the one at either end of the bounds, where it is largest."""
        return release.preview(self._frame, partial(basic.mean, column=None, bounds=bounds), epsilon, rows, level)
