"""Labels: the same question under the same label returns the recorded answer and spends nothing, in memory and in a file, now and after a restart."""

from __future__ import annotations

import datetime as dt
import threading
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from ledger_support import folder  # noqa: F401  (a fixture)

import pandas_dp
from pandas_dp import BudgetExhausted, LabelError, ParameterError, ParameterTypeError, Session
from pandas_dp.datasets import Visits, visits
from pandas_dp.sessions.core import SessionCore
from pandas_dp.testing import unsafe_seeded_noise


@pytest.fixture(params=["memory", "file"])
def ledger(request, folder):  # noqa: F811
    return None if request.param == "memory" else folder / "v.sqlite"


def table(ledger=None, **options):
    session = Session(**{"epsilon": 1, "ledger": ledger, **options})
    return session.protect(visits(), schema=Visits, name="visits")


QUERIES = {
    "count": lambda dp: dp.count(epsilon=0.1, label="x"),
    "unique": lambda dp: dp.count("age", unique=True, epsilon=0.1, label="x"),
    "sum": lambda dp: dp.sum("charge", epsilon=0.1, label="x"),
    "mean": lambda dp: dp.mean("age", epsilon=0.1, label="x"),
    "mean of all": lambda dp: dp.mean(epsilon=0.1, label="x"),
    "agg": lambda dp: dp.agg({"age": ["mean", "std"]}, epsilon=0.1, label="x"),
    "var": lambda dp: dp.var("age", epsilon=0.1, label="x"),
    "std": lambda dp: dp.std(["age", "charge"], epsilon=0.1, label="x"),
    "median": lambda dp: dp.median("age", epsilon=0.1, label="x"),
    "quantiles": lambda dp: dp.quantile("age", [0.1, 0.9], epsilon=0.1, label="x"),
    "max": lambda dp: dp.max("age", epsilon=0.1, label="x"),
    "iqr": lambda dp: dp.iqr("age", epsilon=0.1, label="x"),
    "describe": lambda dp: dp.describe(epsilon=0.1, label="x"),
    "corr": lambda dp: dp.corr(["age", "charge"], epsilon=0.1, label="x"),
    "cov": lambda dp: dp.cov(["age", "charge"], epsilon=0.1, label="x"),
    "group sizes": lambda dp: dp.groupby("ward").size(epsilon=0.1, label="x"),
    "group means": lambda dp: dp.groupby("ward")["charge"].mean(epsilon=0.1, label="x"),
    "group agg": lambda dp: dp.groupby(["ward", "smoker"]).agg({"age": ["mean", "var"]}, epsilon=0.1, label="x"),
    "group medians": lambda dp: dp.groupby("ward")["age"].median(epsilon=0.1, label="x"),
    "value_counts": lambda dp: dp.value_counts("ward", epsilon=0.1, label="x"),
    "crosstab": lambda dp: dp.crosstab("ward", "smoker", epsilon=0.1, label="x"),
    "histogram": lambda dp: dp.histogram("age", bins=[0, 18, 65, 110], epsilon=0.1, label="x"),
    "mode": lambda dp: dp.mode("ward", epsilon=0.1, label="x"),
    "nunique": lambda dp: dp.nunique("ward", epsilon=0.1, label="x"),
    "bounds": lambda dp: dp.bounds("charge", epsilon=0.1, label="x"),
    "clamping rate": lambda dp: dp.clamping_rate("charge", bounds=(0, 9000), epsilon=0.1, label="x"),
    "a view": lambda dp: dp.where("age >= 65").assign(monthly="charge / 12").mean("monthly", epsilon=0.1, label="x"),
    "within": lambda dp: dp.count(within=50, label="x"),
    "gaussian": lambda dp: dp.mean("age", mechanism="gaussian", epsilon=0.1, label="x"),
    "dates": lambda dp: dp.groupby(pd.Grouper(key="admitted", freq="MS"), keys=("2024-01-01", "2024-12-31")).size(epsilon=0.1, label="x"),
}


def same(one, other):
    """Whether two answers are equal, in type, shape, names and every number."""
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other)
    elif isinstance(one, pd.Series):
        pd.testing.assert_series_equal(one, other)
    else:
        assert type(one) is type(other)
        assert one == other
        assert repr(one) == repr(other)


