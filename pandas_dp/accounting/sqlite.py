"""Ledger files: an append-only chain of records in SQLite.

The only module that opens one.  What it returns has been checked; what it has appended is on the disk, in the main file and not only in SQLite's log, before it returns.
A connection is opened for one transaction, has the file alone while it writes, and is closed again, under ``lock.FILES``: none is carried over a fork, and waiting for another process is done
without one.  Nothing here may begin a file anew where one was.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pandas_dp.accounting import lock
from pandas_dp.accounting.lock_holder import holder_of
from pandas_dp.accounting.records import START, Mark, Record, seal, text_of
from pandas_dp.errors import LedgerBusy, LedgerDamaged, LedgerError, LedgerUnwritable, SessionClosed, SessionConflict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["LedgerFile"]

Found = TypeVar("Found")

WAIT = 30.0  # seconds for another process to let go
_PAUSES = (0.0005, 0.02)  # between attempts, the shortest and the longest
_LOOKS = 20  # at a file that others change, by who cannot lock it
_APPLICATION = 0x64704C67  # "dpLg"
_FORMAT = 1
_TABLES = (
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, digest BLOB NOT NULL)",
    "CREATE TABLE records (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, digest BLOB NOT NULL)",
)


class LedgerFile:
    """A ledger file, read and appended to in transactions.

    Parameters
    ----------
    path : Path
        The file, which is there.
    writable : bool
        Whether it will be appended to.
    """

    def __init__(self, path: Path, *, writable: bool = True) -> None:
        self.path = path
        self.writable = writable
        self.identity = _identity(path)
        self._acting = False

    @classmethod
    def create(cls, path: Path, records: Sequence[Record]) -> LedgerFile | None:
        """Begin a file with its first records; return None if one came into being meanwhile.

        Notes
        -----
        It is written under another name and then linked to its own, so that whoever sees it sees all of it, and only one of several processes succeeds.
        """
        if not path.parent.is_dir() or path.is_dir():
            raise LedgerError.elsewhere(str(path))
        with lock.FILES, _translated(path):
            handle, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
            os.close(handle)
            draft = Path(name)
            try:
                connection = sqlite3.connect(draft, isolation_level=None)
                try:
                    _begin(connection, records)
                finally:
                    connection.close()
                draft.chmod(0o666 & ~_umask())
                _synchronise(draft)
                # A log without its file belongs to one that was there: SQLite would play it into the new one.
                if any(path.with_name(path.name + end).exists() for end in ("-wal", "-journal")) and not path.exists():
                    raise LedgerError.leftover(str(path))
                os.link(draft, path)
            except FileExistsError:
                return None
            finally:
                for end in ("", "-wal", "-shm", "-journal"):
                    draft.with_name(draft.name + end).unlink(missing_ok=True)
            with suppress(OSError):  # where folders cannot be opened
                _synchronise(path.parent)
        return cls(path)

    def read(self) -> tuple[list[Record], Mark]:
        """Check the whole file and return what it holds.

        Raises
        ------
        LedgerDamaged
            If anything in it is not as it was written.
        LedgerError
            If it is missing, no ledger, or cannot be opened.
        """

        def whole(connection: sqlite3.Connection) -> tuple[list[Record], Mark]:
            connection.execute("BEGIN")
            _check_form(connection, self.path)
            return _news(connection, START, self.path)

        if self.writable or not _unlockable(self.path):
            return self._patiently(whole)
        for _ in range(_LOOKS):
            before = _looked(self.path)
            try:
                found = self._patiently(whole)
            except LedgerDamaged:
                if _looked(self.path) == before:
                    raise
            else:
                if _looked(self.path) == before:
                    return found
            time.sleep(_PAUSES[1])
        raise LedgerBusy.held(str(self.path), "processes that write it, and this user cannot lock it", _LOOKS * _PAUSES[1])

    def news(self, mark: Callable[[], Mark], take: Callable[[list[Record], Mark], None]) -> None:
        """Hand over what was appended since a mark, which is asked for when the file is open."""

        def after(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN")
            take(*_news(connection, mark(), self.path))

        self._patiently(after)

    def append(self, mark: Callable[[], Mark], take: Callable[[list[Record], Mark], None], build: Callable[[], Sequence[Record]]) -> None:
        """Append records in one transaction.

        Parameters
        ----------
        mark : callable
            Returns how far the caller has read.
        take : callable
            Is given what others appended since, and afterwards, when it is on the disk, what was appended here; each time with the new mark.
        build : callable
            Returns the records, or raises if there are none to be appended after all.

        Raises
        ------
        LedgerBusy
            If others hold the file for longer than ``WAIT``.
        LedgerUnwritable
            If the disk is full, failing or read-only.
        """
        process = os.getpid()

        def appended(connection: sqlite3.Connection) -> None:
            # Alone, so that no other connection moves the log meanwhile, and none keeps it from being moved into the main file.
            connection.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
            connection.execute("BEGIN IMMEDIATE")
            news, reached = _news(connection, mark(), self.path)
            take(news, reached)
            records = list(build())
            reached = _add(connection, reached, records)
            if os.getpid() != process:  # a handler forked in between
                raise SessionClosed.forked()
            _commit(connection, self.path)
            with suppress(sqlite3.Error):  # if it fails, they are on the disk in the log
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            take(records, reached)

        self._patiently(appended)

    def _patiently(self, act: Callable[[sqlite3.Connection], Found]) -> Found:
        """Act on a connection as soon as nobody else holds the file."""
        start, pause = time.monotonic(), _PAUSES[0]
        while True:
            # A signal's handler asks, while its thread charges in memory, with a lock that whoever has the files may wait for.
            if lock.charging == threading.get_ident():
                raise SessionConflict.interrupted()
            with lock.FILES:
                if self._acting:  # by this thread, that holds the lock: a signal's handler asks
                    raise SessionConflict.interrupted()
                self._acting = True
                try:
                    return self._connected(act)
                except _Held:
                    waited = time.monotonic() - start
                    holder = holder_of(self.path) if waited >= WAIT else None
                finally:
                    self._acting = False
            if holder is not None:
                raise LedgerBusy.held(str(self.path), holder, WAIT)
            time.sleep(pause)
            pause = min(2 * pause, _PAUSES[1])

    def _connected(self, act: Callable[[sqlite3.Connection], Found]) -> Found:
        """Act on a connection that is closed in any case: what interrupts may keep this frame, and must not keep the file's locks."""
        connection: sqlite3.Connection | None = None
        process = os.getpid()
        try:
            if _here(self.path) != self.identity:
                raise LedgerError.vanished(str(self.path))
            if not self.path.stat().st_size:
                raise LedgerDamaged.found(str(self.path), "it is empty: it was truncated, or never was a ledger and can be removed")
            connection = _connect(self.path, writable=self.writable)
            _prepare(connection, writable=self.writable)
            return act(connection)
        except (sqlite3.Error, OSError, UnicodeDecodeError, json.JSONDecodeError, OverflowError, RecursionError) as raised:
            error = _error_of(raised, self.path)
        finally:
            if connection is not None and os.getpid() == process:  # a fork's copy is the parent's
                connection.close()  # rolls back what was not committed
        try:
            raise error
        finally:
            del error  # else it would hold this frame until garbage is collected


