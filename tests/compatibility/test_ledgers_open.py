"""Ledger files of the first version: opened, read, replayed, continued; and the same questions are still the same."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import pytest
from compatibility import ledgers
from compatibility.questions import FRAMES, QUESTIONS, SESSIONS, protected
from compatibility.stored import HERE, difference, read

from pandas_dp import LabelError, LedgerDamaged, Session, SessionConflict

SAID = read("ledgers.json")
DIGESTS = read("digests.json")
PARTS = ("books", "times", "lines", "releases", "replayed")
LABELS = [(kind, label) for kind in SESSIONS for label in ledgers.questions(kind)]


@pytest.fixture
def copied(tmp_path):
    def copy(kind):
        return shutil.copy(HERE / f"{kind}.sqlite", tmp_path / "ledger.sqlite")

    return copy


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """What each file says, read once."""
    found = {}
    for kind in SESSIONS:
        session = Session.open(shutil.copy(HERE / f"{kind}.sqlite", tmp_path_factory.mktemp(kind) / "ledger.sqlite"))
        found |= {f"{kind}: {name}": one for name, one in ledgers.content(session).items()}
        found[f"{kind}: asked"] = ledgers.asked_again(kind, session)
        found[f"{kind}: books after"] = ledgers.content(session)
    return found


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", SESSIONS)
def test_what_it_says(kind, part, content):
    """A file of the first version opens with its budget, its ledger to the microsecond and handle, all its releases, and every answer by its label."""
    assert difference(SAID[f"{kind}: {part}"], content[f"{kind}: {part}"]) is None
    assert len(SAID[f"{kind}: releases"]) == len(ledgers.questions(kind)) + 1


@pytest.mark.parametrize(("kind", "label"), LABELS)
def test_the_same_question(kind, label, content):
    """A labelled question, asked again of the same frame, returns what it returned: what it means has the digest that it had."""
    assert difference(SAID[f"{kind}: asked"][label], content[f"{kind}: asked"][label]) is None


@pytest.mark.parametrize("kind", SESSIONS)
def test_asked_again_for_nothing(kind, content):
    """Asking every labelled question again has spent nothing and written no line."""
    assert difference({part: SAID[f"{kind}: {part}"] for part in PARTS}, content[f"{kind}: books after"]) is None


@pytest.mark.parametrize("kind", SESSIONS)
def test_continued_by_protect(kind, copied):
    """protect() with the parameters of the file continues it, and a new charge is added to what was spent; with others it is an error."""
    path = copied(kind)
    options = {**SESSIONS[kind], **({"epsilon": 12} if kind == "pure" else {})}
    before = Session.open(path)
    spent, lines = before.spent, len(before.ledger)
    session = Session(**options, ledger=path)
    frames = protected(session)
    assert ledgers.asked(kind, frames, "rows") == before.replay("rows")
    assert session.spent == spent
    frames["every"].dp.count(epsilon="0.01")
    assert session.spent > spent
    assert len(before.ledger) == lines + 1
    assert Session.open(path).spent == session.spent
    changed = {**options, **({"rho": 3} if kind == "concentrated" else {"epsilon": 13})}
    with pytest.raises(SessionConflict):
        Session(**changed, ledger=path)


@pytest.mark.parametrize("kind", SESSIONS)
def test_a_charge_without_an_answer(kind, copied):
    """The label of a charge that failed has no answer: it is asked, and charged, again."""
    session = Session.open(copied(kind))
    with pytest.raises(LabelError):
        session.replay("failed")
    spent = session.spent
    answer = protected(session, ["every"])["every"].dp.count(epsilon="0.05", label="failed")
    assert session.spent > spent
    assert session.replay("failed") == answer


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What is in files that are written now, as they were by the first version."""
    found = {}
    for kind in SESSIONS:
        path = tmp_path_factory.mktemp(kind) / "ledger.sqlite"
        ledgers.begun(kind, path)
        found |= {f"{kind}: {name}": one for name, one in ledgers.digests(path).items()}
    return found


