"""Answers: plain numbers that carry their error, intervals that cover as promised, and records that hold no frame."""

from __future__ import annotations

import copy
import json
import math
import pickle
from fractions import Fraction
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from support import lower_bound, protect

import pandas_dp
import pandas_dp.testing
from pandas_dp import NoisyFloat, NoisyInt, ParameterError
from pandas_dp.noise.laplace import discrete_laplace
from pandas_dp.release import noisy
from pandas_dp.results import plus_minus
from pandas_dp.statistics.tail_bounds import laplace_pair_half_width


@pytest.fixture
def df():
    return protect(pd.DataFrame({"x": np.linspace(0, 1, 500), "i": np.arange(500)}))


def test_answers_are_numbers(df):
    """A scalar answer is an int or float in every respect: arithmetic, comparison, formatting, NumPy, pandas, JSON, hashing."""
    count, mean = df.dp.count(epsilon=1), df.dp.mean("x", bounds=(0, 1), epsilon=1)
    assert isinstance(count, int)
    assert isinstance(mean, float)
    assert type(count + 1) is int
    assert type(mean * 2) is float
    assert f"{count:,d} {mean:.3f}" == f"{int(count):,d} {float(mean):.3f}"
    assert f"{count}" == str(count) == str(int(count))
    assert str(mean) == str(float(mean))
    assert json.loads(json.dumps([count, mean])) == [int(count), float(mean)]
    assert np.asarray([mean, mean]).dtype == np.float64
    assert pd.DataFrame({"a": [count], "b": [mean]}).dtypes.tolist() == [np.int64, np.float64]
    assert hash(count) == hash(int(count))
    assert sum([count, count]) == 2 * int(count)
    assert math.isfinite(mean)


def test_answers_carry_their_release(df):
    """Each answer knows its ε, its interval and its release, which the session has too; reading it 100 times gives the same."""
    answer = df.dp.sum("i", bounds=(0, 500), epsilon="0.25")
    assert isinstance(answer, NoisyInt)
    assert answer.epsilon == 0.25
    assert answer.release is df.dp.session.releases[-1]
    assert answer.release.value == answer
    assert len({repr(answer) for _ in range(100)}) == 1
    assert len(df.dp.session.releases) == 1
    low, high = answer.interval()
    assert high - answer == answer - low == answer.half_width()
    assert answer.interval(0.5)[0] > low
    assert "sum('i' in [0, 500])" in repr(answer.release)


def test_answers_survive_copies_and_pickles(df):
    """Copying or pickling an answer keeps number and release, and no frame or session comes with it."""
    for answer in (df.dp.count(epsilon=1), df.dp.mean("x", bounds=(0, 1), epsilon=1)):
        assert copy.copy(answer) is answer
        assert copy.deepcopy(answer) is answer
        data = pickle.dumps(answer)
        assert b"DataFrame" not in data
        assert b"Session" not in data
        again = pickle.loads(data)
        assert type(again) is type(answer)
        assert (again, again.interval(), repr(again)) == (answer, answer.interval(), repr(answer))


@pytest.mark.parametrize(
    ("value", "margin", "shown"),
    [
        (20013, 30, "20013 ± 30"), (38.72194, 0.4083, "38.72 ± 0.41"), (0.5, 0.0, "0.5 ± 0"), (123456.7, 1234.5, "123457 ± 1235"), (1e20, 1e18, "1e+20 ± 1e+18"),
        (3, 0, "3 ± 0"), (0.00012345, 0.0000123, "0.000123 ± 0.000013"), (12, 2.2, "12 ± 3"), (-5, 3, "-5 ± 3"), (1.0, math.inf, "1 ± inf"), (1e-15, 1e-16, "1e-15 ± 1e-16"),
        (10**30, 10**28, "1e+30 ± 1e+28"), (99.96, 0.095, "99.960 ± 0.095"),
    ],
)  # fmt: skip
def test_plus_minus(value, margin, shown):
    """The margin has two significant digits, rounded up; the value the same place."""
    assert plus_minus(value, margin) == shown


