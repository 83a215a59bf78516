"""``protect()``: which session a frame comes under, a new one or one that is there.  The user's documentation is ``DataFrame.dp.protect``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pandas_dp.accounting import lock
from pandas_dp.accounting.prices import as_optional_delta, open_account
from pandas_dp.domains.schema import read_schema
from pandas_dp.errors import ParameterError, ParameterTypeError, SessionConflict
from pandas_dp.quantities.budget import as_epsilon, as_rho, checked_count
from pandas_dp.sessions import registry
from pandas_dp.sessions.entering import checked_name, enter
from pandas_dp.sessions.session import Session

if TYPE_CHECKING:
    from collections.abc import Hashable

    import pandas as pd

__all__ = ["protect"]


def protect(
    frame: pd.DataFrame,
    epsilon: object | None,
    *,
    delta: object,
    rho: object,
    schema: object,
    unit: Hashable | None,
    max_rows: int | None,
    name: str | None,
    queries: int | None,
    enforce: str,
    derived: str,
    ledger: object,
    session: Session | None,
) -> pd.DataFrame:
    """Attach a session to a frame; the user's documentation is ``DataFrame.dp.protect``."""
    registry.refuse_protected(frame)
    if session is not None:
        if not isinstance(session, Session):
            raise ParameterTypeError.wrong_kind("session", "a pandas_dp.Session", type(session))
        if epsilon is not None or queries is not None or delta != 0 or rho is not None or ledger is not None:
            raise SessionConflict.mixed("epsilon=, delta=, rho=, queries= and ledger=")
        return enter(session, frame, schema=schema, unit=unit, max_rows=max_rows, name=name, enforce=enforce, derived=derived)
    if (epsilon is None) == (rho is None):
        raise ParameterError.budget_missing()
    declared = None if schema is None else read_schema(schema, frame.columns)
    parameters: dict[str, object] = {
        "epsilon": None if epsilon is None else as_epsilon(epsilon),
        "rho": None if rho is None else as_rho(rho),
        "delta": as_optional_delta(delta),
        "unit": unit,
        "max_rows": max_rows,
        "queries": queries,
        "enforce": enforce,
        "derived": derived,
        "schema": None if declared is None else declared[1],
        "ledger": None if ledger is None else _path(ledger),
    }
    checked_name(name)
    under = {"schema": schema, "unit": unit, "max_rows": max_rows, "name": name, "enforce": enforce, "derived": derived}
    if ledger is not None:
        # What is in the file is compared with the file: its budget may have been amended.
        _check_name(name, parameters, ["ledger"])
        opened = _kept(str(parameters["ledger"]), name, queries, epsilon=epsilon, delta=delta, rho=rho)
        protected = enter(opened, frame, **cast("Any", under))
        with lock.LOCK:
            _check_name(name, parameters, ["ledger"])
            _take_name(name, opened, parameters)
        return protected
    with lock.LOCK:
        known = _check_name(name, parameters, list(parameters))
        if known is not None:
            known.accountant.check_open()
        opened = Session(epsilon, delta=delta, rho=rho, name=name, queries=queries) if known is None else known
        protected = enter(opened, frame, **cast("Any", under))
        # Only now: a protect() that failed has not taken the name.
        _take_name(name, opened, parameters)
    return protected


def _check_name(name: str | None, parameters: dict[str, object], compared: list[str]) -> Session | None:
    """Return the session of a name in this process, or raise if it has other parameters."""
    opened, before = registry.named_sessions.get(name or "", (None, parameters))
    if opened is None:
        return None
    differences = [_difference(key, before[key], parameters[key]) for key in compared if before[key] != parameters[key]]
    if differences:
        raise SessionConflict.differs(str(name), differences)
    return opened


def _take_name(name: str | None, opened: Session, parameters: dict[str, object]) -> None:
    if name is not None:
        registry.named_sessions.setdefault(name, (opened, parameters))


def _kept(path: str, name: str | None, queries: int | None, *, epsilon: object, delta: object, rho: object) -> Session:
    """Return the session by which this process has the file open already, so that a cell that runs again reads no file and makes no second copy of the row labels."""
    from pandas_dp.accounting.opening import check_same, terms  # noqa: PLC0415  (loaded for those who use it)

    with lock.LOCK:
        before = registry.kept_sessions.get(path)
    if before is not None and not before.accountant.closed:
        before.accountant.refresh()
        check_same(
            before.accountant,
            terms(open_account(epsilon, delta, rho), name, None if queries is None else checked_count("queries", queries)),
        )
        return before
    opened = Session(epsilon, delta=delta, rho=rho, name=name, queries=queries, ledger=path)
    with lock.LOCK:
        before = registry.kept_sessions.get(path)
        if before is None or before.accountant.closed:
            registry.kept_sessions[path] = before = opened
        return before


def _path(ledger: object) -> str:
    from pandas_dp.accounting.opening import as_path  # noqa: PLC0415  (loaded for those who use it)

    return str(as_path(ledger))


def _difference(key: str, before: object, now: object) -> str:
    if key == "schema":
        return "another schema"
    return f"{key}: {before!r} before, {now!r} now"
