"""Tracked views: ``df.dp.where(...)``, ``.assign(...)``, ``.select([...])``, chained before a query.

A view holds the protected frame and a list of steps, as texts that were checked against the closed, row-local grammar of
:mod:`pandas_dp.expressions.parse`.  It is immutable and lazy: nothing is read before a query has been charged.  What it does is what the
same chain does in pandas; but no value can come from another row, and the bounds of new columns follow from those of their inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.sessions import registry
from pandas_dp.domains.domain import ColumnFacts
from pandas_dp.errors import ExpressionError, ParameterTypeError, boundary
from pandas_dp.domains.dtypes import kind_of
from pandas_dp.domains.public_frame import PublicFrame
from pandas_dp.accessor.queries import FrameQueries

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from pandas_dp.expressions.parse import Column, Expression
    from pandas_dp.sessions.registry import Protected

__all__ = ["Tracked", "ViewDP"]


@dataclass(frozen=True, slots=True)
class _Step:
    """One step: a condition, new columns, or a choice of columns."""

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


class View:
    """A protected frame and the steps to take; a :class:`pandas_dp.release.path.Source`."""

    def __init__(self, base: pd.DataFrame, steps: tuple[_Step, ...] = ()) -> None:
        self.base = base
        self._steps = steps

    @property
    def text(self) -> str:
        """The steps, for the ledger."""
        return ".".join(step.text for step in self._steps)

    def then(self, step: _Step) -> View:
        """Return this view with one more step."""
        return View(self.base, (*self._steps, step))

    def public(self, protected: Protected) -> PublicFrame:
        """Return columns, dtypes and declarations after all steps, without reading a value."""
        columns: list[Hashable] = list(self.base.columns)
        facts = dict(protected.facts)
        derived: dict[Hashable, Any] = {}
        for step in self._steps:
            for name, expression in step.assigned:
                if name not in columns:
                    columns.append(name)
                facts[name] = _facts(expression, facts)
                derived[name] = _dtype(expression, self.base, derived)
            if step.selected is not None:
                columns = list(step.selected)
        known = protected.columns | frozenset(derived)
        return PublicFrame.of(columns, lambda name: derived[name] if name in derived else self.base[name].dtype, facts, known)

    def facts(self) -> dict[Hashable, Column]:
        """Return what an expression may know of the columns."""
        public = self.public(registry.require(self.base))
        return {name: _column(public, name) for name in public.columns if list(public.columns).count(name) == 1}

    def read(self) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
        """Take the steps: return the columns, and which rows fulfil the conditions.  Runs after the charge."""
        frame = self.base.copy(deep=False)
        rows = np.ones(len(frame), dtype=np.bool_)
        for step in self._steps:
            if step.condition is not None:
                rows &= step.condition.mask(frame).to_numpy()
            for name, expression in step.assigned:
                frame[name] = expression.evaluate(frame)
        return frame, rows


def _alone(expression: Expression) -> str | None:
    """Return the column that an expression is by itself, if it is one."""
    name = expression.text.strip().strip("`")
    return name if name in expression.columns else None


def _facts(expression: Expression, facts: dict[Hashable, ColumnFacts]) -> ColumnFacts:
    """Return what is known of an expression's values; of a column by itself, what is known of the column."""
    alone = _alone(expression)
    if alone is not None:
        return facts.get(alone, ColumnFacts())
    return ColumnFacts(bounds=expression.bounds, keys=expression.keys, numeric=True, derived=True)


def _dtype(expression: Expression, base: pd.DataFrame, derived: dict[Hashable, Any]) -> Any:
    alone = _alone(expression)
    if alone is not None:
        return derived[alone] if alone in derived else base[alone].dtype
    return np.dtype(np.bool_ if expression.kind == "bool" else np.float64)


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


