"""Budgets: exact, as typed, never over, and safe under threads, forks and copies."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
import sys
import threading
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import pandas_dp
from pandas_dp import BudgetExhausted, Epsilon, ParameterError, SessionClosed
from pandas_dp.accounting import EPSILON_MAX, EPSILON_MIN, Cost, as_epsilon

TENTHS = [0.1, "0.1", Decimal("0.1"), Fraction(1, 10), np.float64(0.1), np.float32(0.1), np.float16(0.1), " 0.1 ", "1e-1", "1/10"]
ONES = [1, "1", 1.0, np.int8(1), np.uint64(1), Decimal(1), "1.", np.float16(1)]


@pytest.mark.parametrize("value", TENTHS, ids=repr)
def test_as_typed(value):
    """ε is what the user typed, in any numeric type: 0.1 is one tenth."""
    assert as_epsilon(value) == Fraction(1, 10)


@pytest.mark.parametrize("value", ONES, ids=repr)
def test_ones(value):
    """Integers and integral floats are exact."""
    assert as_epsilon(value) == 1


BAD = [
    0, -1, 0.0, -0.5, math.nan, math.inf, -math.inf, 1e-320, 5e-324, 1e308, 1e7, "0", "-1", "nan", "inf", "", "abc", "1/0", "0x10", "1_000", "1e999999999", "9" * 500,
    Fraction(-1), Fraction(0), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e999999"), Fraction(2**300 + 1, 2**300),
    EPSILON_MIN / 2, EPSILON_MAX * 2,
]  # fmt: skip
WRONG_TYPE = [
    True,
    False,
    np.True_,
    None,
    1j,
    [0.1],
    (0.1,),
    {0.1},
    np.array(0.1),
    np.array([0.1]),
    pd.Series([0.1]),
    object(),
    b"1",
    np.timedelta64(1, "s"),
    pd.NA,
    pd.NaT,
]


@pytest.mark.parametrize("value", BAD, ids=repr)
def test_bad_numbers_are_value_errors(value):
    """Zero, negative, infinite, NaN, absurd or unreadable numbers are refused before anything is charged."""
    with pytest.raises(ParameterError) as caught:
        as_epsilon(value)
    assert isinstance(caught.value, ValueError)
    assert not isinstance(caught.value, TypeError)
    _refused_everywhere(value)


@pytest.mark.parametrize("value", WRONG_TYPE, ids=lambda value: type(value).__name__)
def test_other_types_are_type_errors(value):
    """What is no real number, booleans among them, is a TypeError (and a ValueError, for those who catch that)."""
    with pytest.raises(TypeError) as caught:
        as_epsilon(value)
    assert isinstance(caught.value, pandas_dp.DPError)
    if value is not None:
        _refused_everywhere(value)


def _refused_everywhere(value):
    df = pd.DataFrame({"x": [1.0]}).dp.protect(epsilon=1)
    for ask in (
        lambda: df.dp.count(epsilon=value),
        lambda: df["x"].dp.sum(bounds=(0, 1), epsilon=value),
        lambda: df.dp.mean("x", bounds=(0, 1), epsilon=value),
        lambda: df.dp.preview.count(
            epsilon=[value] if isinstance(value, (list, tuple, np.ndarray)) else value
        ),  # a list is a table of previews
        lambda: pd.DataFrame({"x": [1.0]}).dp.protect(epsilon=value),
        lambda: pandas_dp.Session(epsilon=value),
    ):
        with pytest.raises(pandas_dp.DPError) as caught:
            ask()
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
    assert df.dp.session.spent == 0


@pytest.mark.parametrize(
    ("budget", "epsilon", "times"),
    [
        ("1", "0.1", 10),
        (1.0, 0.1, 10),
        (0.3, 0.1, 3),
        ("1", Fraction(1, 11), 11),
        (1, "1/49", 49),
        (1, Fraction(1, 3), 3),
        ("0.7", 0.07, 10),
    ],
)
def test_shares_fill_the_budget_exactly(budget, epsilon, times):
    """Ten tenths fill 1, three fill 0.3, eleven elevenths fill 1; the next query is refused and nothing is left over."""
    df = pd.DataFrame({"x": [1]}).dp.protect(epsilon=budget)
    for _ in range(times):
        df.dp.count(epsilon=epsilon)
    assert df.dp.session.remaining == 0
    with pytest.raises(BudgetExhausted):
        df.dp.count(epsilon=epsilon)
    assert df.dp.session.spent == Epsilon(as_epsilon(budget))


def test_floats_that_are_no_fractions_never_overspend():
    """1/49 as a float is what it prints, and 49 of them are accepted or refused, but never above the budget."""
    df = pd.DataFrame({"x": [1]}).dp.protect(epsilon=1)
    for _ in range(60):
        try:
            df.dp.count(epsilon=1 / 49)
        except BudgetExhausted:
            break
    assert Fraction(47, 49) < df.dp.session.spent <= 1


@pytest.mark.parametrize("tiny", [5e-324, 1e-320, 1e-17, 1e-12])
def test_nothing_fits_after_exhaustion(tiny):
    """However small, a query on an exhausted budget is refused."""
    df = pd.DataFrame({"x": [1]}).dp.protect(epsilon=1)
    df.dp.count(epsilon=1)
    with pytest.raises(pandas_dp.DPError):
        df.dp.count(epsilon=tiny)


def test_a_refusal_is_typed_and_harmless():
    """BudgetExhausted carries the numbers, spends nothing, and what fits is still answered."""
    df = pd.DataFrame({"x": [1]}).dp.protect(epsilon=1)
    df.dp.count(epsilon="0.8")
    with pytest.raises(
        BudgetExhausted, match=r"count\(\) asks for ε=0.5, but ε=0.2 of this session's ε=1 is left. Nothing was computed"
    ) as caught:
        df.dp.count(epsilon=0.5)
    error = caught.value
    assert (error.requested, error.remaining, error.budget, error.query) == (0.5, 0.2, 1, "count()")
    assert isinstance(error, RuntimeError)
    assert len(df.dp.session.ledger) == 1
    df.dp.count(epsilon=0.2)
    with pytest.raises(BudgetExhausted, match=r"ε=0 of this session's ε=1 is left.* Reuse an answer"):
        df.dp.count(epsilon=0.1)


def test_epsilon_prints_and_compares_as_typed():
    """Amounts print as decimals where they are exact, as fractions where not, and compare with floats by what those print."""
    assert [str(Epsilon(text)) for text in ("0.1", "1", "1/3", "1e-12", "0.7765432109876555", "1000000")] == [
        "0.1", "1", "1/3", "1e-12", "0.7765432109876555", "1000000",
    ]  # fmt: skip
    assert repr(Epsilon("0.30")) == "ε=0.3"
    assert Epsilon("0.3") == 0.3
    assert Epsilon("0.3") != 0.30000001
    assert Epsilon("0.1") < 0.2 <= Epsilon("0.2")
    assert Epsilon("0.3") > 0.2
    assert Epsilon("0.3") >= 0.3
    assert f"{Epsilon('0.25'):.1f} {Epsilon('0.25')}" == "0.2 0.25"
    assert hash(Epsilon("1/3")) == hash(Fraction(1, 3))
    assert pickle.loads(pickle.dumps(Epsilon("1/3"))) == Epsilon("1/3")
    assert Epsilon("0.5") != "0.5"


def test_a_number_of_many_places_prints_exactly():
    """A decimal of many places is printed whole, not rounded; one too long is printed as its fraction."""
    assert Fraction(str(Epsilon(Fraction(1, 2**28)))) == Fraction(1, 2**28)
    assert str(Epsilon(Fraction(1, 2**200))) == f"1/{2**200}"


def test_sixteen_threads_race_for_one_budget():
    """16 threads ask for 0.001 each from 1.0, switching as often as Python can: exactly 1000 are accepted, in each of 20 rounds."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            accountant = pandas_dp.Session(epsilon=1)._core.account
            accepted = []

            def race(accountant=accountant, accepted=accepted):
                for _ in range(80):
                    try:
                        accountant.charge(
                            Cost.laplace(Epsilon("0.001")), frame="f", query="q", mechanism="m", scale=1.0, margin=1.0, private=True
                        )
                        accepted.append(1)
                    except BudgetExhausted:
                        pass

            threads = [threading.Thread(target=race) for _ in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(accepted) == 1000
            assert accountant.remaining == 0
            assert [entry.number for entry in accountant.entries] == list(range(1, 1001))
    finally:
        sys.setswitchinterval(interval)


def test_threads_race_through_the_accessor():
    """The same through df.dp.count, on copies of one frame: 8 threads, 400 questions, 100 answers."""
    df = pd.DataFrame({"x": range(10)}).dp.protect(epsilon=1)
    accepted = []

    def race():
        for _ in range(50):
            try:
                df.copy().dp.count(epsilon="0.01")
                accepted.append(1)
            except BudgetExhausted:
                pass

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted) == 100
    assert len(df.dp.session.releases) == 100


