"""protect(derived="refuse"): the protected frame as a whole, its columns, and tracked views, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support import protect

import pandas_dp
from pandas_dp import LineageError, ParameterError
from pandas_dp.datasets import Visits, visits

COLUMNS = {
    "int": [1, 2, 3],
    "float": [1.0, np.nan, 2.0],
    "bool": [True, False, True],
    "Int64": pd.array([1, None, 3], dtype="Int64"),
    "boolean": pd.array([True, None, False], dtype="boolean"),
    "Float32": pd.array([1.5, None, 3], dtype="Float32"),
    "object": pd.Series(["a", 3, None], dtype=object),
    "str": ["a", "b", "c"],
    "string": pd.array(["a", None, "c"], dtype="string"),
    "category": pd.Categorical(["a", "b", "a"]),
    "datetime": pd.to_datetime(["2024-01-01", "2025-01-01", None]),
    "zoned": pd.to_datetime(["2024-01-01", "2025-01-01", None]).tz_localize("Europe/Paris"),
    "timedelta": pd.to_timedelta([1, 2, None], unit="h"),
    "period": pd.period_range("2024", periods=3, freq="D"),
    "interval": pd.interval_range(0, 3),
    "arrow": pd.array([1, None, 3], dtype="int64[pyarrow]"),
    "arrow text": pd.array(["a", None, "c"], dtype="string[pyarrow]"),
}


def frame():
    return protect(pd.DataFrame(COLUMNS), derived="refuse")


def test_the_frame_itself():
    """The frame as a whole, every one of its columns of every dtype, and views are answered; by group, too."""
    df = frame()
    df.dp.count(epsilon=1)
    for column in df:
        df.dp.count(column, epsilon=1)
        if column != "boolean":
            df[column].dp.count(epsilon=1)
    df.dp.where("int >= 2").assign(twice="int * 2").select(["twice"]).sum("twice", bounds=(0, 6), epsilon=1)
    df.dp.groupby("bool").mean("int", bounds=(0, 3), epsilon=1)
    df.dp.preview.count(epsilon=1)
    df["int"].dp.preview.count(epsilon=1)
    same = df
    same.dp.count(epsilon=1)


def test_a_nullable_boolean_by_itself():
    """A nullable boolean does not say where it is kept: where pandas makes a new array for its Series it is refused, and answered by name."""
    df = frame()
    if pd.__version__.startswith("2."):
        df["boolean"].dp.count(epsilon=1)
    else:
        with pytest.raises(LineageError):
            df["boolean"].dp.count(epsilon=1)
    df.dp.mean("boolean", epsilon=1)


def test_filters_that_keep_every_row():
    """A filter, sort or fill that changes nothing is refused like one that does: which it is would be a free answer about the data."""
    df = frame()
    for made in (
        df[df["int"] > 0],
        df.query("int > 0"),
        df.sort_values("int"),
        df.fillna({"int": 0}),
        df.replace(999, 0),
        df.copy(deep=False),
    ):
        with pytest.raises(LineageError):
            made.dp.count(epsilon=1)


DERIVED = {
    "a filter": lambda df: df[df["int"] > 1],
    "a slice": lambda df: df.iloc[:2],
    "reversed": lambda df: df.iloc[::-1],
    "a choice of columns": lambda df: df[["int", "float"]],
    "a copy": lambda df: df.copy(),
    "a new column": lambda df: df.assign(z=1),
    "an overwritten column": lambda df: df.assign(int=df["int"] - df["int"].mean()),
    "columns exchanged": lambda df: df.rename(columns={"int": "float", "float": "int"}),
    "arithmetic": lambda df: df["int"] * 2,
    "negation": lambda df: ~df["boolean"],
    "filled": lambda df: df["Int64"].fillna(0),
    "another name": lambda df: df["int"].rename("float"),
    "upper case": lambda df: df["str"].str.upper(),
    "arrow upper case": lambda df: df["arrow text"].str.upper(),
    "other categories": lambda df: df["category"].cat.rename_categories({"a": "x"}),
    "codes": lambda df: df["category"].cat.codes,
    "shifted": lambda df: df["datetime"].shift(1),
    "another zone": lambda df: df["zoned"].dt.tz_convert("UTC"),
    "a part of a column": lambda df: df["int"].iloc[:2],
    "twice": lambda df: pd.concat([df, df]),
}


@pytest.mark.parametrize("case", DERIVED)
def test_derived_frames_are_refused(case):
    """Everything that ordinary pandas makes of it is refused before the charge, with what to do instead; also by preview."""
    df = frame()
    derived = DERIVED[case](df)
    with pytest.raises(LineageError, match=r"derived='refuse'.*df\.dp\.where"):
        derived.dp.count(epsilon=1)
    with pytest.raises(LineageError, match="derived='refuse'"):
        derived.dp.preview.count(epsilon=1)
    assert df.dp.session.spent == 0


def test_followed_by_default():
    """The twin: the same derived frames, where rows stay rows, are answered by default."""
    df = protect(pd.DataFrame(COLUMNS))
    for case in ("a filter", "reversed", "a choice of columns", "a copy", "a new column", "codes", "upper case"):
        DERIVED[case](df).dp.count(epsilon=1)


def test_overwritten_in_place():
    """A column of the frame itself that is replaced is noticed."""
    df = frame()
    df["int"] = df["int"] - df["int"].mean()
    with pytest.raises(LineageError, match="refuse"):
        df.dp.count(epsilon=1)


def test_category_codes_shift_with_one_row():
    """Case B04: codes depend on who else is there. derived="refuse" refuses them; a view has no way to write them."""
    df = protect(pd.DataFrame({"s": ["b", "a"]}), derived="refuse")
    with pytest.raises(LineageError):
        df.assign(c=df["s"].astype("category").cat.codes).dp.sum("c", bounds=(0, 1), epsilon=1)
    with pytest.raises(pandas_dp.ExpressionError):
        df.dp.assign(c="s.cat.codes")


def test_a_unit_frame_may_not_be_adopted():
    """adopt() would be a way around: it is refused, too."""
    df = protect(visits(), schema=Visits, unit="patient_id", max_rows=3, derived="refuse")
    df.dp.mean("age", epsilon=1)
    with pytest.raises(LineageError):
        df.dp.session.adopt(df.groupby("patient_id", as_index=False)["charge"].sum())


def test_running_the_cell_again():
    """A named session continues when the cell runs again, and answers the new frame; with another choice it is an error."""
    for _ in range(2):
        df = protect(visits(), schema=Visits, name="strict", derived="refuse")
        df.dp.count(epsilon=1)
    assert df.dp.session.spent == 2
    with pytest.raises(pandas_dp.SessionConflict, match="derived"):
        protect(visits(), schema=Visits, name="strict")
    with pytest.raises(ParameterError, match="derived must be one of 'follow', 'refuse'"):
        protect(visits(), derived="never")
    with pytest.raises(ParameterError, match="derived must be one of"):
        protect(visits(), derived=True)


def test_memory_is_shared():
    """Keeping the frame to recognise it copies no values."""
    raw = pd.DataFrame({"x": np.zeros(1000)})
    df = protect(raw, derived="refuse")
    assert np.shares_memory(df["x"].to_numpy(), raw["x"].to_numpy())
