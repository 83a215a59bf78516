"""Expressions that are refused: by name of the part, at once, and whatever the garbage."""

from __future__ import annotations

import ast
import string
import sys

import pandas as pd
import pytest
from expression_support import COLUMNS, evaluate, plain, strict
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pandas_dp.errors import DPError, ExpressionError
from pandas_dp.expressions.parse import parse

REFUSED = [
    ("nope", "nope"), ("x + nope", "nope"), ("`no such` > 1", "`no such`"), ("X", "X"), ("x.mean()", "x.mean()"), ("x - x.mean()", "x.mean()"), ("x.values", "x.values"),
    ("x[0]", "x[0]"), ("x[1:2]", "x[1:2]"), ("df['x']", "df['x']"), ("mean(x)", "mean(x)"), ("sum([x, y])", "sum([x, y])"), ("max(x, y)", "max(x, y)"), ("x + len(x)", "len(x)"),
    ("rank(x)", "rank(x)"), ("cumsum(x) > 1", "cumsum(x)"), ("__import__('os')", "__import__('os')"), ("eval('1')", "eval('1')"), ("x.__class__", "x.__class__"),
    ("().__class__.__bases__", "().__class__.__bases__"), ("lambda: x", "lambda: x"), ("(lambda v: v)(x)", "(lambda v: v)(x)"), ("x if b else y", "x if b else y"),
    ("[x for x in y]", "[x for x in y]"), ("{x for x in y}", "{x for x in y}"), ("(x for x in y)", "(x for x in y)"), ("{1: x}", "{1: x}"), ("[x, y]", "[x, y]"), ("(x, y)", "(x, y)"),
    ("x, y", "x, y"), ("(x := 1)", "x := 1"), ("x := 1", None), ("x = 1", None), ("f'{x}'", "f'{x}'"), ("ward == f'{x}'", "f'{x}'"), ("ward == b'a'", "b'a'"), ("ward == r'a'", "r'a'"),
    ("import os", None), ("await x", None), ("yield x", None), ("*x", None), ("x @ y", "x @ y"), ("x << 2", "x << 2"), ("x >> 2", "x >> 2"), ("b ^ b", "b ^ b"), ("x is y", "x is y"),
    ("x is not None", "x is not None"), ("x == None", "None"), ("...", "..."), ("1j * x", "1j"), ("0x1F", "0x1F"), ("1if b else 2", "1if"), ("x == 1and b", "1and"), ("1.mean()", "1.mean"),
    ("x # comment", "#"), ("x; y", None), ("x y", None), ("x +", None), ("(x", None), ("x)", None), ("", ""), ("   ", ""), ("x\\\n+ y", "\\"), ("x \x00", "\x00"), ("x ¬ y", "¬"), ("@x", None),
    ("x $ y", None), ("x ? y", None), ("x!", None), ("`x", "`"), ("ward == 'north", "'north"), ("ward == '\\x41'", "'\\x41'"), ("ward == '''a'''", "''"), ("class + 1", None),
    # kinds that do not fit
    ("ward + 'a'", "ward + 'a'"), ("ward * 2", "ward * 2"), ("-ward", "-ward"), ("ward > 'a'", "ward > 'a'"), ("ward == 1", "ward == 1"), ("x == 'a'", "x == 'a'"), ("x < ward", "x < ward"),
    ("ward in ['a', 1]", "ward in ['a', 1]"), ("x in ['a']", "x in ['a']"), ("'a' == 'a'", "'a' == 'a'"), ("'a'", "'a'"), ("'nor' in ward", "ward"), ("x in y", "y"), ("x in [y]", "y"),
    ("x in [1, y + 1]", "y + 1"), ("x in [[1]]", "[1]"), ("x in 'abc'", "'abc'"), ("x in [-y]", "-y"), ("any == 1", "any == 1"), ("any + 1", "any + 1"), ("any == any", "any == any"),
    ("x > 1 & y > 1", "1 & y"), ("x & y", "x & y"), ("x or y", "x or y"), ("b and x", "b and x"), ("not x", "not x"), ("~x", "~x"), ("~i", "~i"), ("b and 1", "b and 1"), ("x in [1] in [True]", "x in [1] in [True]"),
    # dates
    ("t + 1", "t + 1"), ("t - t2", "t - t2"), ("t > 1", "t > 1"), ("t > d", "t > d"), ("t == ward", "t == ward"), ("t > 'now'", "'now'"), ("t > 'today'", "'today'"), ("t > '12:00'", "'12:00'"),
    ("t > 'NaT'", "'NaT'"), ("t > '01/02/2020'", "'01/02/2020'"), ("t > '2020-13-01'", "'2020-13-01'"), ("t > '2021-02-29'", "'2021-02-29'"), ("t > '0000-01-01'", "'0000-01-01'"),
    ("t > '9999-01-01'", "'9999-01-01'"), ("t in ['a']", "'a'"), ("d > '1H'", "'1H'"), ("d > 'day'", "'day'"), ("d > '99999999999 days'", "'99999999999 days'"), ("d * 2", "d * 2"), ("year(x)", "year(x)"),
    ("year(d)", "year(d)"), ("hour('2020-01-01')", "hour('2020-01-01')"), ("year(t, 1)", "year(t, 1)"),
    # functions and constants
    ("abs()", "abs()"), ("abs(x, y)", "abs(x, y)"), ("abs(*x)", "*x"), ("round(x, ndigits=1)", "round(x, ndigits=1)"), ("round(x, y)", "y"), ("round(x, 1.5)", "1.5"), ("round(x, True)", "True"),
    ("round(x, 16)", "16"), ("round(x, 1, 2)", "round(x, 1, 2)"), ("clip(x, 0)", "clip(x, 0)"), ("clip(x, 1, 0)", "clip(x, 1, 0)"), ("clip(x, y, 1)", "clip(x, y, 1)"), ("clip(x, 0, 1 + 1)", "clip(x, 0, 1 + 1)"),
    ("clip(ward, 0, 1)", "clip(ward, 0, 1)"), ("where(x, 1, 2)", "where(x, 1, 2)"), ("where(b, 'a', 'b')", "where(b, 'a', 'b')"), ("where(b, t, t)", "where(b, t, t)"), ("where(b, 1)", "where(b, 1)"),
    ("isna('a')", "isna('a')"), ("isna(x, y)", "isna(x, y)"), ("log(x)(y)", "log(x)(y)"), ("log", "log"), ("x ** y", "y"), ("x ** -1", "-1"), ("x ** 1.5", "1.5"), ("x ** 65", "65"),
    ("x ** True", "True"), ("x ** (1 + 1)", "1 + 1"), ("2 ** x", "x"), ("9 ** 9 ** 9", "9 ** 9"), ("10 ** 1000", "1000"), ("1e999", "1e999"), (str(2**63), str(2**63)), ("9" * 1000, "9" * 1000), ("9" * 1990, "9" * 1990),
    # too much of it
    ("x" * 2001, "x" * 2001), ("+".join(["x"] * 60), "+".join(["x"] * 10)), ("-" * 1990 + "x", None), ("not " * 400 + "b", None), ("(" * 990 + "x" + ")" * 990, None), ("(" * 150 + "x", None),
    ("[" * 999 + "]" * 999, None), ("abs(" * 180 + "x" + ")" * 180, None), ("x**" * 600 + "2", None), ("x<" * 900 + "nope", "nope"), ("~" * 1999, None), ("{" * 1999, None), ("x if b else " * 150 + "x", None),
]  # fmt: skip


