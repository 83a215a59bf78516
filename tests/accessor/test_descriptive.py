"""The rest of describe(): as pandas at huge ε, private on adversarial neighbours, priced as told."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from support import certified_loss, protect

import pandas_dp
from pandas_dp import BoundsError, ColumnError, KeysError, ParameterError, UnsupportedDtype
from pandas_dp.datasets import Visits, visits
from pandas_dp.noise.quantiles import extreme_rank, rank_error
from pandas_dp.testing import unsafe_seeded_noise

BIG = 10_000
SIDE = 1_500
WARDS = ["north", "south", "east", "west"]


def table(**options):
    return protect(visits(), schema=Visits, **options)


STATISTICS = ("var", "std", "median", "min", "max", "iqr")


def pandas_of(series, name):
    return series.quantile(0.75) - series.quantile(0.25) if name == "iqr" else getattr(series, name)()


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "int8", "int64", "uint64", "Int64", "Float64", "bool", "int64[pyarrow]", "double[pyarrow]"]
)
def test_as_pandas_on_every_dtype(name, dtype):
    """At huge ε every statistic equals pandas' on the clamped values (odd numbers of them, so that a median is one of them)."""
    values = ([True, False, True, True, True] if dtype == "bool" else [1, 3, 4, 9, 2]) * 201
    column = pd.Series(values, dtype=dtype)
    bounds = (0, 1) if dtype == "bool" else (0, 7)
    found = getattr(protect(column.to_frame("x"))["x"].dp, name)(bounds=bounds, epsilon=BIG)
    assert float(found) == pytest.approx(float(pandas_of(column.astype(float).clip(*bounds), name)), abs=0.02)


@pytest.mark.parametrize("name", STATISTICS)
def test_missing_values_are_skipped(name):
    """NaN contributes nothing, infinities are clamped: the answers are those of the values that are there."""
    raw = pd.DataFrame({"x": [math.nan, 2.0, math.inf, math.nan, 1.0, -math.inf, 3.0] * 201})
    found = getattr(protect(raw).dp, name)("x", bounds=(0, 10), epsilon=BIG)
    assert float(found) == pytest.approx(float(pandas_of(raw["x"].dropna().clip(0, 10), name)), abs=0.02)


@pytest.mark.parametrize("name", STATISTICS)
def test_frames_views_and_groups(name):
    """The same statistic of a frame's columns, of a view and by group: labels as pandas has them, values too."""
    df, raw = table(), visits()
    several = getattr(df.dp, name)(["age", "charge"], epsilon=BIG)
    assert several.index.tolist() == ["age", "charge"]
    tolerance = {"rel": 0.02, "abs": 1}
    assert several["age"] == pytest.approx(pandas_of(raw["age"], name), **tolerance)
    view = getattr(df.dp.where("age >= 65").assign(monthly="charge / 12"), name)("monthly", epsilon=BIG)
    assert view == pytest.approx(pandas_of(raw.loc[raw["age"] >= 65, "charge"] / 12, name), **tolerance)
    grouped = getattr(df.dp.groupby("ward")["age"], name)(epsilon=BIG)
    assert grouped.index.tolist() == WARDS
    assert grouped.name == "age"
    expected = raw.groupby("ward")["age"].apply(lambda ages: pandas_of(ages, name)).loc[WARDS]
    assert grouped.to_numpy(dtype=float) == pytest.approx(expected.to_numpy(dtype=float), **tolerance)


def test_ddof():
    """ddof is pandas': 1 by default, 0 for the population."""
    raw = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    for ddof in (0, 1, 2):
        assert protect(raw).dp.var("x", bounds=(0, 5), ddof=ddof, epsilon=BIG) == pytest.approx(raw["x"].var(ddof=ddof), rel=0.01)
        assert protect(raw).dp.std("x", bounds=(0, 5), ddof=ddof, epsilon=BIG) == pytest.approx(raw["x"].std(ddof=ddof), rel=0.01)
    for wrong in (-1, 1.5, True, "1"):
        with pytest.raises(ParameterError, match="ddof"):
            protect(raw).dp.var("x", bounds=(0, 5), ddof=wrong, epsilon=1)