class Tracked:
    """``where``, ``assign`` and ``select``, of a frame or of a view."""

    _frame: Any

    @boundary
    def where(self, condition: str) -> ViewDP:
        """Keep the rows for which a condition holds.

        Parameters
        ----------
        condition : str
            A row-local expression, such as ``"age >= 65 and ward in ['north', 'south']"``.

        Returns
        -------
        ViewDP
            With the queries of ``df.dp``; nothing is read or charged before one is asked.

        Raises
        ------
        ExpressionError
            If the text is outside the grammar, naming the part; or no condition.

        Notes
        -----
        The grammar: columns (others than plain names in backticks), constants, ``+ - * / // % **``, comparisons, ``in`` a literal list, ``and or not & | ~``, and
        abs, log, log1p, exp, sqrt, clip, round, floor, where, isna, year, month, day, hour, dayofweek.  A comparison with a missing value is false, ``!=`` and
        ``not in`` true, as in pandas.

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.where("age >= 65 and ward in ['north', 'south']").mean("charge", epsilon=0.5)
        3937 ± 61
        """
        view = _view(self._frame)
        expression = _parse(condition, view)
        if expression.kind != "bool":
            raise ExpressionError.operands(
                expression.text, expression.text.strip(), "is no condition", "Compare it with something, as in 'age >= 65'"
            )
        return ViewDP(view.then(_Step(condition=expression)))

    @boundary
    def assign(self, **columns: str) -> ViewDP:
        """Add columns computed row by row; their bounds follow from those of their inputs.

        Parameters
        ----------
        **columns : str
            Row-local expressions, such as ``monthly="charge / 12", senior="age >= 65"``; later ones may use earlier ones.

        Returns
        -------
        ViewDP
            With the queries of ``df.dp``.

        Raises
        ------
        ExpressionError
            If a text is outside the grammar, naming the part.

        Examples
        --------
        >>> from pandas_dp.datasets import Visits, visits
        >>> from pandas_dp.testing import unsafe_seeded_noise
        >>> table = visits().dp.protect(epsilon=1, schema=Visits)
        >>> with unsafe_seeded_noise(1):
        ...     table.dp.assign(monthly="charge / 12").mean("monthly", epsilon=0.5)
        272.7 ± 1.2
        """
        view = _view(self._frame)
        for name, text in columns.items():
            view = view.then(_Step(assigned=((name, _parse(text, view)),)))
        return ViewDP(view)

    @boundary
    def select(self, columns: list[Hashable]) -> ViewDP:
        """Keep these columns only, for queries that name none.

        Parameters
        ----------
        columns : list
            Their names.
        """
        if not isinstance(columns, list):
            raise ParameterTypeError.wrong_kind("columns", "a list of column names", type(columns))
        view = _view(self._frame)
        view.public(registry.require(view.base)).check_list(columns)
        return ViewDP(view.then(_Step(selected=tuple(columns))))


class ViewDP(FrameQueries, Tracked):
    """A tracked view: the queries of ``df.dp``, about rows and columns that were chosen by checked, row-local expressions."""

    _called = "a tracked view"

    def __init__(self, view: View) -> None:
        self._frame = view

    def __repr__(self) -> str:
        """Return the steps' number; nothing here depends on data."""
        return f"<.dp view of {registry.require(self._frame.base).core.face!r}>"

    @boundary
    def _repr_html_(self) -> str:
        """Return steps, budget and ledger for notebooks; nothing here depends on data."""
        from pandas_dp.display.html import shown  # noqa: PLC0415  (for notebooks)

        return shown(lambda: registry.require(self._frame.base).core, f"df.dp.{self._frame.text}")


def _view(frame: Any) -> View:
    if isinstance(frame, View):
        return frame
    registry.require(frame)
    return View(frame)


def _parse(text: object, view: View) -> Expression:
    if not isinstance(text, str):
        raise ParameterTypeError.wrong_kind("expression", "a string, such as 'age >= 65'", type(text))
    from pandas_dp.expressions.parse import parse  # noqa: PLC0415  (as above)

    return parse(text, view.facts())
