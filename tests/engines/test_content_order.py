"""Which rows of a person count depends on that person's rows alone: not on others' labels, order, dtypes or hashes.

Each case is a fault that was found by attack: neighbours that differ by one person moved the rows of all.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from support import protect, silent_noise

import pandas_dp
from pandas_dp.engines.conformance import SALT
from pandas_dp.engines.content_order import order_by_content

pytestmark = pytest.mark.usefixtures("one_salt")

PEOPLE = range(50)


def moved(monkeypatch, frames, ask):
    """Return by how much two neighbours' totals differ, in units of the sensitivity."""
    with silent_noise(monkeypatch) as seen:
        for frame in frames:
            ask(frame)
    (left, scales), (right, _) = seen[0], seen[1]
    difference = sum(
        abs(int(one))
        for a, b in zip(left, right, strict=True)
        for one in np.ravel(np.asarray(a, dtype=object) - np.asarray(b, dtype=object))
    )
    return difference / scales[0]


def test_repeated_labels_of_one_person(monkeypatch):
    """With the unit as an index level, one person whose label repeats does not change which rows of others count."""
    rows = [(who, visit, float(visit)) for who in PEOPLE for visit in (1, 0)] + [(99, 7, 1.0), (99, 7, 1.0)]
    whole = pd.DataFrame(rows, columns=["who", "visit", "x"]).set_index(["who", "visit"])
    frames = (whole, whole.drop(index=99, level="who"))
    assert moved(monkeypatch, frames, lambda f: protect(f, unit="who", max_rows=1).dp.sum("x", bounds=(0, 1), epsilon=1)) <= 1
    groups = lambda f: protect(f, unit="who", max_rows=1).dp.groupby("x", keys=[0.0, 1.0], max_groups=1).size(epsilon=1)  # noqa: E731
    assert moved(monkeypatch, frames, groups) <= 1


def test_row_numbers_are_no_content(monkeypatch):
    """The level of row numbers that protect() adds, turned into a column, does not order anybody's rows."""
    rows = [(99, 0.0), (99, 0.0)] + [(who, value) for who in PEOPLE for value in (0.0, 1.0)]
    whole = pd.DataFrame(rows, columns=["who", "x"])
    whole.index = ["again" if place % 7 == 0 else place for place in range(len(whole))]

    def ask(frame):
        protect(frame, unit="who", max_rows=1).reset_index().set_index("who").dp.sum("x", bounds=(0, 1), epsilon=1)

    assert moved(monkeypatch, (whole, whole[whole["who"] != 99]), ask) <= 1


def test_adopted_frames_are_never_taken_for_the_protected_one(monkeypatch):
    """adopt() of a frame that happens to have all rows orders them as one that lacks a stranger's row."""
    rows = [(who, value) for who in PEOPLE for value in (1.0, 0.0)] + [(99, 0.0)]
    whole = pd.DataFrame(rows, columns=["who", "x"]).iloc[::-1].reset_index(drop=True)

    def ask(frame):
        df = protect(frame, unit="who", max_rows=1)
        lost = pd.DataFrame({column: df[column].array for column in df})
        df.dp.session.adopt(lost).dp.sum("x", bounds=(0, 1), epsilon=1)

    assert moved(monkeypatch, (whole, whole[whole["who"] != 99]), ask) <= 1


def test_levels_that_become_columns(monkeypatch):
    """Rows of an adopted frame that differ in an index level alone are told apart once it is a column."""
    generator = np.random.default_rng(0)
    rows = [(hour, who, 1.0) for who in PEOPLE for hour in (0, 1)] + [(0, 99, 1.0)]
    whole = pd.DataFrame(rows, columns=["hour", "who", "x"]).sample(frac=1, random_state=1).reset_index(drop=True)

    def ask(frame):
        df = protect(frame, unit="who", max_rows=1)
        made = df.groupby(["hour", "who"])[["x"]].sum()
        order = generator.permutation(len(made))
        adopted = df.dp.session.adopt(made.iloc[order])
        adopted.reset_index().dp.groupby("hour", keys=[0, 1]).size(epsilon=1)

    assert moved(monkeypatch, (whole, whole[whole["who"] != 99]), ask) <= 1


class Odd(str):
    """A text that hashes like all others of its kind."""

    __slots__ = ()
    __hash__ = lambda self: 7  # noqa: E731


EQUAL_AS_NUMBERS = {
    "True and 1": [True, 1],
    "1.0 and 1": [1.0, 1],
    "beyond a double": [10**400, 10**400 + 1],
    "beyond 64 bits": [2**200, 2**200 + 2**64],
    "decimals": [Decimal("0.1"), 0.1],
    "texts with a hash of their own": [Odd("a"), Odd("b")],
    "a text and what prints alike": ["bytes b'a'", b"a"],
    "a text and a tuple": ["tuple (1, 2)", (1, 2)],
    "surrogates": ["\ud800", "\ud801"],
    "moments": [pd.Timestamp("2024-01-01"), np.datetime64("2024-01-02")],
}


