"""Private keys: shown by a noisy number of units, hidden but for δ if one unit alone has them, and decided exactly."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from support import CONFIDENCE, lower_bound, protect, silent_noise, upper_bound

import pandas_dp
from pandas_dp import BudgetExhausted, KeysError, ParameterError, ParameterTypeError
from pandas_dp.noise.threshold import appears_at_most, key_threshold

BIG = 100_000
MANY = 5000


def cities(**options):
    """Two hundred of two cities each, 30 of a third, and one of a fourth."""
    raw = pd.DataFrame({"city": ["oslo"] * 200 + ["bonn"] * 200 + ["faro"] * 30 + ["home"], "x": np.arange(431) % 10})
    return protect(raw, delta=options.pop("delta", "0.99"), **options)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(10), Fraction(7, 3), Fraction(4000)])
@pytest.mark.parametrize("delta", ["0.2", "0.001", "1e-6", "1e-20", "1/3"])
@pytest.mark.parametrize("keys", [1, 2, 50])
def test_the_threshold_is_the_smallest_that_hides(scale, delta, keys):
    """By the pmf, in decimals of 60 digits: with the threshold the keys of one unit alone show with probability at most δ, with one less they may show with more."""
    threshold = key_threshold(scale, Fraction(delta), keys)
    with localcontext() as context:
        context.prec = 60
        q = (-Decimal(scale.denominator) / Decimal(scale.numerator)).exp()
        limit = Decimal(Fraction(delta).numerator) / Decimal(Fraction(delta).denominator)

        def shows(at):  # P(1 + noise >= at) for at >= 2, of each of the keys
            return keys * q ** (at - 1) / (1 + q)

        assert shows(threshold) <= limit
        assert threshold == 2 or shows(threshold - 1) > limit


def test_the_pmf_itself():
    """The probability that the rule is made from is the sum of the pmf: (1-q)/(1+q) * q**k from k = t - 1 on (exact up to the truncated tail)."""
    scale = Fraction(5)
    q = math.exp(-1 / 5)
    for threshold in (2, 3, 10, 40):
        tail = math.fsum((1 - q) / (1 + q) * q**k for k in range(threshold - 1, 2000))
        just = Fraction(tail)
        assert appears_at_most(scale, just * (1 + Fraction(1, 10**12)), 1, threshold)
        assert not appears_at_most(scale, just * (1 - Fraction(1, 10**12)), 1, threshold)


def test_a_key_of_one_unit_is_hidden_and_shown_as_often_as_it_may():
    """N = 5000 releases at δ = 0.05: a key of one unit shows at most that often (99.9999 % Clopper-Pearson), and more than δ/4 often, so that the rule is no stricter than needed."""
    df = cities()
    shown, account = 0, df.dp.session._core.account
    fresh = account.state
    for _ in range(MANY):
        account.state = fresh  # the experiment repeats one query, not a session
        shown += "home" in df.dp.groupby("city", keys="private", delta="0.05").size(epsilon=1).index
    assert lower_bound(shown, MANY) <= 0.05
    assert upper_bound(shown, MANY) >= 0.05 / 4
    assert CONFIDENCE == 1e-6


def test_keys_and_answers():
    """Keys that enough units have show, ascending, with the answers of pandas at huge ε; the index has the column's name."""
    df = cities()
    sizes = df.dp.groupby("city", keys="private").size(epsilon=50)
    assert sizes.index.tolist() == ["bonn", "faro", "oslo"] or sizes.index.tolist() == ["bonn", "faro", "home", "oslo"]
    assert sizes.index.name == "city"
    assert abs(sizes["oslo"] - 200) < 10
    means = df.dp.groupby("city", keys="private")["x"].mean(bounds=(0, 9), epsilon=50)
    assert means.name == "x"
    assert means["bonn"] == pytest.approx(4.5, abs=0.5)
    table = df.dp.groupby("city", keys="private").agg({"x": ["mean", "std", "count"]}, bounds=(0, 9), epsilon=50)
    assert table.columns.tolist() == [("x", "mean"), ("x", "std"), ("x", "count")]
    low, high = df.dp.session.releases[-1].interval(0.9)
    assert low.shape == high.shape == table.shape


def test_other_values_fall_into_no_group():
    """Rows of keys that do not show are in no answer: the sum over shown keys leaves them out."""
    df = cities(delta=1e-9)
    sums = df.dp.groupby("city", keys="private")["x"].sum(bounds=(0, 9), epsilon=100)
    assert sums.index.tolist() == ["bonn", "faro", "oslo"]
    assert sums.sum() == pytest.approx((np.arange(430) % 10).sum(), abs=5)


