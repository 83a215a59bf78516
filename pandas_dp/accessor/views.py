"""What a tracked view is: a protected frame, and the steps ``where``, ``assign`` and ``select`` to take before a query.

The steps are texts that were checked against the closed, row-local grammar of :mod:`pandas_dp.expressions.parse`.  A view is immutable and lazy: nothing is
read before a query has been charged.  What it does is what the same chain does in pandas; but no value may come from another row, and the bounds of new
columns follow from those of their inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pandas_dp.accessor.asking import known_of
from pandas_dp.errors import ExpressionError, ParameterTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.expressions.parse import Expression
    from pandas_dp.expressions.steps import Step
    from pandas_dp.sessions.registry import Protected

__all__ = ["View"]


class View:
    """A protected frame and the steps to take; a :class:`pandas_dp.release.asked.View`."""

    def __init__(self, base: pd.DataFrame, steps: tuple[Step, ...] = ()) -> None:
        self.base = base
        self.steps = steps

    @classmethod
    def of(cls, source: Any) -> View:
        """Return a view as it is, and a protected frame as a view without steps."""
        if isinstance(source, View):
            return source
        known_of(source)
        return cls(source)

    @property
    def text(self) -> str:
        """The steps, for the ledger."""
        return ".".join(step.text for step in self.steps)

    def where(self, condition: object) -> View:
        """Keep the rows for which a condition holds."""
        expression = self._parsed(condition)
        if expression.kind != "bool":
            raise ExpressionError.operands(
                expression.text, expression.text.strip(), "is no condition", "Compare it with something, as in 'age >= 65'"
            )
        return self._then(condition=expression)

    def assign(self, columns: Mapping[str, object]) -> View:
        """Add columns, of which later ones may use earlier ones."""
        view = self
        for name, text in columns.items():
            view = view._then(assigned=((name, view._parsed(text)),))
        return view

    def select(self, columns: object) -> View:
        """Keep some columns."""
        if not isinstance(columns, list):
            raise ParameterTypeError.wrong_kind("columns", "a list of column names", type(columns))
        self.public(known_of(self)).check_list(columns)
        return self._then(selected=tuple(columns))

    def _then(self, **step: Any) -> View:
        from pandas_dp.expressions.steps import Step  # noqa: PLC0415  (views are loaded for those who use them)

        return View(self.base, (*self.steps, Step(**step)))

    def _parsed(self, text: object) -> Expression:
        if not isinstance(text, str):
            raise ParameterTypeError.wrong_kind("expression", "a string, such as 'age >= 65'", type(text))
        from pandas_dp.expressions.parse import parse  # noqa: PLC0415  (as above)
        from pandas_dp.expressions.steps import columns_of  # noqa: PLC0415

        return parse(text, columns_of(self.public(known_of(self))))

    def public(self, protected: Protected) -> PublicFrame:
        """Return columns, dtypes and declarations after all steps, without reading a value."""
        from pandas_dp.expressions.steps import public_after  # noqa: PLC0415  (as above)

        base = self.base
        return public_after(self.steps, base.columns, lambda name: base[name].dtype, protected.facts, protected.columns)
