"""Ledger files: an append-only chain of records in SQLite.

The only module that opens one.  What it returns has been checked, and what it has appended is on the disk, in the main file and not only in SQLite's log, before it returns.
A connection is opened for one transaction and closed again, under ``lock.FILES``: none is ever carried over a fork, nor left to hold the file.  Nothing
here may begin a file anew where one was.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pandas_dp.accounting import lock
from pandas_dp.accounting.holders import holder_of
from pandas_dp.accounting.records import START, Mark, Record, seal, text_of
from pandas_dp.errors import LedgerBusy, LedgerDamaged, LedgerError, LedgerUnwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = ["LedgerFile"]

WAIT = 30.0  # seconds for another process to let go
_MAGIC = b"SQLite format 3\x00"
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

    @classmethod
    def create(cls, path: Path, records: Sequence[Record]) -> LedgerFile | None:
        """Begin a file with its first records; return None if one came into being meanwhile.

        Notes
        -----
        It is written under another name and then linked to its own, so that whoever sees it sees all of it, and only one of several processes succeeds.
        """
        if not path.parent.is_dir() or path.is_dir():
            raise LedgerError.elsewhere(str(path))
        draft = path.with_name(f"{path.name}.{os.getpid()}.new")
        with lock.FILES:
            try:
                for end in ("", "-wal", "-shm", "-journal"):  # of a process of the same number that was killed
                    draft.with_name(draft.name + end).unlink(missing_ok=True)
                with _translated(path):
                    connection = sqlite3.connect(draft, isolation_level=None)
                    try:
                        _begin(connection, records)
                    finally:
                        connection.close()
                with draft.open("rb") as written:
                    os.fsync(written.fileno())
                # A log without its file belongs to one that was there: SQLite would play it into the new one.
                if any(path.with_name(path.name + end).exists() for end in ("-wal", "-journal")) and not path.exists():
                    raise LedgerError.leftover(str(path))
                os.link(draft, path)
            except FileExistsError:
                return None
            except OSError as error:
                raise _of_system(error, path) from None
            finally:
                with suppress(OSError):
                    draft.unlink()
            with suppress(OSError):  # where folders cannot be opened
                folder = os.open(path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
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
        with self._connected() as connection:
            connection.execute("BEGIN")
            _check_form(connection, self.path)
            return _news(connection, START, self.path)

    def news(self, mark: Mark) -> tuple[list[Record], Mark]:
        """Return what was appended since a mark."""
        with self._connected() as connection:
            connection.execute("BEGIN")
            return _news(connection, mark, self.path)

    def append(self, mark: Mark, take: Callable[[list[Record], Mark], None], build: Callable[[], Sequence[Record]]) -> None:
        """Append records in one transaction.

        Parameters
        ----------
        mark : Mark
            How far the caller has read.
        take : callable
            Is given what others appended since, and afterwards, when it is on the disk, what was appended here; each time with the new mark.
        build : callable
            Returns the records, or raises if there are none to be appended after all.
        """
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            news, mark = _news(connection, mark, self.path)
            take(news, mark)
            records = build()
            mark = _add(connection, mark, records)
            connection.execute("COMMIT")
            with suppress(sqlite3.Error):
                # From here on a damaged log cannot take the records back.  If it fails, they are on the disk in the log.
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            take(list(records), mark)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with lock.FILES, _translated(self.path):
            if _here(self.path) != self.identity:
                raise LedgerError.vanished(str(self.path))
            _check_magic(self.path)
            connection = _connect(self.path, writable=self.writable)
            try:
                yield connection
            finally:
                connection.close()  # rolls back what was not committed


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    mode = "mode=rw"
    if not writable and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        # Who may not write cannot lock: with an empty log, the file is read as one that nobody changes.
        log = path.with_name(path.name + "-wal")
        mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, timeout=WAIT)
    connection.text_factory = bytes
    for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")
    if not writable:
        connection.execute("PRAGMA query_only=ON")
    return connection


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
    for number, kind, text, digest in connection.execute(
        "SELECT number, kind, body, digest FROM records WHERE number > ? ORDER BY number", (mark.number,)
    ):
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
    tables = tuple(sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master ORDER BY name"))
    expected = tuple(table.encode() for table in _TABLES)
    if application != _APPLICATION:
        raise LedgerDamaged.found(str(path), "its mark was changed") if tables == expected else LedgerError.foreign(str(path))
    if version != _FORMAT:
        raise LedgerError.newer(str(path), version)
    if tables != expected:
        raise LedgerDamaged.found(str(path), "its tables are not those of a ledger")
    if connection.execute("PRAGMA integrity_check(1)").fetchall() != [(b"ok",)]:
        raise LedgerDamaged.found(str(path), "its pages do not fit together: it is torn, truncated or overwritten")


def _check_magic(path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(len(_MAGIC))
    if not start:
        raise LedgerDamaged.found(str(path), "it is empty: it was truncated")
    if start != _MAGIC:
        raise LedgerError.foreign(str(path))


def _here(path: Path) -> tuple[int, int] | None:
    with suppress(FileNotFoundError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def _identity(path: Path) -> tuple[int, int]:
    with _translated(path):
        found = _here(path)
    if found is None:
        log = path.with_name(path.name + "-wal").exists()
        raise LedgerError.leftover(str(path)) if log else LedgerError.missing(str(path))
    return found


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system raise into errors of ours, none of which quotes what is in the file."""
    error: LedgerError | None = None
    try:
        yield
    except sqlite3.Error as raised:
        error = _of_sqlite(raised, path)
    except PermissionError:
        error = LedgerError.unreadable(str(path))
    except OSError as raised:
        error = _of_system(raised, path)
    except (UnicodeDecodeError, json.JSONDecodeError, OverflowError, MemoryError):
        error = LedgerDamaged.found(str(path), "what it holds cannot be read")
    if error is not None:
        raise error


def _of_system(error: OSError, path: Path) -> LedgerError:
    return LedgerError.unreadable(str(path)) if isinstance(error, PermissionError) else LedgerUnwritable.full(str(path))


def _of_sqlite(error: sqlite3.Error, path: Path) -> LedgerError:
    code: Any = getattr(error, "sqlite_errorcode", None)
    kind = None if code is None else code & 0xFF
    if kind in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return LedgerBusy.held(str(path), holder_of(path), WAIT)
    if kind in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}:
        return LedgerUnwritable.read_only(str(path))
    if kind in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return LedgerUnwritable.full(str(path))
    if kind == sqlite3.SQLITE_CANTOPEN:
        return LedgerError.unreadable(str(path))
    return LedgerDamaged.found(str(path), "SQLite cannot make sense of it")