def test_several_quantiles():
    """Several quantiles in one charge are monotone and laid out as in pandas, at any ε; repeated ones are equal."""
    df, raw = table(), visits()
    qs = [0.1, 0.25, 0.5, 0.75, 0.9]
    found = df.dp.quantile("charge", qs, epsilon=BIG)
    assert found.index.tolist() == qs
    assert np.allclose(found, raw["charge"].quantile(qs), rtol=1e-2)
    for epsilon in (0.001, 0.01, 0.1):
        noisy = df.dp.quantile("charge", qs, epsilon=epsilon)
        assert noisy.is_monotonic_increasing
        assert noisy.between(0, 50_000).all()
    frame = df.dp.quantile(["age", "charge"], qs, epsilon=BIG)
    assert frame.index.tolist() == qs
    assert frame.columns.tolist() == ["age", "charge"]
    by_ward = df.dp.groupby("ward").quantile("age", [0.25, 0.75], epsilon=BIG)
    assert by_ward.columns.tolist() == [0.25, 0.75]
    twice = df.dp.quantile("age", [0.5, 0.5], epsilon=1)
    assert twice.iloc[0] == twice.iloc[1]
    for wrong in (-0.1, 1.1, -1, [-1, 0.5], Fraction(-1, 2), np.int64(-1), "x", [], [0.5, 2], math.nan, 1 / 3, None):
        with pytest.raises(ParameterError):
            df.dp.quantile("age", wrong, epsilon=1)


def test_ties_and_constants():
    """Columns of one value, or of 90 % one value, have it as their quantiles at moderate ε."""
    same = protect(pd.DataFrame({"x": [7.0] * 20_000}))
    assert same.dp.median("x", bounds=(0, 10), epsilon=0.5) == pytest.approx(7, abs=1e-6)
    assert same.dp.quantile("x", [0.25, 0.5, 0.75], bounds=(0, 10), epsilon=0.5).to_numpy() == pytest.approx(7, abs=1e-6)
    mostly = protect(pd.DataFrame({"x": [7] * 18_000 + [1] * 1000 + [9] * 1000}))
    assert mostly.dp.quantile("x", [0.25, 0.5, 0.75], bounds=(0, 10), epsilon=0.5).tolist() == [7, 7, 7]


def test_dates_and_durations():
    """Medians, extremes and spans of dates are dates and durations, in the column's time zone."""
    dates = pd.Series(pd.to_datetime(["2024-01-01", "2024-03-01", "2024-12-01"]).tz_localize("Europe/Paris"))
    dp = protect(dates.to_frame("t")).dp
    bounds = ("2024-01-01", "2025-01-01")
    assert dp.median("t", bounds=bounds, epsilon=BIG) == dates.median()
    assert dp.min("t", bounds=bounds, epsilon=BIG) == dates.min()
    assert dp.iqr("t", bounds=bounds, epsilon=1) >= pd.Timedelta(0)
    with pytest.raises(UnsupportedDtype, match="var"):
        dp.var("t", bounds=bounds, epsilon=1)
    spans = protect(pd.DataFrame({"d": pd.to_timedelta([1, 2, 9], unit="h"), "g": True}))
    limits = (pd.Timedelta(0), pd.Timedelta("10h"))
    assert spans.dp.max("d", bounds=limits, epsilon=BIG) == pd.Timedelta("9h")
    assert spans.dp.groupby("g").median("d", bounds=limits, epsilon=BIG).iloc[1] == pd.Timedelta("2h")
    assert spans.dp.describe("d", bounds=limits, epsilon=BIG)["50%"] == pd.Timedelta("2h")


def test_describe():
    """describe() has pandas' layout, for a frame, a column, a Series and by group; one charge for all."""
    df, raw = table(), visits()
    found = df.dp.describe(["age", "charge"], epsilon=BIG)
    expected = raw[["age", "charge"]].describe()
    assert found.index.tolist() == expected.index.tolist()
    assert np.allclose(found, expected, rtol=0.05)
    spent = df.dp.session.spent
    assert df.dp.describe("age", epsilon="0.5").index.tolist() == expected.index.tolist()
    assert df["age"].dp.describe(epsilon="0.5").index.tolist() == expected.index.tolist()
    assert df.dp.session.spent - spent == 1
    assert df.dp.session.ledger["mechanism"].iloc[-1] == "discrete Laplace, exponential"
    assert df.dp.session.ledger["query"].iloc[-1] == "describe('age' in [0, 110])"
    by_ward = df.dp.groupby("ward")["age"].describe(epsilon=BIG)
    assert by_ward.columns.tolist() == expected.index.tolist()
    assert by_ward.index.tolist() == WARDS
    assert df.dp.describe(epsilon=1).columns.tolist() == ["patient_id", "age", "smoker", "charge"]
    mixed = df.dp.agg({"age": ["count", "median", "max"], "charge": ["iqr", "mean"]}, epsilon=BIG)
    assert mixed.loc["median", "age"] == raw["age"].median()