def test_the_charge():
    """One entry: ε whole, δ by the call, or of the half that is for keys the planned share, or a tenth; the mechanism says from which number of units on a key shows."""
    df = cities(delta=2e-6)
    df.dp.groupby("city", keys="private").size(epsilon="0.5")
    df.dp.groupby("city", keys="private", delta=3e-7).mean("x", bounds=(0, 9), epsilon="0.5")
    ledger = df.dp.session.ledger
    assert ledger["epsilon"].tolist() == [Fraction(1, 2)] * 2
    assert ledger["delta"].tolist() == [Fraction(1, 10**7), Fraction(3, 10**7)]
    assert ledger["query"].tolist() == ["groupby('city', keys='private').count()", "groupby('city', keys='private').mean('x' in [0, 9])"]
    for text, scale, delta in zip(ledger["mechanism"], (2, 4), (Fraction(1, 10**7), Fraction(3, 10**7)), strict=True):
        assert text == f"discrete Laplace, keys shown from {key_threshold(Fraction(scale), delta, 1)} units"
    assert df.dp.session.spent_delta == Fraction(4, 10**7)
    assert df.dp.session.remaining_delta == Fraction(6, 10**7)
    assert repr(df.dp.session) == "<Session: ε=999999 of ε=1000000 left, δ=2e-06>"
    planned = protect(pd.DataFrame({"city": ["oslo"]}), delta=1e-6, queries=4)
    planned.dp.groupby("city", keys="private").size()
    assert planned.dp.session.spent_delta == Fraction(1, 8 * 10**6)


def test_exhausted():
    """A query that asks for more δ than is left is refused, with the numbers; nothing is spent, and public keys are still answered."""
    df = cities(delta=2e-6)
    df.dp.groupby("city", keys="private", delta=8e-7).size(epsilon=1)
    spent = df.dp.session.spent
    with pytest.raises(BudgetExhausted, match="δ=3e-07, but δ=2e-07 of this session's δ=2e-06 is left") as caught:
        df.dp.groupby("city", keys="private", delta=3e-7).size(epsilon=1)
    assert caught.value.remaining == Fraction(2, 10**7)
    assert df.dp.session.spent == spent
    assert df.dp.groupby("city", keys=["oslo"]).size(epsilon=BIG).tolist() == [200]


def test_without_delta():
    """A session without δ refuses private keys and says how to open one with it; so does a δ that makes no sense."""
    df = protect(pd.DataFrame({"city": ["oslo"]}))
    with pytest.raises(ParameterError, match="delta=1e-6"):
        df.dp.groupby("city", keys="private").size(epsilon=1)
    for wrong, error in (
        (1, ParameterError),
        (-1e-6, ParameterError),
        (math.nan, ParameterError),
        (True, ParameterTypeError),
        ([], ParameterTypeError),
    ):
        with pytest.raises(error, match="delta"):
            pd.DataFrame({"a": [1]}).dp.protect(epsilon=1, delta=wrong)
        with pytest.raises(error, match="delta"):
            cities().dp.groupby("city", keys="private", delta=wrong).size(epsilon=1)
    with pytest.raises(KeysError, match="public"):
        cities().dp.groupby("city", keys=["oslo"], delta=1e-7).size(epsilon=1)
    with pytest.raises(pandas_dp.SessionConflict):
        pd.DataFrame({"a": [1]}).dp.protect(delta=1e-6, session=pandas_dp.Session(epsilon=1))
    assert df.dp.session.spent == 0


