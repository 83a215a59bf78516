"""What else ``describe()`` needs: spread, order, tables of moments, and help with bounds, on frames and views.

Signatures and the user's documentation; nothing is computed here but free post-processing.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pandas_dp import registry, release
from pandas_dp.errors import KeysError, boundary
from pandas_dp.keys import group_keys
from pandas_dp.kinds import kind_of
from pandas_dp.plans import Price

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from typing import Unpack

    import pandas as pd

    from pandas_dp.kinds import Kind
    from pandas_dp.plans import PriceOptions
    from pandas_dp.previews import Bounds
    from pandas_dp.public import PublicFrame
    from pandas_dp.statistics.limits import PrivateBounds
    from pandas_dp.statistics.readings import Query

__all__ = ["DescriptiveQueries", "OneColumn", "SpreadAndOrder"]


class SpreadAndOrder:
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
        Root mean square error of the variance of 20 000 integers, uniform in 18..65 with these bounds, at ε = 0.1: 0.75 (0.4 % of it).

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.std("age", epsilon=0.5)
        23.201 ± 0.033
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
        54 (± 31 ranks)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.quantile("charge", [0.25, 0.5, 0.9], epsilon=0.5).round()
        0.25    1739.0
        0.50    2730.0
        0.90    6003.0
        dtype: float64
        """
        from pandas_dp.statistics import aggregate, order

        quantiles, alone = order.as_quantiles(q)
        if alone:
            build = partial(order.ordered, name="quantile", quantiles=quantiles)
            return self._descriptive(build, column, bounds, Price.of(epsilon, price))
        return self._descriptive(partial(aggregate.quantiles, quantiles=quantiles), column, bounds, Price.of(epsilon, price))

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
        """Return pandas' ``describe``: count, mean, std, min, quartiles and max.

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
        count  19995.0  19670.0
        mean      54.5   3248.7
        std       23.2   2184.6
        min        0.0    281.9
        25%       35.0   1730.7
        50%       54.0   2722.0
        75%       73.0   4224.6
        max       96.0   9943.8
        """
        from pandas_dp.statistics import aggregate

        return self._descriptive(aggregate.describe, column, bounds, Price.of(epsilon, price))