@pytest.mark.parametrize("query", QUERIES)
def test_every_query_replays(query, ledger):
    """Asked again, a query returns what it returned, with the same intervals, for nothing; also when the budget is gone, and, from a file, after a restart."""
    options = {"delta": 1e-6} if query == "gaussian" else {}
    df = table(ledger, **options)
    ask = QUERIES[query]
    first = ask(df.dp)
    spent, releases = df.dp.session.spent, len(df.dp.session.releases)
    assert spent > 0
    df.dp.count(epsilon=Fraction(df.dp.session.remaining))
    assert repr(df.dp.session.releases[-1]).startswith("<Release")
    exhausted = df.dp.session.spent
    same(first, ask(df.dp))
    assert (df.dp.session.spent, len(df.dp.session.releases)) == (exhausted, releases + 1)
    if ledger is not None:
        later = table(ledger, **options)
        same(first, ask(later.dp))
        assert later.dp.session.spent == exhausted
        for one, other in zip(df.dp.session.releases, later.dp.session.releases, strict=True):
            assert repr(one) == repr(other)
            assert (one.number, one.query, one.cost, one.mechanism) == (other.number, other.query, other.cost, other.mechanism)
            for level in (0.5, 0.95):
                for a, b in zip(one.interval(level), other.interval(level), strict=True):
                    same(a, b)


def test_replay_by_name(ledger):
    """session.replay() returns what the query returned; an unknown label is an error that names the ledger."""
    df = table(ledger)
    mean = df.dp.mean("age", epsilon=0.1, label="mean age, table 2")
    groups = df.dp.groupby("ward")["charge"].mean(epsilon=0.1, label="by ward")
    same(mean, df.dp.session.replay("mean age, table 2"))
    same(groups, df.dp.session.replay("by ward"))
    assert df.dp.session.ledger["label"].tolist() == ["mean age, table 2", "by ward"]
    with pytest.raises(LabelError, match="no answer is recorded under the label 'mean age'"):
        df.dp.session.replay("mean age")
    with pytest.raises(ParameterTypeError, match="label"):
        df.dp.session.replay(5)


