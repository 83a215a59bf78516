"""What can be asked of a frame: every query of ``df.dp`` and of tracked views, its signature and its documentation.

A query is a question (:mod:`pandas_dp.accessor.questions`), a price, and what answers.  Nothing is computed here.  Every public method is a
:func:`pandas_dp.errors.boundary`, which lets an error out without the stack that held the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pandas_dp.accessor import questions, tables
from pandas_dp.accessor.asking import Answers, core_of, session_of, text_of
from pandas_dp.accessor.choosing_bounds import share_outside, usable_bounds
from pandas_dp.accessor.groupby import GroupByDP
from pandas_dp.accessor.previews import DataFramePreview
from pandas_dp.accessor.questions import Grouping
from pandas_dp.accessor.views import View
from pandas_dp.display.completion import Guided
from pandas_dp.errors import boundary
from pandas_dp.quantities.budget import checked_count
from pandas_dp.release.price import Price

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from typing import Unpack

    import pandas as pd

    from pandas_dp.accessor.questions import Bounds
    from pandas_dp.release.price import PriceOptions
    from pandas_dp.results import NoisyInt, PrivateBounds
    from pandas_dp.sessions.session import Session

__all__ = ["FrameQueries", "ViewDP"]


class FrameQueries(Guided):
    """A frame that can be asked: a protected DataFrame, or a tracked view of one."""

    def __init__(self, source: Any) -> None:
        self._asks = Answers(source)

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
    def preview(self) -> DataFramePreview:
        """The same queries, answered by their cost and error only; spends nothing."""
        return DataFramePreview(self._asks.source)

    @boundary
    def groupby(
        self, by: Any, *, keys: Any = None, other: Hashable | None = None, max_groups: int | None = None, delta: object = None
    ) -> GroupByDP:
        """Group by columns with public keys, or with those that enough units have, as in pandas.

        Parameters
        ----------
        by : Hashable, pd.Grouper or list
            One column or several.  A ``pd.Grouper(key=..., freq=...)`` makes calendar buckets of a column of dates.
        keys : list, dict of lists, MultiIndex, DataFrame or "private", optional
            The groups.  May be left out where the schema declares them with ``isin``, and for booleans.  Combinations are taken as they are; lists for
            several columns are multiplied.  For a Grouper the first and the last date, ``("2024-01-01", "2024-12-31")``.  ``"private"`` shows the keys that enough
            units have, in a session with δ.
        other : Hashable, optional
            A label under which undeclared and missing values are counted; without it they fall into no group.
        max_groups : int, optional
            With a named unit: how many groups of a unit count, the first it has; rows of others do not.
        delta : number, optional
            With private keys: what the answer may spend of the session's δ; by default, of the half that is for keys, its share among the planned ``queries``, or a tenth.

        Returns
        -------
        GroupByDP
            With ``size`` and the statistics of ``df.dp``; select columns as in pandas.

        Privacy
        -------
        Keys are never taken from the data, nor from the categories of a Categorical, which are data: which keys occur is private.  With ``keys="private"`` half of ε
        (all of it, if what is asked is that number) goes into noisy numbers of units of every key that occurs, and those keys are shown whose number reaches a
        threshold: (ε, δ)-DP, for a unit's own keys stay hidden but for a probability of δ [1]_, [2]_, computed exactly from the discrete Laplace distribution.

        Accuracy
        --------
        With private keys, a key shows if it has about ``max_groups / epsilon * log(max_groups / delta)`` units, with half of ε (58 at ε = 0.5, δ = 1e-6 and one group).

        References
        ----------
        .. [1] A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas. Releasing search queries and clicks privately. WWW 2009, theorem 1.
        .. [2] D. Desfontaines, J. Voss, B. Gipson, C. Mandayam. Differentially private partition selection. PoPETs 2022, section 2.

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.groupby("ward")["charge"].mean(epsilon=0.5).round(1)
        ward
        north    3273.7
        south    3318.1
        east     3293.0
        west     3220.4
        Name: charge, dtype: float64
        """
        return GroupByDP(self._asks, Grouping.of(by, keys, other, max_groups, delta))

    @boundary
    def where(self, condition: str) -> ViewDP:
        """Keep the rows for which a condition holds.

        Parameters
        ----------
        condition : str
            A row-local expression, such as ``"age >= 65 and ward in ['north', 'south']"``.

        Returns
        -------
        ViewDP
            With the queries of ``df.dp``; nothing is read or charged before one is asked.

        Raises
        ------
        ExpressionError
            If the text is outside the grammar, naming the part; or no condition.

        Notes
        -----
        The grammar: columns (others than plain names in backticks), constants, ``+ - * / // % **``, comparisons, ``in`` a literal list, ``and or not & | ~``, and
        abs, log, log1p, exp, sqrt, clip, round, floor, where, isna, year, month, day, hour, dayofweek.  A comparison with a missing value is false, ``!=`` and
        ``not in`` true, as in pandas.

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.where("age >= 65 and ward in ['north', 'south']").mean("charge", epsilon=0.5)
        3937 ± 61
        """
        return ViewDP(View.of(self._asks.source).where(condition))

    @boundary
    def assign(self, **columns: str) -> ViewDP:
        """Add columns computed row by row; their bounds follow from those of their inputs.

        Parameters
        ----------
        **columns : str
            Row-local expressions, such as ``monthly="charge / 12", senior="age >= 65"``; later ones may use earlier ones.

        Returns
        -------
        ViewDP
            With the queries of ``df.dp``.

        Raises
        ------
        ExpressionError
            If a text is outside the grammar, naming the part.

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.assign(monthly="charge / 12").mean("monthly", epsilon=0.5)
        272.7 ± 1.2
        """
        return ViewDP(View.of(self._asks.source).assign(columns))

    @boundary
    def select(self, columns: list[Hashable]) -> ViewDP:
        """Keep these columns only, for queries that name none.

        Parameters
        ----------
        columns : list
            Their names.
        """
        return ViewDP(View.of(self._asks.source).select(columns))

    # One number of a column, or of each of several.

    @boundary
    def count(
        self, column: Hashable | None = None, *, unique: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]
    ) -> NoisyInt:
        """Count rows, or a column's present values, or the units that have them.

        Parameters
        ----------
        column : Hashable, optional
            Count its non-missing values instead of rows.  Any dtype.
        unique : bool
            Count units, each once, that have such a row.
        epsilon : number
            What this answer may spend.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        NoisyInt
            An ``int`` that carries its ±.  Unbiased, hence possibly negative for small counts.

        Raises
        ------
        BudgetExhausted
            If more is asked than is left; nothing is spent.
        NotProtected, LineageError
            If the frame, or its rows, cannot be traced to a protected one.
        ColumnError, ParameterError
            For a wrong column or ε.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: one cell, discrete Laplace noise of scale
        ``max_rows / epsilon`` on integers [1]_, with ``unique`` of scale ``1 / epsilon``.  The column's name is public.

        Accuracy
        --------
        95 % of answers lie within ``3 * max_rows / epsilon`` of the truth (30 at ε = 0.1).

        References
        ----------
        .. [1] A. Ghosh, T. Roughgarden, M. Sundararajan. Universally utility-maximizing privacy mechanisms. STOC 2009.

        Examples
        --------
        >>> import pandas as pd, pandas_dp
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> visits = pd.DataFrame({"age": range(100)}).dp.protect(epsilon=1.0)
        >>> with unsafe_seeded_noise(2):
        ...     visits.dp.count(epsilon=0.5)
        99 ± 6
        """
        counted: NoisyInt = self._asks.run(questions.count(column, unique=unique), Price.of(epsilon, price))
        return counted

    @boundary
    def sum(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        per_unit: Bounds | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Sum a column's values, each clamped to bounds, or each unit's total clamped.

        Parameters
        ----------
        column : Hashable or list, optional
            One column, several, or by default all that have bounds.
        bounds : (lower, upper), or dict of column to (lower, upper)
            May be left out where the schema declares them, and only narrow those.  Never read off the data.
        per_unit : (lower, upper), optional
            Clamp the total of each unit's rows (of the ``max_rows`` that count), for one column.  ``bounds`` are then not needed.
        epsilon : number
            What this answer may spend; divided equally if there are several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        NoisyInt, NoisyFloat, Timedelta or Series
            ``int`` for integer and boolean columns; a Series if several columns were asked for.

        Raises
        ------
        BoundsError
            Without bounds, or for reversed, equal, infinite, unrepresentable bounds, or wider ones than the schema's.
        UnsupportedDtype
            For text, categories, dates (which cannot be added up) and the like.
        BudgetExhausted
            If more is asked than is left; nothing is spent.
        NotProtected, LineageError
            If the frame, or its rows, cannot be traced to a protected one.
        ColumnError, ParameterError
            For a wrong column or ε.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: one signed cell on an integer grid, discrete Laplace noise of scale
        ``max_rows * max(abs(lower), abs(upper)) / epsilon`` [1]_.  With ``per_unit`` the cell holds one clamped total for each unit, and
        ``max_rows`` drops out of the scale unless the rows' own bounds make it smaller.  Column name and bounds are public.

        Accuracy
        --------
        95 % of answers lie within ``3 * max_rows * max(abs(lower), abs(upper)) / epsilon`` of the sum of the clamped
        values.  Missing values contribute nothing, infinite ones are clamped.

        References
        ----------
        .. [1] C. Dwork, A. Roth. The algorithmic foundations of differential privacy. 2014, definitions 3.1 and 3.3, theorem 3.6; on integers,
           S. Casacuberta, M. Shoemate, S. Vadhan, C. Wagaman. Widespread underestimation of sensitivity. CCS 2022.

        Examples
        --------
        >>> import pandas as pd, pandas_dp
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> visits = pd.DataFrame({"age": range(100)}).dp.protect(epsilon=1.0)
        >>> with unsafe_seeded_noise(2):
        ...     visits.dp.sum("age", bounds=(0, 110), epsilon=0.5)
        4925 ± 659
        """
        return self._asks.run(questions.total(column, bounds, per_unit), Price.of(epsilon, price))

    @boundary
    def mean(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Average a column's values, each clamped to bounds.

        Parameters
        ----------
        column : Hashable or list, optional
            One column, several, or by default all that have bounds.
        bounds : (lower, upper), or dict of column to (lower, upper)
            May be left out where the schema declares them, and only narrow those.  Never read off the data.
        epsilon : number
            What this answer may spend; divided equally if there are several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        NoisyFloat, Timestamp, Timedelta or Series
            Always inside the bounds.  A Series if several columns were asked for.  The ± of a Timestamp or Timedelta is in ``session.releases[-1]``.

        Raises
        ------
        BoundsError
            Without bounds, or for reversed, equal, infinite, unrepresentable bounds, or wider ones than the schema's.
        UnsupportedDtype
            For text, categories and the like.
        BudgetExhausted
            If more is asked than is left; nothing is spent.
        NotProtected, LineageError
            If the frame, or its rows, cannot be traced to a protected one.
        ColumnError, ParameterError
            For a wrong column or ε.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: one release of two cells ``(k, m - k)``, where ``k`` of the ``m`` steps of the grid between the bounds are below the clamped value.
        A record moves their total by ``m``, so that each carries
        discrete Laplace noise of scale ``max_rows * m / epsilon`` and the whole ε serves numerator and denominator.  The number of rows stays private.

        Accuracy
        --------
        With ``n`` present values, 95 % of answers lie within about ``2.05 * max_rows * (upper - lower) / (epsilon * n)`` of the
        clamped mean if it sits mid-range, ``3.0 *`` at either end.  Root mean square error at ε = 0.1, 20 000 integers in 18..65 with these
        bounds: 0.0235.

        Examples
        --------
        >>> import pandas as pd, pandas_dp
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> visits = pd.DataFrame({"age": range(100)}).dp.protect(epsilon=1.0)
        >>> with unsafe_seeded_noise(2):
        ...     visits.dp.mean("age", bounds=(0, 110), epsilon=0.5)
        48.9 ± 4.6
        """
        return self._asks.run(questions.mean(column, bounds), Price.of(epsilon, price))

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
            The divisor is ``n - ddof``, as in pandas.

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
        ``epsilon``-DP when one unit is added or removed: one release of three cells ``(k**2, 2*k*(m-k), (m-k)**2)``, of mass ``m**2`` for each record, where ``k`` of the ``m`` steps of the grid between the bounds are below the clamped value;
        discrete Laplace noise of scale ``max_rows * m**2 / epsilon`` on each.

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
        return self._asks.run(questions.spread("var", column, bounds, ddof), Price.of(epsilon, price))

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
        return self._asks.run(questions.spread("std", column, bounds, ddof), Price.of(epsilon, price))

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
        return self._asks.run(questions.median(column, bounds), Price.of(epsilon, price))

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
        0.25    1743.0
        0.50    2570.0
        0.90    6508.0
        dtype: float64
        """
        return self._asks.run(questions.quantile(q, column, bounds), Price.of(epsilon, price))

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
        return self._asks.run(questions.extreme("min", column, bounds), Price.of(epsilon, price))

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
        return self._asks.run(questions.extreme("max", column, bounds), Price.of(epsilon, price))

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
        return self._asks.run(questions.iqr(column, bounds), Price.of(epsilon, price))

    # Several statistics together.

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
    ) -> Any:
        """Ask several statistics of several columns in one charge, as pandas' ``agg``.

        Parameters
        ----------
        func : str, list or dict
            ``"mean"``, ``["mean", "std"]`` (of all columns that have bounds) or ``{"charge": ["mean", "sum"], "age": "mean"}``; of ``count``, ``sum``,
            ``mean``, ``var``, ``std``, ``median``, ``min``, ``max`` and ``iqr``.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``mean``.
        epsilon : number
            What this answer may spend; divided equally among the *columns*, whatever the number of functions.
        rho, mechanism, within, level, rows, label
            Other ways to name the price, and a name of the answer: see :class:`pandas_dp.release.price.PriceOptions`.
        **named : (column, function)
            Named aggregations, ``average=("charge", "mean")``, instead of ``func``.

        Returns
        -------
        Series or DataFrame
            As pandas would lay it out: functions down, columns across.  ``session.releases[-1].interval()`` has the same shape.

        Raises
        ------
        AggregationError
            For an unknown function, or a form that pandas does not have.
        BoundsError, UnsupportedDtype, ColumnError, ParameterError
            As for ``mean``.
        BudgetExhausted
            If more is asked than is left; nothing is spent.
        NotProtected, LineageError
            If the frame, or its rows, cannot be traced to a protected one.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: for each column one release of cells, from which its
        counts, sums, means and spreads are read.  With a variance they are ``(k**2, 2*k*(m-k), (m-k)**2)``, of mass ``m**2`` for each record, where ``k`` of the ``m`` steps of the grid between the bounds are below the clamped value;
        else the two of a mean.  A lone sum or count has its own cell.  Quartiles, chosen together as by ``quantile``, and either extreme are parts of their
        own, among which the column's ε is divided equally.

        Accuracy
        --------
        A count that comes with a mean has 1.3 times the ± of a lone one at 95 %, with a variance 1.6 times; a mean with a variance has 1.1 times the ± of a lone
        mean at the ends of its bounds.  Root mean square error of a standard deviation at ε = 0.1, 20 000 integers in 18..65 with these bounds: 0.03.

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.agg({"age": ["mean", "std"], "charge": "mean"}, epsilon=0.5).round(1)
               age  charge
        mean  54.5  3253.1
        std   23.2     NaN
        """
        return self._asks.run(
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
        count  20012.0  19706.0
        mean      54.5   3211.1
        std       23.2   1767.3
        min        3.0    615.4
        25%       37.0   1740.0
        50%       54.0   2570.4
        75%       71.0   4161.1
        max      104.0   9369.6
        """
        return self._asks.run(questions.describe(column, bounds), Price.of(epsilon, price))

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
            The divisor is ``n - ddof``, as in pandas.

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
        found: pd.DataFrame = self._asks.run(questions.covariance(columns, bounds, ddof), Price.of(epsilon, price))
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
        age     1.00    0.27
        charge  0.27    1.00
        """
        found: pd.DataFrame = self._asks.run(questions.correlation(columns, bounds), Price.of(epsilon, price))
        return found

    # Counts of keys.

    @boundary
    def value_counts(
        self,
        column: Hashable,
        *,
        keys: Any = None,
        other: Hashable | None = None,
        normalize: bool = False,
        sort: bool = True,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> pd.Series[Any]:
        """Count the rows of each declared key.

        Parameters
        ----------
        column : Hashable
            The column.
        keys, other
            As for ``groupby``.
        normalize : bool
            Return shares of the noisy total, negative counts taken for 0: free post-processing.
        sort : bool
            Sort by the noisy counts, largest first: free as well.  Else declared order.
        epsilon : number
            What this answer may spend.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series
            Called ``count`` or ``proportion``, as in pandas.

        Privacy
        -------
        As ``groupby(column).size()``.
        """
        counts = self._asks.run(questions.key_counts(column, keys, other), Price.of(epsilon, price))
        return tables.value_counts(counts, normalize=normalize, sort=sort)

    @boundary
    def mode(self, column: Hashable, *, keys: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Return the key that most rows have, by noisy counts.

        Parameters
        ----------
        column, keys, epsilon, **price
            As for ``value_counts``.

        Returns
        -------
        label
            The key with the largest noisy count: free post-processing of ``value_counts``, whose counts are in ``session.releases[-1]``.  None where keys are private and none of them
            shows.

        Privacy
        -------
        As ``value_counts``: the whole ε is on every count, so that choosing the largest costs nothing more.
        """
        return tables.mode(self._asks.run(questions.key_counts(column, keys), Price.of(epsilon, price)))

    @boundary
    def nlargest(
        self, n: int, column: Hashable, *, keys: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]
    ) -> pd.Series[Any]:
        """Return the ``n`` keys with the largest noisy counts; free post-processing of ``value_counts``."""
        size = checked_count("n", n)
        return tables.value_counts(self._asks.run(questions.key_counts(column, keys), Price.of(epsilon, price))).head(size)

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
        return self._asks.run(questions.occurring_keys(column, keys, self._asks.unit), Price.of(epsilon, price))

    @boundary
    def crosstab(
        self,
        index: Hashable,
        columns: Hashable,
        *,
        keys: Any = None,
        margins: bool = False,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> pd.DataFrame:
        """Count the rows of each pair of declared keys.

        Parameters
        ----------
        index, columns : Hashable
            The columns whose keys become rows and columns of the table.
        keys : dict of lists, optional
            As for ``groupby``.
        margins : bool
            Add sums of the noisy cells, called ``All``: free post-processing, with the noise of all the cells they add.
        epsilon : number
            What this answer may spend.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        DataFrame
            Integers.

        Privacy
        -------
        As ``groupby([index, columns]).size()``.
        """
        tables.check_crosstab(index, columns, keys, margins=margins)
        counts = self._asks.run(questions.key_counts([index, columns], keys), Price.of(epsilon, price))
        return tables.crosstab(counts, margins=margins)

    @boundary
    def histogram(
        self, column: Hashable, *, bins: Any, right: bool = True, epsilon: object = None, **price: Unpack[PriceOptions]
    ) -> pd.Series[Any]:
        """Count the values of a column between public edges.

        Parameters
        ----------
        column : Hashable
            A column of numbers.
        bins : list of edges, or int
            Ascending edges; or a number of equal bins between the column's declared bounds.
        right : bool
            Whether an edge belongs to the interval below it, as in ``pd.cut``.  A value on the first edge then belongs to none; with ``right=False`` it does.
        epsilon : number
            What this answer may spend.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series
            One count per interval, with the intervals as index.  Values outside all of them, and missing ones, are counted nowhere.

        Privacy
        -------
        As ``groupby`` with the intervals as keys.
        """
        counts: pd.Series[Any] = self._asks.run(questions.histogram(column, bins, right=right), Price.of(epsilon, price))
        return counts.rename("count")

    # Help with bounds.

    @boundary
    def bounds(self, column: Hashable, *, remember: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> PrivateBounds:
        """Estimate usable bounds of a column of numbers.

        Parameters
        ----------
        column : Hashable
            The column.
        remember : bool
            Whether queries that give no bounds for this column, where the schema declares none, take these from now on.
        epsilon, **price
            As for ``count``.

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
        ((256.0, 16384.0), True)
        """
        return usable_bounds(self._asks, column, Price.of(epsilon, price), remember=remember)

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
        return share_outside(self._asks, column, bounds, Price.of(epsilon, price))


class ViewDP(FrameQueries):
    """A tracked view: the queries of ``df.dp``, about rows and columns that were chosen by checked, row-local expressions."""

    _called = "a tracked view"

    def __repr__(self) -> str:
        """Return the steps' number; nothing here depends on data."""
        return f"<.dp view of {session_of(self._asks.source)!r}>"

    @boundary
    def _repr_html_(self) -> str:
        """Return steps, budget and ledger for notebooks; nothing here depends on data."""
        from pandas_dp.display.html import shown  # noqa: PLC0415  (for notebooks)

        return shown(lambda: core_of(self._asks.source), f"df.dp.{self._asks.source.text}")
