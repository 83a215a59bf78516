"""Bad input: typed errors before the charge that hold no data, and values that can neither raise nor warn."""

from __future__ import annotations

import logging
import math
import traceback
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from support import protect

import pandas_dp
from pandas_dp import BoundsError, ColumnError, ParameterTypeError, UnsupportedDtype, errors
from pandas_dp.engines.pandas import PandasSource
from pandas_dp.release import asked

SECRETS = ("SECRET-42", "987654.25", "987654")


@pytest.fixture
def untouched(monkeypatch):
    """Fail if anything is read: the engine may not be called."""

    def spy(*_, **__):
        pytest.fail("the data was read")

    monkeypatch.setattr(PandasSource, "open", spy)


def secret_frame(**columns):
    return pd.DataFrame(
        {"x": [987654.25, 1.0], "i": [987654, 1], "u": np.array([1, 2], dtype=np.uint8), "s": ["SECRET-42", "b"], **columns},
        index=[987654, 3],
    )


def says_nothing(error):
    """Check an error, its chain and the locals of its stack for the data."""
    assert isinstance(error, pandas_dp.DPError)
    assert error.__cause__ is None
    assert error.__context__ is None
    stack = traceback.TracebackException.from_exception(error, capture_locals=True)
    ours = [frame for frame in stack.stack if "pandas_dp" in frame.filename and "tests" not in frame.filename]
    text = str(error) + repr(error) + repr(vars(error)) + "".join(str(frame.locals) for frame in ours)
    for secret in SECRETS:
        assert secret not in text
    assert str(error).endswith(".")


BAD_BOUNDS = [
    (10, 0), (5, 5), (0, 0), (math.nan, 1), (0, math.nan), (-math.inf, math.inf), (0, math.inf), (-1e308, 1e308), (0, 1e300), (0, 5e-324), (-5e-324, 5e-324),
    ("a", "b"), ("0", "1"), (None, 1), (0, None), (0,), (0, 1, 2), [0], 5, "01", {0, 1}, 1j, (1j, 2), (Decimal("sNaN"), 1), (Decimal("NaN"), 1), (0, Decimal("Infinity")),
    (0, Decimal("1e9999")), (0, 10**4200), (pd.NA, 1), (pd.NaT, 1), (object(), 1), ([0], [1]), (pd.Timestamp("2024"), pd.Timestamp("2025")), np.array([0, 1]), range(2),
    (pd.Series([987654.25]), pd.Series([987654.25])),
]  # fmt: skip


@pytest.mark.parametrize("bounds", BAD_BOUNDS, ids=map(str, range(len(BAD_BOUNDS))))
@pytest.mark.parametrize("statistic", ["sum", "mean"])
def test_bad_bounds(bounds, statistic, untouched):
    """Reversed, equal, NaN, infinite, overflowing, unreadable bounds: ValueError that mentions the bounds only, nothing read, nothing charged."""
    df = protect(secret_frame())
    for ask in (
        lambda: getattr(df.dp, statistic)("x", bounds=bounds, epsilon=1),
        lambda: getattr(df["x"].dp, statistic)(bounds=bounds, epsilon=1),
        lambda: getattr(df.dp, statistic)(bounds={"x": bounds}, epsilon=1),
        lambda: getattr(df.dp.preview, statistic)("x", bounds=bounds, epsilon=1, rows=10),
    ):
        with pytest.raises(BoundsError) as caught:
            ask()
        assert isinstance(caught.value, ValueError)
        says_nothing(caught.value)
    assert df.dp.session.spent == 0


@pytest.mark.parametrize(
    ("column", "bounds"), [("u", (-5, 100)), ("u", (0, 256)), ("i", (0, 2**63)), ("i", (-(2**64), 0)), ("u", (-0.5, 3))]
)
def test_bounds_that_do_not_fit_the_dtype(column, bounds, untouched):
    """Bounds that the dtype cannot hold would only add noise: refused, with what the dtype holds."""
    df = protect(secret_frame())
    with pytest.raises(BoundsError, match="do not fit the column's dtype") as caught:
        df.dp.sum(column, bounds=bounds, epsilon=1)
    says_nothing(caught.value)


def test_no_bounds_at_all(untouched):
    """Without bounds from call, schema or dtype: an error that names the three ways, never a look at the data."""
    df = protect(secret_frame())
    for ask in (lambda: df.dp.sum("x", epsilon=1), lambda: df["x"].dp.mean(epsilon=1), lambda: df.dp.mean("i", epsilon=1)):
        with pytest.raises(BoundsError, match=r"in the call.*pandera schema.*bool") as caught:
            ask()
        says_nothing(caught.value)
    with pytest.raises(BoundsError, match="no column was named") as caught:
        df.dp.mean(epsilon=1)
    says_nothing(caught.value)


