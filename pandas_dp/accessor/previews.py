"""``df.dp.preview``: the queries of the accessor, answered by cost and error alone.

Nothing here reads data or charges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pandas_dp.release import path as release
from pandas_dp.quantities.budget import Epsilon, Rho, checked_flag
from pandas_dp.accessor.descriptive import OneColumn, SpreadAndOrder
from pandas_dp.errors import ParameterError, boundary
from pandas_dp.accessor.groupby import GroupByDP, Grouping
from pandas_dp.release.plan import Price, plan_of, widths
from pandas_dp.sessions.registry import require
from pandas_dp.results import plus_minus
from pandas_dp.statistics import basic, privacy_units

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from typing import Unpack

    from pandas_dp.release.plan import PriceOptions
    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.statistics.estimators import Query

    Bounds = tuple[Any, Any] | list[Any]

__all__ = ["DataFramePreview", "GroupPreview", "Preview", "SeriesPreview"]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a query would cost and how far off its answer could be.  Nothing was spent or read.

    Attributes
    ----------
    query : str
        Its text.
    cost : Epsilon or Rho
        What it would cost.
    remaining : Epsilon or Rho
        What would be left, or would be missing if negative.
    half_width : number or dict
        The ± of the answer at ``level``; per column if there are several.  For a mean, the ± at either end of the bounds,
        where it is largest: up to a third less in the middle.
    level : float
        The confidence level.
    """

    query: str
    cost: Epsilon | Rho
    remaining: Epsilon | Rho
    half_width: Any
    level: float

    @property
    def epsilon(self) -> Epsilon | Rho:
        """What it would cost."""
        return self.cost

    @property
    def fits(self) -> bool:
        """Whether the budget allows it now."""
        return Fraction(self.remaining) >= 0

    def __repr__(self) -> str:
        """Return cost, error and what would be left."""
        widths = self.half_width if isinstance(self.half_width, dict) else {"": self.half_width}
        shown = ", ".join(f"{name}{': ' if name else ''}{_margin_text(width)}" for name, width in widths.items())
        left = f"would leave {self.remaining!r}" if self.fits else f"is {type(self.remaining)(-self.remaining)!r} too much"
        return f"<Preview {self.query}: {self.cost!r} {left}; {shown} at {self.level:.0%}>"


def _margin_text(width: Any) -> str:
    if type(width) not in {int, float}:
        return f"±{width}"  # a duration, or ranks
    return "±" + (plus_minus(0, width) if isinstance(width, int) else plus_minus(0.0, width)).rsplit("±", 1)[1].strip()


def preview(source: Any, build: Callable[[PublicFrame], Query], price: Price) -> Preview:
    """Work out cost and error of a query from public facts and earlier releases; for a list of ε, a table with a row for each."""
    epsilon: Any = price.epsilon
    if isinstance(epsilon, (list, tuple, pd.Index)) or (isinstance(epsilon, np.ndarray) and epsilon.ndim == 1):
        found = [preview(source, build, replace(price, epsilon=one)) for one in epsilon]
        if not found:
            raise ParameterError.number("epsilon", "a number, or a list of at least one")
        widths_of = [one.half_width if isinstance(one.half_width, dict) else {"half_width": one.half_width} for one in found]
        table: Any = pd.DataFrame(
            [{**widths, "remaining": one.remaining, "fits": one.fits} for one, widths in zip(found, widths_of, strict=True)],
            index=pd.Index([float(one.cost) for one in found], name="rho" if isinstance(found[0].cost, Rho) else "epsilon"),
        )
        return cast("Preview", table)  # what most calls return is what type checkers are told
    protected = require(release.base_of(source))
    session = protected.core
    session.account.check_open()
    protected.check_derived(release.base_of(source))
    protected.roster.identify(release.base_of(source))
    query, _ = release.query_of(source, protected, build)
    released = release.rows_of(query, source, session)
    plan = plan_of(query, session, price, protected.roster, lambda: released)
    size = price.rows or released
    reach = query.ordered(widths(plan.parts, price.level, size))
    half_width = reach[0] if query.labels is None or query.square else dict(zip(_names(query), reach, strict=True))
    session.account.refresh()
    concentrated = isinstance(session.account.budget, Rho)
    cost = plan.cost.rho if concentrated else plan.cost.named
    return Preview(query.text, cost, session.account.after(plan.cost), half_width, price.level)


def _names(query: Query) -> list[Hashable]:
    """Return one name for each answer."""
    labels = query.labels or ()
    return list(labels) if query.functions is None else list(zip(labels, query.functions, strict=True))


