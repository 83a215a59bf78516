"""The steps of views: facts that are public, comparable, and the same in another process."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from expression_support import COLUMNS

from pandas_dp.domains.domain import ColumnFacts
from pandas_dp.expressions.parse import parse
from pandas_dp.expressions.steps import Step, columns_of, public_after

TEXTS = [
    "x > 1",
    "ward in ['north', 'south']",
    "clip(x / 2, 0, 5) + 1",
    "t >= '2024-01-01'",
    "where(b, x, -x)",
    "not isna(x)",
    "x",
    "round(x, 1) ** 2",
    "month(t)",
]


def parsed(text):
    return parse(text, COLUMNS)


def steps():
    expressions = [parsed(text) for text in TEXTS]
    conditions = [Step(condition=one) for one in expressions if one.kind == "bool"]
    return [*conditions, *(Step(assigned=(("new", one),)) for one in expressions), Step(selected=("x", ("a", 1), 3))]


@pytest.mark.parametrize("place", range(len(steps())))
def test_a_step_is_the_same_after_pickling(place):
    """Pickled, copied and parsed again, a step is equal, hashes alike and says the same; another step is not equal to it."""
    step = steps()[place]
    for other in (pickle.loads(pickle.dumps(step)), copy.deepcopy(step), steps()[place]):
        assert other == step
        assert hash(other) == hash(step)
        assert (other.text, other.reads, repr(other)) == (step.text, step.reads, repr(step))
    assert [other == step for other in steps()].count(True) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        step.selected = ("y",)


def test_a_step_means_the_same_in_another_process():
    """What another process unpickles and pickles again is equal, and does the same to rows."""
    code = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)))"
    back = pickle.loads(subprocess.run([sys.executable, "-c", code], input=pickle.dumps(steps()), capture_output=True, check=True).stdout)
    assert back == steps()
    frame = pd.DataFrame({"x": [0.5, 1.5, np.nan]})
    assert back[0].condition.mask(frame).tolist() == [False, True, False]


def test_texts_and_columns_read():
    """A step's text is what was asked for; it reads the columns of its expressions, and a choice of columns reads none."""
    assert Step(condition=parsed("x > 1")).text == "where('x > 1')"
    assert Step(assigned=(("a", parsed("x + y")), ("b c", parsed("x")))).text == "assign(a='x + y', 'b c'='x')"
    assert Step(selected=("x", 3)).text == "select(['x', 3])"
    assert Step(condition=parsed("x > y")).reads == {"x", "y"}
    assert Step(assigned=(("a", parsed("x + 1")), ("b", parsed("i")))).reads == {"x", "i"}
    assert Step(selected=("x",)).reads == frozenset()


def test_public_facts_after_steps():
    """Columns, dtypes and declarations follow from the steps: a column by itself keeps its own, anything else is a clamped number or a condition."""
    facts = {"x": ColumnFacts(bounds=(0, 10), numeric=True), "ward": ColumnFacts(keys=("n", "s"))}
    dtypes = {"x": np.dtype("float64"), "ward": np.dtype(object), "i": np.dtype("int64")}
    asked = []

    def dtype(name):
        asked.append(name)
        return dtypes[name]

    before = public_after((), dtypes, dtype, facts, frozenset(dtypes))
    known = columns_of(before)
    assert list(before.columns) == ["x", "ward", "i"]
    chain = (
        Step(assigned=(("half", parse("x / 2", known)),)),
        Step(assigned=(("area", parse("ward", known)),)),
        Step(condition=parse("x > 1", known)),
        Step(assigned=(("x", parse("x > 3", known)),)),
        Step(selected=("half", "area", "x")),
    )
    after = public_after(chain, dtypes, dtype, facts, frozenset(dtypes))
    assert list(after.columns) == ["half", "area", "x"]
    assert [after.dtype(name) for name in after.columns] == [np.dtype("float64"), np.dtype(object), np.dtype("bool")]
    assert after.facts["half"].bounds == (0.0, 5.0)
    assert after.facts["half"].derived
    assert after.facts["area"] is facts["ward"]
    assert facts["x"].bounds == (0, 10)  # what was declared is not touched
    assert {name: column.kind for name, column in columns_of(after).items()} == {"half": "float", "area": "text", "x": "bool"}
    assert set(asked) <= set(dtypes)