BAD_COLUMNS = ["nope", ("a", "b"), 3, 1.5, pd.Timestamp("2024"), b"x", frozenset("x")]


@pytest.mark.parametrize("column", BAD_COLUMNS, ids=repr)
def test_absent_columns(column, untouched):
    """A column that is not there is a KeyError that names the columns that were protected, and nothing else."""
    df = protect(secret_frame())
    for ask in (
        lambda: df.dp.count(column, epsilon=1),
        lambda: df.dp.sum(column, bounds=(0, 1), epsilon=1),
        lambda: df.dp.mean([column], bounds=(0, 1), epsilon=1),
        lambda: df.dp.preview.mean(column, bounds=(0, 1), epsilon=1),
    ):
        with pytest.raises(ColumnError, match="the columns that were protected it has: 'x', 'i', 'u', 's'") as caught:
            ask()
        assert isinstance(caught.value, KeyError)
        says_nothing(caught.value)
    with pytest.raises(BoundsError):
        df.dp.sum(bounds={column: (0, 1)}, epsilon=1)


def test_things_that_are_no_column_names(untouched):
    """A Series, an array, a slice or a set where a name belongs is a TypeError that does not print it."""
    df = protect(secret_frame())
    for column in (df["x"], df, np.array([987654.25]), slice(0, 1), {"x"}, {"x": 1}, df.index):
        for ask in (
            lambda column=column: df.dp.count(column, epsilon=1),
            lambda column=column: df.dp.sum(column, bounds=(0, 1), epsilon=1),
            lambda column=column: df.dp.mean([column], bounds=(0, 1), epsilon=1),
        ):
            with pytest.raises(ParameterTypeError) as caught:
                ask()
            says_nothing(caught.value)
    with pytest.raises(pandas_dp.ParameterError):
        df.dp.mean([], bounds=(0, 1), epsilon=1)


def test_duplicate_and_nested_columns():
    """Which column is meant is decided from the names alone: duplicates and half a MultiIndex name are constant errors, the full tuple works."""
    double = protect(pd.DataFrame([[1, 2.0, 3]], columns=["x", "y", "x"]))
    for ask in (lambda: double.dp.count("x", epsilon=1), lambda: double.dp.sum("x", bounds=(0, 9), epsilon=1)):
        with pytest.raises(ColumnError, match="more than one column") as caught:
            ask()
        says_nothing(caught.value)
    assert double.dp.sum("y", bounds=(0, 9), epsilon=1000) == pytest.approx(2, abs=0.1)
    nested = protect(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])))
    assert nested.dp.count(("a", "x"), epsilon=1000) == 1
    assert nested.dp.sum(("a", "y"), bounds=(0, 9), epsilon=1000) == 2
    with pytest.raises(ColumnError):
        nested.dp.count("a", epsilon=1)


def test_columns_called_like_anything():
    """Column names may be numbers, methods of ours, or None-like."""
    df = protect(pd.DataFrame({0: [1], "count": [2], "dp": [3], "_frame": [4], ("t",): [5]}))
    assert df.dp.sum(0, bounds=(0, 9), epsilon=1000) == 1
    assert df.dp.sum("count", bounds=(0, 9), epsilon=1000) == 2
    assert df["dp"].dp.sum(bounds=(0, 9), epsilon=1000) == 3
    assert df.dp.sum("_frame", bounds=(0, 9), epsilon=1000) == 4
    assert df.dp.sum(bounds=(0, 9), epsilon=1000).tolist() == [1, 2, 3, 4, 5]


REFUSED_DTYPES = {
    "text": pd.Series(["SECRET-42", "b"]),
    "string": pd.Series(["SECRET-42", "b"], dtype="string"),
    "category of numbers": pd.Series([987654, 1], dtype="category"),
    "object": pd.Series(["1", "2"], dtype=object),
    "numbers as objects": pd.Series([987654, 1], dtype=object),
    "complex": pd.Series([987654 + 1j, 1]),
    "period": pd.Series(pd.period_range("2024-01", periods=2, freq="M")),
    "interval": pd.Series(pd.interval_range(0, 987654, periods=2)),
    "lists": pd.Series([[987654], [1]]),
    "sparse": pd.Series([987654, 1], dtype="Sparse[int]"),
    "arrow text": pd.Series(["SECRET-42", "b"], dtype="string[pyarrow]"),
    "arrow date": pd.Series([None, None], dtype="date32[pyarrow]"),
    "half float": pd.Series([1.0, None], dtype="halffloat[pyarrow]"),
}