COSTS = {
    "median": (lambda dp: dp.median("age", epsilon="0.4"), Fraction(16, 100) / 8, "exponential"),
    "quartiles": (lambda dp: dp.quantile("age", [0.25, 0.5, 0.75], epsilon="0.4"), Fraction(16, 100) / 8, "exponential"),
    "std": (lambda dp: dp.std("age", epsilon="0.4"), Fraction(16, 100) / 2, "discrete Laplace"),
    "describe": (
        lambda dp: dp.describe("age", epsilon="0.4"),
        Fraction(1, 100) / 2 + 3 * Fraction(1, 100) / 8,
        "discrete Laplace, exponential",
    ),
    "two columns": (lambda dp: dp.mean(["age", "charge"], epsilon="0.4"), 2 * Fraction(4, 100) / 2, "discrete Laplace"),
    "mode": (lambda dp: dp.mode("ward", epsilon="0.4"), Fraction(16, 100) / 2, "discrete Laplace"),
}


@pytest.mark.parametrize("name", COSTS)
def test_what_it_costs(name):
    """ε is what was typed; ρ is ε²/2 of noise and ε²/8 of a choice, each of its share (case B10: what is charged matches the mechanism)."""
    ask, rho, mechanism = COSTS[name]
    df = table(delta=1e-6)
    ask(df.dp)
    entry = df.dp.session.ledger.iloc[-1]
    assert (entry["epsilon"], entry["rho"], entry["mechanism"]) == (Fraction(4, 10), rho, mechanism)


def test_prices_of_choices():
    """A choice can be priced by ρ (ε = √(8ρ)) and by ranks, and never by the Gaussian mechanism; describe() under ρ mixes Gaussian noise and choices."""
    df = visits().dp.protect(rho=1, schema=Visits)
    df.dp.median("age", rho="0.02")
    entry = df.dp.session.ledger.iloc[-1]
    assert entry["rho"] == Fraction(2, 100)
    assert float(entry["epsilon"]) == pytest.approx(0.4)
    df.dp.describe("age", rho="0.02")
    assert df.dp.session.ledger["mechanism"].iloc[-1] == "discrete Gaussian, exponential"
    for mechanism in ("gaussian", "laplace"):
        with pytest.raises(ParameterError, match="exponential mechanism"):
            df.dp.median("age", rho="0.02", mechanism=mechanism)
    pure = visits().dp.protect(epsilon=5, schema=Visits)
    answer = pure.dp.median("age", within=100)
    assert answer.half_width() <= 100
    assert pure.dp.preview.median("age", epsilon=answer.epsilon * Fraction(95, 100)).half_width > 100