@pytest.mark.parametrize("kind", SESSIONS)
def test_the_files_are_those_of_the_digests(kind):
    """What is pinned of the files' form, declarations and questions is what the files hold."""
    found = {f"{kind}: {name}": one for name, one in ledgers.digests(HERE / f"{kind}.sqlite").items()}
    assert found == {name: one for name, one in DIGESTS.items() if name.startswith(f"{kind}: ")}


@pytest.mark.parametrize("place", DIGESTS)
def test_same_digests(place, written):
    """A file that is written now has the form, the declarations, and for each label the parameters and the digest of the question, that it had."""
    found = difference(DIGESTS[place], written[place])
    assert found is None, f"{place}: {found}"


def test_as_many_records(written):
    """A file that is written now has the records that it had, and no other."""
    assert list(written) == list(DIGESTS)
    digests = {one["asked"]["bounds and keys"] for one in DIGESTS.values() if one.get("asked")}
    assert len(digests) > 40


OTHERS = {
    "rows": lambda f, **k: f["declared"].dp.count(epsilon="0.05", **k),
    "narrower mean": lambda f, **k: f["declared"].dp.mean("charge", bounds=(0.5, 99.5), epsilon="0.05", **k),
    "sum": lambda f, **k: f["declared"].dp.sum("charge", epsilon="0.06", **k),
    "sizes": lambda f, **k: f["every"].dp.groupby("ward", keys=["south", "north", "east", "west"]).size(epsilon="0.05", **k),
    "bins": lambda f, **k: f["every"].dp.histogram("age", bins=[0, 19, 65, 91], right=False, epsilon="0.05", **k),
    "var": lambda f, **k: f["every"].dp.var("age", bounds=(0, 90), epsilon="0.05", **k),
}


@pytest.mark.parametrize("label", OTHERS)
def test_another_question_is_found(label, copied, monkeypatch):
    """A question that differs in its frame, bounds, price, order of keys, edges or degrees of freedom is not taken for the recorded one."""
    session = Session.open(copied("pure"))
    monkeypatch.setitem(QUESTIONS["pure"], label, OTHERS[label])
    with pytest.raises(LabelError):
        ledgers.asked("pure", protected(session), label)


@pytest.mark.parametrize("kind", SESSIONS)
def test_an_altered_file_is_found(kind, copied):
    """A file in which one answer was altered does not open."""
    path = copied(kind)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        number, body = connection.execute("SELECT number, body FROM records WHERE kind = 'answer' ORDER BY number LIMIT 1").fetchone()
        place = next(place for place, one in enumerate(body) if one.isdigit() and one != "9")
        connection.execute("UPDATE records SET body = ? WHERE number = ?", (f"{body[:place]}9{body[place + 1 :]}", number))
    with pytest.raises(LedgerDamaged):
        Session.open(path)


ALTERED = {
    "books": ("spent",),
    "times": (0,),
    "lines": (3, "epsilon"),
    "releases": (2, "interval", 0, "value"),
    "replayed": ("sizes", "values", 1),
}


@pytest.mark.parametrize("part", ALTERED)
def test_what_was_altered_is_found(part, content):
    """A record of the ledger in which one thing was altered is found, and the place is named."""
    assert set(ALTERED) == set(PARTS)
    said = inside = read("ledgers.json")[f"pure: {part}"]
    *steps, last = ALTERED[part]
    for step in steps:
        inside = inside[step]
    inside[last] = "1.5"
    assert difference(said, content[f"pure: {part}"]).startswith("/" + "/".join(map(str, ALTERED[part])) + ": ")


def test_an_altered_digest_is_found(written):
    """A digest of a question that was altered is found."""
    place = next(name for name, one in DIGESTS.items() if one.get("label") == "bins")
    asked = {**DIGESTS[place]["asked"], "bounds and keys": "0" * 16}
    assert "bounds and keys" in difference({**DIGESTS[place], "asked": asked}, written[place])


def test_frames_are_declared(copied):
    """The frames' declarations are those in the file; others are an error."""
    session = Session.open(copied("pure"))
    make, _ = FRAMES["stays"]
    with pytest.raises(SessionConflict):
        session.protect(make(), name="stays", unit="who", max_rows=5)
