"""The ``.dp`` accessors: signatures and the user's documentation.

Stateless: ``__init__`` stores the object and does nothing else (pandas 3 builds an accessor at every access, and ``dir(frame)`` builds one, too).
Nothing is computed here.  Every public method is a :func:`pandas_dp.errors.boundary`, which lets an error out without the stack that held the data.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast, overload

import pandas as pd
from pandas.api.extensions import register_dataframe_accessor, register_series_accessor

from pandas_dp import registry, release, session
from pandas_dp.errors import DPError, ParameterTypeError, boundary
from pandas_dp.groupby import TableQueries
from pandas_dp.previews import DataFramePreview, SeriesPreview
from pandas_dp.statistics import basic

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from pandas_dp.previews import Bounds
    from pandas_dp.results import NoisyInt
    from pandas_dp.session import Session

    class DPFrame(pd.DataFrame):
        """For type checkers: a DataFrame that has ``.dp``.  At run time it is a plain DataFrame."""

        @property
        def dp(self) -> DataFrameDP:
            """The accessor."""

    class DPSeries(pd.Series[Any]):
        """For type checkers: a Series that has ``.dp``.  At run time it is a plain Series."""

        @property
        def dp(self) -> SeriesDP:
            """The accessor."""


__all__ = ["DataFrameDP", "SeriesDP", "dp"]


class _Accessor:
    """What both accessors share."""

    _frame: Any

    @property
    @boundary
    def session(self) -> Session:
        """The session that answers for this frame: ``budget``, ``spent``, ``remaining``, ``ledger``, ``releases``.

        Raises
        ------
        NotProtected
            If the frame belongs to no session of this process.
        """
        return registry.require(self._frame).session

    def __repr__(self) -> str:
        """Return what is left of the budget; nothing here depends on data."""
        try:
            known = registry.find(self._frame)
        except DPError:
            known = None
        return "<.dp: not protected>" if known is None else f"<.dp: {known.session!r}>"


@register_dataframe_accessor("dp")
class DataFrameDP(_Accessor, TableQueries):
    """Differentially private answers about a protected DataFrame: ``df.dp``."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    @boundary
    def protect(
        self,
        epsilon: object = None,
        *,
        schema: object = None,
        unit: Hashable | None = None,
        max_rows: int | None = None,
        name: str | None = None,
        queries: int | None = None,
        enforce: str = "raise",
        session: Session | None = None,
    ) -> DPFrame:
        """Attach a privacy budget to this frame.

        Call it once, on the original data, and work with what it returns: filter, select, assign and join as usual.  The
        accountant follows.

        Parameters
        ----------
        epsilon : int, float, str, Decimal, Fraction or NumPy scalar
            The budget, taken exactly as typed: ``0.1`` is 1/10.
        schema : pandera DataFrameSchema or DataFrameModel, optional
            Bounds (``ge``, ``le``, ``in_range``, numeric ``isin``), keys, nullability and dtypes are read from it and frozen.
        unit : Hashable, optional
            The column or index level that identifies the person.  Without it each row is one, and the index must be unique.  Rows whose unit is missing do not
            count.
        max_rows : int, optional
            With ``unit``: how many rows of one person count.  The noise of every answer grows with it.
        name : str, optional
            Opens a named session.  Calling again with the same parameters, in the same process, continues it: a notebook cell that runs again
            does not refill the budget.
        queries : int, optional
            The planned number of queries: one that names no ε gets ``epsilon / queries``.
        enforce : {"raise", "clamp"}
            Validate the frame against the schema now, or leave values to the clamping that every query does anyway.
        session : Session, optional
            Draw on this session's budget instead of a new one, for several frames about the same people.

        Returns
        -------
        DataFrame
            A shallow copy.  An unnamed index is now called by the frame's handle, such as ``visits#3f2a90c1``: leave it there.

        Raises
        ------
        AlreadyProtected
            If a session protects this frame already.
        ParameterError, ParameterTypeError
            For a budget or another parameter that cannot be used.
        LineageError
            Without ``unit``, if the index has repeated labels.
        SchemaError, SchemaViolation
            If the schema cannot be used, or the frame does not satisfy it; neither shows a value.
        SessionConflict, SessionClosed
            If the name is taken by a session with other parameters, or one that was closed.

        Warns
        -----
        LargeBudgetWarning
            For a budget above ε = 20, whatever the data.

        Notes
        -----
        Validation is a courtesy to the data's owner: its outcome depends on the data and is not part of the private answers.

        Examples
        --------
        >>> import pandas as pd, pandas_dp
        >>> visits = pd.DataFrame({"age": [34, 51, 67]}).dp.protect(epsilon=1.0)
        >>> visits.dp.session.remaining
        ε=1
        """
        return cast(
            "DPFrame",
            _protect(
                self._frame,
                epsilon,
                schema=schema,
                unit=unit,
                max_rows=max_rows,
                name=name,
                queries=queries,
                enforce=enforce,
                session=session,
            ),
        )

    @property
    def preview(self) -> DataFramePreview:
        """The same queries, answered by their cost and error only; spends nothing."""
        return DataFramePreview(self._frame)

    @boundary
    def count(self, column: Hashable | None = None, *, epsilon: object = None) -> NoisyInt:
        """Count rows, or a column's present values.

        Parameters
        ----------
        column : Hashable, optional
            Count its non-missing values instead of rows.  Any dtype.
        epsilon : number
            What this answer may spend.

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
        ``max_rows / epsilon`` on integers [1]_.  The column's name is public.

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
        return cast("NoisyInt", release.answer(self._frame, partial(basic.count, column=column), epsilon))

    @boundary
    def sum(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
    ) -> Any:
        """Sum a column's values, each clamped to bounds.

        Parameters
        ----------
        column : Hashable or list, optional
            One column, several, or by default all that have bounds.
        bounds : (lower, upper), or dict of column to (lower, upper)
            May be left out where the schema declares them, and only narrow those.  Never read off the data.
        epsilon : number
            What this answer may spend; divided equally if there are several columns.

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
        ``max_rows * max(abs(lower), abs(upper)) / epsilon`` [1]_.  Column name and bounds are public.

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
        return release.answer(self._frame, partial(basic.total, column=column, bounds=bounds), epsilon)

    @boundary
    def mean(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
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
        return release.answer(self._frame, partial(basic.mean, column=column, bounds=bounds), epsilon)


@register_series_accessor("dp")
class SeriesDP(_Accessor):
    """Differentially private answers about a column of a protected DataFrame: ``df["age"].dp``."""

    def __init__(self, series: pd.Series[Any]) -> None:
        self._frame = series

    @property
    def preview(self) -> SeriesPreview:
        """The same queries, answered by their cost and error only; spends nothing."""
        return SeriesPreview(self._frame)

    @boundary
    def count(self, *, epsilon: object = None) -> NoisyInt:
        """Count the present values; as ``DataFrame.dp.count`` with this column."""
        return cast("NoisyInt", release.answer(self._frame, partial(basic.count, column=None), epsilon))

    @boundary
    def sum(self, *, bounds: Bounds | None = None, epsilon: object = None) -> Any:
        """Sum the clamped values; as ``DataFrame.dp.sum`` with this column."""
        return release.answer(self._frame, partial(basic.total, column=None, bounds=bounds), epsilon)

    @boundary
    def mean(self, *, bounds: Bounds | None = None, epsilon: object = None) -> Any:
        """Average the clamped values; as ``DataFrame.dp.mean`` with this column."""
        return release.answer(self._frame, partial(basic.mean, column=None, bounds=bounds), epsilon)


# The methods named like a module of this package shadow it inside the class bodies; this is how protect() reaches it.
_protect = session.protect


@overload
def dp(data: pd.DataFrame) -> DataFrameDP: ...
@overload
def dp(data: pd.Series[Any]) -> SeriesDP: ...


@boundary
def dp(data: object) -> DataFrameDP | SeriesDP:
    """Return ``data.dp`` with its type, which type checkers cannot see on a DataFrame.

    Parameters
    ----------
    data : DataFrame or Series
        Protected or not.

    Examples
    --------
    >>> import pandas as pd, pandas_dp
    >>> visits = pandas_dp.dp(pd.DataFrame({"age": [34, 51]})).protect(epsilon=1)
    >>> pandas_dp.dp(visits).session.remaining
    ε=1
    """
    if isinstance(data, pd.DataFrame):
        return DataFrameDP(data)
    if isinstance(data, pd.Series):
        return SeriesDP(data)
    raise ParameterTypeError.wrong_kind("data", "a pandas DataFrame or Series", type(data))
