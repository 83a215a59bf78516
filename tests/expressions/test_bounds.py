"""The bounds of expressions: none is left by a result, and none is wider than it needs to be."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from expression_grammar import GENERATED, KINDS, LIBRARY, expressions, framed, library
from expression_support import INF, NAN, strict
from hypothesis import given, settings
from hypothesis import strategies as st

from pandas_dp.expressions.intervals import Interval, Unknown, derive, enclose, year_range
from pandas_dp.expressions.parse import Column, parse

bounded_columns = st.one_of(
    st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1e6)).map(lambda p: (p[0], p[0] + p[1])),
    st.sampled_from(
        [(0, 110), (1, 50_000), (-1.0, 1.0), (0.1, 0.7), (-1e300, 1e300), (1e-300, 1e-290), (-5, -2), (0, 0), (3, 3), (1e15, 1e17)]
    ),
)


def test_bounds_hold():
    """While columns stay within their bounds, no result leaves the derived ones: ends included, and to the last digit; and most expressions have some."""
    counted = {"known": 0, "all": 0}

    @settings(max_examples=500, deadline=None, derandomize=True, database=None)
    @given(expressions, st.lists(bounded_columns, min_size=7, max_size=7), st.data())
    def hold(pair, bounds, data):
        text = pair[0]
        names = ["f", "g", "h", "i", "n", "a", "u"]
        limits = dict(zip(names, bounds, strict=True))
        columns = dict(GENERATED)
        for name, (low, high) in limits.items():
            if KINDS[name] == "int":
                limits[name] = (
                    (max(math.ceil(low), -(2**60)), min(max(math.floor(high), math.ceil(low)), 2**60)) if name != "u" else (3, 200)
                )
            columns[name] = Column(KINDS[name], limits[name])
        stamps = (pd.Timestamp("1960-05-05"), pd.Timestamp("2030-01-01 00:30"))
        columns["t"] = Column("datetime", stamps)
        columns["z"] = Column("datetime", tuple(stamp.tz_localize("UTC") for stamp in stamps))
        inside = st.datetimes(stamps[0].to_pydatetime(), stamps[1].to_pydatetime())
        values = {
            name: st.sampled_from(limit) | (st.integers(*limit) if KINDS[name] == "int" else st.floats(*limit))
            for name, limit in limits.items()
        } | {"t": inside, "z": inside.map(lambda m: m.replace(tzinfo=dt.UTC))}
        base = {"b": st.booleans(), "m": st.booleans(), "s": st.just("north")}
        rows = data.draw(st.lists(st.fixed_dictionaries(values | base), min_size=4, max_size=8))
        expression = parse(text, columns)
        counted["all"] += 1
        assert (expression.bounds is None) == (expression.needs_bounds is not None)
        if expression.bounds is None or (expression.kind == "bool" and text.isidentifier()):
            return
        counted["known"] += 1
        low, high = expression.bounds
        assert math.isfinite(low)
        assert math.isfinite(high)
        with strict():
            result = expression.evaluate(framed(rows))
        for value in result.dropna():
            assert low <= value <= high, (text, limits, value, expression.bounds)

    hold()
    assert counted["known"] > counted["all"] * 0.4


LIMITS = {
    "i": Column("int", (0, 110)), "f": Column("float", (-2.0, 3.0)), "p": Column("float", (0.5, 4.0)), "n": Column("float"), "b": Column("bool"), "big": Column("float", (1e200, 1e300)),
    "t": Column("datetime", (pd.Timestamp("2020-03-01"), pd.Timestamp("2021-05-01"))), "z": Column("datetime", (pd.Timestamp("2020-01-01", tz="UTC"), pd.Timestamp("2021-12-30", tz="UTC"))), "tn": Column("datetime"),
}  # fmt: skip
DERIVED = [
    ("i + f", (-2, 113)), ("i - f", (-3, 112)), ("f * f", (-6, 9)), ("f ** 2", (0, 9)), ("f * -2", (-6, 4)), ("i / p", (0, 220)), ("f / -4", (-0.75, 0.5)), ("i // 10", (0, 11)), ("f // 2", (-1, 1)),
    ("f // -2", (-2, 1)), ("i % 7", (0, 7)), ("f % -7", (-7, 0)), ("i % 111", (0, 110)), ("n % 7", (0, 7)), ("-f", (-3, 2)), ("+f", (-2, 3)), ("abs(f)", (0, 3)), ("abs(-p)", (0.5, 4)), ("sqrt(p * 4)", (math.sqrt(2), 4)),
    ("sqrt(f)", (0, math.sqrt(3))), ("f ** 0", (1, 1)), ("f ** 1", (-2, 3)), ("p ** 0.5", (math.sqrt(0.5), 2)), ("floor(f / 2)", (-1, 1)), ("round(f / 4)", (0, 1)), ("round(i, -2)", (0, 100)), ("round(p * 0.1, 1)", (0, 0.4)),
    ("clip(i, 10, 20)", (10, 20)), ("clip(f, -10, 1)", (-2, 1)), ("clip(n, 0, 1)", (0, 1)), ("clip(i, -5, -1)", (-1, -1)), ("clip(i / f, 0, 1)", (0, 1)), ("where(b, i, f)", (-2, 110)), ("where(n > 1, 5, 7)", (5, 7)),
    ("b + b", (0, 2)), ("(n > 1) * i", (0, 110)), ("year(t)", (2020, 2021)), ("year(z)", (2019, 2022)), ("year(t) - 2000", (20, 21)), ("month(tn)", (1, 12)), ("day(tn)", (1, 31)), ("hour(tn)", (0, 23)), ("dayofweek(tn)", (0, 6)),
    ("log(p - 0.5 + 1)", (0, math.log(4.5))), ("log1p(i)", (0, math.log1p(110))), ("exp(f)", (math.exp(-2), math.exp(3))), ("f ** 3", (-8, 27)), ("p ** 4", (0.0625, 256)), ("1 / 3", (1 / 3, 1 / 3)), ("exp(f * 1000 - 4000)", (0, 0)),
]  # fmt: skip
UNKNOWN = [
    ("n", "column 'n' has no bounds"), ("n + 1", "column 'n' has no bounds"), ("i / f", "i / f may divide by 0"), ("1 / (1 + i / f)", "i / f may divide by 0"), ("i / 0", "i / 0 may divide by 0"), ("i // p", "i // p divides by"),
    ("i % f", "i % f divides by"), ("i % 0", "i % 0 divides by 0"), ("i // 0", "i // 0 divides by 0"), ("log(i)", "log(i) takes the logarithm"), ("log1p(f)", "log1p(f) takes"), ("sqrt(-p)", "sqrt(-p) is always missing"),
    ("big * big", "big * big may overflow"), ("exp(i * 10)", "exp(i * 10) may overflow"), ("big ** 64", "big ** 64 may overflow"), ("big / 1e-300", "may overflow"), ("round(big * 1e7, 15)", "may overflow"), ("where(b, n, 1)", "column 'n' has no bounds"),
    ("year(tn)", "column 'tn' has no bounds"), ("tn", "column 'tn' has no bounds"), ("-n", "column 'n' has no bounds"), ("big // 1e-300", "may overflow"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), DERIVED)
def test_bounds_are_tight(text, expected):
    """Bounds are exact where doubles are, and otherwise a few last digits wide of it, never inside."""
    expression = parse(text, LIMITS)
    assert expression.needs_bounds is None
    low, high = expression.bounds
    assert low <= expected[0]
    assert high >= expected[1]
    assert low == pytest.approx(expected[0], rel=1e-14, abs=1e-300)
    assert high == pytest.approx(expected[1], rel=1e-14, abs=1e-300)
    if not any(word in text for word in ("log", "exp", "** 3", "** 4", "1 / 3")):
        assert expression.bounds == expected
    assert "-0.0" not in repr(expression.bounds)


@pytest.mark.parametrize(("text", "reason"), UNKNOWN)
def test_unknown_bounds_say_why(text, reason):
    """Where bounds cannot be derived there are none, never infinite ones, and the reason names the part; evaluation works all the same."""
    expression = parse(text, LIMITS)
    assert expression.bounds is None
    assert reason in expression.needs_bounds


@pytest.mark.parametrize("name", LIBRARY)
def test_bounds_hold_at_the_ends(name):
    """What a library function gives at the ends themselves is inside, though it differs in its last digits from what the bounds are made of."""
    for value in np.random.default_rng(2).uniform(0.1, 300, 2000):
        bounds = derive(name, name, Interval(value, value))
        assert bounds.low <= library(LIBRARY[name])(value) <= bounds.high
        assert bounds.low < getattr(math, name)(value) < bounds.high


def test_ends_of_intervals():
    """Ends are rounded away from the interval, and what is no interval is none."""
    below = max((1 / 3, math.nextafter(1 / 3, 0)), key=lambda end: (Fraction(end) <= Fraction(1, 3), end))
    assert enclose(Fraction(1, 3), Fraction(1, 3)) == Interval(below, math.nextafter(below, 1)), "the two doubles around a third"
    third = enclose(Fraction(1, 3), Fraction(2, 3))
    assert Fraction(third.low) < Fraction(1, 3) < Fraction(2, 3) < Fraction(third.high)
    assert enclose(2**53 + 1, 2**53 + 1) == Interval(2.0**53, 2.0**53 + 2)
    for low, high in [
        (1, 0),
        (NAN, 1),
        (0, INF),
        (None, 1),
        ("a", "b"),
        (0, 10**400),
        (Decimal("NaN"), 1),
        (1j, 2),
        (pd.NaT, 1),
        (pd.NA, 1),
    ]:
        assert enclose(low, high) is None, (low, high)
    for bounds in [None, (None, None), (1, 2), (pd.NaT, pd.NaT), ("a", "b"), (pd.Timestamp("2020"),)]:
        assert year_range(bounds) is None
    tiny = derive("*", "a * b", Interval(5e-324, 5e-324), Interval(0.5, 0.5))
    assert tiny == Interval(0.0, 5e-324)
    assert derive("+", "a + b", Unknown("because"), Interval(0, 1)) == Unknown("because")
    assert derive("+", "a + b", Interval(1.7e308, 1.7e308), Interval(1.7e308, 1.7e308)) == Unknown("a + b may overflow")
