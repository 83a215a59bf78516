"""The mutation job itself: its list is about the source of today, and it tells the living from the dead."""

from __future__ import annotations

import subprocess
import sys

import pytest
from mutation.run import DEAD, INVALID, LATE, ROOT, SURVIVED, Mutant, Stale, all_mutants

UNITS = "tests/cells/test_cells.py::test_units_multiply"
OLD = "return records * max(sum(abs("


@pytest.mark.parametrize("mutant", all_mutants(), ids=lambda mutant: mutant.id)
def test_every_mutant_changes_the_source_of_today_and_compiles(mutant):
    """A mutant's old source stands in its file exactly once, what comes of it is Python, and the files of its tests are there."""
    compile(mutant.applied((ROOT / "pandas_dp" / mutant.file).read_text(encoding="utf-8")), mutant.file, "exec")
    assert mutant.breaks
    assert all((ROOT / test.split("::")[0]).exists() for test in mutant.tests)
    assert bool(mutant.tests) is mutant.runs


def test_what_is_not_run_says_why():
    """A survivor has a kind and a reason; what waits for a test names its subject; neither is telling."""
    for mutant in all_mutants():
        if mutant.survives:
            kind, _, reason = mutant.survives.partition(": ")
            assert kind in {"equal", "speed", "wording"}
            assert reason
        assert not (mutant.survives and mutant.needs)
        assert mutant.runs or not mutant.telling


def test_a_mutant_whose_source_is_gone_is_an_error():
    """A list may not rot: a source that is not there, that is there twice, or that is not changed is no mutant."""
    text = "one = 1\ntwo = 2\none = 1\n"
    assert Mutant("x", "x.py", "two = 2", "two = 3", "").applied(text) == "one = 1\ntwo = 3\none = 1\n"
    for old, new in (("three", "3"), ("one = 1", "one = 2"), ("two = 2", "two = 2")):
        with pytest.raises(Stale, match="x: the old source"):
            Mutant("x", "x.py", old, new, "").applied(text)


PLANTED = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests/mutation")!r})
from run import ROOT, Mutant, copied, prepare, run

source = (ROOT / "pandas_dp/cells/cells.py").read_bytes()
old = {OLD!r}
planted = {{
    "deadly": old.replace("records * ", ""),
    "harmless": old.replace(" * ", "  *  "),
    "broken": "(" + old,
    "endless": "while True: pass\\n        " + old,
}}
prepare()
with copied() as copy:
    for name, new in planted.items():
        print(name, run(copy, Mutant(name, "cells/cells.py", old, new, ""), ["{UNITS}"], limit=3 if name == "endless" else 120).what, sep=": ")
    print("none", run(copy, None, ["{UNITS}"]).what, sep=": ")
    print("uncollected", run(copy, None, ["{UNITS}_or_not"]).what, sep=": ")
    print("copy as before", (copy.folder / "pandas_dp/cells/cells.py").read_bytes() == source, sep=": ")
print("tree as before", (ROOT / "pandas_dp/cells/cells.py").read_bytes() == source, sep=": ")
"""


def test_it_tells_the_living_from_the_dead():
    """A mutant that changes a sensitivity dies, and one that changes a comment, its twin, survives; what cannot be imported or collected is neither."""
    done = subprocess.run([sys.executable, "-c", PLANTED], capture_output=True, text=True, check=False, cwd=ROOT)
    assert dict(line.split(": ") for line in done.stdout.splitlines()) == {
        "deadly": DEAD,
        "harmless": SURVIVED,
        "broken": INVALID,
        "endless": LATE,
        "none": SURVIVED,
        "uncollected": INVALID,
        "copy as before": "True",
        "tree as before": "True",
    }, done.stderr
