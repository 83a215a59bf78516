"""pandera: what is read, what is frozen, what is validated, and what never leaks."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pytest
from support import protect

import pandas_dp
from pandas_dp import BoundsError, SchemaError, SchemaViolation
from pandas_dp.domains.schema import read_schema


class Visits(pa.DataFrameModel):
    age: int = pa.Field(ge=0, le=110)
    charge: float = pa.Field(ge=0, le=50_000, nullable=True)
    ward: str = pa.Field(isin=["north", "south"])


def frame():
    return pd.DataFrame({"age": [30, 40], "charge": [10.0, np.nan], "ward": ["north", "south"]})


def facts(*checks, dtype=float, **options):
    return read_schema(pa.DataFrameSchema({"x": pa.Column(dtype, list(checks), **options), "g": pa.Column()}), ["x", "g"])[1]["x"]


@pytest.mark.parametrize("schema", [Visits, Visits.to_schema()], ids=["model", "schema"])
def test_models_and_schemas_declare_bounds(schema):
    """Bounds of a DataFrameModel or DataFrameSchema serve every query that names none, on frames and Series."""
    df = protect(frame(), schema=schema)
    assert df.dp.sum("age", epsilon=1000) == pytest.approx(70, abs=2)
    assert df["charge"].dp.mean(epsilon=100_000) == pytest.approx(10, abs=20)
    means = df.dp.mean(epsilon=100_000)
    assert means.index.tolist() == ["age", "charge"]
    assert df.dp.session.releases[0].query == "sum('age' in [0, 110])"


CHECKS = {
    "in_range": ([pa.Check.in_range(0, 5)], (0, 5)),
    "ge and le": ([pa.Check.ge(1), pa.Check.le(4)], (1, 4)),
    "gt and lt": ([pa.Check.gt(1), pa.Check.lt(4)], (1, 4)),
    "intersection": ([pa.Check.in_range(0, 9), pa.Check.ge(3), pa.Check.le(7), pa.Check.le(8)], (3, 7)),
    "one end": ([pa.Check.ge(1)], (1, None)),
    "numbers listed": ([pa.Check.isin([3, 1, 2])], (1, 3)),
    "numbers listed and a range": ([pa.Check.isin([1, 2, 50]), pa.Check.in_range(0, 10)], (1, 10)),
    "a missing value listed": ([pa.Check.isin([1, 2, None, float("nan")])], (1, 2)),
    "equal": ([pa.Check.eq(4)], (4, 4)),
    "nothing of use": ([pa.Check.ne(3), pa.Check.notin([1]), pa.Check.str_length(1, 3)], None),
    "a check under another's name": (
        [pa.Check.ge(0, name="in_range"), pa.Check.le(9, name="isin"), pa.Check.isin([1, 2], name="in_range")],
        (1, 2),
    ),
    "a name of one's own": ([pa.Check.ge(0, name="not negative"), pa.Check.le(9)], (0, 9)),
    "custom checks": ([pa.Check(lambda s: s > 0, name="in_range", statistics={"min_value": 0, "max_value": 1})], None),
    "a check that only warns": ([pa.Check.in_range(0, 5, raise_warning=True)], None),
    "a check by groups": ([pa.Check.in_range(0, 5), pa.Check.le(1, groupby="g")], (0, 5)),
}


@pytest.mark.parametrize("case", CHECKS)
def test_bounds_are_read_from_pandera_s_own_checks(case):
    """The intersection of pandera's own range checks is declared; custom, warning and grouped checks declare nothing, whatever they are called."""
    checks, expected = CHECKS[case]
    assert facts(*checks).bounds == expected


def test_keys_nullability_and_dtype_are_read():
    """Keys in declared order, nullability and dtype are kept; keys are narrowed by ranges and by each other."""
    read = facts(pa.Check.isin(["b", "a", "c"]), pa.Check.isin(["a", "b"]), dtype=str, nullable=True)
    assert (read.keys, read.bounds, read.nullable, read.numeric) == (("b", "a"), None, True, False)
    assert facts(pa.Check.isin([1, 2, 50]), pa.Check.le(10)).keys == (1, 2)
    assert not facts().nullable
    assert facts().numeric
    assert facts(dtype=None).dtype is None


@pytest.mark.parametrize(
    "checks", [[pa.Check.ge(5), pa.Check.le(4)], [pa.Check.isin([1]), pa.Check.isin([2])], [pa.Check.isin([50]), pa.Check.le(10)]]
)
def test_contradictions_are_errors(checks):
    """Checks that no value can pass are a SchemaError, judged without the data."""
    with pytest.raises(SchemaError, match="no room"):
        facts(*checks)


