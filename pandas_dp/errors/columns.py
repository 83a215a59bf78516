"""Errors about columns and about expressions over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pandas_dp.errors.base import DPError
from pandas_dp.errors.wording import UNCHARGED, excerpt, label, type_name, where

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

__all__ = ["ColumnError", "ExpressionError", "UnsupportedDtype"]


class ColumnError(DPError, KeyError):
    """A column name that does not lead to exactly one column.

    Attributes
    ----------
    column : Hashable
        The name that was asked for.
    """

    column: Hashable

    @classmethod
    def absent(cls, column: Hashable, columns: Iterable[Hashable]) -> Self:
        shown_at_most = 12
        names = [label(name) for name in columns]
        shown = ", ".join(names[:shown_at_most]) + (", ..." if len(names) > shown_at_most else "")
        known = f" Of the columns that were protected it has: {shown}." if names else ""
        hint = f" Is it the budget, or a quantile? Then name it: epsilon={column}, or q={column}." if isinstance(column, float) else ""
        return cls(f"this frame has no column {label(column)}.{known}{hint} {UNCHARGED}", column=column)

    @classmethod
    def ambiguous(cls, column: Hashable) -> Self:
        return cls(
            f"{label(column)} names more than one column. Rename the columns, or select one level of a MultiIndex with the "
            f"full tuple. {UNCHARGED}",
            column=column,
        )


class UnsupportedDtype(DPError, TypeError):
    """The statistic makes no sense for a column of this dtype.

    Attributes
    ----------
    column : Hashable
        The column's name.
    dtype : str
        The dtype's name.
    """

    column: Hashable
    dtype: str

    @classmethod
    def cannot(cls, statistic: str, column: Hashable, dtype: object) -> Self:
        name = type_name(dtype)
        if name == "object":
            advice = "Declare the column as a number in a pandera schema, or convert it with pd.to_numeric or astype first"
        elif statistic == "sum" and "datetime" in name:
            advice = "Dates cannot be added up; mean() and count() work"
        elif statistic == "var" and "64[" in name:
            advice = "A square of time has no dtype; std() works"
        else:
            advice = "Convert it with astype or pd.to_numeric first; count() works for every dtype"
        return cls(
            f"{statistic} of {where(column)} is not possible for dtype {name}. {advice}. {UNCHARGED}",
            column=column,
            dtype=name,
        )

    @classmethod
    def not_numbers(cls, mechanism: str, column: Hashable, dtype: object, *, whole: bool) -> Self:
        name = type_name(dtype)
        name = name.rstrip("0123456789") if name.startswith(("str", "bytes", "void")) else name  # the longest text's length is none of it
        place = "these values" if column is None else where(column)
        if whole:
            advice = "It is for whole numbers: convert with round() and astype('int64') or astype('Int64') first, or use laplace(..., integer=True)"
        else:
            advice = "Convert to numbers with pd.to_numeric or astype first"
        return cls(f"{mechanism}() cannot read {place} of dtype {name} as numbers. {advice}. {UNCHARGED}", column=column, dtype=name)


class ExpressionError(DPError, ValueError):
    """An expression of ``where`` or ``assign`` is outside the row-local grammar.  Judged without the data.

    Attributes
    ----------
    expression : str
        The text as it was given.
    part : str
        The piece of it that was refused.
    """

    expression: str
    part: str

    @classmethod
    def _refuse(cls, expression: str, part: str, problem: str, advice: str) -> Self:
        whole = "" if part == expression.strip() else f" in the expression {excerpt(expression)}"
        return cls(f"{excerpt(part)}{whole} {problem}. {advice}.", expression=expression, part=part)

    @classmethod
    def not_text(cls, kind: type) -> Self:
        return cls(f"an expression must be a text such as 'age >= 65', not {kind.__name__}. Quote it.", expression="", part="")

    @classmethod
    def too_long(cls, expression: str, limit: int) -> Self:
        return cls._refuse(
            expression, expression, f"is longer than {limit} characters", "Assign parts of it to columns of their own with dp.assign first"
        )

    @classmethod
    def too_deep(cls, expression: str, part: str, limit: int) -> Self:
        return cls._refuse(
            expression, part, f"is nested more than {limit} levels deep", "Assign parts of it to columns of their own with dp.assign first"
        )

    @classmethod
    def syntax(cls, expression: str, part: str) -> Self:
        advice = "Write it as in Python; a column whose name is no Python name, or a word of Python's, goes in backticks"
        return cls._refuse(expression, part, "cannot be read", advice)

    @classmethod
    def literal(cls, expression: str, part: str) -> Self:
        advice = "Write numbers in decimal, and texts as 'north', without a prefix and with no escapes but \\', \\\", \\\\, \\n and \\t"
        return cls._refuse(expression, part, "is no plain number or text", advice)

    @classmethod
    def outside(cls, expression: str, part: str) -> Self:
        advice = (
            "Use column names, numbers, + - * / // % **, comparisons, in [...], and, or, not, & | ~ and the functions abs, log, log1p, exp, "
            "sqrt, clip, round, floor, where(condition, a, b), isna, year, month, day, hour and dayofweek; compute anything else before protect()"
        )
        return cls._refuse(expression, part, "is outside of what an expression may hold, because it is not known to be row by row", advice)

    @classmethod
    def unknown_name(cls, expression: str, part: str) -> Self:
        advice = "Check the spelling; a text goes in quotes, and a column whose name is no Python name in backticks"
        return cls._refuse(expression, part, "is no column of this frame", advice)

    @classmethod
    def arguments(cls, expression: str, part: str, signature: str) -> Self:
        return cls._refuse(expression, part, "has other arguments than the function takes", f"Write {signature}")

    @classmethod
    def operands(cls, expression: str, part: str, problem: str, advice: str) -> Self:
        return cls._refuse(expression, part, problem, advice)

    @classmethod
    def constant(cls, expression: str, part: str, requirement: str) -> Self:
        return cls._refuse(expression, part, "does not serve here as a constant", f"Write {requirement}")

    @classmethod
    def zones(cls, expression: str, part: str) -> Self:
        advice = "Give both sides a time zone or neither: tz_localize the column before protect(), or change the constant"
        return cls._refuse(expression, part, "compares times with and without a time zone", advice)
