"""The public side of a frame: which columns a query means, and how each is clamped.

Looks at column names, dtypes and declarations.  This module never reads a value, and hands out nothing that could.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from pandas_dp.domains.bounds import PerUnit, domain_of, per_unit_of
from pandas_dp.domains.dtypes import kind_of
from pandas_dp.errors import BoundsError, ColumnError, ParameterError, ParameterTypeError, UnsupportedDtype

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from pandas_dp.domains.domain import ColumnFacts, Domain

__all__ = ["Described", "PublicFrame"]


class Described(Protocol):
    """What a frame or Series says of itself before any value is read."""

    is_series: bool
    """Whether it is one column, which no call names."""
    series: Hashable
    """The name of that column; None for a frame."""

    @property
    def columns(self) -> pd.Index[Any]:
        """The names of the columns; of a Series its own."""

    def dtype(self, column: Hashable) -> Any:
        """Return the dtype of a column."""


@dataclass(slots=True)
class _Planned:
    """What a frame will say of itself."""

    columns: pd.Index[Any]
    dtype: Callable[[Hashable], Any]
    is_series: bool = False
    series: Hashable = None


class PublicFrame:
    """The public side of a frame or Series: column names, dtypes, declarations.  Gives no access to values.

    Parameters
    ----------
    described : Described
        Its columns and dtypes.
    facts : mapping of column to ColumnFacts
        What the schema declared.
    known : set of Hashable
        The columns that were protected, which an error may name; others can be named after data, as by ``get_dummies``.
    """

    def __init__(self, described: Described, facts: Mapping[Hashable, ColumnFacts], known: frozenset[Hashable] = frozenset()) -> None:
        self.facts = facts
        self._known = known
        self._described = described
        self.left_out: frozenset[Hashable] = frozenset()
        self.is_series = described.is_series
        self.series = described.series
        self.dtype = described.dtype

    @property
    def columns(self) -> pd.Index[Any]:
        """The columns' names."""
        return self._described.columns

    @classmethod
    def of(
        cls,
        columns: list[Hashable],
        dtype: Callable[[Hashable], Any],
        facts: Mapping[Hashable, ColumnFacts],
        known: frozenset[Hashable],
    ) -> PublicFrame:
        """Return the public side of a frame that does not exist yet: a tracked view's."""
        return cls(_Planned(pd.Index(columns, tupleize_cols=False), dtype), facts, known)

    def without(self, columns: tuple[Hashable, ...]) -> PublicFrame:
        """Return the same, but that "all columns" leaves these out."""
        other = copy(self)
        other.left_out = frozenset(columns)
        return other

    def check(self, column: Any) -> None:
        """Pass if it names exactly one column, else raise ``ColumnError`` (or ``ParameterTypeError`` if it is no name)."""
        if isinstance(column, (slice, list, set, dict)) or hasattr(column, "__array__") or column is None:
            raise ParameterTypeError.wrong_kind("column", "the name of a column", type(column))
        place: object = None
        try:
            place = self.columns.get_loc(column)
        except Exception:  # noqa: BLE001  (pandas raises many kinds, and some quote what they were given)
            place = None
        if place is None:
            raise ColumnError.absent(column, [name for name in self.columns if name in self._known])
        if not isinstance(place, (int, np.integer)):
            raise ColumnError.ambiguous(column)

    def domain(self, statistic: str, column: Hashable, bounds: object | None) -> Domain:
        """Return the domain of one column, or of the Series."""
        if self.is_series:
            return domain_of(statistic, column, self.dtype(column), self.facts.get(column), bounds)
        self.check(column)
        return domain_of(statistic, column, self.dtype(column), self.facts.get(column), bounds)

    def per_unit(self, column: Hashable, bounds: object | None, per_unit: object) -> PerUnit:
        """Return how each unit's total of one column, or of the Series, is clamped."""
        if not self.is_series:
            self.check(column)
        name = self.series if self.is_series else column
        return per_unit_of(name, self.dtype(column), self.facts.get(name), bounds, per_unit)

    def domains(self, statistic: str, column: object, bounds: object | None) -> tuple[list[Domain], bool]:
        """Return the domains of the columns a call means, and whether it means one column.

        A column is one; a list of columns, or none at all, are several: all with bounds from the call, the schema or
        their dtype.
        """
        if self.is_series:
            return [self.domain(statistic, self.series, bounds)], True
        if column is None:
            return self._all_bounded(statistic, bounds), False
        if isinstance(column, list):
            self.check_list(column)
            per_column = bounds if isinstance(bounds, Mapping) else dict.fromkeys(column, bounds)
            return [self.domain(statistic, name, per_column.get(name)) for name in column], False
        self.check(column)
        given = bounds.get(column) if isinstance(bounds, Mapping) else bounds
        return [self.domain(statistic, column, given)], True

    def shown(self, column: Hashable, *, typed: bool) -> str:
        """Return a column's name for the ledger, unless nobody typed it and it was not protected under it."""
        return repr(column) if typed or column in self._known else "a new column"

    def check_list(self, columns: list[Any]) -> None:
        """Check every name of a list."""
        if not columns:
            raise ParameterError.number("column", "a column's name, or a list of at least one")
        for name in columns:
            self.check(name)

    def _all_bounded(self, statistic: str, bounds: object | None) -> list[Domain]:
        """Return the domains of all columns that can take part."""
        if isinstance(bounds, Mapping):
            for name in bounds:
                if name not in self.columns:
                    raise BoundsError.not_applicable(name)
            chosen = [self.domain(statistic, name, bounds[name]) for name in self.columns if name in bounds]
        elif bounds is not None:
            chosen = [self._given(statistic, name, bounds) for name in self.columns if name not in self.left_out and self._is_number(name)]
        else:
            chosen = [domain for name in self.columns if (domain := self._declared(statistic, name)) is not None]
        if not chosen:
            raise BoundsError.none_declared()
        return chosen

    def _given(self, statistic: str, column: Hashable, bounds: object) -> Domain:
        """Return the domain of a column that nobody named; an error names it only if it was protected under that name."""
        try:
            return self.domain(statistic, column, bounds)
        except BoundsError as error:
            if column in self._known:
                raise
            given = error.bounds
        raise BoundsError.unusable_unnamed(given)

    def _is_number(self, column: Hashable) -> bool:
        self.check(column)
        kind = kind_of(self.dtype(column))
        facts = self.facts.get(column)
        return kind is not None and (
            kind.name in {"int", "float", "bool"} or (kind.name == "object" and facts is not None and facts.numeric)
        )

    def _declared(self, statistic: str, column: Hashable) -> Domain | None:
        """Return the domain of a column with declared bounds, or None if it has none or none that serve."""
        self.check(column)
        if column in self.left_out:
            return None
        try:
            return domain_of(statistic, column, self.dtype(column), self.facts.get(column), None)
        except (BoundsError, UnsupportedDtype):
            return None