OTHERS = {
    "price": lambda df: df.dp.mean("age", epsilon=0.2, label="x"),
    "query": lambda df: df.dp.mean("charge", epsilon=0.1, label="x"),
    "bounds": lambda df: df.dp.mean("age", bounds=(18, 90), epsilon=0.1, label="x"),
    "rows": lambda df: df.dp.mean("age", within=1, rows=1000, label="x"),
    "view": lambda df: df.dp.where("age > 3").mean("age", epsilon=0.1, label="x"),
    "statistic": lambda df: df.dp.count(epsilon=0.1, label="x"),
    "groups": lambda df: df.dp.groupby("ward")["age"].mean(epsilon=0.1, label="x"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_other_parameters_are_an_error(other, ledger):
    """A label that was used for another question is an error that names the difference; nothing is spent."""
    df = table(ledger)
    df.dp.mean("age", epsilon=0.1, label="x")
    with pytest.raises(LabelError) as raised:
        OTHERS[other](df)
    assert raised.value.label == "x"
    assert any(part.split(":")[0] in {"price", "query", "bounds and keys"} for part in raised.value.differences)
    assert df.dp.session.spent == Fraction(1, 10)


def test_what_differs_in_keys_and_units_counts(folder):  # noqa: F811
    """Keys, quantiles, edges, max_groups, the unit and the frame's name are part of the question, though the text may not show them."""
    df = visits().dp.protect(epsilon=10, schema=Visits, unit="patient_id", max_rows=3)
    pairs = [
        (lambda label, **k: df.dp.groupby("ward", **k).size(epsilon=0.1, label=label), {"keys": ["north"]}, {"keys": ["south"]}),
        (lambda label, **k: df.dp.groupby("ward", **k).size(epsilon=0.1, label=label), {"max_groups": 1}, {"max_groups": 2}),
        (lambda label, **k: df.dp.quantile("age", epsilon=0.1, label=label, **k), {"q": 0.1}, {"q": 0.9}),
        (lambda label, **k: df.dp.histogram("age", epsilon=0.1, label=label, **k), {"bins": [0, 50]}, {"bins": [0, 51]}),
        (lambda label, **k: df.dp.var("age", epsilon=0.1, label=label, **k), {"ddof": 0}, {"ddof": 1}),
        (lambda label, **k: df.dp.count(epsilon=0.1, label=label, **k), {"unique": True}, {"unique": False}),
    ]
    by, age, charge = df.dp.groupby("smoker"), ("age", "std"), ("charge", "std")
    pairs += [
        (lambda label, **k: by.agg(**k, epsilon=0.1, label=label), {"b": age, "c": charge}, {"b": charge, "c": age}),
        (
            lambda label, **k: df["age"].dp.agg(**k, epsilon=0.1, label=label),
            {"a": "mean", "b": "std", "c": "mean"},
            {"a": "mean", "b": "std", "c": "std"},
        ),
        (lambda label, **k: df.dp.assign(**k).count(epsilon=0.1, label=label), {"a='age').assign(d": "age"}, {"a": "age", "d": "age"}),
    ]
    for place, (ask, one, other) in enumerate(pairs):
        ask(str(place), **one)
        ask(str(place), **one)
        with pytest.raises(LabelError):
            ask(str(place), **other)
    assert df.dp.session.spent == Fraction(len(pairs), 10)
    session = Session(1)
    session.protect(visits(), name="one").dp.count(epsilon=0.1, label="x")
    with pytest.raises(LabelError, match="frame: one before, two now"):
        session.protect(visits(), name="two").dp.count(epsilon=0.1, label="x")


def test_a_label_knows_no_data(ledger):
    """A hit depends on label and public parameters alone: with other rows, no rows, or other values, the recorded answer comes back."""
    df = table(ledger)
    first = df.dp.count(epsilon=0.1, label="all rows")
    same(first, df.iloc[:0].dp.count(epsilon=0.1, label="all rows"))
    same(first, df.assign(age=0).dp.count(epsilon=0.1, label="all rows"))
    if ledger is not None:
        other = Session(1, ledger=ledger).protect(visits().iloc[:100], schema=Visits, name="visits")
        same(first, other.dp.count(epsilon=0.1, label="all rows"))


def test_amounts_are_the_same_however_typed(ledger):
    """0.1, '0.1' and Fraction(1, 10) are one price; the equal share is another than its amount."""
    df = table(ledger, queries=10)
    first = df.dp.count(epsilon=0.1, label="n")
    same(first, df.dp.count(epsilon="0.1", label="n"))
    same(first, df.dp.count(epsilon=Fraction(1, 10), label="n"))
    same(first, df.dp.count(epsilon=np.float32(0.1), label="n"))
    with pytest.raises(LabelError, match="equal share"):
        df.dp.count(label="n")


def test_within_replays_after_other_counts(ledger):
    """A ± depends on the last released count, and its replay does not."""
    df = table(ledger)
    df.dp.count(epsilon=0.1)
    first = df.dp.mean("age", within=0.5, label="age")
    df.iloc[:50].dp.count(epsilon=0.1)
    same(first, df.dp.mean("age", within=0.5, label="age"))


def test_label_true(ledger):
    """label=True takes a view's expressions and the query as the label; a plain frame has none."""
    df = table(ledger)
    old = df.dp.where("age >= 65")
    first = old.mean("charge", epsilon=0.1, label=True)
    same(first, df.dp.where("age >= 65").mean("charge", epsilon=0.1, label=True))
    younger = df.dp.where("age < 65").mean("charge", epsilon=0.1, label=True)
    assert df.dp.session.spent == Fraction(2, 10)
    same(younger, df.dp.session.replay("where('age < 65').mean('charge' in [0, 50000])"))
    for source in (df.dp, df["age"].dp):
        with pytest.raises(LabelError, match="tracked view"):
            source.count(epsilon=0.1, label=True)


@pytest.mark.parametrize("label", ["", " ", "x" * 501, 5, b"x", ["x"], 1.0])
def test_bad_labels(label):
    """A label is a text of reasonable length; anything else is refused before the charge."""
    df = table()
    with pytest.raises((ParameterError, ParameterTypeError), match="label"):
        df.dp.count(epsilon=0.1, label=label)
    assert df.dp.session.spent == 0
    assert df.dp.count(epsilon=0.1, label=None) is not None
    assert df.dp.count(epsilon=0.1, label=False) is not None


def test_an_answer_that_failed_is_asked_again(ledger, monkeypatch):
    """A charge without an answer is no answer: the label is asked again, and charged again."""
    df = table(ledger)
    monkeypatch.setattr(pandas_dp.release.path, "_measure", lambda *_: 1 / 0)
    with pytest.raises(pandas_dp.ComputationFailed):
        df.dp.count(epsilon=0.1, label="n")
    monkeypatch.undo()
    with pytest.raises(LabelError):
        df.dp.session.replay("n")
    first = df.dp.count(epsilon=0.1, label="n")
    assert df.dp.session.spent == Fraction(2, 10)
    same(first, df.dp.count(epsilon=0.1, label="n"))
    same(first, df.dp.session.replay("n"))


def test_another_process_answered_meanwhile(folder, monkeypatch):  # noqa: F811
    """A label that another session answered after this one looked costs nothing: the charge finds it in the file."""
    path = folder / "v.sqlite"
    here, there = table(path), table(path)
    original = SessionCore.recorded

    def looked(core, label, asked):
        found = original(core, label, asked)
        if found is None and core is here.dp.session._core:
            there.dp.count(epsilon=0.1, label=label)
        return found

    monkeypatch.setattr(SessionCore, "recorded", looked)
    same(here.dp.count(epsilon=0.1, label="n"), there.dp.session.replay("n"))
    assert here.dp.session.spent == Fraction(1, 10)


def test_seeded_answers_are_no_answers(ledger):
    """What was answered with repeatable noise is another question than one with private noise."""
    df = table(ledger)
    with unsafe_seeded_noise(1):
        df.dp.count(epsilon=0.1, label="n")
    with pytest.raises(LabelError, match="noise: repeatable, for tests before, private now"):
        df.dp.count(epsilon=0.1, label="n")


def test_dates_of_objects_are_no_midnights():
    """In a column of objects a date equals no time of that day, and is another key; keys that have no meaning as a number or date are told apart by what they print."""
    cells = [dt.date(2024, 1, 1)] * 300 + [pd.Timestamp("2024-01-01")] * 100
    df = pd.DataFrame({"k": pd.Series(cells, dtype=object)}).dp.protect(epsilon=10)
    days, times = ([one] for one in (cells[0], cells[-1]))
    assert abs(df.dp.groupby("k", keys=days).size(epsilon=1, label="k").iloc[0] - 300) < 50
    with pytest.raises(LabelError, match="bounds and keys"):
        df.dp.groupby("k", keys=times).size(epsilon=1, label="k")
    for key in (dt.timedelta.max, np.complex128(1)):
        assert len(df.dp.groupby("k", keys=[key]).size(epsilon=1, label=repr(key))) == 1


def test_replay_needs_no_budget_but_a_question_does(ledger):
    """With the budget gone, answered labels come back and new ones are refused."""
    df = table(ledger)
    first = df.dp.count(epsilon=1, label="n")
    same(first, df.dp.count(epsilon=1, label="n"))
    with pytest.raises(BudgetExhausted):
        df.dp.count(epsilon=1, label="m")


def test_threads_replay(ledger):
    """After one answer, 8 threads that ask the same get the same and spend nothing."""
    df = table(ledger)
    first = df.dp.count(epsilon=0.1, label="n")
    found = []
    threads = [threading.Thread(target=lambda: found.append(df.dp.count(epsilon=0.1, label="n"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [first] * 8
    assert df.dp.session.spent == Fraction(1, 10)


def test_remembered_bounds_come_back(folder):  # noqa: F811
    """bounds(remember=True) under a label, run again after a restart, remembers the recorded bounds for nothing."""
    path = folder / "v.sqlite"
    for _ in range(2):
        df = Session(1, ledger=path).protect(visits(), name="visits")
        found = df.dp.bounds("charge", remember=True, epsilon=0.1, label="bounds of charge")
    assert df.dp.session.spent == Fraction(1, 10)
    assert found[0] <= df.dp.mean("charge", epsilon=0.1) <= found[1]
