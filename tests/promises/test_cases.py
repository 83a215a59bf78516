"""Public bug reports of other libraries about counts, sums, means, bounds, budgets and dtypes, each with the right answer.

ε = 1000 and more, so that the value shows through the noise.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from support import protect

import pandas_dp

BIG = 100_000


def schema(dtype=float, **bounds):
    import pandera.pandas as pa

    checks = [pa.Check.in_range(*bounds["between"])] if bounds else []
    return pa.DataFrameSchema({"x": pa.Column(dtype, checks, nullable=True)})


def test_b01_a_missing_value_is_skipped():
    """opendp#2935: a NaN does not turn a total into 0; it is skipped."""
    assert protect(pd.DataFrame({"x": [1.0, math.nan]})).dp.sum("x", bounds=(0, 1), epsilon=BIG) == pytest.approx(1, abs=0.01)


def test_b02_filling_with_nan_changes_nothing():
    """opendp#2936: fillna(nan) breaks no promise, because none rests on there being no NaN."""
    df = protect(pd.DataFrame({"x": [1.0, math.nan]}))
    assert df.assign(x=df.x.fillna(math.nan)).dp.sum("x", bounds=(0, 1), epsilon=BIG) == pytest.approx(1, abs=0.01)


def test_b03_no_count_is_free():
    """opendp#2938: a column that cannot have missing values is still counted with noise, and charged."""
    df = protect(pd.DataFrame({"x": ["1", "2", "oops"]}))
    number = df.assign(x=pd.to_numeric(df.x, errors="coerce"))
    counts = {int(number.dp.count("x", epsilon=0.1)) for _ in range(50)}
    assert len(counts) > 5
    assert df.dp.session.spent == 5


def test_b05_sums_do_not_wrap():
    """opendp#2925: two integers that wrap in int64 sum to about 2**63, as a Python int."""
    df = protect(pd.DataFrame({"x": [2**63 - 1, 1]}))
    total = df.dp.sum("x", bounds=(0, 2**63 - 1), epsilon=1000)
    assert 2**63 * 0.98 < total < 2**63 * 1.02


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "uint64", "Int64", "UInt64", "int64[pyarrow]", "object"])
def test_a14_one_more_row_moves_a_sum_by_its_bound(dtype):
    """Casacuberta et al.: near the end of every integer type one more row moves the noiseless sum by at most the bound, with no change of sign."""
    high = 2**62 if dtype == "object" else min(int(np.iinfo(np.dtype(dtype.split("[")[0].lower())).max), 2**62)
    values = [2**70, high] if dtype == "object" else [high, high - 1]
    answers = []
    for rows in (values, [*values, 1]):
        frame = pd.DataFrame({"x": pd.Series(rows, dtype=dtype)})
        answers.append(protect(frame, schema=schema(), enforce="clamp").dp.sum("x", bounds=(0, high), epsilon=1000))
    assert min(answers) > 0
    assert abs(answers[0] - answers[1]) < high * 1.1


def test_b08_a_text_in_a_column_declared_a_number():
    """opendp#2374: the type of the answer comes from the declaration, and a bad cell is missing."""
    clean = protect(pd.DataFrame({"x": pd.Series([1, 2, 3], dtype=object)}), schema=schema(between=(0, 5)), enforce="clamp")
    dirty = protect(pd.DataFrame({"x": pd.Series([1, 2, "x"], dtype=object)}), schema=schema(between=(0, 5)), enforce="clamp")
    answers = [df.dp.sum("x", epsilon=BIG) for df in (clean, dirty)]
    assert [type(answer) for answer in answers] == [pandas_dp.NoisyFloat] * 2
    assert answers == pytest.approx([6, 3], abs=0.01)


def test_b09_fractions_add_up():
    """opendp#2131, w3c/attribution#77: ten "0.1" and eleven Fraction(1, 11) fill 1; the next is refused; the rest is printed exactly."""
    for part, times in (("0.1", 10), (Fraction(1, 11), 11)):
        df = pd.DataFrame({"x": [1]}).dp.protect(epsilon="1")
        for _ in range(times):
            df.dp.count(epsilon=part)
        assert repr(df.dp.session.remaining) == "ε=0"
        with pytest.raises(pandas_dp.BudgetExhausted):
            df.dp.count(epsilon=part)
    left = pd.DataFrame({"x": [1]}).dp.protect(epsilon="0.0245")
    left.dp.count(epsilon="0.02")
    assert repr(left.dp.session.remaining) == "ε=0.0045"


def test_b11_a_mean_costs_its_epsilon_once():
    """smartnoise-sdk#385: a mean is charged exactly its ε; a second half fits, a third is refused."""
    df = pd.DataFrame({"x": [0.5]}).dp.protect(epsilon=1.0)
    df.dp.mean("x", bounds=(0, 1), epsilon=0.5)
    df.dp.mean("x", bounds=(0, 1), epsilon=0.5)
    with pytest.raises(pandas_dp.BudgetExhausted):
        df.dp.mean("x", bounds=(0, 1), epsilon=0.5)


