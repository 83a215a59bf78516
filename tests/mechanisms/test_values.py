"""What goes into a mechanism comes out: containers, labels, dtypes; values that must not show; what is refused, and how."""

from __future__ import annotations

import math
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import pandas_dp
from pandas_dp import ParameterError, ParameterTypeError, UnsupportedDtype, mechanisms
from pandas_dp.mechanisms import calibration

HARD = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 0.1]


NO_NOISE = 10**6  # an ε with so little noise that values show


def laplace(value, sensitivity=1, epsilon=NO_NOISE, **options):
    return mechanisms.laplace(value, sensitivity, epsilon, **options)


def gaussian(value, sensitivity=1, epsilon=NO_NOISE, **options):
    return mechanisms.gaussian(value, sensitivity, epsilon, 1e-6, **options)


def geometric(value, sensitivity=1, epsilon=NO_NOISE, **options):
    return mechanisms.geometric(value, sensitivity, epsilon, **options)


ADDITIVE = [laplace, gaussian, geometric]
DTYPES = ["int8", "uint8", "int64", "uint64", "bool", "Int64", "UInt8", "boolean", "int64[pyarrow]", "bool[pyarrow]"]
FLOATS = ["float16", "float32", "float64", "Float32", "Float64", "double[pyarrow]"]

MISSING = {"Int64", "UInt8", "boolean", "int64[pyarrow]", "bool[pyarrow]", *FLOATS}


def whole(function, options):
    return function is geometric or bool(options.get("integer"))


@pytest.mark.parametrize("function", ADDITIVE)
@pytest.mark.parametrize("options", [{}, {"integer": True}, {"lower": 0, "upper": 200}], ids=str)
def test_scalars_lists_and_arrays_come_back(function, options):
    """A scalar, list, tuple and array of any shape come back as such, with Python's or NumPy's float, or int where whole numbers are asked for, and about the values that went in."""
    if function is geometric:
        options = {name: value for name, value in options.items() if name != "integer"}
    kind, dtype = (int, np.int64) if whole(function, options) else (float, np.float64)
    for scalar in (7, 7.0, np.int8(7), np.float32(7), Decimal(7), Fraction(7), pandas_dp.Epsilon(7)):
        answer = function(scalar, **options)
        assert type(answer) is kind
        assert answer == pytest.approx(7, abs=0.01)
    assert type(function(True, **options)) is kind
    for group in ([7, 8], (7, 8), [7], (), []):
        answer = function(group, **options)
        assert type(answer) is type(group)
        assert all(type(cell) is kind for cell in answer)
        assert list(answer) == pytest.approx(list(group), abs=0.01)
    for shape in ((), (3,), (2, 3), (0, 3), (2, 1, 2)):
        answer = function(np.full(shape, 7), **options)
        assert type(answer) is np.ndarray
        assert (answer.shape, answer.dtype) == (shape, dtype)
        assert np.allclose(answer, 7, atol=0.01)
    fortran = np.asfortranarray(np.arange(6).reshape(2, 3))
    assert np.allclose(function(fortran, **options), fortran, atol=0.01)


@pytest.mark.parametrize("function", ADDITIVE)
@pytest.mark.parametrize("dtype", DTYPES + FLOATS)
def test_series_and_frames_come_back(function, dtype):
    """Index, columns and name stay, the dtype is float64 (int64 of geometric) for every dtype, and missing values are gone; geometric takes integers and booleans only."""
    third = None if dtype in MISSING else 1
    cells = [True, False, third and True] if dtype.startswith("bool") else [1, 0, third]
    series = pd.Series(cells, dtype=dtype, index=pd.Index(["a", "b", "a"], name="key"), name="x")
    frame = pd.DataFrame({("u", 1): series, ("v", 2): series}, index=series.index)
    frame.columns = pd.MultiIndex.from_tuples([("u", 1), ("v", 2)], names=["one", "two"])
    if function is geometric and dtype in FLOATS:
        with pytest.raises(UnsupportedDtype):
            function(series)
        return
    expected = [0 if cell is None else int(cell) for cell in cells]
    answer = function(series)
    assert answer.index.equals(series.index)
    assert answer.index.name == "key"
    assert answer.name == "x"
    assert answer.dtype == (np.int64 if function is geometric else np.float64)
    assert answer.tolist() == pytest.approx(expected, abs=0.01)
    answers = function(frame)
    assert answers.index.equals(frame.index)
    assert answers.columns.equals(frame.columns)
    assert answers.columns.names == ["one", "two"]
    assert set(answers.dtypes) == {answer.dtype}
    assert np.allclose(answers, [[value, value] for value in expected], atol=0.01)


