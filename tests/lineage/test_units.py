"""Named units: whose rows count, how many of them, and what adopt() takes back."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from lineage_support import (
    BEDS,
    BEDS_TWICE,
    EPSILON,
    SENTINEL_TEXT,
    SENTINEL_VALUE,
    check,
    counted,
    edit,
    json,
    parquet,
    protect,
    refused,
    says_nothing,
    table,
    untouched,
)

import pandas_dp
from pandas_dp import LineageError, NotProtected, ParameterError, ParameterTypeError

pytestmark = pytest.mark.usefixtures("one_salt")

PATIENTS = [None if key == "-" else f"{SENTINEL_TEXT}/{key}" for key in "aaabbc-dddd-"]
COUNTED = 7  # a 2, b 2, c 1, d 2; the two rows without a unit do not count


def visits() -> pd.DataFrame:
    """Return twelve visits of four patients, two of them nobody's, with one charge missing (of a's second visit)."""
    row = np.arange(len(PATIENTS))
    charge = row * 100.0
    charge[1] = np.nan
    charge[5] = SENTINEL_VALUE
    return pd.DataFrame(
        {"patient_id": PATIENTS, "ward": np.array(["north", "south"])[row % 2], "age": 20 + row, "charge": charge},
    )


def strangers(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(patient_id="nobody knows")


UNITS = table(
    ("itself", COUNTED, lambda p: p),
    ("Series", COUNTED, lambda p: p["age"]),
    ("Series without missing values", COUNTED, lambda p: p["age"]),
    ("Series in reverse", COUNTED - 1, lambda p: p["charge"].iloc[::-1]),
    ("Series of present values", COUNTED, lambda p: p["charge"].dropna()),
    ("Series of units", COUNTED, lambda p: p["patient_id"]),
    ("map", COUNTED, lambda p: p["ward"].map({"north": 1, "south": 2})),
    ("assign, drop the unit", COUNTED, lambda p: p.assign(x=1).drop(columns="patient_id")),
    ("another column of that name", COUNTED, strangers),
    ("mask", 5, lambda p: p[p["ward"] == "north"]),
    ("tail", 2, lambda p: p.tail(4)),
    ("no row", 0, lambda p: p[p["age"] > 1000]),
    ("single row", 1, lambda p: p.iloc[[5]]),
    ("single row of nobody", 0, lambda p: p.iloc[[6]]),
    ("drop_duplicates", 4, lambda p: p.drop_duplicates("patient_id")),
    ("concat twice", COUNTED, lambda p: pd.concat([p, p]).iloc[[*range(12), 15, 16]]),
    ("concat thrice, every unit at its limit", 8, lambda p: pd.concat([p, p, p])),
    ("repeat a row", 2, lambda p: p.loc[[7] * 5]),
    ("sample with replacement", 8, lambda p: p.sample(n=500, replace=True, random_state=1)),
    ("explode", 8, lambda p: p.assign(tags=[[1, 2]] * len(p)).explode("tags")),
    ("melt", 8, lambda p: p.melt(value_vars=["age", "charge"], ignore_index=False)),
    ("join on repeated keys", 8, lambda p: p.join(BEDS_TWICE.set_index("ward"), on="ward")),
    ("pickle", COUNTED, lambda p: pickle.loads(pickle.dumps(p))),
    ("parquet", COUNTED, parquet),
    ("reset_index", COUNTED, lambda p: p.reset_index()),
    ("reset_index, merge a public table", COUNTED, lambda p: p.reset_index().merge(BEDS, on="ward")),
    ("set_index(unit)", COUNTED, lambda p: p.set_index("patient_id")),
    ("set_index(unit), Series", COUNTED, lambda p: p.set_index("patient_id")["age"]),
    ("set_index(unit), concat twice", 8, lambda p: pd.concat([p.set_index("patient_id")] * 2)),
    ("set_index(unit, append)", COUNTED, lambda p: p.set_index("patient_id", append=True)),
    ("groupby(unit).sum of a column", 4, lambda p: p.groupby("patient_id")["charge"].sum()),
    ("groupby(unit).max", 4, lambda p: p.groupby("patient_id").max()),
    ("groupby(unit) with missing units", 4, lambda p: p.groupby("patient_id", dropna=False)["charge"].sum()),
    ("groupby(unit and ward)", COUNTED, lambda p: p.groupby(["patient_id", "ward"])["charge"].sum()),
    ("groupby(unit).cumcount", COUNTED, lambda p: p.groupby("patient_id").cumcount()),
    # The unit in the index speaks for itself; sums of labels in a column say nothing.
    ("reset_index, groupby(unit).sum", 4, lambda p: p.reset_index().groupby("patient_id").sum(numeric_only=True)),
    ("reset_index(drop=True)", LineageError, lambda p: p.reset_index(drop=True)),
    ("set_index(unit), reset_index", LineageError, lambda p: p.set_index("patient_id").reset_index()),
    ("set_index(ward)", LineageError, lambda p: p.set_index("ward")),
    ("set_index(unit) of strangers", LineageError, lambda p: strangers(p).set_index("patient_id")),
    ("append a stranger", LineageError, edit(lambda p: p.loc.__setitem__(99, ["nobody knows", "north", 1, 1.0]))),
    ("transpose", LineageError, lambda p: p.T),
    ("groupby(ward).max", LineageError, lambda p: p.dropna().groupby("ward").max()),
    ("groupby(ward).sum of a column", LineageError, lambda p: p.groupby("ward")["charge"].sum()),
    ("groupby(unit), as_index=False", LineageError, lambda p: p.groupby("patient_id", as_index=False).max()),
    ("reset_index, groupby(ward).max", LineageError, lambda p: p.dropna().reset_index().groupby("ward").max()),
    # pandas keeps neither name nor attrs: hand these to adopt().
    ("groupby(unit).size", NotProtected, lambda p: p.groupby("patient_id").size()),
    ("groupby(unit).agg", NotProtected, lambda p: p.groupby("patient_id").agg(total=("charge", "sum"))),
    ("merge a public table", NotProtected, lambda p: p.merge(BEDS, on="ward")),
)  # fmt: skip


@pytest.mark.parametrize("case", UNITS)
def test_a_named_unit_is_followed(case):
    """Rule: a row counts if its label, or an index level, shows its unit; at most max_rows rows of each unit, none without one."""
    check(case, protect(visits(), unit="patient_id", max_rows=2))


def test_known_limit_aggregates_under_labels_made_of_labels():
    """Known limit: an aggregate whose labels are made of protected labels, under their name, counts for the units of the labels it has.

    No check can see this: the labels are all there is to see.  The documentation warns of it, and this test will say so if a version of
    pandas changes it.  The answer is charged to the session whose labels it carries.
    """
    frame = protect(visits(), unit="patient_id", max_rows=2)
    groups = frame.dropna().groupby(lambda label: label // 4).max()
    assert groups.index.tolist() == [0, 1, 2]  # all three are labels of a's rows, and two of them count
    assert counted(groups, frame.dp.session) == 2


def test_labels_that_became_numbers_do_not_say_whose_a_row_is():
    """Rule: while the index shows a row's unit, sums of labels in a column cannot give the row to another unit."""
    frame = protect(visits(), unit="patient_id", max_rows=1)
    sums = frame.iloc[1:4].reset_index().groupby("patient_id").sum(numeric_only=True)
    assert sums[frame.index.name].tolist() == [3, 3]  # a's labels 1 + 2 look like b's label 3
    assert counted(sums, frame.dp.session) == 2  # one row of a, one of b


