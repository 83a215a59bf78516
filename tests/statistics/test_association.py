"""The parts of covariance and correlation matrices: exact sums, cells of bounded L1, tails of many noises, matrices and intervals."""

from __future__ import annotations

import itertools
import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pandas_dp.cells.cells import FloatGrid, IntGrid
from pandas_dp.cells.second_moments import Design, _forms, l1_bound, shift_of, tops_of
from pandas_dp.domains.bounds import domain_of
from pandas_dp.domains.domain import ColumnFacts
from pandas_dp.domains.objects import number
from pandas_dp.engines.gram import gram
from pandas_dp.noise.laplace import discrete_laplace
from pandas_dp.statistics.association import CorrelationEstimate, CovarianceEstimate
from pandas_dp.statistics.weighted_sums import many_half_width

TENS = FloatGrid.between(-3.0, 10.0)
WIDE = IntGrid(-(2**63), 2**63 - 1)
DAYS = IntGrid(0, 10**18)
COLUMNS = {
    "float64": (pd.Series([0.1, np.nan, np.inf, -np.inf, 5e-324, 7.25], dtype="float64"), TENS),
    "float32": (pd.Series([0.1, 3.3, np.nan, 1e30, -9.0, 2.0], dtype="float32"), TENS),
    "int8": (pd.Series([-128, 127, 0, 3, 5, 1], dtype="int8"), IntGrid(-5, 100)),
    "int64": (pd.Series([-(2**63), 2**63 - 1, 0, 3, -1, 1], dtype="int64"), WIDE),
    "uint64": (pd.Series([0, 2**64 - 1, 2**63, 3, 2**40, 1], dtype="uint64"), IntGrid(1, 2**64 - 1)),
    "Int64": (pd.Series([None, 2**62, 5, -7, 0, 1], dtype="Int64"), IntGrid(-(2**33), 2**62)),
    "Float64": (pd.Series([1.5, None, 2.5, 1e300, -2.0, 0.0], dtype="Float64"), TENS),
    "boolean": (pd.Series([True, False, None, True, True, False], dtype="boolean"), IntGrid(0, 1)),
    "bool": (pd.Series([True, False, True, True, False, False]), IntGrid(0, 1)),
    "int32[pyarrow]": (pd.Series([1, 2, 3, None, 9, -4], dtype="int32[pyarrow]"), IntGrid(0, 8)),
    "double[pyarrow]": (pd.Series([1.25, None, 3.0, 4.0, 100.0, 0.3], dtype="double[pyarrow]"), TENS),
    "datetime64[ns]": (
        pd.Series(pd.to_datetime(["1990-01-01", None, "2001-01-02", "2039-01-01", "1960-01-01", "1970-01-01"]).as_unit("ns")),
        DAYS,
    ),
    "object": (pd.Series([1, None, "no", Decimal("2.5"), float("inf"), 3], dtype="object"), TENS),
}


def height_of(value, grid):
    """An independent reading of one value: exact fractions and Python's own rounding; None if it is missing."""
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, pd.Timestamp):
        value = value.value
    if isinstance(grid, IntGrid):
        step = min(max(int(value), grid.first), grid.last)
    else:
        plain = number(value)
        if math.isnan(plain):
            return None
        step = round(Fraction(min(max(plain, grid.lower), grid.upper) - grid.origin) / Fraction(grid.g))
    return (step - grid.first) >> shift_of(grid)


def slow_gram(frame, columns, grids, unit):
    """The same sums in Python ints, row by row."""
    rows = zip(*(frame[column].tolist() for column in columns), strict=True)
    kept = []
    for place, row in enumerate(rows):
        heights = [height_of(value, grid) for value, grid in zip(row, grids, strict=True)]
        if (unit is None or unit[place]) and None not in heights:
            kept.append(heights)
    size = range(len(columns))
    products = {(i, j): sum(row[i] * row[j] for row in kept) for i in size for j in size if i <= j}
    return len(kept), [sum(row[i] for row in kept) for i in size], products


@pytest.mark.parametrize("pair", list(itertools.combinations(COLUMNS, 2)), ids="+".join)
def test_sums_are_exact_for_every_dtype(pair):
    """Number, sums and products over complete rows are Python's own integers for every pair of dtypes, with missing values and masks, and nothing warns."""
    frame = pd.DataFrame({name: COLUMNS[name][0] for name in pair})
    grids = [COLUMNS[name][1] for name in pair]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for unit in (None, np.array([True, True, False, True, True, True]), np.zeros(6, dtype=bool)):
            before = None if unit is None else unit.copy()
            assert gram(frame, pair, grids, unit) == slow_gram(frame, pair, grids, unit)
            assert unit is None or (unit == before).all()
        assert gram(frame.iloc[:0], pair, grids, None) == (0, [0, 0], {(0, 0): 0, (0, 1): 0, (1, 1): 0})


