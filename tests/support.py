"""What several test files need: protected frames with room, recorders, and exact statistics of tests."""

from __future__ import annotations

import math
import warnings
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
from scipy import stats

import pandas_dp
from pandas_dp.cells.cells import Cell
from pandas_dp.engines.pandas import _Reader
from pandas_dp.release import noisy
from pandas_dp.release import path as release

CONFIDENCE = 1e-6


def protect(frame, epsilon=1_000_000, **options):
    """Protect with a budget that tests do not exhaust; its warning is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pandas_dp.LargeBudgetWarning)
        return frame.dp.protect(epsilon=epsilon, **options)


@contextmanager
def silent_noise(monkeypatch):
    """Replace the noise by zeros and record what reaches it: yields a list of (totals, scales)."""
    seen = []

    class Silent:
        def __init__(self, scale):
            self.scale = scale

        def draw(self):
            seen[-1][1].append(self.scale)
            return 0

        def draws(self, count):
            seen[-1][1].append(self.scale)
            return np.zeros(count, dtype=np.int64)

    original = release.totals

    def recording(cells, sums, places):
        exact = original(cells, sums, places)
        seen.append((list(exact), []))
        assert all(isinstance(cell, Cell) for cell in cells)
        return exact

    units = _Reader.candidates

    def recorded_units(reader):
        found = units(reader)
        seen.append(([found], []))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(_Reader, "candidates", recorded_units)
        patch.setattr(noisy, "discrete_laplace", Silent)
        patch.setattr(release, "totals", recording)
        yield seen


def lower_bound(successes, trials, alpha=CONFIDENCE):
    """Return the Clopper–Pearson lower confidence bound of a probability."""
    return 0.0 if successes == 0 else float(stats.beta.ppf(alpha, successes, trials - successes + 1))


def upper_bound(successes, trials, alpha=CONFIDENCE):
    """Return the Clopper–Pearson upper confidence bound of a probability."""
    return 1.0 if successes == trials else float(stats.beta.ppf(1 - alpha, successes + 1, trials - successes))


def certified_loss(left, right, alpha=CONFIDENCE):
    """Return a privacy loss that two samples prove: four events, each with error probability below 2 * alpha.

    Threshold events ``y <= t`` and ``y > t``, chosen on the first half of each sample, are certified on the second half.
    """
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    half = len(left) // 2
    grid = np.unique(np.concatenate([left[:half], right[:half]]))
    grid = grid[:: max(1, len(grid) // 2000)]
    best = -math.inf
    for one, other in ((left, right), (right, left)):
        for above in (False, True):
            counts_one = _events(one[:half], grid, above=above)
            counts_other = _events(other[:half], grid, above=above)
            score = np.log((counts_one + 0.5) / (counts_other + 0.5)) - 3 / np.sqrt(np.minimum(counts_one, counts_other) + 1)
            at = grid[int(np.argmax(score))]
            hits = int(_events(one[half:], np.array([at]), above=above)[0])
            misses = int(_events(other[half:], np.array([at]), above=above)[0])
            bottom = lower_bound(hits, len(one) - half, alpha)
            if bottom > 0:
                best = max(best, math.log(bottom / upper_bound(misses, len(other) - half, alpha)))
    return best


def _events(sample, grid, *, above):
    below = np.searchsorted(np.sort(sample), grid, side="right")
    return len(sample) - below if above else below


def low_bit_loss(left, right):
    """Return a privacy loss proved by low bits: events "in a quantile window and (not) a multiple of 2**-k"."""
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    half = len(left) // 2
    edges = np.quantile(np.concatenate([left[:half], right[:half]]), np.linspace(0, 1, 21))
    edges[0], edges[-1] = -np.inf, np.inf
    best = -math.inf
    for one, other in ((left, right), (right, left)):
        found = (-math.inf, None)
        for k in range(30, 71):
            for multiple in (True, False):
                flags = [(np.mod(sample[:half] * 2.0**k, 1.0) == 0) == multiple for sample in (one, other)]
                hits = np.histogram(one[:half][flags[0]], edges)[0]
                misses = np.histogram(other[:half][flags[1]], edges)[0]
                score = np.log((hits + 0.5) / (misses + 0.5)) - 3 / np.sqrt(np.minimum(hits, misses) + 1)
                window = int(np.argmax(score))
                found = max(found, (float(score[window]), (k, multiple, window)))
        k, multiple, window = found[1]
        counts = []
        for sample in (one, other):
            rest = sample[half:]
            inside = (rest >= edges[window]) & (rest < edges[window + 1])
            counts.append(int(np.sum(inside & ((np.mod(rest * 2.0**k, 1.0) == 0) == multiple))))
        bottom = lower_bound(counts[0], len(one) - half)
        if bottom > 0:
            best = max(best, math.log(bottom / upper_bound(counts[1], len(other) - half)))
    return best


def chi_square_p(draws, scale, spread=8):
    """Return the p-value of draws against the exact discrete Laplace law, in about 60 bins of equal steps and two tails."""
    scale = Fraction(scale)
    step = max(1, round(float(scale) * spread / 30))
    reach = 30 * step
    edges = np.arange(-reach, reach + step, step)
    counts = np.histogram(np.asarray(draws, dtype=float), bins=np.concatenate([[-np.inf], edges - 0.5, [np.inf]]))[0]
    log_q = -float(1 / scale)

    def tail(k):  # P(noise >= k) for k >= 1
        return math.exp(log_q * k) / (1 + math.exp(log_q))

    def at_least(k):
        return tail(k) if k >= 1 else 1 - tail(1 - k)

    cumulative = [1.0] + [at_least(int(edge)) for edge in edges] + [0.0]
    expected = -np.diff(cumulative) * len(draws)
    keep = expected >= 10
    observed = np.append(counts[keep], counts[~keep].sum())
    wanted = np.append(expected[keep], expected[~keep].sum())
    if wanted[-1] < 1e-9:
        observed, wanted = observed[:-1], wanted[:-1]
    statistic = float(np.sum((observed - wanted) ** 2 / wanted))
    return float(stats.chi2.sf(statistic, len(wanted) - 1))
