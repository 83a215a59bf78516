"""Pickled answers of the first version, written under the oldest pandas and NumPy: loaded, they say what they said."""

from __future__ import annotations

import copy
import pickle
import shutil

import pytest
from compatibility import ledgers, pickles
from compatibility.ask import several_quantiles
from compatibility.questions import SESSIONS
from compatibility.stored import HERE, difference, read

import pandas_dp

RECORDED = read("pickles.json")
SESSION = read("sessions.json")
SAID = read("ledgers.json")


@pytest.mark.parametrize("name", RECORDED)
def test_same_answer(name):
    """A pickled answer, release, preview, amount or error loads, with its value, interval, price and look; and does so again when it is pickled anew."""
    found = pickles.loaded(RECORDED[name]["pickle"])
    for one in (found, pickle.loads(pickle.dumps(found))):
        differs = difference(RECORDED[name]["says"], pickles.said(one))
        assert differs is None, f"{name}: {differs}"


def test_all_kinds():
    """All kinds of answers are among them, of all kinds of sessions."""
    kinds = {one["says"].get("type", one["says"].get("error")) for one in RECORDED.values()}
    assert {
        "NoisyInt",
        "NoisyFloat",
        "Release",
        "Preview",
        "PrivateBounds",
        "Series",
        "DataFrame",
        "Epsilon",
        "Rho",
        "Delta",
        "Cost",
    } <= kinds
    assert {"Timestamp", "Timedelta", "BudgetExhausted"} <= kinds
    assert {name.split(",")[0] for name in RECORDED} == set(SESSIONS)


def test_still_written_the_same():
    """What is pickled now by the same names says the same, in this version and when it is read again; but for several quantiles, whose ties may be drawn in another order."""
    made = {name: one for name, one in pickles.made().items() if name in RECORDED}
    assert list(made) == list(RECORDED)
    releases = {name.removesuffix(", release"): one for name, one in made.items() if isinstance(one, pandas_dp.Release)}
    several = {name for name, one in releases.items() if several_quantiles(one.query)}
    assert len(several) >= 5
    for name, one in made.items():
        if name.removesuffix(", release") not in several:
            again = pickles.loaded(pickles.packed(one))
            assert difference(RECORDED[name]["says"], pickles.said(again)) is None, name


@pytest.mark.parametrize("kind", SESSIONS)
def test_a_session_opens(kind, tmp_path):
    """A pickled session is the path of its ledger: loaded, it says what the file says, and answers its labels again for nothing."""
    path = shutil.copy(HERE / f"{kind}.sqlite", tmp_path / "ledger.sqlite")
    assert SESSION[kind].count(pickles.PLACE) == 1
    session = pickle.loads(SESSION[kind].replace(pickles.PLACE, str(path)).encode("raw_unicode_escape"))
    assert isinstance(session, pandas_dp.Session)
    said = {part: SAID[f"{kind}: {part}"] for part in ("books", "times", "lines", "releases", "replayed")}
    assert difference(said, ledgers.content(session)) is None
    assert difference(SAID[f"{kind}: asked"], ledgers.asked_again(kind, session)) is None
    assert difference(said, ledgers.content(session)) is None


ALTERED = {
    "pure, mean": ("value",),
    "pure, rows, release": ("interval", 0, "value"),
    "pure, sizes": ("values", 1),
    "pure, bounds": ("clamped",),
    "pure, preview": ("half_width",),
    "approximate, private keys, release": ("value", "index", "values", 0),
    "concentrated, cost": ("amounts", 2),
}


@pytest.mark.parametrize("name", ALTERED)
def test_what_was_altered_is_found(name):
    """A record of a pickle in which one thing was altered is found, and the place is named."""
    said = inside = copy.deepcopy(RECORDED[name]["says"])
    *steps, last = ALTERED[name]
    for step in steps:
        inside = inside[step]
    inside[last] = "1.5"
    found = pickles.loaded(RECORDED[name]["pickle"])
    assert difference(said, pickles.said(found)).startswith("/" + "/".join(map(str, ALTERED[name])) + ": ")
