"""Every kind of index is followed alike: dtypes, names, levels, dates, and labels that became columns."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from lineage_operations import OPERATIONS
from lineage_support import (
    ANSWERED,
    BEDS,
    ROOTS,
    ROWS,
    Case,
    check,
    counted,
    csv,
    edit,
    first_half,
    majors,
    parquet,
    plain,
    protect,
    quiet,
    refused,
    relabel,
    second_half,
    table,
)

from pandas_dp import LineageError, NotProtected

EVERYWHERE = table(
    ("itself", ANSWERED, lambda p: p),
    ("mask", ANSWERED, lambda p: p[p["age"] >= 40]),
    ("query", ANSWERED, lambda p: p.query("smoker")),
    ("iloc reversed", ANSWERED, lambda p: p.iloc[::-1]),
    ("single row", ANSWERED, lambda p: p.iloc[[5]]),
    ("no row", ANSWERED, lambda p: p[p["age"] > 1000]),
    ("sample", ANSWERED, lambda p: p.sample(frac=0.5, random_state=1)),
    ("sort_values", ANSWERED, lambda p: p.sort_values("age")),
    ("Series", ANSWERED, lambda p: p["charge"]),
    ("columns", ANSWERED, lambda p: p[["age", "charge"]]),
    ("assign", ANSWERED, lambda p: p.assign(monthly=p["charge"] / 12)),
    ("map", ANSWERED, lambda p: p["ward"].map(BEDS.set_index("ward")["beds"])),
    ("deepcopy", ANSWERED, copy.deepcopy),
    ("pickle", ANSWERED, lambda p: pickle.loads(pickle.dumps(p))),
    ("concat disjoint", ANSWERED, lambda p: pd.concat([second_half(p), first_half(p)])),
    ("concat twice", LineageError, lambda p: pd.concat([p, p])),
    ("take with repeats", LineageError, lambda p: p.take([0, 1, 0])),
    ("repeat the last", LineageError, lambda p: p.iloc[[*range(ROWS), -1]]),
    ("reset_index(drop=True)", LineageError, lambda p: p.reset_index(drop=True)),
    ("set_index", LineageError, lambda p: p.set_index("code")),
    ("set_axis", LineageError, lambda p: p.set_axis([f"new {k}" for k in range(ROWS)], axis=0)),
    ("transpose", LineageError, lambda p: p.T),
    ("groupby.max", LineageError, lambda p: p.groupby("ward").max()),
)  # fmt: skip


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("case", EVERYWHERE)
def test_every_kind_of_index_is_followed(case, root):
    """Rule: what is answered or refused does not depend on the index's dtype, order, start, step, name or number of levels."""
    check(case, protect(ROOTS[root]()))


@pytest.mark.parametrize("root", [root for root in ROOTS if root != "two unnamed levels"])
def test_labels_are_found_in_columns(root):
    """Rule: after reset_index(), the labels are found as columns of their names; repeated there, they are refused."""
    frame = protect(ROOTS[root]())
    check(Case("reset_index", ANSWERED, lambda p: p.reset_index()), frame)
    check(Case("reset_index, filter", ANSWERED, lambda p: p.reset_index().query("smoker")), frame)
    check(Case("reset_index, concat twice", LineageError, lambda p: pd.concat([p.reset_index()] * 2)), frame)


def test_unnamed_levels_are_not_found_in_columns():
    """Rule: levels without names cannot be told from columns after reset_index(): refused."""
    check(Case("reset_index", LineageError, lambda p: p.reset_index()), protect(ROOTS["two unnamed levels"]()))


@pytest.mark.parametrize("root", [root for root in ROOTS if root not in {"overlapping intervals", "intervals", "mixed", "tuples"}])
def test_parquet_round_trips_in_one_process(root):
    """Rule: a frame written to parquet and read back is answered, whatever its index (that parquet can hold)."""
    check(Case("parquet", ANSWERED, parquet), protect(ROOTS[root]()))


# Overlapping intervals are the labels that pandas itself looks up with most restrictions.
INTERVALS = table(
    ("mask", ANSWERED, lambda p: p[p["age"] >= 40]),
    ("query", ANSWERED, lambda p: p.query("smoker")),
    ("sort_values", ANSWERED, lambda p: p.sort_values(["ward", "age"])),
    ("sort_index", ANSWERED, lambda p: p.sort_index(ascending=False)),
    ("shuffled column", ANSWERED, lambda p: p.sample(frac=1, random_state=1)["charge"]),
    ("repeated", LineageError, lambda p: p.iloc[[3, 2, 3]]),
    ("other intervals", LineageError, edit(lambda p: relabel(p, pd.IntervalIndex.from_tuples([(k, k + 3) for k in range(ROWS)])))),
    ("touching intervals", LineageError, edit(lambda p: relabel(p, pd.interval_range(0, ROWS)))),
    ("closed on the other side", LineageError, edit(lambda p: relabel(p, p.index.set_closed("left")))),
    ("numbers inside", LineageError, edit(lambda p: relabel(p, p.index.mid))),
)  # fmt: skip


