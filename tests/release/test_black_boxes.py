"""Black boxes of releases that no example shows to be private: matrices, the last group, extremes of units with several rows, Gaussian noise, private keys that one unit reaches several of.

N = 10 000 answers a side, of the release itself; what the engine read is kept, for it is the same each time.  Thresholds are chosen on one half of each sample and events counted on the other, with Clopper-Pearson
bounds at 1e-7: of four events, two bounds each, a test fails falsely with a probability below 8e-7.  The twins draw repeatable noise, so that they are caught always or never.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support import certified_loss, lower_bound, protect, upper_bound

from pandas_dp.cells.second_moments import Design
from pandas_dp.noise.threshold import key_threshold
from pandas_dp.release import noisy as release_noisy
from pandas_dp.release import path, plan
from pandas_dp.testing import unsafe_seeded_noise

SIDE = 10_000
ALPHA = 1e-7


class _Kept:
    """Reads everything once, for each set of keys that shows."""

    def __init__(self, reader):
        self._fresh = copy.copy(reader)
        self._readers = {None: reader}
        self._known = {}
        self._shown = None

    def candidates(self):
        return self._read("candidates", None)

    def show(self, which):
        self._shown = which.tobytes()
        if self._shown not in self._readers:
            self._readers[self._shown] = copy.copy(self._fresh)
        return self._read("show", self._shown, which)

    def __getattr__(self, name):
        return lambda *arguments: self._read(name, self._shown, *arguments)

    def _read(self, name, shown, *arguments):
        key = name, shown, *(arguments if name != "show" else ())
        if key not in self._known:
            self._known[key] = getattr(self._readers[shown], name)(*arguments)
        return self._known[key]


def released(df, ask, read, monkeypatch):
    """Release ``SIDE`` times what is asked once, and return what is read from each: of its estimates and index."""
    kept = []
    measure = path._measure
    with monkeypatch.context() as patch:
        patch.setattr(path, "_measure", lambda reader, *rest: kept.append((_Kept(reader), *rest)) or measure(reader, *rest))
        ask(df.dp)
    return np.array([read(*measure(*kept[0])) for _ in range(SIDE)], dtype=float)


def both(pair, ask, read, monkeypatch, **options):
    """Return the samples of two neighbours."""
    return [released(protect(frame, delta="0.9", **options), ask, read, monkeypatch) for frame in pair]


def certified_delta(left, right, epsilon):
    """Return a δ at ε that two samples prove, by the same events as a loss."""
    half, best = SIDE // 2, 0.0
    grid = np.unique(np.concatenate([left[:half], right[:half]]))
    for one, other in ((left, right), (right, left)):
        for sign in (1, -1):
            first, second = (np.sort(sign * side[:half]) for side in (one, other))
            inside = [half - np.searchsorted(side, sign * grid) for side in (first, second)]  # at least the threshold
            at = sign * grid[int(np.argmax(inside[0] - math.exp(epsilon) * inside[1]))]
            hits, misses = (int(np.sum(sign * side[half:] >= at)) for side in (one, other))
            proved = lower_bound(hits, half, ALPHA) - math.exp(epsilon) * upper_bound(misses, half, ALPHA)
            best = max(best, proved)
    return best


# A matrix of covariances.

COLUMNS = {"bounds": {"x": (0, 8), "y": (0, 5)}}
BASE = pd.DataFrame({"x": [1, 7, 3, 4, 6] * 6, "y": [5, 0, 2, 3, 1] * 6})
ROWS = {"at a corner": (8, 5), "inside": (6, 1)}


def matrices(row, epsilon, monkeypatch):
    """Return, for neighbours that differ by a row, samples of the log-likelihood ratio of all noisy cells."""
    pair = [BASE, pd.concat([BASE, pd.DataFrame([row], columns=["x", "y"])], ignore_index=True)]
    exact = []

    def noiseless(totals, law, groups):
        exact.append((list(totals), law))
        return totals

    ask = lambda dp: dp.cov(["x", "y"], **COLUMNS, epsilon=epsilon)  # noqa: E731
    with monkeypatch.context() as patch:
        patch.setattr(path, "noisy", noiseless)
        for frame in pair:
            ask(protect(frame).dp)
    (here, law), (there, _) = exact
    scale = float(law.scale)

    def ratio(estimates, _):
        moved = sum(abs(y - a) - abs(y - b) for y, a, b in zip(estimates[0].noisy, here, there, strict=True))
        return moved / scale

    known, totals = {}, Design.totals

    def kept(design, n, sums, products):
        if (n, *sums) not in known:
            known[n, *sums] = totals(design, n, sums, products)
        return known[n, *sums]

    with monkeypatch.context() as patch:
        patch.setattr(Design, "totals", kept)
        return both(pair, ask, ratio, monkeypatch)


@pytest.mark.parametrize("row", ROWS)
def test_a_matrix(row, monkeypatch):
    """cov: no threshold of the likelihood ratio of all cells proves a loss above ε = 1 between frames that differ by a row, at a corner of the bounds or where all cells move.

    N = 10 000, false failure below 8e-7.  It would catch a cell of the design without noise, and a sensitivity that is too small.
    """
    assert certified_loss(*matrices(ROWS[row], 1, monkeypatch), ALPHA) <= 1


def test_a_matrix_with_too_little_noise_is_caught(monkeypatch):
    """The twins: with noise three times too small, or none on the first cell, a loss above ε = 1 is proved."""
    with unsafe_seeded_noise(1):
        assert certified_loss(*matrices(ROWS["at a corner"], 3, monkeypatch), ALPHA) > 1
    original = release_noisy.noisy
    monkeypatch.setattr(path, "noisy", lambda exact, law, groups: [exact[0], *original(exact, law, groups)[1:]])
    with unsafe_seeded_noise(2):
        assert certified_loss(*matrices(ROWS["inside"], 1, monkeypatch), ALPHA) > 1


# The last group.

GROUPS = [pd.DataFrame({"x": [5, 3, 4, *more], "w": ["a", "b", "c", *["c"] * len(more)]}) for more in ([], [8])]


def last_group(epsilon, monkeypatch, **price):
    """Return samples of the last group's noisy sum, of neighbours that differ by a row of that group at the bound."""
    ask = lambda dp: dp.groupby("w", keys=["a", "b", "c"]).sum("x", bounds=(0, 8), epsilon=epsilon, **price)  # noqa: E731
    return both(GROUPS, ask, lambda estimates, _: estimates[0].value[-1], monkeypatch)