class _Held(Exception):
    """Another connection holds the file."""


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _synchronise(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _commit(connection: sqlite3.Connection, path: Path) -> None:
    failed = False
    try:
        connection.execute("COMMIT")
    except sqlite3.Error:
        failed = True
    if failed:
        raise LedgerUnwritable.uncertain(str(path))


def _unlockable(path: Path) -> bool:
    """Whether this user may read the file, and not lock it: as one that nobody changes, then."""
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return not writable and not path.with_name(path.name + "-shm").exists()


def _looked(path: Path) -> tuple[Any, ...]:
    """Return what changes when somebody writes the file."""
    log = path.with_name(path.name + "-wal")
    return tuple((one.st_size, one.st_mtime_ns) for one in (each.stat() for each in (path, log) if each.exists()))


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    mode = "mode=rw"
    if not writable and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        mode = "mode=ro&immutable=1" if _unlockable(path) else "mode=ro"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, timeout=0)


def _prepare(connection: sqlite3.Connection, *, writable: bool) -> None:
    connection.text_factory = bytes
    for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")
    if not writable:
        connection.execute("PRAGMA query_only=ON")


def _begin(connection: sqlite3.Connection, records: Sequence[Record]) -> None:
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id={_APPLICATION}")
    connection.execute(f"PRAGMA user_version={_FORMAT}")
    for table in _TABLES:
        connection.execute(table)
    connection.execute("INSERT INTO head VALUES (1, ?, ?)", (START.number, START.digest))
    _add(connection, START, records)
    connection.execute("COMMIT")


def _add(connection: sqlite3.Connection, mark: Mark, records: Sequence[Record]) -> Mark:
    for record in records:
        text = text_of(record.body)
        mark = seal(mark, record.kind, text)
        connection.execute("INSERT INTO records VALUES (?, ?, ?, ?)", (mark.number, record.kind, text, mark.digest))
    connection.execute("UPDATE head SET number = ?, digest = ?", (mark.number, mark.digest))
    return mark


