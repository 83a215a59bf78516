"""Sessions and protect(): names, shares, several frames, the ledger, and what a session refuses to be."""

from __future__ import annotations

import copy
import importlib
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from support import protect

import pandas_dp
from pandas_dp import BudgetExhausted, Epsilon, LargeBudgetWarning, ParameterError, ParameterTypeError, Session, SessionConflict


def table():
    return pd.DataFrame({"x": [1.0, 2.0, 3.0], "person": [1, 1, 2]})


def test_protect_returns_a_copy_that_shares_data_and_changes_a_name():
    """protect() returns a shallow copy: the original keeps its index name and attrs and stays unprotected."""
    raw = table()
    df = raw.dp.protect(epsilon=1, name="visits")
    assert raw.index.name is None
    assert raw.attrs == {}
    assert df.index.name.startswith("visits#")
    pd.testing.assert_frame_equal(raw, df.rename_axis(None), check_flags=False)
    with pytest.raises(pandas_dp.NotProtected):
        raw.dp.count(epsilon=0.1)
    df.dp.session.close()


def test_a_second_protect_is_an_error():
    """Protecting a protected frame, or one derived from it, is refused: a second budget for the same people is none."""
    df = table().dp.protect(epsilon=1)
    for again in (df, df.copy(), df[df.x > 1], pickle.loads(pickle.dumps(df)), df.reset_index()):
        with pytest.raises(pandas_dp.AlreadyProtected):
            again.dp.protect(epsilon=1)
    with pytest.raises(pandas_dp.AlreadyProtected):
        Session(epsilon=1).protect(df)


def test_a_name_rejoins_its_session():
    """The same name and parameters continue the session, so that a cell that runs again does not refill the budget."""
    first = table().dp.protect(epsilon=1, name="rejoined", queries=4)
    first.dp.count()
    again = table().dp.protect(epsilon="1.0", name="rejoined", queries=4)
    assert again.dp.session is first.dp.session
    assert again.dp.session.spent == 0.25
    assert again.index.name == first.index.name, "the same rows have the same handle"
    other_rows = table().iloc[:2].dp.protect(epsilon=1, name="rejoined", queries=4)
    assert other_rows.dp.session is first.dp.session
    assert other_rows.index.name != first.index.name


@pytest.mark.parametrize("changed", [{"epsilon": 2}, {"queries": 5}, {"unit": "person", "max_rows": 1}, {"enforce": "clamp"}])
def test_a_name_with_other_parameters_is_an_error(changed):
    """Another budget or another unit under a name that exists is refused, and the text says what differs."""
    table().dp.protect(epsilon=1, name="taken")
    with pytest.raises(SessionConflict, match=next(iter(changed))) as caught:
        table().dp.protect(**{"epsilon": 1, "name": "taken", **changed})
    assert caught.value.name == "taken"


def test_a_failed_protect_does_not_take_the_name():
    """If protect() fails, the name is free."""
    with pytest.raises(ParameterError):
        table().dp.protect(epsilon=1, name="not taken", unit="nobody", max_rows=1)
    table().dp.protect(epsilon=2, name="not taken")


def test_reloading_the_package_keeps_the_budget():
    """importlib.reload gives no second budget: the registry is kept."""
    df = table().dp.protect(epsilon=1, name="reloaded")
    df.dp.count(epsilon=0.6)
    importlib.reload(pandas_dp)
    with pytest.raises(BudgetExhausted):
        df.dp.count(epsilon=0.6)
    from pandas_dp.sessions import registry

    before = registry._registry
    assert importlib.reload(registry)._registry is before


@pytest.mark.parametrize("name", ["", " ", "a#b", "x" * 101, 3, b"x", ["x"]])
def test_bad_names(name):
    """Names are short strings without '#', which marks a handle."""
    with pytest.raises(ParameterError):
        table().dp.protect(epsilon=1, name=name)


def test_an_equal_share_for_each_query():
    """With queries=N a query that names no ε gets exactly 1/N of the budget; without, it is an error that says so."""
    df = table().dp.protect(epsilon=1, queries=3)
    assert df.dp.count().epsilon == Fraction(1, 3)
    df.dp.mean("x", bounds=(0, 5))
    df.dp.sum("x", bounds=(0, 5))
    assert df.dp.session.remaining == 0
    with pytest.raises(ParameterError, match="epsilon= is missing"):
        table().dp.protect(epsilon=1).dp.count()


