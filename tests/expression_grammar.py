"""Expressions drawn over the grammar, each with what it means: a function of one row, in plain Python."""

from __future__ import annotations

import datetime as dt
import math
import operator

import numpy as np
import pandas as pd
import pyarrow as pa
from expression_support import FIELDS, FLOATS, NAN, PARIS, arrow
from hypothesis import strategies as st

from pandas_dp.expressions.parse import Column

LIBRARY = {"exp": np.exp, "log": np.log, "log1p": np.log1p}


def library(function, *parameters):
    """Return NumPy's function of one double, at the place that every double has in evaluation: the middle of an array.

    Its last digits are the library's own business; ``test_library_functions`` holds them against ``math``.
    """

    def apply(value):
        with np.errstate(all="ignore"):
            return float(function(np.full(64, value), *parameters)[7])

    return apply


def safe(function):
    """Make a function of Python floats missing where it is undefined or not finite."""

    def apply(*values):
        if any(isinstance(value, float) and math.isnan(value) for value in values):
            return NAN
        try:
            result = float(function(*values))
        except (ZeroDivisionError, OverflowError, ValueError):
            return NAN
        return result if math.isfinite(result) else NAN

    return apply


def rounded(digits):
    """Round as NumPy does: scale, round half to even, scale back."""

    def apply(value):
        scale = 10.0 ** abs(digits)
        scaled = value * scale if digits >= 0 else value / scale
        whole = math.copysign(float(round(scaled)), scaled)
        return whole / scale if digits >= 0 else whole * scale

    return apply


KINDS = {
    "f": "float",
    "g": "float",
    "h": "float",
    "i": "int",
    "n": "int",
    "a": "int",
    "u": "int",
    "b": "bool",
    "m": "bool",
    "s": "text",
    "t": "datetime",
    "z": "datetime",
}
DTYPES = {
    "f": "float64", "g": "Float64", "h": arrow(pa.float64()), "i": "int64", "n": "Int64", "a": arrow(pa.int64()), "u": "uint8", "b": "bool", "m": "boolean", "s": object,
    "t": "M8[us]", "z": "datetime64[us, Europe/Paris]",
}  # fmt: skip
GENERATED = {name: Column(kind) for name, kind in KINDS.items()}


def as_number(name):
    def read(row):
        return NAN if row[name] is None else float(row[name])

    return read


def field(name, part):
    def read(row):
        moment = row[name]
        if moment is None:
            return NAN
        local = moment if name == "t" else moment.astimezone(PARIS)
        return float(local.weekday() if part == "dayofweek" else getattr(local, part))

    return read


def unary(text, function):
    return lambda operand: (text.format(operand[0]), lambda row: safe(function)(operand[1](row)))


def binary(sign, function):
    return lambda left, right: (f"({left[0]} {sign} {right[0]})", lambda row: safe(function)(left[1](row), right[1](row)))


def chain(first, links):
    text = "(" + first[0] + "".join(f" {sign} {operand[0]}" for sign, operand in links) + ")"

    def holds(row):
        left, result = first[1](row), True
        for sign, operand in links:
            right = operand[1](row)
            result = result and SIGNS[sign](left, right)
            left = right
        return result

    return text, holds


SIGNS = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge}

constants = st.one_of(
    st.integers(-20, 20).map(lambda n: (str(n), lambda _: float(n))),
    st.sampled_from([0.5, 2.5, 1e-3, 1e300, 12.0]).map(lambda x: (repr(x), lambda _: x)),
    st.booleans().map(lambda v: (repr(v), lambda _: float(v))),
)
leaves = st.one_of(
    st.sampled_from([name for name, kind in KINDS.items() if kind in {"float", "int", "bool"}]).map(lambda name: (name, as_number(name))),
    constants,
    st.tuples(st.sampled_from("tz"), st.sampled_from(FIELDS)).map(lambda p: (f"{p[1]}({p[0]})", field(*p))),
)
# Until 2037: older versions of pandas know no changes of clocks after that.
moments = st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2037, 1, 1))  # noqa: DTZ001


UNARY = [
    unary("(-{})", operator.neg), unary("(+{})", operator.pos), unary("abs({})", abs), unary("sqrt({})", math.sqrt), unary("floor({})", math.floor), unary("(({}) ** 2)", lambda v: v * v),
    unary("(({}) ** 0.5)", math.sqrt), *(unary(f"{name}({{}})", library(function)) for name, function in LIBRARY.items()),
]  # fmt: skip
BINARY = [
    binary("+", operator.add), binary("-", operator.sub), binary("*", operator.mul), binary("/", operator.truediv), binary("//", operator.floordiv), binary("%", operator.mod),
]  # fmt: skip


