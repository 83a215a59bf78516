"""A ledger file that is not as it was written is refused, with what is wrong with it, and never restarted."""

from __future__ import annotations

import gc
import json
import pickle
import shutil
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from ledger_support import folder, frame, small  # noqa: F401  (a fixture)

from pandas_dp import DPError, LedgerBusy, LedgerDamaged, LedgerError, Session
from pandas_dp.__main__ import main
from pandas_dp.accounting import sqlite
from pandas_dp.accounting.ledger import Cost, Entry
from pandas_dp.accounting.records import START, Record, body_of, seal, text_of
from pandas_dp.accounting.sqlite import LedgerFile
from pandas_dp.quantities.budget import as_epsilon
from pandas_dp.sessions.registry import kept_sessions, named_sessions
from pandas_dp.wire.codec import decode


@pytest.fixture
def path(folder):  # noqa: F811
    yield folder / "small.dp.sqlite"
    named_sessions.pop("small", None)
    kept_sessions.clear()


def refused(path):
    """Assert that neither opening nor protecting is answered, and that the file is left as it is; return the error."""
    content = path.read_bytes() if path.is_file() else None
    errors = []
    for attempt in (lambda: Session.open(path), lambda: frame().dp.protect(epsilon=1, name="small", ledger=path)):
        named_sessions.pop("small", None)
        kept_sessions.clear()
        with pytest.raises(DPError) as raised:
            attempt()
        errors.append(raised.value)
    assert (path.read_bytes() if path.is_file() else None) == content
    assert isinstance(errors[0], LedgerError)
    return errors[0]


def test_every_byte(path):
    """Each byte of a small ledger, flipped, is either refused or changes nothing: the same records, and a next charge that is written or refused."""
    small(path).dp.session.close()
    whole = path.read_bytes()
    records, mark = LedgerFile(path).read()
    harmless = 0
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 0xFF
        path.write_bytes(flipped)
        try:
            found = LedgerFile(path).read()
        except LedgerError:
            continue
        assert found == (records, mark), place
        harmless += 1
        if place % 9 == 0:
            more = Record("frame", {"name": "more", "declared": {}})
            try:
                LedgerFile(path).append(lambda: mark, lambda *_: None, lambda more=more: [more])
            except LedgerError:
                continue
            finally:
                for end in ("-wal", "-shm"):
                    path.with_name(path.name + end).unlink(missing_ok=True)
    assert harmless < len(whole)


def test_every_bit_of_the_records(path):
    """In the page that holds the records, each single bit, flipped, is refused or changes nothing."""
    small(path).dp.session.close()
    whole = path.read_bytes()
    expected = LedgerFile(path).read()
    start = whole.index(b'{"name":"small"') - 50
    for place in range(start, min(start + 600, len(whole))):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            try:
                found = LedgerFile(path).read()
            except LedgerError:
                continue
            assert found == expected


@pytest.mark.parametrize("share", [0, 1, 15, 16, 100, 511, 4095, 4096, 4097, 8192, -4096, -1])
def test_truncated(path, share):
    """A file that was cut anywhere is refused; one that was cut to nothing is not begun anew."""
    small(path)
    content = path.read_bytes()
    path.write_bytes(content[:share])
    error = refused(path)
    if share == 0:
        assert isinstance(error, LedgerDamaged)
        assert "empty" in error.reason


@pytest.mark.parametrize("torn", [512, 4096, 5000])
def test_torn(path, torn):
    """A file whose end is of an earlier time than its beginning is refused."""
    df = small(path)
    before = path.read_bytes()
    for _ in range(5):
        df.dp.count(epsilon=0.01, label="a label that is long enough to make the pages differ " * 5)
        df.dp.count(epsilon=0.01)
    after = path.read_bytes()
    path.write_bytes(after[:torn] + before[torn:])
    assert isinstance(refused(path), LedgerDamaged)


