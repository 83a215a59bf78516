"""Helpers of the lineage tests: cases and their check, made-up frames, and small operations that ``lambda`` cannot hold.

A case is an ordinary pandas operation and its outcome.  Every answer is asked at an ε so large that its noise is zero (a draw differs
from 0 with a probability below 1e-200), so that a case also shows that the right rows are counted.  Expectations are what is *right*, or
named as a known limit, not what the code happens to do.
"""

from __future__ import annotations

import io
import warnings
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from pandas_dp import DPError, LargeBudgetWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PANDAS_3 = int(pd.__version__.split(".", maxsplit=1)[0]) >= 3
ROWS = 48
BUDGET = 10**5
EPSILON = "1000.1"  # noise of scale max_rows / ε, at most 2 / 1000.1, is 0; not a binary fraction, so that a charge shows to be exact
ANSWERED = "answered"

SENTINEL_VALUE = 987654.25
SENTINEL_TEXT = "SECRET-42"
WARDS = ("north", "south", "east", SENTINEL_TEXT)
BEDS = pd.DataFrame({"ward": WARDS, "beds": [10, 20, 30, 40]})  # a public table
BEDS_TWICE = pd.concat([BEDS, BEDS], ignore_index=True)


class Case(NamedTuple):
    """One operation and its outcome: ``ANSWERED``, an exact count, or the error's class."""

    name: str
    expected: Any
    run: Callable[..., Any]


def table(*cases: tuple[str, Any, Callable[..., Any]]) -> list[Any]:
    """Name each case of a table after its operation."""
    names = [name for name, _, _ in cases]
    assert len(set(names)) == len(names)
    return [pytest.param(Case(*case), id=case[0]) for case in cases]


def majors(new: Any, old: Any) -> Any:
    """Return the outcome on pandas 3, or the one on pandas 2, where the majors truly differ."""
    return new if PANDAS_3 else old


def quiet(run: Callable[..., Any]) -> Callable[..., Any]:
    """Keep pandas' own deprecation warnings inside the operation."""

    def operation(*frames: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run(*frames)

    return operation


def edit(change: Callable[[pd.DataFrame], object]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Make an operation of a change in place."""

    def operation(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.copy()
        change(frame)
        return frame

    return operation


def plain(index: pd.Index | None = None) -> pd.DataFrame:
    """Return made-up rows, with the secret value and text among them."""
    row = np.arange(ROWS)
    charge = np.where(row % 7 == 4, np.nan, row * 10.5)
    charge[5] = SENTINEL_VALUE
    return pd.DataFrame(
        {
            "age": (row * 37) % 90 + 5,
            "visits": row % 5 + 1,
            "ward": np.array(WARDS)[row % 4],
            "smoker": row % 3 == 0,
            "charge": charge,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(row * 7, unit="h"),
            "code": [str(1000 + k) for k in row],
        },
        index=index,
    )


def protect(frame: pd.DataFrame, **parameters: Any) -> Any:
    """Protect a frame under a budget that is large on purpose; its warning is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeBudgetWarning)
        return frame.dp.protect(epsilon=BUDGET, **parameters)


def says_nothing(error: BaseException) -> None:
    """Check that an error holds no value, no label and no other error that might."""
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = f"{error!s} {error!r} {error.args!r} {vars(error)!r}"
    for secret in (SENTINEL_TEXT, str(SENTINEL_VALUE), str(int(SENTINEL_VALUE))):
        assert secret not in shown


@contextmanager
def untouched(*sessions: Any) -> Iterator[None]:
    """Check that nothing is charged to these sessions, and nothing recorded."""
    before = [(session.spent, session.remaining, session.releases, session._core.account.entries) for session in sessions]
    yield
    assert [(session.spent, session.remaining, session.releases, session._core.account.entries) for session in sessions] == before


def refused(expected: Any, frame: Any, *sessions: Any) -> None:
    """Check that a frame is refused with exactly this error, which says and costs nothing."""
    with untouched(*sessions), pytest.raises(DPError) as caught:
        frame.dp.count(epsilon=EPSILON)
    assert type(caught.value) is expected
    says_nothing(caught.value)


def counted(frame: Any, session: Any) -> int:
    """Return a frame's noiseless count, and check that it cost exactly its ε, as its preview said, once, in this session."""
    spent, remaining, releases = session.spent, session.remaining, session.releases
    with untouched(session):
        preview = frame.dp.preview.count(epsilon=EPSILON)
    assert preview.epsilon == Fraction(EPSILON)
    assert preview.remaining == remaining - Fraction(EPSILON)
    answer = frame.dp.count(epsilon=EPSILON)
    assert frame.dp.session is session
    assert session.spent == spent + Fraction(EPSILON)
    assert session.remaining == remaining - Fraction(EPSILON)
    assert session.releases == (*releases, answer.release)
    assert answer.release.epsilon == Fraction(EPSILON)
    return int(answer)


def check(case: Case, protected: Any) -> None:
    """Run an operation and compare its outcome; a Series counts its present values, a frame its rows."""
    session = protected.dp.session
    with untouched(session):
        result = case.run(protected)
    if case.expected == ANSWERED:
        assert counted(result, session) == (len(result) if isinstance(result, pd.DataFrame) else result.count())
    elif isinstance(case.expected, int):
        assert counted(result, session) == case.expected
    else:
        refused(case.expected, result, session)


def put(frame: pd.DataFrame, column: Any, values: Any) -> pd.DataFrame:
    frame[column] = values
    return frame


def relabel(frame: pd.DataFrame, labels: Any) -> None:
    frame.index = labels


def append(frame: pd.DataFrame) -> None:
    frame.loc["new" if isinstance(frame.index[0], str) else 10_000] = frame.iloc[0].tolist()


def parquet(frame: pd.DataFrame) -> pd.DataFrame:
    file = io.BytesIO()
    frame.to_parquet(file)
    file.seek(0)
    return pd.read_parquet(file)


def feather(frame: pd.DataFrame) -> pd.DataFrame:
    file = io.BytesIO()
    frame.to_feather(file)
    file.seek(0)
    return pd.read_feather(file)


def csv(frame: pd.DataFrame, **how: Any) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(frame.to_csv()), **how)


