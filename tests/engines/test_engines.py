"""Exact, order-free totals of every dtype at the ends of its range."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from engine_support import totals

from pandas_dp.cells.cells import FloatGrid, IntGrid, mean_cells, present, rows, signed_sum, spread_cells
from pandas_dp.engines.conformance import SALT, _roster, _rounds, cases
from pandas_dp.engines.group_codes import Groups
from pandas_dp.engines.pandas import PandasSource


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_order_does_not_matter(case):
    """Every round depends on the multiset of rows: permuted rows give the same integers."""
    generator = np.random.default_rng(0)
    reads = [
        list(_rounds(case, PandasSource(frame, _roster(frame, case.plan.contribution)).open(case.plan, SALT)))
        for frame in (case.frame, *(case.frame.iloc[generator.permutation(len(case.frame))] for _ in range(3)))
    ]
    assert reads[1:] == reads[:1] * 3


def test_order_does_not_matter_where_floats_cancel():
    """500 permutations of values whose float sum depends on the order give one integer."""
    generator = np.random.default_rng(1)
    values = np.array([1e16, 1.0, -1e16, 5e-324, -5e-324] * 20)
    cells = signed_sum("x", FloatGrid.between(-1e16, 1e16))
    assert len({totals(pd.DataFrame({"x": generator.permutation(values)}), cells)[0] for _ in range(500)}) == 1


def test_exact_where_pandas_wraps():
    """Totals beyond 2**63 are exact for every 64-bit dtype: no reduction of pandas is ever called."""
    grid = IntGrid(0, 2**63 - 1)
    for dtype in ("int64", "uint64", "Int64", "UInt64", "int64[pyarrow]", "uint64[pyarrow]"):
        frame = pd.DataFrame({"x": pd.Series([2**63 - 1] * 5, dtype=dtype)})
        assert totals(frame, signed_sum("x", grid)) == [5 * (2**63 - 1)]


def test_squares_are_exact_to_the_last_unit():
    """A million squares of 30-bit heights, and of heights up to 2**64, sum to Python's own integers: in all and by group."""
    generator = np.random.default_rng(2)
    narrow = generator.integers(0, 2**30, 1_000_000)
    wide = generator.integers(-(2**63), 2**63 - 1, 300_000)
    for values, grid in ((narrow, IntGrid(0, 2**30)), (wide, IntGrid(-(2**63), 2**63 - 1)), (wide, IntGrid(-(2**40), 2**41))):
        frame = pd.DataFrame({"x": values})
        heights = [min(max(value, grid.first), grid.last) - grid.first for value in values.tolist()]
        m = grid.last - grid.first
        expected = [sum(k * k for k in heights), sum(2 * k * (m - k) for k in heights), sum((m - k) ** 2 for k in heights)]
        cells = spread_cells("x", grid)
        assert totals(frame, cells) == expected
        by = Groups(np.arange(len(values)) % 3, 2)
        for group in range(2):
            own = heights[group::3]
            exact = [sum(k * k for k in own), sum(2 * k * (m - k) for k in own), sum((m - k) ** 2 for k in own)]
            assert [int(cell[group]) for cell in totals(frame, cells, by=by)] == exact


def test_exact_where_single_precision_rounds():
    """2**24 + 4 ones of float32 sum to 16777220; 10**6 float32 tenths sum to the exact sum of those tenths, on the grid."""
    ones = pd.DataFrame({"x": np.ones(2**24 + 4, dtype=np.float32)})
    grid = FloatGrid.between(0.0, 1.0)
    assert totals(ones, signed_sum("x", grid))[0] * grid.unit == 16777220
    tenths = pd.DataFrame({"x": np.full(10**6, 0.1, dtype=np.float32)})
    assert totals(tenths, signed_sum("x", grid))[0] == 10**6 * round(Fraction(float(np.float32(0.1))) / grid.unit)


DTYPES = {
    "float64": ([0.5, math.nan, 2.0], "float64"),
    "float32": ([0.5, math.nan, 2.0], "float32"),
    "float16": ([0.5, math.nan, 2.0], "float16"),
    "Float64": ([0.5, None, 2.0], "Float64"),
    "Float32": ([0.5, None, 2.0], "Float32"),
    "double[pyarrow]": ([0.5, None, 2.0], "double[pyarrow]"),
    "float[pyarrow]": ([0.5, None, 2.0], "float[pyarrow]"),
}


@pytest.mark.parametrize("name", DTYPES)
def test_every_float_dtype_reads_alike(name):
    """The same values give the same totals in every float dtype; missing ones contribute nothing, infinite ones are clamped."""
    values, dtype = DTYPES[name]
    grid = FloatGrid.between(0.0, 1.0)
    frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype)})
    cells = [*present("x"), *signed_sum("x", grid), *mean_cells("x", grid)]
    count, total, high, low = totals(frame, cells)
    assert count == 2
    assert total * grid.unit == Fraction(3, 2)
    assert high * grid.unit == Fraction(3, 2)
    assert low * grid.unit == Fraction(1, 2)


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "Int8",
        "Int64",
        "UInt16",
        "int16[pyarrow]",
        "uint64[pyarrow]",
    ],
)
def test_every_integer_dtype_reads_alike(dtype):
    """Integers of every width, nullable and Arrow, give the integers' own sum; with fractional bounds, the fractions."""
    frame = pd.DataFrame({"x": pd.Series([1, 3, 100], dtype=dtype)})
    assert totals(frame, signed_sum("x", IntGrid(0, 10))) == [14]
    grid = FloatGrid.between(0.0, 2.5)
    assert totals(frame, signed_sum("x", grid))[0] * grid.unit == 6


