"""Locked, read-only and full files, interrupts and signals: a clear error, nothing answered for free, nothing lost."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from fractions import Fraction

import pytest
from ledger_support import folder, frame, locked, small, unprivileged  # noqa: F401  (fixtures)

from pandas_dp import LedgerBusy, LedgerError, LedgerUnwritable, Session, SessionClosed, SessionConflict
from pandas_dp.accounting import PureFilter, lock, sqlite
from pandas_dp.accounting.state import State
from pandas_dp.release import path as release
from pandas_dp.sessions.registry import kept_sessions, named_sessions


@pytest.fixture
def path(folder):  # noqa: F811
    yield folder / "visits.dp.sqlite"
    named_sessions.pop("small", None)
    kept_sessions.clear()


def test_a_locked_file_says_who_holds_it(path, monkeypatch):
    """A charge waits for a locked file, and then names the process that holds it; nothing is charged, and the next one works."""
    df = small(path)
    monkeypatch.setattr(sqlite, "WAIT", 0.2)
    with locked(path) as holder, pytest.raises(LedgerBusy) as busy:
        df.dp.count(epsilon=0.1)
    assert busy.value.seconds == 0.2
    if sys.platform == "linux":
        assert f"process {holder.pid}" in busy.value.holder
    assert df.dp.session.remaining == Fraction(7, 10)
    assert df.dp.count(epsilon=0.1) is not None


def test_threads_wait_together(path, monkeypatch):
    """Threads that find the file locked wait at the same time, not one after the other, and each is told who holds it."""
    df = small(path)
    monkeypatch.setattr(sqlite, "WAIT", 0.5)
    ended = []

    def ask():
        with pytest.raises(LedgerBusy):
            df.dp.count(epsilon=0.1)
        ended.append(time.monotonic())

    start = time.monotonic()
    threads = [threading.Thread(target=ask) for _ in range(8)]
    with locked(path):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(ended) == 8
    assert max(ended) - start < 8 * 0.5, "eight that waited one after the other need at least four seconds"


def test_a_charge_waits(path):
    """A file that is let go in time is waited for."""
    df = small(path)
    code = "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN IMMEDIATE'); print(flush=True); time.sleep(0.5)"
    holder = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE)
    holder.stdout.readline()
    assert df.dp.count(epsilon=0.1) is not None
    holder.communicate()


def test_a_read_only_file(path):
    """A ledger that this user may only read is told apart: it can be audited, and a charge says that it is read-only; nothing changes."""
    small(path)
    done = unprivileged("charge", path)
    assert "LedgerUnwritable" in done.stderr, done.stderr
    assert "read-only" in done.stderr
    assert Session.open(path).remaining == Fraction(7, 10)


FULL = """
import resource, signal, sys
import pandas as pd, pandas_dp
from pandas_dp import LedgerUnwritable
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
df = pd.DataFrame({"x": range(40)}).dp.protect(epsilon=1000, ledger=sys.argv[1])
df.dp.count(epsilon=0.1)
size = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
answered, charged = 1, None
try:
    for _ in range(1000):
        df.dp.count(epsilon=0.1)
        answered += 1
except LedgerUnwritable as error:
    print(type(error).__name__, str(error).replace("\\n", " "))
kept = len(df.dp.session._core.account.state.unwritten)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
df.dp.count(epsilon=0.1)
again = pandas_dp.Session.open(sys.argv[1])
print(answered, kept, len(again.releases), len(again._core.account.entries))
"""


@pytest.mark.parametrize("size", range(9000, 40000, 3001))
def test_a_full_disk(path, size):
    """A file that may not grow (at 11 sizes): a clear error and no answer, or one that says where the answer is; with room again all answers are in the file."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FULL, path, str(size)], capture_output=True, text=True, check=True)
    error, counts = done.stdout.strip().splitlines()
    answered, kept, releases, entries = map(int, counts.split())
    assert error.startswith("LedgerUnwritable")
    assert "disk" in error
    assert releases == entries == answered + kept + 1


