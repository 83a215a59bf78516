"""The page of proofs names for each claim the tests that hold it, and they are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "explanation" / "proof.md"
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


def claims(text):
    """The rows of the table: claim, and the tests that it names."""
    table = text[text.index("| claim | how | held by |") :].split("\n\n")[0].splitlines()[2:]
    return [(row.split("|")[1].strip(), NAMED.findall(row.split("|")[-2])) for row in table]


def missing(text):
    """The claims without a test, and the tests that are not there."""
    found = []
    for claim, tests in claims(text):
        found += [claim] if not tests else []
        for file, name in tests:
            path = TESTS / file
            tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
            if not any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.walk(tree)):
                found.append(f"{file}::{name}")
    return found


def test_each_claim_is_held_by_a_test_that_exists():
    """Every row of the page names at least one test, and every test that it names is a function of that file."""
    text = PAGE.read_text(encoding="utf-8")
    assert len(claims(text)) > 25
    assert missing(text) == []


def test_a_claim_without_its_test_is_found():
    """The twin: a row without a test, with one that is gone, or of a file that is gone, is found."""
    head = "| claim | how | held by |\n|---|---|---|\n"
    assert missing(head + "| sure | somehow | |\n") == ["sure"]
    assert missing(head + "| sure | somehow | `cells/test_cells.py::test_gone`, `gone/test_cells.py::test_gone` |\n") == [
        "cells/test_cells.py::test_gone",
        "gone/test_cells.py::test_gone",
    ]


def test_every_room_of_tests_holds_a_claim():
    """No room of tests that hold promises is left out of the page: a claim that nobody reads is no proof."""
    named = {file.split("/")[0] for _, tests in claims(PAGE.read_text(encoding="utf-8")) for file, _ in tests if "/" in file}
    assert {
        "accounting",
        "cells",
        "engines",
        "expressions",
        "lineage",
        "noise",
        "promises",
        "release",
        "sessions",
        "statistics",
        "compatibility",
    } <= named