def _news(connection: sqlite3.Connection, mark: Mark, path: Path) -> tuple[list[Record], Mark]:
    """Return the records after a mark, checked against their seals and the head."""
    heads = connection.execute("SELECT one, number, digest FROM head").fetchall()
    if len(heads) != 1 or [type(field) for field in heads[0]] != [int, int, bytes]:
        raise LedgerDamaged.found(str(path), "its head is not as it was written")
    head = Mark(heads[0][1], heads[0][2])
    if head.number < mark.number:
        raise LedgerDamaged.found(str(path), f"it has {head.number} records, and had {mark.number}: it is an older copy, or was cut")
    found: list[Record] = []
    # At once: a cursor that an exception keeps alive would keep the connection, and its locks, after it was closed.
    rows = connection.execute("SELECT number, kind, body, digest FROM records WHERE number > ? ORDER BY number", (mark.number,)).fetchall()
    for number, kind, text, digest in rows:
        if (type(kind), type(text), type(digest)) != (bytes, bytes, bytes) or number != mark.number + 1:
            raise LedgerDamaged.found(str(path), f"record {mark.number + 1} is missing or torn")
        mark = _checked(mark, kind, text, digest, path)
        found.append(Record(kind.decode(), json.loads(text.decode())))
    if mark != head:
        raise LedgerDamaged.found(str(path), f"its chain ends at record {mark.number}, and its head says {head.number} or has another seal")
    return found, mark


def _checked(before: Mark, kind: bytes, text: bytes, digest: bytes, path: Path) -> Mark:
    mark: Mark | None = None
    with suppress(UnicodeDecodeError):
        mark = seal(before, kind.decode(), text.decode())
    if mark is None or mark.digest != digest:
        raise LedgerDamaged.found(str(path), f"record {before.number + 1} does not have its seal: it was edited, or the one before it was")
    return mark


def _check_form(connection: sqlite3.Connection, path: Path) -> None:
    """Check that this is a ledger, and whole as SQLite sees it."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = tuple(row[0] for row in connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall())
    expected = tuple(table.encode() for table in _TABLES)
    if application != _APPLICATION:
        raise LedgerDamaged.found(str(path), "its mark was changed") if tables == expected else LedgerError.foreign(str(path))
    if version != _FORMAT:
        raise LedgerError.newer(str(path), version)
    if tables != expected:
        raise LedgerDamaged.found(str(path), "its tables are not those of a ledger")
    if connection.execute("PRAGMA integrity_check(1)").fetchall() != [(b"ok",)]:
        raise LedgerDamaged.found(str(path), "its pages do not fit together: it is torn, truncated or overwritten")


def _here(path: Path) -> tuple[int, int] | None:
    with suppress(FileNotFoundError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def _identity(path: Path) -> tuple[int, int]:
    with _translated(path):
        found = _here(path)
    if path.is_dir():
        raise LedgerError.elsewhere(str(path))
    if found is None:
        log = path.with_name(path.name + "-wal").exists()
        raise LedgerError.leftover(str(path)) if log else LedgerError.missing(str(path))
    return found


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system raise into errors of ours, none of which quotes what is in the file."""
    error: Exception | None = None
    try:
        yield
    except FileExistsError:
        raise
    except (sqlite3.Error, OSError) as raised:
        error = _error_of(raised, path)
    if error is not None:
        raise error


def _error_of(raised: Exception, path: Path) -> Exception:
    """Return the error of ours."""
    if isinstance(raised, sqlite3.Error):
        return _of_sqlite(raised, path)
    return _of_system(raised, path) if isinstance(raised, OSError) else LedgerDamaged.found(str(path), "what it holds cannot be read")


_FULL = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}
_DENIED = {errno.EACCES, errno.EPERM}


def _of_system(error: OSError, path: Path) -> LedgerError:
    if error.errno in _FULL:
        return LedgerUnwritable.full(str(path))
    if error.errno in _DENIED:
        return LedgerError.unreadable(str(path))
    if error.errno == errno.EROFS:
        return LedgerUnwritable.read_only(str(path))
    return LedgerError.elsewhere(str(path))


def _of_sqlite(error: sqlite3.Error, path: Path) -> Exception:
    code: Any = getattr(error, "sqlite_errorcode", None)
    kind = None if code is None else code & 0xFF
    if kind in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return _Held()
    if kind in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}:
        return LedgerUnwritable.read_only(str(path))
    if kind in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return LedgerUnwritable.full(str(path))
    if kind == sqlite3.SQLITE_CANTOPEN:
        return LedgerError.unreadable(str(path))
    if kind == sqlite3.SQLITE_NOTADB:
        return LedgerError.foreign(str(path))
    return LedgerDamaged.found(str(path), "SQLite cannot make sense of it")