UNIT_LEVELS = table(
    ("itself", COUNTED, lambda p: p),
    ("Series", COUNTED, lambda p: p["age"]),
    ("mask", 5, lambda p: p[p["ward"] == "north"]),
    ("concat thrice", 8, lambda p: pd.concat([p, p, p])),
    ("swaplevel", COUNTED, lambda p: p.swaplevel()),
    ("set_index append", COUNTED, lambda p: p.set_index("ward", append=True)),
    ("droplevel(visit)", COUNTED, lambda p: p.droplevel("visit")),
    ("reset_index", COUNTED, lambda p: p.reset_index()),
    ("reset_index(visit)", COUNTED, lambda p: p.reset_index("visit")),
    ("unstack(visit)", 4, lambda p: p["charge"].unstack("visit")),
    ("groupby(unit).max", 4, lambda p: p.groupby(level="patient_id").max()),
    ("droplevel(unit)", LineageError, lambda p: p.droplevel("patient_id")),
    ("reset_index(drop=True)", LineageError, lambda p: p.reset_index(drop=True)),
    ("groupby(visit).max", LineageError, lambda p: p.groupby(level="visit").max()),
    ("groupby(ward).max", LineageError, lambda p: p.dropna().groupby("ward").max()),
    ("reset_index, groupby(ward).max", LineageError, lambda p: p[["age", "ward"]].query("age == 20 or age == 30").reset_index().groupby("ward").max()),
)  # fmt: skip


