"""A Series answers what pandas' Series would be asked, and takes from its name only what can be true of it."""

from __future__ import annotations

import pandas as pd
import pytest
from support import protect

from pandas_dp import BoundsError, CallError, UnsupportedDtype
from pandas_dp.datasets import Visits, visits

BIG = 10_000


@pytest.fixture
def table():
    return protect(visits(), schema=Visits)


def test_the_first_argument_of_a_quantile_is_q(table):
    """series.dp.quantile(0.99) is the 99th percentile, of a group's selected column, too, as in pandas; lists and previews likewise."""
    raw, ages = visits()["age"], table["age"]
    assert ages.dp.quantile(0.99, epsilon=BIG) == pytest.approx(raw.quantile(0.99), abs=1)
    assert ages.dp.quantile([0.1, 0.9], epsilon=BIG).tolist() == pytest.approx(raw.quantile([0.1, 0.9]).tolist(), abs=1)
    assert ages.dp.preview.quantile(0.99, epsilon=1).query == ages.dp.preview.quantile(q=0.99, epsilon=1).query
    expected = visits().groupby("ward")["age"].quantile(0.9)[["north", "south", "east", "west"]]
    assert table.dp.groupby("ward")["age"].quantile(0.9, epsilon=BIG).tolist() == pytest.approx(expected.tolist(), abs=1)
    assert table.dp.groupby("ward").quantile("age", 0.9, epsilon=BIG).tolist() == pytest.approx(expected.tolist(), abs=1)
    assert table.dp.groupby("ward")["age"].quantile(epsilon=BIG).name == "age"


@pytest.mark.parametrize("name", ["var", "std", "median", "min", "max", "iqr", "describe", "sum", "mean", "count"])
def test_a_series_takes_no_column(name, table):
    """A Series names no column: one that is given is an error of the call, and not left out silently; by preview, too."""
    for place in (table["age"].dp, table["age"].dp.preview):
        with pytest.raises(TypeError, match="takes all arguments by name"):
            getattr(place, name)("nonsense", epsilon=1)
    assert table.dp.session.spent == 0


def test_a_boolean_has_its_own_bounds(table):
    """A comparison keeps the name of its column, and none of its bounds or keys: what it is, its dtype says."""
    raw = visits()
    for bools, expected in (
        (table["charge"] > 1000, (raw["charge"] > 1000).mean()),
        (table["age"] > 65, (raw["age"] > 65).mean()),
        (table["charge"].isna(), raw["charge"].isna().mean()),
        ((table["age"] > 65).astype("boolean"), (raw["age"] > 65).mean()),
    ):
        found = bools.dp.mean(epsilon=1)
        assert found == pytest.approx(expected, abs=0.01)
        assert found.half_width() < 0.01
        assert "in [0, 1]" in found.release.query
        assert bools.dp.sum(epsilon=1).half_width() < 10
        assert bools.dp.agg(["mean", "std"], epsilon=1)["mean"] == pytest.approx(expected, abs=0.01)
        assert bools.dp.mean(bounds=(0, 1), epsilon=1) is not None
        assert bools.dp.value_counts(epsilon=1).index.tolist() in ([True, False], [False, True])
    old = table.assign(ward=table["age"] > 65)
    assert old.dp.groupby("ward").size(epsilon=1).index.tolist() == [False, True]
    with pytest.raises(BoundsError):
        table["age"].dp.mean(bounds=(-5, 300), epsilon=1)  # of numbers the schema still holds


def test_the_ledger_says_which_quantile(table):
    """The text of one quantile names it, as that of several does."""
    table.dp.quantile("age", 0.9, epsilon=1)
    table.dp.quantile(["age", "charge"], "1/4", epsilon=1)
    table.dp.median("age", epsilon=1)
    assert table.dp.session.ledger["query"].tolist() == [
        "quantile('age' in [0, 110]; 0.9)",
        "quantile('age' in [0, 110], 'charge' in [0, 50000]; 0.25)",
        "median('age' in [0, 110])",
    ]


def test_the_release_of_a_clamping_rate_is_the_rate(table):
    """What the session keeps of clamping_rate() is what was answered."""
    found = table.dp.clamping_rate("charge", bounds=(0, 3000), epsilon=1)
    kept = table.dp.session.releases[-1]
    assert kept.value == found
    assert kept is found.release
    assert kept.interval() == found.interval()


def test_errors_about_bounds_say_what_is_there(table):
    """A bound that is declared on one side alone is told; dates have no bins over powers of two, and are not called keys; skipna= has an answer."""
    import pandera.pandas as pa

    half = pd.DataFrame({"x": [1.0]}).dp.protect(epsilon=1, schema=pa.DataFrameSchema({"x": pa.Column(float, pa.Check.ge(0))}))
    with pytest.raises(BoundsError, match=r"\(the schema declares \(0, none\) alone\).*dp.bounds"):
        half.dp.mean("x", epsilon=1)
    for ask in (lambda: table.dp.bounds("admitted", epsilon=1), lambda: table.dp.clamping_rate("ward", bounds=(0, 1), epsilon=1)):
        with pytest.raises(UnsupportedDtype, match="of column"):
            ask()
    with pytest.raises(CallError, match="Missing values are always left out"):
        table.dp.mean("age", epsilon=1, skipna=True)
