"""The registry: from the handle that a frame carries to its session, its rows and its declarations.

A handle is one plain string: the name of an unnamed index, and ``attrs["pandas_dp"]``.  It goes wherever rows go, survives copies, pickling
and files, and buys nothing in a process that does not know it.  No object of a session may be put into a frame: pandas
deep-copies ``attrs``, and two budgets would come of one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from pandas_dp import accounting
from pandas_dp.errors import AlreadyProtected, LineageError, NotProtected
from pandas_dp.noise import random_bytes
from pandas_dp.units import Roster

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pandas_dp.domain import ColumnFacts
    from pandas_dp.session import Session

__all__ = ["Protected", "find", "forget", "protected_by", "refuse_protected", "register", "require"]

_KEY = "pandas_dp"
_HANDLE = re.compile(r".+#[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class Protected:
    """What the registry knows of one protected frame: its session, its rows, its declarations."""

    handle: str
    session: Session
    roster: Roster
    facts: dict[Hashable, ColumnFacts]


_registry: dict[str, Protected] = {}


def find(frame: pd.DataFrame | pd.Series[Any]) -> Protected | None:
    """Return what the registry knows of a frame, by the handle it carries, or None."""
    names = frame.index.names
    by_index = next((_registry[n] for n in names if isinstance(n, str) and n in _registry), None)
    attr = frame.attrs.get(_KEY) if frame.attrs else None
    by_attrs = _registry.get(attr) if isinstance(attr, str) else None
    if by_index is not None and by_attrs is not None and by_index is not by_attrs:
        raise LineageError.lost()  # rows of two protected frames were mixed
    found = by_index or by_attrs
    if found is None and isinstance(frame, pd.DataFrame):
        # After reset_index() and an operation that drops attrs, the labels are still there as a column.
        columns = [c for c in frame.columns if isinstance(c, str) and c in _registry]
        found = _registry[columns[0]] if len(columns) == 1 else None
    return found


def require(frame: pd.DataFrame | pd.Series[Any]) -> Protected:
    """Return what the registry knows of a frame, or raise ``NotProtected``."""
    found = find(frame)
    if found is None:
        raise NotProtected.unknown()
    return found


def register(
    session: Session,
    frame: pd.DataFrame,
    facts: dict[Hashable, ColumnFacts],
    *,
    unit: Hashable | None,
    max_rows: int,
    label: str,
) -> pd.DataFrame:
    """Give a frame its handle and enter it into the registry."""
    with accounting.LOCK:
        handle = _fresh_handle(label)
        protected = frame.copy(deep=False)
        names = list(protected.index.names)
        if len(names) == 1 and _is_unnamed(names[0]):
            protected.index = protected.index.rename(handle)
        protected.attrs = {**frame.attrs, _KEY: handle}
        _registry[handle] = Protected(handle, session, Roster(protected, unit, max_rows), facts)
    return protected


def _fresh_handle(label: str) -> str:
    while True:
        handle = f"{label}#{random_bytes(4).hex()}"
        if handle not in _registry:
            return handle


def _is_unnamed(name: Hashable) -> bool:
    # A handle that no session of this process knows is a leftover of an earlier one.
    return name is None or (isinstance(name, str) and bool(_HANDLE.fullmatch(name)))


def refuse_protected(frame: pd.DataFrame) -> None:
    """Raise ``AlreadyProtected`` for a frame that has a session."""
    if isinstance(frame, (pd.DataFrame, pd.Series)) and find(frame) is not None:
        raise AlreadyProtected.again()


def protected_by(session: Session) -> list[Protected]:
    """Return what is known of a session's frames, oldest first."""
    return [known for known in _registry.values() if known.session is session]


def forget(session: Session) -> None:
    """Free the row labels of a closed session's frames; their handles are still known, to say that it is closed."""
    with accounting.LOCK:
        for known in protected_by(session):
            _registry[known.handle] = Protected(known.handle, session, _NO_ROWS, {})


_NO_ROWS = Roster(pd.DataFrame(), None, 1)