@pytest.mark.parametrize("case", UNIT_LEVELS)
def test_a_unit_in_an_index_level_is_followed(case):
    """Rule: a unit may be a level of the index; that level alone is enough, the other alone is not."""
    frame = visits().assign(visit=range(12)).set_index(["patient_id", "visit"])
    check(case, protect(frame, unit="patient_id", max_rows=2))


UNIT_INDEX = table(
    ("itself", COUNTED, lambda p: p),
    ("Series", COUNTED, lambda p: p["age"]),
    ("sort_index", COUNTED, lambda p: p.sort_index()),
    ("concat thrice", 8, lambda p: pd.concat([p, p, p])),
    ("reset_index", COUNTED, lambda p: p.reset_index()),
    ("set_index append", COUNTED, lambda p: p.set_index("ward", append=True)),
    ("groupby(unit).max", 4, lambda p: p.groupby(level=0).max()),
    ("reset_index(drop=True)", LineageError, lambda p: p.reset_index(drop=True)),
    ("rename to a stranger", LineageError, lambda p: p.rename(index={PATIENTS[0]: "nobody knows"})),
    ("groupby(ward).max", LineageError, lambda p: p.dropna().groupby("ward").max()),
    ("reset_index, groupby(ward).max", LineageError, lambda p: p.reset_index().dropna().groupby("ward").max()),
)  # fmt: skip


@pytest.mark.parametrize("case", UNIT_INDEX)
def test_a_unit_that_is_the_index_is_followed(case):
    """Rule: an index that repeats its labels may be the unit itself."""
    check(case, protect(visits().set_index("patient_id"), unit="patient_id", max_rows=2))


UNIT_BESIDE_REPEATED_LABELS = table(
    ("itself", COUNTED, lambda p: p),
    ("mask", 5, lambda p: p[p["ward"] == "north"]),
    ("concat thrice", 8, lambda p: pd.concat([p, p, p])),
    ("reset_index", COUNTED, lambda p: p.reset_index()),
    ("set_index(unit)", COUNTED, lambda p: p.set_index("patient_id")),
    ("Series", COUNTED, lambda p: p["age"]),
    ("Series, shuffled", COUNTED - 1, lambda p: p["charge"].sort_values()),
    ("without the unit", COUNTED, lambda p: p.drop(columns="patient_id")),
    ("strangers", COUNTED, strangers),
    ("loc of a repeated label", 3, lambda p: p.loc[1]),
    ("without the repeated labels", COUNTED, lambda p: p.droplevel(0)),
    ("reset_index of the repeated labels", COUNTED, lambda p: p.reset_index(level=0)),
    ("without the row numbers", LineageError, lambda p: p.droplevel(-1)),
    ("reset_index(drop=True)", LineageError, lambda p: p.reset_index(drop=True)),
    ("groupby(ward).max", LineageError, lambda p: p.dropna().groupby("ward").max()),
    ("groupby(label).max", LineageError, lambda p: p.dropna().groupby(level=0).max()),
    ("reset_index, groupby(ward).max", LineageError, lambda p: p.dropna().reset_index().groupby("ward").max()),
)  # fmt: skip


