"""What the tests of expressions share: strict evaluation, and a frame of every odd value."""

from __future__ import annotations

import itertools
import math
import warnings
from contextlib import contextmanager
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from pandas_dp.expressions.parse import Column, parse

FIELDS = ["year", "month", "day", "hour", "dayofweek"]
PARIS = ZoneInfo("Europe/Paris")
NAN, INF = math.nan, math.inf


@contextmanager
def strict():
    """Turn every warning and every floating-point condition into an error."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def evaluate(text, frame, columns=None):
    """Evaluate strictly, and check what holds of every result: its index, and a dtype that no value decides."""
    expression = parse(text, COLUMNS if columns is None else columns)
    with strict():
        result = expression.evaluate(frame)
        empty = expression.evaluate(frame.iloc[:0])
    assert result.index.equals(frame.index)
    assert result.dtype == empty.dtype
    if expression.kind == "bool":
        with strict():
            mask = expression.mask(frame)
        assert mask.dtype == np.dtype(bool)
        assert mask.index.equals(frame.index)
    return result


FLOATS = [0.0, -0.0, 1.0, -1.0, 2.5, 0.5, -7.25, 1e-310, 1e308, -1e308, 1e16, NAN, INF, -INF, 3.0, 64.0, 65.5]
TIMES = ["2019-12-31 23:30", "2020-02-29 12:00", "2021-06-15 00:00", "2021-06-15 23:59:59.999", "2024-12-31 23:00", None, "1970-01-01"]

COLUMNS = {
    "x": Column("float"),
    "y": Column("float"),
    "i": Column("int"),
    "u": Column("int"),
    "b": Column("bool"),
    "ward": Column("text"),
    "home": Column("text"),
    "t": Column("datetime"),
    "t2": Column("datetime"),
    "z": Column("datetime"),
    "d": Column("timedelta"),
    "any": Column("other"),
    "length of stay": Column("float"),
    "class": Column("int"),
    "größe": Column("float"),
}


def plain():
    """Return a frame of NumPy dtypes with every odd value in it."""
    pairs = list(itertools.product(FLOATS, FLOATS))
    n = len(pairs)
    times = pd.Series(pd.to_datetime([TIMES[k % 7] for k in range(n)], format="mixed"))
    shifted = pd.Series(pd.to_datetime([TIMES[k * 3 % 7] for k in range(n)], format="mixed"))
    return pd.DataFrame(
        {
            "x": [x for x, _ in pairs],
            "y": [y for _, y in pairs],
            "i": [(k * 7) % 23 - 11 for k in range(n)],
            "u": np.arange(n, dtype=np.uint8),
            "b": [k % 3 == 0 for k in range(n)],
            "ward": [["north", "south", None, "", "'"][k % 5] for k in range(n)],
            "home": [["north", None, "south"][k % 3] for k in range(n)],
            "t": times,
            "t2": shifted,
            "z": times.dt.tz_localize("UTC").dt.tz_convert("Europe/Paris"),
            "d": pd.to_timedelta([None if k % 4 == 3 else f"{k} hours" for k in range(n)]),
            "any": [[1], None, "a", 2.0, (3,)] * (n // 5) + [None] * (n % 5),
            "length of stay": [float(x) for x, _ in pairs],
            "class": list(range(n)),
            "größe": [x for x, _ in pairs],
        }
    ).set_axis(pd.Index([f"row{k}" for k in range(n)], name="id"))


def arrow(kind):
    return pd.ArrowDtype(kind)
