"""What a wrong call is told: which arguments and names there are, before anything is read or spent; and what a count may be used for."""

from __future__ import annotations

import gc
import itertools
import weakref

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pytest
from support import protect

import pandas_dp
from pandas_dp import BoundsError, CallError, ColumnError, DPError, KeysError, NoSuchQuery, ParameterError, SchemaViolation, Session
from pandas_dp.datasets import Visits, visits


def people(**options):
    return protect(visits(), schema=Visits, unit="patient_id", max_rows=5, **options)


CALLS = {
    "a budget by position": (
        lambda df: df.dp.mean("age", 0.1),
        "mean.. takes column by position, and all other arguments by name: bounds=, epsilon=",
    ),
    "bounds by position": (lambda df: df["age"].dp.mean((0, 9), epsilon=0.1), "mean.. takes all arguments by name"),
    "two columns": (lambda df: df.dp.corr("age", "charge"), "corr.. takes columns by position"),
    "a function and a column": (lambda df: df.dp.agg("mean", "age"), "agg.. takes func by position"),
    "no bins": (lambda df: df.dp.histogram("age", epsilon=0.1), "histogram.. needs bins="),
    "no column": (lambda df: df.dp.value_counts(epsilon=0.1), "value_counts.. needs column="),
    "no second column": (lambda df: df.dp.crosstab("ward", epsilon=0.1), "crosstab.. needs"),
    "no bounds": (lambda df: df.dp.clamping_rate("age", epsilon=0.1), "clamping_rate.. needs bounds="),
    "an amount by position": (lambda df: df.dp.session.allocate(5), "allocate.. takes all arguments by name: epsilon=, rho="),
    "no reason": (lambda df: df.dp.session.amend(epsilon=5), "amend.. needs reason="),
    "a typing error": (lambda _: visits().dp.protect(epsilno=2), "protect.. has no argument epsilno=. Did you mean epsilon="),
    "a typing error in a query": (lambda df: df.dp.mean("age", epsilno=2), "Did you mean epsilon="),
    "another argument": (lambda _: visits().dp.protect(budget=2), "protect.. has no argument budget=. It takes epsilon=, delta="),
    "percentiles": (lambda df: df.dp.describe(percentiles=[0.1], epsilon=0.1), "quantile"),
    "values of a table": (lambda df: df.dp.crosstab("ward", "smoker", values="age", epsilon=0.1), "unstack"),
    "normalize": (lambda df: df.dp.crosstab("ward", "smoker", normalize=True, epsilon=0.1), "its sum"),
    "a session": (lambda _: Session(espilon=1), "Session.. has no argument espilon=. Did you mean epsilon="),
    "skipna": (lambda df: df.dp.sum("age", skipna=False, epsilon=0.1), "always left out"),
    "numeric_only": (lambda df: df.dp.mean(numeric_only=True, epsilon=0.1), "without bounds are left out"),
}


@pytest.mark.parametrize("case", CALLS)
def test_calls_that_do_not_fit(case):
    """A call with arguments that there are not, or without one that is needed, names those there are; it is a TypeError, and nothing is spent."""
    ask, told = CALLS[case]
    df = people()
    with pytest.raises(CallError, match=told) as raised:
        ask(df)
    assert isinstance(raised.value, TypeError)
    assert "Nothing was computed and nothing was spent" in str(raised.value)
    assert raised.value.__cause__ is raised.value.__context__ is None
    assert df.dp.session.spent == 0


