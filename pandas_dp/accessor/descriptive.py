"""Spread and order, and ``describe()``: of frames, views, Series and groups.

Signatures and the user's documentation; nothing is computed here but free post-processing.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pandas_dp.display.completion import Guided
from pandas_dp.errors import boundary
from pandas_dp.release.plan import Price

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from typing import Unpack

    from pandas_dp.accessor.previews import Bounds
    from pandas_dp.release.plan import PriceOptions
    from pandas_dp.statistics.query import Query

__all__ = ["OneColumn", "SpreadAndOrder", "quantile_query"]


class SpreadAndOrder(Guided):
    """``var``, ``std``, ``median``, ``quantile``, ``min``, ``max``, ``iqr`` and ``describe``: of a frame, a view, or by group."""

    def _descriptive(self, build: Callable[..., Query], column: Any, bounds: Any, price: Price, **options: Any) -> Any:
        raise NotImplementedError

    @boundary
    def var(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        ddof: int = 1,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return the variance of the clamped values, with ``n - ddof`` as divisor.

        Parameters
        ----------
        column, bounds, epsilon, **price
            As for ``mean``.
        ddof : int
            As in pandas, 1 by default.

        Returns
        -------
        NoisyFloat or Series
            Never negative.  In squared units of the column.

        Raises
        ------
        BoundsError, UnsupportedDtype, ColumnError, ParameterError, BudgetExhausted, NotProtected, LineageError
            As for ``mean``; dates and durations have no variance but a ``std``.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: one release of three cells ``(k**2, 2*k*(m-k), (m-k)**2)``, of mass ``m**2`` for each record, where ``k`` is the
        clamped value's height in the ``m`` steps between the bounds; discrete Laplace noise of scale ``max_rows * m**2 / epsilon`` on each.

        Accuracy
        --------
        Root mean square error of the variance of 20 000 integers, uniform in 18..65 with these bounds, at ε = 0.1: 0.65 (0.35 % of it).

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.std("age", epsilon=0.5)
        23.222 ± 0.033
        """
        from pandas_dp.statistics import aggregate

        return self._descriptive(partial(aggregate.spread, name="var", ddof=ddof), column, bounds, Price.of(epsilon, price))

    @boundary
    def std(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        ddof: int = 1,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return the standard deviation of the clamped values: the root of ``var``, in the column's unit, for the same price."""
        from pandas_dp.statistics import aggregate

        return self._descriptive(partial(aggregate.spread, name="std", ddof=ddof), column, bounds, Price.of(epsilon, price))

    @boundary
    def median(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return the median of the clamped values; as ``quantile(0.5)``."""
        from pandas_dp.statistics import order

        build = partial(order.ordered, name="median", quantiles=(order.QUARTERS["median"],))
        return self._descriptive(build, column, bounds, Price.of(epsilon, price))

    @boundary
    def quantile(
        self,
        column: Any = None,
        q: Any = 0.5,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return one quantile, or several in one charge, of the clamped values.

        Parameters
        ----------
        column : Hashable or list, optional
            One column for several quantiles.
        q : number or list of numbers
            Between 0 and 1, taken exactly as typed.
        bounds, epsilon, **price
            As for ``mean``; ``within`` is in ranks.

        Returns
        -------
        NoisyFloat, Timestamp, Timedelta, Series or DataFrame
            Inside the bounds; of several quantiles monotone, with ``q`` as index (by group: as columns).  Its ± is in *ranks*: how many rows the answer may be away
            from the quantile.  How far that is in the column's unit is private.

        Raises
        ------
        BoundsError, UnsupportedDtype, ColumnError, ParameterError, BudgetExhausted, NotProtected, LineageError
            As for ``mean``.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: the exponential mechanism [1]_, [2]_ among the points of the column's grid, with exact integer weights; the distance of a point
        is that of the ranks it covers from the target rank.  Several quantiles are chosen one inside the other [3]_ with ``epsilon`` divided by the levels, ``ceil(log2(m + 1))`` for ``m`` of
        them.  In zero-concentrated terms ε²/8 [4]_.

        Accuracy
        --------
        95 % of answers lie within ``(2 / epsilon) * max_rows * (log(points) + 3) / 2`` ranks of the median, where the grid has ``points`` points (2**30 for floats): 240 ranks at ε = 0.1.
        The number of rows does not matter.

        References
        ----------
        .. [1] F. McSherry, K. Talwar. Mechanism design via differential privacy. FOCS 2007, theorem 6.
        .. [2] A. Smith. Privacy-preserving statistical estimation with optimal convergence rates. STOC 2011, section 3.
        .. [3] H. Kaplan, S. Schnapp, U. Stemmer. Differentially private approximate quantiles. ICML 2022, theorem 3.1.
        .. [4] M. Cesar, R. Rogers. Bounding, concentrating, and truncating. ALT 2021, lemma 3.2.

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=2, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.median("age", epsilon=0.5)
        54 (± 15 ranks)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.quantile("charge", [0.25, 0.5, 0.9], epsilon=0.5).round()
        0.25    1744.0
        0.50    2570.0
        0.90    6526.0
        dtype: float64
        """
        return self._descriptive(quantile_query(q), column, bounds, Price.of(epsilon, price))

    @boundary
    def min(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return a value near the smallest: one row decides the true minimum, which therefore stays private.

        Parameters
        ----------
        column, bounds, epsilon, **price
            As for ``quantile``.

        Privacy
        -------
        As ``quantile``: the exponential mechanism aims at the ``t``-th smallest value, ``t`` public.

        Accuracy
        --------
        About ``t = (2 / epsilon) * max_rows * (log(points) + 3)`` rows are beyond the answer (480 at ε = 0.1 for floats, 160 for ages from 0 to 110); with
        fewer rows than that it tends to the other bound.
        """
        from pandas_dp.statistics import order

        return self._descriptive(partial(order.ordered, name="min"), column, bounds, Price.of(epsilon, price))

    @boundary
    def max(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return a value near the largest; the mirror image of ``min``."""
        from pandas_dp.statistics import order

        return self._descriptive(partial(order.ordered, name="max"), column, bounds, Price.of(epsilon, price))

    @boundary
    def iqr(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return the distance between the quartiles, which are chosen together; as ``quantile([0.25, 0.75])``."""
        from pandas_dp.statistics import order

        return self._descriptive(partial(order.ordered, name="iqr"), column, bounds, Price.of(epsilon, price))

    @boundary
    def describe(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return pandas' ``describe``: count, mean, std, min, quartiles and max; no minimum is above a quartile and no maximum below one.

        Parameters
        ----------
        column, bounds, epsilon, **price
            As for ``mean``; by default all columns with bounds that are numbers, dates or durations.

        Returns
        -------
        DataFrame or Series
            As pandas lays it out.

        Privacy
        -------
        ``epsilon``-DP: divided equally among the columns, and each column's share among four parts: the cells of ``std``, the quartiles, the minimum and the maximum.

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.describe(["age", "charge"], epsilon=1).round(1)
                   age   charge
        count  20012.0  19668.0
        mean      54.5   3228.7
        std       23.2   1984.1
        min        2.0    625.5
        25%       37.0   1738.6
        50%       54.0   2564.7
        75%       71.0   4149.9
        max      104.0   9453.6
        """
        from pandas_dp.statistics import aggregate

        return self._descriptive(aggregate.describe, column, bounds, Price.of(epsilon, price))


class OneColumn(Guided):
    """The same of a Series, which names no column."""

    def _descriptive(self, build: Callable[..., Query], column: Any, bounds: Any, price: Price, **options: Any) -> Any:
        raise NotImplementedError

    @boundary
    def var(self, *, bounds: Bounds | None = None, ddof: int = 1, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the variance of the clamped values; as ``DataFrame.dp.var`` with this column."""
        from pandas_dp.statistics import aggregate

        return self._descriptive(partial(aggregate.spread, name="var", ddof=ddof), None, bounds, Price.of(epsilon, price))

    @boundary
    def std(self, *, bounds: Bounds | None = None, ddof: int = 1, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the standard deviation of the clamped values; as ``DataFrame.dp.std`` with this column."""
        from pandas_dp.statistics import aggregate

        return self._descriptive(partial(aggregate.spread, name="std", ddof=ddof), None, bounds, Price.of(epsilon, price))

    @boundary
    def median(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the median of the clamped values; as ``DataFrame.dp.median`` with this column."""
        from pandas_dp.statistics import order

        build = partial(order.ordered, name="median", quantiles=(order.QUARTERS["median"],))
        return self._descriptive(build, None, bounds, Price.of(epsilon, price))

    @boundary
    def quantile(self, q: Any = 0.5, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return one quantile, or several in one charge; as ``DataFrame.dp.quantile`` with this column."""
        return self._descriptive(quantile_query(q), None, bounds, Price.of(epsilon, price))

    @boundary
    def min(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return a value near the smallest; as ``DataFrame.dp.min`` with this column."""
        from pandas_dp.statistics import order

        return self._descriptive(partial(order.ordered, name="min"), None, bounds, Price.of(epsilon, price))

    @boundary
    def max(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return a value near the largest; as ``DataFrame.dp.max`` with this column."""
        from pandas_dp.statistics import order

        return self._descriptive(partial(order.ordered, name="max"), None, bounds, Price.of(epsilon, price))

    @boundary
    def iqr(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the distance between the quartiles; as ``DataFrame.dp.iqr`` with this column."""
        from pandas_dp.statistics import order

        return self._descriptive(partial(order.ordered, name="iqr"), None, bounds, Price.of(epsilon, price))

    @boundary
    def describe(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return pandas' ``describe``; as ``DataFrame.dp.describe`` with this column."""
        from pandas_dp.statistics import aggregate

        return self._descriptive(aggregate.describe, None, bounds, Price.of(epsilon, price))


def quantile_query(q: object) -> Callable[..., Query]:
    """Return how the query of one quantile, or of several, is built."""
    from pandas_dp.statistics import aggregate, order

    quantiles, alone = order.as_quantiles(q)
    return partial(order.ordered, name="quantile", quantiles=quantiles) if alone else partial(aggregate.quantiles, quantiles=quantiles)
