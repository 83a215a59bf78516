"""What the first version wrote is read for ever: its pickles open, its ledgers are continued, and its digests are those of today."""

from __future__ import annotations

import base64
import importlib
import json
import pickle
import shutil
import sqlite3
import sys
from pathlib import Path

import pandas as pd
import pytest

import pandas_dp
from pandas_dp import Session
from pandas_dp.datasets import Visits, visits
from pandas_dp.wire import names
from pandas_dp.wire.codec import decode, encode
from pandas_dp.wire.former_paths import FORMER

KEPT = Path(__file__).parent / "first_version"
PICKLES = json.loads((KEPT / "answers.json").read_text(encoding="utf-8"))
"""What the first version pickled, with what it printed of it."""

ASKED = {
    "count": lambda dp, **k: dp.count(epsilon=0.1, **k),
    "unique": lambda dp, **k: dp.count("age", unique=True, epsilon=0.1, **k),
    "sum": lambda dp, **k: dp.sum("charge", epsilon=0.1, **k),
    "mean": lambda dp, **k: dp.mean("age", epsilon=0.1, **k),
    "mean of a date": lambda dp, **k: dp.mean("admitted", bounds=("2024-01-01", "2024-12-31"), epsilon=0.1, **k),
    "agg": lambda dp, **k: dp.agg({"age": ["mean", "std"]}, epsilon=0.1, **k),
    "var": lambda dp, **k: dp.var("age", epsilon=0.1, **k),
    "std": lambda dp, **k: dp.std(["age", "charge"], epsilon=0.1, **k),
    "median": lambda dp, **k: dp.median("age", epsilon=0.1, **k),
    "quantiles": lambda dp, **k: dp.quantile("age", [0.1, 0.9], epsilon=0.1, **k),
    "max": lambda dp, **k: dp.max("age", epsilon=0.1, **k),
    "iqr": lambda dp, **k: dp.iqr("age", epsilon=0.1, **k),
    "describe": lambda dp, **k: dp.describe(epsilon=0.1, **k),
    "corr": lambda dp, **k: dp.corr(["age", "charge"], epsilon=0.1, **k),
    "cov": lambda dp, **k: dp.cov(["age", "charge"], epsilon=0.1, **k),
    "group sizes": lambda dp, **k: dp.groupby("ward").size(epsilon=0.1, **k),
    "group sums": lambda dp, **k: dp.groupby("ward")["charge"].sum(epsilon=0.1, **k),
    "group means": lambda dp, **k: dp.groupby("ward")["charge"].mean(epsilon=0.1, **k),
    "group agg": lambda dp, **k: dp.groupby(["ward", "smoker"]).agg({"age": ["mean", "var"]}, epsilon=0.1, **k),
    "group medians": lambda dp, **k: dp.groupby("ward")["age"].median(epsilon=0.1, **k),
    "keys given": lambda dp, **k: dp.groupby("ward", keys=["north", "south"], other="rest").size(epsilon=0.1, **k),
    "value_counts": lambda dp, **k: dp.value_counts("ward", epsilon=0.1, **k),
    "crosstab": lambda dp, **k: dp.crosstab("ward", "smoker", epsilon=0.1, **k),
    "histogram": lambda dp, **k: dp.histogram("age", bins=[0, 18, 65, 110], epsilon=0.1, **k),
    "mode": lambda dp, **k: dp.mode("ward", epsilon=0.1, **k),
    "nunique": lambda dp, **k: dp.nunique("ward", epsilon=0.1, **k),
    "bounds": lambda dp, **k: dp.bounds("charge", epsilon=0.1, **k),
    "clamping rate": lambda dp, **k: dp.clamping_rate("charge", bounds=(0, 9000), epsilon=0.1, **k),
    "a view": lambda dp, **k: dp.where("age >= 65").assign(monthly="charge / 12").mean("monthly", epsilon=0.1, **k),
    "within": lambda dp, **k: dp.count(within=50, **k),
    "gaussian": lambda dp, **k: dp.mean("age", mechanism="gaussian", epsilon=0.1, **k),
    "private keys": lambda dp, **k: dp.groupby("ward", keys="private", delta="1e-7").size(epsilon=0.1, **k),
    "private means": lambda dp, **k: dp.groupby("ward", keys="private", delta="1e-7")["age"].mean(epsilon=0.1, **k),
    "rho": lambda dp, **k: dp.sum("age", rho="0.001", **k),
    "months": lambda dp, **k: dp.groupby(pd.Grouper(key="admitted", freq="MS"), keys=("2024-01-01", "2024-12-31")).size(epsilon=0.1, **k),
}
"""What the ledger of the first version was asked, each under its name as a label, of frames with two kinds of units."""


