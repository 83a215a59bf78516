"""What makes two questions one: what they mean, not how it is held; and answers of every kind come back from JSON as they were."""

from __future__ import annotations

import datetime as dt
import json
import zoneinfo
from decimal import Decimal
from fractions import Fraction
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from ledger_support import folder  # noqa: F401  (a fixture)

from pandas_dp import LabelError, ParameterError, ParameterTypeError, Session
from pandas_dp.wire.codec import decode, encode, fits
from pandas_dp.wire.fingerprint import digest_of, plain_text

SAME = {
    "numbers": [1, 1.0, np.int8(1), np.uint64(1), np.float32(1), Decimal("1.00"), Fraction(1)],
    "halves": [0.5, np.float32(0.5), Decimal("0.5"), Fraction(1, 2)],
    "large numbers": [2**60, Decimal(2**60), float(2**60), np.uint64(2**60)],
    "texts": ["north", np.str_("north")],
    "truth": [True, np.True_],
    "dates": [
        dt.datetime(2024, 1, 1),  # noqa: DTZ001  (without a zone)
        dt.date(2024, 1, 1),
        pd.Timestamp("2024-01-01"),
        pd.Timestamp("2024-01-01").as_unit("s"),
        np.datetime64("2024-01-01", "D"),
        np.datetime64("2024-01-01", "ns"),
    ],
    "moments": [pd.Timestamp("2024-01-01 12:00", tz="UTC"), pd.Timestamp("2024-01-01 13:00", tz="Europe/Berlin").as_unit("ms")],
    "durations": [dt.timedelta(hours=1), pd.Timedelta("1h"), pd.Timedelta("1h").as_unit("s"), np.timedelta64(3600, "s")],
    "lists": [[1, 2], (1.0, 2.0), np.array([1, 2]), pd.Index([1.0, 2.0]), np.array([1, 2], dtype=object)],
    "sets": [frozenset({"a", "b", "c"}), frozenset({"c", "b", "a"})],
    "infinity": [float("inf"), np.inf, Decimal("inf")],
}


def test_meanings():
    """The same number, date or text has one digest however it is held, and different ones have different digests: texts of numbers, moments without a zone, truth values."""
    digests = {kind: {digest_of(one) for one in held} for kind, held in SAME.items()}
    assert {kind: len(found) for kind, found in digests.items()} == dict.fromkeys(SAME, 1)
    others = ["1", "1/2", False, pd.Timestamp("2024-01-01 12:00"), pd.NaT, None, [2, 1], [[1, 2]], 1.5, "inf", pd.Interval(0, 1)]
    assert len({*(found.pop() for found in digests.values()), *map(digest_of, others)}) == len(SAME) + len(others)


def test_texts_of_declarations():
    """Declarations are recorded in one way of writing each value."""
    for kind in ("numbers", "texts", "dates", "durations", "large numbers"):
        assert len({plain_text(one) for one in SAME[kind]}) == 1, kind
    assert plain_text(1.5) == "1.5"
    assert plain_text("1") != plain_text(1)
    assert plain_text(float("nan")) == "nan"


def table(dtype="int64", unit="ns", wards="object"):
    return pd.DataFrame(
        {
            "age": pd.Series(range(40), dtype=dtype),
            "ward": pd.Series(["n", "s"] * 20, dtype=wards),
            "seen": pd.date_range("2024-01-01", periods=40, unit=unit),
        }
    )


