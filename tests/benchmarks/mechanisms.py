"""Speed of the mechanisms for values in hand, as ratios measured in one interleaved run.

Run ``python tests/benchmarks/mechanisms.py``; it prints a table and asserts nothing.  The other sides are plain NumPy: not exact, and not private to the last bit.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from foundation import medians, show

from pandas_dp.mechanisms import exponential, gaussian, geometric, laplace, privatize_gradients

NUMBERS = 10**6
EXAMPLES, WIDTHS = 512, (90_000, 10_000)


def main():
    generator = np.random.default_rng(1)
    values = generator.normal(50, 10, NUMBERS)
    counts = generator.integers(0, 1000, NUMBERS)
    series = pd.Series(values)
    print(f"pandas {pd.__version__}, NumPy {np.__version__}, medians of interleaved rounds")
    print(f"{'':<64} {'ours ms':>10} {'other ms':>10} {'ratio':>7} {'limit':>6}")
    show(
        "laplace of 10^6 floats / values + Generator.laplace",
        *medians(lambda: laplace(values, 1, 1), lambda: values + generator.laplace(0, 1, NUMBERS)),
        10,
    )
    show(
        "  the same, a Series",
        *medians(lambda: laplace(series, 1, 1), lambda: series + generator.laplace(0, 1, NUMBERS)),
        10,
    )
    show(
        "gaussian of 10^6 floats / values + Generator.normal",
        *medians(lambda: gaussian(values, 1, 1, 1e-6), lambda: values + generator.normal(0, 4, NUMBERS)),
        10,
    )
    show(
        "geometric of 10^6 integers / two Generator.geometric",
        *medians(lambda: geometric(counts, 1, 0.1), lambda: counts + generator.geometric(0.1, NUMBERS) - generator.geometric(0.1, NUMBERS)),
        10,
    )
    show(
        "laplace of one float / value + Generator.laplace",
        *medians(lambda: laplace(5.0, 1, 1), lambda: 5.0 + generator.laplace(), inner=500),
    )
    show(
        "exponential of 100 candidates / Generator.choice",
        *medians(lambda: exponential(range_of_100, list(range(100)), 1, 1), lambda: generator.choice(100, p=np.full(100, 0.01)), inner=50),
    )
    gradients = [generator.normal(size=(EXAMPLES, width)) for width in WIDTHS]
    single = [layer.astype(np.float32) for layer in gradients]

    def naive(layers):
        norms = np.sqrt(sum((layer**2).sum(axis=1) for layer in layers))
        factors = np.minimum(1, 1 / norms)[:, None]
        return [((layer * factors).sum(axis=0) + generator.normal(0, 1.1, layer.shape[1])) / EXAMPLES for layer in layers]

    def ours(layers, threads):
        return privatize_gradients(layers, 1, 1.1, threads=threads)

    show("gradients, 512 examples x 10^5, 1 thread / naive NumPy", *medians(lambda: ours(gradients, 1), lambda: naive(gradients)), 2)
    show("gradients, 512 examples x 10^5, 2 threads / 1 thread", *medians(lambda: ours(gradients, 2), lambda: ours(gradients, 1)), 1)
    show("gradients of float32, 1 thread / naive NumPy", *medians(lambda: ours(single, 1), lambda: naive(single)), 3)


range_of_100 = list(range(100))

if __name__ == "__main__":
    main()