def test_sums_are_exact_over_blocks_and_in_any_order():
    """Half a million rows over four blocks, with the largest heights there are and with random ones, some missing: exact, and the same when permuted."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"a": generator.integers(0, 2**63 - 1, 500_000), "b": generator.random(500_000)})
    frame.loc[generator.random(500_000) < 0.1, "b"] = np.nan
    frame.loc[:250_000, "a"] = 2**63 - 1
    grids = [IntGrid(0, 2**63 - 1), FloatGrid.between(0.0, 1.0)]
    there = frame["b"].notna().to_numpy()
    a = (frame["a"].to_numpy()[there] >> 32).astype(object)
    b = np.array([round(value * 2**29) for value in frame["b"].to_numpy()[there].tolist()], dtype=object)
    found = gram(frame, ["a", "b"], grids, None)
    assert found == (int(there.sum()), [a.sum(), b.sum()], {(0, 0): (a * a).sum(), (0, 1): (a * b).sum(), (1, 1): (b * b).sum()})
    assert gram(frame.iloc[generator.permutation(500_000)], ["a", "b"], grids, None) == found
    assert all(type(total) is int for total in [found[0], *found[1], *found[2].values()])


def test_heights_are_shortened_by_public_numbers():
    """Heights stay below 2**31: by the bounds' width alone; narrower ones are not touched."""
    assert tops_of([IntGrid(0, 1), IntGrid(-5, 2**31 - 6), IntGrid(0, 2**31), WIDE]) == (1, 2**31 - 1, 2**30, 2**31 - 1)


def record(design, heights):
    """The cells of one record."""
    size = range(len(heights))
    return design.totals(1, list(heights), {(i, j): heights[i] * heights[j] for i in size for j in size if i <= j})


