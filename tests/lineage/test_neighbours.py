"""Which rows of a unit count: a matter of that unit's rows alone, so that one more person moves an answer by one person's share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pytest
from lineage_support import EPSILON, protect

pytestmark = pytest.mark.usefixtures("one_salt")

if TYPE_CHECKING:
    from collections.abc import Callable

UNITS = 200


def neighbours() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two rows, with x = 0 and x = 1, of each of 200 people; and the same with one more person, whose only row has x = 0."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"u": np.repeat(np.arange(UNITS), 2), "day": np.repeat(rng.integers(0, 3, UNITS), 2), "x": np.tile([0, 1], UNITS)},
    )
    return frame, pd.concat([frame, pd.DataFrame({"u": [999], "day": [0], "x": [0]})], ignore_index=True)


def total(frame: pd.DataFrame) -> int:
    """Return the noiseless sum of x over the rows that count."""
    return round(frame.dp.sum("x", bounds=(0, 1), epsilon=EPSILON))


# Orders that depend on everybody: an unstable sort shuffles ties, and a shuffle depends on the number of rows.
ORDERS = {
    "sort_values with ties": lambda p: p.sort_values("day"),
    "sample": lambda p: p.sample(frac=1, random_state=0),
    "shuffled, sorted": lambda p: p.sample(frac=1, random_state=0).sort_values("day"),
}
LAYOUTS = {
    "column": lambda frame: frame,
    "column beside repeated labels": lambda frame: frame.set_axis(np.arange(len(frame)) // 3, axis=0),
    "level": lambda frame: frame.assign(visit=range(len(frame))).set_index(["u", "visit"]),
}


@pytest.mark.parametrize("order", ORDERS)
def test_orders_that_depend_on_everybody(order):
    """The premise of this file: left to pandas' order, one more person changes the first rows of several others."""
    first = [ORDERS[order](frame).groupby("u")["x"].first().sum() for frame in neighbours()]
    assert abs(first[0] - first[1]) > 1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ORDERS)
def test_which_rows_of_a_unit_count_does_not_depend_on_other_units(order, layout):
    """Rule: whatever the order at hand, the rows of a unit that count are its first in the protected frame; a neighbour changes its own alone."""
    sums = [total(ORDERS[order](protect(LAYOUTS[layout](frame), unit="u", max_rows=1))) for frame in neighbours()]
    assert sums[0] == sums[1]
    assert layout == "level" or sums == [0, 0]  # everybody's first row has x = 0; with the unit as a level, the content decides


@pytest.mark.parametrize("order", ORDERS)
def test_reset_index_keeps_the_order_of_the_protected_frame(order):
    """Rule: the same where the row labels are columns, or one level of several."""
    for move in (pd.DataFrame.reset_index, lambda frame: frame.set_index("day", append=True).swaplevel()):
        assert [total(move(ORDERS[order](protect(frame, unit="u", max_rows=1)))) for frame in neighbours()] == [0, 0]


def _exploded(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(x=[[0, 0, 1, 1]] * len(frame)).explode("x").astype({"x": int})


WITHOUT_LABELS = {
    "set_index(unit)": lambda p: p.set_index("u"),
    "set_index(unit), one column": lambda p: p.set_index("u")[["x"]],
    "reset_index, set_index(unit)": lambda p: p.reset_index().set_index("u"),
    "adopt": lambda p: p.dp.session.adopt(p.reset_index(drop=True)),
    "adopt, sorted again": lambda p: p.dp.session.adopt(p.reset_index(drop=True)).sort_values("day"),
    # Rows made of one row share its label, so that the label does not order them.
    "explode": lambda p: _exploded(p).sort_values("day"),
    "concat": lambda p: pd.concat([p.assign(x=0), p.assign(x=1)]).sample(frac=1, random_state=0),
}


def moved(change: Callable[[pd.DataFrame], Any], layout: Callable[[pd.DataFrame], pd.DataFrame] = pd.DataFrame) -> int:
    """Return how far one more person moves the noiseless sum of x."""
    without, with_one_more = (total(change(protect(layout(frame), unit="u", max_rows=1))) for frame in neighbours())
    return abs(without - with_one_more)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", WITHOUT_LABELS)
def test_which_rows_count_does_not_depend_on_other_units_without_labels_either(name, order):
    """Rule: where labels are gone or repeated, too, one more person moves a sum by at most that person's contribution."""
    assert moved(lambda p: WITHOUT_LABELS[name](ORDERS[order](p))) <= 1


@pytest.mark.parametrize("order", ORDERS)
def test_a_unit_that_is_the_index_does_not_let_others_choose_its_rows(order):
    """Rule: the same for a unit that is the whole index, whose labels repeat."""
    assert moved(ORDERS[order], lambda frame: frame.set_index("u")) <= 1


# Values of x, low and high, in columns of every kind that can be summed.
KINDS = {
    "bool": lambda x: x == 1,
    "small int": lambda x: x.astype("int8"),
    "float": lambda x: x.astype(float),
    "nullable": lambda x: x.astype("Int64"),
    "beside a text": lambda x: x,
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_orders_rows_of_one_unit_is_their_content_alone(kind):
    """Rule: which of a unit's unlabelled rows counts is decided by what is in them, of whatever kind, and by no one else's."""
    extra = {"note": "same"} if kind == "beside a text" else {}
    assert moved(ORDERS["sort_values with ties"], lambda frame: frame.assign(x=KINDS[kind](frame["x"]), **extra).set_index("u")) <= 1


SAME_HASH = {"-1 and -2": (-1, -2), "0 and the modulus of hash()": (0, sys.hash_info.modulus)}


@pytest.mark.parametrize("pair", SAME_HASH)
def test_unequal_objects_of_equal_hash_are_ordered_by_their_content(pair):
    """Rule: the same for objects that differ although Python hashes them alike."""
    low, high = sorted(SAME_HASH[pair])
    schema = pa.DataFrameSchema({"x": pa.Column(object, pa.Check.in_range(low, high))})
    sums = []
    for frame in neighbours():
        objects = pd.Series([high if x else low for x in frame["x"]], index=frame.index, dtype=object)
        protected = protect(frame.assign(x=objects).set_index("u"), unit="u", max_rows=1, schema=schema)
        sums.append(ORDERS["sort_values with ties"](protected).dp.sum("x", epsilon=EPSILON))
    assert abs(sums[0] - sums[1]) <= 1.1 * max(abs(low), abs(high))  # noise of 100 scales, a tenth, has a probability below 1e-40


DTYPE_CHANGES = {
    "int to float": lambda p: p.assign(a=p["a"].where(p["a"] < 100)),
    "int to object": lambda p: p.assign(c=p["a"].map(lambda value: "big" if value > 100 else value)),
}


@pytest.mark.parametrize("change", DTYPE_CHANGES)
def test_the_content_of_a_row_does_not_depend_on_the_dtype_of_its_column(change):
    """Rule: one person's value may turn a column into another dtype for all; which of the others' rows count stays the same."""
    rng = np.random.default_rng(0)
    base = pd.DataFrame({"p": np.repeat(np.arange(500), 4), "a": rng.integers(0, 50, 2000)})
    sums = []
    for extra in (None, 0, 200):
        frame = base if extra is None else pd.concat([base, pd.DataFrame({"p": [9999], "a": [extra]})], ignore_index=True)
        indexed = protect(frame, unit="p", max_rows=1).set_index("p")
        sums.append(int(DTYPE_CHANGES[change](indexed).dp.sum("a", bounds=(0, 50), epsilon=100_000)))
    assert max(sums) - min(sums) <= 51