@pytest.mark.parametrize("name", [None, "stay"])
@pytest.mark.parametrize("case", UNIT_BESIDE_REPEATED_LABELS)
def test_a_unit_beside_repeated_labels_is_read_from_row_numbers(case, name):
    """Rule: where labels repeat, protect() adds a level of row numbers, called by the handle, and rows are traced by it."""
    frame = visits().set_axis(pd.Index([k // 3 for k in range(12)], name=name), axis=0)
    protected = protect(frame, unit="patient_id", max_rows=2)
    assert list(protected.index.names) == [name, protected.attrs["pandas_dp"]]
    pd.testing.assert_frame_equal(protected.droplevel(-1), frame, check_flags=False)
    check(case, protected)


FRAMES = {
    "column": visits(),
    "column beside repeated labels": visits().set_axis([k // 3 for k in range(12)], axis=0),
    "level": visits().assign(visit=range(12)).set_index(["patient_id", "visit"]),
    "index": visits().set_index("patient_id"),
}


@pytest.mark.parametrize("layout", FRAMES)
def test_protecting_the_same_units_again_gives_the_same_handle(layout, request):
    """Rule: protect(name=..., unit=...) run again on the same data returns the same handle; rows of other units get another one."""
    frame = FRAMES[layout]
    parameters = {"name": request.node.name, "unit": "patient_id", "max_rows": 2}
    first, second, third = (protect(rows, **parameters) for rows in (frame, frame, frame.iloc[:-2]))
    session = first.dp.session
    pd.testing.assert_frame_equal(first, second)
    assert second.attrs == first.attrs != third.attrs
    assert list(second.index.names) == list(first.index.names)
    assert counted(first, session) == counted(second, session) == COUNTED
    assert counted(third, session) == COUNTED
    assert session.spent == 3 * Fraction(EPSILON)
    assert session.ledger["frame"].nunique() == 2


OTHER_UNITS = {
    "shuffled": (visits().assign(patient_id=PATIENTS[::-1]), 2, 7),
    "two rows exchanged": (visits().assign(patient_id=[PATIENTS[{1: 4, 4: 1}.get(row, row)] for row in range(12)]), 2, 7),
    "one row of another": (visits().assign(patient_id=["x", *PATIENTS[1:]]), 2, 8),
    "under other names": (visits().assign(patient_id=[None if one is None else f"{one}/other" for one in PATIENTS]), 2, 7),
    "more rows of each": (visits(), 3, 9),
}


@pytest.mark.parametrize("change", OTHER_UNITS)
def test_the_same_labels_under_other_units_are_another_frame(change, request):
    """Rule: protect(name=..., unit=...) on the same row labels with other units, or another ``max_rows``, gives another handle, and limits these units.

    It would catch a comparison of labels alone: rows would be counted by the units of before, and a unit of now could count as often as it likes.
    """
    frame, max_rows, number = OTHER_UNITS[change]
    parameters = {"name": request.node.name, "unit": "patient_id"}
    first = protect(visits(), **parameters, max_rows=2)
    session = first.dp.session
    second = session.protect(frame, **parameters, max_rows=max_rows)
    assert second.attrs != first.attrs
    assert counted(first, session) == COUNTED
    assert counted(second, session) == number


# Labels that cannot tell a unit: pandas cannot hash or compare them, and its errors would quote them.
NO_LABELS = {
    "lists": [[SENTINEL_TEXT], [2], [SENTINEL_TEXT]],
    "dicts": [{SENTINEL_TEXT: 1}, {}, {}],
    "a list among numbers": [1, [SENTINEL_TEXT], 2],
    "signalling NaN": [Decimal("sNaN42"), Decimal(1), Decimal(2)],
}


@pytest.mark.parametrize("labels", NO_LABELS)
@pytest.mark.parametrize("index", [[0, 1, 2], [0, 0, 1]])
def test_a_unit_column_without_usable_labels_is_refused(labels, index):
    """Rule: a unit column whose labels cannot be hashed or compared is a ``ParameterError`` that quotes none of them."""
    frame = pd.DataFrame({"who": NO_LABELS[labels], "x": [1, 2, 3]}, index=index)
    session = pandas_dp.Session(1)
    for protecting in (partial(frame.dp.protect, 1), partial(session.protect, frame)):
        with untouched(session), pytest.raises(ParameterError) as caught:
            protecting(unit="who", max_rows=1)
        assert type(caught.value) is ParameterError
        assert caught.value.parameter == "unit"
        assert "sNaN" not in str(caught.value)
        says_nothing(caught.value)


ADOPTED = table(
    ("merge a public table", COUNTED, lambda p: p.merge(BEDS, on="ward")),
    ("merge on the unit", COUNTED, lambda p: p.merge(p[["patient_id", "age"]], on="patient_id")),
    ("reset_index(drop=True)", COUNTED, lambda p: p.reset_index(drop=True)),
    ("groupby(unit).agg", 4, lambda p: p.groupby("patient_id").agg(total=("charge", "sum"))),
    ("groupby(unit), as_index=False", 4, lambda p: p.groupby("patient_id", as_index=False).max()),
    ("melt", 8, lambda p: p.melt(id_vars="patient_id", value_vars=["age", "charge"])),
    ("json", COUNTED, lambda p: json(p, "records")),
    ("no row", 0, lambda p: p.merge(BEDS.iloc[:0], on="ward")),
    ("itself", COUNTED, lambda p: p),
    # A Series shows its units in its index or a level of it.
    ("Series by unit", 4, lambda p: p.groupby("patient_id").size()),
    ("Series by unit and ward", COUNTED, lambda p: p.groupby(["patient_id", "ward"]).size()),
    ("Series under its units", COUNTED, lambda p: p.set_index("patient_id")["age"]),
    ("Series merged", COUNTED, lambda p: p.merge(BEDS, on="ward").set_index("patient_id")["beds"]),
)


@pytest.mark.parametrize("case", ADOPTED)
def test_an_adopted_frame_is_answered_from_the_same_budget(case):
    """Rule: adopt() takes back a frame that shows its units; it is charged to the session, and followed, like the protected one."""
    frame = protect(visits(), unit="patient_id", max_rows=2)
    session = frame.dp.session
    with untouched(session):
        adopted = session.adopt(case.run(frame))
    assert counted(adopted, session) == case.expected
    assert counted(adopted.iloc[::-1], session) == case.expected
    assert counted(pd.concat([adopted] * 3), session) == (8 if case.expected else 0)  # every unit at its limit
    refused(LineageError, adopted.reset_index(drop=True), session)


NOT_ADOPTED = table(
    ("strangers", LineageError, strangers),
    ("one stranger", LineageError, lambda p: p.replace({"patient_id": {PATIENTS[0]: "nobody knows"}})),
    ("without the unit", LineageError, lambda p: p.drop(columns="patient_id")),
    ("unit renamed", LineageError, lambda p: p.rename(columns={"patient_id": "id"})),
    ("unit twice", LineageError, lambda p: p.merge(p, on="ward")),
    ("units of another type", LineageError, lambda p: p.assign(patient_id=range(12))),
    ("transpose", LineageError, lambda p: p.T),
    ("groupby(ward).sum", LineageError, lambda p: p.groupby("ward").sum(numeric_only=True)),
    ("Series", LineageError, lambda p: p["charge"]),
    ("Series of units", LineageError, lambda p: p["patient_id"]),
    ("Series of strangers", LineageError, lambda p: strangers(p).groupby("patient_id").size()),
    ("Series by ward", LineageError, lambda p: p.groupby("ward").size()),
    ("no frame", ParameterTypeError, lambda p: p.to_numpy()),
)


@pytest.mark.parametrize("case", NOT_ADOPTED)
def test_a_frame_without_known_units_is_not_adopted(case):
    """Rule: adopt() refuses what does not show a unit of the session's frames in every row that shows one, and says nothing."""
    frame = protect(visits(), unit="patient_id", max_rows=2)
    session = frame.dp.session
    with untouched(session), pytest.raises(case.expected) as caught:
        session.adopt(case.run(frame))
    assert type(caught.value) is case.expected
    says_nothing(caught.value)


def test_another_session_does_not_adopt():
    """Rule: only units of the session's own frames are adopted, and a session without named units adopts nothing."""
    frame = protect(visits(), unit="patient_id", max_rows=2)
    renamed = protect(visits().assign(patient_id=[f"x{k}" for k in range(12)]), unit="patient_id", max_rows=2)
    for session in (renamed.dp.session, protect(visits()).dp.session, pandas_dp.Session(1)):
        with untouched(session, frame.dp.session), pytest.raises(LineageError) as caught:
            session.adopt(frame.merge(BEDS, on="ward"))
        says_nothing(caught.value)
