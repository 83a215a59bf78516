"""``df.dp.preview``: the queries of the accessor, answered by cost and error alone.

Nothing here reads data or charges.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from pandas_dp import release
from pandas_dp.accounting import Epsilon
from pandas_dp.errors import ParameterError, boundary
from pandas_dp.plans import plan_of
from pandas_dp.registry import require
from pandas_dp.results import check_level, plus_minus
from pandas_dp.statistics import aggregate, basic, people

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    import pandas as pd

    from pandas_dp.public import PublicFrame
    from pandas_dp.session import Session
    from pandas_dp.statistics.readings import Query

    Bounds = tuple[Any, Any] | list[Any]

__all__ = ["DataFramePreview", "Preview", "SeriesPreview"]


_MOST_ROWS = 10**15


@dataclass(frozen=True, slots=True)
class Preview:
    """What a query would cost and how far off its answer could be.  Nothing was spent or read.

    Attributes
    ----------
    query : str
        Its text.
    epsilon : Epsilon
        What it would cost.
    remaining : Epsilon
        What would be left, or would be missing if negative.
    half_width : number or dict
        The ± of the answer at ``level``; per column if there are several.  For a mean, the ± at either end of the bounds,
        where it is largest: up to a third less in the middle.
    level : float
        The confidence level.
    """

    query: str
    epsilon: Epsilon
    remaining: Epsilon
    half_width: Any
    level: float

    @property
    def fits(self) -> bool:
        """Whether the budget allows it now."""
        return Fraction(self.remaining) >= 0

    def __repr__(self) -> str:
        """Return cost, error and what would be left."""
        widths = self.half_width if isinstance(self.half_width, dict) else {"": self.half_width}
        shown = ", ".join(f"{name}{': ' if name else ''}{_margin_text(width)}" for name, width in widths.items())
        left = f"would leave {self.remaining!r}" if self.fits else f"is {Epsilon(-self.remaining)!r} too much"
        return f"<Preview {self.query}: {self.epsilon!r} {left}; {shown} at {self.level:.0%}>"


def _margin_text(width: Any) -> str:
    return "±" + (plus_minus(0, width) if isinstance(width, int) else plus_minus(0.0, width)).rsplit("±", 1)[1].strip()


def preview(
    source: Any,
    build: Callable[[PublicFrame], Query],
    epsilon: object | None,
    rows: object | None,
    level: float,
) -> Preview:
    """Work out cost and error of a query from public facts and earlier releases."""
    protected = require(release.base_of(source))
    session = protected.session
    check_level(level)
    session.accountant.check_open()
    protected.check_derived(release.base_of(source))
    protected.roster.identify(release.base_of(source))
    query = release.query_of(source, protected, build)
    plan = plan_of(query, session, epsilon, protected.roster)
    exact = plan.epsilon
    size = _checked_rows(rows) if rows is not None else _last_count(session)
    widths = []
    for part in plan.parts:
        for reading in part.readings:
            width = reading.half_width_before(part.scale, level, size)
            if width is None:
                raise ParameterError.rows_needed()
            widths.append(width)
    half_width = widths[0] if query.labels is None else dict(zip(_names(query), query.ordered(widths), strict=True))
    return Preview(query.text, exact, Epsilon(session.remaining - exact), half_width, level)


def _names(query: Query) -> list[Hashable]:
    """Return one name for each answer."""
    labels = query.labels or ()
    return list(labels) if query.functions is None else list(zip(labels, query.functions, strict=True))


def _checked_rows(rows: object) -> int:
    number: int | None = None
    try:
        number = int(rows)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not 1 <= number <= _MOST_ROWS:
        raise ParameterError.number("rows", f"a number of rows between 1 and {_MOST_ROWS:,}")
    return number


def _last_count(session: Session) -> int | None:
    """Return the last released count, which is public by now."""
    for earlier in reversed(session.releases):
        if earlier.query.startswith("count(") and "unique=" not in earlier.query:
            return max(1, int(earlier.estimates[0].value))
    return None


class DataFramePreview:
    """Cost and error of a query before it is asked: ``df.dp.preview.mean("age", epsilon=0.1)``.

    Nothing is spent and no value is read.  Each method takes the query's arguments, and ``rows``, your own idea of the
    number of rows, which a mean's error depends on; by default the last released count is used.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __repr__(self) -> str:
        """Return a hint."""
        return "<.dp.preview: call count, sum, mean or agg on it>"

    @boundary
    def count(
        self, column: Hashable | None = None, *, unique: bool = False, epsilon: object = None, rows: object = None, level: float = 0.95
    ) -> Preview:
        """Preview ``count``."""
        return preview(self._frame, partial(people.units if unique else basic.count, column=column), epsilon, rows, level)

    @boundary
    def sum(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        per_unit: Bounds | None = None,
        epsilon: object = None,
        rows: object = None,
        level: float = 0.95,
    ) -> Preview:
        """Preview ``sum``."""
        build = basic.total if per_unit is None else partial(people.unit_totals, per_unit=per_unit)
        return preview(self._frame, partial(build, column=column, bounds=bounds), epsilon, rows, level)

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
        return preview(self._frame, partial(basic.mean, column=column, bounds=bounds), epsilon, rows, level)

    @boundary
    def agg(
        self,
        func: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        rows: object = None,
        level: float = 0.95,
        **named: Any,
    ) -> Preview:
        """Preview ``agg``; the ± are where they are largest: values at a bound."""
        build = partial(aggregate.aggregate, func=func, named=named, bounds=bounds)
        return preview(self._frame, build, epsilon, rows, level)


class SeriesPreview:
    """Cost and error of a query on one column before it is asked; see :class:`DataFramePreview`."""

    def __init__(self, series: pd.Series[Any]) -> None:
        self._frame = series

    def __repr__(self) -> str:
        """Return a hint."""
        return "<.dp.preview: call count, sum, mean or agg on it>"

    @boundary
    def count(self, *, unique: bool = False, epsilon: object = None, rows: object = None, level: float = 0.95) -> Preview:
        """Preview ``count``."""
        return preview(self._frame, partial(people.units if unique else basic.count, column=None), epsilon, rows, level)

    @boundary
    def sum(
        self,
        *,
        bounds: Bounds | None = None,
        per_unit: Bounds | None = None,
        epsilon: object = None,
        rows: object = None,
        level: float = 0.95,
    ) -> Preview:
        """Preview ``sum``."""
        build = basic.total if per_unit is None else partial(people.unit_totals, per_unit=per_unit)
        return preview(self._frame, partial(build, column=None, bounds=bounds), epsilon, rows, level)

    @boundary
    def mean(self, *, bounds: Bounds | None = None, epsilon: object = None, rows: object = None, level: float = 0.95) -> Preview:
        """Preview ``mean``; the ± is the one at either end of the bounds, where it is largest."""
        return preview(self._frame, partial(basic.mean, column=None, bounds=bounds), epsilon, rows, level)

    @boundary
    def agg(
        self,
        func: Any = None,
        *,
        bounds: Bounds | None = None,
        epsilon: object = None,
        rows: object = None,
        level: float = 0.95,
        **named: Any,
    ) -> Preview:
        """Preview ``agg``; the ± are where they are largest: values at a bound."""
        build = partial(aggregate.aggregate, func=func, named=named, bounds=bounds)
        return preview(self._frame, build, epsilon, rows, level)