class DescriptiveQueries(SpreadAndOrder):
    """The same, and what needs a whole frame: covariances, tables of keys, bounds."""

    _frame: Any

    def _descriptive(self, build: Callable[..., Query], column: Any, bounds: Any, price: Price, **options: Any) -> Any:
        return release.answer(self._frame, partial(build, column=column, bounds=bounds, **options), price)

    @boundary
    def cov(
        self,
        columns: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        ddof: int = 1,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> pd.DataFrame:
        """Return the covariances of columns, over the rows that have a value in all of them.

        Parameters
        ----------
        columns : list, optional
            By default all that have bounds.
        bounds, epsilon, **price
            As for ``mean``; one charge for the whole matrix.
        ddof : int
            The divisor is ``n - ddof``.

        Returns
        -------
        DataFrame
            Symmetric and positive semidefinite.  The ± of every entry is in ``session.releases[-1]``.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: one release of integer cells that are quadratic in the clamped values, of which the sum of absolute values is largest, and known, at the
        bounds; discrete Laplace noise with the whole ε on each.

        Accuracy
        --------
        At ε = 1 and 20 000 rows, errors of correlations are 0.0025 for two columns, 0.005 for three, 0.015 for five (root mean square, values of a standard deviation of an eighth of
        the bounds); they grow as 1 / (ε n).
        """
        from pandas_dp.statistics import matrix

        found: pd.DataFrame = release.answer(
            self._frame, partial(matrix.matrix, name="cov", columns=columns, bounds=bounds, ddof=ddof), Price.of(epsilon, price)
        )
        return found

    @boundary
    def corr(
        self,
        columns: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> pd.DataFrame:
        """Return the correlations of columns: a valid correlation matrix, from the same cells as ``cov``.

        Parameters
        ----------
        columns, bounds, epsilon, **price
            As for ``cov``.

        Returns
        -------
        DataFrame
            Symmetric, positive semidefinite, with ones on the diagonal: the nearest such matrix [1]_ to what the cells say.

        Privacy
        -------
        As ``cov``.

        References
        ----------
        .. [1] N. J. Higham. Computing the nearest correlation matrix, a problem from finance. IMA J. Numer. Anal. 22, 2002, algorithm 3.3.

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.corr(["age", "charge"], bounds={"charge": (0, 10_000)}, epsilon=1).round(2)
                 age  charge
        age     1.00    0.38
        charge  0.38    1.00
        """
        from pandas_dp.statistics import matrix

        found: pd.DataFrame = release.answer(
            self._frame, partial(matrix.matrix, name="corr", columns=columns, bounds=bounds), Price.of(epsilon, price)
        )
        return found

    @boundary
    def nunique(self, column: Hashable, *, keys: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Count how many of the declared keys occur.

        Parameters
        ----------
        column : Hashable
            The column.
        keys : list, optional
            As for ``groupby``; may be left out where the schema declares them.
        epsilon, **price
            As for ``count``.

        Returns
        -------
        NoisyInt

        Privacy
        -------
        ``epsilon``-DP: a unit's rows can make ``max_rows`` keys occur that would not otherwise.
        """
        from pandas_dp.statistics import people

        if isinstance(keys, str):
            raise KeysError.unusable(column, "must be declared: what is counted are those among them that occur")

        def build(frame: PublicFrame) -> Query:
            found = group_keys(frame, column, keys, None)
            return people.occurring(found, f"nunique({column!r} of {len(found)} keys)")

        return release.answer(self._frame, build, Price.of(epsilon, price))

    @boundary
    def bounds(self, column: Hashable, *, remember: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> PrivateBounds:
        """Estimate usable bounds of a column of numbers.

        Parameters
        ----------
        column : Hashable
            The column.
        remember : bool
            Whether the session takes them as this column's declared bounds from now on.
        epsilon, **price
            What this may spend.

        Returns
        -------
        PrivateBounds
            A tuple ``(lower, upper)``, to be given as ``bounds=``; its ``clamped`` is the share of values that it is expected to cut off.

        Privacy
        -------
        ``epsilon``-DP: a histogram over powers of two, of both signs, which no data choose, with discrete Laplace noise; the outermost bins whose noisy counts are above what noise
        alone reaches in one of a hundred histograms.

        Accuracy
        --------
        Within a factor of two, if more than about ``max_rows * 10 / epsilon`` values are near either end; fewer are cut off.

        Examples
        --------
        >>> from pandas_dp.datasets import visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1)
        >>> with unsafe_seeded_noise(1):
        ...     usable = table.dp.bounds("charge", epsilon=0.2)
        >>> usable, usable.clamped < 0.01
        ((128.0, 16384.0), True)
        """
        from pandas_dp.statistics.limits import bounds_of, bounds_query

        known = registry.require(release.base_of(self._frame))
        if remember:
            registry.check_own(known, column)
        kinds: list[Kind | None] = []

        def build(frame: PublicFrame) -> Query:
            query = bounds_query(frame, column)
            kinds.append(kind_of(frame.dtype(column)))
            return query

        release.answer(self._frame, build, Price.of(epsilon, price))
        found = bounds_of(known.session.releases[-1], kinds[0])
        if remember:
            registry.remember(known, column, tuple(found))
        return found

    @boundary
    def clamping_rate(self, column: Hashable, *, bounds: Bounds, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the share of a column's values that a choice of bounds would cut off.

        Parameters
        ----------
        column : Hashable
            A column of numbers.
        bounds : (lower, upper)
            The choice.
        epsilon, **price
            As for ``mean``.

        Returns
        -------
        NoisyFloat
            Between 0 and 1.

        Privacy
        -------
        As the mean of a boolean column.
        """
        from pandas_dp.statistics.limits import outside_query, outside_share

        release.answer(self._frame, partial(outside_query, column=column, bounds=bounds), Price.of(epsilon, price))
        session = registry.require(release.base_of(self._frame)).session
        return outside_share(session.releases[-1]).value


class OneColumn(SpreadAndOrder):
    """The same of a Series, which names no column."""

    _frame: Any

    def _descriptive(self, build: Callable[..., Query], column: Any, bounds: Any, price: Price, **options: Any) -> Any:
        return release.answer(self._frame, partial(build, column=column, bounds=bounds, **options), price)