@pytest.mark.parametrize(
    "tops", [(4,), (3, 5), (4, 4), (1, 2**31 - 1), (2, 3, 1), (4, 4, 4), (2, 3, 1, 2), (2, 2, 2, 2, 2), (1, 2, 1, 3, 2), (2,) * 6, (1,) * 8]
)
def test_no_record_adds_more_than_the_sensitivity(tops):
    """Exhaustively over all records of a small grid: the absolute cells add up to no more than the sensitivity, which the corners reach to a millionth."""
    design = Design(tops)
    ranges = [range(top + 1) if top < 10 else [0, 1, top // 3, top // 2, top - 1, top] for top in tops]
    sums = [sum(map(abs, record(design, heights))) for heights in itertools.product(*ranges)]
    assert max(sums) <= design.sensitivity
    assert max(sums) >= design.sensitivity * (1 - 2e-6)
    if len(set(tops)) == 1:
        assert max(sums) == design.sensitivity, "exactly"


@pytest.mark.parametrize("columns", range(1, 9))
def test_the_bound_between_grid_points(columns):
    """The bound holds at 20 000 random points of the box, and cells are closed under permutations and signs, on which its proof rests."""
    generator = np.random.default_rng(columns)
    u = np.concatenate([generator.uniform(-1, 1, (10_000, columns)), np.clip(generator.normal(0, 2, (10_000, columns)), -1, 1)])
    features = np.column_stack([np.ones(len(u)), u, *(u[:, i] * u[:, j] for i in range(columns) for j in range(i, columns))])
    assert np.abs(features @ _forms(columns).T).sum(axis=1).max() <= l1_bound(columns) + 1e-9

    def orbit(order, signs):
        pairs = [(i, j) for i in range(columns) for j in range(i, columns)]
        at = {pair: 1 + columns + place for place, pair in enumerate(pairs)}
        source = [0, *(1 + order[i] for i in range(columns)), *(at[tuple(sorted((order[i], order[j])))] for i, j in pairs)]
        worth = np.array([1, *signs, *(signs[i] * signs[j] for i, j in pairs)])
        rows = _forms(columns)[:, source] * worth
        return sorted(max(tuple(row), tuple(-row)) for row in rows.tolist() for row in [np.array(row)])

    same = orbit(list(range(columns)), [1] * columns)
    for _ in range(5):
        assert orbit(generator.permutation(columns).tolist(), generator.choice([-1, 1], columns).tolist()) == same


def test_the_bounds_are_small_integers():
    """The sensitivities of two to six columns, which the proof's table gives; the twin of a cell with a larger coefficient exceeds its bound."""
    assert [l1_bound(columns) for columns in (2, 3, 4, 5, 6, 10)] == [24, 72, 240, 740, 168, 440]
    worse = _forms(2).copy()
    worse[-1] += worse[-1] // 8  # 9 * (1 - u**2) for 8 * (1 - u**2)
    assert np.abs(worse @ [1, 1, 0, 1, 0, 0]).sum() > 24


def test_replay_on_neighbours():
    """Grey box: on 200 generated pairs of frames that differ by a row the totals move by at most the sensitivity."""

    @settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
    @given(
        st.lists(st.tuples(*[st.one_of(st.floats(), st.sampled_from([-3.0, 10.0, 0.0, 3.5]))] * 3), min_size=1, max_size=5),
        st.sampled_from([TENS, FloatGrid.between(0.0, 1e-9), FloatGrid.between(2.0**40, 2.0**40 + 1), FloatGrid.between(-1e300, 1e300)]),
        st.integers(2, 3),
    )
    def check(rows, grid, size):
        frame, columns = pd.DataFrame(rows, columns=list("abc")), list("abc")[:size]
        grids = [grid, TENS, TENS][:size]
        design = Design(tops_of(grids))
        left, right = (design.totals(*gram(part, columns, grids, None)) for part in (frame, frame.iloc[1:]))
        assert sum(abs(a - b) for a, b in zip(left, right, strict=True)) <= design.sensitivity

    check()


def parts(frame, bounds):
    """Domains, design and exact totals of all columns."""
    facts = ColumnFacts(numeric=True)
    domains = tuple(domain_of("cov", name, frame[name].dtype, facts, bounds[name]) for name in frame)
    grids = [domain.grid for domain in domains]
    design = Design(tops_of(grids))
    return domains, design, design.totals(*gram(frame, list(frame), grids, None))


def table(rows, columns, seed=0):
    generator = np.random.default_rng(seed)
    shared = generator.normal(size=rows)
    frame = pd.DataFrame({f"c{i}": 50 + 9 * ((-1) ** i * shared + generator.normal(size=rows)) for i in range(columns)})
    return frame.clip(0, 100), dict.fromkeys(frame, (0, 100))


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("ddof", [0, 1, 2])
def test_without_noise_the_matrices_of_pandas(columns, ddof):
    """Without noise covariances and correlations are pandas', over the complete rows, of clamped values."""
    frame, bounds = table(500, columns)
    frame.iloc[::7, 0] = np.nan
    domains, design, totals = parts(frame, bounds)
    complete = frame.dropna()
    cov = CovarianceEstimate(tuple(totals), design, Fraction(1), domains, ddof)
    corr = CorrelationEstimate(tuple(totals), design, Fraction(1))
    np.testing.assert_allclose(cov.value, complete.cov(ddof=ddof).to_numpy(), rtol=1e-6)
    np.testing.assert_allclose(corr.value, complete.corr().to_numpy(), atol=1e-7)
    for estimate, exact in ((cov, complete.cov(ddof=ddof)), (corr, complete.corr())):
        low, high = estimate.interval(0.95)
        assert (low <= exact + 1e-6).all(axis=None)
        assert (high >= exact - 1e-6).all(axis=None)
        assert (estimate.half_width(0.95) < 1e-3).all()


def test_columns_of_all_kinds_together():
    """Integers, booleans, wide integers, nullable and arrow columns, floats far from zero: pandas' matrices to the grid's resolution."""
    generator = np.random.default_rng(4)
    shared = generator.normal(size=400)
    frame = pd.DataFrame(
        {
            "small": np.clip(np.round(shared * 2 + 5), 0, 9).astype("int8"),
            "flag": shared + generator.normal(size=400) > 0,
            "wide": pd.Series(np.clip((shared * 2**60), -(2**62), 2**62).astype("int64")),
            "nullable": pd.array(np.where(generator.random(400) < 0.1, None, np.round(generator.normal(size=400) * 9)), dtype="Float64"),
            "arrow": pd.Series(generator.random(400) + 2.0**30, dtype="double[pyarrow]"),
        }
    )
    bounds = {"small": (0, 9), "flag": (0, 1), "wide": (-(2**62), 2**62), "nullable": (-40, 40), "arrow": (2.0**30, 2.0**30 + 1)}
    domains, design, totals = parts(frame, bounds)
    complete = pd.DataFrame({name: frame[name].astype("Float64") for name in frame}).dropna().astype(float)
    cov = CovarianceEstimate(tuple(totals), design, Fraction(1), domains).value
    np.testing.assert_allclose(CorrelationEstimate(tuple(totals), design, Fraction(1)).value, complete.corr(), atol=1e-5)
    spread = complete.std().to_numpy()
    np.testing.assert_allclose(cov / np.outer(spread, spread), complete.corr(), atol=1e-5)


def garbage(columns, seed):
    generator = np.random.default_rng(seed)
    frame, bounds = table(int(generator.integers(0, 40)), columns, seed)
    domains, design, totals = parts(frame, bounds)
    size = [design.sensitivity, design.sensitivity * 100, 10**400, 1][seed % 4]
    noise = [int(size * Fraction(float(generator.normal()))) for _ in totals]
    return domains, design, tuple(a + b for a, b in zip(totals if seed % 3 else [0] * len(totals), noise, strict=True)), Fraction(size)


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 7])
def test_whatever_the_noise(columns):
    """48 releases of garbage: correlation matrices are valid, covariance matrices finite and semidefinite within their range, intervals hold the value."""
    for seed in range(48 if columns < 5 else 12):
        domains, design, noisy, scale = garbage(columns, seed)
        corr = CorrelationEstimate(noisy, design, scale)
        value = corr.value
        assert (value == value.T).all()
        assert (np.diag(value) == 1).all()
        assert np.abs(value).max() <= 1
        assert np.linalg.eigvalsh(value)[0] >= -1e-9
        cov = CovarianceEstimate(noisy, design, scale, domains)
        assert np.linalg.eigvalsh(cov.value)[0] >= -1e-9 * 5000
        assert np.diag(cov.value).min() >= 0
        assert np.abs(cov.value).max() <= 5000 * (1 + 1e-12), "of two values at the bounds 0 and 100"
        for estimate in (corr, cov):
            low, high = estimate.interval(0.9)
            assert np.isfinite([low, high]).all()
            assert ((low <= estimate.value) & (estimate.value <= high)).all()
        assert (cov.interval(0.9)[0].diagonal() >= 0).all()
        assert (cov.value == cov.value.T).all()
        assert np.isfinite([corr.half_width(1 - 2**-53), corr.half_width(1e-9), cov.half_width(1 - 2**-53)]).all()