def test_how_the_error_of_a_quantile_is_told():
    """The ± of a quantile is in ranks and holds; the interval is the bounds, for values nearby are private.

    N = 400 medians at ε = 0.05, of which 356 have to be within the ± of the true rank: a true 0.95 fails with a probability of 5e-7 by the binomial, and a true 0.8 is caught with
    0.999998. A fortieth of the ±, the twin, holds for about a third.
    """
    df, raw = table(), visits()
    ages = np.sort(raw["charge"].dropna().to_numpy())
    answers = [df.dp.median("charge", epsilon=0.05) for _ in range(400)]
    margin = answers[0].half_width()
    assert repr(margin).endswith(" ranks")
    assert f"± {margin}" in repr(answers[0])
    off = [abs(np.searchsorted(ages, float(answer)) - len(ages) / 2) for answer in answers]
    assert sum(distance <= int(margin) for distance in off) >= 356
    assert sum(distance <= int(margin) // 40 for distance in off) < 356
    assert answers[0].interval() == (0.0, 50_000.0)
    assert int(margin) == rank_error(
        answers[0].release.estimates[0].estimator.domain.grid.last, 1, Fraction(1, 2), Fraction(1, 20), 1, level=0.95
    )


def test_extremes_aim_inwards():
    """min and max aim at the t-th value from the end, t public: with few rows they tend to the other bound, and the ± says how many rows are beyond."""
    df = protect(pd.DataFrame({"x": np.arange(100_000) / 100_000}))
    t = extreme_rank(2**30 - 1, Fraction(1), 1)
    found = [df.dp.max("x", bounds=(0, 1), epsilon=1) for _ in range(50)]
    assert abs(np.median([100_000 - float(one) * 100_000 for one in found]) - t) < 20
    assert found[0].half_width() >= t
    few = protect(pd.DataFrame({"x": [0.1, 0.9]}))
    assert 0 <= few.dp.min("x", bounds=(0, 1), epsilon=0.01) <= 1


BLACK_BOX = {
    "variance of a constant and one far away": (lambda dp: dp.var("x", bounds=(0, 1), epsilon=1), [0.0] * 3, [0.0, 0.0, 0.0, 1e300]),
    "variance of nothing and of one value": (lambda dp: dp.var("x", bounds=(0, 1), epsilon=1), [], [1.0]),
    "median of nothing and of one value": (lambda dp: dp.median("x", bounds=(0, 4), epsilon=1), [], [4]),
    "median of two and of three": (lambda dp: dp.median("x", bounds=(0, 4), epsilon=1), [0, 4], [0, 4, 4]),
    "minimum of a constant and one below": (lambda dp: dp.min("x", bounds=(0, 40), epsilon=1), [40] * 20, [*[40] * 20, 0]),
    "quartiles": (lambda dp: dp.iqr("x", bounds=(0, 4), epsilon=1), [1, 2, 3], [1, 2, 3, 4]),
    "missing and present": (lambda dp: dp.std("x", bounds=(0, 1), epsilon=1), [0.0, math.nan], [0.0, 1.0]),
    "bounds": (lambda dp: dp.bounds("x", epsilon=1)[1], [1.0] * 12, [*[1.0] * 12, 1e9]),
    "clamping rate": (lambda dp: dp.clamping_rate("x", bounds=(0, 1), epsilon=1), [0.5], [0.5, 7.0]),
    "nunique": (lambda dp: dp.nunique("k", keys=["a", "b"], epsilon=1), [0.5], [0.5, 0.6]),
}


@pytest.mark.parametrize("case", BLACK_BOX)
def test_black_box(case):
    """N = 1500 answers a side on adversarial neighbours prove no loss above ε = 1 (false alarm below 1e-6); half of the noise is found in 300 of 300 simulated runs, and in the twin."""
    ask, left, right = BLACK_BOX[case]
    whole = isinstance((left + right)[0], int)
    sides = []
    for values in (left, right):
        raw = pd.DataFrame(
            {"x": pd.Series(values, dtype="int64" if whole else "float64"), "k": ["a", "b"][: len(values)] if len(values) < 3 else "a"}
        )
        dp = protect(raw).dp
        sides.append([float(ask(dp)) for _ in range(SIDE)])
    assert certified_loss(*sides) <= 1


def test_black_box_catches_too_little():
    """The twin: with half of the noise, ε = 2, a loss of more than 1 is proved at the same N."""
    ask = lambda dp: dp.nunique("k", keys=["a", "b"], epsilon=2)  # noqa: E731
    sides = []
    for keys in (["a"], ["a", "b"]):
        dp = protect(pd.DataFrame({"k": keys})).dp
        sides.append([float(ask(dp)) for _ in range(SIDE)])
    assert certified_loss(*sides) > 1


def test_matrices():
    """cov and corr of several columns equal pandas' on complete rows at huge ε; the matrix is symmetric, with ones on the diagonal; intervals have its shape."""
    df, raw = table(), visits()
    columns = ["age", "charge", "smoker"]
    complete = raw[columns].dropna().astype(float)
    cov = df.dp.cov(columns, epsilon=BIG)
    assert cov.index.tolist() == cov.columns.tolist() == columns
    assert np.allclose(cov, complete.cov(), rtol=0.01, atol=1)
    corr = df.dp.corr(columns, epsilon=BIG)
    assert np.allclose(corr, complete.corr(), atol=0.01)
    for epsilon in (0.001, 0.1):
        noisy = df.dp.corr(columns, epsilon=epsilon)
        assert np.allclose(np.diag(noisy), 1)
        assert np.array_equal(noisy, noisy.T)
        assert np.linalg.eigvalsh(noisy).min() > -1e-9
        low, high = df.dp.session.releases[-1].interval(0.9)
        assert (low <= noisy).all().all()
        assert (noisy <= high).all().all()
    assert df.dp.session.ledger["query"].iloc[-1] == "corr('age' in [0, 110], 'charge' in [0, 50000], 'smoker' in [0, 1])"
    assert df.dp.where("age >= 65").corr(["age", "charge"], epsilon=1).shape == (2, 2)
    assert df.dp.corr(epsilon=1).shape == (4, 4)
    assert "4 columns by as many" in repr(df.dp.session.releases[-1])


def test_matrices_of_people(monkeypatch):
    """Grey box: a person of many rows moves the cells of a matrix by at most the sensitivity of max_rows of them."""
    from pandas_dp.release import noisy
    from pandas_dp.release import path as release

    seen = []

    class Recorder:
        def __init__(self, scale):
            self.scale = scale

        def draw(self):
            return 0

    real = noisy.noisy
    monkeypatch.setattr(noisy, "discrete_laplace", Recorder)
    monkeypatch.setattr(
        release, "noisy", lambda exact, noise, groups: seen.append((real(exact, noise, groups), noise.scale)) or seen[-1][0]
    )
    generator = np.random.default_rng(5)
    for _ in range(50):
        raw = pd.DataFrame(
            {
                "who": generator.integers(0, 4, 40),
                "x": generator.choice([0.0, 1.0, 0.5, np.nan, 9.0], 40),
                "y": generator.integers(0, 5, 40),
            }
        )
        seen.clear()
        for part in (raw, raw[raw["who"] != 0]):
            protect(part, unit="who", max_rows=2).dp.cov(["x", "y"], bounds={"x": (0, 1), "y": (0, 4)}, epsilon=1)
        (left, scale), (right, same) = seen
        assert scale == same
        assert sum(abs(a - b) for a, b in zip(left, right, strict=True)) <= scale


def test_wrong_matrices():
    """A column twice, too many columns, dates for cov and Gaussian noise are errors before the charge."""
    df = protect(pd.DataFrame({f"c{place}": [1.0] for place in range(30)}), delta=1e-6)
    for ask in (
        lambda: df.dp.cov(["c0", "c0"], bounds=(0, 1), epsilon=1),
        lambda: df.dp.corr(bounds=(0, 1), epsilon=1),
        lambda: df.dp.cov(["c0"], bounds=(0, 1), ddof=-1, epsilon=1),
        lambda: df.dp.corr(["c0", "c1"], bounds=(0, 1), rho=0.1),
    ):
        with pytest.raises(ParameterError):
            ask()
    with pytest.raises(ColumnError):
        df.dp.cov(["nowhere"], bounds=(0, 1), epsilon=1)
    assert df.dp.session.spent == 0


def test_keys():
    """mode and nlargest are the largest noisy counts; nunique counts the declared keys that occur, with the noise of a count."""
    df, raw = table(), visits()
    assert df.dp.mode("ward", epsilon=10) == raw["ward"].mode()[0]
    top = df.dp.nlargest(2, "ward", epsilon=BIG)
    assert top.to_dict() == raw["ward"].value_counts().head(2).to_dict()
    assert df.dp.nunique("ward", epsilon=BIG) == 4
    assert df.dp.nunique("ward", keys=["north", "nowhere"], epsilon=BIG) == 1
    assert df[df["ward"] == "north"].dp.nunique("ward", epsilon=BIG) == 1
    assert df.iloc[:0].dp.nunique("ward", epsilon=BIG) == 0
    df.dp.nunique("ward", epsilon=1)
    assert df.dp.session.ledger["scale"].iloc[-1] == 1
    with pytest.raises(KeysError):
        protect(raw).dp.nunique("ward", epsilon=1)
    with pytest.raises(KeysError):
        df.dp.nunique("ward", keys="private", epsilon=1)
    people = protect(raw, unit="patient_id", max_rows=3)
    people.dp.nunique("ward", keys=WARDS, epsilon=1)
    assert people.dp.session.ledger["scale"].iloc[-1] == 3


def test_keys_and_bounds_of_a_series():
    """A Series answers for its own keys and bounds as its frame does."""
    df, raw = table(), visits()
    counts = df["ward"].dp.value_counts(epsilon=BIG)
    assert counts.to_dict() == raw["ward"].value_counts().to_dict()
    assert counts.is_monotonic_decreasing
    assert df["ward"].dp.value_counts(normalize=True, sort=False, epsilon=1).index.tolist() == WARDS
    assert df["ward"].dp.mode(epsilon=10) == raw["ward"].mode()[0]
    assert df["ward"].dp.nunique(epsilon=BIG) == 4
    assert df["smoker"].dp.value_counts(epsilon=BIG).sum() == len(raw)
    unknown = protect(pd.DataFrame({"x": [3.0] * 500 + [900.0] * 500}))
    with unsafe_seeded_noise(1):
        assert unknown["x"].dp.bounds(epsilon=1) == (2.0, 1024.0)
    assert unknown["x"].dp.clamping_rate(bounds=(0, 10), epsilon=1) == pytest.approx(0.5, abs=0.05)
    unknown["x"].dp.bounds(remember=True, epsilon=1)
    assert 2 <= unknown["x"].dp.mean(epsilon=1) <= 1024
    with pytest.raises(KeysError):
        unknown["x"].dp.value_counts(epsilon=1)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0] * 500 + [900.0] * 500, (2.0, 1024.0)),
        ([-5.0] * 500 + [0.0] * 500, (-8.0, 2.0**-20)),
        ([0.0] * 1000, (0.0, 2.0**-20)),
        ([math.nan] * 900 + [1e5] * 500, (65536.0, 131072.0)),
    ],
)
def test_private_bounds(values, expected):
    """Powers of two around the values, at moderate ε; what few values reach is cut off; they serve as bounds=, and can be remembered."""
    df = protect(pd.DataFrame({"x": values}))
    with unsafe_seeded_noise(1):  # one bin in a hundred histograms is filled by noise alone
        found = df.dp.bounds("x", epsilon=1)
    assert found == expected
    assert isinstance(found, tuple)
    assert 0 <= found.clamped < 0.05
    assert df.dp.mean("x", bounds=found, epsilon=1) is not None
    with pytest.raises(BoundsError):
        df.dp.mean("x", epsilon=1)
    with unsafe_seeded_noise(1):
        df.dp.bounds("x", remember=True, epsilon=1)
    assert expected[0] <= df.dp.mean("x", epsilon=1) <= expected[1]
    assert df.dp.session.spent == 4


