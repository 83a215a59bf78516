"""On real data that a package ships: the RAND health insurance experiment, 20 190 rows of statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from support import upper_bound

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


@pytest.mark.parametrize("statistic", ["sum", "mean"])
def test_answers_lie_within_their_margins_as_promised(randhie, statistic):
    """At ε = 1 sums and means of all ten columns lie within their stated ± of the true, clamped ones at least 95 % of the time: 10 columns x 100 releases
    (Clopper–Pearson at 1e-6, so a rate below about 0.92 would be caught), and the ± are useful.
    """
    from support import protect

    df = protect(randhie)
    clamped = randhie[list(BOUNDS)].clip(*map(np.array, zip(*BOUNDS.values(), strict=True)), axis=1)
    truth = getattr(clamped, statistic)()
    hits = 0
    for _ in range(100):
        answer = getattr(df.dp, statistic)(bounds=BOUNDS, epsilon=10)
        assert answer.index.tolist() == list(BOUNDS)
        width = df.dp.session.releases[-1].half_width()
        hits += int((abs(answer - truth) <= width).sum())
    assert upper_bound(hits, 1000) >= 0.95
    spread = {column: high - low for column, (low, high) in BOUNDS.items()}
    if statistic == "mean":
        assert (width < 0.001 * np.array(list(spread.values()))).all(), "one part in a thousand of the bounds at ε = 1 each"


def test_a_session_of_an_analyst(randhie):
    """A plain script: protect, filter, average, within one budget; the difference between two groups shows."""
    df = randhie.dp.protect(epsilon=10)
    poor, fine = df[df.hlthp == 1], df[df.hlthp == 0]
    visits = [group.dp.mean("mdvis", bounds=(0, 80), epsilon=4) for group in (poor, fine)]
    people = poor.dp.count(epsilon=2)
    assert visits[0] - visits[0].half_width() > visits[1] + visits[1].half_width()
    assert abs(people - int((randhie.hlthp == 1).sum())) < 100
    assert df.dp.session.remaining == 0
