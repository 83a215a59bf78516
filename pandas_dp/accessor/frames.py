"""The ``.dp`` accessors: ``protect``, and the queries of :mod:`pandas_dp.accessor.queries` on frames and Series.

Stateless: ``__init__`` stores the object and does nothing else (pandas 3 builds an accessor at every access, and ``dir(frame)`` builds one, too).
Nothing is computed here.  Every public method is a :func:`pandas_dp.errors.boundary`, which lets an error out without the stack that held the data.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast, overload

import pandas as pd
from pandas.api.extensions import register_dataframe_accessor, register_series_accessor

from pandas_dp.sessions import protect as protecting
from pandas_dp.sessions import session as sessions

from pandas_dp.release import path as release
from pandas_dp.quantities.budget import checked_flag
from pandas_dp.accessor.columns import ColumnQueries
from pandas_dp.errors import ParameterTypeError, boundary
from pandas_dp.release.plan import Price
from pandas_dp.accessor.previews import SeriesPreview
from pandas_dp.accessor.queries import Asked, FrameQueries
from pandas_dp.statistics import basic, privacy_units
from pandas_dp.accessor.views import Tracked

if TYPE_CHECKING:
    from collections.abc import Hashable
    from os import PathLike
    from typing import Unpack

    from pandas_dp.release.plan import PriceOptions
    from pandas_dp.accessor.previews import Bounds
    from pandas_dp.results import NoisyInt

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

    Session = sessions.Session[DPFrame]
else:
    Session = sessions.Session


__all__ = ["DataFrameDP", "SeriesDP", "Session", "dp"]


@register_dataframe_accessor("dp")
class DataFrameDP(FrameQueries, Tracked):
    """Differentially private answers about a protected DataFrame: ``df.dp``."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    if TYPE_CHECKING:

        @property
        def session(self) -> Session:
            """The session, whose ``protect()`` returns frames that have ``.dp``."""

    @boundary
    def protect(
        self,
        epsilon: object = None,
        *,
        delta: object = 0,
        rho: object = None,
        schema: object = None,
        unit: Hashable | None = None,
        max_rows: int | None = None,
        name: str | None = None,
        queries: int | None = None,
        enforce: str = "raise",
        derived: str = "follow",
        ledger: str | PathLike[str] | None = None,
        session: Session | None = None,
    ) -> DPFrame:
        """Attach a privacy budget to this frame.

        Call it once, on the original data, and work with what it returns: filter, select, assign and join as usual.  The
        accountant follows.

        Parameters
        ----------
        epsilon : int, float, str, Decimal, Fraction or NumPy scalar
            The budget, taken exactly as typed: ``0.1`` is 1/10.
        delta : number, optional
            A budget of (ε, δ)-differential privacy: for Gaussian noise, for many small queries, and for ``groupby(keys="private")``.  Far below one over the number
            of people, such as ``1e-6``.
        rho : number, optional
            A budget of ρ-zero-concentrated differential privacy instead of ``epsilon``.
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
        derived : {"follow", "refuse"}
            Answer frames that ordinary pandas made of this one, or only this frame as a whole, its columns, and tracked views.
        ledger : path, optional
            A file that the session lives in: every charge is written there before any data is read, and every answer.  In another process, or after a restart, the same
            call continues it with what is left; with other parameters it is an error.
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
            If the name is taken by a session with other parameters, or one that was closed; or the ledger was written with others.
        LedgerError
            If the ledger is no ledger, damaged, locked, or cannot be written.

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
                delta=delta,
                rho=rho,
                schema=schema,
                unit=unit,
                max_rows=max_rows,
                name=name,
                queries=queries,
                enforce=enforce,
                derived=derived,
                ledger=ledger,
                session=session,
            ),
        )


@register_series_accessor("dp")
class SeriesDP(Asked, ColumnQueries):
    """Differentially private answers about a column of a protected DataFrame: ``df["age"].dp``."""

    _called = "Series.dp"

    def __init__(self, series: pd.Series[Any]) -> None:
        self._frame = series

    @property
    def preview(self) -> SeriesPreview:
        """The same queries, answered by their cost and error only; spends nothing."""
        return SeriesPreview(self._frame)

    @boundary
    def count(self, *, unique: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> NoisyInt:
        """Count the present values, or the units that have one; as ``DataFrame.dp.count`` with this column."""
        return cast(
            "NoisyInt",
            release.answer(
                self._frame, partial(privacy_units.units if checked_flag("unique", unique) else basic.count, column=None), Price.of(epsilon, price)
            ),
        )

    @boundary
    def sum(
        self, *, bounds: Bounds | None = None, per_unit: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]
    ) -> Any:
        """Sum the clamped values, or the units' clamped totals; as ``DataFrame.dp.sum`` with this column."""
        build = basic.total if per_unit is None else partial(privacy_units.unit_totals, per_unit=per_unit)
        return release.answer(self._frame, partial(build, column=None, bounds=bounds), Price.of(epsilon, price))

    @boundary
    def mean(self, *, bounds: Bounds | None = None, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Average the clamped values; as ``DataFrame.dp.mean`` with this column."""
        return release.answer(self._frame, partial(basic.mean, column=None, bounds=bounds), Price.of(epsilon, price))

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
        from pandas_dp.statistics import aggregate  # noqa: PLC0415  (loaded for those who use it)

        return release.answer(
            self._frame,
            partial(aggregate.aggregate, func=func, named=named, bounds=bounds),
            Price.named(epsilon, rho, mechanism, within, level, rows=rows, label=label),
        )


# The methods named like a module of this package shadow it inside the class bodies; this is how protect() reaches it.
_protect = partial(protecting.protect, Session)


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