@pytest.mark.parametrize("kind", REFUSED_DTYPES)
@pytest.mark.parametrize("statistic", ["sum", "mean"])
def test_refused_dtypes(kind, statistic, untouched):
    """Text, categories, complex numbers and the like: TypeError naming the dtype, before the charge; their count works."""
    df = protect(pd.DataFrame({"v": REFUSED_DTYPES[kind]}))
    for ask in (
        lambda: getattr(df.dp, statistic)("v", bounds=(0, 1), epsilon=1),
        lambda: getattr(df["v"].dp, statistic)(bounds=(0, 1), epsilon=1),
    ):
        with pytest.raises(UnsupportedDtype) as caught:
            ask()
        assert isinstance(caught.value, TypeError)
        assert caught.value.dtype in str(caught.value)
        says_nothing(caught.value)
    assert df.dp.session.spent == 0


@pytest.mark.parametrize("kind", REFUSED_DTYPES)
def test_every_dtype_can_be_counted(kind):
    """count works for every dtype."""
    df = protect(pd.DataFrame({"v": REFUSED_DTYPES[kind]}))
    assert df.dp.count("v", epsilon=1000) == REFUSED_DTYPES[kind].notna().sum()


def test_dates_cannot_be_added_up(untouched):
    """A sum of dates makes no sense and says so; of all columns with bounds, dates are left out."""
    df = protect(pd.DataFrame({"when": pd.to_datetime(["2024-01-01"])}))
    with pytest.raises(UnsupportedDtype, match="Dates cannot be added up"):
        df.dp.sum("when", bounds=(pd.Timestamp("2024"), pd.Timestamp("2025")), epsilon=1)


VALUES = {
    "float64": [math.nan, math.inf, -math.inf, -0.0, 1e308, -1e308, 5e-324, 0.5],
    "float32": [math.nan, math.inf, -math.inf, -0.0, 3e38, 1e-45, 0.5],
    "Float64": [None, math.inf, -math.inf, 1e308, 0.5],
    "Int64": [None, 2**63 - 1, -(2**63), 0],
    "int64[pyarrow]": [None, 2**63 - 1, 0],
    "double[pyarrow]": [None, math.nan, math.inf, 0.5],
    "object": [
        None,
        math.nan,
        math.inf,
        "SECRET-42",
        [1],
        1j,
        10**400,
        Decimal("NaN"),
        Decimal("sNaN"),
        Fraction(1, 2),
        pd.NA,
        pd.NaT,
        pd.Timestamp("2024", tz="UTC"),
        object(),
        0.5,
    ],
}


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("statistic", ["count", "sum", "mean"])
def test_no_value_raises_warns_or_logs(dtype, statistic, caplog):
    """Within a dtype, no value changes anything but the number: not the type, the charge, the ledger, warnings or the log."""
    import pandera.pandas as pa

    schema = pa.DataFrameSchema({"x": pa.Column(float, pa.Check.in_range(0, 1), nullable=True)})
    seen = set()
    for bad in [0.5 if dtype not in ("Int64", "int64[pyarrow]") else 1, *VALUES[dtype]]:
        frame = pd.DataFrame({"x": pd.Series([bad, 1, 0], dtype=dtype)})
        df = protect(frame, schema=schema, enforce="clamp")
        with warnings.catch_warnings(), caplog.at_level(logging.DEBUG), np.errstate(all="raise"):
            warnings.simplefilter("error")
            answer = getattr(df.dp, statistic)("x", epsilon=2)
        assert math.isfinite(answer)
        charged = tuple(df.dp.session.ledger[["query", "epsilon", "mechanism", "scale"]].to_numpy()[0])
        seen.add((type(answer), charged, df.dp.session.remaining))
    assert len(seen) == 1
    assert not caplog.records


def test_types_of_answers():
    """Answers are int or float (or Timestamp, Timedelta) whatever the dtype, and carry nothing of the frame."""
    frame = pd.DataFrame(
        {
            "i8": np.array([1, 2], dtype="int8"), "u64": np.array([1, 2], dtype="uint64"), "f32": np.array([1, 2], dtype="float32"), "b": [True, False],
            "I": pd.array([1, None], dtype="Int64"), "a": pd.Series([1, 2], dtype="int32[pyarrow]"),
        }
    )  # fmt: skip
    df = protect(frame)
    for column in frame:
        bounds = (0, 1) if column == "b" else (0, 5)
        total = df.dp.sum(column, bounds=bounds, epsilon=1)
        assert type(total) is (pandas_dp.NoisyFloat if column == "f32" else pandas_dp.NoisyInt)
        assert type(df.dp.mean(column, bounds=bounds, epsilon=1)) is pandas_dp.NoisyFloat
        assert type(df.dp.count(column, epsilon=1)) is pandas_dp.NoisyInt
        assert not hasattr(total, "attrs")
        assert not hasattr(total, "index")
    series = df.dp.mean(bounds={"i8": (0, 5), "f32": (0, 5)}, epsilon=1)
    assert series.index.tolist() == ["i8", "f32"]
    assert series.attrs == {}
    assert series.name is None


