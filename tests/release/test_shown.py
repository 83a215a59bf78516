"""Which private keys show: those whose noisy number of units reaches the threshold, of those that occur."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from pandas_dp import ParameterError
from pandas_dp.datasets import Visits, visits
from pandas_dp.release import path
from pandas_dp.release.plan import KeySelection
from pandas_dp.statistics.noise_laws import Laplace


class Reader:
    """Numbers of units of five keys, one of which no row has, and which of them were asked for."""

    asked = None

    def candidates(self):
        return np.array([0, 5, 6, 7, 60])

    def show(self, which):
        self.asked = which.tolist()
        return pd.Index(which)


class Drawn:
    """Noise that is known."""

    def __init__(self, noise):
        self.noise = noise

    def draws(self, count):
        assert count == len(self.noise)
        return np.array(self.noise)


@pytest.mark.parametrize(
    ("noise", "shown", "counts"),
    [([0] * 4, [2, 3, 4], [6, 7, 60]), ([1, 0, -2, -60], [1, 2], [6, 6]), ([0, 0, 0, -54], [2, 3, 4], [6, 7, 6])],
)
def test_the_threshold_is_reached(noise, shown, counts, monkeypatch):
    """A key shows if its number of units plus noise is at least the threshold, and what is told is that noisy number; one that no row has draws nothing."""
    monkeypatch.setattr(path, "sampler_of", lambda law: Drawn(noise))
    reader = Reader()
    found, index = path._shown(reader, KeySelection(Laplace(Fraction(1)), 6, True, None))
    assert reader.asked == index.tolist() == shown
    assert found.tolist() == counts


def test_keys_are_not_shown_by_exact_numbers():
    """With noise that is never 0 (but for a probability of 10^-30) no exact number of units is told."""
    found, _ = path._shown(Reader(), KeySelection(Laplace(Fraction(10**30)), -(10**40), True, None))
    assert len(found) == 4
    assert not {5, 6, 7, 60} & set(map(int, found))


def test_the_number_of_rows_says_nothing_of_groups():
    """A released number of rows, on which the ± of a mean may rest, is not that of a group: by group, ``within`` needs ``rows``."""
    df = visits().dp.protect(epsilon=20, schema=Visits)
    df.dp.count(epsilon=1)
    assert df.dp.mean("charge", within=1000) > 0
    with pytest.raises(ParameterError, match="rows"):
        df.dp.groupby("ward").mean("charge", within=1000)
    assert len(df.dp.groupby("ward").mean("charge", within=1000, rows=400)) == 4
