"""Every error of the project and its wording.

Each class derives from :class:`DPError` and from the built-in error a Python user would catch.
Numbers travel as attributes.  The wording lives in classmethods, says what was asked, what did
not happen and what to do next, and must never hold a value, a label, a row count or anything else
read from the data: an error is an answer nobody paid for.
"""

from __future__ import annotations

import datetime as dt
import numbers
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

P = ParamSpec("P")
R = TypeVar("R")

__all__ = [
    "AlreadyProtected",
    "BoundsError",
    "BudgetExhausted",
    "ColumnError",
    "ComputationFailed",
    "DPError",
    "ExpressionError",
    "KeysError",
    "LargeBudgetWarning",
    "LineageError",
    "NotProtected",
    "ParameterError",
    "ParameterTypeError",
    "SchemaError",
    "SchemaViolation",
    "SessionClosed",
    "SessionConflict",
    "UnsupportedDtype",
    "boundary",
]

UNCHARGED = "Nothing was computed and nothing was spent."


class LargeBudgetWarning(UserWarning):
    """A budget so large that it promises little; depends on the number asked for and nothing else."""


class DPError(Exception):
    """The base of every error raised by pandas_dp.  Holds no data."""

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self._facts = facts
        for name, value in facts.items():
            setattr(self, name, value)

    def __str__(self) -> str:
        """Return the message plainly (``KeyError`` would quote it)."""
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the attributes, so that errors cross process boundaries whole."""
        return _rebuild, (type(self), self.message, self._facts)


def _rebuild(kind: type[DPError], message: str, facts: dict[str, object]) -> DPError:
    return kind(message, **facts)


class NotProtected(DPError, RuntimeError):
    """The frame belongs to no session of this process."""

    @classmethod
    def unknown(cls) -> Self:
        return cls(
            "this frame is not protected: it carries no handle of a session of this process. "
            "Call df.dp.protect(epsilon=...) once, on the original frame, and derive from what it returns. "
            "Aggregates, reshapes and merge() drop the handle on purpose: join a public table with "
            "df.join(table, on=...) or Series.map instead of merge(), filter with query/loc, and ask .dp "
            "before you aggregate; session.adopt(frame) takes back a frame that still has its unit column. " + UNCHARGED
        )


class AlreadyProtected(DPError, ValueError):
    """``protect()`` was called on a frame that a session already protects."""

    @classmethod
    def again(cls) -> Self:
        return cls(
            "this frame is already protected: a second budget for the same people would not be one promise. "
            "Use the frame as it is; its session is df.dp.session."
        )


class LineageError(DPError, ValueError):
    """The rows cannot be traced one by one to the protected frame."""

    @classmethod
    def lost(cls) -> Self:
        return cls(
            "the rows of this frame do not carry the row labels of the protected frame, so it cannot be known "
            "whom they are about (reset_index(drop=True), set_index, ignore_index=True, merge, an aggregate or a "
            "reshape removes them). Keep the index; use join(table, on=...) or map instead of merge(); ask .dp before "
            "you aggregate; or name a unit column in protect(unit=..., max_rows=...) and hand the frame to "
            "df.dp.session.adopt(frame). " + UNCHARGED
        )

    @classmethod
    def mixed(cls) -> Self:
        return cls(
            "this frame carries the marks of two protected frames: rows of both were joined or combined, and a budget answers for one. "
            "Join before you protect, or keep them apart; two frames about the same people can share one budget with "
            "pandas_dp.Session(epsilon=...).protect(frame), but not one row. " + UNCHARGED
        )

    @classmethod
    def relabelled(cls) -> Self:
        return cls(
            "this frame has row labels that the protected frame does not have: rows were added or relabelled "
            "(append, reindex, rename, a join that is not on='left'). Keep to the protected rows and their index: "
            "filter, select and assign columns. " + UNCHARGED
        )

    @classmethod
    def repeated(cls) -> Self:
        return cls(
            "row labels of the protected frame are repeated in this frame: rows were duplicated (concat of "
            "overlapping parts, explode, melt, stack, sample(replace=True), a join on a table with repeated keys), "
            "so one person could count more than once. Concat disjoint parts only, join on unique keys, or protect "
            "with unit=... and max_rows=..., which limits how often one unit counts. " + UNCHARGED
        )

    @classmethod
    def not_unique(cls) -> Self:
        return cls(
            "the index has repeated labels, so a row cannot be told by its label. Say which column or index level "
            "holds the person with protect(unit='patient_id', max_rows=5), or give every row its own label with "
            "df.reset_index(drop=True).dp.protect(...) if each row is one person."
        )

    @classmethod
    def no_unit_column(cls) -> Self:
        return cls(
            "adopt() needs the unit column (or index level) that the session was protected with, under its own name, "
            "holding only units of the protected frame. Keep that column through the merge or reshape. " + UNCHARGED
        )


class BudgetExhausted(DPError, RuntimeError):
    """A query asks for more than is left.  Nothing was computed and nothing was spent.

    Attributes
    ----------
    requested, remaining, budget : Epsilon
        What the query asked for, what is left, and what the session began with.
    query : str
        The text of the query.
    """

    requested: object
    remaining: object
    budget: object
    query: str

    @classmethod
    def refuse(cls, query: str, requested: object, remaining: object, budget: object) -> Self:
        advice = f"Ask for at most {remaining!r}, reuse" if remaining else "Reuse"
        return cls(
            f"{query} asks for {requested!r}, but {remaining!r} of this session's {budget!r} is left. {UNCHARGED} "
            f"{advice} an answer from df.dp.session.releases, or ask the data's owner.",
            query=query,
            requested=requested,
            remaining=remaining,
            budget=budget,
        )


class SessionClosed(DPError, RuntimeError):
    """The session answers no more queries."""

    @classmethod
    def closed(cls) -> Self:
        return cls(
            f"this session was closed and answers no more. {UNCHARGED} Its ledger and releases can still be read; "
            "a new budget, under another name, is the data owner's decision."
        )

    @classmethod
    def forked(cls) -> Self:
        return cls(
            f"this session belongs to the process that opened it, and this is another one (a fork). {UNCHARGED} "
            "Ask in the parent process: a copy of the budget in each worker would not be one budget."
        )


class SessionConflict(DPError, ValueError):
    """A named session exists with other parameters, or two ways to name a budget were mixed."""

    @classmethod
    def differs(cls, name: str, differences: Sequence[str]) -> Self:
        return cls(
            f"session {name!r} exists in this process with other parameters ({'; '.join(differences)}). "
            "Use the same parameters to continue it, or another name.",
            name=name,
            differences=tuple(differences),
        )

    @classmethod
    def mixed(cls, parameters: str) -> Self:
        return cls(f"protect(session=...) takes its budget from that session: leave out {parameters}, or leave out session=.")

    @classmethod
    def not_picklable(cls) -> Self:
        return cls(
            "a session cannot be pickled: a copy would be a second budget. Pickle the frame; it finds its session again in this process."
        )


class ParameterError(DPError, ValueError):
    """A parameter is wrong, judged by itself and by public facts.

    Attributes
    ----------
    parameter : str
        Its name.
    """

    parameter: str

    @classmethod
    def number(cls, parameter: str, requirement: str) -> Self:
        return cls(f"{parameter} must be {requirement}. {UNCHARGED}", parameter=parameter)

    @classmethod
    def epsilon_missing(cls) -> Self:
        return cls(
            "epsilon= is missing: say how much of the budget this query may spend, for example epsilon=0.1, or "
            f"call protect(..., queries=N) once to give every query an equal share. {UNCHARGED}",
            parameter="epsilon",
        )

    @classmethod
    def budget_missing(cls) -> Self:
        return cls(
            "protect() needs a budget: epsilon=1.0, say, or session= to draw on an existing session's.",
            parameter="epsilon",
        )

    @classmethod
    def choice(cls, parameter: str, allowed: Iterable[str]) -> Self:
        return cls(f"{parameter} must be one of {', '.join(map(repr, allowed))}.", parameter=parameter)

    @classmethod
    def unit_and_rows(cls) -> Self:
        return cls(
            "unit= and max_rows= go together: unit names the column or index level that identifies a person, "
            "max_rows says how many rows of one person may count (the noise grows with it).",
            parameter="max_rows",
        )

    @classmethod
    def unit_unknown(cls, unit: Hashable) -> Self:
        return cls(
            f"unit={_label(unit)} must name exactly one column or index level of the frame, with labels such as integers or strings.",
            parameter="unit",
        )

    @classmethod
    def rows_needed(cls) -> Self:
        return cls(
            "the error of a mean depends on the number of rows, which is private: give rows=, an estimate of your "
            "own, or release count() first, and the last released count is used. Nothing was spent.",
            parameter="rows",
        )


class ParameterTypeError(ParameterError, TypeError):
    """A parameter is of a type that cannot be converted exactly."""

    @classmethod
    def number_type(cls, parameter: str, kind: type) -> Self:
        return cls(
            f"{parameter} must be a number (int, float, str, Decimal, Fraction or a NumPy scalar), not {kind.__name__}. {UNCHARGED}",
            parameter=parameter,
        )

    @classmethod
    def wrong_kind(cls, parameter: str, expected: str, kind: type) -> Self:
        return cls(f"{parameter} must be {expected}, not {kind.__name__}.", parameter=parameter)


class BoundsError(ParameterError):
    """Bounds are missing or unusable.

    Attributes
    ----------
    column : Hashable
        The column's name.
    bounds : tuple or None
        The bounds as they were understood.
    """

    column: Hashable
    bounds: object

    @classmethod
    def missing(cls, column: Hashable) -> Self:
        return cls(
            f"{_where(column)} has no bounds. Give them in the call, bounds=(lower, upper); declare them in a pandera schema, "
            "protect(schema=...), with ge/le, in_range or isin; or convert the column to bool, whose bounds are known. "
            f"They are never read off the data. {UNCHARGED}",
            parameter="bounds",
            column=column,
            bounds=None,
        )

    @classmethod
    def none_declared(cls) -> Self:
        return cls(
            "no column was named and none has bounds: name one and give bounds=(lower, upper), give bounds as a dict "
            f"of column to (lower, upper), or declare them in a pandera schema, protect(schema=...). {UNCHARGED}",
            parameter="bounds",
            column=None,
            bounds=None,
        )

    @classmethod
    def unusable(cls, column: Hashable, bounds: object, problem: str) -> Self:
        return cls(
            f"bounds {_pair(bounds)} for {_where(column)} {problem}. {UNCHARGED}",
            parameter="bounds",
            column=column,
            bounds=_plain(bounds),
        )

    @classmethod
    def unusable_unnamed(cls, bounds: object) -> Self:
        return cls(
            f"bounds {_pair(bounds)} do not serve for every numeric column of this frame. Name the column, or give a dict of column to "
            f"(lower, upper). {UNCHARGED}",
            parameter="bounds",
            column=None,
            bounds=_plain(bounds),
        )

    @classmethod
    def wider(cls, column: Hashable, bounds: object, declared: object) -> Self:
        return cls(
            f"bounds {_pair(bounds)} for {_where(column)} reach beyond {_pair(declared)}, which the schema declares: a "
            f"call may only narrow them. {UNCHARGED}",
            parameter="bounds",
            column=column,
            bounds=_plain(bounds),
            declared=declared,
        )

    @classmethod
    def not_applicable(cls, column: Hashable) -> Self:
        return cls(
            f"bounds were given for {_where(column)}, which is no column of this frame. {UNCHARGED}",
            parameter="bounds",
            column=column,
            bounds=None,
        )


class KeysError(ParameterError):
    """Group keys are missing or unusable.

    Attributes
    ----------
    column : Hashable
        The column, or columns, to group by.
    """

    column: Hashable

    @classmethod
    def missing(cls, column: Hashable) -> Self:
        return cls(
            f"{_where(column)} has no public keys to group by. Declare them with isin in a pandera schema, protect(schema=...); group by a boolean, "
            "whose keys are known; or give them, keys=[...]. They are never taken from the data, nor from the categories of a Categorical, "
            f"because which keys occur is private. {UNCHARGED}",
            parameter="keys",
            column=column,
        )

    @classmethod
    def unusable(cls, column: object, problem: str) -> Self:
        names = column if isinstance(column, list) else [column]
        return cls(f"keys for {', '.join(map(_label, names))} {problem}. {UNCHARGED}", parameter="keys", column=column)


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
        names = [_label(name) for name in columns]
        shown = ", ".join(names[:shown_at_most]) + (", ..." if len(names) > shown_at_most else "")
        known = f" Of the columns that were protected it has: {shown}." if names else ""
        hint = f" Is it the budget? Then name it: epsilon={column}." if isinstance(column, float) else ""
        return cls(f"this frame has no column {_label(column)}.{known}{hint} {UNCHARGED}", column=column)

    @classmethod
    def ambiguous(cls, column: Hashable) -> Self:
        return cls(
            f"{_label(column)} names more than one column. Rename the columns, or select one level of a MultiIndex with the "
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
        else:
            advice = "Convert it with astype or pd.to_numeric first; count() works for every dtype"
        return cls(
            f"{statistic} of {_where(column)} is not possible for dtype {name}. {advice}. {UNCHARGED}",
            column=column,
            dtype=name,
        )


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
        whole = "" if part == expression.strip() else f" in the expression {_excerpt(expression)}"
        return cls(f"{_excerpt(part)}{whole} {problem}. {advice}.", expression=expression, part=part)

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


class SchemaError(DPError, ValueError):
    """The schema itself cannot be used.  Judged without the data."""

    @classmethod
    def not_pandera(cls, kind: type) -> Self:
        return cls(f"schema= must be a pandera DataFrameSchema or DataFrameModel (import pandera.pandas as pa), not {kind.__name__}.")

    @classmethod
    def unreadable(cls) -> Self:
        return cls(
            "the schema's columns and checks could not be read. Try schema.validate(frame.head(0)), which shows what is wrong with it."
        )

    @classmethod
    def contradictory(cls, column: Hashable) -> Self:
        return cls(f"the schema's checks for {_where(column)} leave no room between lower and upper bound. Correct the schema.")


class SchemaViolation(DPError, ValueError):
    """The frame does not satisfy its schema.  Says which columns and checks, never which values.

    Attributes
    ----------
    failures : tuple of (column, check)
        What failed, by name.
    """

    failures: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, failures: Iterable[tuple[str, str]]) -> Self:
        unique = tuple(dict.fromkeys(failures))
        shown = "; ".join(f"{column}: {check}" for column, check in unique)
        return cls(
            f"the frame does not satisfy its schema ({shown or 'validation failed'}). No values are shown here: the owner "
            "can look with schema.validate(df, lazy=True) outside pandas_dp. Correct the data or the schema, or use "
            "enforce='clamp' to leave values to the clamping that every query does anyway.",
            failures=unique,
        )


class ComputationFailed(DPError, RuntimeError):
    """Something failed that should not.  The cause is withheld: it could quote data."""

    @classmethod
    def unexpected(cls) -> Self:
        return cls(
            "this failed in an unforeseen way. The cause is withheld because it may quote data; df.dp.session.ledger shows whether "
            "anything was charged. Check the arguments, and report a reproduction on made-up data.",
            query="",
        )

    @classmethod
    def after_charge(cls, query: str) -> Self:
        return cls(
            f"{query} was charged, and computing it failed. The cause is withheld because it may quote data, and the "
            "charge stands because a free failure would tell something. Check memory and the pandas installation, and "
            "report a reproduction on made-up data.",
            query=query,
        )


def boundary(method: Callable[P, R]) -> Callable[P, R]:
    """Let an error out without its stack, whose frames hold the data that debuggers and rich tracebacks print.

    Every public method that touches a frame is wrapped in it.  Errors of this module pass; an interrupt passes, stripped; what nobody
    foresaw may quote data and becomes ``ComputationFailed``.  A call with wrong arguments fails before any frame of ours exists and stays what it is.
    """

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        error: BaseException
        try:
            return method(*args, **kwargs)
        except (DPError, KeyboardInterrupt, SystemExit) as raised:
            error = raised
        except Exception as raised:  # noqa: BLE001
            ours = raised.__traceback__ is not None and raised.__traceback__.tb_next is not None
            error = ComputationFailed.unexpected() if ours else raised
        error.__cause__ = error.__context__ = None
        del args, kwargs  # even what was passed in may be a column of the data
        raise error.with_traceback(None)

    return call


def type_name(dtype: object) -> str:
    """Return a dtype's name without anything that depends on values (a Categorical's repr lists its categories)."""
    name = str(getattr(dtype, "name", dtype))
    return name.split("[", maxsplit=1)[0] if name.startswith(("interval", "category", "Sparse")) else name


def _where(column: Hashable) -> str:
    return "the Series" if column is None else f"column {_label(column)}"


def _label(name: object) -> str:
    """Return a name as it was typed; of anything that could hold data, the type."""
    if isinstance(name, (str, bytes, numbers.Number, dt.date, dt.timedelta)) or name is None:
        return repr(name)
    if isinstance(name, tuple):
        return "(" + ", ".join(map(_label, name)) + ")"
    return f"of type {type(name).__name__}"


_DIGITS = 40
_EXCERPT = 80


def _excerpt(text: str) -> str:
    """Quote a piece of an expression, which is public, at a length that can be read."""
    return repr(text if len(text) <= _EXCERPT else text[:_EXCERPT] + "...")


def _bound(bound: object) -> str:
    if isinstance(bound, int) and bound.bit_length() > 4 * _DIGITS:
        return f"an integer of {bound.bit_length()} bits"
    if isinstance(bound, (str, numbers.Number, dt.date, dt.timedelta)) or (hasattr(bound, "dtype") and getattr(bound, "ndim", 1) == 0):
        text = str(bound)
        return text if len(text) <= _DIGITS else text[:_DIGITS] + "..."
    return f"a {type(bound).__name__}"


def _plain(bounds: object) -> tuple[object, ...] | None:
    """Return bounds for an error's attribute: numbers, dates and texts as they are; nothing else is kept."""
    if not isinstance(bounds, tuple):
        return None
    kept = all(isinstance(bound, (str, numbers.Number, dt.date, dt.timedelta)) and _bound(bound)[:2] != "an" for bound in bounds)
    return bounds if kept else None


def _pair(bounds: object) -> str:
    if isinstance(bounds, tuple):
        return "(" + ", ".join(map(_bound, bounds)) + ")"
    return f"of type {type(bounds).__name__}"
