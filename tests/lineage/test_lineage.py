"""The accountant follows plain pandas: which derived frames are answered, which are refused, and what the errors say.

An operation whose rows are still single protected rows (or show their unit) is answered from the one session's budget; one that repeats,
mixes, relabels or loses rows is a ``LineageError``; what carries no handle at all is ``NotProtected``.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from lineage_operations import OPERATIONS
from lineage_support import (
    ANSWERED,
    BUDGET,
    EPSILON,
    ROOTS,
    SENTINEL_TEXT,
    check,
    plain,
    protect,
    refused,
    says_nothing,
    texts,
    untouched,
)

from pandas_dp import AlreadyProtected, BoundsError, ColumnError, DPError, LineageError, NotProtected, SessionClosed


@pytest.fixture(scope="module")
def other():
    """Protect a frame of the same labels by another session; nothing below may charge it."""
    return protect(plain())


@pytest.fixture(params=["numbers", "texts"])
def protected(request):
    """Protect a frame whose unnamed index holds numbers, or texts with the secret in each."""
    return protect(plain(texts() if request.param == "texts" else None))


@pytest.mark.parametrize("case", OPERATIONS)
def test_the_accountant_follows_plain_pandas(case, protected, other):
    """Rule: rows that are single protected rows are answered and charged once, exactly; all others are refused at no cost."""
    with untouched(other.dp.session):
        check(case, protected)


@pytest.mark.parametrize("case", [case for case in OPERATIONS if case.values[0].expected is not NotProtected])
def test_no_derivation_gets_a_second_budget(case):
    """Rule: protect() refuses every frame that still carries a handle, so that no derivation refills the budget."""
    frame = protect(plain(texts()))
    result = case.run(frame)
    with untouched(frame.dp.session), pytest.raises(DPError) as caught:
        (result if isinstance(result, pd.DataFrame) else result.to_frame()).dp.protect(epsilon=1)
    assert type(caught.value) in {AlreadyProtected, LineageError}
    says_nothing(caught.value)


def test_the_original_frame_stays_unprotected():
    """Rule: protect() leaves its input as it was, unprotected and with its index's name."""
    original = plain()
    frame = protect(original)
    pd.testing.assert_frame_equal(original, plain())
    assert original.index.name is None
    assert not original.attrs
    refused(NotProtected, original, frame.dp.session)


def test_an_unknown_handle_buys_nothing():
    """Rule: a handle that this process does not know, as in a file from another one, is refused, and so is what is derived from it."""
    frame = protect(plain())
    frame.index.name = "protected#00000000"
    frame.attrs = {"pandas_dp": "protected#00000000"}
    refused(NotProtected, frame)
    refused(NotProtected, frame.query("age > 30"))


# ---- What errors say ----

# Queries that go wrong on any frame or Series, each in its own way; what takes a column goes to a frame only.
BLUNDERS = (
    lambda dp: dp.count(epsilon=-1),
    lambda dp: dp.mean(bounds=(1, 0), epsilon=1),
    lambda dp: dp.sum(bounds=(0, 1)),
)
COLUMN_BLUNDERS = (
    lambda dp: dp.count("no such column", epsilon=1),
    lambda dp: dp.mean(["no such column"], bounds=(0, 1), epsilon=1),
    lambda dp: dp.sum(bounds={"no such column": (0, 1)}, epsilon=1),
    lambda dp: dp.sum("ward", bounds=(1, 0), epsilon=1),
    lambda dp: dp.sum("charge", bounds=(1, 0), epsilon=1),
)
# Without bounds, or, where there are some, without the budget, which a preview does not refuse.
UNPAID = (
    lambda dp: dp.mean(epsilon=2 * BUDGET),
    lambda dp: dp.sum(epsilon=2 * BUDGET),
    lambda dp: dp.count(epsilon=2 * BUDGET),
)


def blunders(result: Any) -> tuple[Any, ...]:
    """Return what goes wrong for a frame and its preview alike."""
    return BLUNDERS + COLUMN_BLUNDERS if isinstance(result, pd.DataFrame) else BLUNDERS


def failure(query: Any, dp: Any) -> DPError:
    """Return the error of a query that must fail."""
    with pytest.raises(DPError) as caught:
        query(dp)
    return caught.value


KEYS_AS_COLUMNS = ("get_dummies of a column", "get_dummies of a frame", "pivot")


@pytest.mark.parametrize("case", [case for case in OPERATIONS if case.id not in KEYS_AS_COLUMNS])
def test_no_error_quotes_data(case):
    """Rule: whatever was derived and whatever is asked, an error is a DPError without a value, a label, a cause or a context, and free."""
    _blunder(case)


@pytest.mark.parametrize("case", [case for case in OPERATIONS if case.id in KEYS_AS_COLUMNS])
def test_no_error_quotes_keys_that_became_column_names(case):
    """Rule: column names are public, but which keys occur is not: an error does not list columns that pandas made of the data."""
    _blunder(case)


