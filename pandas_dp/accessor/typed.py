"""The accessors with their types, which type checkers cannot see on a DataFrame: ``pandas_dp.dp(df)`` is ``df.dp``."""

from __future__ import annotations

from typing import Any, overload

import pandas as pd

from pandas_dp.accessor.frames import DataFrameDP
from pandas_dp.accessor.series import SeriesDP
from pandas_dp.errors import ParameterTypeError, boundary

__all__ = ["dp"]


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