def check_refused(error, text):
    """Check what holds of every refusal."""
    assert type(error) is ExpressionError
    assert isinstance(error, DPError)
    assert isinstance(error, ValueError)
    assert error.__context__ is None
    assert error.__cause__ is None
    assert error.expression == text
    assert error.part in text or error.part.split() == text.split() or "\n" in text or not error.part.isascii()
    assert str(error).endswith(".")
    assert len(str(error)) < 700
    assert error.part[:20] in str(error) or repr(error.part)[1:10] in str(error)


def test_enough_is_refused():
    """The table of refusals is as long as it should be."""
    assert len(REFUSED) > 150


@pytest.mark.parametrize(("text", "part"), REFUSED, ids=[text[:40] for text, _ in REFUSED])
def test_refusals_name_the_part(text, part):
    """What is not in the grammar is an ExpressionError that names the offending part and says what to do; at once, whatever its size."""
    with strict(), pytest.raises(ExpressionError) as caught:
        parse(text, COLUMNS)
    check_refused(caught.value, text)
    assert part is None or caught.value.part == part  # None: where Python's own parser stops differs between versions


@pytest.mark.parametrize("text", [None, 1, b"x", ["x"], True, pd.Series(["SECRET"])])
def test_only_texts(text):
    """Anything but a text is refused by its type, without quoting it."""
    with pytest.raises(ExpressionError) as caught:
        parse(text, COLUMNS)
    assert type(text).__name__ in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_only_conditions_are_masks():
    """A mask of what is no condition is refused."""
    with pytest.raises(ExpressionError, match="is no condition"):
        parse("x + 1", COLUMNS).mask(plain())