def test_private_bounds_of_integers_and_outliers():
    """Integers get integers within their dtype; a hundredth of the values far away is cut off, and clamped says how many; nothing at all still gives a pair."""
    small = protect(pd.DataFrame({"x": pd.Series([200] * 1000, dtype="uint8")}))
    few = protect(pd.DataFrame({"x": [10.0] * 2000 + [1e6] * 5}))
    with unsafe_seeded_noise(1):
        assert small.dp.bounds("x", epsilon=1) == (128, 255)
        assert small.dp.mean("x", bounds=small.dp.bounds("x", epsilon=1), epsilon=1) > 128
        found = few.dp.bounds("x", epsilon=1)
    assert found == (8.0, 16.0)
    empty = protect(pd.DataFrame({"x": pd.Series([], dtype=float)}))
    low, high = empty.dp.bounds("x", epsilon=1)
    assert low < high
    with pytest.raises(UnsupportedDtype, match="bounds of column 't'"):
        protect(pd.DataFrame({"t": ["a"]})).dp.bounds("t", epsilon=1)
    with pytest.raises(ColumnError):
        few.dp.where("x > 0").assign(y="x * 2").bounds("y", remember=True, epsilon=1)
    assert few.dp.session.spent == 1


def test_bounds_of_integers_are_never_reversed():
    """Pure noise on every integer dtype still gives an ascending pair that the dtype holds (20 draws each)."""
    for dtype in ("uint8", "int8", "int64", "uint64", "bool", "Int16"):
        df = protect(pd.DataFrame({"x": pd.Series([1, 0, 1], dtype=dtype)}))
        for _ in range(20):
            low, high = df.dp.bounds("x", epsilon=0.1)
            assert low < high
            df.dp.mean("x", bounds=(low, high), epsilon=1)