def test_the_answer_of_a_failed_write_is_kept(path, monkeypatch):
    """A charge whose answer cannot be written says so, keeps the answer in this process, and writes it with the next charge."""
    df = small(path)
    original = sqlite._add

    def failing(connection, mark, records):
        if any(record.kind == "answer" for record in records):
            raise sqlite3.OperationalError("database or disk is full")
        return original(connection, mark, records)

    monkeypatch.setattr(sqlite, "_add", failing)
    with pytest.raises(LedgerUnwritable, match=r"count\(\) was charged and answered"):
        df.dp.count(epsilon=0.1)
    kept = df.dp.session.releases[-1]
    assert (kept.query, df.dp.session.remaining) == ("count()", Fraction(6, 10))
    assert len(Session.open(path).releases) == 3
    monkeypatch.undo()
    df.dp.count(epsilon=0.1)
    assert [release.value for release in Session.open(path).releases[-2:]] == [kept.value, df.dp.session.releases[-1].value]
    assert len(df.dp.session.releases) == 5


@pytest.mark.parametrize("kept", [False, True], ids=["memory", "file"])
def test_a_handler_that_asks(path, kept, monkeypatch):
    """A signal's handler that asks during a charge of its own thread is refused: it would see the budget before that charge. Asked afterwards it is answered."""
    session = Session(1, ledger=path if kept else None)
    df = session.protect(frame())
    original, refused = PureFilter.plus, []

    def interrupted(rule, sums, cost):
        try:
            df.dp.count(epsilon=0.9)  # what a handler would run here
        except SessionConflict as error:
            refused.append(str(error))
        return original(rule, sums, cost)

    monkeypatch.setattr(PureFilter, "plus", interrupted)
    df.dp.count(epsilon=0.9)
    assert refused
    assert all("handler" in text for text in refused)
    monkeypatch.undo()
    df.dp.count(epsilon=0.1)
    assert session.remaining == 0


@pytest.mark.parametrize("moment", ["before the charge", "in the state", "after the charge", "with the answer"])
def test_an_interrupt_leaves_the_account_right(path, moment, monkeypatch):
    """Ctrl-C at any step of a charge in a file: the account of this process and that of a new one agree, and each charge counts once."""
    df = small(path)
    session = df.dp.session
    places = {
        "before the charge": (sqlite, "_news"), "in the state": (State, "read_one"),
        "after the charge": (sqlite, "_commit"), "with the answer": (State, "answered"),
    }  # fmt: skip
    owner, name = places[moment]
    original = getattr(owner, name)
    for calls in range(6):
        left = iter(range(calls))

        def interrupt(*arguments, left=left):
            found = original(*arguments)
            if next(left, None) is None:
                raise KeyboardInterrupt
            return found

        monkeypatch.setattr(owner, name, interrupt)
        with contextlib.suppress(KeyboardInterrupt):
            df.dp.count(epsilon=0.01)
        monkeypatch.undo()
        fresh = Session.open(path)
        assert session.remaining == fresh.remaining
        assert len(session._core.account.entries) == len(fresh._core.account.entries)
        assert len(fresh.releases) <= len(fresh._core.account.entries)
    assert df.dp.count(epsilon=0.01) is not None


