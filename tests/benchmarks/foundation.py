"""Speed of counts, sums, means and noise, as ratios measured in one interleaved run.

Run ``python tests/benchmarks/foundation.py``; it prints a table and asserts nothing.  Every row alternates its two sides and compares
medians, so that a machine that drifts slows both alike.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd

import pandas_dp
from pandas_dp.noise.laplace import DiscreteLaplace

ROWS = 10_000_000
ROUNDS = 9


def medians(ours, theirs, rounds=ROUNDS, inner=1):
    """Return the two medians in seconds of runs taken in turn, after one run of each that does not count."""
    times = [[], []]
    for turn in range(rounds + 1):
        for which, work in enumerate((ours, theirs)):
            start = time.perf_counter()
            for _ in range(inner):
                work()
            if turn:
                times[which].append((time.perf_counter() - start) / inner)
    return statistics.median(times[0]), statistics.median(times[1])


def show(name, ours, theirs, limit=None):
    ratio = ours / theirs
    told = "" if limit is None else f"{limit:>6}  {'' if ratio <= limit else 'ABOVE'}"
    print(f"{name:<64} {ours * 1e3:>10.4f} {theirs * 1e3:>10.4f} {ratio:>7.3f} {told}", flush=True)


def frames():
    generator = np.random.default_rng(1)
    x = generator.normal(50, 40, ROWS)
    x[generator.random(ROWS) < 0.02] = np.nan
    frame = pd.DataFrame({"x": x, "i": generator.integers(-50, 200, ROWS)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame, frame.dp.protect(epsilon=1_000_000)


def import_seconds(statement):
    code = f"import time, pandas\nt = time.perf_counter()\n{statement}\nprint(time.perf_counter() - t)"
    # As installed: with bytecode, which a first run writes.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    runs = [
        float(subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, env=environment).stdout)
        for _ in range(8)
    ][1:]
    return statistics.median(runs)


def main():
    raw, df = frames()
    low, high, eps = 0.0, 110.0, 0.01
    print(f"pandas {pd.__version__}, NumPy {np.__version__}, {ROWS:,} rows, medians of {ROUNDS} interleaved rounds")
    print(f"{'':<64} {'ours ms':>10} {'other ms':>10} {'ratio':>7} {'limit':>6}")
    show(
        "sum of float64 / clip().sum()",
        *medians(lambda: df.dp.sum("x", bounds=(low, high), epsilon=eps), lambda: raw.x.clip(low, high).sum()),
        0.17,
    )
    show(
        "mean of float64 / clip().mean()",
        *medians(lambda: df.dp.mean("x", bounds=(low, high), epsilon=eps), lambda: raw.x.clip(low, high).mean()),
        0.17,
    )
    show(
        "sum of int64 / clip().sum()",
        *medians(lambda: df.dp.sum("i", bounds=(0, 110), epsilon=eps), lambda: raw.i.clip(0, 110).sum()),
        0.17,
    )
    show(
        "mean of int64 / clip().mean()",
        *medians(lambda: df.dp.mean("i", bounds=(0, 110), epsilon=eps), lambda: raw.i.clip(0, 110).mean()),
        0.17,
    )
    half, raw_half = df[df.i > 75], raw[raw.i > 75]
    show(
        "sum on a filtered frame, row check included / clip().sum()",
        *medians(lambda: half.dp.sum("x", bounds=(low, high), epsilon=eps), lambda: raw_half.x.clip(low, high).sum()),
        0.45,
    )
    shuffled = half.sample(frac=1, random_state=1)
    raw_shuffled = raw_half.sample(frac=1, random_state=1)
    show(
        "  the same, shuffled (no limit set)",
        *medians(lambda: shuffled.dp.sum("x", bounds=(low, high), epsilon=eps), lambda: raw_shuffled.x.clip(low, high).sum()),
        9.99,
    )
    small, raw_small = df.iloc[:100], raw.iloc[:100]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = raw_small.reset_index(drop=True).dp.protect(epsilon=1_000_000)
    show(
        "sum on 100 rows / clip().sum()",
        *medians(lambda: alone.dp.sum("x", bounds=(low, high), epsilon=eps), lambda: raw_small.x.clip(low, high).sum(), inner=200),
        0.5,
    )
    show(
        "  the same, 100 rows of a larger frame",
        *medians(lambda: small.dp.sum("x", bounds=(low, high), epsilon=eps), lambda: raw_small.x.clip(low, high).sum(), inner=200),
        0.5,
    )
    show(
        "mean on 100 rows / clip().mean()",
        *medians(lambda: alone.dp.mean("x", bounds=(low, high), epsilon=eps), lambda: raw_small.x.clip(low, high).mean(), inner=200),
        0.5,
    )
    fresh = iter(range(1, 10**9))
    show(
        "  sum on 100 rows, a new scale each time",
        *medians(
            lambda: alone.dp.sum("x", bounds=(low, high), epsilon=f"{next(fresh)}e-7"), lambda: raw_small.x.clip(low, high).sum(), inner=200
        ),
        0.5,
    )
    generator = np.random.default_rng(2)
    for scale in (10, 2**40):
        sampler = DiscreteLaplace(pandas_dp.Epsilon(scale))
        show(
            f"10^6 exact draws, scale {scale} / Generator.laplace",
            *medians(lambda s=sampler: s.draws(10**6), lambda c=scale: generator.laplace(scale=c, size=10**6)),
            8,
        )
    show_opendp()
    tracemalloc.start()
    for name, frame in (("float64", df), ("filtered float64", half)):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        frame.dp.sum("x", bounds=(low, high), epsilon=eps)
        print(f"extra peak memory of one sum, {name}: {(tracemalloc.get_traced_memory()[1] - before) / 2**20:.1f} MiB (limit 64)")
    tracemalloc.stop()
    print(f"import pandas_dp on top of pandas: {import_seconds('import pandas_dp') * 1e3:.1f} ms (limit 60)")
    error = utility()
    print(f"RMSE of mean, ε = 0.1, 20 000 integers in 18..65: {error:.4f} (limit 0.026, theory 0.0235)")


def show_opendp():
    try:
        import opendp.prelude as dp
    except ImportError:
        print("opendp is not installed: its rows are left out")
        return
    dp.enable_features("contrib")
    sampler = DiscreteLaplace(pandas_dp.Epsilon(10))
    measurement = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=10.0)
    zeros = [0] * 100_000
    ours, theirs = medians(lambda: sampler.draws(10**6), lambda: measurement(zeros), rounds=5)
    show("one exact draw / one of opendp's, scale 10 (x 10^6)", ours, theirs * 10, 0.05)


def utility():
    generator = np.random.default_rng(3)
    ages = pd.DataFrame({"age": generator.integers(18, 66, 20_000)})
    exact = ages.age.mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        df = ages.dp.protect(epsilon=1_000_000)
    errors = [df.dp.mean("age", bounds=(18, 65), epsilon=0.1) - exact for _ in range(4000)]
    return float(np.sqrt(np.mean(np.square(errors))))


if __name__ == "__main__":
    main()
