"""How an account comes to be kept in a ledger file: begun there, or continued with the parameters that were recorded.  Must never begin a file that this process has open."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pandas_dp.accounting import lock
from pandas_dp.accounting.account import Accountant
from pandas_dp.accounting.filters import filter_of
from pandas_dp.accounting.records import OPENING, Record, differences, whole_of
from pandas_dp.accounting.sqlite import LedgerFile
from pandas_dp.accounting.state import State
from pandas_dp.accounting.stores import FileStore
from pandas_dp.errors import LedgerDamaged, LedgerError, ParameterError, ParameterTypeError, SessionConflict
from pandas_dp.quantities.budget import Rho

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pandas_dp.accounting.filters import Filter
    from pandas_dp.accounting.records import Mark

__all__ = ["as_path", "begin", "check_same", "resume", "terms"]

_MOST_QUERIES = 10**9
_opened: dict[str, weakref.WeakSet[Accountant]] = {}
_TERMS = ("name", "epsilon", "delta", "rho", "queries")


def as_path(ledger: object) -> Path:
    """Return the path of a ledger file, absolute and without links, so that one file has one path."""
    if not isinstance(ledger, (str, os.PathLike)) or not isinstance(os.fspath(ledger), str):
        raise ParameterTypeError.wrong_kind("ledger", "the path of a file", type(ledger))
    if not os.fspath(ledger).strip() or ledger == ":memory:":
        raise LedgerError.no_file(os.fspath(ledger))
    path: Path | None = None
    with suppress(OSError, RuntimeError, ValueError):  # a loop of links, no home, a zero byte
        path = Path(os.fspath(ledger)).expanduser().resolve()
    if path is None:
        raise LedgerError.elsewhere(repr(os.fspath(ledger)))
    return path


def terms(rule: Filter, name: str | None, queries: int | None) -> dict[str, str | None]:
    """Return the parameters of a session as text, for the record and for comparing."""
    concentrated = rule.unit is Rho
    return {
        "name": name,
        "epsilon": None if concentrated else str(rule.budget),
        "delta": str(rule.delta) if rule.delta else None,
        "rho": str(rule.budget) if concentrated else None,
        "queries": None if queries is None else str(queries),
    }


def begin(path: Path, wanted: Filter, name: str | None, queries: int | None) -> Accountant:
    """Begin a ledger file, or continue the one that is there, if its parameters are the same.

    Raises
    ------
    SessionConflict
        With the differences, if they are not.
    LedgerError
        If the file is none, or cannot be trusted.
    """
    here = terms(wanted, name, queries)
    if not path.exists():
        if any(not account.closed for account in _opened.get(str(path), ())):
            raise LedgerError.vanished(str(path))  # a new one in its place would refill the budget
        file = LedgerFile.create(path, [Record(OPENING, here)])
        if file is not None:
            return _noted(_kept_in(file, wanted, here, *file.read()))
    account = _continued(LedgerFile(path))
    check_same(account, here)
    return _noted(account)


def _noted(account: Accountant) -> Accountant:
    """Remember that this process has a file open."""
    with lock.LOCK:
        _opened.setdefault(str(account.path), weakref.WeakSet()).add(account)
    return account


def check_same(account: Accountant, here: Mapping[str, str | None]) -> None:
    """Raise ``SessionConflict`` with the differences between an account and what is asked for now, if there are any."""
    found = differences({**account.opening, **_budget(account)}, here, "none")
    if found:
        raise SessionConflict.recorded(str(account.path), found)


def _budget(account: Accountant) -> dict[str, str | None]:
    """Return the parameters that an amendment may have changed."""
    changed = terms(account.rule, None, None)
    return {key: changed[key] for key in ("epsilon", "delta", "rho")}


def resume(path: Path, *, writable: bool = True) -> Accountant:
    """Continue the ledger file that is there, with the parameters that are recorded: those of its ``opening``."""
    account = _continued(LedgerFile(path, writable=writable))
    return _noted(account) if writable else account


def _continued(file: LedgerFile) -> Accountant:
    records, mark = file.read()
    rule: Filter | None = None
    opening: dict[str, str | None] = {}
    with suppress(LookupError, TypeError, ValueError, ParameterError):
        opening = {key: None if records[0].body[key] is None else str(records[0].body[key]) for key in _TERMS}
        if opening["queries"] is not None:
            whole_of(int(opening["queries"]), _MOST_QUERIES)
        if records[0].kind == OPENING:
            rule = filter_of(opening["epsilon"], opening["delta"] or 0, opening["rho"])
    if rule is None:
        raise LedgerDamaged.found(str(file.path), "it does not begin with the parameters of a session")
    return _kept_in(file, rule, opening, records, mark)


def _kept_in(file: LedgerFile, rule: Filter, opening: Mapping[str, str | None], records: Sequence[Record], mark: Mark) -> Accountant:
    """Return the account of a file that was read."""
    store = FileStore(file, opening)
    return Accountant(rule, store, store.read(State.start(rule), records, mark))