EDITS = {
    "a charge made smaller": 'UPDATE records SET body = replace(body, \'"epsilon":"1/10"\', \'"epsilon":"1/99"\') WHERE kind = \'charge\'',
    "the last record removed": "DELETE FROM records WHERE number = (SELECT max(number) FROM records)",
    "the last record removed, and the head with it": (
        "DELETE FROM records WHERE number = (SELECT max(number) FROM records); UPDATE head SET number = number - 1"
    ),
    "a record in the middle removed": "DELETE FROM records WHERE number = 3",
    "the budget raised": 'UPDATE records SET body = replace(body, \'"epsilon":"1"\', \'"epsilon":"9"\') WHERE number = 1',
    "two records exchanged": "UPDATE records SET number = 100 WHERE number = 3; UPDATE records SET number = 3 WHERE number = 4; UPDATE records SET number = 4 WHERE number = 100",
    "a record added": "INSERT INTO records SELECT number + 1, kind, body, digest FROM records ORDER BY number DESC LIMIT 1",
    "a seal replaced": "UPDATE records SET digest = zeroblob(32) WHERE number = 2",
    "another type": "UPDATE records SET body = 5 WHERE number = 2",
    "another kind": "UPDATE records SET kind = 'answer' WHERE number = 3",
    "everything removed": "DELETE FROM records",
    "the head removed": "DELETE FROM head",
    "the head moved": "UPDATE head SET number = number + 1",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON records BEGIN UPDATE records SET body = body; END",
    "a table more": "CREATE TABLE more (x)",
    "a table less": "DROP TABLE head",
    "another mark": "PRAGMA application_id = 5",
    "a later format": "PRAGMA user_version = 7",
}


@pytest.mark.parametrize("edit", EDITS)
def test_edited(path, edit):
    """What a person with an SQLite shell may do is found."""
    small(path)
    with sqlite3.connect(path) as connection:
        connection.executescript(EDITS[edit])
    connection.close()
    error = refused(path)
    assert isinstance(error, LedgerDamaged) == (edit != "a later format")
    assert ("format 7" in str(error)) == (edit == "a later format")


def test_edited_while_open(path):
    """A session notices at its next charge that records were removed, or that the file is an older copy, and answers nothing."""
    df = small(path)
    older = path.read_bytes()
    df.dp.count(epsilon=0.1)
    for damage in (older, None):
        if damage is None:
            path.write_bytes(older)
            with sqlite3.connect(path) as connection:
                connection.execute("UPDATE head SET digest = zeroblob(32)")
            connection.close()
        else:
            path.write_bytes(damage)
        with pytest.raises(LedgerDamaged, match=r"older copy|head|chain"):
            df.dp.count(epsilon=0.1)
        with pytest.raises(LedgerDamaged):
            df.dp.session.remaining  # noqa: B018
        assert "cannot be read" in repr(df.dp.session)
        assert "cannot be read" in repr(df.dp)


def test_foreign(path, folder):  # noqa: F811
    """Files that are no ledger are refused and left as they are: texts, other databases, folders, and a path without a folder."""
    path.write_text("time,charge\n")
    assert "no ledger of pandas_dp" in str(refused(path))
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE visits (x)")
    connection.close()
    assert "no ledger of pandas_dp" in str(refused(path))
    path.unlink()
    path.mkdir()
    refused(path)
    with pytest.raises(LedgerError, match="folder does not exist"):
        frame().dp.protect(epsilon=1, ledger=folder / "absent" / "x.sqlite")


def test_a_forged_beginning(path):
    """A sealed file that does not begin with a session's parameters is refused, too."""
    file = LedgerFile.create(path, [Record("charge", {"x": 1})])
    assert file is not None
    assert "does not begin" in str(refused(path))


def test_vanished(path):
    """A file that was removed or replaced while a session is open: nothing is answered, and nothing is begun in its place; brought back, it goes on."""
    df = small(path)
    away = path.with_name("away")
    path.rename(away)
    with pytest.raises(LedgerError, match="no longer there"):
        df.dp.count(epsilon=0.1)
    assert not path.exists()
    shutil.copy(away, path)
    with pytest.raises(LedgerError, match="another file"):
        df.dp.count(epsilon=0.1)
    path.unlink()
    away.rename(path)
    assert df.dp.count(epsilon=0.1) is not None
    assert Session.open(path).remaining == df.dp.session.remaining


def test_a_log_without_its_file(path):
    """Where only SQLite's log is left, no new ledger is begun: the log would be played into it."""
    small(path).dp.session.close()
    named_sessions.pop("small", None)
    kept_sessions.clear()  # as in another process
    path.with_name(path.name + "-wal").write_bytes(b"x" * 4096)
    path.unlink()
    with pytest.raises(LedgerError, match="its log"):
        frame().dp.protect(epsilon=1, ledger=path)
    assert not path.exists()