def test_bounds_whose_squares_overflow_stay_finite():
    """Covariances of bounds of 2**900 saturate; correlations are as ever."""
    frame = pd.DataFrame({"a": [-1e270, 1e270, 0.0], "b": [1e270, -1e270, 3.0]})
    domains, design, totals = parts(frame, {"a": (-1e270, 1e270), "b": (-1e270, 1e270)})
    cov = CovarianceEstimate(tuple(totals), design, Fraction(1), domains)
    assert np.isfinite([cov.value, *cov.interval(0.9), cov.half_width(0.9)]).all()
    assert CorrelationEstimate(tuple(totals), design, Fraction(1)).value[0, 1] == pytest.approx(-1)


def test_nothing_there_is_the_whole_range():
    """Without mass intervals are all that bounded values can have, and the matrices plain ones."""
    frame, bounds = table(0, 3)
    domains, design, totals = parts(frame, bounds)
    corr = CorrelationEstimate(tuple(totals), design, Fraction(design.sensitivity))
    assert (corr.value == np.eye(3)).all()
    low, high = corr.interval(0.9)
    assert low[0, 1] == -1
    assert high[0, 1] == 1
    low, high = CovarianceEstimate(tuple(totals), design, Fraction(design.sensitivity), domains).interval(0.9)
    assert (high == 5000).all()
    assert (low[~np.eye(3, dtype=bool)] == -5000).all()


def skewed(rows):
    generator = np.random.default_rng(3)
    values = generator.exponential(8, rows)
    return pd.DataFrame({"c0": values.clip(0, 100), "c1": (values + generator.exponential(8, rows)).clip(0, 100)}), {
        "c0": (0, 100),
        "c1": (0, 100),
    }


CASES = {
    "plain": (*table(2000, 2), 1, 300),
    "few rows": (*table(30, 2), 20, 300),
    "skewed": (*skewed(3000), 1, 300),
    "three columns": (*table(3000, 3), 1, 150),
}
LEVEL, LEAST = 0.8, {300: 205, 150: 95}


def covered(case, factor):
    """Return how often each entry of both matrices lies in its interval."""
    frame, bounds, epsilon, releases = CASES[case]
    domains, design, totals = parts(frame, bounds)
    scale = Fraction(design.sensitivity, epsilon)
    noise = discrete_laplace(scale * factor)
    above = np.triu_indices(len(domains))
    hits = []
    for _ in range(releases):
        noisy = tuple(total + noise.draw() for total in totals)
        row = []
        for estimate, exact in (
            (CovarianceEstimate(noisy, design, scale, domains), frame.cov()),
            (CorrelationEstimate(noisy, design, scale), frame.corr()),
        ):
            low, high = estimate.interval(LEVEL)
            row.append(((low - 1e-6 <= exact) & (exact <= high + 1e-6)).to_numpy()[above])
        hits.append(np.concatenate(row))
    return np.sum(hits, axis=0), releases


