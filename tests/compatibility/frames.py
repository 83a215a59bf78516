"""Made-up frames of every kind of column, from integer arithmetic alone."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

import pandas_dp

__all__ = ["BOUNDS", "MONTHS", "WARDS", "arrow", "checked", "cities", "people", "protect", "raw", "schema", "stays"]

ROWS = 240
WARDS = ["north", "south", "east", "west"]
MONTHS = ("2024-01-01", "2024-06-30")
BOUNDS = {
    "age": (0, 90), "visits": (0, 6), "charge": (0, 1500), "single": (0.0, 24.0), "wide": (0, 2**64 - 1), "many": (0, 50), "share": (0, 1),
    "smoker": None, "maybe": None, "day": ("2024-01-01", "2024-08-31"), "zoned": ("2024-01-01T00:00+01:00", "2024-12-31T00:00+01:00"),
    "stay": ("0h", "48h"), "ward": (0, 1), "kind": (0, 1),
}  # fmt: skip
"""Bounds for each column of ``raw``; None where the dtype has its own, and numbers where it has none."""


def raw(rows=ROWS):
    """Return a frame with a column of every dtype."""
    i = np.arange(rows, dtype=np.int64)
    charge = (i * 7919 % 10_007) / 7.0
    charge[i % 17 == 3] = np.nan
    single = (i * 31 % 97).astype(np.float32) / np.float32(4)
    day = np.datetime64("2024-01-01", "s") + (i * 11 % 240) * np.timedelta64(86_400, "s")
    stay = (i * 13 % 50) * np.timedelta64(3_600 * 10**9, "ns")
    stay[i % 29 == 0] = np.timedelta64("NaT", "ns")
    return pd.DataFrame(
        {
            "age": i * 37 % 91,
            "visits": (i % 7).astype(np.int8),
            "charge": charge,
            "single": single,
            "wide": (i * 2**53).astype(np.uint64) * np.uint64(7),
            "many": pd.array([None if one % 11 == 5 else one * 3 % 50 for one in range(rows)], dtype="Int64"),
            "share": pd.array([None if one % 13 == 5 else one % 8 / 8 for one in range(rows)], dtype="Float64"),
            "smoker": i % 5 < 2,
            "maybe": pd.array([None if one % 19 == 5 else one % 3 == 0 for one in range(rows)], dtype="boolean"),
            "day": day,
            "zoned": pd.DatetimeIndex(day.astype("M8[ns]")).tz_localize("UTC").tz_convert("Europe/Berlin"),
            "stay": stay,
            "ward": np.array([*WARDS, "north", "elsewhere"], dtype=object)[i * i % 6],
            "kind": pd.Categorical(np.array(["a", "b", "c"], dtype=object)[i * 5 % 7 % 3]),
        }
    )


def schema():
    """Return the declarations of ``checked``."""
    import pandera.pandas as pa

    columns = {
        "age": pa.Column(int, pa.Check.in_range(0, 90)),
        "charge": pa.Column(float, [pa.Check.ge(0), pa.Check.le(1500)], nullable=True),
        "ward": pa.Column(object, pa.Check.isin([*WARDS, "elsewhere"])),
        "smoker": pa.Column(bool),
    }
    return pa.DataFrameSchema(columns)


def protect(frame, **options):
    """Protect a frame, by default with ε = 20."""
    if "rho" not in options and "session" not in options:
        options.setdefault("epsilon", 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pandas_dp.LargeBudgetWarning)
        return frame.dp.protect(**options)


def people(**options):
    """Return the frame with every dtype, protected."""
    return protect(raw(), **options)


def checked(**options):
    """Return four of its columns under a schema."""
    frame = raw()[["age", "charge", "ward", "smoker"]].astype({"ward": object})
    return protect(frame, schema=schema(), **options)


def stays(rows=600, persons=80):
    """Return a frame in which a person has several rows."""
    i = np.arange(rows, dtype=np.int64)
    who = i * i * 7 % 1009 % persons
    charge = (i * 7919 % 10_007) / 8.0
    charge[i % 23 == 3] = np.nan
    return pd.DataFrame({"who": who, "ward": np.array(WARDS, dtype=object)[i * 3 % 11 % 4], "charge": charge, "nights": i * 5 % 31})


def cities():
    """Return a frame whose keys are private: four that many have, one that one has, and a few that are missing."""
    city = ["oslo"] * 200 + ["bonn"] * 150 + ["faro"] * 90 + ["home"] + [None] * 9
    i = np.arange(len(city), dtype=np.int64)
    day = np.datetime64("2024-01-01", "s") + (i * 7 % 90) * np.timedelta64(86_400, "s")
    return pd.DataFrame({"city": pd.Series(city, dtype=object), "zone": i * 3 % 5 % 3, "x": i % 10, "day": day, "flag": i % 4 == 0})


def arrow(rows=ROWS):
    """Return columns that Arrow holds."""
    i = np.arange(rows, dtype=np.int64)
    frame = pd.DataFrame({"n": i * 37 % 91, "f": (i * 31 % 97) / 4.0, "b": i % 3 == 0, "s": np.array(WARDS, dtype=object)[i * i % 4]})
    frame = frame.astype({"n": "int64[pyarrow]", "f": "double[pyarrow]", "b": "bool[pyarrow]", "s": "string[pyarrow]"})
    frame.loc[i % 10 == 3, "n"] = None
    day = np.datetime64("2024-01-01", "us") + (i * 11 % 240) * np.timedelta64(86_400 * 10**6, "us")
    return frame.assign(
        t=pd.Series(day).astype("timestamp[us][pyarrow]"), d=pd.Series(i * np.timedelta64(10**6, "us")).astype("duration[us][pyarrow]")
    )
