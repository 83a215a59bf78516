"""The queries of ``df.dp`` and of tracked views: signatures and the user's documentation.

Nothing is computed here.  Every public method is a :func:`pandas_dp.errors.boundary`, which lets an error out without the stack that held the data.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pandas_dp.sessions import registry

from pandas_dp.release import path as release
from pandas_dp.quantities.budget import checked_flag
from pandas_dp.accessor.columns import DescriptiveQueries
from pandas_dp.errors import DPError, boundary
from pandas_dp.release.plan import Price
from pandas_dp.accessor.previews import DataFramePreview
from pandas_dp.statistics import basic, privacy_units
from pandas_dp.accessor.tables import TableQueries

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from typing import Unpack

    from pandas_dp.release.plan import PriceOptions
    from pandas_dp.accessor.previews import Bounds
    from pandas_dp.results import NoisyInt
    from pandas_dp.sessions.session import Session

__all__ = ["Asked", "FrameQueries"]


class Asked:
    """What frames, Series and views share: their session."""

    _frame: Any

    @property
    @boundary
    def session(self) -> Session[Any]:
        """The session that answers for this frame: ``budget``, ``spent``, ``remaining``, ``ledger``, ``releases``.

        Raises
        ------
        NotProtected
            If the frame belongs to no session of this process.
        """
        found: Session[Any] = registry.require(release.base_of(self._frame)).core.face
        return found

    def __repr__(self) -> str:
        """Return what is left of the budget; nothing here depends on data."""
        try:
            known = registry.find(release.base_of(self._frame))
        except DPError:
            known = None
        return "<.dp: not protected>" if known is None else f"<.dp: {known.core.face!r}>"

    @boundary
    def _repr_html_(self) -> str:
        """Return budget and ledger for notebooks; nothing here depends on data."""
        from pandas_dp.display.html import shown  # noqa: PLC0415  (for notebooks)

        return shown(lambda: registry.require(release.base_of(self._frame)).core)


class FrameQueries(Asked, TableQueries, DescriptiveQueries):
    """count, sum and mean of a frame or view, and their previews."""

    @property
    def preview(self) -> DataFramePreview:
        """The same queries, answered by their cost and error only; spends nothing."""
        return DataFramePreview(self._frame)

    @boundary
    def count(
        self, column: Hashable | None = None, *, unique: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]
    ) -> NoisyInt:
        """Count rows, or a column's present values, or the people who have them.

        Parameters
        ----------
        column : Hashable, optional
            Count its non-missing values instead of rows.  Any dtype.
        unique : bool
            Count units, each once, that have such a row.
        epsilon : number
            What this answer may spend.
        **price
            ``rho``, ``mechanism``, ``within`` and ``level``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.plan.PriceOptions`.

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
        return cast(
            "NoisyInt",
            release.answer(
                self._frame,
                partial(privacy_units.units if checked_flag("unique", unique) else basic.count, column=column),
                Price.of(epsilon, price),
            ),
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
    ) -> Any:
        """Sum a column's values, each clamped to bounds, or each person's total clamped.

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
            ``rho``, ``mechanism``, ``within`` and ``level``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.plan.PriceOptions`.

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
        build = basic.total if per_unit is None else partial(privacy_units.unit_totals, per_unit=per_unit)
        return release.answer(self._frame, partial(build, column=column, bounds=bounds), Price.of(epsilon, price))

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
            ``rho``, ``mechanism``, ``within`` and ``level``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.plan.PriceOptions`.

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
        ``epsilon``-DP when one unit is added or removed: one release of two cells ``(k, m - k)``, where ``k`` is the
        clamped value's height in the ``m`` steps between the bounds.  A record moves their total by ``m``, so that each carries
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
        return release.answer(self._frame, partial(basic.mean, column=column, bounds=bounds), Price.of(epsilon, price))

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
            ``mean``, ``var`` and ``std``.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``mean``.
        epsilon : number
            What this answer may spend; divided equally among the *columns*, whatever the number of functions.
        rho, mechanism, within, level, rows, label
            Other ways to name the price, and a name of the answer: see :class:`pandas_dp.release.plan.PriceOptions`.
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
        ``epsilon``-DP when one unit is added or removed: for each column one release of cells, from which all its functions are read.  With a
        variance they are ``(k**2, 2*k*(m-k), (m-k)**2)``, of mass ``m**2`` for each record, where ``k`` is the clamped value's height in the ``m`` steps between the
        bounds; else the two of a mean.  A lone sum or count has its own cell.

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
        from pandas_dp.statistics import aggregate  # noqa: PLC0415  (loaded for those who use it)

        return release.answer(
            self._frame,
            partial(aggregate.aggregate, func=func, named=named, bounds=bounds),
            Price.named(epsilon, rho, mechanism, within, level, rows=rows, label=label),
        )