def test_b13_missing_bounds_are_an_error():
    """smartnoise-sdk#317: no bounds is an error, never an exact sum."""
    with pytest.raises(pandas_dp.BoundsError):
        protect(pd.DataFrame({"x": [1.0]})).dp.sum("x", epsilon=1)


@pytest.mark.parametrize("values", [[0.0], [], [math.nan]])
def test_b14_equal_bounds_are_an_error(values):
    """smartnoise-sdk#128: bounds (0, 0) are refused for every frame alike."""
    with pytest.raises(pandas_dp.BoundsError, match="are equal"):
        protect(pd.DataFrame({"x": pd.Series(values, dtype=float)})).dp.sum("x", bounds=(0, 0), epsilon=1)


@pytest.mark.parametrize("frame", [pd.DataFrame({"x": pd.Series([], dtype=float)}), pd.DataFrame({"x": [1.0]}).iloc[:0]])
def test_b15_an_empty_table_is_answered(frame):
    """smartnoise-sdk#75: an empty table is noise around 0, and a mean inside the bounds, never NaN, None or an exception."""
    df = protect(frame)
    counts = [df.dp.count(epsilon=1) for _ in range(200)]
    assert abs(np.mean(counts)) < 1
    sums = [df.dp.sum("x", bounds=(0, 1), epsilon=1) for _ in range(200)]
    assert abs(np.mean(sums)) < 1
    means = [df.dp.mean("x", bounds=(-1, 1), epsilon=1) for _ in range(200)]
    assert all(-1 <= mean <= 1 for mean in means)
    assert protect(pd.DataFrame()).dp.count(epsilon=1000) == 0
    assert protect(pd.DataFrame(index=range(5))).dp.count(epsilon=1000) == 5


def test_b16_a_mean_is_finite_whatever_the_noise():
    """smartnoise-sdk#547: also where the noisy count is not positive, the answer is inside the bounds and carries a margin, by one code path."""
    df = protect(pd.DataFrame({"x": [0.5]}))
    for _ in range(300):
        answer = df.dp.mean("x", bounds=(0, 1), epsilon=0.01)
        low, high = answer.interval()
        assert 0 <= low <= answer <= high <= 1


def test_b19_numerator_and_denominator_count_the_same_rows():
    """IBM#87: the mean of one value and 999 missing ones is that value."""
    assert protect(pd.DataFrame({"x": [0.25] + [math.nan] * 999})).dp.mean("x", bounds=(0, 1), epsilon=BIG) == pytest.approx(
        0.25, abs=0.001
    )


def test_b21_counts_of_anything():
    """PyDP#375: count works for texts; privacy parameters are keyword-only."""
    df = protect(pd.DataFrame({"c": list("ABC")}))
    assert df.dp.count(epsilon=1000) == df.dp.count("c", epsilon=1000) == df["c"].dp.count(epsilon=1000) == 3
    with pytest.raises(TypeError):
        df.dp.sum("c", 0, 150)


def test_b22_no_number_after_the_budget():
    """PyDP#263: asking again raises; it returns nothing that could be taken for a number."""
    df = pd.DataFrame({"x": [1]}).dp.protect(epsilon=1)
    df.dp.count(epsilon=1)
    with pytest.raises(pandas_dp.BudgetExhausted):
        df.dp.count(epsilon=1)


def test_b23_a_merge_says_what_to_do():
    """smartnoise-sdk#512: a merged frame is refused with the way that works, and that way works."""
    df = protect(pd.DataFrame({"ward": ["n", "s"], "x": [1.0, 2.0]}))
    beds = pd.DataFrame({"ward": ["n", "s"], "beds": [10, 20]})
    with pytest.raises(pandas_dp.NotProtected, match=r"df.join\(table, on=...\)"):
        df.merge(beds, on="ward").dp.count(epsilon=1)
    joined = df.join(beds.set_index("ward"), on="ward")
    assert joined.dp.sum("beds", bounds=(0, 50), epsilon=BIG) == 30


def test_b24_one_budget_and_clamping_at_query_time():
    """pandera#1462, pandas#41828: copies share the budget, and a value written after validation is clamped."""
    df = pd.DataFrame({"x": [0.5, 0.5]}).dp.protect(epsilon=1, schema=schema(between=(0, 1)))
    twin = df.copy()
    twin.loc[0, "x"] = 999.0
    twin.dp.count(epsilon=0.5)
    assert df.dp.session.remaining == 0.5
    assert twin.dp.sum("x", epsilon=0.5) < 1000