@pytest.mark.parametrize("case", EQUAL_AS_NUMBERS)
def test_what_is_equal_as_a_number_is_told_apart(case):
    """Two cells that are equal, or print alike, have an order of their own, whatever stands before and after them (50 shuffles)."""
    pair = EQUAL_AS_NUMBERS[case]
    generator = np.random.default_rng(1)
    found = set()
    for _ in range(50):
        others = list(generator.integers(0, 100, 20).astype(object))
        cells = [*pair, *others]
        places = generator.permutation(len(cells))
        column = pd.DataFrame({"k": pd.Series([cells[place] for place in places], dtype=object)})
        order = order_by_content(column, SALT)
        first, second = (int(np.flatnonzero(places == place)[0]) for place in (0, 1))
        found.add(bool(order[first] < order[second]))
    assert len(found) == 1


@pytest.mark.parametrize("others", [[7], [7.5], [float("nan")], ["text"], [None], [True], [2**70], [pd.Timestamp("2024-01-01")]], ids=repr)
def test_the_order_does_not_depend_on_the_dtype(others):
    """One odd cell of somebody else changes a column's dtype, and not the order of whole numbers, floats or booleans in it."""
    for own in ([3, 1, 2, 5], [0.5, 2.0, -1.0, 7.0], [True, False, True, False]):
        alone = order_by_content(pd.DataFrame({"x": own, "y": range(4)}), SALT)
        together = order_by_content(pd.DataFrame({"x": pd.Series([*own, *others]), "y": range(len(own) + 1)}), SALT)[:4]
        assert np.array_equal(np.argsort(alone), np.argsort(together))


def test_dates_of_every_unit_order_alike():
    """Moments are ordered as moments: in every unit, with a time zone, and as objects."""
    dates = pd.to_datetime(["2024-03-01", "2024-01-01", "2025-01-01"])
    variants = [pd.Series(dates.to_numpy().astype(f"datetime64[{unit}]")) for unit in ("s", "ms", "us", "ns")]
    variants += [dates.tz_localize("UTC"), dates.tz_localize("UTC").tz_convert("Asia/Tokyo"), pd.Series(list(dates), dtype=object)]
    orders = {tuple(order_by_content(pd.DataFrame({"t": pd.Series(variant)}), SALT)) for variant in variants}
    assert len(orders) == 1


def test_two_columns_cannot_be_made_to_collide(monkeypatch):
    """The hash has a secret key of the session: rows that collide under the bare mixing function do not, and which comes first is decided by the key."""
    table = pd.DataFrame({"a": [1.0, 1.0], "b": [0.0, -7.504630228879706e-29], "c": [-1.0, -1.0]})
    keys = [bytes([number]) * 32 for number in range(64)]
    orders = {tuple(order_by_content(table, key).tolist()) for key in keys}
    assert orders == {(0, 1), (1, 0)}
    monkeypatch.undo()
    salts = {pandas_dp.Session(epsilon=1)._core.salt for _ in range(3)}
    assert [len(salt) for salt in salts] == [32, 32, 32]
    assert all(salt.hex() not in repr(vars(pandas_dp.Session)) for salt in salts)


HOSTILE = {
    "a date no Timestamp holds": lambda: (
        pd.Series(np.array([0, 2**63 - 1], dtype="M8[ns]")).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    ),
    "a date of Arrow": lambda: _arrow_dates(),
    "a cell that cannot be shown": lambda: pd.Series([1, Shy()], dtype=object),
    "a signalling NaN": lambda: pd.Series(np.array([0x7FF0000000000001, 0], dtype=np.uint64).view(np.float64)),
    "a signalling single NaN": lambda: pd.Series(np.array([0x7F800001, 0], dtype=np.uint32).view(np.float32)),
}


class Shy:
    """Refuses to be looked at."""

    def __repr__(self):
        """Fail."""
        raise RuntimeError("SECRET-42")

    __eq__ = __hash__ = lambda self, *other: 1 / 0


def _arrow_dates():
    import pyarrow as pa

    return pd.Series(pd.array(pa.array([0, 10**7], pa.date32()), dtype=pd.ArrowDtype(pa.date32())))


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("error")
def test_no_cell_can_make_it_fail(name):
    """One person's cell neither raises nor warns, in a query about another column, about this one, and about totals."""
    column = HOSTILE[name]()
    raw = pd.DataFrame({"who": [1, 1], "k": column, "x": 1.0})
    df = protect(raw.set_index("who"), unit="who", max_rows=1)
    df.dp.sum("x", bounds=(0, 1), epsilon=1)
    df.dp.count("k", epsilon=1)
    twice = protect(raw, unit="who", max_rows=1)
    pd.concat([twice, twice]).dp.sum("x", bounds=(0, 1), epsilon=1)
    if column.dtype.kind == "f":
        df.dp.sum("k", per_unit=(0, 1), epsilon=1)
        df.dp.agg({"k": ["mean", "std"]}, bounds=(0, 1), epsilon=1)