def test_patterns_declare_for_every_column_they_match():
    """A regex column declares for all matching columns, and narrows what their own declaration says."""
    schema = pa.DataFrameSchema(
        {"lab_1": pa.Column(float, pa.Check.in_range(0, 3)), "^lab_.*": pa.Column(float, pa.Check.ge(-100), regex=True)}
    )
    read = read_schema(schema, ["lab_1", "lab_2", "other", 7, ("lab_3", "a")])[1]
    assert read["lab_1"].bounds == (0, 3)
    assert read["lab_2"].bounds == (-100, None)
    assert "other" not in read


class Broken(pa.DataFrameModel):
    x: NoSuchType = pa.Field()  # noqa: F821


@pytest.mark.parametrize(
    "schema",
    [
        pa.DataFrameSchema({"(": pa.Column(float, regex=True)}),
        pa.DataFrameSchema({"x": pa.Column(None, [pa.Check.ge("2020"), pa.Check.ge(pd.Timestamp("2021"))])}),
        Broken,
    ],
    ids=["a pattern that is none", "bounds of two types", "an annotation that is none"],
)
def test_unreadable_schemas(schema):
    """A schema that pandera itself could not use is a SchemaError."""
    with pytest.raises(SchemaError, match="could not be read"):
        frame().assign(x=1.0).dp.protect(epsilon=1, schema=schema)


@pytest.mark.parametrize("schema", [int, "Visits", {"age": (0, 110)}, object(), pd.DataFrame, pa.Column(float)])
def test_things_that_are_no_schema(schema):
    """Anything but a pandera schema of a frame is a SchemaError that says what is expected."""
    with pytest.raises(SchemaError, match="DataFrameSchema or DataFrameModel"):
        frame().dp.protect(epsilon=1, schema=schema)


def test_a_call_may_only_narrow():
    """Bounds in a call may narrow the schema's, at one end or both, and never widen them."""
    df = protect(frame(), schema=Visits)
    df.dp.sum("age", bounds=(18, 90), epsilon=1)
    df.dp.sum("age", bounds=(0, 110.0), epsilon=1)
    for bounds in ((0, 111), (-1, 110), (-1, 111), (0, 110.00001)):
        with pytest.raises(BoundsError, match="may only narrow"):
            df.dp.sum("age", bounds=bounds, epsilon=1)
    half = protect(pd.DataFrame({"x": [1.0]}), schema=pa.DataFrameSchema({"x": pa.Column(float, pa.Check.ge(0))}))
    with pytest.raises(BoundsError, match="has no bounds"):
        half.dp.sum("x", epsilon=1)
    half.dp.sum("x", bounds=(0, 10), epsilon=1)
    with pytest.raises(BoundsError, match="may only narrow"):
        half.dp.sum("x", bounds=(-1, 10), epsilon=1)


def test_bounds_of_a_boolean_are_known():
    """A boolean needs no bounds, and cannot be given wider ones."""
    df = protect(pd.DataFrame({"b": [True, False]}))
    assert df.dp.sum(epsilon=1000).tolist() == [1]
    with pytest.raises(BoundsError):
        df.dp.sum("b", bounds=(0, 2), epsilon=1)


def test_declared_bounds_are_narrowed_to_a_small_dtype():
    """A schema may serve a frame that stores small integers: bounds the dtype cannot hold end at what it can."""
    schema = pa.DataFrameSchema({"x": pa.Column(None, pa.Check.in_range(-1000, 1000))})
    df = protect(pd.DataFrame({"x": np.array([100, -100], dtype="int8")}), schema=schema)
    df.dp.sum("x", epsilon=1)
    assert df.dp.session.releases[0].estimates[0].domain.grid.last == 127


def test_what_was_read_is_frozen():
    """Changing the schema object after protect() changes nothing."""
    schema = pa.DataFrameSchema({"x": pa.Column(float, pa.Check.in_range(0, 1))})
    df = protect(pd.DataFrame({"x": [0.5]}), schema=schema)
    schema.columns["x"].checks[0].statistics["max_value"] = 10**9
    schema.columns["x"].checks.clear()
    df.dp.sum("x", epsilon=1)
    assert df.dp.session.ledger["scale"].iloc[0] == pytest.approx(1)


