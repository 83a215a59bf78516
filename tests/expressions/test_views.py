"""Row-local expressions: what is accepted and means what pandas means, what is refused, and that bounds hold."""

from __future__ import annotations

import copy
import itertools
import math
import operator
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from expression_support import COLUMNS, FIELDS, INF, NAN, arrow, evaluate, plain

from pandas_dp.errors import ColumnError, ExpressionError
from pandas_dp.expressions.parse import Column, parse


def finite(series):
    """Return a number as this library understands it: what is not finite is missing."""
    return series.astype(float).where(np.isfinite(series.astype(float)))


ACCEPTED = [
    ("x", lambda d: d.x),
    ("i", lambda d: d.i),
    ("b", lambda d: d.b),
    ("ward", lambda d: d.ward),
    ("t", lambda d: d.t),
    ("any", lambda d: d["any"]),
    ("x + y", lambda d: finite(d.x + d.y)),
    ("x - y", lambda d: finite(d.x - d.y)),
    ("x * y", lambda d: finite(d.x * d.y)),
    ("x / y", lambda d: finite(d.x / d.y)),
    ("x // y", lambda d: finite(d.x // d.y)),
    ("x % y", lambda d: finite(d.x % d.y)),
    ("x // 2.5", lambda d: finite(d.x // 2.5)),
    ("x % -3", lambda d: finite(d.x % -3)),
    ("x / 0", lambda d: d.x * NAN),
    ("-x + +y", lambda d: finite(-d.x + d.y)),
    ("- x ** 2", lambda d: finite(-(d.x**2))),
    ("x ** 0", lambda d: finite(d.x**0)),
    ("x ** 1", lambda d: finite(d.x**1)),
    ("x ** 3", lambda d: finite(d.x**3)),
    ("i ** 5", lambda d: finite(d.i.astype(float) ** 5)),
    ("x ** 0.5", lambda d: finite(d.x**0.5)),
    ("x + y * 2", lambda d: finite(d.x + d.y * 2)),
    ("(x + y) * 2", lambda d: finite((d.x + d.y) * 2)),
    ("x - y - 1", lambda d: finite(d.x - d.y - 1)),
    ("i + u", lambda d: finite(d.i + d.u)),
    ("i // 3", lambda d: finite(d.i // 3)),
    ("u * u", lambda d: finite(d.u.astype(float) ** 2)),
    ("i / 4 + 1e3", lambda d: finite(d.i / 4 + 1e3)),
    ("1_000 * i", lambda d: finite(1000 * d.i)),
    ("b + b", lambda d: d.b * 2.0),
    ("-b", lambda d: d.b * -1.0),
    ("(x > 1) * y", lambda d: finite((d.x > 1) * d.y)),
    ("`length of stay` / 24", lambda d: finite(d["length of stay"] / 24)),
    ("`class` + 1", lambda d: finite(d["class"] + 1)),
    ("größe * 2", lambda d: finite(d["größe"] * 2)),
    ("  x\n  + y\t", lambda d: finite(d.x + d.y)),
    ("1", lambda d: pd.Series(1.0, index=d.index)),
    ("True", lambda d: pd.Series(True, index=d.index)),
    ("2 ** 10", lambda d: pd.Series(1024.0, index=d.index)),
    ("abs(x)", lambda d: finite(d.x.abs())),
    ("exp(x)", lambda d: finite(np.exp(d.x))),
    ("log(x)", lambda d: finite(np.log(d.x))),
    ("log1p(x)", lambda d: finite(np.log1p(d.x))),
    ("sqrt(x)", lambda d: finite(np.sqrt(d.x))),
    ("floor(x)", lambda d: finite(np.floor(d.x))),
    ("round(x)", lambda d: finite(d.x.round())),
    ("round(x, 1)", lambda d: finite(d.x.round(1))),
    ("round(x, -1)", lambda d: finite(d.x.round(-1))),
    ("clip(x, -1, 2.5)", lambda d: finite(d.x.clip(-1, 2.5))),
    ("where(x > y, x, -y)", lambda d: finite(d.x.where(d.x > d.y, -d.y))),
    ("where(b, i, 0)", lambda d: finite(d.i.where(d.b, 0))),
    ("where(b, x > 1, True)", lambda d: (d.x > 1).where(d.b, True)),
    ("x > y", lambda d: d.x > d.y),
    ("x >= 1", lambda d: d.x >= 1),
    ("1 < x", lambda d: d.x > 1),
    ("x < y", lambda d: d.x < d.y),
    ("x <= y", lambda d: d.x <= d.y),
    ("x == y", lambda d: d.x == d.y),
    ("x != y", lambda d: d.x != d.y),
    ("-1 <= x < 3 != y", lambda d: (d.x >= -1) & (d.x < 3) & (d.y != 3)),
    ("x in [1, 2.5, -1]", lambda d: d.x.isin([1, 2.5, -1])),
    ("i not in {1, 2}", lambda d: ~d.i.isin([1, 2])),
    ("x in ()", lambda d: d.x.isin([])),
    ("i == True", lambda d: d.i == 1),
    ("b == 1", lambda d: d.b),
    ("b > False", lambda d: d.b),
    ("u > i", lambda d: d.u.astype(int) > d.i),
    ("x > 1 and y > 1 or b", lambda d: ((d.x > 1) & (d.y > 1)) | d.b),
    ("x > 1 and (y > 1 or b)", lambda d: (d.x > 1) & ((d.y > 1) | d.b)),
    ("(x > 1) & (y > 1) | ~b", lambda d: (d.x > 1) & (d.y > 1) | ~d.b),
    ("b | (x > 1) & (y > 1)", lambda d: d.b | (d.x > 1) & (d.y > 1)),
    ("not x > 1 and not not b", lambda d: ~(d.x > 1) & d.b),
    ("(x > 1) == b", lambda d: (d.x > 1) == d.b),
    ("isna(x)", lambda d: d.x.isna()),
    ("isna(x / y)", lambda d: finite(d.x / d.y).isna()),
    ("isna(ward) or isna(t) or isna(d)", lambda d: d.ward.isna() | d.t.isna() | d.d.isna()),
    ("isna(any)", lambda d: d["any"].isna()),
    ("isna(b)", lambda d: d.b & False),
    ("ward == 'north'", lambda d: d.ward == "north"),
    ("'north' == ward", lambda d: d.ward == "north"),
    ('ward != "north"', lambda d: d.ward != "north"),
    ("ward in ['north', '', '\\'']", lambda d: d.ward.isin(["north", "", "'"])),
    ("ward not in ('north',)", lambda d: ~d.ward.isin(["north"])),
    ("ward == home", lambda d: d.ward == d.home),
    ("ward == home == 'north'", lambda d: (d.ward == d.home) & (d.home == "north")),
    ("t > '2021'", lambda d: d.t > "2021"),
    ("'2020-02' <= t < '2021-06-15 23:59:59.999'", lambda d: (d.t >= "2020-02") & (d.t < "2021-06-15 23:59:59.999")),
    ("t == '2021-06-15'", lambda d: d.t == "2021-06-15"),
    ("t != '2021-06-15T00:00'", lambda d: d.t != "2021-06-15"),
    ("t in ['2021-06-15', '1970-01-01']", lambda d: d.t.isin(pd.to_datetime(["2021-06-15", "1970-01-01"]))),
    ("t not in ['2021-06-15']", lambda d: ~d.t.isin(pd.to_datetime(["2021-06-15"]))),
    ("t >= t2", lambda d: d.t >= d.t2),
    ("z >= '2020'", lambda d: d.z >= "2020"),
    ("z >= '2020-01-01 00:00Z'", lambda d: d.z >= pd.Timestamp("2020", tz="UTC")),
    ("z < '2020-01-01 00:30+01:00'", lambda d: d.z < pd.Timestamp("2020-01-01 00:30+01:00")),
    ("z == z", lambda d: d.z == d.z),
    ("d > '2 days'", lambda d: d.d > "2 days"),
    ("d <= '1.5 hours'", lambda d: d.d <= pd.Timedelta(minutes=90)),
    ("d != d", lambda d: d.d != d.d),
    *((f"{f}({c})", lambda d, f=f, c=c: getattr(d[c].dt, "day_of_week" if f == "dayofweek" else f).astype(float)) for f in FIELDS for c in "tz"),
    ("year(z) * 12 + month(z)", lambda d: d.z.dt.year * 12.0 + d.z.dt.month),
    ("dayofweek(t) in [5, 6]", lambda d: d.t.dt.day_of_week.isin([5, 6])),
]  # fmt: skip


def test_frame_is_of_use():
    """The frame of odd values holds values: most are there, and wherever the dtype allows some are missing."""
    frame = plain()
    for name in frame:
        assert frame[name].isna().any() == (frame[name].dtype.kind not in "iub"), name
        assert frame[name].notna().sum() > len(frame) / 2


@pytest.mark.parametrize(("text", "expected"), ACCEPTED, ids=[text for text, _ in ACCEPTED])
def test_means_what_pandas_means(text, expected):
    """On NumPy dtypes an expression is the plain pandas expression, except that what is not finite is missing."""
    frame = plain()
    result = evaluate(text, frame)
    with np.errstate(all="ignore"):
        right = expected(frame)
    pd.testing.assert_series_equal(result, right.astype(result.dtype), check_names=False, check_exact=True)
    named = {word for word in COLUMNS if word in text}
    assert parse(text, COLUMNS).columns <= named


VARIANTS = {
    "nullable": {"x": "Float64", "y": "Float64", "i": "Int64", "u": "UInt8", "b": "boolean", "ward": "string", "home": "string"},
    "arrow": {
        "x": arrow(pa.float64()), "y": arrow(pa.float64()), "i": arrow(pa.int64()), "u": arrow(pa.uint8()), "b": arrow(pa.bool_()), "ward": arrow(pa.string()),
        "home": arrow(pa.large_string()), "t": arrow(pa.timestamp("us")), "t2": arrow(pa.timestamp("ms")), "z": arrow(pa.timestamp("us", tz="Europe/Paris")),
        "d": arrow(pa.duration("ms")),
    },
    "small": {"i": "int8", "u": "uint64", "t": "M8[ms]", "t2": "M8[ms]", "d": "m8[s]", "z": "datetime64[us, Europe/Paris]"},
    "object": {"x": object, "y": object, "b": object, "ward": object, "home": object},
    "category": {"ward": "category", "home": "category"},
    "text": {"ward": "string[pyarrow]", "home": "string[python]"},
}  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("text", [text for text, _ in ACCEPTED if not text.isidentifier()])
def test_dtypes_agree(text, variant):
    """The same values in another dtype give the same results: also where that dtype of pandas has NA for False."""
    frame = plain()
    other = frame.astype(VARIANTS[variant])
    pd.testing.assert_series_equal(evaluate(text, other), evaluate(text, frame), check_exact=True)


@pytest.mark.parametrize("dtype", ["boolean", arrow(pa.bool_()), object])
def test_missing_bools(dtype):
    """A missing bool counts as False in a condition, is missing in arithmetic, and stays as it is in a column by itself."""
    frame = pd.DataFrame({"b": pd.Series([True, False, None], dtype=dtype), "x": [1.0, 2.0, 3.0]})
    assert evaluate("b and x > 0", frame).tolist() == [True, False, False]
    assert evaluate("not b", frame).tolist() == [False, True, True]
    assert evaluate("~b | (x == 3)", frame).tolist() == [False, True, True]
    assert evaluate("b != True", frame).tolist() == [False, True, True]
    assert evaluate("isna(b)", frame).tolist() == [False, False, True]
    assert evaluate("where(x < 9, b, True)", frame).tolist() == [True, False, False]
    assert evaluate("isna(where(x < 9, b, True) * 2)", frame).tolist() == [False, False, True]
    pd.testing.assert_series_equal(evaluate("b * x", frame), pd.Series([1.0, 0.0, NAN]))
    pd.testing.assert_series_equal(evaluate("b", frame), frame["b"])
    assert parse("b", COLUMNS).mask(frame).tolist() == [True, False, False]
    assert len(frame[parse("b", COLUMNS).mask(frame)]) == 1


@pytest.mark.parametrize("dtype", ["Int64", "Float64", arrow(pa.int64()), arrow(pa.float64()), arrow(pa.decimal128(20, 3))])
def test_missing_numbers(dtype):
    """A comparison with NA is False, and != is its opposite, as with NaN; arithmetic gives float64 with NaN."""
    frame = pd.DataFrame({"i": pd.Series([1, None, 5], dtype=dtype)})
    columns = {"i": Column("int" if "nt64" in str(dtype) else "float")}
    assert evaluate("i < 3", frame, columns).tolist() == [True, False, False]
    assert evaluate("i == i", frame, columns).tolist() == [True, False, True]
    assert evaluate("i != 1", frame, columns).tolist() == [False, True, True]
    assert evaluate("not i < 3", frame, columns).tolist() == [False, True, True]
    assert evaluate("i not in [1, 2]", frame, columns).tolist() == [False, True, True]
    assert evaluate("isna(i)", frame, columns).tolist() == [False, True, False]
    pd.testing.assert_series_equal(evaluate("i * 2", frame, columns), pd.Series([2.0, NAN, 10.0]))


BIG = 2**53


@pytest.mark.parametrize("dtype", ["int64", "Int64", arrow(pa.int64()), "uint64", "UInt64"])
def test_integers_are_compared_exactly(dtype):
    """Integers that doubles cannot tell apart are told apart, whatever the other side's dtype."""
    frame = pd.DataFrame(
        {"i": pd.Series([BIG, BIG + 1, BIG + 2], dtype=dtype), "u": pd.Series([2**63 + 1, BIG + 1, 0], dtype="uint64"), "j": [BIG + 1] * 3}
    )
    columns = {"i": Column("int"), "u": Column("int"), "j": Column("int")}
    assert evaluate(f"i == {BIG + 1}", frame, columns).tolist() == [False, True, False]
    assert evaluate(f"i in [{BIG}, {BIG + 2}]", frame, columns).tolist() == [True, False, True]
    assert evaluate("i < u", frame, columns).tolist() == [True, False, False]
    assert evaluate("u > j", frame, columns).tolist() == [True, False, False]
    assert evaluate("i <= j", frame, columns).tolist() == [True, True, False]
    assert evaluate("u >= -1", frame, columns).all()
    if not isinstance(frame["i"].dtype, np.dtype):  # a missing value among them changes nothing
        frame = frame.assign(i=frame["i"].where([False, True, True]))
        assert evaluate(f"i == {BIG + 1}", frame, columns).tolist() == [False, True, False]
        assert evaluate("i <= j", frame, columns).tolist() == [False, True, False]
        assert evaluate("i >= j", frame, columns).tolist() == [False, True, True]


@pytest.mark.parametrize("kind", [pa.decimal128(38, 9), pa.decimal256(60, 9)])
def test_decimals(kind):
    """A decimal is read as the nearest double, also where others are missing."""
    cells = [Decimal(digits).scaleb(-9) for digits in (10**17 + 3, -(3**30), 1, 0, 7**20)]
    for more in ([], [None]):
        frame = pd.DataFrame({"x": pd.Series(cells + more, dtype=arrow(kind))})
        assert evaluate("x * 1", frame).tolist()[:5] == [float(cell) for cell in cells]


def test_integers_never_wrap():
    """Integer arithmetic is done in doubles: no sum or product wraps around."""
    frame = pd.DataFrame({"i": np.array([127, -128], dtype=np.int8), "u": np.array([255, 0], dtype=np.uint8), "j": [2**62, -(2**62)]})
    columns = {name: Column("int") for name in frame}
    assert evaluate("i + i", frame, columns).tolist() == [254, -256]
    assert evaluate("-u", frame, columns).tolist() == [-255, 0]
    assert evaluate("u - 1", frame, columns).tolist() == [254, -1]
    assert evaluate("j * 4", frame, columns).tolist() == [2.0**64, -(2.0**64)]
    assert evaluate("abs(i)", frame, columns).tolist() == [127, 128]


def test_objects_that_are_no_numbers():
    """Where a column of objects is declared a number, anything else in it is missing; nothing in it raises."""

    class Odd(str):
        __slots__ = ()

        def __eq__(self, other):
            raise RuntimeError("SECRET")

        __hash__ = None

    cells = [
        1,
        2.5,
        Decimal("0.5"),
        Fraction(1, 4),
        True,
        "7",
        None,
        pd.NA,
        NAN,
        [1],
        np.array([1, 2]),
        1j,
        10**400,
        -(10**400),
        Decimal("sNaN"),
        Odd("a"),
        np.int8(3),
        b"1",
        pd.NaT,
    ]
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=object), "s": pd.Series(cells, dtype=object), "o": pd.Series(cells, dtype=object)})
    columns = {"x": Column("float"), "s": Column("text"), "o": Column("other")}
    expected = [2.0, 5.0, 1.0, 0.5, 2.0] + [NAN] * 11 + [6.0, NAN, NAN]
    pd.testing.assert_series_equal(evaluate("x * 2", frame, columns), pd.Series(expected))
    assert evaluate("s == '7'", frame, columns).tolist() == [cell is cells[5] for cell in cells]
    assert evaluate("s in ['a', 'b']", frame, columns).sum() == 1
    assert evaluate("s != s", frame, columns).sum() == len(cells) - 2
    assert evaluate("isna(o)", frame, columns).tolist() == [k in {6, 7, 8, 14, 18} for k in range(len(cells))]


def test_times_of_any_unit():
    """Times are compared exactly, whatever their units and however far away; years that no calendar holds are missing."""
    far = [np.iinfo(np.int64).max, np.iinfo(np.int64).min + 1, 0, np.iinfo(np.int64).min, 10**9]
    columns = {unit: Column("datetime") for unit in ("s", "ms", "us", "ns")} | {
        "zone": Column("datetime"),
        "d": Column("timedelta"),
        "e": Column("timedelta"),
    }
    frame = pd.DataFrame({unit: pd.Series(np.array(far).view(f"M8[{unit}]")) for unit in ("s", "ms", "us", "ns")})
    frame["zone"] = frame["us"].dt.tz_localize("UTC").dt.tz_convert("Europe/Paris")
    frame["d"] = np.array(far).view("m8[s]")
    frame["e"] = np.array(far).view("m8[ns]")
    for left, right in itertools.permutations(("s", "ms", "us", "ns"), 2):
        size = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
        for sign, compare in (("<", operator.lt), ("==", operator.eq), (">=", operator.ge)):
            expected = [value != far[3] and compare(value * size[left], value * size[right]) for value in far]
            assert evaluate(f"{left} {sign} {right}", frame, columns).tolist() == expected
    for unit in ("s", "ms", "us", "ns"):
        assert evaluate(f"{unit} > '9000-01-01'", frame, columns).tolist() == [unit != "ns", False, False, False, False]
        assert evaluate(f"{unit} < '0010-01-01'", frame, columns).tolist() == [False, unit != "ns", False, False, False]
        assert evaluate(f"{unit} < '1970-01-01 00:00:00.000000001'", frame, columns).tolist() == [False, True, True, False, False]
        assert evaluate(f"{unit} > '1970-01-01 00:00:00.000000001'", frame, columns).tolist() == [True, False, False, False, True]
        assert evaluate(f"year({unit})", frame, columns).notna().tolist() == [unit == "ns", unit == "ns", True, False, True]
    assert evaluate("month(zone)", frame, columns).isna().tolist() == [True, True, False, True, False]
    assert evaluate("d > e", frame, columns).tolist() == [True, False, False, False, True]
    assert evaluate("d < '-2.5 days'", frame, columns).tolist() == [False, True, False, False, False]


def test_zones():
    """A constant without a zone is local time of the column, also where that time occurs twice or never; mixing zones and none is refused."""
    stamps = pd.Series(pd.to_datetime(["2021-10-31 00:30", "2021-10-31 01:30", "2021-03-28 01:00"]))
    frame = pd.DataFrame({"z": stamps.dt.tz_localize("UTC").dt.tz_convert("Europe/Paris"), "t": stamps})
    assert evaluate("z == '2021-10-31 02:30'", frame).tolist() == [True, False, False]
    assert evaluate("z == '2021-03-28 02:30'", frame).tolist() == [False, False, True]
    assert evaluate("hour(z)", frame).tolist() == [2, 2, 3]
    for text, part in (("x > 1 or t == z", "t == z"), ("t < '2021-01-01 00:00Z'", "t < '2021-01-01 00:00Z'"), ("not z > t", "z > t")):
        with pytest.raises(ExpressionError) as caught:
            parse(text, COLUMNS).evaluate(frame.assign(x=1.0))
        assert caught.value.part == part


def test_pandas_frames_are_left_alone():
    """Evaluation changes nothing in the frame, and its results share no memory with it."""
    frame = plain()
    before = frame.copy()
    for text, _ in ACCEPTED:
        result = evaluate(text, frame)
        if isinstance(result.dtype, np.dtype) and result.dtype.kind in "fbi":
            result.iloc[:] = result.iloc[0]
    pd.testing.assert_frame_equal(frame, before)


def test_frames_without_the_column():
    """A frame that lacks a column, or has it twice, is a ColumnError that names it."""
    with pytest.raises(ColumnError, match="'y'"):
        parse("x + y", COLUMNS).evaluate(pd.DataFrame({"x": [1.0]}))
    with pytest.raises(ColumnError, match="more than one"):
        parse("x + 1", COLUMNS).evaluate(pd.DataFrame([[1.0, 2.0]], columns=["x", "x"]))


def test_wrong_kinds_do_not_raise():
    """A column that is not what it was declared to be is missing throughout; no conversion quotes its values."""
    frame = pd.DataFrame({name: ["SECRET", "b"] for name in ("x", "i", "b", "t", "d")})
    for text in ("x + 1", "i * 2", "year(t)"):
        assert evaluate(text, frame).isna().all()
    for text in ("x > 1", "i == 1", "b and True", "t > '2020'", "d < '1 day'"):
        assert not evaluate(text, frame).any()


def test_expressions_travel():
    """An expression can be pickled and copied, compares by content, and cannot be changed."""
    expression = parse("x + 1 > y", COLUMNS)
    for other in (pickle.loads(pickle.dumps(expression)), copy.deepcopy(expression), parse("x + 1 > y", COLUMNS)):
        assert other == expression
        assert hash(other) == hash(expression)
    with pytest.raises(AttributeError):
        expression.text = "y"
    assert "Node" not in repr(expression)


def test_names():
    """A backtick names any column, also one that Python would read as something else; a column named like a function is one."""
    columns = {
        name: Column("float", (k, k + 1))
        for k, name in enumerate(["a b", "class", "True", "log", "ﬁ", "fi", "x²", "a.b", "1", "qq_0_", "'"])
    }
    frame = pd.DataFrame({name: [float(k)] for k, name in enumerate(columns)})
    for k, name in enumerate(columns):
        assert evaluate(f"`{name}` + 0", frame, columns).tolist() == [k]
        assert parse(f"`{name}`", columns).columns == {name}
    assert evaluate("log + log(`a b` + 1)", frame, columns).tolist() == [3]
    assert evaluate("ﬁ - fi", frame, columns).tolist() == [-1]
    assert evaluate("qq_0_ * `a b`", frame, columns).tolist() == [0]


def test_public_facts():
    """Kind, bounds, keys and columns of a result are derived from those of the columns."""
    stamps = (pd.Timestamp("2020-01-01"), pd.Timestamp("2024-12-31"))
    columns = {
        "i": Column("int", (0, 110)), "f": Column("float", (Decimal("0.1"), 5)), "half": Column("int", (None, 5)), "b": Column("bool"), "t": Column("datetime", stamps),
        "w": Column("text", None, ("n", "s")), "c": Column("int", (1, 3), (1, 2, 3)), "nan": Column("float", (NAN, 1)), "inf": Column("float", (-INF, INF)),
        "np": Column("float", (np.float64(0), np.int64(2))), "wrong": Column("float", (5, 1)),
    }  # fmt: skip
    for text, kind, bounds, keys in [
        ("i", "int", (0, 110), None), ("f", "float", (Decimal("0.1"), 5), None), ("t", "datetime", stamps, None), ("w", "text", None, ("n", "s")), ("c", "int", (1, 3), (1, 2, 3)),
        ("b", "bool", (0, 1), (False, True)), ("i > half", "bool", (0, 1), (False, True)), ("i / 4", "float", (0, 27.5), None), ("year(t)", "float", (2020, 2024), None),
        ("f + 0", "float", (math.nextafter(0.1, 0) if Fraction(0.1) > Fraction(1, 10) else 0.1, 5), None), ("half", "int", None, None), ("nan + 1", "float", None, None),
        ("inf", "float", None, None), ("np * 2", "float", (0, 4), None), ("wrong", "float", None, None), ("7", "int", (7, 7), None), ("i ** 2 - c", "float", (-3, 12099), None),
    ]:  # fmt: skip
        found = parse(text, columns)
        assert (found.kind, found.bounds, found.keys) == (kind, bounds, keys), text
        assert (found.needs_bounds is None) == (bounds is not None), text
        assert found.text == text
