"""``df.dp.preview``: the queries of the accessors, answered by cost and error alone.

The methods are those of the accessors and put the same questions, to :class:`Costs` instead of what answers.  Nothing here may read data or charge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pandas_dp.accessor import questions
from pandas_dp.accessor.asking import planned
from pandas_dp.accessor.groupby import GroupByDP
from pandas_dp.accessor.questions import Grouping
from pandas_dp.display.completion import Guided
from pandas_dp.errors import ParameterError, boundary
from pandas_dp.quantities.budget import Epsilon, Rho
from pandas_dp.release.plan import widths
from pandas_dp.release.price import Price
from pandas_dp.results import plus_minus

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from typing import Unpack

    from pandas_dp.accessor.asking import Build
    from pandas_dp.accessor.questions import Bounds
    from pandas_dp.release.price import PriceOptions
    from pandas_dp.statistics.query import Query

__all__ = ["Costs", "DataFramePreview", "GroupPreview", "Preview", "SeriesPreview"]


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


def preview(source: Any, build: Build, price: Price) -> Preview:
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
    query, plan, released, session = planned(source, build, price)
    reach = query.ordered(widths(plan.parts, price.level, price.rows or released))
    half_width = reach[0] if query.labels is None or query.square else dict(zip(_names(query), reach, strict=True))
    cost = plan.cost.rho if isinstance(session.account.budget, Rho) else plan.cost.named
    return Preview(query.text, cost, session.account.after(plan.cost), half_width, price.level)


def _names(query: Query) -> list[Hashable]:
    """Return one name for each answer."""
    labels = query.labels or ()
    return list(labels) if query.functions is None else list(zip(labels, query.functions, strict=True))


class Costs:
    """Works out what questions would cost; what the previews have in the place of :class:`~pandas_dp.accessor.asking.Answers`."""

    __slots__ = ("source",)

    def __init__(self, source: Any) -> None:
        self.source = source

    def run(self, build: Build, price: Price) -> Preview:
        """Return cost and error of one question."""
        return preview(self.source, build, price)


class DataFramePreview(Guided):
    """Cost and error of a query before it is asked: ``df.dp.preview.mean("age", epsilon=0.1)``.

    Nothing is spent and no value is read.  Each method takes the query's arguments, and ``rows``, your own idea of the
    number of rows, which a mean's error depends on; by default the last count that this very frame released is used.
    """

    _called = "df.dp.preview"

    def __init__(self, frame: Any) -> None:
        self._costs = Costs(frame)

    def __repr__(self) -> str:
        """Return a hint."""
        return "<.dp.preview: call a query on it>"

    @boundary
    def groupby(
        self, by: Any, *, keys: Any = None, other: Hashable | None = None, max_groups: int | None = None, delta: object = None
    ) -> GroupPreview:
        """Preview grouped queries: ``df.dp.preview.groupby("ward").size(epsilon=0.1)``; the ± is that of each group."""
        return GroupPreview(self._costs, Grouping.of(by, keys, other, max_groups, delta))

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
        return self._costs.run(questions.count(column, unique=unique), Price.of(epsilon, price))

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
        return self._costs.run(questions.total(column, bounds, per_unit), Price.of(epsilon, price))

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
        return self._costs.run(questions.mean(column, bounds), Price.of(epsilon, price))

    @boundary
    def var(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        ddof: int = 1,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``var``; the ± is where it is largest: all values at one bound."""
        return self._costs.run(questions.spread("var", column, bounds, ddof), Price.of(epsilon, price))

    @boundary
    def std(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        ddof: int = 1,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``std``; the ± is where it is largest: all values at one bound."""
        return self._costs.run(questions.spread("std", column, bounds, ddof), Price.of(epsilon, price))

    @boundary
    def median(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``median``; the ± is in ranks."""
        return self._costs.run(questions.median(column, bounds), Price.of(epsilon, price))

    @boundary
    def quantile(
        self,
        column: Any = None,
        q: Any = 0.5,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``quantile``; the ± is in ranks."""
        return self._costs.run(questions.quantile(q, column, bounds), Price.of(epsilon, price))

    @boundary
    def min(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``min``; the ± is in ranks."""
        return self._costs.run(questions.extreme("min", column, bounds), Price.of(epsilon, price))

    @boundary
    def max(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``max``; the ± is in ranks."""
        return self._costs.run(questions.extreme("max", column, bounds), Price.of(epsilon, price))

    @boundary
    def iqr(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``iqr``; the ± is in ranks."""
        return self._costs.run(questions.iqr(column, bounds), Price.of(epsilon, price))

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
        return self._costs.run(
            questions.aggregate(func, named, bounds), Price.named(epsilon, rho, mechanism, within, level, rows=rows, label=label)
        )

    @boundary
    def describe(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``describe``: a ± for each statistic of each column."""
        return self._costs.run(questions.describe(column, bounds), Price.of(epsilon, price))

    @boundary
    def cov(
        self, columns: Any = None, *, bounds: Any = None, ddof: int = 1, epsilon: object = None, **price: Unpack[PriceOptions]
    ) -> Preview:
        """Preview ``cov``: the largest ± of the matrix, for columns spread evenly over their bounds."""
        return self._costs.run(questions.covariance(columns, bounds, ddof), Price.of(epsilon, price))

    @boundary
    def corr(self, columns: Any = None, *, bounds: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``corr``: the largest ± of the matrix, for columns spread evenly over their bounds."""
        return self._costs.run(questions.correlation(columns, bounds), Price.of(epsilon, price))


class GroupPreview(Guided):
    """Cost and error of a grouped query before it is asked: its methods are those of :class:`GroupByDP`, and return a :class:`Preview`.

    The ± is that of each group.  That of a mean depends on how many rows a group has: give ``rows``, your own idea of the smallest.
    """

    _called = "df.dp.preview.groupby(...)"

    def __init__(self, costs: Costs, grouping: Grouping, column: Any = None) -> None:
        self._costs = costs
        self._grouping = grouping
        self._groups = GroupByDP(costs, grouping, column)

    def __getitem__(self, column: Any) -> GroupPreview:
        """Select a column, or a list of columns, as in pandas."""
        return GroupPreview(self._costs, self._grouping, column)

    @boundary
    def __iter__(self) -> Any:
        """Refuse: the groups are not taken apart."""
        return iter(self._groups)

    @boundary
    def __contains__(self, key: object) -> bool:
        """Refuse, as iteration."""
        return key in self._groups

    def __repr__(self) -> str:
        """Return what is grouped by; nothing here depends on data."""
        return repr(self._groups)

    @boundary
    def _repr_html_(self) -> str:
        """Return what is grouped by, and the budget, for notebooks; nothing here depends on data."""
        return self._groups._repr_html_()

    @boundary
    def size(self, *, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``size``, and ``value_counts``, ``crosstab`` and ``mode``, which are made of it."""
        return cast("Preview", self._groups.size(epsilon=epsilon, **price))  # what it puts the question to works out a preview

    @boundary
    def count(self, column: Any = None, *, unique: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``count``."""
        previewed: Preview = self._groups.count(column, unique=unique, epsilon=epsilon, **price)
        return previewed

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
        previewed: Preview = self._groups.sum(column, bounds=bounds, per_unit=per_unit, epsilon=epsilon, **price)
        return previewed

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
        previewed: Preview = self._groups.mean(column, bounds=bounds, epsilon=epsilon, **price)
        return previewed

    @boundary
    def var(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        ddof: int = 1,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``var``; the ± is where it is largest: all values at one bound."""
        previewed: Preview = self._groups.var(column, bounds=bounds, ddof=ddof, epsilon=epsilon, **price)
        return previewed

    @boundary
    def std(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        ddof: int = 1,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``std``; the ± is where it is largest: all values at one bound."""
        previewed: Preview = self._groups.std(column, bounds=bounds, ddof=ddof, epsilon=epsilon, **price)
        return previewed

    @boundary
    def median(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``median``; the ± is in ranks."""
        previewed: Preview = self._groups.median(column, bounds=bounds, epsilon=epsilon, **price)
        return previewed

    @boundary
    def quantile(
        self,
        column: Any = None,
        q: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``quantile``; the ± is in ranks."""
        previewed: Preview = self._groups.quantile(column, q, bounds=bounds, epsilon=epsilon, **price)
        return previewed

    @boundary
    def min(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``min``; the ± is in ranks."""
        previewed: Preview = self._groups.min(column, bounds=bounds, epsilon=epsilon, **price)
        return previewed

    @boundary
    def max(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``max``; the ± is in ranks."""
        previewed: Preview = self._groups.max(column, bounds=bounds, epsilon=epsilon, **price)
        return previewed

    @boundary
    def iqr(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``iqr``; the ± is in ranks."""
        previewed: Preview = self._groups.iqr(column, bounds=bounds, epsilon=epsilon, **price)
        return previewed

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
        previewed: Preview = self._groups.agg(
            func, bounds=bounds, epsilon=epsilon, rho=rho, mechanism=mechanism, within=within, level=level, rows=rows, label=label, **named
        )
        return previewed

    @boundary
    def describe(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Preview:
        """Preview ``describe``: a ± for each statistic of each column."""
        previewed: Preview = self._groups.describe(column, bounds=bounds, epsilon=epsilon, **price)
        return previewed


class SeriesPreview(Guided):
    """Cost and error of a query on one column before it is asked; see :class:`DataFramePreview`."""

    _called = "Series.dp.preview"

    def __init__(self, series: Any) -> None:
        self._costs = Costs(series)

    def __repr__(self) -> str:
        """Return a hint."""
        return "<.dp.preview: call a query on it>"

    @boundary
    def count(self, *, unique: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``count``."""
        return self._costs.run(questions.count(None, unique=unique), Price.of(epsilon, price))

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
        return self._costs.run(questions.total(None, bounds, per_unit), Price.of(epsilon, price))

    @boundary
    def mean(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``mean``; the ± is the one at either end of the bounds, where it is largest."""
        return self._costs.run(questions.mean(None, bounds), Price.of(epsilon, price))

    @boundary
    def var(self, *, bounds: Bounds | None = None, ddof: int = 1, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``var``; the ± is where it is largest: all values at one bound."""
        return self._costs.run(questions.spread("var", None, bounds, ddof), Price.of(epsilon, price))

    @boundary
    def std(self, *, bounds: Bounds | None = None, ddof: int = 1, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``std``; the ± is where it is largest: all values at one bound."""
        return self._costs.run(questions.spread("std", None, bounds, ddof), Price.of(epsilon, price))

    @boundary
    def median(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``median``; the ± is in ranks."""
        return self._costs.run(questions.median(None, bounds), Price.of(epsilon, price))

    @boundary
    def quantile(self, q: Any = 0.5, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``quantile``; the ± is in ranks."""
        return self._costs.run(questions.quantile(q, None, bounds), Price.of(epsilon, price))

    @boundary
    def min(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``min``; the ± is in ranks."""
        return self._costs.run(questions.extreme("min", None, bounds), Price.of(epsilon, price))

    @boundary
    def max(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``max``; the ± is in ranks."""
        return self._costs.run(questions.extreme("max", None, bounds), Price.of(epsilon, price))

    @boundary
    def iqr(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``iqr``; the ± is in ranks."""
        return self._costs.run(questions.iqr(None, bounds), Price.of(epsilon, price))

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
        return self._costs.run(
            questions.aggregate(func, named, bounds), Price.named(epsilon, rho, mechanism, within, level, rows=rows, label=label)
        )

    @boundary
    def describe(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Preview:
        """Preview ``describe``: a ± for each statistic."""
        return self._costs.run(questions.describe(None, bounds), Price.of(epsilon, price))