COPIES = {
    "copy": lambda df: df.copy(),
    "deep copy": copy.deepcopy,
    "pickle": lambda df: pickle.loads(pickle.dumps(df)),
    "slice": lambda df: df[:],
    "query": lambda df: df.query("x >= 0"),
    "assign": lambda df: df.assign(y=1),
    "frame of a frame": lambda df: pd.DataFrame(df),
    "of columns": lambda df: pd.DataFrame({"x": df["x"]}),
}


@pytest.mark.parametrize("way", COPIES)
def test_copies_share_one_budget(way):
    """No way of copying a frame gives a second budget."""
    df = pd.DataFrame({"x": range(5)}).dp.protect(epsilon=1)
    twin = COPIES[way](df)
    assert twin.dp.session is df.dp.session
    twin.dp.count(epsilon=0.6)
    with pytest.raises(BudgetExhausted):
        df.dp.count(epsilon=0.6)


def _ask_in_child(df, queue):
    try:
        queue.put(("answered", float(df.dp.count(epsilon=0.1))))
    except Exception as error:
        queue.put((type(error).__name__, str(error)))


def _ask_own_in_child(queue):
    own = pd.DataFrame({"x": range(1000)}).dp.protect(epsilon=1)
    queue.put(float(own.dp.sum("x", bounds=(0, 10**9), epsilon=1)))