MATRIX = {
    "Int64 with a missing value": (pd.Series([1, None, 3], dtype="Int64"), "sum", (0, 10), 4),
    "Int64 with fractional bounds": (pd.Series([1, None, 3], dtype="Int64"), "sum", (0, 2.5), 3.5),
    "boolean, sum": (pd.Series([True, None, False], dtype="boolean"), "sum", (0, 1), 1),
    "boolean, mean": (pd.Series([True, None, False], dtype="boolean"), "mean", None, 0.5),
    "bool, mean": (pd.Series([True, False]), "mean", None, 0.5),
    "arrow bool, sum": (pd.Series([True, None, True], dtype="bool[pyarrow]"), "sum", None, 2),
    "int64[pyarrow] at its end": (pd.Series([2**63 - 1, 1], dtype="int64[pyarrow]"), "sum", (0, 2**63 - 1), 2.0**63),
    "uint64 at its end": (pd.Series([2**64 - 1, 1], dtype="uint64"), "sum", (0, 2**64 - 1), 2.0**64),
    "big-endian": (pd.Series(np.array([2**64 - 1, 3], dtype=">u8")), "sum", (0, 100), 103),
    "big-endian floats": (pd.Series(np.array([1.5, np.nan], dtype=">f8")), "sum", (0, 100), 1.5),
    "float16 that would overflow": (pd.Series([60000, 60000], dtype="float16"), "sum", (0, 65504), 120000),
    "int8 clamped": (pd.Series([127, -128], dtype="int8"), "mean", (-10, 10), 0),
    "infinite": (pd.Series([math.inf, -math.inf, 1.0]), "sum", (-2, 5), 4),
}


@pytest.mark.parametrize("case", MATRIX)
def test_dtype_matrix(case):
    """Each dtype gives the value that the integers or fractions themselves give."""
    values, statistic, bounds, expected = MATRIX[case]
    df = protect(pd.DataFrame({"x": values}))
    answer = getattr(df.dp, statistic)("x", bounds=bounds, epsilon=BIG)
    assert float(answer) == pytest.approx(expected, rel=1e-3, abs=0.02)
    assert float(getattr(df["x"].dp, statistic)(bounds=bounds, epsilon=BIG)) == pytest.approx(expected, rel=1e-3, abs=0.02)


def test_decimals():
    """Decimals in a column declared as numbers are read exactly enough; their NaN is missing."""
    df = protect(pd.DataFrame({"x": [Decimal("0.1")] * 3 + [Decimal("NaN")]}), schema=schema(), enforce="clamp")
    assert df.dp.sum("x", bounds=(0, 1), epsilon=BIG) == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize(
    "dtype",
    [
        "datetime64[ns]",
        "datetime64[us]",
        "datetime64[s]",
        "datetime64[ns, America/New_York]",
        "datetime64[us, UTC]",
        "timestamp[us][pyarrow]",
    ],
)
def test_means_of_dates(dtype):
    """The mean of dates is a Timestamp of the column's time zone inside the bounds, exact to the unit but for noise; NaT is skipped."""
    naive = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-03", None])).astype("datetime64[us]")
    values = naive.dt.tz_localize(dtype.split(", ")[1].rstrip("]")) if ", " in dtype else naive
    df = protect(pd.DataFrame({"t": values.astype(dtype)}))
    answer = df.dp.mean("t", bounds=("2023-01-01", "2025-01-01"), epsilon=BIG)
    assert isinstance(answer, pd.Timestamp)
    assert (answer.tzinfo is not None) == (", " in dtype)
    assert abs(answer.tz_localize(None) - pd.Timestamp("2024-01-02")) < pd.Timedelta(hours=1)
    low, high = df.dp.session.releases[-1].interval()
    assert low <= answer <= high
    assert isinstance(df.dp.session.releases[-1].half_width(), pd.Timedelta)
    assert "2024" in repr(df.dp.session.releases[-1])


def test_durations():
    """Sums and means of durations are Timedeltas; a sum that noise carries beyond what a Timedelta holds saturates and does not raise."""
    df = protect(pd.DataFrame({"t": pd.to_timedelta(["1D", "3D", None])}))
    bounds = (pd.Timedelta(0), pd.Timedelta("10D"))
    assert abs(df.dp.sum("t", bounds=bounds, epsilon=BIG) - pd.Timedelta("4D")) < pd.Timedelta("1h")
    assert abs(df.dp.mean("t", bounds=("0D", "10D"), epsilon=BIG) - pd.Timedelta("2D")) < pd.Timedelta("1h")
    for _ in range(20):
        assert isinstance(df.dp.sum("t", bounds=(pd.Timedelta(0), pd.Timedelta(36500, "D")), epsilon="0.0001"), pd.Timedelta)


@pytest.mark.parametrize(
    "bounds",
    [
        ("2023-10-29 02:30", "2024"),
        ("2023-03-26 02:30", "2024"),
        ("0001-01-01", "2024"),
        ("2024", "2300-01-01"),
        ("x", "y"),
        (1, 2),
        (pd.NaT, "2024"),
        (pd.Timestamp.min, "2024"),
    ],
)
def test_bad_dates_as_bounds(bounds):
    """Times that a change of clocks skips or repeats, that the unit cannot hold, or that are none: BoundsError before the charge."""
    times = pd.Series(pd.to_datetime(["2023-06-01"])).astype("datetime64[ns]").dt.tz_localize("Europe/Berlin")
    df = protect(pd.DataFrame({"t": times}))
    with pytest.raises(pandas_dp.BoundsError):
        df.dp.mean("t", bounds=bounds, epsilon=1)
    assert df.dp.session.spent == 0
