"""What a ledger file costs: a charge, a query, opening, with the disk's own time for one synchronised write beside them.

Run from this folder with the package on the path; ``python ledger.py [FOLDER]`` (the folder decides which disk is measured).
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pandas as pd

import pandas_dp
from pandas_dp.accounting import Cost
from pandas_dp.quantities.budget import Epsilon

ROUNDS = 200


def timed(act):
    start = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - start)


def main():
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None))
    table = pd.DataFrame({"x": range(100)})
    kept = table.dp.protect(epsilon=10_000, ledger=folder / "bench.sqlite")
    memory = table.dp.protect(epsilon=10_000)
    cost = Cost.laplace(Epsilon("0.001"))
    details = {"frame": "bench", "query": "count()", "mechanism": "discrete Laplace", "scale": 1000.0, "margin": 3000.0, "private": True}
    handle = os.open(folder / "plain", os.O_CREAT | os.O_WRONLY)

    def synchronised():
        os.write(handle, b"x" * 4096)
        os.fsync(handle)

    rows = {
        "one synchronised write of 4 KiB": synchronised,
        "charge, in memory": lambda: memory.dp.session._core.account.charge(cost, **details),
        "charge, in a file": lambda: kept.dp.session._core.account.charge(cost, **details),
        "count() of 100 rows, in memory": lambda: memory.dp.count(epsilon=0.001),
        "count() of 100 rows, in a file": lambda: kept.dp.count(epsilon=0.001),
        "session.remaining, in a file": lambda: kept.dp.session.remaining,
    }
    found = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, act in rows.items():
            found[name].append(timed(act))
    print(f"{'milliseconds':40} {'median':>8} {'95 %':>8}")
    for name, times in found.items():
        print(f"{name:40} {statistics.median(times):8.3f} {sorted(times)[int(0.95 * ROUNDS)]:8.3f}")
    opened = [timed(lambda: pandas_dp.Session.open(folder / "bench.sqlite")) for _ in range(5)]
    print(f"{f'opening and checking {3 * ROUNDS} records':40} {statistics.median(opened):8.3f}")


if __name__ == "__main__":
    main()