NAMES = {
    "pivot_table": (lambda df: df.dp, "unstack"),
    "value_count": (lambda df: df.dp, "Did you mean value_counts"),
    "age": (lambda df: df.dp, "It offers agg, assign"),
    "apply": (lambda df: df.dp.groupby("ward"), "agg.* lists what can be released"),
    "groupby": (lambda df: df["age"].dp, "Group the frame"),
    "head": (lambda df: df.dp.where("age > 3"), "Rows are private"),
    "histogram": (lambda df: df.dp.preview, "It offers agg, corr"),
    "nunique": (lambda df: df.dp.preview.groupby("ward"), "It offers agg"),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_no_queries(name):
    """A name that is no query is an AttributeError that lists the queries, and what stands in for it; so that hasattr() and completion work."""
    of, told = NAMES[name]
    owner = of(people())
    with pytest.raises(NoSuchQuery, match=told) as raised:
        getattr(owner, name)
    assert raised.value.name == name
    assert not hasattr(owner, name)
    assert not hasattr(owner, "_repr_svg_")


def test_groups_are_not_looped_over():
    """A loop over groups, or asking whether one is there, ends at once with an error: nothing is asked part by part."""
    df = people()
    for groups in (
        df.dp.groupby("ward"),
        df.dp.groupby("ward")["age"],
        df.dp.where("age > 3").groupby("ward"),
        df.dp.preview.groupby("ward"),
    ):
        for ask in (iter, list, dict, lambda one: "north" in one, lambda one: [key for key, _ in one]):
            with pytest.raises(KeysError, match="not looped over"):
                ask(groups)


def test_a_quantile_or_a_budget_in_the_place_of_a_column():
    """A number in the place of a column is taken for what it may be: the budget, or a quantile."""
    with pytest.raises(ColumnError, match=r"epsilon=0.5, or q=0.5"):
        people().dp.quantile(0.5, epsilon=0.1)


def test_the_unit_has_no_keys():
    """Counting the distinct values of the unit leads to count(unique=True)."""
    df = people()
    for ask in (lambda: df.dp.nunique("patient_id", epsilon=0.1), lambda: df["patient_id"].dp.nunique(epsilon=0.1)):
        with pytest.raises(KeysError, match=r"count\(unique=True\)"):
            ask()
    assert df.dp.nunique("patient_id", keys=[1, 2], epsilon=0.1) is not None


def test_two_dates_are_a_range_of_a_grouper_alone():
    """Two dates in a tuple, without a Grouper, are not taken for two keys; in a list they are."""
    df = people()
    with pytest.raises(KeysError, match="Grouper"):
        df.dp.groupby("admitted", keys=("2024-01-01", "2024-12-31")).size(epsilon=0.1)
    assert len(df.dp.groupby("admitted", keys=["2024-01-01", "2024-12-31"]).size(epsilon=0.1)) == 2


@pytest.mark.parametrize("key", [pd.Period("2024-01"), pd.Interval(0, 1)])
def test_intervals_and_periods_as_keys(key):
    """Periods and intervals are refused as keys, with what makes such groups."""
    with pytest.raises(KeysError, match=r"histogram.*pd.cut.*Grouper"):
        people().dp.groupby("ward", keys=[key]).size(epsilon=0.1)


def test_bounds_of_an_expression_are_told_as_such():
    """Bounds wider than those of an expression are refused in its name, not in that of a schema."""
    df = protect(pd.DataFrame({"x": [1, 2]}))
    with pytest.raises(BoundsError, match=r"\(0.0, 3.0\), which follow from its expression"):
        df.dp.assign(r="x % 3").mean("r", bounds=(-5, 5), epsilon=0.1)
    with pytest.raises(BoundsError, match="which the schema declares"):
        people().dp.where("age > 3").mean("age", bounds=(-5, 5), epsilon=0.1)


def test_columns_that_are_not_those_of_the_schema():
    """Missing and additional columns are named, for names are public; other failures are named as before."""
    schema = pa.DataFrameSchema({"age": pa.Column(int), "ward": pa.Column(str), "note": pa.Column(str, required=False)}, strict=True)
    with pytest.raises(SchemaViolation, match=r"Ward: not in the schema; ward: not in the frame") as raised:
        pd.DataFrame({"age": [1], "Ward": ["n"]}).dp.protect(epsilon=1, schema=schema)
    assert raised.value.failures == (("Ward", "not in the schema"), ("ward", "not in the frame"))
    assert "enforce" not in str(raised.value)
    by_pattern = pa.DataFrameSchema({"x.*": pa.Column(float, regex=True), "q.*": pa.Column(float, regex=True)}, strict=True)
    with pytest.raises(SchemaViolation) as raised:
        pd.DataFrame({"x1": [1.0], "x2": [2.0], "z": [1.0]}).dp.protect(epsilon=1, schema=by_pattern)
    assert set(raised.value.failures) == {("z", "not in the schema"), ("q.*", "not in the frame")}
    with pytest.raises(SchemaViolation, match="ward: not in the frame; age: "):
        pd.DataFrame({"age": ["x"]}).dp.protect(epsilon=1, schema=schema)


@pytest.mark.parametrize("dtype", ["object", "string", "category", "Int64", "float64"])
def test_value_counts_of_a_series_are_those_of_the_frame(dtype):
    """Missing and undeclared values go into other= however the column is asked, as does every share; at huge ε they are pandas' numbers."""
    cells = [1, 2, 2, 3, None, None] if dtype in {"Int64", "float64"} else ["a", "b", "b", "c", None, None]
    keys = [2, 1] if dtype in {"Int64", "float64"} else ["b", "a"]
    df = protect(pd.DataFrame({"k": pd.Series(cells * 10, dtype=dtype)}))
    expected = pd.Series([20, 10, 30])
    for normalize in (False, True):
        asked = {
            "keys": keys,
            "other": 99 if dtype in {"Int64", "float64"} else "rest",
            "normalize": normalize,
            "sort": False,
            "epsilon": 100_000,
        }
        column, frame = df["k"].dp.value_counts(**asked), df.dp.value_counts("k", **asked)
        pd.testing.assert_series_equal(column, frame)
        assert np.allclose(column.to_numpy(), expected / (60 if normalize else 1))
    sizes = df.dp.groupby("k", keys=keys, other=99 if dtype in {"Int64", "float64"} else "rest").size(epsilon=100_000)
    assert sizes.tolist() == expected.tolist()


def test_which_count_a_mean_within_rests_on():
    """A ± of a mean rests on a released count of that very frame or view, or on rows=: never on one of other rows, which would buy too much or promise too little."""
    df = protect(visits(), schema=Visits)
    few = df[df["age"] > 100]
    df.dp.count(epsilon=1)
    for ask in (
        few.dp,
        df["charge"].dp,
        df.dp.where("age > 100"),
        df.dp.groupby("ward")["charge"],
        df.dp.preview.groupby("ward")["charge"],
        few.dp.preview,
    ):
        with pytest.raises(ParameterError, match="this very frame or view"):
            ask.mean(within=100, **({"column": "charge"} if ask in (few.dp, few.dp.preview) or "where" in repr(ask) else {}))
    whole = df.dp.preview.mean("charge", within=100)
    assert abs(float(whole.epsilon) - 0.0749) < 0.01
    few.dp.count(epsilon=1)
    few.dp.count("age", epsilon=1)
    assert df.dp.preview.mean("charge", within=100).epsilon == whole.epsilon
    assert float(few.dp.preview.mean("charge", within=100).epsilon) > 1
    old = df.dp.where("age > 100")
    old.count(epsilon=1)
    assert df.dp.where("age > 100").preview.mean("charge", within=100).epsilon > 1
    assert df.dp.preview.groupby("ward")["charge"].mean(within=100, rows=1000).epsilon > whole.epsilon


def test_a_count_serves_other_frames_of_the_session_not():
    """Of two frames of one session each has its own count; replayed counts serve as well; a frame that is gone has none."""
    session = Session(15)
    large, small = (session.protect(visits().iloc[:rows], name=str(rows)) for rows in (20_000, 20))
    small.dp.count(epsilon=1)
    with pytest.raises(ParameterError, match="rows="):
        large.dp.mean("age", bounds=(0, 110), within=1)
    first = large.dp.count(epsilon=1, label="n")
    again = large.iloc[:]
    assert again.dp.count(epsilon=1, label="n") == first
    assert again.dp.preview.mean("age", bounds=(0, 110), within=1).epsilon < 0.1
    for _ in range(5):
        large.iloc[:].dp.count(epsilon=0.1)
    gc.collect()
    large.dp.count(epsilon=0.1)
    assert len(session._core.counts._found) <= 4


def test_previews_by_group():
    """Grouped queries are previewed with the ± of each group, in a table for a list of ε; the query then costs and says just that, and nothing is spent before."""
    df = people()
    by = df.dp.preview.groupby("ward", max_groups=2)
    asked = {
        "size": (lambda g, **k: g.size(**k), {}),
        "people": (lambda g, **k: g.count(unique=True, **k), {}),
        "sums": (lambda g, **k: g["charge"].sum(**k), {}),
        "means": (lambda g, **k: g["charge"].mean(**k), {"rows": 2000}),
        "several": (lambda g, **k: g.agg({"age": ["mean", "std"]}, **k), {"rows": 2000}),
        "medians": (lambda g, **k: g["age"].median(**k), {}),
    }
    for name, (ask, more) in asked.items():
        told = ask(by, epsilon="0.1", **more)
        assert isinstance(told, pandas_dp.Preview), name
        before = df.dp.session.spent
        ask(df.dp.groupby("ward", max_groups=2), epsilon="0.1")
        entry = df.dp.session.ledger.iloc[-1]
        assert (entry["query"], entry["epsilon"]) == (told.query, told.epsilon)
        assert df.dp.session.spent - before == told.epsilon
    assert df.dp.session.releases[0].half_width().tolist() == [by.size(epsilon="0.1").half_width] * 4
    table = by.size(epsilon=[0.1, 0.2])
    assert table["half_width"].tolist() == [150, 75]
    with pytest.raises(ParameterError, match="smallest group"):
        by["charge"].mean(epsilon=0.1)


def test_wrong_calls_say_nothing_of_data():
    """None of the errors here quotes a value of the frame."""
    df = pd.DataFrame({"secret": [123456.0, 987654.0], "k": ["hidden", "covert"]}).dp.protect(epsilon=1)
    mistakes = itertools.chain((ask for ask, _ in CALLS.values()), [lambda df: df.dp.hidden, lambda df: list(df.dp.groupby("k"))])
    for ask in mistakes:
        with pytest.raises((DPError, KeyError)) as raised:
            ask(df)
        assert not any(word in str(raised.value) for word in ("123456", "987654", "'hidden'", "covert")) or "no 'hidden'" in str(
            raised.value
        )


@pytest.mark.parametrize(
    "ask", [lambda dp: dp.count(epsilon=0.1), lambda dp: dp.sum("x", bounds=(0, 1), epsilon=0.1), lambda dp: dp.preview.count(epsilon=0.1)]
)
def test_a_query_holds_no_frame(ask):
    """After a query a frame is freed as soon as nobody names it, without the garbage collector: what was looked up for the query is let go with it."""
    df = protect(pd.DataFrame({"x": [0.5] * 10}))
    ask(df.dp)  # what is made once
    gc.collect()
    gc.disable()
    try:
        copy = df.copy(deep=False)
        frame, index, shared = weakref.ref(copy), weakref.ref(copy.index), copy.index is df.index
        query = copy.dp
        ask(query)
        if "dp" in copy.__dict__:
            del copy.__dict__["dp"]  # pandas 2 keeps the accessor, which has the frame
        del copy, query
        assert frame() is None
        assert (index() is None) != shared, "pandas 2 shares the index of a shallow copy"
    finally:
        gc.enable()
