"""Tracked views: the same as the plain pandas chain, with nothing read before the charge and bounds that follow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import protect, silent_noise

import pandas_dp
from pandas_dp import BoundsError, ExpressionError
from pandas_dp.datasets import Visits, visits
from pandas_dp.engines.pandas import taken

BIG = 100_000


@pytest.fixture
def df():
    return protect(visits(), schema=Visits)


def test_where_is_query(df):
    """where() counts, sums and averages the rows that pandas' query keeps, chained or joined by and."""
    raw = visits()
    kept = raw.query("age >= 65 and ward in ['north', 'south']")
    view = df.dp.where("age >= 65 and ward in ['north', 'south']")
    assert view.count(epsilon=BIG) == len(kept)
    assert view.count("charge", epsilon=BIG) == kept.charge.count()
    assert view.mean("charge", epsilon=BIG) == pytest.approx(kept.charge.mean(), abs=0.1)
    assert view.sum("age", epsilon=BIG) == pytest.approx(kept.age.sum(), abs=1)
    assert df.dp.where("age >= 65").where("ward in ['north', 'south']").count(epsilon=BIG) == len(kept)


def test_assign_brings_bounds(df):
    """New columns have the bounds that follow from their inputs, conditions are booleans with known keys, later ones may use earlier ones."""
    raw = visits()
    view = df.dp.assign(monthly="charge / 12", senior="age >= 65", twice="monthly * 2")
    assert view.mean("monthly", epsilon=BIG) == pytest.approx((raw.charge / 12).mean(), abs=0.01)
    assert df.dp.session.ledger["query"].iloc[-1].startswith("assign(monthly='charge / 12')")
    assert view.mean("twice", epsilon=BIG) == pytest.approx((raw.charge / 6).mean(), abs=0.01)
    assert view.mean("senior", epsilon=BIG) == pytest.approx((raw.age >= 65).mean(), abs=0.001)
    grouped = view.groupby("senior").mean("charge", epsilon=BIG)
    assert grouped.index.tolist() == [False, True]
    assert grouped.to_dict() == pytest.approx(raw.groupby(raw.age >= 65).charge.mean().to_dict(), abs=0.1)
    assert view.value_counts("senior", sort=False, epsilon=BIG).tolist() == (raw.age >= 65).value_counts().sort_index().tolist()
    assert (
        view.histogram("monthly", bins=[0, 100, 200, 2000], epsilon=BIG).sum() == ((raw.charge / 12 > 0) & (raw.charge / 12 <= 2000)).sum()
    )
    assert set(view.mean(epsilon=BIG).index) >= {"age", "charge", "monthly", "senior", "twice"}


def test_the_ledger_tells_the_steps(df):
    """The query's text in ledger, errors and previews begins with the steps of the view."""
    view = df.dp.where("age >= 65").assign(m="charge / 12").select(["m"])
    view.count("m", epsilon=1)
    text = "where('age >= 65').assign(m='charge / 12').select(['m']).count('m')"
    assert df.dp.session.ledger["query"].iloc[-1] == text
    assert view.preview.count("m", epsilon=1).query == text


def test_select_limits_all_columns(df):
    """After select() queries that name no column answer these only."""
    assert df.dp.select(["charge"]).mean(epsilon=BIG).index.tolist() == ["charge"]
    assert df.dp.assign(b="age < 18").select(["b", "age"]).mean(epsilon=BIG).index.tolist() == ["b", "age"]
    with pytest.raises(pandas_dp.ColumnError):
        df.dp.select(["b"])
    with pytest.raises(pandas_dp.ColumnError):
        df.dp.select(["age"]).mean("charge", epsilon=1)
    for columns in ("age", [], None, ["age", ["charge"]]):
        with pytest.raises(pandas_dp.ParameterError):
            df.dp.select(columns)


def test_views_are_lazy_and_immutable(monkeypatch):
    """Making views reads and costs nothing; a view is not changed by what is made of it; a refused query reads nothing."""
    from pandas_dp.expressions.parse import Expression

    df = protect(visits(), epsilon=200_000, schema=Visits)

    def spy(*_, **__):
        pytest.fail("a value was read")

    with monkeypatch.context() as patch:
        patch.setattr(Expression, "mask", spy)
        patch.setattr(Expression, "evaluate", spy)
        base = df.dp.where("age >= 65")
        base.assign(x="charge * 2")
        base.where("smoker")
        with pytest.raises(pandas_dp.BudgetExhausted):
            base.count(epsilon=10**6)
        with pytest.raises(BoundsError):
            base.assign(x="log(charge)").mean("x", epsilon=1)
        assert base.preview.count(epsilon=1).half_width == 3
        assert base.assign(x="charge * 2").preview.mean("x", epsilon=1, rows=100).half_width > 0
    assert df.dp.session.spent == 0
    assert base.count(epsilon=BIG) == (visits().age >= 65).sum()
    with pytest.raises(pandas_dp.ColumnError):
        base.sum("x", bounds=(0, 1), epsilon=1)


