"""Errors about the parameters of a call: numbers, bounds, keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pandas_dp.errors.base import DPError
from pandas_dp.errors.wording import UNCHARGED, label, pair, plain, where

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

__all__ = ["AggregationError", "BoundsError", "KeysError", "ParameterError", "ParameterTypeError"]


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
    def one_price(cls) -> Self:
        return cls(f"epsilon=, rho= and within= name one price in different ways: give one of them. {UNCHARGED}", parameter="epsilon")

    @classmethod
    def pure_only(cls) -> Self:
        return cls(
            "this session is of pure differential privacy, and has no ρ and no Gaussian mechanism: ask with epsilon=, or open a session with "
            f"protect(epsilon=..., delta=...) or protect(rho=...). {UNCHARGED}",
            parameter="rho",
        )

    @classmethod
    def chosen(cls) -> Self:
        return cls(
            f"quantiles, minimum and maximum are chosen by the exponential mechanism: leave mechanism= out. {UNCHARGED}",
            parameter="mechanism",
        )

    @classmethod
    def laplace_only(cls, what: str) -> Self:
        return cls(
            f"{what} is answered with Laplace noise: ask with epsilon=, and leave mechanism= out. {UNCHARGED}", parameter="mechanism"
        )

    @classmethod
    def delta_needed(cls) -> Self:
        return cls(
            "keys='private' needs a session with δ, because a key of one person alone may show with a small probability: "
            f"protect(epsilon=..., delta=1e-6), with δ far below one over the number of people. Or give public keys. {UNCHARGED}",
            parameter="delta",
        )

    @classmethod
    def budget_missing(cls) -> Self:
        return cls(
            "protect() needs a budget: epsilon=1.0, say, with delta= if wanted, or rho=0.1, or session= to draw on an existing session's.",
            parameter="epsilon",
        )

    @classmethod
    def choice(cls, parameter: str, allowed: Iterable[str]) -> Self:
        return cls(f"{parameter} must be one of {', '.join(map(repr, allowed))}.", parameter=parameter)

    @classmethod
    def mean_needs_n(cls) -> Self:
        return cls(
            "the mean has no sensitivity when a person may be added or removed: how much one moves it depends on how many there are, which is "
            "then private. Use df.dp.mean(column, bounds=..., epsilon=...), which releases two noisy totals and divides them; or, if the number "
            "of people is public and fixed, say neighbours='replace-one'.",
            parameter="neighbours",
        )

    @classmethod
    def no_whole_number(cls) -> Self:
        return cls(f"there is no whole number between lower= and upper=, and the answer has to be one. {UNCHARGED}", parameter="lower")

    @classmethod
    def lengths(cls, parameter: str, other: str) -> Self:
        return cls(f"{parameter} must be as many as {other}. {UNCHARGED}", parameter=parameter)

    @classmethod
    def unit_and_rows(cls) -> Self:
        return cls(
            "unit= and max_rows= go together: unit names the column or index level that identifies a person, "
            "max_rows says how many rows of one person may count (the noise grows with it).",
            parameter="max_rows",
        )

    @classmethod
    def needs_unit(cls, parameter: str) -> Self:
        return cls(
            f"{parameter}= is about people with several rows: name the column or index level that identifies a person, protect(unit=..., "
            f"max_rows=...). Without it each row is a person of its own. {UNCHARGED}",
            parameter=parameter,
        )

    @classmethod
    def unit_unknown(cls, unit: Hashable) -> Self:
        return cls(
            f"unit={label(unit)} must name exactly one column or index level of the frame, with labels such as integers or strings.",
            parameter="unit",
        )

    @classmethod
    def raw_data(cls, parameter: str) -> Self:
        return cls(
            f"{parameter} belongs to a protected frame: a picture of it would show raw data, outside every budget. This picture is for public or "
            "made-up data; of protected data draw the answers alone, release.plot(). Nothing was drawn.",
            parameter=parameter,
        )

    @classmethod
    def rows_needed(cls) -> Self:
        return cls(
            "the error of a mean depends on the number of rows, which is private: give rows=, an estimate of your own (by group, of the smallest "
            "group), or release count() of this very frame or view first. Nothing was spent.",
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

    @classmethod
    def unrecordable(cls) -> Self:
        return cls(
            f"a ledger file holds names and keys that are numbers, texts, dates or tuples of these, and this question has others. {UNCHARGED} "
            "Rename the columns, or use plain keys.",
            parameter="keys",
        )


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
    def missing(cls, column: Hashable, declared: object = None) -> Self:
        half = "" if declared is None else f" (the schema declares {pair(declared)} alone)"
        return cls(
            f"{where(column)} has no bounds{half}. Give them in the call, bounds=(lower, upper); declare them in a pandera schema, "
            "protect(schema=...), with ge/le, in_range or isin; or convert the column to bool, whose bounds are known. "
            f"They are never read off the data; dp.bounds(...) estimates usable ones privately. {UNCHARGED}",
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
            f"bounds {pair(bounds)} for {where(column)} {problem}. {UNCHARGED}",
            parameter="bounds",
            column=column,
            bounds=plain(bounds),
        )

    @classmethod
    def unusable_unnamed(cls, bounds: object) -> Self:
        return cls(
            f"bounds {pair(bounds)} do not serve for every numeric column of this frame. Name the column, or give a dict of column to "
            f"(lower, upper). {UNCHARGED}",
            parameter="bounds",
            column=None,
            bounds=plain(bounds),
        )

    @classmethod
    def wider(cls, column: Hashable, bounds: object, declared: object, *, derived: bool = False) -> Self:
        source = "which follow from its expression" if derived else "which the schema declares"
        return cls(
            f"bounds {pair(bounds)} for {where(column)} reach beyond {pair(declared)}, {source}: a call may only narrow them. {UNCHARGED}",
            parameter="bounds",
            column=column,
            bounds=plain(bounds),
            declared=declared,
        )

    @classmethod
    def not_applicable(cls, column: Hashable) -> Self:
        return cls(
            f"bounds were given for {where(column)}, which is no column of this frame. {UNCHARGED}",
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
            f"{where(column)} has no public keys to group by. Declare them with isin in a pandera schema, protect(schema=...); group by a boolean, "
            "whose keys are known; or give them, keys=[...]. They are never taken from the data, nor from the categories of a Categorical, "
            f"because which keys occur is private. {UNCHARGED}",
            parameter="keys",
            column=column,
        )

    @classmethod
    def loop(cls) -> Self:
        return cls(
            "groups are not looped over: each turn would be paid for, and take the keys from the data. Ask once for all of them, "
            f"df.dp.groupby(...).agg(...), and loop over the answer. {UNCHARGED}",
            parameter="keys",
            column=None,
        )

    @classmethod
    def of_units(cls, column: Hashable) -> Self:
        return cls(
            f"{where(column)} tells people apart, and has no public keys: count(unique=True) counts people. {UNCHARGED}",
            parameter="keys",
            column=column,
        )

    @classmethod
    def unusable(cls, column: object, problem: str) -> Self:
        names = column if isinstance(column, list) else [column]
        return cls(f"keys for {', '.join(map(label, names))} {problem}. {UNCHARGED}", parameter="keys", column=column)


class AggregationError(ParameterError):
    """What ``agg`` was asked for is none of its functions or forms."""

    @classmethod
    def _refuse(cls, problem: str) -> Self:
        return cls(f"{problem} {UNCHARGED}", parameter="func")

    @classmethod
    def unknown(cls, function: object, known: Iterable[str]) -> Self:
        return cls._refuse(f"agg does not know the function {label(function)}: give names among {', '.join(map(repr, known))}.")

    @classmethod
    def nothing(cls, known: Iterable[str]) -> Self:
        return cls._refuse(f"agg was asked for nothing: give names among {', '.join(map(repr, known))}, or a dict of column to such names.")

    @classmethod
    def repeated(cls) -> Self:
        return cls._refuse("agg was asked for one function twice: name each once.")

    @classmethod
    def both_forms(cls) -> Self:
        return cls._refuse("agg takes functions or named aggregations, not both: leave one out.")

    @classmethod
    def dict_for_one(cls) -> Self:
        return cls._refuse("agg of one column takes a name or a list of names, not a dict of columns: leave the column out.")

    @classmethod
    def not_named(cls, name: str, *, single: bool) -> Self:
        form = "'mean'" if single else "('charge', 'mean')"
        return cls._refuse(f"a named aggregation is written as {name}={form}.")