def test_no_log_is_left(path):
    """After each charge the main file has it alone: no log whose damage or loss could take it back."""
    df = small(path)
    for _ in range(3):
        df.dp.count(epsilon=0.1)
        log = path.with_name(path.name + "-wal")
        assert not log.exists() or log.stat().st_size == 0
        copy = path.with_name("copy.sqlite")
        shutil.copy(path, copy)
        assert Session.open(copy).remaining == df.dp.session.remaining


@pytest.mark.parametrize("place", [19, 20, 21, 60, 100, 4096, 8192])
def test_what_was_refused_is_let_go(path, place, monkeypatch):
    """A file that was refused is closed: put in order, it is written at once, whatever still holds the error."""
    monkeypatch.setattr(sqlite, "WAIT", 0.0)
    df = small(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
    gc.disable()
    try:
        try:
            LedgerFile(path).read()
        except LedgerError as error:
            held = error
        path.write_bytes(whole)
        assert df.dp.count(epsilon=0.1) is not None
        del held
    finally:
        gc.enable()


def test_kept_open_by_another_program(path, monkeypatch):
    """A program that keeps the file open is waited for and named; nothing is charged, and when it lets go, charges go on."""
    monkeypatch.setattr(sqlite, "WAIT", 0.3)
    df = small(path)
    before = df.dp.session.remaining
    program = "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM head').fetchall(); print('open', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(LedgerBusy) as raised:
            df.dp.count(epsilon=0.1)
        assert df.dp.session.remaining == before, "an account is read beside it"
        other.kill()
    if Path("/proc/locks").exists():
        assert raised.value.holder.startswith(f"process {other.pid}")
    assert df.dp.count(epsilon=0.1) is not None
    assert df.dp.session.remaining < before


def test_what_kind_of_text_a_record_is():
    """Bodies are ASCII JSON whatever the texts; a seal covers number, kind, body and the seal before."""
    text = text_of({"query": "mean('Größe \ud83d')", "n": 10**40})
    assert text.isascii()
    assert json.loads(text) == {"query": "mean('Größe \ud83d')", "n": 10**40}
    one = seal(START, "charge", text)
    assert len({seal(START, "answer", text), seal(one, "charge", text), seal(START, "charge", text + " "), one}) == 4
    with pytest.raises(ValueError, match="JSON"):
        text_of({"x": float("nan")})


def test_an_answer_of_another_version(path):
    """An answer that this version cannot read says so, and leaves the account readable."""
    session = Session(1, ledger=path)
    df = session.protect(frame())
    df.dp.count(epsilon=0.1)
    details = {"frame": "f", "query": "count()", "mechanism": "laplace", "scale": 1.0, "margin": 1.0, "private": True}
    session._core.charge(Cost.laplace(as_epsilon(0.1)), label="later", asked={}, **details)
    account = session._core.account
    account._store._append(account, lambda: [Record("answer", {"number": 2, "release": {"$": "Unheard", "v": {}}})])
    later = Session.open(path)
    assert later.remaining == pytest.approx(0.8)
    assert [release.number for release in later.releases] == [1]
    assert later.ledger["epsilon"].tolist() == [0.1, 0.1]
    with pytest.raises(LedgerError, match="a version of pandas_dp"):
        later.replay("later")


OPENED = {"name": None, "epsilon": "1", "delta": None, "rho": None, "queries": None}
FORGED = {
    "a long amount": ("charge", {"epsilon": f"1/{10**1500 + 1}"}),
    "a negative amount": ("charge", {"epsilon": "-1/2"}),
    "a time without a zone": ("charge", {"time": "2024-01-01T00:00:00"}),
    "a time beyond": ("charge", {"time": "0001-01-01T00:00:00+23:59"}),
    "a number out of order": ("charge", {"number": 7}),
    "a text for a flag": ("charge", {"pure": "yes"}),
    "many queries": ("opening", {"queries": "many"}),
    "queries of none": ("opening", {"queries": "-1"}),
    "no budget": ("opening", {"epsilon": None}),
    "a name of another type": ("frame", {"declared": [1]}),
}


def forged(path, kind, changes):
    charge = body_of(Entry(1, datetime.now(UTC), "f", "count()", Cost.laplace(as_epsilon("0.1")), "discrete Laplace", 10.0, 30.0, True))
    bodies = {"opening": OPENED, "charge": charge, "frame": {"name": "f", "declared": {}}}
    records = [Record(name, {**body, **(changes if name == kind else {})}) for name, body in bodies.items()]
    assert LedgerFile.create(path, records) is not None


@pytest.mark.parametrize("forgery", FORGED)
def test_forged_records(path, forgery):
    """Records under right seals that say what no ledger says are refused as damage, by sessions and the audit alike."""
    forged(path, *FORGED[forgery])
    with pytest.raises(LedgerDamaged):
        Session.open(path)
    assert main(["ledger", str(path)]) == 1


def test_long_sums_are_shown(path, capsys):
    """Amounts whose exact sum has thousands of digits are shown as about what they are."""
    records = [Record("opening", OPENED)]
    for number, prime in enumerate((3, 7, 11, 13, 17, 19, 23, 29), start=1):
        entry = Entry(number, datetime.now(UTC), "f", "count()", Cost.laplace(as_epsilon("0.1")), "discrete Laplace", 10.0, 30.0, True)
        records.append(Record("charge", {**body_of(entry), "epsilon": f"1/{prime**650}"}))
    assert LedgerFile.create(path, records) is not None
    session = Session.open(path)
    assert "left" in repr(session)
    assert len(session.ledger) == 8
    assert pickle.loads(pickle.dumps(session.spent)) == session.spent
    for options in ([], ["--export", "csv"], ["--export", "json"]):
        assert main(["ledger", str(path), *options]) == 0
    capsys.readouterr()


BOMBS = [
    {"$": "array", "dtype": "i8", "shape": [10**9, 0], "v": ""},
    {"$": "array", "dtype": "f8", "shape": [-1], "v": "AAAAAAAAAAA="},
    {"$": "RangeIndex", "v": [0, 10**18, 1], "name": None},
    {"$": "tz", "v": "dateutil//etc/hostname"},
    {"$": "tz", "v": "/etc/hostname"},
    {"$": "objects", "shape": [3], "v": [1]},
]


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: f"{bomb['$']} {str(bomb.get('v'))[:12]}")
def test_what_is_not_decoded(bomb):
    """Content that would take for ever, or open a file, is no answer."""
    with pytest.raises(ValueError, match=r"no |cannot|buffer"):
        decode(bomb)


