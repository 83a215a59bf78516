"""Public group keys: which groups an answer has, decided before any data is read.

The groups of a grouped answer are declared: by the schema's ``isin``, by a boolean dtype, by ``keys=``, or by the edges of bins.  They are never taken from
the data, nor from a Categorical's categories, which are data.  Every declared group is in the answer, in declared order; a value that is not declared, or
missing, falls into no group, or into the one called ``other``.
"""

from __future__ import annotations

import datetime as dt
import math
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pandas_dp.domains.bounds import exact_value
from pandas_dp.domains.dtypes import Kind, kind_of
from pandas_dp.errors import BoundsError, KeysError
from pandas_dp.quantities.budget import as_delta

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from fractions import Fraction

    from pandas_dp.domains.public_frame import PublicFrame

__all__ = ["MOST_GROUPS", "Bins", "KeyList", "KeySet", "PrivateKeys", "group_keys", "private_keys"]

MOST_GROUPS = 10_000_000


@dataclass(frozen=True, slots=True)
class KeyList:
    """The declared values of one column.

    Attributes
    ----------
    column : Hashable
        The column.
    values : tuple
        Distinct, none missing, in declared order.
    wanted : tuple
        The same as the column stores them: integers for integers, booleans, dates and durations (in the column's unit), doubles for floats.
    other : Hashable or None
        The label of everything else, which then is the last group.
    """

    column: Hashable
    values: tuple[Any, ...]
    wanted: tuple[Any, ...]
    other: Hashable | None = None

    def means(self) -> tuple[Any, ...]:
        """Return what counts for the question that is asked; in a column of objects a date is no midnight."""
        objects = self.wanted is self.values
        kinds = [type(value).__name__ for value in self.values if objects and _only_itself(value)]
        return self.column, self.values, self.other, kinds

    @property
    def labels(self) -> list[Any]:
        """The labels of the groups."""
        return [*self.values] if self.other is None else [*self.values, self.other]


@dataclass(frozen=True, slots=True)
class Bins:
    """Intervals of one column of numbers, or buckets of dates, between public edges.

    Attributes
    ----------
    column : Hashable
        The column.
    index : IntervalIndex or DatetimeIndex
        The groups, ascending.
    edges : ndarray
        The edges as numbers of the column's unit.
    right : bool
        Whether an edge belongs to the interval below it.
    """

    column: Hashable
    index: pd.Index[Any]
    edges: Any
    right: bool

    def means(self) -> tuple[Any, ...]:
        """Return what counts for the question that is asked: the edges, whatever the column's unit."""
        dates = isinstance(self.index, pd.DatetimeIndex)
        edges = self.edges.astype(f"datetime64[{cast('Any', self.index).unit}]") if dates else self.edges
        return self.column, edges, self.right, self.index

    @property
    def labels(self) -> list[Any]:
        """The labels of the groups."""
        return list(self.index)