def test_deep_callers():
    """Whoever calls from deep within a recursion gets an ExpressionError or an expression, too."""
    text = "x" + "+ 1" * 48

    def descend(levels):
        return descend(levels - 1) if levels else parse(text, COLUMNS)

    outcomes = set()
    for room in range(60, 300, 8):
        try:
            outcomes.add(type(descend(sys.getrecursionlimit() - room)))
        except (ExpressionError, RecursionError) as error:
            outcomes.add(type(error))
    assert ExpressionError in outcomes


WORDS = [
    "x", "y", "b", "i", "ward", "t", "nope", "`x`", "`length of stay`", "'north'", '"a"', "1", "2.5", "1e5", "0", "True", "None", "and", "or", "not", "in", "is", "if", "else", "lambda", "for",
    "+", "-", "*", "**", "/", "//", "%", "<", "<=", "==", "!=", "&", "|", "~", "^", "(", ")", "[", "]", "{", "}", ",", ".", ":", ":=", "=", "@", "abs", "log", "clip", "where", "round", "isna",
    "year", "'", '"', "`", "\\", "\n", "#", ";", "f'", "ﬁ", "\ud800", "\x00", "é", "²", "½", "\u2028", "0x", "1j", "q_0_", "qq", "0.5", "64", "...", "->", "\N{SNOWMAN}", "import", "yield", "await",
]  # fmt: skip


def try_parse(text):
    refused = None
    try:
        with strict():
            expression = parse(text, COLUMNS)
    except ExpressionError as error:
        refused = error
    if refused is not None:
        assert refused.__context__ is None
        assert refused.expression == text
        return
    assert expression.columns <= set(COLUMNS)
    assert (expression.needs_bounds is None) == (expression.bounds is not None)
    evaluate(text, SMALL)


SMALL = plain().iloc[::11]


@settings(max_examples=600, deadline=None, derandomize=True, database=None)
@given(st.text(max_size=60))
@example("\ud800'")
@example("'\ud800'")
@example("`\ud800` + 1")
@example("x\r\n+1")
@example("q`x`")
@example("`x`q")
@example("1`x`")
def test_garbage_is_refused(text):
    """Of any text at all: an ExpressionError, or an expression that can be evaluated."""
    try_parse(text)


@settings(max_examples=600, deadline=None, derandomize=True, database=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14), st.sampled_from(["", " "]))
def test_word_salad_is_refused(words, between):
    """Of any row of words of the grammar and of Python: an ExpressionError, or an expression that can be evaluated."""
    try_parse(between.join(words))


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.lists(st.sampled_from([*string.printable, *WORDS]), min_size=300, max_size=900))
def test_long_garbage_is_refused(words):
    """Long garbage is refused, too."""
    try_parse("".join(words))


def test_grammar_is_closed():
    """Every kind of node that Python's parser knows is in the grammar or refused: each is tried."""
    accepted = {ast.Name, ast.Constant, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.Call}
    samples = {
        ast.Attribute: "x.a", ast.Subscript: "x[0]", ast.Starred: "[*x]", ast.List: "[1]", ast.Tuple: "(1, 2)", ast.Set: "{1}", ast.Dict: "{}", ast.Lambda: "lambda: 1", ast.IfExp: "x if b else y",
        ast.ListComp: "[v for v in x]", ast.SetComp: "{v for v in x}", ast.DictComp: "{v: v for v in x}", ast.GeneratorExp: "(v for v in x)", ast.Await: "await x", ast.Yield: "(yield x)", ast.YieldFrom: "(yield from x)",
        ast.NamedExpr: "(v := x)", ast.JoinedStr: "f'{x}'", ast.FormattedValue: "f'{x!r}'", ast.Slice: "x[1:2]",
    }  # fmt: skip
    known = {kind for kind in ast.expr.__subclasses__() if kind.__name__ not in {"TemplateStr", "Interpolation"}}
    assert known == accepted | set(samples)
    for text in samples.values():
        with pytest.raises(ExpressionError):
            parse(text, COLUMNS)