@pytest.mark.parametrize("case", CASES)
def test_intervals_cover(case):
    """N = 300 releases (150 of three columns): every entry's 80 % intervals cover it at least 205 (95) times, which a true 0.8 fails with a probability below 1e-6 by the
    binomial, and a true 0.54 (0.43) passes with less than 1e-6.
    """
    hits, releases = covered(case, 1)
    assert (hits >= LEAST[releases]).all(), hits


def test_intervals_with_too_much_noise_do_not_cover():
    """The twin: with noise three times as wide as the intervals believe, an entry falls below what the test demands."""
    hits, releases = covered("plain", 3)
    assert hits.min() < LEAST[releases], hits


WEIGHTS = [(1, 1, 1, 1), (1,) * 12, (4, 3, 2, 1, 1), (9, 1, 1, 1, 1, 1), (-3, 3, 2, -2, 0, 0, 1), (5, 5, 5, 5, 1, 1, 1, 1, 1, 1, 1, 1)]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_quantiles_of_many_noises(weights):
    """The half width is the quantile by exact convolution of the probabilities (scale 20), never less, and at most 5 % and the sum of the weights more."""
    scale = Fraction(20)
    q = math.exp(-1 / 20)
    chances = np.ones(1)
    for weight in filter(None, map(abs, weights)):
        ks = np.arange(-900, 901)
        pmf = np.zeros(2 * 900 * weight + 1)
        pmf[(ks + 900) * weight] = (1 - q) / (1 + q) * q ** np.abs(ks)
        size = len(chances) + len(pmf) - 1
        chances = np.maximum(np.fft.irfft(np.fft.rfft(chances, size) * np.fft.rfft(pmf, size), size), 0)
    middle = len(chances) // 2
    inside = chances[middle] + np.concatenate([[0], 2 * np.cumsum(chances[middle + 1 :])])
    for level in (0.1, 0.5, 0.8, 0.95, 0.999, 1 - 1e-6):
        exact = int(np.searchsorted(inside, level))
        found = many_half_width(weights, scale, level)
        assert exact <= found + 1e-6
        assert found <= 1.05 * exact + sum(map(abs, weights)) + 1


def test_quantiles_at_the_ends():
    """No weights, up to three (the exact mixture), tiny ones beside a large one at an extreme level, large and small sizes."""
    assert many_half_width([0.0] * 9, Fraction(5), 0.9) == 0
    lone = discrete_laplace(Fraction(1000)).half_width(1 - 1e-9)
    assert lone <= many_half_width([1, 1e-3, 1e-3, 1e-3], Fraction(1000), 1 - 1e-9) <= 1.5 * lone
    plain = many_half_width([1.0, 2.0, 3.0, 4.0], Fraction(10**6), 0.9)
    for power in (-150, -20, 20, 150):
        scaled = many_half_width([10.0**power * weight for weight in (1, 2, 3, 4)], Fraction(10**6), 0.9)
        assert scaled == pytest.approx(10.0**power * plain, rel=1e-9)


def test_wider_weights_make_wider_quantiles():
    """Larger weights never make the half width smaller, beyond a part in 10**4: what lets intervals take the largest weight each."""
    generator = np.random.default_rng(5)
    for _ in range(100):
        weights = generator.normal(size=7)
        wider = weights * generator.uniform(1, 1.5, 7)
        for level in (0.5, 0.95):
            assert many_half_width(weights, Fraction(100), level) <= many_half_width(wider, Fraction(100), level) * 1.0001


@pytest.mark.parametrize(("columns", "rmse"), [(2, 0.0025), (5, 0.0154)])
def test_utility(columns, rmse):
    """RMSE of a correlation at ε = 1 over 300 releases of 20 000 rows, whose bounds are 4 standard deviations from the mean, to a quarter (6 standard errors)."""
    frame, bounds = table(20_000, columns)
    _, design, totals = parts(frame, bounds)
    scale = Fraction(design.sensitivity)
    noise = discrete_laplace(scale)
    exact = frame.corr().to_numpy()
    above = np.triu_indices(columns, 1)
    found = [CorrelationEstimate(tuple(total + noise.draw() for total in totals), design, scale).value for _ in range(300)]
    errors = [(value - exact)[above] for value in found]
    assert math.sqrt(np.mean(np.square(errors))) == pytest.approx(rmse, rel=0.25)