def test_frames_of_mixed_dtypes_and_none():
    """Columns of different dtypes, columns of one name, no columns and no rows are all answered."""
    frame = pd.DataFrame({"i": [1, 2], "f": [0.5, math.nan], "b": [True, False]})
    assert np.allclose(laplace(frame), [[1, 0.5, 1], [2, 0, 0]], atol=0.01)
    frame.columns = ["x", "x", "x"]
    assert laplace(frame).columns.tolist() == ["x", "x", "x"]
    for empty in (pd.DataFrame(), pd.DataFrame({"x": [1]})[:0], pd.DataFrame(index=[1, 2])):
        answer = laplace(empty)
        assert answer.shape == empty.shape
        assert answer.index.equals(empty.index)
    assert laplace(pd.Series([], dtype="Int64")).dtype == np.float64


def test_arrow_decimals_and_masked_arrays():
    """Decimals of Arrow are read exactly; what a masked array hides counts as missing."""
    import pyarrow as pa

    decimals = pd.Series([Decimal("0.1"), None, Decimal("12345678901234567890.5")], dtype=pd.ArrowDtype(pa.decimal128(30, 5)))
    assert laplace(decimals).tolist() == pytest.approx([0.1, 0, 1.2345678901234567e19], abs=0.01)
    hidden = np.ma.MaskedArray([1.0, 1e6], mask=[False, True])
    assert laplace(hidden).tolist() == pytest.approx([1, 0], abs=0.01)


