"""``df.dp.groupby(...)``: grouped answers over public or private keys.  Nothing is computed here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from pandas_dp.sessions import registry

from pandas_dp.release import path as release
from pandas_dp.quantities.budget import checked_count, checked_flag
from pandas_dp.accessor.descriptive import SpreadAndOrder, quantile_query
from pandas_dp.errors import KeysError, boundary
from pandas_dp.domains.keysets import PrivateKeys, group_keys, private_keys
from pandas_dp.release.plan import Price
from pandas_dp.statistics import basic, privacy_units

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from typing import Unpack

    from pandas_dp.domains.keysets import KeySet
    from pandas_dp.release.plan import PriceOptions
    from pandas_dp.accessor.previews import Bounds
    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.statistics.estimators import Query

__all__ = ["GroupByDP", "Grouping", "refuse_private"]


@dataclass(frozen=True, slots=True)
class Grouping:
    """What is grouped by, and how.

    Attributes
    ----------
    by, keys, other, delta
        As given to ``groupby``.
    max_groups : int or None
        How many groups a unit reaches.
    """

    by: Any
    keys: Any = None
    other: Hashable | None = None
    max_groups: int | None = None
    delta: object = None

    @classmethod
    def of(cls, by: Any, keys: Any, other: Hashable | None, max_groups: int | None, delta: object) -> Grouping:
        """Return the grouping that a call named."""
        return cls(by, keys, other, None if max_groups is None else checked_count("max_groups", max_groups), delta)

    def check(self) -> None:
        """Refuse keys that are columns of a protected frame."""
        refuse_private(self.by, self.keys)

    def find(self, frame: PublicFrame) -> KeySet | PrivateKeys:
        """Return the groups."""
        if isinstance(self.keys, str) and self.keys == "private":
            return private_keys(frame, self.by, self.other, self.delta)
        if self.delta is not None:
            raise KeysError.unusable(self.by, "are public: delta= is for keys='private'")
        return group_keys(frame, self.by, self.keys, self.other)

    def text(self, keys: KeySet | PrivateKeys) -> str:
        """Return the arguments for the ledger."""
        asked = self.by if isinstance(self.by, list) else [self.by]
        columns = ", ".join(
            f"{one.key!r} by {getattr(one.freq, 'freqstr', one.freq)}" if isinstance(one, pd.Grouper) else repr(one) for one in asked
        )
        private = ", keys='private'" if isinstance(keys, PrivateKeys) else ""
        return columns + private + ("" if self.max_groups is None else f", max_groups={self.max_groups}")


def _shown(by: Any) -> str:
    return repr(by.key) if isinstance(by, pd.Grouper) else repr(by)


class GroupByDP(SpreadAndOrder):
    """Grouped answers: ``df.dp.groupby("ward").mean("charge", epsilon=0.1)``.

    One ε serves all groups, for a person is in one of them (or in ``max_rows`` of them at most, and the noise says so).  Every declared
    group is in the answer, in declared order; one that does not occur is noise around zero.  Answers are plain Series and DataFrames; their
    ± is in ``df.dp.session.releases[-1]``.
    """

    _called = "df.dp.groupby(...)"

    def __init__(self, frame: pd.DataFrame, grouping: Grouping, column: Any = None) -> None:
        self._frame = frame
        self._grouping = grouping
        self._column = column

    def __getitem__(self, column: Any) -> Self:
        """Select a column, or a list of columns, as in pandas."""
        return type(self)(self._frame, self._grouping, column)

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

        return shown(lambda: registry.require(release.base_of(self._frame)).core, f"df{repr(self)[1:-1]}", lines=0)

    @boundary
    def size(self, *, epsilon: object = None, **price: Unpack[PriceOptions]) -> pd.Series[Any]:
        """Count the rows of each group.

        Parameters
        ----------
        epsilon : number
            What this answer may spend, for all groups together.
        **price
            ``rho``, ``mechanism``, ``within`` and ``level``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.plan.PriceOptions`.

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
        return self._sized(Price.of(epsilon, price))

    def _sized(self, price: Price) -> pd.Series[Any]:
        """Return ``size()`` at a price; for the tables made of it."""
        counts: pd.Series[Any] = self._ask(basic.size, price)
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
            ``rho``, ``mechanism``, ``within`` and ``level``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.plan.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            A DataFrame if several columns were asked for.

        Privacy
        -------
        As ``size``; with ``unique`` a unit adds 1 to each group it reaches, so that the scale is that of ``max_rows`` or ``max_groups``, whichever is less.
        """
        chosen = self._column if column is None else column
        return self._ask(
            partial(privacy_units.units if checked_flag("unique", unique) else basic.count, column=chosen), Price.of(epsilon, price), name=chosen
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
            ``rho``, ``mechanism``, ``within`` and ``level``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.plan.PriceOptions`.

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
        build = basic.total if per_unit is None else partial(privacy_units.unit_totals, per_unit=per_unit)
        return self._ask_columns(build, column, bounds, Price.of(epsilon, price))

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
            ``rho``, ``mechanism``, ``within`` and ``level``, other ways to name the price, and ``label``: see :class:`pandas_dp.release.plan.PriceOptions`.

        Returns
        -------
        Series or DataFrame
            Inside the bounds; a group with few rows is noise between them, as its ± says.

        Privacy
        -------
        ``epsilon``-DP when one unit is added or removed: two cells per group, as for ``df.dp.mean``; a row moves those of its own group alone.
        """
        return self._ask_columns(basic.mean, column, bounds, Price.of(epsilon, price))

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
            What this answer may spend, for all groups together; divided equally among the columns.
        rho, mechanism, within, level, rows, label
            Other ways to name the price, and a name of the answer: see :class:`pandas_dp.release.plan.PriceOptions`.
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
        from pandas_dp.statistics import aggregate  # noqa: PLC0415  (loaded for those who use it)

        name = self._column if isinstance(func, str) else None
        build = partial(aggregate.aggregate, func=func, named=named, bounds=bounds, selected=self._column, grouped=True)
        return self._ask(build, Price.named(epsilon, rho, mechanism, within, level, rows=rows, label=label), name=name)

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
        return self._descriptive(quantile_query(0.5 if q is None else q), column, bounds, Price.of(epsilon, price))

    def _descriptive(self, build: Callable[..., Query], column: Any, bounds: Any, price: Price, **options: Any) -> Any:
        return self._ask_columns(partial(build, **options), column, bounds, price)

    def _ask_columns(self, build: Callable[..., Query], column: Any, bounds: Any, price: Price) -> Any:
        chosen = self._column if column is None else column
        return self._ask(partial(build, column=chosen, bounds=bounds), price, name=chosen)

    def _ask(self, build: Callable[[PublicFrame], Query], price: Price, name: Any = None) -> Any:
        self._grouping.check()

        def grouped(frame: PublicFrame) -> Query:
            keys = self._grouping.find(frame)
            query = basic.grouped(build(frame.without(keys.columns)), keys, self._grouping.text(keys), self._grouping.max_groups)
            return replace(query, name=None if isinstance(name, list) else name)

        return self._answer(grouped, price)

    def _answer(self, build: Callable[[PublicFrame], Query], price: Price) -> Any:
        return release.answer(self._frame, build, price)


def refuse_private(columns: Any, keys: Any) -> None:
    """Refuse keys or edges that are columns of a protected frame, or labels of one: which of them occur is private."""
    for part in keys.values() if isinstance(keys, dict) else [keys]:
        labels = pd.DataFrame(index=part) if isinstance(part, pd.Index) else part
        if isinstance(labels, (pd.Series, pd.DataFrame)) and registry.find(labels) is not None:
            raise KeysError.unusable(columns, "are taken from a protected frame: list them from public knowledge")
