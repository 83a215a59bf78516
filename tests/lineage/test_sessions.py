"""Several sessions and several frames: whose budget pays, and which frames nobody's budget pays for."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pandera.pandas as pa
import pytest
from lineage_support import (
    BUDGET,
    EPSILON,
    ROOTS,
    ROWS,
    counted,
    first_half,
    plain,
    protect,
    refused,
    second_half,
    table,
    texts,
)

import pandas_dp
from pandas_dp import LargeBudgetWarning, LineageError, NotProtected


@pytest.fixture(scope="module")
def other():
    """Protect a frame of the same labels by another session; nothing below may charge it."""
    return protect(plain())


# What two sessions' frames make together.  Neither budget alone may pay for it.
TWO_SESSIONS = table(
    ("Series + part of a Series", LineageError, lambda a, b: a["age"] + b["age"].iloc[5:]),
    ("combine", NotProtected, lambda a, b: a["age"].combine(b["age"], max)),
    ("join a part, inner", NotProtected, lambda a, b: a[["age"]].join(b[["visits"]].iloc[5:], how="inner")),
    ("merge on a column", NotProtected, lambda a, b: a.merge(b, on="code")),
    ("merge on the labels", LineageError, lambda a, b: a.reset_index().merge(b.reset_index(), on="code")),
    ("concat of rows", NotProtected, lambda a, b: pd.concat([first_half(a), second_half(b)])),
    ("concat of columns", NotProtected, lambda a, b: pd.concat([a["age"], b["visits"]], axis=1)),
    ("DataFrame of columns", NotProtected, lambda a, b: pd.DataFrame({"x": a["age"], "y": b["visits"]})),
    ("labels of the other", LineageError, lambda a, b: a.set_axis(b.index, axis=0)),
    ("both labels in the index", LineageError, lambda a, b: keyed(a, "age").join(keyed(b, "visits"))),
    ("own labels in the index, the other's in a column", LineageError, lambda a, b: a[["age"]].join(b[["visits"]].reset_index())),
)  # fmt: skip


def keyed(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    return frame.head(4).set_index("ward", append=True)[[column]]


@pytest.mark.parametrize("case", TWO_SESSIONS)
def test_rows_of_two_sessions_are_not_charged_to_one(case, other):
    """Rule: what two sessions' frames make together is refused, and charges neither: a ``LineageError`` where both handles are seen."""
    frame = protect(plain())
    refused(case.expected, case.run(frame, other), frame.dp.session, other.dp.session)


BOTH_NAMED = ("combine", "concat of rows", "concat of columns", "DataFrame of columns", "both labels in the index")


@pytest.mark.parametrize("root", ["named", "named texts", "two levels"])
@pytest.mark.parametrize("case", [case for case in TWO_SESSIONS if case.id in BOTH_NAMED])
def test_rows_of_two_sessions_with_equal_index_names_are_not_charged_to_one(case, root):
    """Rule: the same where both indexes have one name: the name of each knows its handle, so that they are not taken for one."""
    frame, other = protect(ROOTS[root]()), protect(ROOTS[root]())
    refused(case.expected, case.run(frame, other), frame.dp.session, other.dp.session)


def test_two_frames_of_one_session_draw_on_one_budget():
    """Rule: each frame of a session, and what is derived from it, is charged to that session."""
    first = protect(plain())
    session = first.dp.session
    second = session.protect(plain(texts()))
    assert counted(first.query("age > 30"), session) == (plain()["age"] > 30).sum()
    assert counted(second["charge"], session) == plain()["charge"].count()
    assert session.spent == 2 * Fraction(EPSILON)


@pytest.mark.parametrize("case", TWO_SESSIONS)
def test_rows_of_two_frames_of_one_session_are_not_mixed(case):
    """Rule: two frames of one session share its budget but no row: what they make together is refused as for two sessions."""
    with pytest.warns(LargeBudgetWarning):
        session = pandas_dp.Session(BUDGET)
    first, second = session.protect(plain()), session.protect(plain().assign(extra=1))
    refused(case.expected, case.run(first, second), session)


# ---- The same rows again ----


@pytest.mark.parametrize("root", ROOTS)
def test_protecting_the_same_rows_again_gives_the_same_handle(root, request):
    """Rule: protect(name=...) run again on the same data continues the session under the same handle, and refills nothing."""
    first, second = (protect(ROOTS[root](), name=request.node.name) for _ in range(2))
    session = first.dp.session
    assert second.attrs == first.attrs
    assert list(second.index.names) == list(first.index.names)
    pd.testing.assert_frame_equal(first, second)
    assert counted(first, session) == counted(second.query("age > 0"), session) == ROWS
    assert session.spent == 2 * Fraction(EPSILON)
    assert set(session.ledger["frame"]) == {first.attrs["pandas_dp"]}


OTHERS = {
    "fewer rows": plain().iloc[:-1],
    "another order": plain().iloc[::-1],
    "other labels": plain(texts()),
    "other columns": plain().assign(extra=1),
}


@pytest.mark.parametrize("other_rows", OTHERS)
def test_protecting_other_rows_gives_another_handle(other_rows, request):
    """Rule: other rows or columns in a session are another frame, with a handle of its own and the same budget."""
    first, second = (protect(frame, name=request.node.name) for frame in (plain(), OTHERS[other_rows]))
    session = first.dp.session
    assert second.attrs != first.attrs
    assert counted(first, session) == ROWS
    assert counted(second, session) == len(OTHERS[other_rows])
    assert list(session.ledger["frame"]) == [first.attrs["pandas_dp"], second.attrs["pandas_dp"]]


@pytest.mark.parametrize("change", ["named", "schema"])
def test_the_same_rows_protected_otherwise_are_answered_as_they_are_now(change):
    """Rule: the same rows under another index name or schema are followed by that name, and clamped by that schema."""
    with pytest.warns(LargeBudgetWarning):
        session = pandas_dp.Session(BUDGET)
    session.protect(plain())
    if change == "named":
        assert counted(session.protect(plain().rename_axis("visit")), session) == ROWS
    else:
        schema = pa.DataFrameSchema({"visits": pa.Column(int, pa.Check.in_range(0, 5))})
        assert session.protect(plain(), schema=schema).dp.sum("visits", epsilon=EPSILON) == plain()["visits"].sum()