@pytest.mark.parametrize("queries", [0, -1, 1.5, True, "3", None, [3]])
def test_bad_counts(queries):
    """queries, shares and max_rows are whole numbers of at least 1."""
    if queries is not None:
        with pytest.raises(ParameterError):
            table().dp.protect(epsilon=1, queries=queries)
    with pytest.raises(ParameterError):
        table().dp.protect(epsilon=1, unit="person", max_rows=queries)
    if not isinstance(queries, list):
        with pytest.raises(ParameterError):
            Session(epsilon=1).split(queries)


def test_split_is_exact():
    """Equal and weighted shares add up to what is left, exactly; nothing is charged."""
    session = Session(epsilon=1)
    assert sum(session.split(7)) == 1
    assert session.split(np.int64(2)) == (Epsilon("0.5"), Epsilon("0.5"))
    assert session.split([1, "0.5", 0.5]) == (Epsilon("0.5"), Epsilon("0.25"), Epsilon("0.25"))
    df = session.protect(table())
    df.dp.count(epsilon="0.4")
    shares = session.split(3)
    assert sum(shares) == session.remaining == Epsilon("0.6")
    for share in shares:
        df.dp.count(epsilon=share)
    assert session.remaining == 0


@pytest.mark.parametrize("weights", [[], [0], [-1, 2], ["x"], "12", {}, [True]])
def test_bad_weights(weights):
    """Weights are positive numbers, at least one."""
    with pytest.raises(ParameterError):
        Session(epsilon=1).split(weights)


def test_one_session_over_several_frames():
    """Frames about the same people draw on one budget."""
    session = Session(epsilon=1, name="people")
    visits = session.protect(table(), unit="person", max_rows=2)
    people = session.protect(pd.DataFrame({"age": [30, 40]}), name="ages")
    assert visits.dp.session is people.dp.session is session
    visits.dp.count(epsilon=0.5)
    people.dp.mean("age", bounds=(0, 110), epsilon=0.5)
    with pytest.raises(BudgetExhausted):
        people.dp.count(epsilon=0.1)
    assert [frame.split("#")[0] for frame in session.ledger["frame"]] == ["people", "ages"]
    again = table().dp.protect(session=session)
    assert again.dp.session is session


def test_session_and_budget_do_not_mix():
    """protect(session=...) with a budget of its own, or with something that is no session, is an error; so is no budget at all."""
    with pytest.raises(SessionConflict):
        table().dp.protect(epsilon=1, session=Session(epsilon=1))
    with pytest.raises(SessionConflict):
        table().dp.protect(queries=1, session=Session(epsilon=1))
    with pytest.raises(ParameterTypeError):
        table().dp.protect(session="visits")
    with pytest.raises(ParameterError, match="needs a budget"):
        table().dp.protect()


@pytest.mark.parametrize("budget", [20.0001, 100, "1000"])
def test_a_large_budget_warns_whatever_the_data(budget):
    """Above ε = 20, protect() and Session() warn; at 20 they do not; the warning points at the caller."""
    for frame in (table(), table().iloc[:0]):
        with pytest.warns(LargeBudgetWarning, match="promises little") as caught:
            frame.dp.protect(epsilon=budget)
        assert caught[0].filename == __file__
    with pytest.warns(LargeBudgetWarning) as caught:
        Session(epsilon=budget)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table().dp.protect(epsilon=20)
        with pytest.raises(LargeBudgetWarning):
            table().dp.protect(epsilon=budget)


def test_a_session_is_one():
    """A session copies to itself and refuses to be pickled; its repr shows the budget only."""
    session = Session(epsilon=1, name="only")
    assert copy.copy(session) is copy.deepcopy(session) is session
    with pytest.raises(SessionConflict, match="cannot be pickled"):
        pickle.dumps(session)
    assert repr(session) == "<Session 'only': ε=1 of ε=1 left>"
    assert session.name == "only"


