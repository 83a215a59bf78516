"""Many processes on one ledger: killed at every step of a query, and racing."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from ledger_support import folder  # noqa: F401  (a fixture)

DRIVER = Path(__file__).with_name("ledger_driver.py")
POINTS, RANDOM = 70, 160


def driven(*arguments):
    done = subprocess.run([sys.executable, DRIVER, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_killed_at_any_instant(folder):  # noqa: F811
    """Processes that are killed with SIGKILL before and after each statement, before and after reading the data, and at 160 random times, have never answered more than was charged.

    At least 200 are killed; after each the file is whole, and answered ≤ recorded ≤ charged ≤ asked; the session goes on with what is left.
    """
    found = driven("kills", folder / "kills.sqlite", POINTS, RANDOM)
    print(found)
    assert found["wrong"] == []
    assert found["killed"] >= 200
    assert found["answered"] <= found["recorded"] <= found["charged"] <= found["asked"]
    assert found["charged"] < found["asked"]  # some were killed before
    assert found["answered"] < found["charged"]  # and some after the charge
    assert found["entries"] == found["charged"]
    assert Fraction(found["spent"]) == Fraction(found["charged"] + 1, 1000)


def test_eight_processes_race(folder):  # noqa: F811
    """Four forked processes and four new ones, of 200 charges each, fill a budget of 1500 exactly: none too many, none lost, numbered without a gap."""
    found = driven("race", folder / "race.sqlite", "1.5", 200)
    assert sum(found["accepted"]) == 1500
    assert found["entries"] == list(range(1, 1501))
    assert found["answers"] == 1500
    assert found["remaining"] == "0"
