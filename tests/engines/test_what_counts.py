"""What is in no row that counts, in no group that shows, or in no cell that has a value, adds nothing: exactly, at an ε that leaves next to no noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support import protect

from pandas_dp.cells.cells import IntGrid
from pandas_dp.engines.blocks import BLOCK, GroupSum, StepSum

EPSILON = 10_000


def one_person():
    """Return a hundred rows of one person, of whom two count, and one row of another."""
    return protect(
        pd.DataFrame({"who": [1] * 100 + [2], "x": [*range(100), 50], "key": [f"k{n}" for n in range(100)] + ["k0"]}),
        unit="who",
        max_rows=2,
    )


def test_rows_that_do_not_count_have_no_key():
    """A person's rows beyond ``max_rows`` bring no key into ``nunique``: it would move by a hundred for one person, where the noise is for two."""
    keys = [f"k{n}" for n in range(100)]
    assert one_person().dp.nunique("key", keys=keys, epsilon=EPSILON) == 2


def test_rows_that_do_not_count_have_no_rank():
    """Nor are they among the values that quantiles and extremes choose from: they are 0, 1 and 50, not a hundred."""
    asked = one_person().dp
    assert asked.count(epsilon=EPSILON) == 3
    assert asked.median("x", bounds=(0, 100), epsilon=EPSILON) == 1
    assert asked.min("x", bounds=(0, 100), epsilon=EPSILON) == 0
    assert asked.max("x", bounds=(0, 100), epsilon=EPSILON) == 50


def holding(values, missing, dtype="int"):
    """Return a nullable column in which something stands in the place of what is missing."""
    array = pd.arrays.IntegerArray if dtype == "int" else pd.arrays.FloatingArray
    return pd.Series(array(np.array(values, dtype=np.int64 if dtype == "int" else np.float64), np.array(missing)))


@pytest.mark.parametrize("dtype", ["int", "float"])
@pytest.mark.parametrize("behind", [0, 7, 95])
def test_what_stands_behind_a_missing_value(dtype, behind):
    """Whatever number a nullable column holds where a value is missing is in no sum, no count, no bin, no group and no record of a unit."""
    x = holding([5, behind, 95, behind], [False, True, False, True], dtype)
    df = protect(pd.DataFrame({"who": [1, 2, 3, 4], "g": ["a", "a", "b", "b"], "x": x}), unit="who", max_rows=1)
    assert df.dp.count("x", epsilon=EPSILON) == 2
    assert df.dp.count("x", unique=True, epsilon=EPSILON) == 2
    assert df.dp.sum("x", bounds=(3, 99), epsilon=EPSILON) == pytest.approx(100, abs=0.5)
    assert df.dp.groupby("g", keys=["a", "b"]).sum("x", bounds=(3, 99), epsilon=EPSILON).tolist() == pytest.approx([5, 95], abs=0.5)
    assert df.dp.sum("x", per_unit=(0, 200), epsilon=EPSILON) == pytest.approx(100, abs=0.5)
    assert df.dp.sum("x", per_unit=(10, 200), epsilon=EPSILON) == pytest.approx(10 + 95, abs=0.5)
    assert df.dp.histogram("x", bins=[-1, 1, 6, 8, 94, 96], epsilon=EPSILON).tolist() == [0, 1, 0, 0, 1]
    assert df.dp.std("x", bounds=(3, 99), epsilon=EPSILON) == pytest.approx(np.std([5, 95], ddof=1), abs=2)
    if dtype == "int":
        assert df.dp.groupby("x", keys=[0, 5, 7, 95]).size(epsilon=EPSILON).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.float64])
def test_missing_values_of_a_block(dtype):
    """What is marked as missing in a block counts nothing, and adds nothing to sums of steps and of their squares, whatever stands there."""
    grid, missing, codes = IntGrid(3, 99), np.array([False, True, False, True]), np.array([0, 0, 1, 1])
    for behind in (0, 3, 7, 95, 120):
        values = np.array([5, behind, 95, behind], dtype=dtype)
        whole = StepSum(grid, 4, squares=True)
        whole.add(values, missing)
        assert whole.sums() == (2, 100, 25 + 95**2)
        grouped = GroupSum(grid, 4, 2, squares=True)
        grouped.add(values, missing, codes)
        assert [list(map(int, part)) for part in grouped.sums()] == [[1, 1], [5, 95], [25, 95**2]]


def test_rows_of_hidden_keys_are_in_no_group():
    """What a key that does not show holds is in no answer, also not in that of the first key that does, under every statistic."""
    shown = pd.DataFrame({"city": np.repeat(["bonn", "oslo"], 200), "x": 2.0})
    hidden = pd.DataFrame({"city": ["aachen", "home", "zagreb"], "x": [90.0, 90.0, 90.0]})
    df = protect(pd.concat([hidden, shown], ignore_index=True), epsilon=10**6, delta=1e-9)
    groups = df.dp.groupby("city", keys="private")
    sums = groups.sum("x", bounds=(0, 100), epsilon=1000)
    assert sums.index.tolist() == ["bonn", "oslo"]
    assert sums.tolist() == pytest.approx([400, 400], abs=5)
    assert groups.count("x", epsilon=1000).tolist() == [200, 200]
    assert groups.max("x", bounds=(0, 100), epsilon=1000).tolist() == pytest.approx([2, 2], abs=0.01)


@pytest.mark.parametrize("power", [31, 44, 45, 50, 62])
def test_a_full_block_of_large_integers_does_not_wrap(power):
    """A full block of integers of one size, of either sign, and their squares, sum to Python's own integers: in all, and by group."""
    for value in (2**power, -(2**power)):
        grid = IntGrid(min(0, value), max(0, value))
        values = np.full(BLOCK, value, dtype=np.int64)
        whole = StepSum(grid, BLOCK, squares=True)
        whole.add(values, None)
        assert whole.sums() == (BLOCK, BLOCK * value, BLOCK * value**2)
        grouped = GroupSum(grid, BLOCK, 2, squares=True)
        grouped.add(values, None, np.arange(BLOCK) % 2)
        count, total, squares = grouped.sums()
        assert (count.tolist(), [int(one) for one in total]) == ([BLOCK // 2] * 2, [BLOCK // 2 * value] * 2)
        assert [int(one) for one in squares] == [BLOCK // 2 * value**2] * 2