@st.composite
def numbers(draw, depth=3):
    """Draw a number of the grammar, and the function of a row that it means."""
    choice = draw(st.integers(0, 8)) if depth else 0
    if choice < 2:
        return draw(leaves)
    inner = draw(numbers(depth - 1))
    if choice < 5:
        other = draw(constants) if choice == 2 else draw(numbers(depth - 1))
        return draw(st.sampled_from(BINARY))(inner, other)
    if choice == 5:
        return draw(st.sampled_from(UNARY))(inner)
    if choice == 6:
        return clipped((inner, draw(st.integers(-9, 0)), draw(st.integers(0, 9))))
    if choice == 7:
        digits, power = draw(st.integers(-15, 15)), draw(st.integers(3, 64))
        rounds = draw(st.booleans())
        return (
            unary(f"round({{}}, {digits})", rounded(digits)) if rounds else unary(f"(({{}}) ** {power})", library(np.power, float(power)))
        )(inner)
    return chosen((draw(conditions(depth - 1)), inner, draw(numbers(depth - 1))))


@st.composite
def conditions(draw, depth=3):
    """Draw a condition of the grammar, and the function of a row that it means."""
    choice = draw(st.integers(0, 7)) if depth else 0
    if choice < 3:
        return draw(simple_conditions())
    if choice == 3:
        found = member((draw(numbers(depth - 1)), draw(st.lists(st.integers(-5, 5), max_size=3)), draw(st.booleans())))
    elif choice == 4:
        text, value = draw(numbers(depth - 1))
        found = f"isna({text})", lambda row: math.isnan(value(row))
    elif choice == 5:
        found = joined((draw(st.sampled_from(["and", "or", "&", "|"])), draw(conditions(depth - 1)), draw(conditions(depth - 1))))
    elif choice == 6:
        text, holds = draw(conditions(depth - 1))
        found = f"({draw(st.sampled_from(['not', '~']))} {text})", lambda row: not holds(row)
    else:
        links = draw(st.lists(st.tuples(st.sampled_from(list(SIGNS)), numbers(depth - 1)), min_size=1, max_size=2))
        found = chain(draw(numbers(depth - 1)), links)
    return found


def simple_conditions():
    """Draw a condition without numbers in it."""
    return st.one_of(
        st.sampled_from("bm").map(lambda name: (name, lambda row: row[name] is True)),
        st.tuples(st.sampled_from(["==", "!="]), st.sampled_from(["north", "", "it's"])).map(texts),
        st.tuples(st.sampled_from("tz"), st.sampled_from(list(SIGNS)), moments).map(dated),
    )


def clipped(parts):
    (text, value), low, high = parts
    return f"clip({text}, {low}, {high})", lambda row: safe(lambda v: min(max(v, low), high))(value(row))


def chosen(parts):
    condition, left, right = parts
    return f"where({condition[0]}, {left[0]}, {right[0]})", lambda row: safe(float)((left if condition[1](row) else right)[1](row))


def member(parts):
    (text, value), options, negated = parts
    return f"({text} {'not in' if negated else 'in'} {options})", lambda row: (value(row) in options) != negated


def texts(parts):
    sign, word = parts
    return f"(s {sign} {word!r})", lambda row: (row["s"] == word) == (sign == "==")


def dated(parts):
    name, sign, moment = parts
    stamp = moment if name == "t" else moment.replace(tzinfo=dt.UTC)

    def holds(row):
        return sign == "!=" if row[name] is None else SIGNS[sign](row[name], stamp)

    return f"({name} {sign} {stamp.isoformat(sep=' ')!r})", holds


def joined(parts):
    word, *sides = parts
    (left, one), (right, two) = sides
    if word in {"and", "&"}:
        return f"({left} {word} {right})", lambda row: one(row) and two(row)
    return f"({left} {word} {right})", lambda row: one(row) or two(row)


expressions = st.one_of(numbers(), conditions())

odd_floats = st.one_of(st.sampled_from(FLOATS), st.floats(), st.floats(-100, 100), st.integers(-20, 20).map(float))
small_ints = st.integers(-(2**40), 2**40) | st.integers(-20, 20)
one_row = st.fixed_dictionaries(
    {
        "f": odd_floats, "g": odd_floats | st.none(), "h": odd_floats.filter(lambda v: not math.isnan(v)) | st.none(), "i": small_ints, "n": small_ints | st.none(), "a": small_ints | st.none(), "u": st.integers(0, 255),
        "b": st.booleans(), "m": st.booleans() | st.none(), "s": st.sampled_from(["north", "", "it's"]) | st.none(), "t": moments | st.none(), "z": st.none() | moments.map(lambda m: m.replace(tzinfo=dt.UTC)),
    }
)  # fmt: skip
some_rows = st.lists(one_row, min_size=1, max_size=6)


def framed(rows):
    """Make a frame of generated rows, in its many dtypes."""
    series = {}
    for name, dtype in DTYPES.items():
        cells = [row[name] for row in rows]
        if name == "z":
            series[name] = pd.Series(pd.to_datetime(pd.Series(cells, dtype=object), utc=True)).astype("datetime64[us, UTC]").astype(dtype)
        else:
            series[name] = pd.Series(cells, dtype=dtype)
    return pd.DataFrame(series).set_axis(pd.Index(range(100, 100 + len(rows)), name="id"))
