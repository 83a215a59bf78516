"""What CONTRIBUTING.md says of every test, read from the tests' source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SOURCES = {path.relative_to(TESTS).as_posix(): path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}


def decorators(function, name):
    """Return the calls of one decorator on a function."""
    return [
        node
        for node in function.decorator_list
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", None)) == name
    ]


def values(call):
    return {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}


def constant(node):
    """Return whether an assertion's truth is known without running anything, or a part of it does not count."""
    match node:
        case ast.Tuple() | ast.List() | ast.Dict() | ast.Lambda() | ast.GeneratorExp() | ast.JoinedStr() | ast.Constant():
            return True
        case ast.Compare(left=left, ops=[ast.Eq() | ast.LtE() | ast.GtE() | ast.Is()], comparators=[right]) if ast.dump(left) == ast.dump(
            right
        ):
            return not any(isinstance(part, ast.Call) for part in ast.walk(left))
    return any(isinstance(part, ast.BoolOp) and any(isinstance(value, ast.Constant) for value in part.values) for part in ast.walk(node))


def faults(source):
    """Return what a test may not do: examples that are not repeatable, tests that skip, and assertions that cannot fail."""
    found, tree = [], ast.parse(source)
    # What a platform without forks cannot do is not run there.
    forks = {
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and "fork" in ast.unparse(node.args[0] if node.args else node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and decorators(node, "given"):
            options = [values(call) for call in decorators(node, "settings")]
            if not any((each.get("derandomize"), each.get("database")) == ("True", "None") for each in options):
                found.append(f"{node.name} draws other examples each time")
        elif (
            isinstance(node, ast.Attribute)
            and node.attr in {"skip", "skipif", "importorskip", "skipTest", "xfail"}
            and id(node) not in forks
        ):
            found.append(f"line {node.lineno} skips")
        elif isinstance(node, ast.Assert) and constant(node.test):
            found.append(f"line {node.lineno} cannot fail")
    return found


def test_tests_are_repeatable_run_and_can_fail():
    """Every test of generated examples draws the same ones each time and keeps none; nothing is skipped; no assertion holds whatever the code does."""
    assert len(SOURCES) > 80
    assert {name: found for name, source in SOURCES.items() if (found := faults(source))} == {}


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("@given(x)\ndef test_a(x): pass", "test_a draws other examples each time"),
        ("@settings(derandomize=True)\n@given(x)\ndef test_a(x): pass", "test_a draws other examples each time"),
        ("@settings(database=None, derandomize=True)\n@given(x)\ndef test_a(x): pass", None),
        ("def test_a(): pytest.skip()", "line 1 skips"),
        ("@pytest.mark.skipif('fork' not in methods(), reason='')\ndef test_a(): pass", None),
        ("assert (a, b)", "line 1 cannot fail"),
        ("assert a == [b, c or True]", "line 1 cannot fail"),
        ("assert a.b == a.b", "line 1 cannot fail"),
        ("assert a == b or 'c'", "line 1 cannot fail"),
        ("assert next(a) != next(a) or f(a) == f(a)", None),
    ],
)
def test_faults_are_found(source, fault):
    """The twin: each of these made-up tests has the fault that it shows, and only that."""
    assert faults(source) == ([fault] if fault else [])