@pytest.mark.parametrize("name", PICKLES)
def test_old_pickles_open(name):
    """An answer, preview, amount or error that the first version pickled opens as what it was: the same classes of today, the same text, the same ±."""
    kept = PICKLES[name]
    found = [pickle.loads(base64.b64decode(one)) for one in kept["pickle"]]
    texts = {repr(one) for one in found}
    assert texts <= {kept["value"], kept.get("release")}
    for one in found:
        assert type(one).__module__.split(".")[0] == "pandas_dp" or isinstance(one, (bool, str, pd.Timestamp))
        assert repr(pickle.loads(pickle.dumps(one))) == repr(one)
        if isinstance(one, pandas_dp.Release):
            assert repr(one.half_width()) == kept["half_width"] or not isinstance(one.half_width(), (int, float))


def test_former_modules_give_what_the_table_says():
    """Each former module has the names of the table, which are the classes of today, and no others; no other module is served."""
    for module, table in FORMER.items():
        sys.modules.pop(module, None)
        served = importlib.import_module(module)
        assert {name for name in vars(served) if not name.startswith("__")} == set(table)
        for name, place in table.items():
            where, called = place.split(":")
            assert getattr(served, name) is getattr(importlib.import_module(where), called)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("pandas_dp.nothing")
    assert sum(type(finder).__name__ == "_FormerModules" for finder in sys.meta_path) == 1
    importlib.reload(pandas_dp)
    assert sum(type(finder).__name__ == "_FormerModules" for finder in sys.meta_path) == 1


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    path = tmp_path_factory.mktemp("first") / "visits.dp.sqlite"
    shutil.copy(KEPT / "visits.dp.sqlite", path)
    return path


@pytest.mark.filterwarnings("ignore::pandas_dp.LargeBudgetWarning")
def test_an_old_ledger_is_continued(ledger):
    """A ledger of the first version shows every answer; each question asked again under its label is the recorded one, and free: no digest has changed."""
    session = Session(epsilon=50, delta="1e-5", ledger=ledger, name="first")
    frames = {
        "units": session.protect(visits(), schema=Visits, name="visits", unit="patient_id", max_rows=3),
        "rows": session.protect(visits(), schema=Visits, name="rows"),
    }
    spent = session.spent
    assert len(session.releases) == len(session.ledger) == sum("release" in kept for kept in PICKLES.values())
    recorded = {label: kept for label, kept in PICKLES.items() if "release" in kept}
    with pandas_dp.testing.unsafe_seeded_noise(1):
        for label, kept in recorded.items():
            name, owner = label.rsplit(", ", 1)
            assert repr(session._core.answer(session._core.account.labels[label].number)) == kept["release"]
            again = ASKED[name](frames[owner].dp, label=label)
            if not isinstance(again, (pd.Series, pd.DataFrame)):
                assert repr(again) == kept["value"]
    assert session.spent == spent
    assert {label.rsplit(", ", 1)[0] for label in recorded} == set(ASKED)


def bodies(path):
    with sqlite3.connect(path) as connection:
        return [json.loads(text) for (text,) in connection.execute("SELECT body FROM records WHERE kind = 'answer' ORDER BY number")]


def written(data):
    """All names of classes with their fields in an encoded answer."""
    if isinstance(data, list):
        return {one for part in data for one in written(part)}
    if not isinstance(data, dict):
        return set()
    own = {(data["$"], tuple(data["v"]))} if data.get("$") in names.CLASSES else set()
    return own | {one for part in data.values() for one in written(part)}


def test_the_wire_names_are_those_of_the_first_version(ledger):
    """Every class of answers is written under the name and with the fields of the first version, byte for byte; the file of the first version has all of them."""
    answers = [body["release"] for body in bodies(ledger)]
    assert {name for name, _ in written(answers)} == set(names.CLASSES)
    for body in answers:
        assert encode(decode(body)) == body


def test_the_table_is_true():
    """Each written name leads to a class, and back."""
    for table in (names.CLASSES, names.QUESTIONS):
        for name, place in table.items():
            module, called = place.split(":")
            assert names.name_of(getattr(importlib.import_module(module), called)) == name
    assert not set(names.CLASSES) & set(names.QUESTIONS)