def test_errors_show_no_data(path):
    """Errors about files quote the path and what the owner typed, never a value."""
    df = pd.DataFrame({"x": [123456.0] * 10}).dp.protect(epsilon=1, ledger=path)
    df.dp.mean("x", bounds=(0, 1), epsilon=0.1)
    path.write_bytes(b"\0" * 5000)
    with pytest.raises(LedgerError) as raised:
        df.dp.mean("x", bounds=(0, 1), epsilon=0.1)
    assert "123456" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


def test_what_is_appended_is_in_the_main_file(path):
    """When an append hands over its records they are in the main file: a copy of it alone, without SQLite's log, has them.

    It would catch charges that are left in the log until the last connection is closed, which a process that is killed does not do: copies of the file would have the budget again.
    """
    small(path)
    file, copies = LedgerFile(path), []

    def take(records, mark):
        copy = path.with_name(f"copy{len(copies)}")
        copy.write_bytes(path.read_bytes())
        copies.append((copy, mark))

    more = Record("frame", {"name": "more", "declared": {}})
    _, before = file.read()
    file.append(lambda: before, take, lambda: [more])
    assert [LedgerFile(copy).read()[1] for copy, _ in copies] == [mark for _, mark in copies]
    assert LedgerFile(copies[-1][0]).read()[0][-1] == more


def test_a_page_that_nothing_uses(path):
    """A file whose pages do not fit together is refused, also where every record can still be read: a page was added that no table has.

    It would catch a check of the records alone: a file that SQLite does not understand may lose them with the next charge.
    """
    small(path).dp.session.close()
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    pages = int.from_bytes(content[28:32], "big")
    assert pages * size == len(content)
    content[28:32] = (pages + 1).to_bytes(4, "big")
    path.write_bytes(content + bytes(size))
    assert "pages do not fit together" in str(refused(path))
