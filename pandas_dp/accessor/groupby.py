"""``df.dp.groupby(...)``: grouped answers over public or private keys.  Nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from pandas_dp.accessor import questions
from pandas_dp.accessor.asking import core_of
from pandas_dp.display.completion import Guided
from pandas_dp.errors import KeysError, boundary
from pandas_dp.release.price import Price

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from typing import Unpack

    from pandas_dp.accessor.asking import Asks, Build
    from pandas_dp.accessor.questions import Bounds, Grouping
    from pandas_dp.release.price import PriceOptions

__all__ = ["GroupByDP"]


def _shown(by: Any) -> str:
    return repr(by.key) if isinstance(by, pd.Grouper) else repr(by)


class GroupByDP(Guided):
    """Grouped answers: ``df.dp.groupby("ward").mean("charge", epsilon=0.1)``.

    One ε serves all groups, for a row is in one of them, and a unit in ``max_rows`` of them at most, as the noise says.  Every declared
    group is in the answer, in declared order; one that does not occur is noise around zero.  Answers are plain Series and DataFrames; their
    ± is in ``df.dp.session.releases[-1]``.
    """

    _called = "df.dp.groupby(...)"

    def __init__(self, asks: Asks, grouping: Grouping, column: Any = None) -> None:
        self._asks = asks
        self._grouping = grouping
        self._column = column

    def __getitem__(self, column: Any) -> GroupByDP:
        """Select a column, or a list of columns, as in pandas."""
        return GroupByDP(self._asks, self._grouping, column)

    @boundary
    def __iter__(self) -> Any:
        """Refuse: the groups are not taken apart."""
        raise KeysError.loop()

    @boundary
    def __contains__(self, key: object) -> bool:
        """Refuse, as iteration."""
        raise KeysError.loop()

    def __repr__(self) -> str:
        """Return what is grouped by; nothing here depends on data."""
        by = self._grouping.by
        return f"<.dp.groupby({', '.join(map(_shown, by)) if isinstance(by, list) else _shown(by)})>"

    @boundary
    def _repr_html_(self) -> str:
        """Return what is grouped by, and the budget, for notebooks; nothing here depends on data."""
        from pandas_dp.display.html import shown  # noqa: PLC0415  (for notebooks)

        return shown(lambda: core_of(self._asks.source), f"df{repr(self)[1:-1]}", lines=0)

    @boundary
    def size(self, *, epsilon: object = None, **price: Unpack[PriceOptions]) -> pd.Series[Any]:
        """Count the rows of each group.

        Parameters
        ----------
        epsilon : number
            What this answer may spend, for all groups together.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

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
        counts: pd.Series[Any] = self._ask(questions.size, Price.of(epsilon, price))
        return counts

    @boundary
    def count(self, column: Any = None, *, unique: bool = False, epsilon: object = None, **price: Unpack[PriceOptions]) -> Any:
        """Count the present values of a column in each group; without a column, rows.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected one.
        unique : bool
            Count units, each once in every group where it has such a row.
        epsilon : number
            What this answer may spend, for all groups and columns together.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            A DataFrame if several columns were asked for.

        Privacy
        -------
        As ``size``; with ``unique`` a unit adds 1 to each group it reaches, so that the scale is that of ``max_rows`` or ``max_groups``, whichever is less.
        """
        chosen = self._chosen(column)
        return self._ask(questions.count(chosen, unique=unique), Price.of(epsilon, price), chosen)

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
        """Sum the clamped values of each group; as ``df.dp.sum``, for every group with the whole ε.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.sum``.
        per_unit : (lower, upper), optional
            Clamp the total that each unit's rows have in each group, instead of the rows.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            A Series called by the column; a DataFrame if several columns were asked for.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: a row's value goes to the cell of its own group, so that the totals of all groups together
        move by at most ``max_rows * max(abs(lower), abs(upper))``.  With ``per_unit`` by its larger end for each group that a unit reaches: ``max_rows`` or
        ``max_groups`` of them, whichever is less.
        """
        chosen = self._chosen(column)
        return self._ask(questions.total(chosen, bounds, per_unit), Price.of(epsilon, price), chosen)

    @boundary
    def mean(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Average the clamped values of each group; as ``df.dp.mean``, for every group with the whole ε.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.mean``.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            Inside the bounds; a group with few rows is noise between them, as its ± says.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: two cells per group, as for ``df.dp.mean``; a row moves those of its own group alone.
        """
        chosen = self._chosen(column)
        return self._ask(questions.mean(chosen, bounds), Price.of(epsilon, price), chosen)

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
        """Return the variance of the clamped values of each group; as ``df.dp.var``, for every group with the whole ε.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.mean``.
        ddof : int
            The divisor is ``n - ddof``, as in pandas.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            Never negative.  In squared units of the column; dates and durations have a ``std`` only.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: three cells per group, as for ``df.dp.var``; a row moves those of its own group alone.
        """
        chosen = self._chosen(column)
        return self._ask(questions.spread("var", chosen, bounds, ddof), Price.of(epsilon, price), chosen)

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
        """Return the standard deviation of the clamped values of each group: the root of ``var``, in the column's unit, for the same price.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.mean``.
        ddof : int
            The divisor is ``n - ddof``, as in pandas.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            Never negative.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: three cells per group, as for ``df.dp.var``; a row moves those of its own group alone.
        """
        chosen = self._chosen(column)
        return self._ask(questions.spread("std", chosen, bounds, ddof), Price.of(epsilon, price), chosen)

    @boundary
    def median(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return the median of the clamped values of each group; as ``quantile(q=0.5)``.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.mean``.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            Inside the bounds.  Its ± is in ranks.

        Privacy
        -------
        As ``df.dp.quantile``; a row moves the ranks of its own group alone.
        """
        chosen = self._chosen(column)
        return self._ask(questions.median(chosen, bounds), Price.of(epsilon, price), chosen)

    @boundary
    def quantile(
        self,
        column: Any = None,
        q: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return one quantile of each group; as ``df.dp.quantile``, for every group with the whole ε.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones.  With one selected, the first argument is ``q``, as in pandas.
        q : number
            Between 0 and 1, taken exactly as typed; 0.5 by default.
        bounds, epsilon, **price
            As for ``mean``.

        Returns
        -------
        Series or DataFrame
            A Series called by the column; a DataFrame if several columns were asked for.

        Privacy
        -------
        As ``df.dp.quantile``; a row moves the ranks of its own group alone.
        """
        if self._column is not None and not isinstance(self._column, list) and q is None and column is not None:
            column, q = None, column
        chosen = self._chosen(column)
        return self._ask(questions.quantile(0.5 if q is None else q, chosen, bounds), Price.of(epsilon, price), chosen)

    @boundary
    def min(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return a value near the smallest of each group: one row decides the true minimum, which therefore stays private.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.mean``.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            Inside the bounds; a group with few rows tends to the other bound.

        Privacy
        -------
        As ``df.dp.quantile``; a row moves the ranks of its own group alone.
        """
        chosen = self._chosen(column)
        return self._ask(questions.extreme("min", chosen, bounds), Price.of(epsilon, price), chosen)

    @boundary
    def max(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return a value near the largest of each group; the mirror image of ``min``.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.mean``.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            Inside the bounds; a group with few rows tends to the other bound.

        Privacy
        -------
        As ``df.dp.quantile``; a row moves the ranks of its own group alone.
        """
        chosen = self._chosen(column)
        return self._ask(questions.extreme("max", chosen, bounds), Price.of(epsilon, price), chosen)

    @boundary
    def iqr(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return the distance between the quartiles of each group, which are chosen together.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.mean``.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            Never negative.

        Privacy
        -------
        As ``df.dp.quantile``; a row moves the ranks of its own group alone.
        """
        chosen = self._chosen(column)
        return self._ask(questions.iqr(chosen, bounds), Price.of(epsilon, price), chosen)

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
        """Ask several statistics of several columns of each group in one charge, as pandas' ``groupby.agg``.

        Parameters
        ----------
        func : str, list or dict
            As for ``df.dp.agg``.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.mean``.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among the *columns*, whatever the number of functions.
        rho, mechanism, within, level, rows, label
            Other ways to name the price, and a name of the answer: see :class:`pandas_dp.release.price.PriceOptions`.
        **named : (column, function)
            Named aggregations instead of ``func``; of a selected column, ``average="mean"``.

        Returns
        -------
        Series or DataFrame
            As pandas would lay it out: two levels of columns where columns have lists of functions.

        Privacy
        -------
        As ``df.dp.agg``; a row moves the cells of its own group alone.
        """
        name = self._column if isinstance(func, str) else None
        price = Price.named(epsilon, rho, mechanism, within, level, rows=rows, label=label)
        return self._ask(questions.aggregate(func, named, bounds, selected=self._column, grouped=True), price, name)

    @boundary
    def describe(
        self,
        column: Any = None,
        *,
        bounds: Bounds | Mapping[Hashable, Bounds] | None = None,
        epsilon: object = None,
        **price: Unpack[PriceOptions],
    ) -> Any:
        """Return pandas' ``describe`` of each group; as ``df.dp.describe``, for every group with the whole ε.

        Parameters
        ----------
        column : Hashable or list, optional
            By default the selected ones, or all that have bounds, except those grouped by.
        bounds : (lower, upper), or dict of column to (lower, upper)
            As for ``df.dp.mean``.
        epsilon : number
            What this answer may spend, for all groups together; divided equally among several columns.
        **price
            ``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.price.PriceOptions`.

        Returns
        -------
        DataFrame
            Groups down; of one column its statistics across, of several both, as pandas lays it out.

        Privacy
        -------
        As ``df.dp.describe``; a row moves the cells and ranks of its own group alone.
        """
        chosen = self._chosen(column)
        return self._ask(questions.describe(chosen, bounds), Price.of(epsilon, price), chosen)

    def _chosen(self, column: Any) -> Any:
        """Return the column or columns that a call names, or else those that were selected."""
        return self._column if column is None else column

    def _ask(self, build: Build, price: Price, name: Any = None) -> Any:
        return self._asks.run(questions.by_group(build, self._grouping, name), price)
