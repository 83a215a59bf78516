"""The steps of a tracked view: conditions, new columns and choices of columns, as checked expressions.

A step is what was asked for, and nothing of the frame: frozen, comparable and picklable, so that a plan may hold it and another process take it.  Here is
what is public after the steps: columns, dtypes, bounds and keys.  Nothing here may read a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.domains.domain import ColumnFacts
from pandas_dp.domains.dtypes import kind_of
from pandas_dp.domains.public_frame import PublicFrame

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from pandas_dp.expressions.parse import Column, Expression

__all__ = ["Step", "columns_of", "public_after"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a condition, new columns, or a choice of columns.

    Attributes
    ----------
    condition : Expression, optional
        The rows for which it holds are kept.
    assigned : tuple of (name, Expression)
        Columns that are computed row by row.
    selected : tuple, optional
        The columns that are kept.
    """

    condition: Expression | None = None
    assigned: tuple[tuple[str, Expression], ...] = ()
    selected: tuple[Hashable, ...] | None = None

    @property
    def text(self) -> str:
        """The step as it was asked for."""
        if self.condition is not None:
            return f"where({self.condition.text!r})"
        if self.selected is not None:
            return f"select({list(self.selected)!r})"
        return (
            "assign("
            + ", ".join(f"{name if name.isidentifier() else repr(name)}={expression.text!r}" for name, expression in self.assigned)
            + ")"
        )

    @property
    def reads(self) -> frozenset[Hashable]:
        """The names of the columns that its expressions read."""
        expressions = [expression for _, expression in self.assigned]
        return frozenset().union(*(one.columns for one in (*expressions, *filter(None, [self.condition]))))


def public_after(
    steps: Iterable[Step],
    columns: Iterable[Hashable],
    dtype: Callable[[Hashable], Any],
    facts: Mapping[Hashable, ColumnFacts],
    known: frozenset[Hashable],
) -> PublicFrame:
    """Return columns, dtypes and declarations after all steps.

    Parameters
    ----------
    steps : iterable of Step
        In the order in which they are taken.
    columns : iterable of Hashable
        The names before them.
    dtype : callable
        Returns the dtype that a column has before them.
    facts : mapping of column to ColumnFacts
        What was declared of the protected frame.
    known : frozenset
        The columns that were protected, which an error may name.
    """
    names = list(columns)
    declared = dict(facts)
    derived: dict[Hashable, Any] = {}

    def dtype_after(name: Hashable) -> Any:
        return derived[name] if name in derived else dtype(name)

    for step in steps:
        for name, expression in step.assigned:
            if name not in names:
                names.append(name)
            alone = _alone(expression)
            if alone is None:
                declared[name] = ColumnFacts(bounds=expression.bounds, keys=expression.keys, numeric=True, derived=True)
                derived[name] = np.dtype(np.bool_ if expression.kind == "bool" else np.float64)
            else:
                declared[name], derived[name] = declared.get(alone, ColumnFacts()), dtype_after(alone)
        if step.selected is not None:
            names = list(step.selected)
    return PublicFrame.of(names, dtype_after, declared, known | frozenset(derived))


def _alone(expression: Expression) -> str | None:
    """Return the column that an expression is by itself, if it is one."""
    name = expression.text.strip().strip("`")
    return name if name in expression.columns else None


def columns_of(public: PublicFrame) -> dict[Hashable, Column]:
    """Return what an expression may know of the columns that have a name of their own."""
    return {name: _column(public, name) for name in public.columns if list(public.columns).count(name) == 1}


def _column(public: PublicFrame, name: Hashable) -> Column:
    from pandas_dp.expressions.parse import Column  # noqa: PLC0415  (the grammar is loaded for those who use it)

    dtype = public.dtype(name)
    facts = public.facts.get(name)
    kind = kind_of(dtype)
    if kind is None or kind.name == "object":
        text = (
            isinstance(dtype, pd.CategoricalDtype)
            or pd.api.types.is_string_dtype(dtype)
            or (kind is not None and not (facts and facts.numeric))
        )
        return Column("text" if text else "other", None, facts.keys if facts else None)
    return Column(kind.name, facts.both_bounds() if facts else None, facts.keys if facts else None)