PLACES = {
    "object": (pd.Series(["b", None, "a", "b", 3.5, "\ud800"], dtype=object), ["a", "b"]),
    "numbers as objects": (pd.Series([2, "2", 2.0, np.int8(1), Decimal(1), 10**400], dtype=object), [1, 2, "2"]),
    "booleans as objects": (pd.Series([True, None, False], dtype=object), [False, True]),
    "category": (pd.Series(pd.Categorical(["b", None, "a"], categories=["z", "b", "a"])), ["a", "b"]),
    "int": (pd.Series([5, -3, 5]), [-3, 5]),
    "uint64": (pd.Series([2**64 - 1, 0], dtype="uint64"), [0, 2**64 - 1]),
    "Int64": (pd.Series([5, None], dtype="Int64"), [5]),
    "bool": (pd.Series([True, False]), [False, True]),
    "boolean": (pd.Series([True, None], dtype="boolean"), [True]),
    "datetime": (pd.Series(pd.to_datetime(["2024-02-01", "2024-01-01", None])), [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-02-01")]),
    "zoned": (pd.Series(pd.to_datetime(["2024-02-01"]).tz_localize("Asia/Tokyo")), [pd.Timestamp("2024-02-01", tz="Asia/Tokyo")]),
    "string": (pd.Series(["b", None, "a"], dtype="string"), ["a", "b"]),
    "arrow": (pd.Series(["b", None, "a"], dtype="string[pyarrow]"), ["a", "b"]),
    "arrow ints": (pd.Series([3, None, 1], dtype="int64[pyarrow]"), [1, 3]),
}


@pytest.mark.parametrize("name", PLACES)
def test_every_kind_of_key(name):
    """At huge ε and large δ every value shows, ascending, as it is; missing ones and what is no key never do; the same column filtered to nothing has the same dtype."""
    values, expected = PLACES[name]
    df = protect(pd.DataFrame({"key": pd.concat([values] * 40, ignore_index=True)}), delta="0.99")
    found = df.dp.groupby("key", keys="private", delta="0.45").size(epsilon=100)
    assert found.index.tolist() == expected
    assert ((found - 40).abs() < 41).all()
    nothing = df.iloc[:0].dp.groupby("key", keys="private", delta="0.01").size(epsilon=100)
    assert len(nothing) == 0
    assert nothing.dtype == found.dtype
    if "objects" not in name:
        assert nothing.index.dtype == found.index.dtype


def test_nothing_shown_has_the_dtypes_of_something():
    """With no key shown, means of dates are dates and counts whole numbers."""
    df = protect(pd.DataFrame({"k": ["a"], "t": pd.to_datetime(["2024-01-01"]).tz_localize("UTC"), "x": [1.0]}), delta=1e-6)
    groups = df.dp.groupby("k", keys="private")
    bounds = (pd.Timestamp("2024-01-01", tz="UTC"), pd.Timestamp("2025-01-01", tz="UTC"))
    assert groups.mean("t", bounds=bounds, epsilon=1).dtype == df["t"].dtype
    assert groups.agg({"x": ["count", "std"]}, bounds=(0, 1), epsilon=1).dtypes.tolist() == [np.int64, np.float64]


def test_the_mode_where_nothing_shows():
    """The mode of private keys of which none shows is None, of frames, Series and views, and not a failure that was paid for; the release is there, and empty."""
    df = protect(pd.DataFrame({"k": ["a"], "x": [1]}), delta=1e-6)
    for source, arguments in ((df.dp, ["k"]), (df["k"].dp, []), (df.dp.where("x > 0"), ["k"])):
        assert source.mode(*arguments, keys="private", epsilon=1) is None
        assert len(df.dp.session.releases[-1].index) == 0
    assert len(df.dp.session.releases) == 3
    df = protect(pd.DataFrame({"k": ["a"] * 300 + ["b"] * 200}), delta=1e-6)
    assert df.dp.mode("k", keys="private", epsilon=10) == "a"


def test_several_columns():
    """Combinations that occur show as a MultiIndex; one with a missing part is none."""
    raw = pd.DataFrame({"a": ["x", "x", "y", None] * 50, "b": [1, 2, 1, 1] * 50})
    found = protect(raw, delta="0.99").dp.groupby(["a", "b"], keys="private", delta="0.45").size(epsilon=200)
    assert found.index.tolist() == [("x", 1), ("x", 2), ("y", 1)]
    assert found.index.names == ["a", "b"]
    three = raw.assign(c=[True, False] * 100)
    found = protect(three, delta="0.99").dp.groupby(["c", "a", "b"], keys="private", delta="0.45").size(epsilon=200)
    expected = three.dropna().groupby(["c", "a", "b"]).size()
    assert found.index.tolist() == expected.index.tolist()


REFUSED = {
    "floats": (lambda df: df.dp.groupby("f", keys="private"), "private for text"),
    "a number in objects": (lambda df: df.dp.groupby("spans", keys="private"), "private for text"),
    "other": (lambda df: df.dp.groupby("city", keys="private", other="rest"), "other="),
    "a grouper": (lambda df: df.dp.groupby(pd.Grouper(key="t", freq="MS"), keys="private"), "buckets of dates"),
    "no column": (lambda df: df.dp.groupby([], keys="private"), "no column"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    """What cannot be a private key is an error before the charge."""
    df = protect(
        pd.DataFrame({"city": ["a"], "f": [0.5], "spans": pd.to_timedelta([1], unit="h"), "t": pd.to_datetime(["2024-01-01"])}), delta=1e-6
    )
    ask, text = REFUSED[case]
    with pytest.raises(KeysError, match=text):
        ask(df).size(epsilon=1)
    assert df.dp.session.spent == df.dp.session.spent_delta == 0


def test_units_decide_not_rows(monkeypatch):
    """A key of one person with 1000 rows counts one unit; what is compared with the threshold moves by at most one for each group the person may reach."""
    rest = pd.DataFrame({"who": range(40), "city": ["oslo"] * 20 + ["bonn"] * 20})
    person = pd.DataFrame({"who": 99, "city": (["home"] * 500) + ["oslo"] * 250 + ["bonn"] * 250})
    with silent_noise(monkeypatch) as seen:
        for frame in (pd.concat([person, rest], ignore_index=True), rest):
            df = protect(frame, delta=0.5, unit="who", max_rows=1000)
            df.dp.groupby("city", keys="private", max_groups=2).size(epsilon=1)
    (with_person, scales), (without, _) = seen[0], seen[2]
    assert scales[0] == Fraction(2) / Fraction(1, 2), "max_groups over half of ε"
    assert [int(units) for units in without[0]] == [20, 20]
    assert [int(units) for units in with_person[0]] == [20, 1, 21], "bonn, home, oslo: the first two groups of the person"


@pytest.mark.parametrize(
    ("options", "ask", "whole"),
    [
        ({}, lambda g: g.size(epsilon=1), True),
        ({}, lambda g: g.count(unique=True, epsilon=1), True),
        ({}, lambda g: g.count("x", epsilon=1), False),
        ({}, lambda g: g.count("x", unique=True, epsilon=1), False),
        ({}, lambda g: g.mean("x", bounds=(0, 9), epsilon=1), False),
        ({"unit": "who", "max_rows": 3}, lambda g: g.size(epsilon=1), False),
        ({"unit": "who", "max_rows": 3}, lambda g: g.count(unique=True, epsilon=1), True),
        ({"unit": "who", "max_rows": 3}, lambda g: g.count("x", unique=True, epsilon=1), False),
    ],
)
def test_how_epsilon_is_divided(options, ask, whole, monkeypatch):
    """If what is asked is the number of units, the compared numbers are the answer and have the whole ε; else half shows the keys and half answers."""
    raw = pd.DataFrame({"who": range(60), "city": ["a", "b"] * 30, "x": [1.0] * 60})
    df = protect(raw, delta="0.9", **options)
    with silent_noise(monkeypatch) as seen:
        ask(df.dp.groupby("city", keys="private", delta="0.1"))
    reach = options.get("max_rows", 1)
    assert seen[0][1] == [Fraction(reach) * (1 if whole else 2)]
    assert len(seen) == (1 if whole else 2)


def test_views_and_value_counts():
    """Private keys work from a tracked view and for value_counts."""
    df = cities(delta="0.99")
    found = df.dp.where("x >= 5").groupby("city", keys="private", delta="0.01").size(epsilon=50)
    assert found["oslo"] == pytest.approx(100, abs=5)
    counts = df.dp.value_counts("city", keys="private", epsilon=50)
    assert counts.name == "count"
    assert counts.is_monotonic_decreasing


def test_who_comes_first_decides_nothing():
    """Labels and order of shown keys are the values' own, whatever the order of rows, and equal numbers of different kinds are not merged."""
    kinds = [1, True, 1.0, np.int64(1), "1"] * 30
    answers = []
    for cells in (kinds, kinds[::-1]):
        df = protect(pd.DataFrame({"key": pd.Series(cells, dtype=object)}), delta="0.99")
        answers.append(df.dp.groupby("key", keys="private", delta="0.45").size(epsilon=100))
    assert [list(map(repr, answer.index)) for answer in answers] == [["True", "1", "'1'"]] * 2
    assert all(abs(answer.iloc[1] - 60) < 3 for answer in answers)


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_keys_that_do_not_show_leave_no_trace(rows):
    """How shown numbers are held depends on them alone: of keys that do not show, with noise that would not fit an int64, nothing is seen.

    Ten askings with noise around 1e20: held by the candidates' numbers, one row or more would show in each with probability 0.6.
    """
    frame = pd.DataFrame({"k": [f"key {row}" for row in range(rows)], "u": range(rows)}).astype({"k": object})
    df = protect(frame, delta=1e-2, unit="u", max_rows=10**7)
    for _ in range(10):
        found = df.dp.groupby("k", keys="private", delta=1e-5).count(unique=True, epsilon=1e-12)
        noisy = df.dp.session.releases[-1].estimates[0].noisy[0]
        assert (len(found), noisy.dtype) == (0, np.dtype(np.int64))