def test_the_ledger_has_a_line_for_every_charge():
    """The ledger is a DataFrame with exact ε, query text, mechanism, scale and margin; also empty."""
    df = table().dp.protect(epsilon=1)
    assert df.dp.session.ledger.empty
    columns = ["time", "frame", "query", "epsilon", "delta", "rho", "mechanism", "scale", "margin", "private", "label"]
    assert df.dp.session.ledger.columns.tolist() == columns
    df.dp.count(epsilon=0.1)
    df.dp.sum("x", bounds=(0, 10), epsilon=0.2)
    df.dp.mean("x", bounds=(0, 10), epsilon=0.2)
    df.dp.mean(bounds={"x": (0, 10), "person": (0, 9)}, epsilon=0.5)
    ledger = df.dp.session.ledger
    assert ledger["query"].tolist() == [
        "count()",
        "sum('x' in [0, 10])",
        "mean('x' in [0, 10])",
        "mean('x' in [0, 10], 'person' in [0, 9])",
    ]
    assert ledger["epsilon"].tolist() == [0.1, 0.2, 0.2, 0.5]
    assert sum(ledger["epsilon"]) == 1
    assert ledger["scale"].tolist()[:2] == [10.0, pytest.approx(50.0)]
    assert ledger["margin"].iloc[0] == 30
    assert ledger["margin"].iloc[2] > 0
    assert np.isnan(ledger["margin"].iloc[3])
    assert set(ledger["mechanism"]) == {"discrete Laplace"}
    assert str(ledger["time"].dtype).endswith("UTC]")
    assert ledger["time"].is_monotonic_increasing


def test_units_scale_the_noise():
    """With max_rows = k every scale is k times as large, as the ledger shows."""
    scales = []
    for options in ({}, {"unit": "person", "max_rows": 4}):
        df = table().dp.protect(epsilon=1, **options)
        df.dp.count(epsilon=0.1)
        df.dp.sum("x", bounds=(-2, 1), epsilon=0.1)
        df.dp.mean("x", bounds=(-2, 1), epsilon=0.1)
        scales.append(df.dp.session.ledger["scale"].to_numpy())
    assert scales[1] == pytest.approx(4 * scales[0])


def test_units_limit_what_counts():
    """At most max_rows rows of a person count, rows without a person do not, and a person with 10^4 rows moves a count by max_rows."""
    frame = pd.DataFrame({"person": ["a"] * 10_000 + ["b", None, "c", "c"], "x": 1.0})
    df = protect(frame, unit="person", max_rows=2)
    assert df.dp.count(epsilon=1000) == 5
    assert df.dp.sum("x", bounds=(0, 1), epsilon=1000) == pytest.approx(5, abs=0.1)
    assert df[df.person != "a"].dp.count(epsilon=1000) == 3


def test_unit_and_max_rows_go_together():
    """One without the other is an error, and so is a unit that is no column, or two."""
    for options in ({"unit": "person"}, {"max_rows": 2}):
        with pytest.raises(ParameterError, match="go together"):
            table().dp.protect(epsilon=1, **options)
    for unit in ("nobody", ("x", "y"), 7):
        with pytest.raises(ParameterError, match="unit="):
            table().dp.protect(epsilon=1, unit=unit, max_rows=1)
    with pytest.raises(ParameterError):
        table()[["x", "person", "person"]].dp.protect(epsilon=1, unit="person", max_rows=1)


def test_an_index_with_repeated_labels():
    """Without a unit a repeated label is an error that offers both ways out, and both work."""
    repeated = table().set_axis([0, 0, 1])
    with pytest.raises(pandas_dp.LineageError, match=r"unit='patient_id'.*reset_index\(drop=True\)"):
        repeated.dp.protect(epsilon=1)
    assert protect(repeated.reset_index(drop=True)).dp.count(epsilon=1000) == 3
    by_unit = protect(repeated, unit="person", max_rows=2)
    assert by_unit.dp.count(epsilon=1000) == 3
    assert by_unit["x"].dp.count(epsilon=1000) == 3


@pytest.mark.parametrize("enforce", ["", "warn", None, 1])
def test_bad_enforce(enforce):
    """enforce is one of two words."""
    with pytest.raises(ParameterError):
        table().dp.protect(epsilon=1, enforce=enforce)


def test_only_frames_can_be_protected():
    """Session.protect of something else is a TypeError of ours."""
    for thing in (None, [1], table()["x"], {"x": [1]}):
        with pytest.raises(ParameterTypeError):
            Session(epsilon=1).protect(thing)
        with pytest.raises(ParameterTypeError):
            pandas_dp.dp(thing) if not isinstance(thing, pd.Series) else Session(epsilon=1).protect(thing)