@pytest.mark.parametrize("dtype", ["bool", "boolean", "bool[pyarrow]"])
def test_every_boolean_dtype_reads_alike(dtype):
    """True counts one."""
    frame = pd.DataFrame({"x": pd.Series([True, False, True], dtype=dtype)})
    assert totals(frame, signed_sum("x", IntGrid(0, 1))) == [2]


def test_nan_inside_a_nullable_float():
    """NaN and NA side by side in Float64 are both missing, in sums and in counts, on every version."""
    array = pd.array([1.0, None, 2.0], dtype="Float64")
    broken = array / pd.array([1.0, 1.0, 0.0], dtype="Float64") * 0  # 0, NA, and inf * 0 = NaN
    grid = FloatGrid.between(0.0, 1.0)
    assert totals(pd.DataFrame({"x": broken}), [*present("x"), *signed_sum("x", grid)]) == [1, 0]


def test_arrow_decimals():
    """Decimals of Arrow are read as numbers, their nulls as missing."""
    import pyarrow as pa

    column = pd.Series(pd.array([None, *[__import__("decimal").Decimal("0.1")] * 3], dtype=pd.ArrowDtype(pa.decimal128(10, 2))))
    grid = FloatGrid.between(0.0, 1.0)
    count, total = totals(pd.DataFrame({"x": column}), [*present("x"), *signed_sum("x", grid)])
    assert count == 3
    assert float(total * grid.unit) == pytest.approx(0.3, abs=1e-8)


def test_objects_that_are_no_numbers_are_missing():
    """In a column of objects whatever is no real number is missing, whatever it does when it is converted."""

    class Hostile(float):
        def __float__(self):
            raise RuntimeError("SECRET-42")

    cells = [
        1,
        2.5,
        True,
        "3",
        None,
        [4],
        1j,
        10**400,
        -(10**400),
        Fraction(1, 2),
        __import__("decimal").Decimal("sNaN"),
        Hostile(3),
        pd.NaT,
        np.float32(0.5),
        object(),
    ]
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    grid = FloatGrid.between(0.0, 2.0)
    # 1, 2 (clamped), 1, huge -> 2, -huge -> 0, 1/2, 1/2
    assert totals(frame, signed_sum("x", grid))[0] * grid.unit == 7
    assert sum(totals(frame, mean_cells("x", grid))) == 7 * (grid.last - grid.first)


@pytest.mark.parametrize(
    "dtype",
    [
        "datetime64[ns]",
        "datetime64[us]",
        "datetime64[s]",
        "datetime64[ns, Europe/Paris]",
        "timestamp[us][pyarrow]",
        "timedelta64[ns]",
        "duration[us][pyarrow]",
    ],
)
def test_times_read_as_integers(dtype):
    """Dates and durations are read as integers of their unit, NaT as missing."""
    kind = pd.Timestamp("2024-01-01") if "timed" not in dtype and "dura" not in dtype else pd.Timedelta(days=3)
    column = pd.Series([kind, None], dtype=dtype)
    frame = pd.DataFrame({"x": column})
    grid = IntGrid(-(2**62), 2**62)
    count, total = totals(frame, [*present("x"), *signed_sum("x", grid)])
    assert count == 1
    unit = dtype.split("[")[1][:2].strip("],")
    exact = column.iloc[0].as_unit(unit)
    assert total == int(exact.asm8.astype("int64"))


@pytest.mark.parametrize("dtype", ["category", "str", "object", "period[D]", "complex128"])
def test_present_counts_every_dtype(dtype):
    """Presence can be counted in columns of any dtype."""
    values = {"period[D]": pd.PeriodIndex(["2024-01-01", None], freq="D"), "complex128": [1j, complex("nan")]}.get(dtype, ["a", None])
    assert totals(pd.DataFrame({"x": pd.Series(values, dtype=dtype)}), [*rows(), *present("x")]) == [2, 1]


def test_strided_and_unaligned_columns():
    """Columns that are views into a table of rows, or backwards, give the same totals."""
    table = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=list("xyz"))
    grid = FloatGrid.between(0.0, 100.0)
    assert totals(table, signed_sum("y", grid)) == totals(pd.DataFrame({"y": table["y"].to_numpy()[::-1]}), signed_sum("y", grid))


def test_numpy_error_state_does_not_matter(monkeypatch):
    """A user's np.seterr(all="raise") makes no value raise."""
    frame = pd.DataFrame({"x": [math.nan, math.inf, 1e308, -1e308, 5e-324]})
    with np.errstate(all="raise"):
        totals(frame, signed_sum("x", FloatGrid.between(-1e200, 1e200)))
        totals(frame.astype({"x": object}), signed_sum("x", FloatGrid.between(0.0, 1.0)))