def test_series_answers(df):
    """Several columns give a plain Series in the frame's order, one charge, and intervals of the same shape."""
    bounds = {"i": (0, 500), "x": (0, 1)}
    answer = df.dp.mean(bounds=bounds, epsilon=1)
    assert type(answer) is pd.Series
    assert answer.index.tolist() == ["x", "i"]
    release = df.dp.session.releases[-1]
    low, high = release.interval(0.9)
    assert (low <= answer).all()
    assert (answer <= high).all()
    assert low.index.equals(answer.index)
    assert release.half_width().index.equals(answer.index)
    assert df.dp.session.spent == 1
    assert release.estimates[0].noise.scale == 2 * df.dp.mean("x", bounds=(0, 1), epsilon=1).release.estimates[0].noise.scale, (
        "half of ε each"
    )
    listed = df.dp.sum(["x", "i"], bounds={"x": (0, 1), "i": (0, 500)}, epsilon=1)
    assert listed.index.tolist() == ["x", "i"]
    assert df.dp.count(["x", "i"], epsilon=1000).tolist() == [500, 500]
    assert df.dp.sum(["i"], bounds=(0, 500), epsilon=1).dtype == np.int64
    pd.testing.assert_series_equal(release.value, answer)


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, math.nan, "0.95", True, None])
def test_bad_levels(df, level):
    """A level is a number strictly between 0 and 1."""
    answer = df.dp.count(epsilon=1)
    for ask in (answer.interval, answer.half_width, lambda value: df.dp.preview.count(epsilon=1, level=value)):
        with pytest.raises(ParameterError):
            ask(level)


COVERAGE = {
    "mean mid-range": ([0.5] * 200, "mean"),
    "mean at the lower end": ([0.0] * 200, "mean"),
    "mean at the upper end": ([1.0] * 200, "mean"),
    "mean of a few rows": ([0.2] * 12, "mean"),
    "mean of one row": ([0.8], "mean"),
    "mean of a boolean": ([True] * 30 + [False] * 60, "mean"),
    "sum": ([0.3] * 50, "sum"),
    "count": ([0.3] * 50, "count"),
}


LEAST = {0.5: 894, 0.95: 1851}


def covered(case, factor=1):
    """Return how many of 2000 intervals hold the exact answer, by level; the noise is wider than they believe by a factor."""
    values, statistic = COVERAGE[case]
    series = protect(pd.DataFrame({"x": values}))["x"]
    truth = {"mean": np.mean(values), "sum": np.sum(values), "count": len(values)}[statistic]
    options = {} if statistic == "count" else {"bounds": (0, 1)}
    hits = dict.fromkeys(LEAST, 0)
    with mock.patch.object(noisy, "discrete_laplace", lambda scale: discrete_laplace(scale * factor)):
        for _ in range(2000):
            answer = getattr(series.dp, statistic)(epsilon=0.5, **options)
            for level in LEAST:
                low, high = answer.interval(level)
                hits[level] += low - 1e-7 <= truth <= high + 1e-7
    return hits


@pytest.mark.parametrize("case", COVERAGE)
def test_intervals_cover_as_promised(case):
    """N = 2000 intervals cover the exact answer at least as often as they say, also where the noisy count may be below zero: 894 times at 50 %, 1851 at 95 %.

    A true 0.5 or 0.95 fails with a probability of 1e-6 by the binomial; a true 0.39 or 0.89 passes with less than 1e-6.
    """
    hits = covered(case)
    assert all(hits[level] >= least for level, least in LEAST.items()), hits
    if case == "mean mid-range":
        assert lower_bound(hits[0.95], 2000) < 0.99, "and are not absurdly wide"


@pytest.mark.parametrize("case", ["mean mid-range", "sum", "count"])
def test_intervals_with_too_much_noise_do_not_cover(case):
    """The twin: with noise twice as wide as they believe, intervals of 95 % cover about 0.78 of the time, and those of 50 % about 0.3."""
    hits = covered(case, factor=2)
    assert all(hits[level] < least for level, least in LEAST.items()), hits


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.4999999, 1.0])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_pair_quantile_is_the_quantile(share, level):
    """The quantile of |(1-p) Z1 - p Z2| for continuous noise agrees with numerical integration: the tail at it is 1 - level."""
    width = laplace_pair_half_width(share, 1.0, level) - 1

    def tail(x):
        a, b = 1 - share, share
        if b == 0:
            return math.exp(-x / a)
        if a == 0:
            return math.exp(-x / b)
        grid = np.linspace(-60, 60, 400_001)
        density = stats.laplace.pdf(grid)
        inside = stats.laplace.cdf((x + b * grid) / a) - stats.laplace.cdf((-x + b * grid) / a)
        return 1 - float(integrate.trapezoid(density * inside, grid))

    assert tail(width) == pytest.approx(1 - level, rel=1e-3, abs=1e-6)


