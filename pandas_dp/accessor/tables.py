"""Tables made of grouped counts: ``value_counts``, ``crosstab``, ``histogram``, and the way into ``groupby``.

Nothing is computed here but free post-processing of what was released: sorting, shares, margins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from pandas_dp.accessor.groupby import GroupByDP, Grouping, refuse_private
from pandas_dp.errors import KeysError, boundary
from pandas_dp.quantities.budget import checked_count
from pandas_dp.release import path as release
from pandas_dp.release.plan import Price
from pandas_dp.statistics import basic

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Unpack

    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.release.plan import PriceOptions
    from pandas_dp.statistics.query import Query

__all__ = ["TableQueries", "counted_keys"]


def counted_keys(source: Any, grouping: Grouping, price: Price, *, normalize: bool = False, sort: bool = True) -> pd.Series[Any]:
    """Return the noisy count of each key, or its share; largest first if sorted: post-processing."""
    counts: pd.Series[Any] = GroupByDP(source, grouping)._sized(price).rename("count")  # noqa: SLF001  (one of the family)
    if normalize:
        present = counts.clip(lower=0)
        counts = (present / max(int(present.sum()), 1)).rename("proportion")
    return counts.sort_values(ascending=False, kind="stable") if sort else counts


class TableQueries:
    """What ``df.dp`` answers by groups."""

    _frame: Any

    @boundary
    def groupby(
        self, by: Any, *, keys: Any = None, other: Hashable | None = None, max_groups: int | None = None, delta: object = None
    ) -> GroupByDP:
        """Group by columns with public keys, or with those that enough people have, as in pandas.

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
            With ``size``, ``count``, ``sum``, ``mean``, ``agg``; select columns as in pandas.

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
        return GroupByDP(self._frame, Grouping.of(by, keys, other, max_groups, delta))

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
            ``rho``, ``mechanism``, ``within`` and ``level``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.plan.PriceOptions`.

        Returns
        -------
        Series
            Called ``count`` or ``proportion``, as in pandas.

        Privacy
        -------
        As ``groupby(column).size()``.
        """
        return counted_keys(self._frame, Grouping(column, keys, other), Price.of(epsilon, price), normalize=normalize, sort=sort)

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
            The key with the largest noisy count: free post-processing of ``value_counts``, whose counts are in ``session.releases[-1]``.

        Privacy
        -------
        As ``value_counts``: the whole ε is on every count, so that choosing the largest costs nothing more.
        """
        return counted_keys(self._frame, Grouping(column, keys), Price.of(epsilon, price)).idxmax()

    @boundary
    def nlargest(
        self, n: int, column: Hashable, *, keys: Any = None, epsilon: object = None, **price: Unpack[PriceOptions]
    ) -> pd.Series[Any]:
        """Return the ``n`` keys with the largest noisy counts; free post-processing of ``value_counts``."""
        size = checked_count("n", n)
        return counted_keys(self._frame, Grouping(column, keys), Price.of(epsilon, price)).head(size)

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
            ``rho``, ``mechanism``, ``within`` and ``level``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.plan.PriceOptions`.

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
        counts = GroupByDP(self._frame, Grouping([index, columns], keys)).size(epsilon=epsilon, **price)
        first, second = (counts.index.get_level_values(place).unique() for place in (0, 1))
        table = pd.DataFrame(counts.to_numpy().reshape(len(first), len(second)), index=first, columns=second)
        if margins:
            table["All"] = table.sum(axis=1)
            table.loc["All"] = table.sum(axis=0)
        return table

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
            ``rho``, ``mechanism``, ``within`` and ``level``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.plan.PriceOptions`.

        Returns
        -------
        Series
            One count per interval, with the intervals as index.  Values outside all of them, and missing ones, are counted nowhere.

        Privacy
        -------
        As ``groupby`` with the intervals as keys.
        """
        refuse_private(column, bins)

        def build(public: PublicFrame) -> Query:
            from pandas_dp.domains.bins import bin_keys  # noqa: PLC0415  (loaded for those who use it)

            keys = bin_keys(public, column, bins, right=right)
            return basic.grouped(basic.size(public), keys, f"{column!r} in {len(keys)} bins")

        counts: pd.Series[Any] = release.answer(self._frame, build, Price.of(epsilon, price))
        return counts.rename("count")
