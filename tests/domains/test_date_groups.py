"""Grouping by date buckets: pd.Grouper over a public range, alone and with other keys, in the tables of one charge."""

from __future__ import annotations

import pandas as pd
import pytest
from support import protect, silent_noise

from pandas_dp import KeysError
from pandas_dp.datasets import Visits, visits

BIG = 100_000
YEAR = ("2024-01-01", "2024-12-31")


def table(**options):
    return protect(visits(), schema=Visits, **options)


@pytest.mark.parametrize("freq", ["MS", "ME", "QS", "W", "W-WED", "YS", "7D", "D"])
def test_as_pandas_groups(freq):
    """At huge ε sizes and means equal pandas' groupby with the same Grouper, labels and frequency included."""
    grouper, raw = pd.Grouper(key="admitted", freq=freq), visits()
    sizes = table().dp.groupby(grouper, keys=YEAR).size(epsilon=BIG)
    expected = raw.groupby(grouper).size()
    pd.testing.assert_series_equal(sizes, expected, check_freq=False)
    means = table().dp.groupby(grouper, keys=YEAR)["charge"].mean(epsilon=BIG)
    assert means.to_numpy() == pytest.approx(raw.groupby(grouper)["charge"].mean().to_numpy(), rel=1e-2)


def test_with_other_keys():
    """Buckets multiply with declared keys; a dict gives each column its own."""
    grouper, raw = pd.Grouper(key="admitted", freq="QS"), visits()
    found = table().dp.groupby(["ward", grouper], keys={"admitted": YEAR}).agg({"charge": ["mean", "count"]}, epsilon=BIG)
    expected = raw.groupby(["ward", grouper])["charge"].agg(["mean", "count"]).loc[["north", "south", "east", "west"]]
    assert found.index.tolist() == expected.index.tolist()
    assert found.index.names == ["ward", "admitted"]
    assert found["charge", "mean"].to_numpy() == pytest.approx(expected["mean"].to_numpy(), rel=1e-3)


def test_every_bucket_of_the_range():
    """Buckets without rows are there as noise around zero, and dates outside of the range fall into none."""
    df = protect(pd.DataFrame({"t": pd.to_datetime(["2020-05-05", "2024-02-10", None])}))
    grouper = pd.Grouper(key="t", freq="MS")
    assert df.dp.groupby(grouper, keys=("2024-01-01", "2024-03-31")).size(epsilon=BIG).tolist() == [0, 1, 0]
    empty = df.iloc[:0].dp.groupby(grouper, keys=("2024-01-01", "2024-03-31")).size(epsilon=BIG)
    assert empty.index.tolist() == list(pd.date_range("2024-01-01", periods=3, freq="MS"))
    assert df.dp.where("year(t) >= 2024").groupby(grouper, keys=("2024-01-01", "2024-03-31")).size(epsilon=BIG).tolist() == [0, 1, 0]


def test_the_ledger_says_how(monkeypatch):
    """The entry names column and frequency; one row moves one bucket by one."""
    df = protect(pd.DataFrame({"t": pd.to_datetime(["2024-02-10", "2024-02-11"])}))
    with silent_noise(monkeypatch) as seen:
        for frame in (df, df.iloc[1:]):
            frame.dp.groupby(pd.Grouper(key="t", freq="MS"), keys=("2024-01-01", "2024-03-31")).size(epsilon=1)
    assert df.dp.session.ledger["query"].tolist() == ["groupby('t' by MS).count()"] * 2
    assert (seen[0][0][0] - seen[1][0][0]).tolist() == [0, 1, 0]


def test_without_a_range():
    """A Grouper without a public range is an error that says how to give one; the data are never asked for it."""
    df = table()
    grouper = pd.Grouper(key="admitted", freq="MS")
    for keys in (None, ["2024-01-01"], pd.DatetimeIndex(["2024-01-01", "2024-02-01", "2024-03-01"])):
        with pytest.raises(KeysError, match=r"keys=\(start, end\)"):
            df.dp.groupby(grouper, keys=keys).size(epsilon=1)
    with pytest.raises(KeysError, match=r"keys=\(start, end\)"):
        df.dp.groupby([grouper, "ward"]).size(epsilon=1)
    with pytest.raises(KeysError, match="other"):
        df.dp.groupby(grouper, keys=YEAR, other="rest").size(epsilon=1)
    assert df.dp.session.spent == 0
    assert repr(df.dp.groupby(grouper, keys=YEAR)) == "<.dp.groupby('admitted')>"