SECRET = "SECRET-42"
VIOLATIONS = {
    "value": (pd.DataFrame({"age": [987654, 1], "charge": [1.0, 2.0], "ward": ["north", "south"]}), ("age", "less_than_or_equal_to")),
    "key": (pd.DataFrame({"age": [1], "charge": [1.0], "ward": [SECRET]}), ("ward", "isin")),
    "missing": (pd.DataFrame({"age": [1], "charge": [1.0], "ward": pd.Series([None], dtype=object)}), ("ward", "not_nullable")),
    "dtype": (pd.DataFrame({"age": [SECRET], "charge": [1.0], "ward": ["north"]}), ("age", "wrong_dtype")),
    "column": (pd.DataFrame({"age": [1], "ward": ["north"]}, index=[987654]), ("charge", "not in the frame")),
}


@pytest.mark.parametrize("case", VIOLATIONS)
def test_violations_name_column_and_check_only(case):
    """A frame that does not satisfy its schema: column and check, never a value, label or frame, in text, attributes, chain or stack."""
    bad, failure = VIOLATIONS[case]
    with pytest.raises(SchemaViolation) as caught:
        bad.dp.protect(epsilon=1, schema=Visits)
    error = caught.value
    assert any(column == failure[0] for column, _ in error.failures)
    assert error.__cause__ is None
    assert error.__context__ is None
    text = str(error) + repr(vars(error))
    assert SECRET not in text
    assert "987654" not in text
    assert ("enforce='clamp'" in text) == (case != "column")
    assert [entry.name for entry in caught.traceback][-1] == "call"


def test_clamp_skips_the_values():
    """enforce="clamp" takes the frame as it is; queries clamp anyway."""
    bad = pd.DataFrame({"age": [987654, 1], "charge": [1.0, 2.0], "ward": ["north", "south"]})
    df = protect(bad, schema=Visits, enforce="clamp")
    assert df.dp.sum("age", epsilon=1000) == pytest.approx(111, abs=2)


def test_warnings_of_pandera_do_not_print_values():
    """A check that only warns would print the failing values: nothing is printed."""
    schema = pa.DataFrameSchema({"x": pa.Column(float, pa.Check.le(5, raise_warning=True))})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pd.DataFrame({"x": [987654.25]}).dp.protect(epsilon=1, schema=schema)


def test_coercion_is_kept():
    """A schema that coerces is applied: the protected frame has the declared dtypes."""
    schema = pa.DataFrameSchema({"x": pa.Column(float, pa.Check.in_range(0, 5), coerce=True)})
    df = protect(pd.DataFrame({"x": ["1", "2"]}), schema=schema)
    assert df["x"].dtype == np.float64
    assert df.dp.sum("x", epsilon=100_000) == pytest.approx(3, abs=0.01)


def test_nested_columns_can_be_declared():
    """Columns of a MultiIndex are declared by their tuple."""
    schema = pa.DataFrameSchema({("a", "x"): pa.Column(float, pa.Check.in_range(0, 5))})
    df = protect(pd.DataFrame([[1.0, 2.0]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])), schema=schema)
    assert df.dp.sum(("a", "x"), epsilon=100_000) == pytest.approx(1, abs=0.01)


def test_rejoining_compares_what_the_schema_declares():
    """The same declarations rejoin a named session, other ones do not."""
    frame().dp.protect(epsilon=1, name="by schema", schema=Visits)
    frame().dp.protect(epsilon=1, name="by schema", schema=Visits.to_schema())
    with pytest.raises(pandas_dp.SessionConflict, match="another schema"):
        frame().dp.protect(epsilon=1, name="by schema")


@pytest.mark.parametrize("switch", [{"PANDERA_VALIDATION_ENABLED": "False"}, {"PANDERA_VALIDATION_DEPTH": "SCHEMA_ONLY"}], ids=str)
def test_pandera_switched_off(switch):
    """With pandera's validation switched off by its environment variables bounds are still read and every query still clamps."""
    import os

    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "import pandas as pd, pandas_dp, pandera.pandas as pa\n"
        "s = pa.DataFrameSchema({'x': pa.Column(float, pa.Check.in_range(0, 1))})\n"
        "df = pd.DataFrame({'x': [987654.25, 0.5]}).dp.protect(epsilon=1000000, schema=s)\n"
        "print(round(df.dp.sum('x', epsilon=100000), 1), df.dp.session.ledger['scale'].iloc[0] < 1e-4)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env={**os.environ, **switch})
    assert done.stdout == "1.5 True\n"