def test_remembered_bounds_are_a_default():
    """Remembered bounds serve where none are given; a call may give others, wider ones too, and a later estimate takes their place."""
    df = protect(pd.DataFrame({"x": np.linspace(1, 51, 20_000)}))
    df.dp.bounds("x", epsilon=0.0001, remember=True)
    with unsafe_seeded_noise(1):
        assert df.dp.bounds("x", epsilon=5, remember=True) == (1, 64)
    assert df.dp.mean("x", epsilon=1) == pytest.approx(26, abs=1)
    assert df.dp.mean("x", bounds=(0, 100), epsilon=1) == pytest.approx(26, abs=1)
    infinite = protect(pd.DataFrame({"x": [1.0] * 2000 + [math.inf] * 2000}))
    with unsafe_seeded_noise(1):
        found = infinite.dp.bounds("x", epsilon=1)
    assert found.clamped == pytest.approx(0.5, abs=0.05)


def test_bounds_use_their_own_answer():
    """Threads that ask other things meanwhile do not come between bounds() and its histogram (100 rounds; no bin that noise alone fills can exclude the value)."""
    import sys
    import threading

    df = protect(pd.DataFrame({"x": [3.0] * 5000}))
    stop = threading.Event()

    def others():
        while not stop.is_set():
            df.dp.count(epsilon=0.001)

    threads = [threading.Thread(target=others) for _ in range(3)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for _ in range(100):
            low, high = df.dp.bounds("x", epsilon=1)
            assert low <= 2.0
            assert high >= 4.0
            assert 0 <= df.dp.clamping_rate("x", bounds=(0, 10), epsilon=1) < 0.1
    finally:
        stop.set()
        sys.setswitchinterval(before)
        for thread in threads:
            thread.join()


def test_the_dtype_of_a_table_is_public():
    """Sums and extremes of columns with bounds up to 2**64 are floats in a Series whatever they are; of small ones integers (20 draws each)."""
    df = protect(pd.DataFrame({"v": pd.Series([1, 2**64 - 1], dtype="uint64"), "w": [1, 2]}))
    for ask in (lambda: df.dp.sum(["v"], bounds=(0, 2**64 - 1), epsilon=1), lambda: df.dp.max(["v"], bounds=(0, 2**64 - 1), epsilon=1)):
        assert {str(ask().dtype) for _ in range(20)} == {"float64"}
    assert {str(df.dp.describe("v", bounds=(0, 2**64 - 1), epsilon=1).dtype) for _ in range(20)} == {"float64"}
    assert df.dp.sum(["w"], bounds=(0, 5), epsilon=1).dtype == np.int64


ODD = {
    "columns": lambda df: df.dp.describe(df.columns, epsilon=1),
    "an array of columns": lambda df: df.dp.describe(np.array(["x"]), epsilon=1),
    "a set": lambda df: df.dp.describe({"x"}, epsilon=1),
    "a nested list": lambda df: df.dp.describe([["x"]], bounds=(0, 1), epsilon=1),
    "bounds in a dict, columns in an index": lambda df: df.dp.mean(df.columns, bounds={"x": (0, 1)}, epsilon=1),
    "a Series as mechanism": lambda df: df.dp.count(epsilon=1, mechanism=pd.Series(["laplace"])),
    "an array as unique": lambda df: df.dp.count(unique=np.array([1, 2]), epsilon=1),
    "NA as unique": lambda df: df.dp.count(unique=pd.NA, epsilon=1),
    "an array as within": lambda df: df.dp.count(within=np.array([1, 2])),
    "a frame as within": lambda df: df.dp.count(within=pd.DataFrame({"a": [1]})),
    "an array as remember": lambda df: df.dp.bounds("x", remember=np.array([1, 0]), epsilon=1),
    "an array as n": lambda df: df.dp.nlargest(np.array([1, 2]), "x", epsilon=1),
    "a class as n": lambda df: df.dp.nlargest(int, "x", epsilon=1),
    "an array as queries": lambda df: pd.DataFrame({"a": [1]}).dp.protect(epsilon=1, queries=np.array([1, 2])),
    "a class as queries": lambda df: pandas_dp.Session(epsilon=1, queries=int),
    "a class as shares": lambda df: df.dp.session.split(int),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_arguments_have_errors_of_their_own(case):
    """Arguments of a plausible wrong kind are named in a typed error before the charge, never "unforeseen"."""
    df = protect(pd.DataFrame({"x": [1.0]}))
    with pytest.raises(pandas_dp.DPError) as caught:
        ODD[case](df)
    assert not isinstance(caught.value, pandas_dp.ComputationFailed)
    assert df.dp.session.spent == 0


def test_rows_for_agg():
    """agg takes rows= for a price by accuracy, as its preview does."""
    df = protect(pd.DataFrame({"x": [0.5] * 100}))
    df.dp.agg({"x": "mean"}, bounds=(0, 1), within=0.1, rows=100)
    df["x"].dp.agg("mean", bounds=(0, 1), within=0.1, rows=100)
    assert df.dp.session.ledger["epsilon"].nunique() == 1


def test_clamping_rate():
    """The share of present values outside a choice of bounds, infinities included, with its ±; the choice may be wider than what is declared."""
    raw = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, math.inf, -math.inf, math.nan, 1.0] * 500})
    df = protect(raw)
    rate = df.dp.clamping_rate("x", bounds=(0, 2), epsilon=1)
    assert rate == pytest.approx(3 / 7, abs=0.02)
    assert rate.half_width() < 0.02
    assert table().dp.clamping_rate("charge", bounds=(0, 100_000), epsilon=1) == pytest.approx(0, abs=0.01)
    with pytest.raises(BoundsError):
        df.dp.clamping_rate("x", bounds=(2, 0), epsilon=1)
    assert df.dp.session.ledger["query"].iloc[-1] == "clamping_rate('x' outside [0, 2])"