class DataFramePreview(SpreadAndOrder):
    """Cost and error of a query before it is asked: ``df.dp.preview.mean("age", epsilon=0.1)``.

    Nothing is spent and no value is read.  Each method takes the query's arguments, and ``rows``, your own idea of the
    number of rows, which a mean's error depends on; by default the last count that this very frame released is used.
    """

    _called = "df.dp.preview"

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def _descriptive(self, build: Callable[..., Query], column: Any, bounds: Any, price: Price, **options: Any) -> Any:
        return preview(self._frame, partial(build, column=column, bounds=bounds, **options), price)

    def __repr__(self) -> str:
        """Return a hint."""
        return "<.dp.preview: call a query on it>"

    @boundary
    def groupby(
        self, by: Any, *, keys: Any = None, other: Hashable | None = None, max_groups: int | None = None, delta: object = None
    ) -> GroupPreview:
        """Preview grouped queries: ``df.dp.preview.groupby("ward").size(epsilon=0.1)``; the ± is that of each group."""
        return GroupPreview(self._frame, Grouping.of(by, keys, other, max_groups, delta))

    @boundary
    def count(
        self,
        column: Hashable | None = None,
        *,
        unique: bool = False,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``count``."""
        return preview(
            self._frame, partial(privacy_units.units if checked_flag("unique", unique) else basic.count, column=column), Price.of(epsilon, price)
        )

    @boundary
    def sum(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        per_unit: Bounds | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``sum``."""
        build = basic.total if per_unit is None else partial(privacy_units.unit_totals, per_unit=per_unit)
        return preview(self._frame, partial(build, column=column, bounds=bounds), Price.of(epsilon, price))

    @boundary
    def mean(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``mean``; the ± is the one at either end of the bounds, where it is largest."""
        return preview(self._frame, partial(basic.mean, column=column, bounds=bounds), Price.of(epsilon, price))

    @boundary
    def agg(
        self,
        func: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        rho: object = None,
        mechanism: str | None = None,
        within: Any = None,
        level: float = 0.95,
        rows: object = None,
        label: str | bool | None = None,
        **named: Any,
    ) -> Preview:
        """Preview ``agg``; the ± are where they are largest: values at a bound."""
        from pandas_dp.statistics import aggregate  # noqa: PLC0415  (loaded for those who use it)

        build = partial(aggregate.aggregate, func=func, named=named, bounds=bounds)
        return preview(self._frame, build, Price.named(epsilon, rho, mechanism, within, level, rows=rows, label=label))

    @boundary
    def cov(
        self, columns: Any = None, *, bounds: Any = None, ddof: int = 1, epsilon: object = None, **price: Unpack[PriceOptions]
    ) -> Preview:
        """Preview ``cov``: the largest ± of the matrix, for columns spread evenly over their bounds."""
        from pandas_dp.statistics import matrix  # noqa: PLC0415  (loaded for those who use it)

        build = partial(matrix.matrix, name="cov", columns=columns, bounds=bounds, ddof=ddof)
        return preview(self._frame, build, Price.of(epsilon, price))

    @boundary
    def corr(self, columns: Any = None, *, bounds: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``corr``: the largest ± of the matrix, for columns spread evenly over their bounds."""
        from pandas_dp.statistics import matrix  # noqa: PLC0415  (loaded for those who use it)

        return preview(self._frame, partial(matrix.matrix, name="corr", columns=columns, bounds=bounds), Price.of(epsilon, price))


class GroupPreview(GroupByDP):
    """Cost and error of a grouped query before it is asked: its methods are those of :class:`GroupByDP`, and return a :class:`Preview`.

    The ± is that of each group.  That of a mean depends on how many rows a group has: give ``rows``, your own idea of the smallest.
    """

    _called = "df.dp.preview.groupby(...)"

    @boundary
    def size(self, *, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:  # type: ignore[override]  # what each method returns
        """Preview ``size``, and ``value_counts``, ``crosstab`` and ``mode``, which are made of it."""
        return cast("Preview", self._sized(Price.of(epsilon, price)))

    def _answer(self, build: Callable[[PublicFrame], Query], price: Price) -> Preview:
        return preview(self._frame, build, price)


class SeriesPreview(OneColumn):
    """Cost and error of a query on one column before it is asked; see :class:`DataFramePreview`."""

    _called = "Series.dp.preview"

    def __init__(self, series: pd.Series[Any]) -> None:
        self._frame = series

    def _descriptive(self, build: Callable[..., Query], column: Any, bounds: Any, price: Price, **options: Any) -> Any:
        return preview(self._frame, partial(build, column=column, bounds=bounds, **options), price)

    def __repr__(self) -> str:
        """Return a hint."""
        return "<.dp.preview: call a query on it>"

    @boundary
    def count(self, *, unique: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``count``."""
        return preview(
            self._frame, partial(privacy_units.units if checked_flag("unique", unique) else basic.count, column=None), Price.of(epsilon, price)
        )

    @boundary
    def sum(
        self,
        *,
        bounds: Bounds | None = None,
        per_unit: Bounds | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``sum``."""
        build = basic.total if per_unit is None else partial(privacy_units.unit_totals, per_unit=per_unit)
        return preview(self._frame, partial(build, column=None, bounds=bounds), Price.of(epsilon, price))

    @boundary
    def mean(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``mean``; the ± is the one at either end of the bounds, where it is largest."""
        return preview(self._frame, partial(basic.mean, column=None, bounds=bounds), Price.of(epsilon, price))

    @boundary
    def agg(
        self,
        func: Any = None,
        *,
        bounds: Bounds | None = None,
        epsilon: object = None,
        rho: object = None,
        mechanism: str | None = None,
        within: Any = None,
        level: float = 0.95,
        rows: object = None,
        label: str | bool | None = None,
        **named: Any,
    ) -> Preview:
        """Preview ``agg``; the ± are where they are largest: values at a bound."""
        from pandas_dp.statistics import aggregate  # noqa: PLC0415  (loaded for those who use it)

        build = partial(aggregate.aggregate, func=func, named=named, bounds=bounds)
        return preview(self._frame, build, Price.named(epsilon, rho, mechanism, within, level, rows=rows, label=label))
