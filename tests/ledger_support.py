"""What the tests of ledger files share: a folder that is quick to synchronise, and small ledgers."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pandas as pd
import pytest

__all__ = ["folder", "frame", "small"]


@pytest.fixture
def folder():
    """A folder in memory where the system has one: what is tested is the order of things, not the disk."""
    memory = Path("/dev/shm")  # noqa: S108
    path = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def frame(rows=40):
    return pd.DataFrame({"x": range(rows), "ward": ["north", "south"] * (rows // 2)})


def small(path, **options):
    """Protect a frame under a ledger with three charges and two labels."""
    protected = frame().dp.protect(epsilon=1, name="small", ledger=path, **options)
    protected.dp.count(epsilon=0.1)
    protected.dp.mean("x", bounds=(0, 40), epsilon=0.1, label="mean x")
    protected.dp.groupby("ward", keys=["north", "south"]).size(epsilon=0.1, label="sizes")
    return protected