HELD = [
    {"dtype": "int32"},
    {"dtype": "float64"},
    {"dtype": "Int64"},
    {"unit": "s"},
    {"unit": "us"},
    {"wards": "category"},
    {"wards": "string"},
]
ASKED = {
    "mean": lambda df, **k: df.dp.mean("age", bounds=(0, 100), epsilon=0.1, **k),
    "groups": lambda df, **k: df.dp.groupby("ward", keys=["n", "s"])["age"].mean(bounds=(0, 100), epsilon=0.1, **k),
    "quantiles": lambda df, **k: df.dp.quantile("age", [0.25, 0.5], bounds=(0, 100), epsilon=0.1, **k),
    "histogram": lambda df, **k: df.dp.histogram("age", bins=[0, 50, 100], epsilon=0.1, **k),
    "dates": lambda df, **k: df.dp.mean("seen", bounds=("2024-01-01", "2024-12-31"), epsilon=0.1, **k),
    "months": lambda df, **k: df.dp.groupby(pd.Grouper(key="seen", freq="MS"), keys=("2024-01-01", "2024-03-31")).size(epsilon=0.1, **k),
    "covariances": lambda df, **k: df.dp.cov(["age"], bounds={"age": (0, 100)}, epsilon=0.1, **k),
}


@pytest.mark.parametrize("query", ASKED)
@pytest.mark.parametrize("held", HELD, ids=str)
def test_a_question_is_what_it_means(query, held):
    """The same question of the same table, read with other dtypes, units or storage, is the same question."""
    session = Session(1)
    first = ASKED[query](session.protect(table(), name="t"), label="x")
    again = ASKED[query](session.protect(table(**held), name="t"), label="x")
    assert str(first) == str(again)
    assert session.spent == Fraction(1, 10)


def test_frames_without_names(folder):  # noqa: F811
    """Frames of one session without names are not told apart by a label, so none is taken; and no data decides that, but how often protect() was called."""
    session = Session(1)
    first = session.protect(table())
    assert first.dp.count(epsilon=0.1, label="n") is not None
    second = session.protect(table().iloc[:3])
    for one in (first, second):
        with pytest.raises(LabelError, match="name="):
            one.dp.count(epsilon=0.1, label="n")
    assert session.spent == Fraction(1, 10)
    assert len(session._core._without_name) == 2
    other = Session(1)
    raw = table()
    for one in (other.protect(raw), other.protect(raw)):  # a cell that runs again
        assert one.dp.count(epsilon=0.1, label="n") is not None
    assert other.spent == Fraction(1, 10)
    with pytest.raises(ParameterError):
        other.protect(table(), unit="age")  # refused, and no frame of the session's
    assert raw.dp.protect(session=other).dp.count(epsilon=0.1, label="n") is not None
    third = table().iloc[:3].dp.protect(session=other)
    with pytest.raises(LabelError, match="name="):
        third.dp.count(epsilon=0.1, label="n")
    kept = Session(1, ledger=folder / "n.sqlite")
    alone = kept.protect(table())
    with pytest.raises(LabelError, match="name="):  # in a ledger at once: another process may protect another one
        alone.dp.count(epsilon=0.1, label="n")
    assert alone.dp.count(epsilon=0.1) is not None
    named = session.protect(table(), name="visits")
    assert named.dp.count(epsilon=0.1, label="m") is not None
    with pytest.raises(LabelError, match="frame: protected before, visits now"):
        named.dp.count(epsilon=0.1, label="n")


class Odd(dt.tzinfo):
    """A zone that has no name by which it could be found."""

    def utcoffset(self, moment):
        return None if moment is None else dt.timedelta(hours=1)

    def dst(self, _):
        return dt.timedelta(0)

    def tzname(self, _):
        return "odd"

    __str__ = __repr__ = lambda _: "odd"


ZONES = [
    None, dt.UTC, "UTC", "Europe/Berlin", zoneinfo.ZoneInfo("America/New_York"), dt.timezone(dt.timedelta(hours=5, minutes=30)),
    dt.timezone(dt.timedelta(hours=-3, minutes=-7, seconds=-30)), dt.timezone(dt.timedelta(hours=2), "two"),
]  # fmt: skip