@pytest.mark.parametrize("place", ["_connect", "_prepare", "_news"])
def test_an_interrupt_lets_go_of_the_file(path, place, monkeypatch):
    """Ctrl-C while an account is read leaves no connection behind, whoever keeps the traceback: the next charge finds the file free."""
    df = small(path)
    session = df.dp.session
    monkeypatch.setattr(sqlite, "WAIT", 0.0)
    original = getattr(sqlite, place)

    def interrupted(*arguments, **options):
        original(*arguments, **options)
        raise KeyboardInterrupt

    held = []
    gc.disable()
    try:
        for ask in (lambda: session.remaining, lambda: repr(session), lambda: session.ledger):
            monkeypatch.setattr(sqlite, place, interrupted)
            try:
                ask()
            except KeyboardInterrupt as interrupt:
                held.append(interrupt)
            monkeypatch.setattr(sqlite, place, original)
            monkeypatch.setattr(sqlite, "WAIT", 0.0)
            assert df.dp.count(epsilon=0.01) is not None
    finally:
        gc.enable()
    assert len(held) == 3


@pytest.mark.parametrize("kept", [False, True], ids=["memory", "file"])
def test_a_fork_in_a_query(path, kept, monkeypatch):
    """A handler that forks inside a query makes two processes of it: the charge buys one answer, the parent's."""
    session = Session(1, ledger=path if kept else None)
    df = session.protect(frame())
    original, children = release._measure, []

    def forking(*arguments):
        children.append(os.fork())
        return original(*arguments)

    monkeypatch.setattr(release, "_measure", forking)
    code = 1
    try:
        answer = df.dp.count(epsilon=0.1)
    except SessionClosed:
        code = 0
    finally:
        if children == [0]:
            os._exit(code)
    assert os.waitpid(children[0], 0)[1] == 0
    assert answer is not None
    assert len(session.releases) == len(session._core.account.entries) == 1


def test_a_handler_in_memory_that_asks_a_file(path, monkeypatch):
    """A handler that came during a charge in memory is refused by a session in a file, too: its thread holds a lock that whoever has the file may wait for."""
    kept = small(path)
    session = Session(1)
    df = session.protect(frame())
    original, told = PureFilter.plus, []

    def interrupted(rule, sums, cost):
        if rule is session._core.account.rule and not told:
            with pytest.raises(SessionConflict, match="handler") as refused:
                kept.dp.count(epsilon=0.1)
            told.append(refused.value)
        return original(rule, sums, cost)

    monkeypatch.setattr(PureFilter, "plus", interrupted)
    assert df.dp.count(epsilon=0.1) is not None
    assert told
    assert kept.dp.count(epsilon=0.1) is not None


def test_interrupts_leave_the_lock_free(path):
    """Real signals at 300 random moments of reading an account: afterwards another thread gets the files' lock at once."""
    account = small(path).dp.session._core.account
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    interrupts = 0
    try:
        while interrupts < 300:
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 1e-3))
                while True:
                    account.refresh()
            except KeyboardInterrupt:
                interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    free = []

    def take():
        free.append(lock.FILES.acquire(blocking=False))
        if free[0]:
            lock.FILES.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    assert free == [True]


def test_no_new_file_where_one_is_open(path):
    """Neither protect() nor Session() begins a file where one was that a session of this process has open; closed, it is the owner's business."""
    df = small(path)
    path.unlink()
    for ask in (
        lambda: Session(1, name="small", ledger=path),
        lambda: Session(5, ledger=path),
        lambda: frame().dp.protect(epsilon=1, ledger=path),
    ):
        with pytest.raises(LedgerError, match="no longer there"):
            ask()
    assert not path.exists()
    df.dp.session.close()
    assert Session(1, ledger=path).spent == 0


def test_a_cell_that_runs_again_reads_nothing_again(path, monkeypatch):
    """protect(ledger=) of a file that this process has open compares parameters, and does not check the whole file again."""
    df = small(path)
    read = []
    original = sqlite.LedgerFile.read
    monkeypatch.setattr(sqlite.LedgerFile, "read", lambda file: read.append(file) or original(file))
    again = frame().dp.protect(epsilon=1, name="small", ledger=path)
    assert again.dp.session is df.dp.session
    with pytest.raises(SessionConflict, match="epsilon: 1 recorded, 2 now"):
        frame().dp.protect(epsilon=2, name="small", ledger=path)
    assert read == []