def json(frame: pd.DataFrame, orient: Any) -> pd.DataFrame:
    return pd.read_json(io.StringIO(frame.to_json(orient=orient)), orient=orient)


def first_half(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.iloc[: ROWS // 2]


def second_half(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.iloc[ROWS // 2 :]


def texts() -> pd.Index:
    """Return labels that all hold the secret text."""
    return pd.Index([f"{SENTINEL_TEXT}/{k:02}" for k in range(ROWS)])


# Frames with every kind of index.
ROOTS: dict[str, Callable[[], pd.DataFrame]] = {
    "numbers": plain,
    "texts": lambda: plain(texts()),
    "shuffled": lambda: plain().sample(frac=1, random_state=3),
    "later start": lambda: pd.concat([plain(), plain()], ignore_index=True).iloc[ROWS - 5 : 2 * ROWS - 5],
    "step": lambda: plain(pd.RangeIndex(7, 7 + 3 * ROWS, 3)),
    "backwards": lambda: plain(pd.RangeIndex(ROWS, 0, -1)),
    "sparse": lambda: plain(pd.Index(np.arange(ROWS) * 10**12 - 10**13)),
    "unsigned": lambda: plain(pd.Index(np.arange(ROWS), dtype="uint8")),
    "floats": lambda: plain(pd.Index(np.arange(ROWS) / 4)),
    "days": lambda: plain(pd.date_range("2024-01-01", periods=ROWS)),
    "zoned hours": lambda: plain(pd.date_range("2024-03-30", periods=ROWS, freq="h", tz="Europe/Berlin")),
    "periods": lambda: plain(pd.period_range("2024-01-01", periods=ROWS, freq="D")),
    "durations": lambda: plain(pd.to_timedelta(np.arange(ROWS), unit="h")),
    "categories": lambda: plain(pd.CategoricalIndex(texts())),
    "intervals": lambda: plain(pd.interval_range(0, ROWS)),
    "overlapping intervals": lambda: plain(pd.IntervalIndex.from_tuples([(k, k + 2) for k in range(ROWS)])),
    "mixed": lambda: plain(pd.Index([1, "one", 2.5, *[pd.Timestamp(2000 + k, 1, 1) for k in range(ROWS - 3)]], dtype=object)),
    "tuples": lambda: plain(pd.Index([(k, SENTINEL_TEXT) for k in range(ROWS)], tupleize_cols=False)),
    "named": lambda: plain(pd.RangeIndex(ROWS, name="visit")),
    "named texts": lambda: plain(texts().rename("visit")),
    "two levels": lambda: plain(two_levels(["hospital", "visit"])),
    "two unnamed levels": lambda: plain(two_levels([None, None])),
}


def two_levels(names: Any) -> pd.MultiIndex:
    return pd.MultiIndex.from_product([[f"{SENTINEL_TEXT}/{k}" for k in range(4)], range(ROWS // 4)], names=names)
