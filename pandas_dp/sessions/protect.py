"""``protect()``: under which session a frame comes, a new one or one that is there; and how it comes under it: checked, validated, given its handle.

The user's documentation is ``DataFrame.dp.protect``.  Reads no value but to validate it against a schema.  What fails here must leave no name taken and nothing registered.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from pandas_dp.accounting import lock
from pandas_dp.accounting.filters import as_optional_delta, filter_of
from pandas_dp.domains.schema import read_schema, validate
from pandas_dp.errors import ParameterError, ParameterTypeError, SessionConflict
from pandas_dp.quantities.budget import as_epsilon, as_rho, checked_count
from pandas_dp.sessions import registry
from pandas_dp.sessions.core import SessionCore, checked_name, core_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pandas_dp.domains.domain import ColumnFacts

__all__ = ["enter", "protect"]

_ENFORCE = ("raise", "clamp")
_DERIVED = ("follow", "refuse")


def protect(
    begin: Callable[..., Any],
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
    session: object,
) -> pd.DataFrame:
    """Attach a session to a frame: the one that is given, the one of the name or file, or one that ``begin`` makes."""
    registry.refuse_protected(frame)
    if session is not None:
        if core_of(session) is None:
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
    budget = {"epsilon": epsilon, "delta": delta, "rho": rho}
    if ledger is not None:
        # What is in the file is compared with the file: its budget may have been amended.
        _check_name(name, parameters, ["ledger"])
        opened = _kept(begin, str(parameters["ledger"]), name, queries, **budget)
        protected = enter(opened, frame, **cast("Any", under))
        with lock.LOCK:
            _check_name(name, parameters, ["ledger"])
            _take_name(name, opened, parameters)
        return protected
    with lock.LOCK:
        known = _check_name(name, parameters, list(parameters))
        if known is not None:
            _core(known).account.check_open()
        opened = begin(**budget, name=name, queries=queries) if known is None else known
        protected = enter(opened, frame, **cast("Any", under))
        # Only now: a protect() that failed has not taken the name.
        _take_name(name, opened, parameters)
    return protected


def enter(
    session: object,
    frame: pd.DataFrame,
    *,
    schema: object,
    unit: Hashable | None,
    max_rows: int | None,
    name: str | None,
    enforce: str,
    derived: str,
) -> pd.DataFrame:
    """Register a frame under a session and return the protected copy."""
    core = _core(session)
    if not isinstance(frame, pd.DataFrame):
        raise ParameterTypeError.wrong_kind("frame", "a pandas DataFrame", type(frame))
    if unit is not None and (hasattr(unit, "__array__") or not isinstance(unit, Hashable)):
        raise ParameterTypeError.wrong_kind("unit", "the name of a column or index level", type(unit))
    if not isinstance(enforce, str) or enforce not in _ENFORCE:
        raise ParameterError.choice("enforce", _ENFORCE)
    if not isinstance(derived, str) or derived not in _DERIVED:
        raise ParameterError.choice("derived", _DERIVED)
    if (unit is None) != (max_rows is None):
        raise ParameterError.unit_and_rows()
    rows = 1 if max_rows is None else checked_count("max_rows", max_rows)
    label = core.frame_name(name)
    core.account.check_open()
    given = frame
    facts: dict[Hashable, ColumnFacts] = {}
    if schema is not None:
        read, facts = read_schema(schema, frame.columns)
        if enforce == "raise":
            frame = validate(frame, read)
    if core.account.path is not None:
        from pandas_dp.sessions.declared import declared_of  # noqa: PLC0415  (loaded for those who use it)

        core.declare(label, declared_of(facts, unit=unit, max_rows=max_rows, enforce=enforce, derived=derived))
    core.face = session
    protected = registry.register(core, frame, facts, unit=unit, max_rows=rows, label=label, keep=derived == "refuse")
    if name is None:
        core.unnamed(given)
    return protected


def _core(session: object) -> SessionCore:
    """Return the core of what is known to be a session."""
    return cast("SessionCore", core_of(session))


def _check_name(name: str | None, parameters: dict[str, object], compared: list[str]) -> Any:
    """Return the session of a name in this process or None, or raise if it has other parameters."""
    opened, before = registry.named_sessions.get(name or "", (None, parameters))
    if opened is None:
        return None
    differences = [_difference(key, before[key], parameters[key]) for key in compared if before[key] != parameters[key]]
    if differences:
        raise SessionConflict.differs(str(name), differences)
    return opened


def _take_name(name: str | None, opened: object, parameters: dict[str, object]) -> None:
    if name is not None:
        registry.named_sessions.setdefault(name, (opened, parameters))


def _kept(
    begin: Callable[..., Any], path: str, name: str | None, queries: int | None, *, epsilon: object, delta: object, rho: object
) -> Any:
    """Return the session by which this process has the file open already, so that a cell that runs again reads no file and makes no second copy of the row labels."""
    from pandas_dp.accounting.opening import check_same, terms  # noqa: PLC0415  (loaded for those who use it)

    with lock.LOCK:
        before = registry.kept_sessions.get(path)
    if before is not None and not _core(before).account.closed:
        account = _core(before).account
        account.refresh()
        check_same(
            account,
            terms(filter_of(epsilon, delta, rho), name, None if queries is None else checked_count("queries", queries)),
        )
        return before
    opened = begin(epsilon, delta=delta, rho=rho, name=name, queries=queries, ledger=path)
    with lock.LOCK:
        before = registry.kept_sessions.get(path)
        if before is None or _core(before).account.closed:
            registry.kept_sessions[path] = before = opened
        return before


def _path(ledger: object) -> str:
    from pandas_dp.accounting.opening import as_path  # noqa: PLC0415  (loaded for those who use it)

    return str(as_path(ledger))


def _difference(key: str, before: object, now: object) -> str:
    if key == "schema":
        return "another schema"
    return f"{key}: {before!r} before, {now!r} now"