def test_a_fork_has_no_budget():
    """A forked child refuses with SessionClosed, also while another thread of the parent holds the lock, and the parent is charged nothing."""
    from pandas_dp.accounting import lock

    df = pd.DataFrame({"x": range(5)}).dp.protect(epsilon=1)
    context = multiprocessing.get_context("fork")
    held, release = threading.Event(), threading.Event()

    def hold():
        with lock.LOCK:
            held.set()
            release.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(30)
    try:
        queue = context.Queue()
        child = context.Process(target=_ask_in_child, args=(df, queue))
        child.start()
        kind, text = queue.get(timeout=30)
        child.join(30)
    finally:
        release.set()
        holder.join()
    assert kind == "SessionClosed"
    assert "fork" in text
    assert df.dp.session.spent == 0
    df.dp.count(epsilon=0.1)


def test_forked_workers_draw_different_noise():
    """Three forked workers that protect and ask alike give three answers (scale 10^9: a repeat has probability below 1e-8)."""
    context = multiprocessing.get_context("fork")
    answers = []
    for _ in range(3):
        queue = context.Queue()
        child = context.Process(target=_ask_own_in_child, args=(queue,))
        child.start()
        answers.append(queue.get(timeout=30))
        child.join(30)
    assert len(set(answers)) == 3


def test_a_spawned_process_does_not_know_the_frame(tmp_path):
    """A frame sent to a fresh process is NotProtected there: a session does not travel."""
    import subprocess

    df = pd.DataFrame({"x": range(5)}).dp.protect(epsilon=1)
    path = tmp_path / "frame.pkl"
    df.to_pickle(path)
    code = f"import pandas as pd, pandas_dp\ntry:\n    pd.read_pickle({str(path)!r}).dp.count(epsilon=0.1)\nexcept pandas_dp.NotProtected:\n    print('refused')"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True).stdout == "refused\n"


def test_charged_before_anything_can_fail(monkeypatch):
    """Whatever fails after the charge, KeyboardInterrupt included, the charge stands, and the failure says nothing about its cause."""
    from pandas_dp.release import noisy
    from pandas_dp.release import path as release

    for failure, seen in (
        (RuntimeError("SECRET-42"), pandas_dp.ComputationFailed),
        (KeyboardInterrupt("SECRET-42"), KeyboardInterrupt),
        (MemoryError("SECRET-42"), pandas_dp.ComputationFailed),
    ):
        for name in ("totals", "discrete_laplace"):
            df = pd.DataFrame({"x": [1.0]}).dp.protect(epsilon=1)

            def fail(*_, failure=failure, **__):
                raise failure

            with monkeypatch.context() as patch:
                if name == "totals":
                    patch.setattr(release, name, fail)
                else:
                    patch.setattr(noisy, name, lambda scale, fail=fail: type("S", (), {"draw": fail})())
                with pytest.raises(seen) as caught:
                    df.dp.mean("x", bounds=(0, 1), epsilon=0.25)
            assert df.dp.session.spent == 0.25
            assert df.dp.session.releases == ()
            assert len(df.dp.session.ledger) == 1
            if seen is pandas_dp.ComputationFailed:
                assert "SECRET" not in str(caught.value)
                assert caught.value.__context__ is None
            assert caught.traceback[-1].name == "call", "the stack ends at the boundary"


def test_closed_is_closed():
    """After close() nothing is answered, the ledger stays open, and the name cannot be used for a new budget."""
    df = pd.DataFrame({"x": [1]}).dp.protect(epsilon=1, name="a closed session")
    df.dp.count(epsilon=0.5)
    df.dp.session.close()
    for ask in (lambda: df.dp.count(epsilon=0.1), lambda: df["x"].dp.count(epsilon=0.1), lambda: df.dp.preview.count(epsilon=0.1)):
        with pytest.raises(SessionClosed, match="closed"):
            ask()
    with pytest.raises(SessionClosed):
        pd.DataFrame({"x": [1]}).dp.protect(epsilon=1, name="a closed session")
    with pytest.raises(SessionClosed):
        pd.DataFrame({"x": [1]}).dp.protect(session=df.dp.session)
    assert df.dp.session.spent == 0.5
    assert len(df.dp.session.releases) == len(df.dp.session.ledger) == 1


def test_remaining_does_not_depend_on_data():
    """What is left is equal on neighbours after any sequence of queries, refused ones included."""

    def left(values):
        df = pd.DataFrame({"x": values}).dp.protect(epsilon=1)
        for epsilon in (0.3, 0.9, 0.3, 0.5):
            try:
                df.dp.mean("x", bounds=(0, 1), epsilon=epsilon)
            except BudgetExhausted:
                pass
        return df.dp.session.remaining, repr(df.dp), repr(df.dp.session)

    assert left([1.0, math.nan]) == left([1.0]) == left(np.array([], dtype=float))
