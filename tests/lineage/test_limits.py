"""Known limits of row identity, and their nearest neighbours, which are refused.

The documentation warns of the limits (docs/explanation/limits.md).  These tests hold what happens, so that a change of pandas or of this package shows.
"""

from __future__ import annotations

import numpy as np
import pytest
from lineage_support import ANSWERED, ROOTS, Case, check, majors, plain, protect, table, untouched

from pandas_dp import LineageError, NotProtected

# Aggregates beside a label of one protected row, where the labels are no longer where reset_index() put them.
AGGREGATES_THAT_LOOK_LIKE_ROWS = table(
    ("reset_index, groupby.max", LineageError, lambda p: p.reset_index().groupby("ward").max()),
    ("reset_index, groupby.min, as_index=False", LineageError, lambda p: p.reset_index().groupby("ward", as_index=False).min()),
    ("reset_index, groupby.max, reset_index", LineageError, lambda p: p.reset_index().groupby("ward").max().reset_index()),
    ("reset_index, groupby.first", LineageError, lambda p: p.reset_index().groupby("ward").first()),
    ("reset_index, agg", LineageError, lambda p: p.reset_index()[[p.index.name, "age", "charge"]].agg(["min", "max"])),
    ("reset_index, quantile", LineageError, lambda p: p.reset_index()[[p.index.name, "age"]].quantile([0.0, 1.0])),
    ("reset_index, pivot_table", LineageError, lambda p: p.reset_index().pivot_table(index="ward", values=[p.index.name, "age"], aggfunc="max")),
    ("reset_index, resample", LineageError, lambda p: p.reset_index().resample("D", on="when").max()),
)  # fmt: skip


@pytest.mark.parametrize("case", AGGREGATES_THAT_LOOK_LIKE_ROWS)
def test_an_aggregate_is_not_taken_for_a_row(case):
    """Rule: after reset_index(), an aggregate is refused in every form that keeps its key, although it has labels of protected rows."""
    check(case, protect(plain()))


LABELS_MADE_OF_LABELS = table(
    ("groupby labels // 4", ANSWERED, lambda p: p.groupby(p.index // 4).sum(numeric_only=True)),
    ("groupby labels % 4", ANSWERED, lambda p: p.groupby(p.index % 4)["age"].mean()),
    ("groupby a function of the label", ANSWERED, lambda p: p.groupby(lambda label: label // 4).max()),
    ("groupby a Series of the labels", ANSWERED, lambda p: p.groupby(p.index.to_series() // 4).max()),
    # The key is thrown away, and what is left looks like reset_index().
    ("reset_index, groupby.max, key dropped", ANSWERED, lambda p: p.reset_index().groupby("ward").max().reset_index(drop=True)),
    ("reset_index, groupby an array", ANSWERED, lambda p: p.reset_index().groupby(np.arange(len(p)) // 4).max()),
)  # fmt: skip


@pytest.mark.parametrize("case", LABELS_MADE_OF_LABELS)
def test_known_limit_aggregates_under_labels_made_of_labels(case):
    """Known limit: an aggregate whose labels are made of protected labels, under their name, is taken for the rows it has the labels of.

    No check can see this: the labels are all there is to see.  The documentation warns of it, and this test will say so if a version of
    pandas changes it.  The answer is charged to the session whose labels it carries.
    """
    check(case, protect(plain()))


BINS_NAMED_LIKE_DAYS = table(
    ("resample", ANSWERED, lambda p: p.resample("2D").max()),
    ("resample of a column", ANSWERED, lambda p: p["age"].resample("MS").sum()),
    ("groupby the month's first day", ANSWERED, lambda p: p.groupby(p.index.to_period("M").to_timestamp()).max()),
    ("asfreq to fewer days", ANSWERED, lambda p: p.asfreq("2D")),  # this one is right, as it only chooses rows; but it looks no different
)  # fmt: skip


@pytest.mark.parametrize("case", BINS_NAMED_LIKE_DAYS)
def test_known_limit_bins_under_the_label_of_a_day(case):
    """Known limit: where days are the labels, bins called by a day that is a label are taken for the row of that day.

    No check can see this: the labels are all there is to see.  The documentation warns of it, and this test will say so if a version of
    pandas changes it.  The answer is charged to the session whose labels it carries.
    """
    check(case, protect(ROOTS["days"]()))


VALUES_OF_ANOTHER_SESSION = table(
    ("assign", ANSWERED, lambda a, b: a.assign(y=b["age"])),
    ("filter by the other", ANSWERED, lambda a, b: a[b["age"] > 20]),
    ("where the other", ANSWERED, lambda a, b: a["age"].where(b["age"] > 20)),
    ("fillna by the other", ANSWERED, lambda a, b: a["charge"].fillna(b["age"])),
    ("join", ANSWERED, lambda a, b: a[["age"]].join(b[["visits"]])),
    ("join, inner", ANSWERED, lambda a, b: a[["age"]].join(b[["visits"]], how="inner")),
    ("merge on the index", ANSWERED, lambda a, b: a[["age"]].merge(b[["visits"]], left_index=True, right_index=True)),
    # The majors keep name and attrs in different places; where both are kept, the two handles differ.
    ("numpy.maximum", majors(ANSWERED, NotProtected), lambda a, b: np.maximum(a["age"], b["age"])),
    ("Series + Series", majors(LineageError, ANSWERED), lambda a, b: a["age"] + b["age"]),
    ("Series.add", majors(LineageError, ANSWERED), lambda a, b: a["age"].add(b["age"], fill_value=0)),
    ("frame * frame", majors(LineageError, ANSWERED), lambda a, b: a[["age"]] * b[["age"]]),
    ("comparison", majors(LineageError, ANSWERED), lambda a, b: a["age"] > b["age"]),
    ("logic", majors(LineageError, ANSWERED), lambda a, b: a["smoker"] & b["smoker"]),
)  # fmt: skip


@pytest.fixture(scope="module")
def other():
    """Protect a frame of the same labels by another session; nothing below may charge it."""
    return protect(plain())


@pytest.mark.parametrize("case", VALUES_OF_ANOTHER_SESSION)
def test_known_limit_values_of_another_session_that_has_equal_labels(case, other):
    """Known limit: values that another session's frame brings in by aligning equal labels are answered from the budget of the frame they join.

    No check can see this where pandas keeps nothing of the other frame.  The documentation warns of it, and this test will say so if a
    version of pandas changes it.  The answer is charged to the session whose labels it carries, and nothing to the other.
    """
    with untouched(other.dp.session):
        check(Case(case.name, case.expected, lambda a: case.run(a, other)), protect(plain()))
