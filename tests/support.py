"""What several test files need: protected frames with room, recorders, and exact statistics of tests."""

from __future__ import annotations

import math
import operator
import warnings
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
from scipy import special, stats

import pandas_dp
from pandas_dp.cells.cells import Cell
from pandas_dp.engines.pandas import _Reader
from pandas_dp.release import noisy
from pandas_dp.release import path as release

CONFIDENCE = 1e-6  # what each statistical decision may fail with, falsely
ALPHA = 1e-7  # the p-value of a chi-square test that is rejected: see pooled_p


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
    """Return the Clopper–Pearson lower confidence bound of a probability, or of many."""
    return np.where(np.equal(successes, 0), 0.0, special.betaincinv(np.maximum(successes, 1), trials - np.asarray(successes) + 1, alpha))[
        ()
    ]


def upper_bound(successes, trials, alpha=CONFIDENCE):
    """Return the Clopper–Pearson upper confidence bound of a probability, or of many."""
    missing = trials - np.asarray(successes)
    return np.where(np.equal(missing, 0), 1.0, special.betainccinv(np.add(successes, 1), np.maximum(missing, 1), alpha))[()]


def _proved(hits, misses, trials, alpha):
    """Return the loss that events prove with so many hits on one side and on the other; each of their two bounds fails with probability alpha."""
    with np.errstate(divide="ignore"):
        return np.log(lower_bound(hits, trials, alpha) / upper_bound(misses, trials, alpha))


def certified_loss(left, right, alpha=CONFIDENCE / 8):
    """Return a privacy loss that two samples of one size prove; it is above the true one with probability at most ``8 * alpha``: 1e-6.

    Of the threshold events ``y <= t`` and ``y > t``, in both directions, the first half of each sample chooses the four best, and the second half proves
    them: four events with two Clopper–Pearson bounds each.
    """
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    half = len(left) // 2
    grid = np.unique(np.concatenate([left[:half], right[:half]]))
    grid = grid[:: max(1, len(grid) // 2000)]
    best = -math.inf
    for one, other in ((left, right), (right, left)):
        for above in (False, True):
            found = _proved(_events(one[:half], grid, above=above), _events(other[:half], grid, above=above), half, alpha)
            at = grid[[int(np.argmax(found))]]
            hits, misses = (int(_events(sample[half:], at, above=above)[0]) for sample in (one, other))
            best = max(best, float(_proved(hits, misses, len(one) - half, alpha)))
    return best


def _events(sample, grid, *, above):
    below = np.searchsorted(np.sort(sample), grid, side="right")
    return len(sample) - below if above else below


def low_bit_loss(left, right):
    """Return a privacy loss proved by low bits: events "in a quantile window and (not) a multiple of 2**-k"; above the true one with probability at most 1e-6."""
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    half, alpha = len(left) // 2, CONFIDENCE / 4
    edges = np.quantile(np.concatenate([left[:half], right[:half]]), np.linspace(0, 1, 21))
    edges[0], edges[-1] = -np.inf, np.inf
    best = -math.inf
    for one, other in ((left, right), (right, left)):
        chosen = (-math.inf, (30, True, 0))
        for k in range(30, 71):
            for multiple in (True, False):
                hits, misses = (
                    np.histogram(sample[:half][(np.mod(sample[:half] * 2.0**k, 1.0) == 0) == multiple], edges)[0] for sample in (one, other)
                )
                found = _proved(hits, misses, half, alpha)
                window = int(np.argmax(found))
                chosen = max(chosen, (float(found[window]), (k, multiple, window)), key=operator.itemgetter(0))
        k, multiple, window = chosen[1]
        hits, misses = (
            int(
                np.sum(
                    (sample[half:] >= edges[window])
                    & (sample[half:] < edges[window + 1])
                    & ((np.mod(sample[half:] * 2.0**k, 1.0) == 0) == multiple)
                )
            )
            for sample in (one, other)
        )
        best = max(best, float(_proved(hits, misses, len(one) - half, alpha)))
    return best


def pooled_p(observed, expected):
    """Return the chi-square p-value of counts against expectations; cells that expect fewer than 100 are added to the least of the others.

    With 100 in each cell the p-value is below 1e-7 with a probability of less than 1e-6 where the law is right: the statistic's tail is heavier than
    chi-square's, by a factor below 7 at worst, of one degree of freedom.
    """
    observed, expected = np.array(observed, dtype=float), np.array(expected, dtype=float)
    keep = expected >= 100
    least = np.argmin(np.where(keep, expected, np.inf))
    for counts in (observed, expected):
        counts[least] += counts[~keep].sum()
    return float(stats.chi2.sf(np.sum((observed - expected)[keep] ** 2 / expected[keep]), keep.sum() - 1))


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
    return pooled_p(counts, -np.diff(cumulative) * len(draws))
