"""What the tests of ledger files share: a folder that is quick to synchronise, and small ledgers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

__all__ = ["folder", "frame", "locked", "small", "unprivileged"]


@pytest.fixture
def folder():
    """A folder in memory where the system has one: what is tested is the order of things, not the disk."""
    memory = Path("/dev/shm")  # noqa: S108
    path = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def locked(path):
    """Hold a ledger's lock in another process, which is given, until the block ends."""
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN IMMEDIATE'); print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        yield holder


def frame(rows=40):
    return pd.DataFrame({"x": range(rows), "ward": ["north", "south"] * (rows // 2)})


def small(path, **options):
    """Protect a frame under a ledger with three charges and two labels."""
    protected = frame().dp.protect(epsilon=1, name="small", ledger=path, **options)
    protected.dp.count(epsilon=0.1)
    protected.dp.mean("x", bounds=(0, 40), epsilon=0.1, label="mean x")
    protected.dp.groupby("ward", keys=["north", "south"]).size(epsilon=0.1, label="sizes")
    return protected


UNPRIVILEGED = """
import os, shutil, sys, warnings
import pandas as pd, pandas_dp
from pandas_dp.__main__ import main

def charge(path):
    df = pandas_dp.Session.open(path).protect(pd.DataFrame({"x": range(4)}), name="other")
    df.dp.count(epsilon=0.1)
    return 0

def audit(path):
    return main(["ledger", path, "--verify"])

act = {"charge": charge, "audit": audit}[sys.argv[1]]
copy = sys.argv[2] + ".copy"
shutil.copy(sys.argv[2], copy)
act(copy)  # so that all modules are loaded, which another user may not be able to read
os.unlink(copy)
os.chmod(sys.argv[2], 0o444)
os.chmod(os.path.dirname(sys.argv[2]), 0o555)
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
sys.exit(act(sys.argv[2]))
"""


def unprivileged(act, path):
    """Act as a user who may only read the file and its folder."""
    content = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", UNPRIVILEGED, act, path], capture_output=True, text=True, check=False)
    path.parent.chmod(0o755)
    path.chmod(0o644)
    assert path.read_bytes() == content
    return done