@pytest.mark.parametrize("case", INTERVALS)
def test_overlapping_intervals_are_followed(case):
    """Rule: intervals may overlap: each is a label of its own, which nothing inside, around or beside it stands for."""
    check(case, protect(ROOTS["overlapping intervals"]()))


# A named index keeps its name, a string that knows the handle: it is found where attrs are lost, but not in a file.
NAMED = table(
    ("arithmetic", ANSWERED, lambda p: p["charge"] / p["age"] + p["visits"]),
    ("comparison", ANSWERED, lambda p: (p["charge"] > 10) & ~p["smoker"]),
    ("fillna", ANSWERED, lambda p: p["charge"].fillna(0)),
    ("clip", ANSWERED, lambda p: p["charge"].clip(0, 100)),
    ("where", ANSWERED, lambda p: p.where(p["age"] > 30)),
    ("isna", ANSWERED, lambda p: p.isna()),
    ("astype", ANSWERED, lambda p: p.astype({"age": "float32"})),
    ("eval", ANSWERED, lambda p: p.eval("monthly = charge / 12")),
    ("str", ANSWERED, lambda p: p["ward"].str.upper()),
    ("numpy function", ANSWERED, lambda p: np.log1p(p["charge"])),
    ("apply to rows", ANSWERED, lambda p: p.apply(lambda row: row["age"] * 2, axis=1)),
    ("to_frame", ANSWERED, lambda p: p["age"].to_frame()),
    ("drop and rename columns", ANSWERED, lambda p: p.drop(columns="ward").rename(columns={"age": "years"})),
    ("assign a map of a public table", ANSWERED, lambda p: p.assign(beds=p["ward"].map(BEDS.set_index("ward")["beds"]))),
    # What every error text advises instead of merge().
    ("join a public table on a key", ANSWERED, lambda p: p.join(BEDS.set_index("ward"), on="ward")),
    ("DataFrame of a Series", ANSWERED, lambda p: pd.DataFrame({"x": p["age"]})),
    ("get_dummies", ANSWERED, lambda p: pd.get_dummies(p["ward"])),
    ("cut", ANSWERED, lambda p: pd.cut(p["age"], [0, 18, 65, 120])),
    ("to_numeric", ANSWERED, lambda p: pd.to_numeric(p["code"])),
    ("concat columns", ANSWERED, lambda p: pd.concat([p[["age"]], p["charge"].rename("cost")], axis=1)),
    ("concat disjoint", ANSWERED, lambda p: pd.concat([second_half(p), first_half(p)])),
    ("pivot", ANSWERED, lambda p: p.pivot(columns="ward", values="age")),
    ("unstack", LineageError, lambda p: p[["age", "visits"]].unstack()),
    ("melt", LineageError, lambda p: p.melt(value_vars=["age", "visits"], ignore_index=False)),
    ("repeated dummies", LineageError, lambda p: pd.get_dummies(p["ward"]).take([0, 1, 0])),
    # These keep the text of the name alone.
    ("cut, pickled", NotProtected, lambda p: pickle.loads(pickle.dumps(pd.cut(p["age"], [0, 18, 65, 120])))),
    ("csv", NotProtected, csv),
    ("reset_index, merge a public table", NotProtected, lambda p: p.reset_index().merge(BEDS, on="ward")),
    ("rename_axis", LineageError, lambda p: p.rename_axis(index=lambda name: f"{name}_x")),
    ("groupby.sum", LineageError, lambda p: p.groupby("ward").sum(numeric_only=True)),
    ("groupby every level", ANSWERED, lambda p: p.groupby(level=list(range(p.index.nlevels))).max()),
    ("reset_index, groupby.max", LineageError, lambda p: p.reset_index().groupby("ward").max()),
)  # fmt: skip


@pytest.mark.parametrize("root", ["named", "named texts", "two levels"])
@pytest.mark.parametrize("case", NAMED)
def test_a_named_index_is_found_by_its_name(case, root):
    """Rule: a named index keeps its names, and its frame is found through them wherever pandas hands them on, with attrs or without."""
    frame = ROOTS[root]()
    names = list(frame.index.names)
    protected = protect(frame)
    assert list(protected.index.names) == names
    check(case, protected)


# What goes by the columns' names alone; pandas 2 writes no attrs to feather.
NAME_ALONE = {
    "csv with index_col=0",
    "csv",
    "json table",
    "json records after reset_index",
    "to_records",
    "reset_index, merge a public table",
    "reset_index, merge with repeated keys",
    *majors((), ("feather",)),
}