def test_preview_tells_cost_and_error_for_nothing(df):
    """A preview spends nothing, reads nothing and gives the ± that the answer has."""
    preview = df.dp.preview.count(epsilon=0.1)
    assert (preview.epsilon, preview.half_width, preview.fits) == (0.1, 30, True)
    assert preview.remaining == 1_000_000 - Fraction(1, 10)
    assert df.dp.preview.sum("x", bounds=(-2, 1), epsilon=0.1).half_width == pytest.approx(59.9, abs=0.2)
    assert df.dp.session.spent == 0
    answer = df.dp.sum("x", bounds=(-2, 1), epsilon=0.1)
    assert answer.half_width() == df.dp.preview.sum("x", bounds=(-2, 1), epsilon=0.1).half_width
    assert df["x"].dp.preview.count(epsilon=1).half_width == 3
    assert df["x"].dp.preview.sum(bounds=(0, 1), epsilon=1).half_width == pytest.approx(3, abs=0.01)
    both = df.dp.preview.mean(bounds={"x": (0, 1), "i": (0, 500)}, epsilon=1, rows=500)
    assert set(both.half_width) == {"x", "i"}
    assert "x: ±" in repr(both)
    narrow = df.dp.preview.count(epsilon=0.1, level=0.5)
    assert narrow.half_width < 30


def test_preview_of_a_mean_needs_rows(df):
    """Its error depends on the number of rows: from rows=, or from a count of this very frame, and is what an answer at the end of the bounds has."""
    with pytest.raises(ParameterError, match="rows="):
        df.dp.preview.mean("x", bounds=(0, 1), epsilon=0.1)
    given = df.dp.preview.mean("x", bounds=(0, 1), epsilon=0.1, rows=500)
    assert given.half_width == pytest.approx(3.0 / (0.1 * 500), rel=0.01)
    df.dp.count(epsilon=1000)
    assert df.dp.preview.mean("x", bounds=(0, 1), epsilon=0.1).half_width == given.half_width
    with pytest.raises(ParameterError, match="this very frame"):
        df["x"].dp.preview.mean(bounds=(0, 1), epsilon=0.1)
    for rows in (0, -1, math.nan, "many", None.__class__, 10**400):
        with pytest.raises(ParameterError):
            df.dp.preview.mean("x", bounds=(0, 1), epsilon=0.1, rows=rows)


def test_preview_of_too_much():
    """A preview says what is missing where the query would be refused."""
    df = pd.DataFrame({"x": [1]}).dp.protect(epsilon=1)
    preview = df.dp.preview.count(epsilon=3)
    assert not preview.fits
    assert repr(preview) == "<Preview count(): ε=3 is ε=2 too much; ±1 at 95%>"
    assert repr(df.dp.preview.count(epsilon=0.25)) == "<Preview count(): ε=0.25 would leave ε=0.75; ±12 at 95%>"


def test_rmse_of_the_mean():
    """RMSE of the mean at ε = 0.1 on 20 000 integers in 18..65 stays below 0.026 (theory 0.0235; 3000 answers, standard error 2 %: false alarm below 1e-6)."""
    ages = pd.DataFrame({"age": np.random.default_rng(3).integers(18, 66, 20_000)})
    series = protect(ages)["age"]
    errors = np.array([series.dp.mean(bounds=(18, 65), epsilon=0.1) for _ in range(3000)]) - ages.age.mean()
    assert np.sqrt(np.mean(errors**2)) < 0.026
    assert np.sqrt(np.mean(errors**2)) > 0.021, "and not by too little noise"


def test_release_shows_test_noise():
    """A release of several columns, and one drawn in a test, print as such."""
    df = protect(pd.DataFrame({"a": [1], "b": [2]}))
    with pandas_dp.testing.unsafe_seeded_noise(0):
        df.dp.sum(bounds=(0, 5), epsilon=1)
    assert "a: " in repr(df.dp.session.releases[-1])
    assert "not private" in repr(df.dp.session.releases[-1])


def test_integers_stay_integers():
    """A sum of integers with integer bounds is an int, however large."""
    df = protect(pd.DataFrame({"i": [2**62] * 8}))
    total = df.dp.sum("i", bounds=(0, 2**62), epsilon=1000)
    assert isinstance(total, NoisyInt)
    assert total > 2**64
    assert isinstance(df.dp.sum("i", bounds=(0, 0.5), epsilon=1000), NoisyFloat)