def test_errors_are_before_the_charge():
    """No bounds, no such column, a wrong dtype: for every statistic an error before anything is charged."""
    df = protect(pd.DataFrame({"x": [1.0], "s": ["a"]}))
    for name in (*STATISTICS, "describe", "quantile", "cov", "corr"):
        ask = getattr(df.dp, name)
        with pytest.raises(BoundsError):
            ask("x", epsilon=1)
        with pytest.raises(ColumnError):
            ask("y", bounds=(0, 1), epsilon=1)
        with pytest.raises(UnsupportedDtype):
            ask("s", bounds=(0, 1), epsilon=1)
    assert df.dp.session.spent == 0


def test_utility_of_the_variance():
    """RMSE of a variance at ε = 0.1 over 500 releases (20 000 integers in 18..65) is what the docstring says, to a third."""
    generator = np.random.default_rng(3)
    raw = pd.DataFrame({"x": generator.integers(18, 66, 20_000)})
    series, exact = protect(raw)["x"], raw["x"].var()
    errors = [series.dp.var(bounds=(18, 65), epsilon=0.1) - exact for _ in range(500)]
    assert 0.5 < math.sqrt(np.mean(np.square(errors))) < 1.0


def test_a_session_of_dp_queries_is_pure_python_numbers():
    """Scalar answers are floats and ints that carry their release."""
    df = table()
    for ask, kind in ((df.dp.median, float), (df.dp.max, int), (df.dp.std, float)):
        answer = ask("age", epsilon=1)
        assert isinstance(answer, kind)
        assert answer.release is df.dp.session.releases[-1]
    assert pandas_dp.Epsilon(1) == df.dp.session.releases[-1].epsilon