@dataclass(frozen=True, slots=True)
class KeySet:
    """All groups of an answer.

    Attributes
    ----------
    parts : tuple of KeyList or Bins
        One for each column.
    index : Index
        The index of the answer.
    chosen : ndarray or None
        Where only some combinations were declared: the place of each among all, else None.
    """

    parts: tuple[KeyList | Bins, ...]
    index: pd.Index[Any]
    chosen: Any = None

    def means(self) -> tuple[Any, ...]:
        """Return what counts for the question that is asked."""
        return self.parts, self.chosen

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns that are grouped by."""
        return tuple(part.column for part in self.parts)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.index)


@dataclass(frozen=True, slots=True)
class PrivateKeys:
    """Groups that are not public: those that enough units have will show.

    Attributes
    ----------
    columns : tuple of Hashable
        The columns that are grouped by.
    dtypes : tuple
        Theirs.
    delta : object
        What the call gave as δ, or None.
    """

    columns: tuple[Hashable, ...]
    dtypes: tuple[Any, ...]
    delta: object

    def means(self) -> tuple[Any, ...]:
        """Return what counts for the question that is asked."""
        return self.columns, None if self.delta is None else as_delta(self.delta)


def private_keys(frame: PublicFrame, by: Any, other: Hashable | None, delta: object) -> PrivateKeys:
    """Check the columns of ``groupby(by, keys="private")``.

    Raises
    ------
    KeysError
        If a column holds no text, whole numbers, booleans or dates, or ``other=`` is given.
    """
    columns, groupers = grouped_by(by)
    if groupers:
        raise KeysError.unusable(columns, "are buckets of dates, which are public: give keys=(start, end)")
    if other is not None:
        raise KeysError.unusable(columns, "are private and leave no place for other=: what is not shown would be shown as what is left")
    for column in columns:
        frame.check(column)
        kind = kind_of(frame.dtype(column))
        facts = frame.facts.get(column)
        text = kind is None or (kind.name == "object" and not (facts and facts.numeric))
        if (kind is None and not _holds_text(frame.dtype(column))) or not (text or (kind and kind.name in {"int", "bool", "datetime"})):
            raise KeysError.unusable(column, "can be private for text, whole numbers, booleans and dates only: cut others into bins")
    return PrivateKeys(tuple(columns), tuple(frame.dtype(column) for column in columns), delta)


def _holds_text(dtype: Any) -> bool:
    return isinstance(dtype, pd.CategoricalDtype) or bool(pd.api.types.is_string_dtype(dtype))


def group_keys(frame: PublicFrame, by: Any, keys: Any, other: Hashable | None) -> KeySet:
    """Find the declared groups of ``groupby(by)``.

    Parameters
    ----------
    frame : PublicFrame
        Columns, dtypes and declarations.
    by : Hashable or list
        One column or several.
    keys : list, dict of lists, Index, MultiIndex, DataFrame, or None
        The groups; None for those that the schema or a boolean dtype declares.  Combinations as MultiIndex or DataFrame are taken as they are.
    other : Hashable, optional
        A label for undeclared and missing values.

    Raises
    ------
    KeysError
        If no keys are declared, or they repeat, are missing, or cannot be values of the column.
    """
    columns, groupers = grouped_by(by)
    _check_other(columns, keys, other, every_bucket=len(groupers) == len(columns))
    for column in columns:
        frame.check(column)
    if isinstance(keys, (pd.DataFrame, pd.MultiIndex)) and not groupers:
        return _combinations(frame, columns, keys)
    if keys is not None and not isinstance(keys, dict) and len(columns) > 1:
        raise KeysError.unusable(columns, "are for one column: with several give a dict, a MultiIndex or a DataFrame")
    given: Mapping[Hashable, Any] = keys if isinstance(keys, dict) else ({} if keys is None else {columns[0]: keys})
    for column in given:
        if column not in columns:
            raise KeysError.unusable(column, "are given for a column that is not grouped by")
    parts: tuple[KeyList | Bins, ...] = tuple(
        _date_bins(frame, groupers[column], given.get(column)) if column in groupers else _key_list(frame, column, given.get(column), other)
        for column in columns
    )
    size = int(np.prod([len(part.labels) for part in parts], dtype=object))
    if size > MOST_GROUPS:
        raise KeysError.unusable(columns, f"make more than {MOST_GROUPS:,} groups")
    index: pd.Index[Any] | None = None
    with suppress(Exception):  # half a character, a duration in years, or whatever else pandas has no place for
        if isinstance(parts[0], Bins) and len(parts) == 1:
            index = parts[0].index
        elif len(parts) == 1:
            index = pd.Index(parts[0].labels, name=columns[0], tupleize_cols=False)
        else:
            index = pd.MultiIndex.from_product([part.index if isinstance(part, Bins) else part.labels for part in parts], names=columns)
    if index is None:
        raise KeysError.unusable(columns, "hold a text or value that no index can hold")
    return KeySet(parts, index)


def grouped_by(by: Any) -> tuple[list[Hashable], dict[Hashable, pd.Grouper]]:
    """Return the columns that are grouped by, and the Groupers that make buckets of some."""
    asked = list(by) if isinstance(by, list) else [by]
    if not asked:
        raise KeysError.unusable(by, "name no column")
    columns = [one.key if isinstance(one, pd.Grouper) else one for one in asked]
    return columns, {one.key: one for one in asked if isinstance(one, pd.Grouper)}


def _date_bins(frame: PublicFrame, grouper: pd.Grouper, given: Any) -> Bins:
    from pandas_dp.domains.calendar import date_bins  # noqa: PLC0415  (loaded for those who use it)

    labels, edges = date_bins(grouper.key, kind_of(frame.dtype(grouper.key)), grouper, given)
    return Bins(grouper.key, labels, edges, right=False)


def _check_other(columns: list[Hashable], keys: Any, other: Hashable | None, *, every_bucket: bool) -> None:
    if other is not None and every_bucket:
        raise KeysError.unusable(columns, "are buckets of dates, which leave no place for other=")
    if other is not None and not isinstance(other, (str, int, np.integer)):
        raise KeysError.unusable(columns, "need other= to be a string or an integer")
    if other is not None and isinstance(keys, (pd.DataFrame, pd.MultiIndex)):
        raise KeysError.unusable(columns, "are combinations, which leave no place for other=")


def _key_list(frame: PublicFrame, column: Hashable, given: Any, other: Hashable | None) -> KeyList:
    dtype = frame.dtype(column)
    kind = kind_of(dtype)
    facts = frame.facts.get(column)
    declared = None if facts is None else facts.keys
    if kind is not None and kind.name == "bool" and not (declared and all(isinstance(key, (bool, np.bool_)) for key in declared)):
        declared = (False, True)  # other keys under its name are of the column that it was made of: t["age"] > 65
    if given is None:
        given = declared
    if given is None:
        raise KeysError.missing(column)
    if isinstance(given, tuple) and len(given) == 2 and kind is not None and kind.name == "datetime":  # noqa: PLR2004
        raise KeysError.unusable(
            column,
            "are two dates in a tuple: for the buckets between them group by pd.Grouper(key=..., freq=...); for these two alone give a list",
        )
    values: tuple[Any, ...] | None = None
    if not isinstance(given, (str, bytes)) and hasattr(given, "__iter__"):
        with suppress(Exception):  # whatever an iterable of the caller's raises
            values = tuple(given)
    if values is None:
        raise KeysError.unusable(column, "must be a list of values")
    wanted = _wanted(column, values, dtype)
    if other is not None and other in values:
        raise KeysError.unusable(column, "contain the label given as other=")
    return KeyList(column, values, wanted, other)


def _only_itself(value: Any) -> bool:
    """Whether an object is equal to none of another type: a date, or NumPy's dates and durations."""
    return isinstance(value, (np.datetime64, np.timedelta64)) or (isinstance(value, dt.date) and not isinstance(value, dt.datetime))


