"""``df.dp.groupby(...)``: grouped answers over public keys, and the tables made of them.

Nothing is computed here but free post-processing of what was released: sorting, shares, margins.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from pandas_dp import registry, release
from pandas_dp.errors import KeysError, boundary
from pandas_dp.keys import bin_keys, group_keys
from pandas_dp.statistics import basic

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from pandas_dp.previews import Bounds
    from pandas_dp.public import PublicFrame
    from pandas_dp.statistics.readings import Query

__all__ = ["GroupByDP", "TableQueries"]


class GroupByDP:
    """Grouped answers: ``df.dp.groupby("ward").mean("charge", epsilon=0.1)``.

    One ε serves all groups, for a person is in one of them (or in ``max_rows`` of them at most, and the noise says so).  Every declared
    group is in the answer, in declared order; one that does not occur is noise around zero.  Answers are plain Series and DataFrames; their
    ± is in ``df.dp.session.releases[-1]``.
    """

    def __init__(self, frame: pd.DataFrame, by: Any, keys: Any, other: Hashable | None, column: Any = None) -> None:
        self._frame = frame
        self._by = by
        self._keys = keys
        self._other = other
        self._column = column

    def __getitem__(self, column: Any) -> GroupByDP:
        """Select a column, or a list of columns, as in pandas."""
        return GroupByDP(self._frame, self._by, self._keys, self._other, column)

    def __repr__(self) -> str:
        """Return what is grouped by; nothing here depends on data."""
        by = ", ".join(map(repr, self._by)) if isinstance(self._by, list) else repr(self._by)
        return f"<.dp.groupby({by})>"

    @boundary
    def size(self, *, epsilon: object = None) -> pd.Series[Any]:
        """Count the rows of each group.

        Parameters
        ----------
        epsilon : number
            What this answer may spend, for all groups together.

        Returns
        -------
        Series
            One integer per declared group; unbiased, hence possibly negative.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: one cell per group, of which a row is in one; discrete Laplace noise of scale
        ``max_rows / epsilon`` on each.  The keys are public, and so is everything about the answer's shape.

        Accuracy
        --------
        95 % of each group's answers lie within ``3 * max_rows / epsilon``, whatever the number of groups.

        Examples
        --------
        >>> import pandas as pd, pandas_dp
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> df = pd.DataFrame({"ward": ["north"] * 60 + ["south"] * 40}).dp.protect(epsilon=1)
        >>> with unsafe_seeded_noise(1):
        ...     df.dp.groupby("ward", keys=["north", "south", "east"]).size(epsilon=0.5)
        ward
        north    59
        south    42
        east      4
        dtype: int64
        """
        counts: pd.Series[Any] = self._ask(partial(basic.count, column=None), epsilon)
        return counts

    @boundary
    def count(self, column: Any = None, *, epsilon: object = None) -> Any:
        """Count the present values of a column in each group; without a column, rows.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected one.
        epsilon : number
            What this answer may spend, for all groups and columns together.

        Returns
        -------
        Series or DataFrame
            A DataFrame if several columns were asked for.
        """
        chosen = self._column if column is None else column
        return self._ask(partial(basic.count, column=chosen), epsilon, name=chosen)

    @boundary
    def sum(self, column: Any = None, *, bounds: Bounds | Mapping[Hashable, Bounds] | None = None, epsilon: object = None) -> Any:
        """Sum the clamped values of each group; as ``df.dp.sum``, for every group with the whole ε.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.sum``.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.

        Returns
        -------
        Series or DataFrame
            A Series called by the column; a DataFrame if several columns were asked for.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: a row's value goes to the cell of its own group, so that the totals of all groups together
        move by at most ``max_rows * max(abs(lower), abs(upper))``.
        """
        return self._ask_columns(basic.total, column, bounds, epsilon)

    @boundary
    def mean(self, column: Any = None, *, bounds: Bounds | Mapping[Hashable, Bounds] | None = None, epsilon: object = None) -> Any:
        """Average the clamped values of each group; as ``df.dp.mean``, for every group with the whole ε.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.mean``.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.

        Returns
        -------
        Series or DataFrame
            Inside the bounds; a group with few rows is noise between them, as its ± says.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: two cells per group, as for ``df.dp.mean``; a row moves those of its own group alone.
        """
        return self._ask_columns(basic.mean, column, bounds, epsilon)

    def _ask_columns(self, build: Callable[..., Query], column: Any, bounds: Any, epsilon: object) -> Any:
        chosen = self._column if column is None else column
        return self._ask(partial(build, column=chosen, bounds=bounds), epsilon, name=chosen)

    def _ask(self, build: Callable[[PublicFrame], Query], epsilon: object, name: Any = None) -> Any:
        _refuse_private(self._by, self._keys)

        def grouped(frame: PublicFrame) -> Query:
            keys = group_keys(frame, self._by, self._keys, self._other)
            return basic.grouped(build(frame.without(keys.columns)), keys, ", ".join(map(repr, keys.columns)))

        answer = release.answer(self._frame, grouped, epsilon)
        return answer.rename(name) if isinstance(answer, pd.Series) and not isinstance(name, list) else answer


def _refuse_private(columns: Any, keys: Any) -> None:
    """Refuse keys or edges that are columns of a protected frame, or labels of one: which of them occur is private."""
    for part in keys.values() if isinstance(keys, dict) else [keys]:
        labels = pd.DataFrame(index=part) if isinstance(part, pd.Index) else part
        if isinstance(labels, (pd.Series, pd.DataFrame)) and registry.find(labels) is not None:
            raise KeysError.unusable(columns, "are taken from a protected frame: list them from public knowledge")


class TableQueries:
    """What ``df.dp`` answers by groups."""

    _frame: Any

    @boundary
    def groupby(self, by: Any, *, keys: Any = None, other: Hashable | None = None) -> GroupByDP:
        """Group by columns with public keys, as in pandas.

        Parameters
        ----------
        by : Hashable or list
            One column or several.
        keys : list, dict of lists, MultiIndex or DataFrame, optional
            The groups.  May be left out where the schema declares them with ``isin``, and for booleans.  Combinations are taken as they are; lists for
            several columns are multiplied.
        other : Hashable, optional
            A label under which undeclared and missing values are counted; without it they fall into no group.

        Returns
        -------
        GroupByDP
            With ``size``, ``count``, ``sum``, ``mean``; select columns as in pandas.

        Notes
        -----
        Keys are never taken from the data, nor from the categories of a Categorical, which are data: which keys occur is private.

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
        return GroupByDP(self._frame, by, keys, other)

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

        Returns
        -------
        Series
            Called ``count`` or ``proportion``, as in pandas.

        Privacy
        -------
        As ``groupby(column).size()``.
        """
        counts: pd.Series[Any] = GroupByDP(self._frame, column, keys, other).size(epsilon=epsilon).rename("count")
        if normalize:
            present = counts.clip(lower=0)
            counts = (present / max(int(present.sum()), 1)).rename("proportion")
        return counts.sort_values(ascending=False, kind="stable") if sort else counts

    @boundary
    def crosstab(
        self, index: Hashable, columns: Hashable, *, keys: Any = None, margins: bool = False, epsilon: object = None
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

        Returns
        -------
        DataFrame
            Integers.

        Privacy
        -------
        As ``groupby([index, columns]).size()``.
        """
        if keys is not None and not isinstance(keys, dict):
            raise KeysError.unusable([index, columns], "must be a dict of lists: a table has every pair")
        if margins and any("All" in list(values) for values in (keys or {}).values()):
            raise KeysError.unusable([index, columns], "contain 'All', which margins=True calls the sums")
        counts = GroupByDP(self._frame, [index, columns], keys, None).size(epsilon=epsilon)
        first, second = (counts.index.get_level_values(place).unique() for place in (0, 1))
        table = pd.DataFrame(counts.to_numpy().reshape(len(first), len(second)), index=first, columns=second)
        if margins:
            table["All"] = table.sum(axis=1)
            table.loc["All"] = table.sum(axis=0)
        return table

    @boundary
    def histogram(self, column: Hashable, *, bins: Any, right: bool = True, epsilon: object = None) -> pd.Series[Any]:
        """Count the values of a column between public edges.

        Parameters
        ----------
        column : Hashable
            A column of numbers.
        bins : list of edges, or int
            Ascending edges; or a number of equal bins between the column's declared bounds.
        right : bool
            Whether an edge belongs to the interval below it, as in ``pd.cut``.
        epsilon : number
            What this answer may spend.

        Returns
        -------
        Series
            One count per interval, with the intervals as index.  Values outside all of them, and missing ones, are counted nowhere.

        Privacy
        -------
        As ``groupby`` with the intervals as keys.
        """
        _refuse_private(column, bins)

        def build(public: PublicFrame) -> Query:
            keys = bin_keys(public, column, bins, right=right)
            return basic.grouped(basic.count(public, None), keys, f"{column!r} in {len(keys)} bins")

        counts: pd.Series[Any] = release.answer(self._frame, build, epsilon)
        return counts.rename("count")