def test_bounds_that_do_not_follow_are_asked_for(df):
    """Where bounds cannot be derived the query asks for them, and takes them; derived ones may only be narrowed."""
    view = df.dp.assign(ratio="charge / age", rate="log1p(charge)")
    with pytest.raises(BoundsError, match="has no bounds"):
        view.mean("ratio", epsilon=1)
    exact = (visits().charge / visits().age).replace([np.inf, -np.inf], np.nan).clip(0, 1000).mean()
    assert view.mean("ratio", bounds=(0, 1000), epsilon=BIG) == pytest.approx(exact, abs=0.1)
    assert view.mean("rate", epsilon=BIG) == pytest.approx(np.log1p(visits().charge).mean(), abs=0.01)
    with pytest.raises(BoundsError, match="may only narrow"):
        view.mean("rate", bounds=(0, 100), epsilon=1)


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda dp: dp.where("age - age.mean() > 0"), "age.mean"),
        (lambda dp: dp.where("nobody > 3"), "nobody"),
        (lambda dp: dp.where("age + 1"), "age + 1"),
        (lambda dp: dp.assign(x="__import__('os').system('true')"), "__import__"),
        (lambda dp: dp.assign(x="[a for a in age]"), "for a in age"),
        (lambda dp: dp.where("age > @limit"), "@"),
    ],
)
def test_what_is_outside_the_grammar_is_named(df, make, part):
    """Anything but the grammar is an ExpressionError that names the offending part; nothing is charged."""
    with pytest.raises(ExpressionError) as caught:
        make(df.dp)
    assert part.strip() in str(caught.value) or part in caught.value.part
    assert caught.value.__context__ is None
    for text in (None, 5, df["age"] > 3):
        with pytest.raises(pandas_dp.ParameterTypeError):
            df.dp.where(text)
    assert df.dp.session.spent == 0


def test_a_view_needs_a_protected_frame():
    """Views of an unprotected frame, or of rows that cannot be traced, are refused like their queries."""
    with pytest.raises(pandas_dp.NotProtected):
        visits().dp.where("age > 3")
    df = protect(visits())
    doubled = pd.concat([df, df])
    with pytest.raises(pandas_dp.LineageError):
        doubled.dp.where("age > 3").count(epsilon=1)


def test_filtered_frames_have_views(df):
    """A view of a filtered frame is about that frame's rows."""
    raw = visits()
    assert df[df.smoker].dp.where("age >= 65").count(epsilon=BIG) == (raw.smoker & (raw.age >= 65)).sum()


def test_units_are_bounded_after_the_condition():
    """With named units, the first max_rows rows of a person *among those that fulfil the condition* count, as after a filter."""
    frame = pd.DataFrame({"who": [1] * 10 + [2] * 3, "x": [0.0] * 8 + [1.0] * 5})
    df = protect(frame, unit="who", max_rows=2)
    for condition in ("x > 0.5", "x < 0.5"):
        assert df.dp.where(condition).count(epsilon=BIG) == df.query(condition).dp.count(epsilon=BIG)
        assert df.dp.where(condition).sum("x", bounds=(0, 1), epsilon=BIG) == pytest.approx(
            df.query(condition).dp.sum("x", bounds=(0, 1), epsilon=BIG), abs=0.01
        )


def test_a_plain_name_keeps_its_column(df):
    """assign(copy="ward") is the column itself, with its dtype and keys."""
    view = df.dp.assign(where_to="ward", years="age")
    assert view.groupby("where_to").size(epsilon=BIG).to_dict() == visits().ward.value_counts().to_dict()
    assert view.sum("years", epsilon=BIG) == pytest.approx(visits().age.sum(), abs=1)


