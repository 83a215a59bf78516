"""The package as a user meets it: names, documentation, import cost, types, switches, and the direction of imports."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import pandas_dp
from pandas_dp.accessor.previews import DataFramePreview, SeriesPreview

MODULES = ["pandas_dp", *sorted(module.name for module in pkgutil.walk_packages(pandas_dp.__path__, "pandas_dp."))]
TESTS = Path(__file__).parent


@pytest.mark.parametrize("module", MODULES)
def test_doctests(module):
    """Every example in a docstring gives what it shows."""
    results = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert results.failed == 0


def test_examples_exist():
    """The main queries have a doctest each: the check above would pass on none."""
    for method in (
        pandas_dp.DataFrameDP.count,
        pandas_dp.DataFrameDP.sum,
        pandas_dp.DataFrameDP.mean,
        pandas_dp.DataFrameDP.protect,
        pandas_dp.dp,
        pandas_dp.Session,
    ):
        assert ">>> " in inspect.getdoc(method)
    for method in (pandas_dp.DataFrameDP.count, pandas_dp.DataFrameDP.sum, pandas_dp.DataFrameDP.mean):
        sections = re.findall(r"^(\w+)\n-+$", inspect.getdoc(method), flags=re.MULTILINE)
        assert {"Parameters", "Returns", "Raises", "Privacy", "Accuracy", "Examples"} <= set(sections)


def test_names():
    """__all__ is sorted and true, in every module."""
    for name in MODULES:
        module = importlib.import_module(name)
        exported = getattr(module, "__all__", [])
        assert list(exported) in (sorted(exported), sorted(exported, key=lambda n: (n.upper() != n, n.lower() == n, n)))
        for entry in exported:
            assert hasattr(module, entry)


def test_the_package_lists_what_users_import():
    """dir(pandas_dp), which completion shows, is __all__, sorted, before and after every module is loaded; each of its names is there, former modules are not listed."""
    code = "import pandas_dp\nprint(dir(pandas_dp) == pandas_dp.__all__ == sorted(pandas_dp.__all__))\n"
    code += "import pandas_dp.amounts, pandas_dp.sessions.session\nprint(dir(pandas_dp) == pandas_dp.__all__, all(hasattr(pandas_dp, name) for name in dir(pandas_dp)))"
    assert child(code, "-W", "ignore").split() == ["True"] * 3
    assert {"datasets", "testing", "plotting"} <= set(dir(pandas_dp))
    assert not {"results", "sessions", "accessor", "import_module", "annotations"} & set(dir(pandas_dp))


def test_privacy_parameters_are_keyword_only():
    """ε, bounds and what else decides about privacy can only be named (protect's budget excepted)."""
    for owner in (pandas_dp.DataFrameDP, pandas_dp.SeriesDP, DataFramePreview, SeriesPreview):
        for name in ("count", "sum", "mean", "var", "std", "median", "min", "max", "iqr", "describe"):
            parameters = inspect.signature(getattr(owner, name)).parameters
            for parameter in parameters.values():
                if parameter.name not in {"self", "column"}:
                    assert parameter.kind in {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}


def test_series_and_frames_have_the_accessor():
    """Every DataFrame and Series has .dp; dp() gives the same, typed, and refuses anything else."""
    frame = pd.DataFrame({"x": [1]})
    assert isinstance(frame.dp, pandas_dp.DataFrameDP)
    assert isinstance(frame["x"].dp, pandas_dp.SeriesDP)
    assert isinstance(pandas_dp.dp(frame), pandas_dp.DataFrameDP)
    assert isinstance(pandas_dp.dp(frame["x"]), pandas_dp.SeriesDP)
    for thing in (None, 1, [1], frame.index):
        with pytest.raises(pandas_dp.ParameterTypeError):
            pandas_dp.dp(thing)


def test_completion_does_not_fail():
    """dir() of a frame builds the accessor; on unprotected, protected and odd frames it works."""
    for frame in (pd.DataFrame(), pd.DataFrame({"dp": [1]}), pd.DataFrame({"x": [1]}).dp.protect(epsilon=1)):
        assert "dp" in dir(frame)
        assert {"count", "mean", "sum", "protect", "session", "preview"} <= set(dir(frame.dp))


def child(code, *flags, **environment):
    done = subprocess.run(
        [sys.executable, *flags, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_is_light():
    """Importing the package loads none of pandera, scipy, matplotlib, dask, pyspark, opendp or ssl beyond what pandas loads; a schema loads pandera."""
    heavy = "{'pandera', 'scipy', 'matplotlib', 'dask', 'pyspark', 'dp_accounting', 'opendp', 'ssl'}"
    code = f"import sys, pandas\nbefore = set(sys.modules)\nimport pandas_dp\nprint(sorted(({heavy} & set(sys.modules)) - before))\n"
    assert child(code, "-W", "ignore") == "[]"
    code += "from pandas_dp.datasets import visits\nvisits().dp.protect(epsilon=1).dp.count(epsilon=0.5)\nprint('pandera' in sys.modules)\n"
    assert child(code, "-W", "ignore").splitlines() == ["[]", "False"]


def test_nothing_rests_on_assert():
    """Under python -OO, which removes asserts and docstrings, budgets refuse, bounds are checked, values are clamped and lineage is followed."""
    code = """
import warnings; warnings.simplefilter('ignore')
import pandas as pd, pandas_dp
df = pd.DataFrame({'x': [1e9, 0.5]}).dp.protect(epsilon=1)
def fails(kind, ask):
    try:
        ask()
    except kind:
        return 'refused'
    return 'answered'
print(fails(pandas_dp.BudgetExhausted, lambda: df.dp.count(epsilon=2)))
print(fails(pandas_dp.ParameterError, lambda: df.dp.count(epsilon=-1)))
print(fails(pandas_dp.BoundsError, lambda: df.dp.sum('x', bounds=(1, 0), epsilon=0.1)))
print(fails(pandas_dp.LineageError, lambda: pd.concat([df, df]).dp.count(epsilon=0.1)))
print(fails(pandas_dp.NotProtected, lambda: pd.DataFrame({'x': [1]}).dp.count(epsilon=0.1)))
print(df.dp.sum('x', bounds=(0, 1), epsilon=0.9) < 1000)
"""
    assert child(code, "-OO").splitlines() == ["refused"] * 5 + ["True"]


@pytest.mark.parametrize(
    ("flags", "switch"),
    [(["-O"], {"PANDERA_VALIDATION_ENABLED": "False"}), ([], {"PANDERA_VALIDATION_DEPTH": "SCHEMA_ONLY"})],
    ids=["disabled, -O", "schema only"],
)
def test_the_suite_s_core_passes_without_asserts_and_validation(flags, switch):
    """Privacy does not rest on asserts or on validation: the tests of bad input and of the public cases pass under python -O (pytest keeps its own asserts) and with pandera's
    switches off.
    """
    left_out = ["--deselect", str(TESTS / "accessor/test_bad_input.py::test_errors_in_protect_hold_no_data")]
    named = [str(TESTS / name) for name in ("accessor/test_bad_input.py", "promises/test_cases.py")]
    quiet = ["-p", "no:cacheprovider", "-W", "ignore::pytest.PytestConfigWarning"]
    done = subprocess.run(
        [sys.executable, *flags, "-m", "pytest", "-q", *quiet, *left_out, *named],
        capture_output=True,
        text=True,
        check=False,
        cwd=TESTS.parent,
        env={**os.environ, **switch},
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_sources_keep_the_rules():
    """No assert, no random module, no private pandas API and no sum of pandas in the package."""
    for path in Path(pandas_dp.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*assert ", text, flags=re.MULTILINE), path
        assert not re.search(r"np\.random|^import random|^import secrets|pd\.core|pandas\.core", text, flags=re.MULTILINE), path
        assert text.lstrip().startswith('"""'), f"{path} opens by saying what it is for"


def test_every_test_says_its_rule():
    """Every test function of the suite has a docstring, which states the rule it checks."""
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                assert ast.get_docstring(node), f"{path.name}: {node.name}"