@pytest.mark.parametrize("case", OPERATIONS)
def test_a_named_index_is_followed_like_an_unnamed_one(case):
    """Rule: an index's name makes no difference, save where its text alone survives: it is an ordinary name, and leads nowhere."""
    expected = NotProtected if case.name in NAME_ALONE else case.expected
    check(case._replace(expected=expected), protect(ROOTS["named"]()))


def test_the_name_of_an_index_stays_an_ordinary_string():
    """Rule: the name that knows the handle equals, hashes, copies and prints like the string it was, and pickles as nothing else."""
    frame = protect(ROOTS["named"]())
    name = frame.index.name
    assert name == "visit"
    assert {name: 1}["visit"] == 1
    assert f"{name} {name!r}" == "visit 'visit'"
    assert copy.copy(name) is copy.deepcopy(name) is name
    assert type(pickle.loads(pickle.dumps(name))) is str
    assert frame.reset_index()["visit"].tolist() == list(range(ROWS))
    assert frame.groupby("visit").ngroups == ROWS


def test_a_name_that_is_no_string_is_found_through_attrs():
    """Rule: only a string can know the handle: a frame whose index is named by a number is refused where pandas drops attrs."""
    frame = protect(plain(pd.RangeIndex(ROWS, name=7)))
    assert counted(frame[frame["age"] > 30], frame.dp.session) == (plain()["age"] > 30).sum()
    refused(NotProtected, pd.cut(frame["age"], [0, 18, 65, 120]), frame.dp.session)


LEVELS = table(
    ("set_index append", ANSWERED, lambda p: p.set_index("ward", append=True)),
    ("swaplevel", ANSWERED, lambda p: p.swaplevel()),
    ("sort_index", ANSWERED, lambda p: p.sort_index(level="visit")),
    ("loc keeps both levels", ANSWERED, lambda p: p.loc[[p.index[0][0]]]),
    ("xs keeps both levels", ANSWERED, lambda p: p.xs(3, level="visit", drop_level=False)),
    ("reset_index, the levels swapped", ANSWERED, lambda p: p.reset_index()[["visit", "hospital", "age"]]),
    ("reset_index, reordered", LineageError, lambda p: p.reset_index()[["visit", "age", "hospital"]]),
    ("reset_index, one level missing", LineageError, lambda p: p.reset_index()[["visit", "age"]]),
    ("loc drops a level", LineageError, lambda p: p.loc[p.index[0][0]]),
    ("xs drops a level", LineageError, lambda p: p.xs(3, level="visit")),
    ("droplevel", LineageError, lambda p: p.droplevel("hospital")),
    ("reset_index of one level, dropped", LineageError, lambda p: p.reset_index("visit", drop=True)),
    ("groupby a level", LineageError, lambda p: p.groupby(level="hospital").max()),
    ("unstack", LineageError, lambda p: p["age"].unstack("visit")),
    ("stack", LineageError, quiet(lambda p: p[["age", "visits"]].stack())),
    ("renamed level", LineageError, lambda p: p.rename_axis(index={"visit": "stay"})),
    ("labels of a level", LineageError, edit(lambda p: relabel(p, p.index.set_levels(list(range(100, 112)), level="visit")))),
)  # fmt: skip


@pytest.mark.parametrize("case", LEVELS)
def test_a_row_label_of_two_levels_is_followed_whole(case):
    """Rule: with a MultiIndex, the levels together are the label: in any order and beside others they will do, one of them will not."""
    check(case, protect(ROOTS["two levels"]()))


DATES = table(
    ("partial date", ANSWERED, lambda p: p.loc["2024-02"]),
    ("truncate", ANSWERED, lambda p: p.truncate(after="2024-01-20")),
    ("csv with dates", ANSWERED, lambda p: csv(p, index_col=0, parse_dates=True)),
    ("csv without dates", ANSWERED, csv),
    ("asfreq to hours", LineageError, lambda p: p.asfreq("h")),
    ("shift of the labels", LineageError, lambda p: p.shift(1, freq="D")),
    ("to_period", LineageError, lambda p: p.to_period("D")),
    ("tz_localize", LineageError, lambda p: p.tz_localize("UTC")),
    ("groupby the year", LineageError, lambda p: p.groupby(p.index.year).max()),
    ("resample to hours", LineageError, lambda p: p.resample("12h").max()),
    ("resample to weeks, labelled before the first day", LineageError, lambda p: p.resample("W", label="left").max()),
    ("rolling", ANSWERED, lambda p: p["age"].rolling("3D").mean()),
)  # fmt: skip


@pytest.mark.parametrize("case", DATES)
def test_a_datetime_index_is_followed(case):
    """Rule: dates as row labels choose rows as any labels do; what moves or refines the dates has other rows."""
    check(case, protect(ROOTS["days"]()))
