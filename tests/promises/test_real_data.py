"""On real data that a package ships: the RAND health insurance experiment, 20 190 rows of statsmodels."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from support import protect

from pandas_dp.noise.laplace import discrete_laplace
from pandas_dp.release import noisy

BOUNDS = {
    "mdvis": (0, 80),
    "lncoins": (0, 5),
    "idp": (0, 1),
    "lpi": (0, 8),
    "fmde": (0, 9),
    "physlm": (0, 1),
    "disea": (0, 60),
    "hlthg": (0, 1),
    "hlthf": (0, 1),
    "hlthp": (0, 1),
}


@pytest.fixture(scope="module")
def randhie():
    from statsmodels.datasets import randhie as shipped

    data = shipped.load_pandas().data
    assert data.shape == (20_190, 10)
    return data


def within(randhie, statistic, factor=1):
    """Return how many of 1000 answers lie within their ± of the truth, and the last ±; the noise is wider than these believe by a factor."""
    df = protect(randhie)
    clamped = randhie[list(BOUNDS)].clip(*map(np.array, zip(*BOUNDS.values(), strict=True)), axis=1)
    truth = getattr(clamped, statistic)()
    hits = 0
    with mock.patch.object(noisy, "discrete_laplace", lambda scale: discrete_laplace(scale * factor)):
        for _ in range(100):
            answer = getattr(df.dp, statistic)(bounds=BOUNDS, epsilon=10)
            assert answer.index.tolist() == list(BOUNDS)
            width = df.dp.session.releases[-1].half_width()
            hits += int((abs(answer - truth) <= width).sum())
    return hits, width


LEAST = 914


@pytest.mark.parametrize("statistic", ["sum", "mean"])
def test_answers_lie_within_their_margins_as_promised(randhie, statistic):
    """At ε = 1 for each column, sums and means of all ten columns lie within their stated ± of the true, clamped ones at least 95 % of the time, and the ± are useful.

    N = 1000, 100 releases of 10 columns, of which 914 have to: a true 0.95 fails with a probability of 6.5e-7 by the binomial; a true 0.90 is caught with 0.92, a true 0.86
    with 0.9999998.
    """
    hits, width = within(randhie, statistic)
    assert hits >= LEAST
    spread = {column: high - low for column, (low, high) in BOUNDS.items()}
    if statistic == "mean":
        assert (width < 0.001 * np.array(list(spread.values()))).all(), "one part in a thousand of the bounds at ε = 1 each"


def test_margins_that_are_too_small_are_caught(randhie):
    """The twin: with noise twice as wide as the ± believe, about 0.78 of the answers lie within it (914 of 1000 with less than 1e-20)."""
    assert within(randhie, "sum", factor=2)[0] < LEAST


def test_a_session_of_an_analyst(randhie):
    """A plain script: protect, filter, average, within one budget; the difference between two groups shows."""
    df = randhie.dp.protect(epsilon=10)
    poor, fine = df[df.hlthp == 1], df[df.hlthp == 0]
    visits = [group.dp.mean("mdvis", bounds=(0, 80), epsilon=4) for group in (poor, fine)]
    people = poor.dp.count(epsilon=2)
    assert visits[0] - visits[0].half_width() > visits[1] + visits[1].half_width()
    assert abs(people - int((randhie.hlthp == 1).sum())) < 100
    assert df.dp.session.remaining == 0