_PLAIN = (str, bool, int, float, Decimal, np.generic, dt.date, dt.timedelta)


def _wanted(column: Hashable, values: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
    """Check the keys, and convert them once to what the column stores."""
    if not values:
        raise KeysError.unusable(column, "are none")
    types = set(map(type, values))  # of thousands of keys, mostly one
    if not all(issubclass(kind, _PLAIN) for kind in types):
        raise KeysError.unusable(
            column,
            "must be plain values, such as strings or integers. For intervals use histogram(bins=...), or labels= of pd.cut; for periods "
            "pd.Grouper(key=..., freq=...) of the dates; missing values are counted with other=",
        )
    if any(isinstance(value, int) and abs(value) > 2**128 for value in values):
        raise KeysError.unusable(column, "must be whole numbers of at most 128 bits")
    if not types <= {int, str} and any(pd.isna(value) for value in values):
        raise KeysError.unusable(column, "may not be missing values: give other= to count those")
    kind = kind_of(dtype)
    if types == {int} and kind is not None and kind.name == "int":
        wanted = values
    elif kind is None or kind.name == "object":
        wanted = values
        if isinstance(dtype, pd.StringDtype) and not all(isinstance(value, str) for value in values):
            raise KeysError.unusable(column, "must be strings, as the column holds")
    else:
        wanted = tuple(stored(column, kind, value) for value in values)
    if len(set(wanted)) != len(wanted) or len(set(values)) != len(values):
        raise KeysError.unusable(column, "are repeated")
    return wanted


def stored(column: Hashable, kind: Kind, value: Any) -> Any:
    """Return a key as a column of this kind stores it, or raise ``KeysError`` if it cannot."""
    exact: Fraction | None = None
    with suppress(BoundsError):
        exact = exact_value(column, kind, value)
    if exact is None:
        raise KeysError.unusable(column, f"cannot be values of the column, which holds {_HELD[kind.name]}")
    if kind.name == "float":
        return float(exact)
    if exact.denominator != 1:
        raise KeysError.unusable(column, f"cannot be values of the column, which holds {_HELD[kind.name]}")
    return int(exact)


_HELD = {"bool": "booleans", "int": "integers", "float": "numbers", "datetime": "dates", "timedelta": "durations"}


def _combinations(frame: PublicFrame, columns: list[Hashable], keys: pd.DataFrame | pd.MultiIndex) -> KeySet:
    table = keys.to_frame(index=False) if isinstance(keys, pd.MultiIndex) else keys
    names: list[Hashable] = list(table.columns)
    if isinstance(keys, pd.MultiIndex) and set(names) != set(columns) and len(names) == len(columns):
        names = columns
    if len(names) != len(columns) or set(names) != set(columns):
        raise KeysError.unusable(columns, "must have exactly the columns that are grouped by")
    rows = [tuple(row) for row in table.set_axis(names, axis=1)[columns].itertuples(index=False, name=None)]
    if not all(isinstance(value, _PLAIN) for row in rows for value in row):
        raise KeysError.unusable(columns, "must be plain values, such as strings or integers")
    if len(set(rows)) != len(rows):
        raise KeysError.unusable(columns, "are repeated")
    parts = tuple(_key_list(frame, column, tuple(dict.fromkeys(row[place] for row in rows)), None) for place, column in enumerate(columns))
    size = math.prod(len(part.labels) for part in parts)
    if size > MOST_GROUPS:
        raise KeysError.unusable(columns, f"span more than {MOST_GROUPS:,} combinations")
    within = [{value: place for place, value in enumerate(part.values)} for part in parts]
    index = pd.MultiIndex.from_tuples(rows, names=columns) if len(columns) > 1 else pd.Index([row[0] for row in rows], name=columns[0])
    return KeySet(parts, index, np.array([_place(row, parts, within) for row in rows], dtype=np.int64))


def _place(row: tuple[Any, ...], parts: tuple[KeyList, ...], within: list[dict[Any, int]]) -> int:
    """Return the place of a combination among all of them, the last column running fastest."""
    place = 0
    for value, part, places in zip(row, parts, within, strict=True):
        place = place * len(part.labels) + places[value]
    return place
