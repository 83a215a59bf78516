"""``df["age"].dp``: the queries of a column, which name none.  Nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pandas.api.extensions import register_series_accessor

from pandas_dp.accessor import questions, tables
from pandas_dp.accessor.asking import Answers, core_of, session_of, text_of
from pandas_dp.accessor.choosing_bounds import share_outside, usable_bounds
from pandas_dp.accessor.previews import SeriesPreview
from pandas_dp.display.completion import Guided
from pandas_dp.errors import boundary
from pandas_dp.release.price import Price

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Unpack

    import pandas as pd

    from pandas_dp.accessor.questions import Bounds
    from pandas_dp.release.price import PriceOptions
    from pandas_dp.results import NoisyInt, PrivateBounds
    from pandas_dp.sessions.session import Session

    class DPSeries(pd.Series[Any]):
        """For type checkers: a Series that has ``.dp``.  At run time it is a plain Series."""

        @property
        def dp(self) -> SeriesDP:
            """The accessor."""


__all__ = ["SeriesDP"]


@register_series_accessor("dp")
class SeriesDP(Guided):
    """Differentially private answers about a column of a protected DataFrame: ``df["age"].dp``."""

    _called = "Series.dp"

    def __init__(self, series: pd.Series[Any]) -> None:
        self._asks = Answers(series)

    @property
    @boundary
    def session(self) -> Session[Any]:
        """The session that answers for this frame: ``budget``, ``spent``, ``remaining``, ``ledger``, ``releases``.

        Raises
        ------
        NotProtected
            If the frame belongs to no session of this process.
        """
        return session_of(self._asks.source)

    def __repr__(self) -> str:
        """Return what is left of the budget; nothing here depends on data."""
        return text_of(self._asks.source)

    @boundary
    def _repr_html_(self) -> str:
        """Return budget and ledger for notebooks; nothing here depends on data."""
        from pandas_dp.display.html import shown  # noqa: PLC0415  (for notebooks)

        return shown(lambda: core_of(self._asks.source))

    @property
    def preview(self) -> SeriesPreview:
        """The same queries, answered by their cost and error only; spends nothing."""
        return SeriesPreview(self._asks.source)

    @boundary
    def count(self, *, unique: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> NoisyInt:
        """Count the present values, or the units that have one; as ``DataFrame.dp.count`` with this column."""
        counted: NoisyInt = self._asks.run(questions.count(None, unique=unique), Price.of(epsilon, price))
        return counted

    @boundary
    def sum(
        self, *, bounds: Bounds | None = None, per_unit: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]
    ) -> Any:
        """Sum the clamped values, or the units' clamped totals; as ``DataFrame.dp.sum`` with this column."""
        return self._asks.run(questions.total(None, bounds, per_unit), Price.of(epsilon, price))

    @boundary
    def mean(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Average the clamped values; as ``DataFrame.dp.mean`` with this column."""
        return self._asks.run(questions.mean(None, bounds), Price.of(epsilon, price))

    @boundary
    def var(self, *, bounds: Bounds | None = None, ddof: int = 1, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the variance of the clamped values; as ``DataFrame.dp.var`` with this column."""
        return self._asks.run(questions.spread("var", None, bounds, ddof), Price.of(epsilon, price))

    @boundary
    def std(self, *, bounds: Bounds | None = None, ddof: int = 1, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the standard deviation of the clamped values; as ``DataFrame.dp.std`` with this column."""
        return self._asks.run(questions.spread("std", None, bounds, ddof), Price.of(epsilon, price))

    @boundary
    def median(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the median of the clamped values; as ``DataFrame.dp.median`` with this column."""
        return self._asks.run(questions.median(None, bounds), Price.of(epsilon, price))

    @boundary
    def quantile(self, q: Any = 0.5, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return one quantile, or several in one charge; as ``DataFrame.dp.quantile`` with this column."""
        return self._asks.run(questions.quantile(q, None, bounds), Price.of(epsilon, price))

    @boundary
    def min(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return a value near the smallest; as ``DataFrame.dp.min`` with this column."""
        return self._asks.run(questions.extreme("min", None, bounds), Price.of(epsilon, price))

    @boundary
    def max(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return a value near the largest; as ``DataFrame.dp.max`` with this column."""
        return self._asks.run(questions.extreme("max", None, bounds), Price.of(epsilon, price))

    @boundary
    def iqr(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the distance between the quartiles; as ``DataFrame.dp.iqr`` with this column."""
        return self._asks.run(questions.iqr(None, bounds), Price.of(epsilon, price))

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
    ) -> Any:
        """Ask several statistics in one charge; as ``DataFrame.dp.agg`` with this column.  A list gives a Series."""
        return self._asks.run(
            questions.aggregate(func, named, bounds), Price.named(epsilon, rho, mechanism, within, level, rows=rows, label=label)
        )

    @boundary
    def describe(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return pandas' ``describe``; as ``DataFrame.dp.describe`` with this column."""
        return self._asks.run(questions.describe(None, bounds), Price.of(epsilon, price))

    @boundary
    def value_counts(
        self,
        *,
        keys: Any = None,
        other: Hashable | None = None,
        normalize: bool = False,
        sort: bool = True,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> pd.Series[Any]:
        """Count the rows of each declared key; as ``DataFrame.dp.value_counts`` with this column."""
        counts = self._asks.run(questions.key_counts(self._asks.source.name, keys, other), Price.of(epsilon, price))
        return tables.value_counts(counts, normalize=normalize, sort=sort)

    @boundary
    def mode(self, *, keys: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the key that most rows have, by noisy counts; as ``DataFrame.dp.mode`` with this column."""
        return tables.mode(self._asks.run(questions.key_counts(self._asks.source.name, keys), Price.of(epsilon, price)))

    @boundary
    def nunique(self, *, keys: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Count how many of the declared keys occur; as ``DataFrame.dp.nunique`` with this column."""
        return self._asks.run(questions.occurring_keys(self._asks.source.name, keys, self._asks.unit), Price.of(epsilon, price))

    @boundary
    def bounds(self, *, remember: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> PrivateBounds:
        """Estimate usable bounds; as ``DataFrame.dp.bounds`` with this column."""
        return usable_bounds(self._asks, self._asks.source.name, Price.of(epsilon, price), remember=remember)

    @boundary
    def clamping_rate(self, *, bounds: Bounds, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the share of values that a choice of bounds would cut off; as ``DataFrame.dp.clamping_rate`` with this column."""
        return share_outside(self._asks, self._asks.source.name, bounds, Price.of(epsilon, price))
