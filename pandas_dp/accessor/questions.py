"""The questions: how a call's arguments become what the release builds its query from.

One function for each question, which frames, views, Series, groups and previews call alike; each returns a callable from public facts to a
:class:`pandas_dp.statistics.estimators.Query`.  Statistics that few queries need are imported by their question.  Nothing here may hold or read a
frame, ask anything, or know a price.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from pandas_dp.accessor.asking import is_protected
from pandas_dp.domains.keysets import PrivateKeys, group_keys, private_keys
from pandas_dp.errors import KeysError
from pandas_dp.quantities.budget import checked_count, checked_flag
from pandas_dp.statistics import basic, privacy_units

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from pandas_dp.accessor.asking import Build
    from pandas_dp.domains.keysets import KeySet
    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.statistics.query import Query

__all__ = [
    "Bounds",
    "Grouping",
    "aggregate",
    "by_group",
    "correlation",
    "count",
    "covariance",
    "describe",
    "extreme",
    "histogram",
    "iqr",
    "key_counts",
    "mean",
    "median",
    "occurring_keys",
    "quantile",
    "size",
    "spread",
    "total",
]

Bounds = tuple[Any, Any] | list[Any]
"""A lower and an upper bound."""


def count(column: Any, *, unique: bool) -> Build:
    """Count rows, present values, or units."""
    return partial(privacy_units.units if checked_flag("unique", unique) else basic.count, column=column)


def total(column: Any, bounds: Any, per_unit: Bounds | None) -> Build:
    """Sum clamped values, or the units' clamped totals."""
    build = basic.total if per_unit is None else partial(privacy_units.unit_totals, per_unit=per_unit)
    return partial(build, column=column, bounds=bounds)


def mean(column: Any, bounds: Any) -> Build:
    """Average clamped values."""
    return partial(basic.mean, column=column, bounds=bounds)


def aggregate(func: Any, named: Mapping[str, Any], bounds: Any, *, selected: Any = None, grouped: bool = False) -> Build:
    """Ask several statistics in one charge."""
    from pandas_dp.statistics import aggregate as several

    return partial(several.aggregate, func=func, named=named, bounds=bounds, selected=selected, grouped=grouped)


def spread(name: str, column: Any, bounds: Any, ddof: int) -> Build:
    """Ask a variance or a standard deviation."""
    from pandas_dp.statistics import aggregate as several

    return partial(several.spread, name=name, ddof=ddof, column=column, bounds=bounds)


def median(column: Any, bounds: Any) -> Build:
    """Ask a median, under that name."""
    from pandas_dp.statistics import order

    return partial(order.ordered, name="median", quantiles=(order.QUARTERS["median"],), column=column, bounds=bounds)


def quantile(q: object, column: Any, bounds: Any) -> Build:
    """Ask one quantile, or several chosen together."""
    from pandas_dp.statistics import aggregate as several
    from pandas_dp.statistics import order

    quantiles, alone = order.as_quantiles(q)
    build: Callable[..., Query] = partial(order.ordered, name="quantile") if alone else several.quantiles
    return partial(build, quantiles=quantiles, column=column, bounds=bounds)


def extreme(name: str, column: Any, bounds: Any) -> Build:
    """Ask a minimum or a maximum."""
    from pandas_dp.statistics import order

    return partial(order.ordered, name=name, column=column, bounds=bounds)


def iqr(column: Any, bounds: Any) -> Build:
    """Ask the distance between the quartiles."""
    from pandas_dp.statistics import order

    return partial(order.ordered, name="iqr", column=column, bounds=bounds)


def describe(column: Any, bounds: Any) -> Build:
    """Ask what pandas' ``describe`` has."""
    from pandas_dp.statistics import aggregate as several

    return partial(several.describe, column=column, bounds=bounds)


def covariance(columns: Any, bounds: Any, ddof: int) -> Build:
    """Ask a matrix of covariances."""
    from pandas_dp.statistics import matrix

    return partial(matrix.matrix, name="cov", columns=columns, bounds=bounds, ddof=ddof)


def correlation(columns: Any, bounds: Any) -> Build:
    """Ask a matrix of correlations."""
    from pandas_dp.statistics import matrix

    return partial(matrix.matrix, name="corr", columns=columns, bounds=bounds)


def occurring_keys(column: Hashable, keys: Any, unit: Callable[[], Hashable | None]) -> Build:
    """Count the declared keys that occur; ``unit`` names the column of the privacy unit, whose keys nobody declares."""
    if isinstance(keys, str):
        raise KeysError.unusable(column, "must be declared: what is counted are those among them that occur")
    if keys is None and column is not None and column == unit():
        raise KeysError.of_units(column)

    def build(frame: PublicFrame) -> Query:
        found = group_keys(frame, column, keys, None)
        return privacy_units.occurring(found, f"nunique({column!r} of {len(found)} keys)")

    return build


def histogram(column: Hashable, bins: Any, *, right: bool) -> Build:
    """Count values between public edges."""
    _refuse_private(column, bins)

    def build(frame: PublicFrame) -> Query:
        from pandas_dp.domains.bins import bin_keys

        keys = bin_keys(frame, column, bins, right=right)
        return basic.grouped(basic.size(frame), keys, f"{column!r} in {len(keys)} bins")

    return build


# Questions by group.


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


size: Build = basic.size
"""Count rows, those without a value included."""


def by_group(build: Build, grouping: Grouping, name: Any = None) -> Build:
    """Ask the same of every group; a single column's answers are called by its ``name``."""
    _refuse_private(grouping.by, grouping.keys)

    def grouped(frame: PublicFrame) -> Query:
        keys = grouping.find(frame)
        query = basic.grouped(build(frame.without(keys.columns)), keys, grouping.text(keys), grouping.max_groups)
        return replace(query, name=None if isinstance(name, list) else name)

    return grouped


def key_counts(by: Any, keys: Any, other: Hashable | None = None) -> Build:
    """Count the rows of each key, for the tables that are made of it."""
    return by_group(size, Grouping(by, keys, other))


def _refuse_private(columns: Any, keys: Any) -> None:
    """Refuse keys or edges that are columns of a protected frame, or labels of one: which of them occur is private."""
    for part in keys.values() if isinstance(keys, dict) else [keys]:
        if is_protected(part):
            raise KeysError.unusable(columns, "are taken from a protected frame: list them from public knowledge")