def _blunder(case: Any) -> None:
    frame = protect(plain(texts()))
    session = frame.dp.session
    result = case.run(frame)
    with untouched(session):
        for blunder in blunders(result):
            says_nothing(failure(blunder, result.dp))
            says_nothing(failure(blunder, result.dp.preview))
        says_nothing(failure(session.adopt, frame))


@pytest.mark.parametrize("case", OPERATIONS)
def test_no_error_about_the_budget_quotes_data(case):
    """Rule: the same for queries that nobody named a column in: without bounds, or beyond the budget, the error names no made-up column."""
    frame = protect(plain(texts()))
    result = case.run(frame)
    with untouched(frame.dp.session):
        for query in UNPAID:
            says_nothing(failure(query, result.dp))


def test_errors_name_only_columns_that_were_protected_or_typed():
    """Rule: an error lists no column that appeared after protect(), whose name pandas may have made of data; what was typed it repeats."""
    frame = protect(plain())
    derived = pd.get_dummies(frame.rename(columns={"age": "years"}), columns=["ward"]).drop(columns="code")
    assert f"ward_{SENTINEL_TEXT}" in derived.columns
    for dp in (derived.dp, derived.dp.preview):
        absent = failure(lambda dp: dp.count("no such column", epsilon=1), dp)
        assert type(absent) is ColumnError
        assert "'no such column'" in str(absent)
        assert "'visits', 'smoker', 'charge', 'when'." in str(absent)
        for query in (lambda dp: dp.sum(bounds=(1, 0), epsilon=1), lambda dp: dp.mean(bounds=(1, 0), epsilon=1)):
            unnamed = failure(query, dp)
            assert type(unnamed) is BoundsError
            for column in set(derived.columns) - set(frame.columns):
                assert column not in f"{absent} {unnamed} {vars(absent)} {vars(unnamed)}"
        typed = failure(lambda dp: dp.sum("years", bounds=(1, 0), epsilon=1), dp)
        assert type(typed) is BoundsError
        assert "'years'" in str(typed)


NOT_ROWS = {
    "row": lambda p: p.iloc[0],
    "row of two": lambda p: p[["age", "charge"]].loc[p.index[5]],
    "transposed": lambda p: p.T,
    "transposed row": lambda p: p.iloc[[5]].T,
    "column of the transposed": lambda p: p.T.iloc[:, 0],
}


@pytest.mark.parametrize("root", ["texts", "named texts", "two levels"])
@pytest.mark.parametrize("name", NOT_ROWS)
def test_labels_that_became_column_names_are_refused_before_anything_is_named(name, root):
    """Rule: rows are traced before columns are looked at, so that an error about columns or bounds cannot name a label."""
    frame = protect(ROOTS[root]())
    result = NOT_ROWS[name](frame)
    with untouched(frame.dp.session):
        for dp in (result.dp, result.dp.preview):
            for query in (*blunders(result), *UNPAID, lambda dp: dp.sum(bounds=(0, 1), epsilon=1), lambda dp: dp.mean(epsilon=1)):
                error = failure(query, dp)
                assert type(error) is LineageError
                says_nothing(error)


# ---- Previews ----

SOUND = (
    lambda dp: dp.count(epsilon=EPSILON),
    lambda dp: dp.sum(bounds=(0, 1), epsilon=EPSILON),
    lambda dp: dp.mean(bounds=(0, 1), epsilon=EPSILON),
)


def same_failure(query: Any, result: Any) -> None:
    """Check that a query and its preview fail alike."""
    asked, previewed = failure(query, result.dp), failure(query, result.dp.preview)
    assert type(previewed) is type(asked)
    assert str(previewed) == str(asked)


@pytest.mark.parametrize("case", OPERATIONS)
def test_a_preview_refuses_what_the_query_refuses(case):
    """Rule: a preview fails as its query would, in class and text: for a frame that cannot be traced, a wrong column, bounds or ε."""
    frame = protect(plain())
    result = case.run(frame)
    with untouched(frame.dp.session):
        for query in blunders(result) if case.expected == ANSWERED else (*SOUND, *blunders(result), *UNPAID):
            same_failure(query, result)


def test_a_preview_refuses_when_the_session_is_closed():
    """Rule: a closed session answers neither queries nor previews, whatever the frame."""
    frame = protect(plain())
    frame.dp.session.close()
    for result in (frame, frame["charge"], frame.query("age > 30"), frame.reset_index(drop=True)):
        for query in SOUND:
            same_failure(query, result)
            assert type(failure(query, result.dp)) is SessionClosed


def test_a_preview_mentions_a_budget_that_would_not_do():
    """Rule: the budget alone does not make a preview fail: it says that the query would."""
    frame = protect(plain())
    preview = frame.dp.preview.count(epsilon=2 * BUDGET)
    assert not preview.fits
    assert preview.remaining == -BUDGET
    assert frame.dp.preview.count(epsilon=BUDGET).fits