TEXTS = [
    "x >= 0", "x > y", "x + y < 1", "g in ['a', 'b']", "g not in ['a']", "g == 'c' or x < 0", "not (x > 0)", "b and x > 0", "b | (y > 0)", "isna(x)", "abs(x) <= 1", "0 <= x < 2",
    "where(b, x, y) > 0", "clip(x, 0, 1) == 1", "sqrt(abs(x)) > 1", "x * y > 0 and not b",
]  # fmt: skip
REFERENCE = {
    "x >= 0": lambda f: f.x >= 0, "x > y": lambda f: f.x > f.y, "x + y < 1": lambda f: f.x + f.y < 1, "g in ['a', 'b']": lambda f: f.g.isin(["a", "b"]),
    "g not in ['a']": lambda f: ~f.g.isin(["a"]), "g == 'c' or x < 0": lambda f: (f.g == "c") | (f.x < 0), "not (x > 0)": lambda f: ~(f.x > 0),
    "b and x > 0": lambda f: f.b & (f.x > 0), "b | (y > 0)": lambda f: f.b | (f.y > 0), "isna(x)": lambda f: f.x.isna(), "abs(x) <= 1": lambda f: f.x.abs() <= 1,
    "0 <= x < 2": lambda f: (f.x >= 0) & (f.x < 2), "where(b, x, y) > 0": lambda f: f.x.where(f.b, f.y) > 0, "clip(x, 0, 1) == 1": lambda f: f.x.clip(0, 1) == 1,
    "sqrt(abs(x)) > 1": lambda f: np.sqrt(f.x.abs()) > 1, "x * y > 0 and not b": lambda f: (f.x * f.y > 0) & ~f.b,
}  # fmt: skip


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([-2.0, -0.5, 0.0, 0.5, 1.0, 3.0, np.nan]),
            st.sampled_from([-1.0, 0.0, 2.0]),
            st.sampled_from("abc"),
            st.booleans(),
        ),
        max_size=25,
    ),
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3),
)
def test_views_equal_the_plain_chain(records, texts):
    """Property: for generated frames and chains of conditions, count and the noiseless sum equal those of the same masks in plain pandas."""
    frame = pd.DataFrame(records, columns=["x", "y", "g", "b"]).astype({"x": float, "y": float, "b": bool})
    plain = frame
    for text in texts:
        plain = plain[REFERENCE[text](plain).to_numpy(dtype=bool)]
    with pytest.MonkeyPatch.context() as monkeypatch, silent_noise(monkeypatch) as seen:
        view = protect(frame).dp
        for text in texts:
            view = view.where(text)
        view.count(epsilon=1)
        view.sum("x", bounds=(-2, 3), epsilon=1)
        protect(plain.reset_index(drop=True))["x"].dp.sum(bounds=(-2, 3), epsilon=1)
    assert seen[0][0] == [len(plain)]
    assert seen[1][0] == seen[2][0]


def test_representation(df):
    """A view shows its session only."""
    assert repr(df.dp.where("age > 3")) == "<.dp view of <Session: ε=1000000 of ε=1000000 left>>"
    assert df.dp.where("age > 3").session is df.dp.session


def test_bounds_of_derived_expressions():
    """Attack A22: the noise of a derived column follows from interval arithmetic: k + h in [0, 400], k - h in [-200, 200], k * h in [0, 40000]."""
    import pandera.pandas as pa

    schema = pa.DataFrameSchema({name: pa.Column(int, pa.Check.in_range(0, 200)) for name in "kh"})
    df = protect(pd.DataFrame({"k": [200, 0], "h": [0, 200]}), schema=schema)
    for text, sensitivity in (("k + h", 400), ("k - h", 200), ("k * h", 40_000), ("h - k", 200), ("k * h - h", 40_000)):
        df.dp.assign(d=text).sum("d", epsilon=1)
        assert df.dp.session.ledger["scale"].iloc[-1] == pytest.approx(sensitivity, rel=1e-6), text


def test_overlapping_filters_are_charged_twice():
    """Attack A53, case B30: two filters, overlapping or not, cost the sum; one ε for disjoint groups is what groupby is for."""
    df = protect(pd.DataFrame({"age": [10, 20, 30], "old": [False, False, True]}), epsilon=10)
    df[df["age"] <= 20].dp.count(epsilon=1)
    df[df["age"] >= 20].dp.count(epsilon=1)
    df.dp.where("age <= 20").count(epsilon=1)
    df.dp.where("age >= 20").count(epsilon=1)
    df.dp.where("age > 20").count(epsilon=1)
    assert df.dp.session.spent == 5
    df.dp.groupby("old").size(epsilon=1)
    assert df.dp.session.spent == 6


STEPS = [
    lambda dp: dp.where("x >= 0.5 or isna(x)"),
    lambda dp: dp.where("ward in ['a', 'b'] and not flag"),
    lambda dp: dp.assign(y="where(flag, x * 2, exp(x) - 1)"),
    lambda dp: dp.assign(y="round(clip(x, -1, 1) / 3, 2)").where("y != 0"),
    lambda dp: dp.where("x > -2").assign(z="floor(x)", w="z + 1").where("w >= 0").select(["w"]),
]


@pytest.mark.parametrize("place", range(len(STEPS)))
def test_every_step_is_row_by_row(place):
    """Attack A31: what a view makes of D and one more row is what it makes of D, and at most one row more (100 random frames)."""
    generator = np.random.default_rng(place)
    for _ in range(100):
        rows = int(generator.integers(1, 12))
        whole = pd.DataFrame(
            {
                "x": generator.choice([0.0, 1.0, -1.0, 0.3, 2.5, np.nan, np.inf, -np.inf], rows),
                "ward": generator.choice(["a", "b", "c"], rows),
                "flag": generator.random(rows) < 0.5,
            },
            index=generator.permutation(100)[:rows],
        )
        asked = [STEPS[place](protect(frame).dp)._asks.source for frame in (whole, whole.iloc[:-1])]
        views = [taken(view.base, view.steps) for view in asked]
        (more, marks), (less, fewer) = views
        pd.testing.assert_frame_equal(more.iloc[:-1].reset_index(drop=True), less.reset_index(drop=True))
        assert marks[:-1].tolist() == fewer.tolist()
