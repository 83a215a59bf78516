"""The path itself: in its order, and out of it in no other way than it says."""

from __future__ import annotations

import os

import pandas as pd
import pytest
from support import protect

import pandas_dp
from pandas_dp.engines.pandas import PandasSource, _Reader
from pandas_dp.noise import entropy
from pandas_dp.release import path

QUERIES = {
    "mean": lambda dp: dp.mean("x", bounds=(0, 1), epsilon=1),
    "groups": lambda dp: dp.groupby("k", keys=[0, 1]).sum("x", bounds=(0, 1), epsilon=1),
    "median": lambda dp: dp.median("x", bounds=(0, 1), epsilon=1),
    "cov": lambda dp: dp.cov(["x", "k"], bounds={"x": (0, 1), "k": (0, 2)}, epsilon=1),
    "nunique": lambda dp: dp.nunique("k", keys=[0, 1, 2], epsilon=1),
    "private keys": lambda dp: dp.groupby("k", keys="private").mean("x", bounds=(0, 1), epsilon=1),
}
ROUNDS = {"mean": "sums", "groups": "sums", "median": "ranks", "cov": "gram", "nunique": "occurring", "private keys": "candidates"}


def frame():
    return pd.DataFrame({"x": [0.1, 0.5, 0.9] * 20, "k": [0, 1, 2] * 20})


@pytest.mark.parametrize("query", QUERIES)
def test_what_an_engine_cannot_read_is_refused_before_the_charge(query, monkeypatch):
    """An engine says which plans it cannot read: the query is an error with the reason, nothing is charged, read or drawn; asked for its cost, too."""
    df = protect(frame(), delta=0.5)
    monkeypatch.setattr(PandasSource, "unsupported", lambda _, plan: "this engine reads no column twice" if plan.reads else None)
    monkeypatch.setattr(PandasSource, "open", lambda *_: pytest.fail("the data was read"))
    with (
        entropy.injected(lambda _: pytest.fail("noise was drawn")),
        pytest.raises(
            pandas_dp.CallError, match=r"cannot be answered here: this engine reads no column twice\. Nothing was computed"
        ) as caught,
    ):
        QUERIES[query](df.dp)
    assert "spent" in str(caught.value)
    assert df.dp.session.spent == 0
    assert len(df.dp.session.ledger) == 0


@pytest.mark.parametrize("query", QUERIES)
def test_a_round_that_failed_is_charged_and_tells_nothing(query, monkeypatch):
    """Where a round returns None, the charge stands, no noise is drawn after it, and the error has no cause and no text of one."""
    df = protect(frame(), delta=0.5)
    monkeypatch.setattr(_Reader, ROUNDS[query], lambda *_: None)
    with pytest.raises(pandas_dp.ComputationFailed, match="was charged, and computing it failed") as caught:
        QUERIES[query](df.dp)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert df.dp.session.ledger["epsilon"].tolist() == [1]
    assert df.dp.session.releases == ()


@pytest.mark.parametrize("query", QUERIES)
def test_the_order_of_the_path(query, monkeypatch):
    """Trace, charge, read, noise, record: each once begun after the one before, whatever is asked."""
    df = protect(frame(), delta=0.5)
    seen = []

    def noted(owner, name, step):
        original = getattr(owner, name)

        def note(*arguments, **named):
            seen.append(step)
            return original(*arguments, **named)

        monkeypatch.setattr(owner, name, note)

    core = type(df.dp.session._core)
    roster = type(pandas_dp.sessions.registry.find(df).roster)
    noted(roster, "identify", "trace")
    noted(core, "charge", "charge")
    noted(PandasSource, "open", "open")
    noted(_Reader, ROUNDS[query], "read")
    noted(core, "record", "record")
    with entropy.injected(lambda count: seen.append("noise") or os.urandom(count)):
        QUERIES[query](df.dp)
    order = list(dict.fromkeys(seen))
    assert order == ["trace", "charge", "open", "read", "noise", "record"]
    assert seen.count("trace") == seen.count("charge") == seen.count("open") == seen.count("record") == 1


def test_the_path_fits_on_two_screens():
    """The audited path stays readable in one sitting: its function and what it calls in its module, without the text that documents them, are under 120 lines."""
    import ast
    import inspect

    tree = ast.parse(inspect.getsource(path))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Module)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert sum(len(ast.unparse(node).splitlines()) for node in functions) < 120