@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_zones_come_back(zone, folder):  # noqa: F811
    """Dates in any zone are recorded, and come back equal after a restart: single ones, and an index of buckets."""
    frame = table()
    frame["seen"] = frame["seen"].dt.tz_localize(zone) if zone is not None else frame["seen"]
    session = Session(10, ledger=folder / "z.sqlite")
    df = session.protect(frame, name="t")
    mean = ASKED["dates"](df, label="mean")
    months = ASKED["months"](df, label="months")
    later = Session.open(folder / "z.sqlite")
    assert later.replay("mean") == mean
    pd.testing.assert_series_equal(
        *(one if zone is None else one.tz_convert("UTC") for one in (later.replay("months"), months)), check_freq=False
    )
    assert len(later.releases) == 2


def test_a_zone_without_a_name(folder):  # noqa: F811
    """A zone that could not be found again is refused before the charge, where answers are recorded; and is none of a session's business in memory."""
    frame = table()
    with (resources.files("tzdata") / "zoneinfo" / "Europe" / "Berlin").open("rb") as file:
        frame["seen"] = frame["seen"].dt.tz_localize(zoneinfo.ZoneInfo.from_file(file))
    session = Session(1, ledger=folder / "z.sqlite")
    with pytest.raises(ParameterTypeError, match="ledger"):
        ASKED["dates"](session.protect(frame, name="t"))
    assert session.spent == 0
    assert ASKED["dates"](Session(1).protect(frame)) is not None


THINGS = [
    None, True, 5, 10**40, 0.1, float("inf"), -0.0, "ß\ud83d", Fraction(1, 3), Decimal("1.10"), dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 5),  # noqa: DTZ001
    dt.timedelta(1, 2, 3), pd.Timestamp("2024-01-01").as_unit("s"), pd.Timestamp("2024-01-01", tz="Asia/Kolkata"), pd.Timedelta("1ns"),
    np.datetime64("2024-01-01", "D"), np.timedelta64(5, "ms"), pd.Interval(0, 1, closed="left"), (1, (2, "x")), [1], {"a": (1,)}, frozenset({1}),
    np.arange(6, dtype=">i4").reshape(2, 3), np.array([1.5, np.nan]), np.array(["x", None, 10**30], dtype=object), np.array([], dtype="M8[s]"),
    pd.Index(["a", "b"], name="n"), pd.RangeIndex(3), pd.Index([1, 2], dtype="Int64"), pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["x", None]),
    pd.IntervalIndex.from_breaks([0, 1, 2]), pd.date_range("2024-01-01", periods=3, freq="MS", tz="Europe/Berlin"), pd.Index([True, False]),
    pd.array([1, None], dtype="Int64"),
]  # fmt: skip


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: f"{type(thing).__name__} {thing!r:.20}")
def test_round_trips(thing):
    """What the closed set has comes back from JSON as it was, type, dtype and names included."""
    data = json.loads(json.dumps(encode(thing), allow_nan=False))
    back = decode(data)
    assert encode(back) == data
    assert fits(thing)
    if isinstance(thing, pd.Index):
        pd.testing.assert_index_equal(back, thing)
    elif isinstance(thing, np.ndarray):
        np.testing.assert_array_equal(back, thing)
        assert back.dtype == thing.dtype
    elif not isinstance(thing, pd.api.extensions.ExtensionArray):
        assert type(back) is (tuple if isinstance(thing, tuple) else type(thing))
        assert back == thing


def test_missing_values_come_back():
    """NaT and NA are themselves again."""
    assert decode(encode(pd.NaT)) is pd.NaT
    assert decode(encode(pd.NA)) is pd.NA


@pytest.mark.parametrize("thing", [object(), {1, 2}, 1j, b"x", print, pd.Series([1]), Odd(), type], ids=lambda thing: type(thing).__name__)
def test_what_does_not_fit(thing):
    """Everything else is refused, and does not count as fitting."""
    with pytest.raises(TypeError, match="a ledger cannot hold a"):
        encode(thing)
    assert not fits(thing)
