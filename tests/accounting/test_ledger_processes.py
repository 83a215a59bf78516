"""Many processes on one ledger: killed at every step of a query, and racing."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from ledger_support import folder  # noqa: F401  (a fixture)

DRIVER = Path(__file__).parents[1] / "ledger_driver.py"
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


LOADED = """
import json, pathlib, sys
names = {"__name__": "queries"}
exec(pathlib.Path("promises/test_replay.py").read_text(encoding="utf-8").replace(', label="x"', ""), names)
df = names["table"](sys.argv[1], delta=1e-6, epsilon=10)
before = set(sys.modules)
for ask in names["QUERIES"].values():
    ask(df.dp)
df.dp.groupby("ward", keys="private").size(epsilon=0.1, label="private keys")
df.dp.session.releases, df.dp.session.ledger, repr(df.dp.session)
print(json.dumps(sorted(name for name in set(sys.modules) - before if name.startswith("pandas_dp"))))
"""


def test_a_shared_session_has_loaded_what_it_needs(folder):  # noqa: F811
    """A session in a file loads no module of the package with its first queries: a fork meanwhile would find it half loaded for ever."""
    command = [sys.executable, "-W", "ignore", "-c", LOADED, folder / "l.sqlite"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=DRIVER.parent)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
