"""Sessions in ledger files: continued, compared, amended, audited; and their price in one process."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from fractions import Fraction

import pandas as pd
import pandera.pandas as pa
import pytest
from ledger_support import folder, frame, small  # noqa: F401  (a fixture)

from pandas_dp import (
    BudgetExhausted,
    LargeBudgetWarning,
    LedgerError,
    ParameterError,
    ParameterTypeError,
    Session,
    SessionClosed,
    SessionConflict,
)
from pandas_dp.sessions.registry import kept_sessions, named_sessions


@pytest.fixture
def path(folder):  # noqa: F811
    yield folder / "visits.dp.sqlite"
    named_sessions.pop("small", None)
    kept_sessions.clear()


def again(path, **options):
    """Protect as another process would: without what this one remembers by name."""
    named_sessions.pop("small", None)
    kept_sessions.clear()
    return frame().dp.protect(**{"epsilon": 1, "name": "small", "ledger": path, **options})


def test_continued_with_what_is_left(path):
    """The same call continues the file: spent, remaining, ledger and releases are those of before, and charges go on from there."""
    before = small(path).dp.session
    after = again(path)
    session = after.dp.session
    assert session is not before
    assert session.remaining == Fraction(7, 10)
    assert [release.query for release in session.releases] == [release.query for release in before.releases]
    assert [release.value for release in session.releases[:2]] == [release.value for release in before.releases[:2]]
    assert [str(release) for release in session.releases] == [str(release) for release in before.releases]
    pd.testing.assert_frame_equal(session.ledger, before.ledger)
    after.dp.count(epsilon=0.7)
    with pytest.raises(BudgetExhausted) as refused:
        after.dp.count(epsilon=0.1)
    assert refused.value.remaining == 0
    assert before.remaining == 0
    assert len(before.releases) == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 2}, "epsilon: 1 recorded, 2 now"),
        ({"delta": 1e-6}, "delta: none recorded, 1e-06 now"),
        ({"epsilon": None, "rho": 1}, "rho: none recorded, 1 now"),
        ({"queries": 5}, "queries: none recorded, 5 now"),
        ({"name": "large"}, "name: small recorded, large now"),
        ({"enforce": "clamp"}, "enforce: 'raise' recorded, 'clamp' now"),
        ({"derived": "refuse"}, "derived: 'follow' recorded, 'refuse' now"),
        ({"unit": "x", "max_rows": 2}, "max_rows: nothing recorded, 2 now"),
        (
            {"schema": pa.DataFrameSchema({"x": pa.Column(checks=pa.Check.in_range(0, 50))})},
            r"column 'x': nothing recorded, bounds \(0, 50\)",
        ),
    ],
)
def test_other_parameters_are_an_error(path, options, said):
    """Whatever differs from what was recorded is named, with both values, and nothing is answered or written."""
    small(path)
    content = path.read_bytes()
    with pytest.raises(SessionConflict, match=said):
        again(path, **options)
    assert path.read_bytes() == content
    named_sessions.pop("large", None)


def test_frames_of_one_ledger(path):
    """Several frames share a ledger under names of their own, each with its declarations; a name with others is an error, in later processes, too."""
    session = Session(1, name="study", ledger=path)
    schema = pa.DataFrameSchema({"x": pa.Column(checks=pa.Check.isin(list(range(40))))})
    one = session.protect(frame(), name="one", schema=schema)
    two = session.protect(frame(), name="two", unit="ward", max_rows=3)
    one.dp.count(epsilon=0.1)
    two.dp.count(epsilon=0.1)
    assert session.remaining == Fraction(8, 10)
    later = Session(1, name="study", ledger=path)
    later.protect(frame(), name="one", schema=schema)
    with pytest.raises(SessionConflict, match=r"frame 'two'.*max_rows: 3 recorded, 4 now"):
        later.protect(frame(), name="two", unit="ward", max_rows=4)
    other = pa.DataFrameSchema({"x": pa.Column(checks=pa.Check.isin(list(range(41))))})
    with pytest.raises(SessionConflict, match=r"40 in all .* recorded, .*41 in all"):
        later.protect(frame(), name="one", schema=other)


def test_a_name_has_one_place(path):
    """In one process a name stands for a session in memory or for a file, not for both."""
    small(path)
    with pytest.raises(SessionConflict, match="ledger"):
        frame().dp.protect(epsilon=1, name="small")
    with pytest.raises(SessionConflict, match="ledger"):
        frame().dp.protect(epsilon=1, name="small", ledger=path.with_name("other"))
    assert not path.with_name("other").exists()
    with pytest.raises(SessionConflict, match="ledger="):
        frame().dp.protect(session=Session(1), ledger=path)


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.5}])
def test_every_kind_of_budget(path, budget):
    """ε, (ε, δ) and ρ are continued exactly: sums, what is left, δ of private keys, and the odometer."""
    unit = {"rho": 0.01} if "rho" in budget else {"epsilon": 0.1}
    first = Session(ledger=path, **budget)
    df = first.protect(pd.DataFrame({"x": range(100), "g": ["a"] * 100}))
    df.dp.sum("x", bounds=(0, 100), **unit)
    if "delta" in budget:
        df.dp.mean("x", bounds=(0, 100), mechanism="gaussian", epsilon=0.1)
        df.dp.groupby("g", keys="private").size(epsilon=0.1)
    second = Session(ledger=path, **budget)
    for name in ("budget", "spent", "remaining", "delta", "spent_delta", "remaining_delta"):
        assert getattr(second, name) == getattr(first, name), name
    assert second.spent > 0
    assert second.odometer(delta=1e-6) == first.odometer(delta=1e-6)


def test_amend(path):
    """The owner raises a budget with a reason: an entry of the ledger; from then on the file is continued with the new budget, and not with the old one."""
    df = small(path)
    session = Session.open(path)
    with pytest.raises(ParameterError, match="at least what was spent"):
        session.amend(epsilon=0.2, reason="less")
    with pytest.raises(ParameterError, match="reason"):
        session.amend(epsilon=2, reason=" ")
    with pytest.raises(ParameterError, match="unit of the budget"):
        session.amend(rho=2, reason="another unit")
    with pytest.raises(ParameterError, match="unit of the budget"):
        session.amend(delta=1e-6, reason="no δ here")
    with pytest.raises(ParameterError, match="the new budget in all"):
        session.amend(reason="nothing")
    session.amend(epsilon="2.5", reason="ethics board, 12 May")
    assert session.budget == df.dp.session.budget == Fraction(5, 2)
    assert df.dp.session.remaining == Fraction(22, 10)
    line = df.dp.session.ledger.iloc[-1]
    assert (line["query"], line["epsilon"]) == ("amend: ε=1 to ε=2.5 (ethics board, 12 May)", 0)
    with pytest.raises(SessionConflict, match=r"epsilon: 2.5 recorded, 1 now"):
        again(path)
    after = again(path, epsilon=2.5)
    after.dp.count(epsilon=2.2)
    assert after.dp.session.remaining == 0
    assert after.dp.session.odometer(delta=1e-6) <= 2.5
    with pytest.raises(SessionConflict, match="in memory"):
        Session(1).amend(epsilon=2, reason="no file")


@pytest.mark.parametrize("budget", [{"epsilon": 1, "delta": 1e-6}, {"rho": 0.5}])
def test_amend_other_budgets(path, budget):
    """δ and ρ are amended likewise, and by the same rules."""
    session = Session(ledger=path, **budget)
    df = session.protect(frame())
    df.dp.count(mechanism="gaussian", **({"rho": 0.1} if "rho" in budget else {"epsilon": 0.2}))
    more = {"rho": 1} if "rho" in budget else {"delta": 1e-5}
    left = session.remaining
    session.amend(reason="more", **more)
    assert session.remaining > left
    with pytest.raises(ParameterError, match="spent"):
        session.amend(reason="less", **({"rho": 0.05} if "rho" in budget else {"epsilon": 0.01}))
    assert Session.open(path).remaining == session.remaining


def test_session_open_and_pickle(path):
    """A ledger is opened by its path alone, and a session in a file is pickled as that path: the copy has the same budget."""
    df = small(path)
    opened = Session.open(str(path))
    assert (opened.name, opened.remaining) == ("small", Fraction(7, 10))
    copy = pickle.loads(pickle.dumps(df.dp.session))
    frame_of_copy = copy.protect(frame(), name="other")
    frame_of_copy.dp.count(epsilon=0.2)
    assert df.dp.session.remaining == opened.remaining == Fraction(1, 2)
    with pytest.raises(LedgerError, match="no ledger at"):
        Session.open(path.with_name("absent"))
    with pytest.raises(ParameterTypeError, match="path of a file"):
        Session.open(3)


@pytest.mark.parametrize("name", ["", " ", ":memory:", "."])
def test_names_of_no_file(name, folder, monkeypatch):  # noqa: F811
    """A ledger that names no file is refused with what to do, and nothing is made."""
    monkeypatch.chdir(folder)
    for ask in (lambda: Session(1, ledger=name), lambda: frame().dp.protect(epsilon=1, ledger=name), lambda: Session.open(name)):
        with pytest.raises(LedgerError, match=r"names no file|no ledger can be kept"):
            ask()
    assert list(folder.iterdir()) == []


def test_closing_ends_this_session_alone(path):
    """close() is about this process: the file is continued by the next protect()."""
    df = small(path)
    df.dp.session.close()
    assert repr(df.dp.session) == "<Session 'small', closed: ε=0.7 of ε=1 left>"
    with pytest.raises(SessionClosed, match=r"protect\(ledger=...\) continues the account in .*visits.dp.sqlite"):
        df.dp.count(epsilon=0.1)
    assert again(path).dp.count(epsilon=0.1) is not None


def test_sixteen_threads(path):
    """Sixteen threads that race for a budget of 60 charges have 60 accepted, in file and memory."""
    df = frame().dp.protect(epsilon=6, ledger=path)
    accepted = []

    def ask():
        for _ in range(5):
            try:
                accepted.append(df.dp.count(epsilon=0.1))
            except BudgetExhausted:
                return

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted) == 60
    assert df.dp.session.remaining == 0
    assert len(Session.open(path).releases) == 60


def test_a_cell_that_runs_again(path):
    """In one process the same call gives the same session and handle, and no second copy of the labels; after close() a new one, and no new file where one was."""
    first = small(path)
    second = frame().dp.protect(epsilon=1, name="small", ledger=path)
    assert second.dp.session is first.dp.session
    assert second.index.name == first.index.name
    first.dp.session.close()
    third = frame().dp.protect(epsilon=1, name="small", ledger=path)
    assert third.dp.session is not first.dp.session
    path.unlink()
    with pytest.raises(LedgerError):
        third.dp.count(epsilon=0.1)
    with pytest.raises(LedgerError, match="no longer there"):  # a new one would refill the budget
        frame().dp.protect(epsilon=1, name="small", ledger=path)
    assert not path.exists()
    third.dp.session.close()
    fourth = frame().dp.protect(epsilon=1, name="small", ledger=path)
    assert fourth.dp.session.spent == 0
    assert fourth.dp.session is not third.dp.session


def test_blocks_and_shares(path):
    """allocate() and split() work as in memory; what a block spends is in the file."""
    df = small(path)
    with df.dp.session.allocate(epsilon=0.3):
        df.dp.count(epsilon=0.2)
        with pytest.raises(BudgetExhausted):
            df.dp.count(epsilon=0.2)
    assert Session.open(path).remaining == Fraction(1, 2)
    assert sum(df.dp.session.split(3)) == Fraction(1, 2)


def test_unrecordable_names_are_refused_before_the_charge(path):
    """Names that a file cannot hold are refused, and nothing is spent; in memory they work."""

    class Name:
        pass

    names = [Name(), Name()]
    table = pd.DataFrame([[1.0, 2.0]], columns=names)
    df = table.dp.protect(epsilon=1, ledger=path)
    with pytest.raises(ParameterTypeError, match="ledger file holds names"):
        df.dp.sum(bounds=dict.fromkeys(names, (0, 1)), epsilon=0.1)
    assert df.dp.session.spent == 0
    memory = table.dp.protect(epsilon=1)
    assert len(memory.dp.sum(bounds=dict.fromkeys(names, (0, 1)), epsilon=0.1)) == 2


def test_private_keys_of_unusual_types(path):
    """Private keys that are no plain values are recorded as texts: what the data hold makes no query fail."""
    cells = [Fraction(1, 3)] * 500 + ["text"] * 500
    df = pd.DataFrame({"g": pd.Series(cells, dtype=object)}).dp.protect(epsilon=20, delta=1e-3, ledger=path)
    found = df.dp.groupby("g", keys="private").size(epsilon=10)
    assert len(found) == len(Session.open(path).releases[-1].value)


def test_the_warning_of_a_large_budget(path):
    """A large budget warns when the file is begun and when it is continued; the line is the caller's."""
    for _ in range(2):
        with pytest.warns(LargeBudgetWarning) as caught:
            Session(50, ledger=path)
        assert caught[0].filename == __file__


def test_memory_stays_in_memory(path):
    """A session without a ledger imports no SQLite and opens no file; in a fork it is closed, where one with a ledger goes on."""
    code = "import pandas as pd, pandas_dp, sys; pd.DataFrame({'x': [1]}).dp.protect(epsilon=1).dp.count(epsilon=1); assert 'sqlite3' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    df = small(path)
    reading, writing = os.pipe()
    if os.fork() == 0:
        code = 1
        try:
            df.dp.count(epsilon=0.2)
            code = 0
        finally:
            os._exit(code)
    assert os.wait()[1] == 0
    os.close(reading)
    os.close(writing)
    assert df.dp.session.remaining == Fraction(1, 2)
    assert len(df.dp.session.releases) == 4