@pytest.mark.parametrize("function", ADDITIVE)
def test_no_value_shows(function):
    """NaN, infinities, enormous and tiny values, and cells of lists that are no numbers, raise nothing, warn of nothing, and change neither dtype nor shape; answers are finite."""
    cells = [
        *HARD,
        None,
        pd.NA,
        pd.NaT,
        "text",
        10**400,
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("1e999999"),
        Decimal("1e-999999"),
        1j,
        object(),
        np.timedelta64(1, "s"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = function(cells)
        assert all(math.isfinite(answer) for answer in answers)
        assert {type(answer) for answer in answers} == {int if function is geometric else float}
        for scalar in (*HARD, None, pd.NA):
            assert math.isfinite(function(scalar))
        for extreme in (np.array([2**63 - 1, -(2**63), 2**62]), np.array([2**64 - 1, 0], dtype=np.uint64)):
            assert np.isfinite(function(extreme)).all()
        if function is not geometric:
            for clean in (np.zeros(len(HARD)), np.array(HARD)):
                answer = function(clean)
                assert answer.dtype == np.float64
                assert np.isfinite(answer).all()


def test_what_hard_values_count_as():
    """Missing counts as 0, moved between the bounds; an infinity as the end of the grid; a whole number beyond 2^62 as that."""
    assert laplace(math.nan) == pytest.approx(0, abs=0.01)
    assert laplace([None, "x"], lower=5, upper=9) == pytest.approx([5, 5], abs=0.01)
    assert laplace(math.nan, lower=-9, upper=-5) == pytest.approx(-5, abs=0.01)
    end = 2.0**200 * calibration.laplace_plan(Fraction(1), Fraction(10**6), 1).step
    assert laplace(math.inf) == end
    assert laplace(-math.inf) == -end
    assert geometric([2**70, -math.inf]) == [2**62, -(2**62)]
    assert geometric(2.9) == 2
    assert geometric([2.9, 3.0, Fraction(7, 2), Decimal(4)]) == [0, 3, 0, 4]
    assert geometric(Fraction(7, 2)) == 3


def test_bounds_clamp_the_answer():
    """lower= and upper= hold for every answer, exactly; whole answers lie on whole numbers between them; they take no part in the noise."""
    values = np.zeros(5000)
    answers = mechanisms.laplace(values, 1, 0.01, lower=-0.1, upper=0.7)
    assert answers.min() == -0.1
    assert answers.max() == 0.7
    answers = mechanisms.gaussian(values, 1, 0.01, 1e-6, lower=-1.5, upper="7/2", integer=True)
    assert sorted(set(answers.tolist())) == [-1, 0, 1, 2, 3]
    answers = mechanisms.geometric(values.astype(int), 1, 0.01, lower=Fraction(-3, 2))
    assert answers.min() == -1
    assert mechanisms.laplace(5, 1, 1, lower=2, upper=2) == 2.0
    assert mechanisms.laplace(5, 1, 1, lower=1e300) == 1e300
    assert mechanisms.laplace(5, 1, 1, lower=2**62 - 1, integer=True) == 2**62 - 1
    assert mechanisms.geometric(5, 1, 1, lower=2**62) == 2**62


def test_result_dtype_does_not_depend_on_values():
    """Whatever values and noise are, the dtype of an answer follows from the call alone: also where noise or values pass 64 bits."""
    for values in ([0.0, 1.0], [math.nan, math.inf], [1e300, -1e300]):
        series = pd.Series(values)
        assert mechanisms.laplace(series, 1, 1).dtype == np.float64
        assert mechanisms.laplace(series, 1, 1, integer=True).dtype == np.int64
        assert mechanisms.gaussian(series, 1, 1, 1e-6, integer=True).dtype == np.int64
    for values in ([0, 1], [2**63 - 1, -(2**63)]):
        assert mechanisms.geometric(np.array(values), 1, 1e-12).dtype == np.int64
        assert mechanisms.geometric(np.array(values), 10**30, 1e-6).dtype == np.int64


@pytest.mark.parametrize("function", ADDITIVE)
@pytest.mark.parametrize(
    "value",
    ["7", b"7", 1j, {}, {1}, [[1]], [np.array([1])], pd.Index([1]), pd.NaT, np.timedelta64(1, "s"), object(), pd.array([1])],
    ids=lambda value: type(value).__name__,
)
def test_other_types_are_refused(function, value):
    """What is none of the containers is a typed error that says what is accepted."""
    with pytest.raises(ParameterTypeError, match="Series or a DataFrame"):
        function(value)


@pytest.mark.parametrize("function", ADDITIVE)
@pytest.mark.parametrize(
    "values",
    [
        ["a"],
        np.array(["SECRET-42"]),
        [1j],
        [pd.Timestamp("2020")],
        [pd.Timedelta(1)],
        pd.Categorical([1]),
        np.array([1, "SECRET-42"], dtype=object),
    ],
    ids=str,
)
def test_other_dtypes_are_refused(function, values):
    """Texts, dates, categories and objects are an UnsupportedDtype, which names column and dtype and no value, and does not tell how long texts are; it holds no frame, and can be pickled."""
    series = pd.Series(values, name="x")
    for value in (series, pd.DataFrame({"x": series}), *([values] if isinstance(values, np.ndarray) else [])):
        with pytest.raises(UnsupportedDtype) as caught:
            function(value)
        text = str(caught.value)
        assert "SECRET" not in text
        assert "288" not in text  # of "str288"
        assert "Nothing was computed" in text
        assert str(pickle.loads(pickle.dumps(caught.value))) == text


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"sensitivity": 0}, "sensitivity"),
        ({"sensitivity": -1}, "sensitivity"),
        ({"sensitivity": math.inf}, "sensitivity"),
        ({"sensitivity": math.nan}, "sensitivity"),
        ({"sensitivity": None}, "sensitivity"),
        ({"sensitivity": True}, "sensitivity"),
        ({"sensitivity": "much"}, "sensitivity"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": [1]}, "epsilon"),
        ({"lower": math.nan}, "lower"),
        ({"upper": math.inf}, "upper"),
        ({"upper": True}, "upper"),
        ({"lower": "1/0"}, "lower"),
        ({"lower": "-+1"}, "lower"),
        ({"lower": 10**301}, "lower"),
        ({"lower": 2, "upper": 1}, "lower"),
    ],
    ids=str,
)
@pytest.mark.parametrize("function", ADDITIVE)
def test_bad_parameters_are_refused(function, options, parameter):
    """A sensitivity, ε or bounds out of range are a ParameterError that names the parameter; of the wrong type, a ParameterTypeError."""
    with pytest.raises(ParameterError) as caught:
        function(5, **options)
    assert caught.value.parameter == parameter
    assert isinstance(caught.value, ParameterTypeError) == (type(next(reversed(options.values()))) in {bool, list, type(None)})


