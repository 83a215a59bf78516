"""Answers are pickled under names that will not move, and come back as they were."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import pickletools
import uuid
from fractions import Fraction

import pandas as pd
import pytest

import pandas_dp
from pandas_dp import Session
from pandas_dp.datasets import Visits, visits
from pandas_dp.results import PrivateBounds, Ranks, Release, rebuild

ALLOWED = {"pandas", "numpy", "builtins", "__builtin__", "datetime", "decimal", "fractions"}
"""Packages whose names a pickle may hold: those of values and labels, and of Python itself."""
OF_PANDAS = {"_codecs", "pyarrow"}
"""Packages that the pickle of a Series or DataFrame names beside its own: of bytes and of texts."""


def table():
    return Session(epsilon=15, delta="1e-5").protect(visits(), schema=Visits, name="visits", unit="patient_id", max_rows=3)


ANSWERS = {
    "count": lambda df: df.dp.count(epsilon=0.1),
    "sum": lambda df: df.dp.sum("charge", epsilon=0.1),
    "mean": lambda df: df.dp.mean("age", epsilon=0.1),
    "mean of a date": lambda df: df.dp.mean("admitted", bounds=("2024-01-01", "2024-12-31"), epsilon=0.1),
    "means": lambda df: df.dp.mean(["age", "charge"], epsilon=0.1),
    "agg": lambda df: df.dp.agg({"age": ["mean", "std"]}, epsilon=0.1),
    "median": lambda df: df.dp.median("age", epsilon=0.1),
    "iqr": lambda df: df.dp.iqr("age", epsilon=0.1),
    "describe": lambda df: df.dp.describe(epsilon=0.1),
    "corr": lambda df: df.dp.corr(["age", "charge"], epsilon=0.1),
    "cov": lambda df: df.dp.cov(["age", "charge"], epsilon=0.1),
    "group sizes": lambda df: df.dp.groupby("ward").size(epsilon=0.1),
    "group agg": lambda df: df.dp.groupby(["ward", "smoker"]).agg({"age": ["mean", "var"]}, epsilon=0.1),
    "group medians": lambda df: df.dp.groupby("ward")["age"].median(epsilon=0.1),
    "histogram": lambda df: df.dp.histogram("age", bins=[0, 18, 65, 110], epsilon=0.1),
    "bounds": lambda df: df.dp.bounds("charge", epsilon=0.1),
    "clamping rate": lambda df: df.dp.clamping_rate("charge", bounds=(0, 9000), epsilon=0.1),
    "gaussian": lambda df: df.dp.mean("age", mechanism="gaussian", epsilon=0.1),
    "private keys": lambda df: df.dp.groupby("ward", keys="private", delta="1e-7").size(epsilon=0.1),
    "months": lambda df: df.dp.groupby(pd.Grouper(key="admitted", freq="MS"), keys=("2024-01-01", "2024-12-31")).size(epsilon=0.1),
    "preview": lambda df: df.dp.preview.mean("age", epsilon=0.1, rows=1000),
    "previews": lambda df: df.dp.preview.mean(["age", "charge"], epsilon=0.1, rows=1000),
    "preview of ranks": lambda df: df.dp.preview.median("age", epsilon=0.1),
    "ranks": lambda _: Ranks(5),
    "estimated bounds": lambda _: PrivateBounds.of(0, 10, 0.25),
    "epsilon": lambda _: pandas_dp.Epsilon("1/3"),
    "delta": lambda _: pandas_dp.Delta("1e-6"),
    "rho": lambda _: pandas_dp.Rho("0.1"),
}


def named(data):
    """Module and name of every global that a pickle loads."""
    texts, memory, found, last = [], {}, [], None
    for operation, argument, _ in pickletools.genops(data):
        if operation.name == "MEMOIZE":
            memory[len(memory)] = last
        elif operation.name in {"BINPUT", "LONG_BINPUT"}:
            memory[argument] = last
        elif operation.name == "GLOBAL":
            found.append(tuple(argument.split(" ")))
        elif operation.name == "STACK_GLOBAL":
            found.append((texts[-2], texts[-1]))
        last = memory.get(argument) if operation.name in {"BINGET", "LONG_BINGET"} else argument
        if isinstance(last, str) and operation.name != "GLOBAL":
            texts.append(last)
    return found


def moving(data, beside=frozenset()):
    """The names in a pickle that are neither public, nor of a package of values."""
    public = {("pandas_dp", name) for name in pandas_dp.__all__} | {("pandas_dp.results", "rebuild")}
    return {one for one in named(data) if one[0].split(".")[0] not in ALLOWED | beside and one not in public}


def same(one, other):
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other)
    elif isinstance(one, pd.Series):
        pd.testing.assert_series_equal(one, other)
    elif isinstance(one, pd.Index):
        pd.testing.assert_index_equal(one, other, exact=True)
    else:
        assert type(one) is type(other)
        assert repr(one) == repr(other)


def same_release(one, other):
    assert repr(one) == repr(other)
    same(one.value, other.value)
    assert (one.cost, one.columns, one.functions, one.name, one.square, one.private) == (other.cost, other.columns, other.functions, other.name, other.square, other.private)  # fmt: skip
    if one.index is not None:
        same(one.index, other.index)
    for level in (0.5, 0.95):
        for a, b in zip(one.interval(level), other.interval(level), strict=True):
            same(a, b)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ANSWERS)
def test_pickles_name_what_users_import(name, protocol):
    """In any protocol an answer and its release come back as they were, and their pickles hold no name of the package but public ones and one function."""
    df = table()
    answer = ANSWERS[name](df)
    released = df.dp.session.releases[-1:]
    for one in (answer, *released):
        data = pickle.dumps(one, protocol)
        assert moving(data, OF_PANDAS if isinstance(one, (pd.Series, pd.DataFrame)) else frozenset()) == set()
        back = pickle.loads(data)
        (same_release if isinstance(one, Release) else same)(one, back)


def test_the_walk_finds_what_moves():
    """The check above sees a class of the package that is not public, however it is named in the pickle."""
    cost = Session(1).protect(visits(), name="v")
    release = (cost.dp.count(epsilon=0.1), cost.dp.session.releases[-1])[1]
    for protocol in (2, 4, 5):
        assert moving(pickle.dumps([release.cost, release.cost, type(release.cost)], protocol)) == {("pandas_dp.accounting.ledger", "Cost")}


@pytest.mark.parametrize("name", ANSWERS)
def test_copies(name):
    """copy and deepcopy give what was copied: the same number, and a record of equal parts."""
    df = table()
    answer = ANSWERS[name](df)
    for one in (answer, *df.dp.session.releases[-1:]):
        for copied in (copy.copy(one), copy.deepcopy(one)):
            (same_release if isinstance(one, Release) else same)(one, copied)


KEYS = {
    "identifiers": [uuid.UUID(int=1), uuid.UUID(int=2)],
    "numbers of Python": [1, True, 2.0],
    "dates": [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
    "fractions": [Fraction(1, 3), Fraction(2, 3)],
    "pairs": [("a", 1), ("b", 2)],
    "categories": pd.Categorical(["a", "b"], categories=["b", "a", "c"], ordered=True),
    "numbers that may be missing": pd.array([1, 2], dtype="Int64"),
    "zones": pd.date_range("2024-01-01", periods=2, tz="Europe/Berlin"),
    "periods": pd.period_range("2024-01", periods=2, freq="M"),
}


@pytest.mark.parametrize("kind", KEYS)
def test_labels_come_back_exactly(kind):
    """Groups and columns with labels of any type come back with that type, also where JSON has no place for it."""
    df = table()
    df.dp.groupby("ward", keys=["north", "south"])["age"].mean(epsilon=0.1)
    release = df.dp.session.releases[-1]
    labels = pd.Index(KEYS[kind], name=("a", 1), tupleize_cols=False)
    release = Release(**{field: getattr(release, field) for field in Release.__slots__} | {"index": labels[:2], "name": KEYS[kind][0]})
    back = pickle.loads(pickle.dumps(release))
    same(back.index, release.index)
    assert [type(one) for one in back.index] == [type(one) for one in release.index]
    assert back.name == release.name
    assert type(back.name) is type(release.name)


def test_a_later_version():
    """What a later version pickled is refused with a text that says so."""
    for version, kind in ((2, "Release"), (1, "Unheard")):
        with pytest.raises(ValueError, match="later version"):
            rebuild(version, kind, "{}")