@pytest.mark.parametrize("kind", ["frame", "series", "groups", "dates"])
def test_describe_is_in_order(kind):
    """However much noise there is, describe's minimum is at most its quartiles, and its maximum at least: 40 askings of 30 rows at ε = 0.01, of which most would cross."""
    raw = pd.DataFrame({"x": np.linspace(0, 100, 30), "g": ["a", "b", "c"] * 10, "d": pd.date_range("2024-01-01", periods=30)})
    df = protect(raw)
    for _ in range(40):
        if kind == "groups":
            found = df.dp.groupby("g", keys=["a", "b", "c", "none"])["x"].describe(bounds=(0, 100), epsilon="0.01")
            table = found["x"] if isinstance(found.columns, pd.MultiIndex) else found
        elif kind == "series":
            found = df["x"].dp.describe(bounds=(0, 100), epsilon="0.01")
            table = found.to_frame().T
        else:
            column, bounds = ("x", (0, 100)) if kind == "frame" else ("d", ("2024-01-01", "2024-12-31"))
            found = df.dp.describe([column], bounds=bounds, epsilon="0.01")
            table = found.T
        quartiles = table[["25%", "50%", "75%"]]
        assert (table["min"] <= quartiles.min(axis=1)).all()
        assert (table["max"] >= quartiles.max(axis=1)).all()
    release = df.dp.session.releases[-1]
    assert release.value.to_string() == found.to_string()
