"""Speed of spread, order and Gaussian noise, as ratios of medians of interleaved rounds, and utility against other constructions, simulated.

Run it: ``python tests/benchmarks/distributions.py``.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
from foundation import ROUNDS, ROWS, medians, show

from pandas_dp.noise.gaussian import DiscreteGaussian


def protect(frame, **options):
    """Protect with a budget that is not exhausted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame.dp.protect(epsilon=1_000_000, **options)


def speed():
    """Print the table of ratios."""
    generator = np.random.default_rng(1)
    x = generator.normal(50, 40, ROWS)
    x[generator.random(ROWS) < 0.02] = np.nan
    raw = pd.DataFrame({"x": x, "i": generator.integers(0, 111, ROWS)})
    df = protect(raw)
    low, high = 0.0, 110.0
    nine = [place / 10 for place in range(1, 10)]
    print(f"pandas {pd.__version__}, NumPy {np.__version__}, {ROWS:,} rows, medians of {ROUNDS} interleaved rounds")
    print(f"{'':<64} {'ours ms':>10} {'other ms':>10} {'ratio':>7} {'limit':>6}")
    show("median / df.x.median()", *medians(lambda: df.dp.median("x", bounds=(low, high), epsilon=1), lambda: raw["x"].median()), 0.7)
    show("  the same, integers 0..110", *medians(lambda: df.dp.median("i", bounds=(0, 110), epsilon=1), lambda: raw["i"].median()))
    show("var / clip().var()", *medians(lambda: df.dp.var("x", bounds=(low, high), epsilon=1), lambda: raw["x"].clip(low, high).var()), 0.3)
    show("  the same, integers 0..110", *medians(lambda: df.dp.var("i", bounds=(0, 110), epsilon=1), lambda: raw["i"].clip(0, 110).var()))
    show(
        "9 quantiles / df.x.quantile of the same",
        *medians(lambda: df.dp.quantile("x", nine, bounds=(low, high), epsilon=1), lambda: raw["x"].quantile(nine)),
        1.0,
    )
    show("min / clip().min()", *medians(lambda: df.dp.min("x", bounds=(low, high), epsilon=1), lambda: raw["x"].clip(low, high).min()))
    show(
        "corr of 2 columns / df.corr()",
        *medians(lambda: df.dp.corr(["x", "i"], bounds=(low, high), epsilon=1), lambda: raw[["x", "i"]].corr(), rounds=5),
    )
    show(
        "describe / clip().describe()",
        *medians(lambda: df.dp.describe("x", bounds=(low, high), epsilon=1), lambda: raw["x"].clip(low, high).describe(), rounds=5),
    )
    try:
        import opendp.prelude as dp
    except ImportError:
        return
    dp.enable_features("contrib")
    for sigma in (10.0, 1000.0):
        measurement = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float), scale=sigma)
        sampler = DiscreteGaussian(Fraction(sigma) ** 2)
        ours, theirs = medians(lambda s=sampler: s.draws(10**6), lambda m=measurement: m([0] * 20_000), rounds=3)
        show(f"10^6 discrete Gaussian draws, sigma {sigma:g} / OpenDP's", ours, theirs * 50, 0.05)


def rmse(ask, exact, releases=400):
    """Return the root mean square error over releases."""
    return math.sqrt(np.mean([(float(ask()) - exact) ** 2 for _ in range(releases)]))


def utility():
    """Print errors at ε = 0.1 and n = 20 000 against other constructions of the same guarantee."""
    generator = np.random.default_rng(2)
    n, eps, low, high = 20_000, 0.1, 18.0, 65.0
    values = generator.integers(18, 66, n).astype(float)
    df = protect(pd.DataFrame({"x": values, "y": np.clip(values + generator.normal(0, 12, n), low, high)}))
    width = high - low
    print(f"\nroot mean square errors at ε = {eps}, {n:,} rows in {low:g}..{high:g}")
    print(f"{'':<64} {'ours':>10} {'other':>10} {'ratio':>7}")

    def row(name, ours, theirs):
        print(f"{name:<64} {ours:10.4f} {theirs:10.4f} {ours / theirs:7.3f}")

    exact = values.var(ddof=1)

    def thirds():  # noisy count, centred sum and sum of squares, a third of ε each
        mid, half = (low + high) / 2, width / 2
        count = n + generator.laplace(0, 3 / eps)
        total = (values - mid).sum() + generator.laplace(0, half * 3 / eps)
        squares = ((values - mid) ** 2).sum() + generator.laplace(0, half**2 * 3 / eps)
        return squares / count - (total / count) ** 2

    def known_n():  # diffprivlib's: n is public, replace-one neighbours, sensitivity (width / n)**2 * (n - 1)
        return exact + generator.laplace(0, (width / n) ** 2 * (n - 1) / eps)

    ours = rmse(lambda: df.dp.var("x", bounds=(low, high), epsilon=eps), exact)
    row("variance / count, sum and squares at a third of ε each", ours, rmse(thirds, exact))
    row("variance / diffprivlib's, which makes n public", ours, rmse(known_n, exact))
    exact = float(np.median(df["y"]))
    ours = rmse(lambda: df.dp.median("y", bounds=(low, high), epsilon=eps), exact)
    ordered = np.sort(df["y"].to_numpy())
    gaps = np.diff(np.concatenate([[low], ordered, [high]]))
    ranks = -np.abs(np.arange(n + 1) - n / 2)

    def gap_median():  # diffprivlib's: the exponential mechanism over gaps, in floats, sensitivity 1
        keys = np.log(np.maximum(gaps, 1e-300)) + eps / 2 * ranks + generator.gumbel(size=n + 1)
        place = int(np.argmax(keys))
        return generator.uniform(([low, *ordered])[place], ([*ordered, high])[place])

    row("median / exponential mechanism in floats (diffprivlib)", ours, rmse(gap_median, exact, 200))
    exact = float(np.corrcoef(df["x"], df["y"])[0, 1])

    def fifths():  # count-free: five sums of centred values at a fifth of ε each, as textbooks have it
        mid, half = (low + high) / 2, width / 2
        a, b = (df["x"].to_numpy() - mid) / half, (df["y"].to_numpy() - mid) / half
        sums = [part.sum() + generator.laplace(0, 6 / eps) for part in (a, b, a * a, b * b, a * b)]
        count = n + generator.laplace(0, 6 / eps)
        ma, mb, aa, bb, ab = (part / count for part in sums)
        spread = max((aa - ma * ma) * (bb - mb * mb), 1e-12)
        return min(max((ab - ma * mb) / math.sqrt(spread), -1), 1)

    ours = rmse(lambda: df.dp.corr(["x", "y"], bounds=(low, high), epsilon=eps).iloc[0, 1], exact)
    row("correlation / six noisy sums at a sixth of ε each", ours, rmse(fifths, exact))


if __name__ == "__main__":
    speed()
    utility()