def test_the_last_group(monkeypatch):
    """The last group of a grouped sum: no threshold proves a loss above ε = 1.

    N = 10 000, false failure below 8e-7.  It would catch groups that share a draw too few, and a scale divided by the number of groups.
    """
    assert certified_loss(*last_group(1, monkeypatch), ALPHA) <= 1


def test_a_last_group_with_too_little_noise_is_caught(monkeypatch):
    """The twins: with noise 30 % too small, or none on the last group, a loss above ε = 1 is proved."""
    with unsafe_seeded_noise(1):
        assert certified_loss(*last_group(10 / 7, monkeypatch), ALPHA) > 1
    add = release_noisy.add
    monkeypatch.setattr(release_noisy, "add", lambda exact, noise: np.append(add(exact, noise)[:-1], exact[-1:]))
    with unsafe_seeded_noise(2):
        assert certified_loss(*last_group(1, monkeypatch), ALPHA) > 1


# Extremes of units with several rows.

MANY = 6  # rows of the unit that is there or not


def extremes(name, monkeypatch):
    """Return samples of an extreme, of neighbours that differ by a unit with rows at the far end."""
    others, end = (14, 7) if name == "max" else (15, 0)
    base = pd.DataFrame({"who": range(others), "x": 3})
    pair = [base, pd.concat([base, pd.DataFrame({"who": [99] * MANY, "x": end})], ignore_index=True)]
    ask = lambda dp: getattr(dp, name)("x", bounds=(0, 7), epsilon=1)  # noqa: E731
    return both(pair, ask, lambda estimates, _: estimates[0].heights[0], monkeypatch, unit="who", max_rows=MANY)


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_units(name, monkeypatch):
    """max and min of units with six rows: no threshold proves a loss above ε = 1.

    N = 10 000, false failure below 8e-7.  It would catch a choice that is told of one row, which loses 3.0 here.
    """
    assert certified_loss(*extremes(name, monkeypatch), ALPHA) <= 1


def test_extremes_of_one_row_are_caught(monkeypatch):
    """The twin: a maximum that was planned for units of one row is proved to lose more than ε = 1."""
    parts = plan._parts
    monkeypatch.setattr(plan, "_parts", lambda *arguments: [(part, replace(law, records=1)) for part, law in parts(*arguments)])
    with unsafe_seeded_noise(1):
        assert certified_loss(*extremes("max", monkeypatch), ALPHA) > 1


# Gaussian noise.


def gaussians(rho, monkeypatch):
    """Return samples of a sum with Gaussian noise, of neighbours that differ by a row at the bound."""
    pair = [pd.DataFrame({"x": [3] * 5}), pd.DataFrame({"x": [3] * 5 + [8]})]
    return both(pair, lambda dp: dp.sum("x", bounds=(0, 8), rho=rho), lambda estimates, _: estimates[0].value, monkeypatch)


