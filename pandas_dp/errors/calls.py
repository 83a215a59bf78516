"""Errors about calls: arguments that there are not, and names that are no queries.  Judged by signatures and names alone."""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING, Any, Self

from pandas_dp.errors.base import DPError
from pandas_dp.errors.wording import UNCHARGED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["CallError", "NoSuchQuery", "misused"]

_NEAR = 0.7

_HINTS = {
    "skipna": "Missing values are always left out; count(column) counts the others.",
    "dropna": "Missing values are always left out; by group, other=... counts those without a key.",
    "axis": "Queries go down the rows.",
    "numeric_only": "Columns without bounds are left out; a list names columns.",
    "normalize": "Divide the answer by its sum: that is free.",
    "ascending": "Sort the answer: that is free.",
    "percentiles": "quantile(column, [0.1, 0.9]) takes any.",
    "interpolation": "A quantile is a point of a public grid.",
    "values": "groupby([...])[column].mean(...).unstack() makes a table of another statistic.",
    "aggfunc": "groupby([...])[column].agg(...).unstack() makes a table of another statistic.",
    "per_unit": "It belongs to sum().",
    "bounds": "It takes no bounds.",
    "min_periods": "How many rows there are is private.",
    "observed": "The groups are the declared keys.",
    "as_index": "reset_index() on the answer is free.",
}
"""What stands in for arguments that pandas has."""

_INSTEAD = {
    "pivot_table": "groupby([...])[column].mean(...).unstack() makes the same table.",
    "pivot": "groupby([...])[column].mean(...).unstack() makes a table.",
    "resample": "groupby(pd.Grouper(key=..., freq=...), keys=(start, end)) makes buckets of dates.",
    "rolling": "groupby(pd.Grouper(key=..., freq=...), keys=(start, end)) makes buckets of dates.",
    "apply": "A function of the rows may tell everything; agg(...) lists what can be released.",
    "transform": "A function of the rows may tell everything; agg(...) lists what can be released.",
    "get_group": "Select the rows first: df[df[column] == key].dp.",
    "avg": "It is called mean().",
    "average": "It is called mean().",
    "hist": "It is called histogram(column, bins=[...]).",
    "groupby": "Group the frame: df.dp.groupby(key)[column].",
    "unique": "Which values occur is private; value_counts(keys=[...]) counts those that may.",
    "head": "Rows are private.",
    "tail": "Rows are private.",
    "sample": "Rows are private.",
    "iloc": "Select before .dp: df[...].dp.",
    "loc": "Select before .dp: df[...].dp.",
    "query": "Select before .dp: df.query(...).dp; or with a tracked view, where(...).",
    "shape": "The number of rows is private: count(epsilon=...).",
    "prod": "A product of many values has no useful bounds; sum of logarithms does.",
    "skew": "var() and quantile() tell of a distribution's shape; histogram() shows it.",
}
"""What to use in place of names that pandas has."""


class CallError(DPError, TypeError):
    """A query was called with arguments that it does not have, or without one that it needs.  Nothing was computed.

    Attributes
    ----------
    query : str
        The name of what was called.
    """

    query: str

    @classmethod
    def unknown(cls, query: str, argument: str, known: Sequence[str]) -> Self:
        hint = _hint(argument, _HINTS, known, "=") or f"It takes {_listed(known)}."
        return cls(f"{query} has no argument {argument}=. {hint} {UNCHARGED}", query=query)

    @classmethod
    def no_such(cls, argument: str, price: Sequence[str]) -> Self:
        hint = _hint(argument, _HINTS, price, "=") or f"Beside a query's own arguments it takes {_listed(price)}."
        return cls(f"there is no argument {argument}= here. {hint} {UNCHARGED}", query="")

    @classmethod
    def positional(cls, query: str, first: Sequence[str], named: Iterable[str]) -> Self:
        taken = f"{', '.join(first)} by position, and all other arguments by name" if first else "all arguments by name"
        return cls(f"{query} takes {taken}: {_listed(named)}. {UNCHARGED}", query=query)

    @classmethod
    def unsupported(cls, query: str, why: str) -> Self:
        return cls(f"{query} cannot be answered here: {why}. {UNCHARGED}", query=query)

    @classmethod
    def missing(cls, query: str, needed: Sequence[str]) -> Self:
        return cls(f"{query} needs {_listed(needed)}. {UNCHARGED}", query=query)


class NoSuchQuery(DPError, AttributeError):
    """There is no query of this name.

    Attributes
    ----------
    name : str
        The name.
    """

    name: str

    @classmethod
    def of(cls, owner: str, name: str, offered: Sequence[str]) -> Self:
        hint = _hint(name, _INSTEAD, offered)
        return cls(f"{owner} has no {name!r}.{' ' if hint else ''}{hint} It offers {', '.join(offered)}.", name=name)


def _hint(name: str, instead: Mapping[str, str], known: Sequence[str], sign: str = "") -> str:
    """Return what stands in for a name, or one that is nearly the same; empty if there is neither."""
    near = difflib.get_close_matches(name, known, 1, _NEAR)
    return instead.get(name) or (f"Did you mean {near[0]}{sign}?" if near else "")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"{name}=" for name in names)


def misused(method: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> CallError | None:
    """Return the error of a call that does not fit its signature; None if it fits."""
    kinds = inspect.Parameter
    parameters = list(inspect.signature(method).parameters.values())
    ordered = [one for one in parameters if one.kind is kinds.POSITIONAL_OR_KEYWORD]
    named = [one.name for one in parameters if one.kind is kinds.KEYWORD_ONLY]
    open_ended = any(one.kind is kinds.VAR_KEYWORD for one in parameters)
    own = ordered[1:] if ordered and ordered[0].name in {"self", "cls"} else ordered
    given = args[len(ordered) - len(own) :]
    query = f"{method.__qualname__.split('.')[-2] if method.__name__ == '__init__' else method.__name__}()"
    if len(given) > len(own) and not any(one.kind is kinds.VAR_POSITIONAL for one in parameters):
        return CallError.positional(query, [one.name for one in own], named)
    known = [*(one.name for one in own), *named]
    for name in kwargs:
        if name not in known and not open_ended:
            return CallError.unknown(query, name, known)
    filled = {*(one.name for one in own[: len(given)]), *kwargs}
    needed = [one.name for one in parameters if one.name in known and one.default is kinds.empty and one.name not in filled]
    return CallError.missing(query, needed) if needed else None