def test_free_failures_do_not_exist():
    """A wrong call costs nothing because nothing was read; privacy parameters are never positional."""
    df = protect(secret_frame())
    for ask in (
        lambda: df.dp.sum("x", 0, 150),
        lambda: df.dp.sum("x", lower=0, upper=1),
        lambda: df.dp.count("x", 0.1),
        lambda: df.dp.mean(bound=(0, 1)),
    ):
        with pytest.raises(TypeError, match="argument"):
            ask()
    assert df.dp.session.spent == 0


def test_what_nobody_foresaw_is_typed_and_silent(monkeypatch):
    """An exception from anywhere before the charge leaves as ComputationFailed without text, chain or stack of the original."""
    df = protect(secret_frame())

    def broken(*_, **__):
        raise ValueError("SECRET-42")

    monkeypatch.setattr(asked, "PublicFrame", broken)
    with pytest.raises(pandas_dp.ComputationFailed, match="unforeseen") as caught:
        df.dp.count(epsilon=1)
    says_nothing(caught.value)
    assert df.dp.session.spent == 0


def test_errors_in_protect_hold_no_data():
    """protect() on a frame with bad labels, units or values says what is wrong without showing it."""
    import pandera.pandas as pa

    bad = pd.DataFrame({"x": [987654.25, 1.0], "who": [["SECRET-42"], ["b"]]}, index=["SECRET-42"] * 2)
    schema = pa.DataFrameSchema({"x": pa.Column(float, pa.Check.le(5))})
    session = pandas_dp.Session(epsilon=1)
    for attempt in (
        lambda: bad.dp.protect(epsilon=1),
        lambda: bad.dp.protect(epsilon=1, unit="who", max_rows=1),
        lambda: bad.dp.protect(epsilon=1, schema=schema),
        lambda: bad.dp.protect(epsilon=1, unit=bad["x"], max_rows=1),
        lambda: bad.dp.protect(epsilon=1, enforce=bad["x"]),
        lambda: session.protect(bad),
        lambda: session.protect(bad, schema=schema),
        lambda: session.adopt(bad),
        lambda: session.adopt(5),
    ):
        with pytest.raises(pandas_dp.DPError) as caught:
            attempt()
        says_nothing(caught.value)


def test_representations_show_no_data():
    """repr and dir of accessors, sessions and previews are equal for neighbours."""

    def shown(frame):
        df = frame.dp.protect(epsilon=1)
        df.dp.preview.count(epsilon=0.1)
        return (
            repr(df.dp),
            repr(df["x"].dp),
            repr(df.dp.session),
            repr(df.dp.preview),
            repr(df["x"].dp.preview),
            dir(df.dp),
            str(df.dp.session.ledger),
        )

    assert shown(secret_frame()) == shown(secret_frame().iloc[:1])
    assert repr(secret_frame().dp) == "<.dp: not protected>"


def test_every_error_class_is_one_of_ours_and_of_pythons():
    """Every error derives from DPError and from the built-in that Python users catch; it pickles with its numbers."""
    import pickle

    builtin = {
        "NotProtected": RuntimeError, "AlreadyProtected": ValueError, "LineageError": ValueError, "BudgetExhausted": RuntimeError, "SessionClosed": RuntimeError,
        "SessionConflict": ValueError, "ParameterError": ValueError, "ParameterTypeError": TypeError, "BoundsError": ValueError, "ColumnError": KeyError,
        "UnsupportedDtype": TypeError, "ExpressionError": ValueError, "KeysError": ValueError, "AggregationError": ValueError, "AccountingMissing": ImportError, "ExtraMissing": ImportError, "SchemaError": ValueError, "SchemaViolation": ValueError, "ComputationFailed": RuntimeError,
        "CallError": TypeError, "NoSuchQuery": AttributeError, "LabelError": ValueError, "LedgerBusy": RuntimeError, "LedgerDamaged": RuntimeError, "LedgerError": RuntimeError, "LedgerUnwritable": RuntimeError,
    }  # fmt: skip
    classes = {
        name for name in errors.__all__ if isinstance(getattr(errors, name), type) and issubclass(getattr(errors, name), pandas_dp.DPError)
    }
    assert classes - {"DPError"} == set(builtin)
    for name, base in builtin.items():
        assert issubclass(getattr(errors, name), base)
    df = pd.DataFrame({"x": [1]}).dp.protect(epsilon=1)
    with pytest.raises(pandas_dp.BudgetExhausted) as caught:
        df.dp.count(epsilon=2)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.requested, again.remaining) == (str(caught.value), 2, 1)
