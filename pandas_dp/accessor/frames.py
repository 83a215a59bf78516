"""``df.dp``: ``protect``, and the queries of :mod:`pandas_dp.accessor.frame_queries` on a DataFrame.

The accessor has what answers for its frame, and nothing else: pandas 3 builds it at every access, and ``dir(frame)`` builds one, too.  Nothing is computed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pandas as pd
from pandas.api.extensions import register_dataframe_accessor

from pandas_dp.accessor.asking import Answers
from pandas_dp.accessor.frame_queries import FrameQueries
from pandas_dp.errors import boundary
from pandas_dp.sessions import protect as protecting
from pandas_dp.sessions import session as sessions

if TYPE_CHECKING:
    from collections.abc import Hashable
    from os import PathLike

    import pandas as pd

    class DPFrame(pd.DataFrame):
        """For type checkers: a DataFrame that has ``.dp``.  At run time it is a plain DataFrame."""

        @property
        def dp(self) -> DataFrameDP:
            """The accessor."""

    Session = sessions.Session[DPFrame]
else:
    Session = sessions.Session

__all__ = ["DataFrameDP", "Session"]


@register_dataframe_accessor("dp")
class DataFrameDP(FrameQueries):
    """Differentially private answers about a protected DataFrame: ``df.dp``."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._asks = Answers(frame)

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
            of units, such as ``1e-6``.
        rho : number, optional
            A budget of ρ-zero-concentrated differential privacy instead of ``epsilon``.
        schema : pandera DataFrameSchema or DataFrameModel, optional
            Bounds (``ge``, ``le``, ``in_range``, numeric ``isin``), keys, nullability and dtypes are read from it and frozen.
        unit : Hashable, optional
            The column or index level that identifies the privacy unit, such as a person.  Without it each row is one, and the index must be unique.  Rows whose unit is missing do not
            count.
        max_rows : int, optional
            With ``unit``: how many rows of one unit count.  The noise of every answer grows with it.
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
            Draw on this session's budget instead of a new one, for several frames about the same units.

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
            protecting.protect(
                Session,
                self._asks.source,
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
