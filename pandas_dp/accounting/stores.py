"""Where an account is kept: in memory, or in a ledger file that several processes share.

A store puts the next state of an account in place of the one before, under the lock.  One that is kept in a file takes its sums from there alone, its own charges included, once they are on
the disk: so that it counts what other processes charge, and a process that is killed has charged or has not asked.  A store decides nothing about budgets, and must never charge twice.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol

from pandas_dp.accounting import lock
from pandas_dp.accounting.records import ANSWER, CHARGE, FRAME, Record, body_of, differences
from pandas_dp.errors import LedgerDamaged, LedgerError, LedgerUnwritable, SessionConflict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pandas_dp.accounting.filters import Sums
    from pandas_dp.accounting.ledger import Entry
    from pandas_dp.accounting.records import Mark
    from pandas_dp.accounting.sqlite import LedgerFile
    from pandas_dp.accounting.state import State

__all__ = ["FileStore", "Kept", "MemoryStore", "Store"]


class Kept(Protocol):
    """What a store keeps: whoever has a state, and can be closed."""

    state: State

    def check_open(self) -> None:
        """Raise ``SessionClosed`` if no charge can be accepted any more."""


class Store(Protocol):
    """Where an account is kept."""

    @property
    def path(self) -> str | None:
        """The ledger file; None in memory."""

    @property
    def opening(self) -> Mapping[str, str | None]:
        """The parameters of the session that the file records; empty in memory."""

    def refresh(self, account: Kept) -> None:
        """Take what other processes wrote."""

    def charge(self, account: Kept, build: Callable[[], tuple[Entry, Sums]]) -> Entry:
        """Charge what ``build`` returns with the sums after it, or nothing if it raises; it is called under the lock, with the account up to date."""

    def answer(self, account: Kept, number: int, body: Any) -> None:
        """Record that a charge was answered, and in a file what was answered."""

    def declare(self, account: Kept, name: str, declared: Mapping[str, str]) -> list[str]:
        """Record what is declared of a frame, or return in what it differs from what was recorded under its name."""

    def amend(self, account: Kept, build: Callable[[], Record]) -> None:
        """Record a changed budget, if the account is kept in a file."""


class MemoryStore:
    """An account that ends with its process."""

    __slots__ = ()
    path = None
    opening: Mapping[str, str | None] = {}

    def refresh(self, account: Kept) -> None:
        """Do nothing: nobody else charges it."""

    def charge(self, account: Kept, build: Callable[[], tuple[Entry, Sums]]) -> Entry:
        """Charge what ``build`` returns; refuse in the handler of a signal that came during another charge."""
        with lock.LOCK:
            account.check_open()
            if lock.charging:  # by this thread, that holds the lock: a signal's handler asks
                raise SessionConflict.interrupted()
            try:
                lock.charging = threading.get_ident()
                entry, sums = build()
                account.state = account.state.charged(entry, sums)
                return entry
            finally:
                lock.charging = 0

    def answer(self, account: Kept, number: int, body: Any) -> None:  # noqa: ARG002  (one signature for all)
        """Record that a charge was answered."""
        with lock.LOCK:
            account.state = account.state.answered(number, None)

    def declare(self, account: Kept, name: str, declared: Mapping[str, str]) -> list[str]:  # noqa: ARG002  (as above)
        """Record nothing: the frame is at hand."""
        return []

    def amend(self, account: Kept, build: Callable[[], Record]) -> None:  # noqa: ARG002  (as above)
        """Refuse: there would be no record of it."""
        raise LedgerError.missing("")


class FileStore:
    """An account that is kept in a ledger file.

    Parameters
    ----------
    file : LedgerFile
        The file, which is there.
    opening : mapping
        The parameters of the session, as they are recorded in it.
    """

    __slots__ = ("_file", "opening")

    def __init__(self, file: LedgerFile, opening: Mapping[str, str | None]) -> None:
        self._file = file
        self.opening = opening

    @property
    def path(self) -> str:
        """The ledger file."""
        return str(self._file.path)

    def read(self, state: State, records: Sequence[Record], mark: Mark) -> State:
        """Return the state after records of the file; raise ``LedgerDamaged`` if they are not what a ledger's are."""
        after: State | None = None
        try:
            after = state.read(records, mark)
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            after = None
        if after is None:
            raise LedgerDamaged.found(self.path, "a record does not say what a ledger's does")
        return after

    def refresh(self, account: Kept) -> None:
        """Take what other processes wrote into the file."""
        self._file.news(lambda: account.state.mark, lambda records, mark: self._take(account, records, mark))

    def charge(self, account: Kept, build: Callable[[], tuple[Entry, Sums]]) -> Entry:
        """Charge what ``build`` returns: it is on the disk before this returns."""
        made: list[Entry] = []

        def records() -> list[Record]:
            with lock.LOCK:
                account.check_open()
                made[:] = [build()[0]]  # the sums are taken from the file
            return [Record(CHARGE, body_of(made[0]))]

        self._append(account, records)
        return made[0]

    def answer(self, account: Kept, number: int, body: Any) -> None:
        """Record an answer; keep one that the file cannot take, and say so."""
        record = Record(ANSWER, {"number": number, "release": body})
        try:
            self._append(account, lambda: [record])
        except LedgerError:
            with lock.LOCK:
                account.state = account.state.kept(number, body, record)
                query = next((entry.query for entry in account.state.entries if entry.number == number), "the query")
            failed = LedgerUnwritable.answer_kept(self.path, query)
        else:
            return
        raise failed

    def declare(self, account: Kept, name: str, declared: Mapping[str, str]) -> list[str]:
        """Record what is declared of a frame, or return in what it differs from what was recorded under its name."""
        self.refresh(account)
        if name not in account.state.frames:
            record = Record(FRAME, {"name": name, "declared": dict(declared)})
            self._append(account, lambda: [] if name in account.state.frames else [record])
        return differences(account.state.frames.get(name) or {}, declared, "nothing")

    def amend(self, account: Kept, build: Callable[[], Record]) -> None:
        """Record a changed budget."""

        def records() -> list[Record]:
            with lock.LOCK:
                return [build()]

        self._append(account, records)

    def _append(self, account: Kept, build: Callable[[], list[Record]]) -> None:
        """Append to the file what ``build`` returns, after what could not be written before."""
        self._file.append(
            lambda: account.state.mark,
            lambda records, mark: self._take(account, records, mark),
            lambda: [*account.state.unwritten, *build()],
        )

    def _take(self, account: Kept, records: Sequence[Record], mark: Mark) -> None:
        """Take records of the file into the account: all of them, or none if anything goes wrong or a signal interrupts."""
        with lock.LOCK:
            if records:
                account.state = self.read(account.state, records, mark)
