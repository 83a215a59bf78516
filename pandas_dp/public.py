"""The public side of a frame: which columns a query means, and how each is clamped.

Looks at column names, dtypes and declarations.  This module never reads a value, and hands out nothing that could.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.domain import ColumnFacts, Domain, domain_of, kind_of
from pandas_dp.errors import BoundsError, ColumnError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["PublicFrame"]


class PublicFrame:
    """The public side of a frame or Series: column names, dtypes, declarations.  Gives no access to values.

    Parameters
    ----------
    frame : DataFrame or Series
        Only its columns and dtypes are looked at.
    facts : mapping of column to ColumnFacts
        What the schema declared.
    """

    def __init__(self, frame: pd.DataFrame | pd.Series[Any], facts: Mapping[Hashable, ColumnFacts]) -> None:
        self.facts = facts
        if isinstance(frame, pd.Series):
            name, dtype = frame.name, frame.dtype
            self.series: Hashable = name
            self.is_series = True
            self.columns = pd.Index([name], tupleize_cols=False)
            self._dtype: Callable[[Hashable], Any] = lambda _: dtype
        else:
            self.series = None
            self.is_series = False
            self.columns = frame.columns
            self._dtype = lambda column: frame[column].dtype

    def check(self, column: Hashable) -> Hashable:
        """Return the column if it names exactly one column, else raise ``ColumnError``."""
        place: object = None
        try:
            place = self.columns.get_loc(column)
        except (KeyError, TypeError, ValueError):
            place = None
        if place is None:
            raise ColumnError.absent(column, self.columns)
        if not isinstance(place, (int, np.integer)):
            raise ColumnError.ambiguous(column)
        return column

    def domain(self, statistic: str, column: Hashable, bounds: object | None) -> Domain:
        """Return the domain of one column."""
        self.check(column)
        return domain_of(statistic, column, self._dtype(column), self.facts.get(column), bounds)

    def domains(self, statistic: str, column: object, bounds: object | None) -> tuple[list[Domain], bool]:
        """Return the domains of the columns a call means, and whether it means one column.

        A column is one; a list of columns, or none at all, are several: all with bounds from the call, the schema or
        their dtype.
        """
        if self.is_series:
            return [domain_of(statistic, self.series, self._dtype(None), self.facts.get(self.series), bounds)], True
        if column is None:
            return [self.domain(statistic, name, given) for name, given in self._bounded(bounds)], False
        if isinstance(column, list):
            per_column = bounds if isinstance(bounds, Mapping) else dict.fromkeys(column, bounds)
            return [self.domain(statistic, name, per_column.get(name)) for name in column], False
        given = bounds.get(column) if isinstance(bounds, Mapping) else bounds
        return [self.domain(statistic, column, given)], True

    def _bounded(self, bounds: object | None) -> list[tuple[Hashable, object]]:
        if isinstance(bounds, Mapping):
            for name in bounds:
                if name not in self.columns:
                    raise BoundsError.not_applicable(name)
            chosen = [(name, bounds[name]) for name in self.columns if name in bounds]
        else:
            chosen = [(name, bounds) for name in self.columns if self._has_bounds(name, bounds)]
        if not chosen:
            raise BoundsError.none_declared()
        return chosen

    def _has_bounds(self, column: Hashable, given: object | None) -> bool:
        self.check(column)
        kind = kind_of(self._dtype(column))
        facts = self.facts.get(column)
        numeric = bool(facts and facts.numeric)
        if kind is None or (kind.name == "object" and not numeric):
            return False
        if given is not None:
            return kind.name in {"int", "float", "bool", "object"}
        return kind.name == "bool" or (facts is not None and facts.both_bounds() is not None)
