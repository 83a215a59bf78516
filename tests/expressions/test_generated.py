"""Expressions drawn over the grammar: every result is what Python computes from its row alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from expression_grammar import GENERATED, LIBRARY, expressions, framed, one_row, some_rows
from expression_support import NAN, evaluate
from hypothesis import given, settings
from hypothesis import strategies as st

from pandas_dp.expressions.parse import parse


@settings(max_examples=500, deadline=None, derandomize=True, database=None)
@given(expressions, some_rows)
def test_equals_python_row_by_row(pair, rows):
    """Every result is, bit for bit, what Python computes from that row alone; no value raises or warns."""
    text, reference = pair
    result = evaluate(text, framed(rows), GENERATED)
    if parse(text, GENERATED).kind == "bool":
        result = parse(text, GENERATED).mask(framed(rows))
        assert result.tolist() == [reference(row) == 1 for row in rows]  # a missing bool is False
        return
    expected = pd.Series([reference(row) for row in rows], index=result.index)
    if text.isidentifier():
        result = result.astype(object).map(lambda cell: NAN if pd.isna(cell) else float(cell)).astype(float)
    pd.testing.assert_series_equal(result, expected, check_exact=True, check_names=False)


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(expressions, some_rows, one_row, st.integers(1, 30), st.integers(0, 200))
def test_results_depend_on_their_row_alone(pair, rows, added, times, place):
    """With one row more there is one result more, and the others keep every bit, their labels and their dtype."""
    text = pair[0]
    many = rows * times
    place = min(place, len(many))
    longer = [*many[:place], added, *many[place:]]
    with_row = framed(longer)
    with_row.index = pd.Index([*range(place), -1, *range(place, len(many))])
    result = evaluate(text, with_row, GENERATED)
    without = evaluate(text, with_row.drop(index=-1), GENERATED)
    pd.testing.assert_series_equal(result.drop(index=-1), without, check_exact=True)
    assert result.dtype == without.dtype


@pytest.mark.parametrize(
    "text", ["exp(f)", "log(f)", "log1p(f)", "f ** 3", "f ** 7", "sqrt(f)", "f / 3", "f // 3", "f % 3", "round(f, 3)", "floor(f)"]
)
def test_no_position_matters(text):
    """A value has the same result, to the last digit, alone and at every place of arrays of every length: vector code has no edges."""
    values = np.random.default_rng(0).uniform(0.1, 9, 137)
    alone = [evaluate(text, pd.DataFrame({"f": [value]}), GENERATED).iloc[0] for value in values]
    for length in (2, 3, 5, 8, 9, 17, 64, 65, 137):
        for start in (0, 1, 3):
            part = values[start : start + length]
            strided = pd.DataFrame(np.stack([part, part], axis=1), columns=["f", "other"])
            assert evaluate(text, strided, GENERATED).tolist() == alone[start : start + length]


def test_library_functions():
    """NumPy's functions agree with Python's to a fraction of what intervals are widened by."""
    values = np.concatenate([np.random.default_rng(1).uniform(0, 700, 20_000), np.geomspace(1e-300, 1, 2000)])
    for name, ours in LIBRARY.items():
        theirs = np.array([getattr(math, name)(value) for value in values])
        assert (np.abs(ours(values) - theirs) <= 4 * np.spacing(np.abs(theirs))).all()
    for n in (3, 5, 64):
        theirs = np.array([float(Fraction(value) ** n) for value in values if 1e-3 < value < 1e4])
        assert (np.abs(np.power(values[(values > 1e-3) & (values < 1e4)], float(n)) - theirs) <= 4 * np.spacing(theirs)).all()
