"""Speed of grouped answers and of units, as ratios measured in one interleaved run.

Run ``python tests/benchmarks/groups.py``; it prints a table and asserts nothing.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from foundation import ROUNDS, ROWS, medians, show

import pandas_dp
from pandas_dp.noise.laplace import DiscreteLaplace


def protect(frame, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame.dp.protect(epsilon=1_000_000, **options)


def main():
    generator = np.random.default_rng(1)
    low, high, eps = 0.0, 110.0, 0.01
    x = generator.normal(50, 40, ROWS)
    x[generator.random(ROWS) < 0.02] = np.nan
    raw = pd.DataFrame({"x": x, "few": generator.integers(0, 100, ROWS), "many": generator.integers(0, 100_000, ROWS)})
    raw["category"] = pd.Categorical.from_codes(raw["few"], [f"k{key:02d}" for key in range(100)])
    raw["text"] = raw["category"].astype(str)
    df = protect(raw)
    print(f"pandas {pd.__version__}, NumPy {np.__version__}, {ROWS:,} rows, medians of {ROUNDS} interleaved rounds")
    print(f"{'':<64} {'ours ms':>10} {'other ms':>10} {'ratio':>7} {'limit':>6}")
    texts = [f"k{key:02d}" for key in range(100)]
    for name, column, keys, limit in (
        ("100 integer keys", "few", list(range(100)), 0.45),
        ("100 categorical keys", "category", texts, 0.45),
        ("100 000 integer keys, noise included", "many", list(range(100_000)), 0.6),
        ("100 text keys", "text", texts, 1.2),
    ):
        ours, theirs = medians(
            lambda c=column, k=keys: df.dp.groupby(c, keys=k).mean("x", bounds=(low, high), epsilon=eps),
            lambda c=column: raw["x"].clip(low, high).groupby(raw[c], observed=True).mean(),
        )
        show(f"groupby mean, {name} / clip + groupby.mean", ours, theirs, limit)
    raw["age"] = generator.integers(0, 110, ROWS)
    people = raw[["age", "x"]]
    protected = protect(people)
    ours, theirs = medians(
        lambda: protected.dp.where("age >= 65").sum("x", bounds=(low, high), epsilon=eps),
        lambda: people.query("age >= 65")["x"].clip(low, high).sum(),
    )
    show('where("age >= 65").sum / query, clip, sum', ours, theirs, 1.0)
    units = pd.DataFrame({"who": generator.integers(0, 2_000_000, ROWS), "x": x})
    bounded = protect(units, unit="who", max_rows=5)
    ours, theirs = medians(
        lambda: bounded.dp.sum("x", bounds=(low, high), epsilon=eps),
        lambda: units.groupby("who").head(5)["x"].clip(low, high).sum(),
        rounds=7,
    )
    show("sum, 2 000 000 units, max_rows=5 / groupby.head(5), clip, sum", ours, theirs, 0.7)
    try:
        import opendp.prelude as dp
    except ImportError:
        return
    dp.enable_features("contrib")
    measurement = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=10.0)
    zeros = [0] * 100_000
    sampler = DiscreteLaplace(pandas_dp.Epsilon(10))
    ours, theirs = medians(lambda: sampler.draws(10**6), lambda: measurement(zeros), rounds=5)
    show("noise for 10^6 groups / opendp's sampler on as many", ours, theirs * 10, 0.05)


if __name__ == "__main__":
    main()