def test_more_bad_parameters():
    """A δ of 0 or 1, a flag that is none, whole answers where there are none, a geometric sensitivity that is no whole number, and lists that do not match are errors, too."""
    for delta in (0, 1, -0.1, math.nan):
        with pytest.raises(ParameterError, match="delta"):
            mechanisms.gaussian(1, 1, 1, delta)
    with pytest.raises(ParameterTypeError, match="integer"):
        mechanisms.laplace(1, 1, 1, integer=1)
    with pytest.raises(ParameterError, match="no whole number"):
        mechanisms.laplace(1, 1, 1, lower=0.2, upper=0.8, integer=True)
    with pytest.raises(ParameterError, match="no whole number"):
        mechanisms.geometric(1, 1, 1, lower=0.2, upper=0.8)
    for call in (lambda: mechanisms.geometric(1, 1, 1, lower=2**62 + 1), lambda: mechanisms.laplace(1, 1, 1, upper=-1e30, integer=True)):
        with pytest.raises(ParameterError, match=r"2\*\*62"):
            call()
    with pytest.raises(ParameterError, match="whole number"):
        mechanisms.geometric(1, 0.5, 1)
    with pytest.raises(ParameterError, match="as many as candidates"):
        mechanisms.exponential(["a"], [1, 2], 1, 1)
    with pytest.raises(ParameterError, match="candidates"):
        mechanisms.exponential([], [], 1, 1)
    for candidates, scores in (("ab", [1, 2]), (["a"], 1), (["a"], pd.DataFrame({"x": [1]})), (["a"], np.ones((1, 1))), ({"a"}, [1])):
        with pytest.raises(ParameterTypeError):
            mechanisms.exponential(candidates, scores, 1, 1)
    with pytest.raises(ParameterError, match="answers"):
        mechanisms.compare(answers=0)


def test_parameters_mean_what_they_print():
    """0.1 is one tenth for a sensitivity and ε, whatever type it comes in: the noise is the same, to the bit."""
    from pandas_dp.testing import unsafe_seeded_noise

    answers = set()
    for tenth in (0.1, "0.1", "1/10", Fraction(1, 10), Decimal("0.1"), np.float32(0.1), np.float64(0.1)):
        with unsafe_seeded_noise(3):
            answers.add(mechanisms.laplace(1, tenth, tenth, lower="-1000", upper=10**6))
    assert len(answers) == 1


def test_noise_is_fresh():
    """Two calls, and two values of one call, get different noise (equal with a probability below 2^-28 each)."""
    answers = [*mechanisms.laplace(np.zeros(50), 1, 1), mechanisms.laplace(0, 1, 1), *mechanisms.gaussian(np.zeros(50), 1, 1, 1e-6)]
    assert len(set(answers)) > 98


class Stubborn(int):
    """An integer that cannot be read exactly."""

    def __int__(self):
        """Fail."""
        raise ValueError


def test_values_that_no_double_holds():
    """Large integers, thirds and misbehaving numbers in lists, arrays and scores are read exactly or count as missing; whole numbers stay whole."""
    assert geometric([2**61 + 1, Fraction(10**20 + 1, 3), 3], epsilon=NO_NOISE) == [2**61 + 1, 0, 3]
    assert laplace([Fraction(10, 3), Stubborn(5)]) == pytest.approx([10 / 3, 0], abs=0.01)
    assert laplace(Decimal("1234567890123456789.123")) == float(1234567890123456789)
    assert mechanisms.exponential(["a", "b"], [2**70 + 2**10, 2**70 + 1], 1, 10) == "a"


def test_more_values_than_a_block():
    """Long arrays are worked on in blocks; each value stays where it was, also those that need exact arithmetic."""
    values = np.arange(300_000)
    values[[5, 200_000, 299_999]] = [2**60 + 1, -(2**60) - 1, 2**61 + 3]
    assert np.array_equal(geometric(values), values)
    assert np.allclose(laplace(values), values.astype(float), atol=0.01)
    assert laplace(values, integer=True).dtype == np.int64


def test_chunked_arrow_columns():
    """A column of several Arrow chunks is read like one."""
    import pyarrow as pa

    chunks = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([[1, None], [3]])))
    assert geometric(chunks).tolist() == [1, 0, 3]