def gaussian_delta(rho, move, epsilon):
    """Return δ at ε of a discrete Gaussian of variance ``move**2 / (2 rho)`` that is moved by ``move``: its very sum."""
    variance = move**2 / (2 * rho)
    points = np.arange(-60 * move, 61 * move)
    weights = [np.exp(-((points - shift) ** 2) / (2 * variance)) for shift in (move, 0)]
    here, there = (weight / weight.sum() for weight in weights)
    return float(np.maximum(here - math.exp(epsilon) * there, 0).sum())


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_gaussian_release(epsilon, monkeypatch):
    """A sum with Gaussian noise for ρ = 1/2: no threshold proves a δ above that of the discrete Gaussian itself, at ε = 1/2, 1 and 2.

    N = 10 000, false failure below 8e-7.  It would catch a variance of Δ²/ρ·(something less than 1/2), and a sensitivity that is too small.
    """
    assert gaussian_delta(0.5, 8, 1) == pytest.approx(stats.norm.cdf(-0.5) - math.e * stats.norm.cdf(-1.5), abs=0.01)
    assert certified_delta(*gaussians("0.5", monkeypatch), epsilon) <= gaussian_delta(0.5, 8, epsilon)


def test_a_gaussian_release_with_too_little_noise_is_caught(monkeypatch):
    """The twin: with a standard deviation 30 % too small a larger δ is proved at ε = 1."""
    with unsafe_seeded_noise(1):
        assert certified_delta(*gaussians(0.5 / 0.7**2, monkeypatch), 1.0) > gaussian_delta(0.5, 8, 1.0)


# Private keys of which a unit reaches several.

DELTA = 0.05
OTHERS = 20


BASE_KEYS = pd.DataFrame({"who": range(3 * OTHERS), "k": ["a", "b", "c"] * OTHERS})


def with_unit(*names):
    """Return the frame with one unit more, that has a row under each of three keys."""
    return pd.concat([BASE_KEYS, pd.DataFrame({"who": 999, "k": names})], ignore_index=True)


def own_keys(monkeypatch):
    """Return how often a key of one unit alone, of three, shows."""
    ask = lambda dp: dp.groupby("k", keys="private", delta=DELTA).count(unique=True, epsilon=1)  # noqa: E731
    df = protect(with_unit("d", "e", "f"), delta="0.9", unit="who", max_rows=3)
    return int(released(df, ask, lambda _, index: len(index) > 0 and index[-1] >= "d", monkeypatch).sum())


def shared_keys(monkeypatch, *, whole):
    """Return samples of the sum of what is shown, of neighbours that differ by a unit with rows under three keys that twenty others have each."""

    def ask(dp):
        groups = dp.groupby("k", keys="private", delta=DELTA)
        return groups.count(unique=True, epsilon=1) if whole else groups.size(epsilon=1)

    read = lambda estimates, index: estimates[0].noisy[0].sum() if len(index) else -1e9  # noqa: E731
    return both([BASE_KEYS, with_unit("a", "b", "c")], ask, read, monkeypatch, unit="who", max_rows=3)


def test_own_keys_of_a_unit_are_hidden(monkeypatch):
    """Three keys that one unit alone has, at max_rows=3: that any of them shows has a probability of at most δ = 0.05, by a lower bound at 1e-7.

    N = 10 000, false failure below 2e-7.  It would catch a threshold for one key, and noise for one.
    """
    shown = own_keys(monkeypatch)
    assert lower_bound(shown, SIDE, ALPHA) <= DELTA
    assert upper_bound(shown, SIDE, ALPHA) >= DELTA / 4, "nor is the threshold far too high"


@pytest.mark.parametrize("whole", [True, False])
def test_shared_keys_of_a_unit(whole, monkeypatch):
    """Three keys that others have, too: no threshold of the sum of the shown numbers proves more than (ε, δ) = (1, 0.05), where the compared numbers are the answer, and where half of ε answers.

    N = 10 000, false failure below 8e-7.  It would catch noise for a unit of one key.
    """
    assert certified_delta(*shared_keys(monkeypatch, whole=whole), 1.0) <= DELTA


def test_a_threshold_for_one_key_is_caught(monkeypatch):
    """The twin: a threshold for one key shows one of three more often than δ says."""
    monkeypatch.setattr("pandas_dp.noise.threshold.key_threshold", lambda scale, delta, reach: key_threshold(scale, delta, 1))
    with unsafe_seeded_noise(1):
        assert lower_bound(own_keys(monkeypatch), SIDE, ALPHA) > DELTA


def test_noise_for_one_key_is_caught(monkeypatch):
    """The twin: noise for a unit of one key is proved to lose more than (1, 0.05)."""
    monkeypatch.setattr(plan, "records_of_unit", lambda *_, **__: 1)
    with unsafe_seeded_noise(2):
        assert certified_delta(*shared_keys(monkeypatch, whole=True), 1.0) > DELTA
