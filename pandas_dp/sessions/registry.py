"""The registry: from the handle that a frame carries to its session, its rows and its declarations.

A handle is one string, which goes wherever rows go, survives copies, pickling and files, and buys nothing in a process that does not know it.
An unnamed index is called by it; a named index keeps its name, in a string that knows the handle (:class:`IndexName`); and
``attrs["pandas_dp"]`` has it, too.  No object of a session may be put into a frame: pandas deep-copies ``attrs``, and two budgets would
come of one.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from pandas_dp.accounting import lock
from pandas_dp.domains.domain import ColumnFacts
from pandas_dp.errors import AlreadyProtected, ColumnError, LineageError, NotProtected
from pandas_dp.lineage.handle import HANDLE
from pandas_dp.lineage.roster import Roster
from pandas_dp.noise.entropy import fresh_token

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pandas_dp.sessions.core import SessionCore

__all__ = [
    "IndexName",
    "Protected",
    "find",
    "forget",
    "kept_sessions",
    "named_sessions",
    "protected_by",
    "refuse_protected",
    "register",
    "require",
]

_KEY = "pandas_dp"


class IndexName(str):
    """The name of a protected frame's named index: the same string, which also knows the handle.

    pandas hands names on as they are, so that it is found where ``attrs`` are lost.  Pickled or written to a file it is a plain string.
    """

    __slots__ = ("handle",)
    handle: str

    def __new__(cls, name: str, handle: str) -> Self:
        """Attach the handle."""
        self = super().__new__(cls, name)
        self.handle = handle
        return self

    def __eq__(self, other: object) -> bool:
        """Differ from the equal name of another protected frame, so that pandas drops the name where it combines the two."""
        return str.__eq__(self, other) is True and (not isinstance(other, IndexName) or self.handle == other.handle)

    def __ne__(self, other: object) -> bool:
        """Be the opposite of equality."""
        return not self == other

    def __hash__(self) -> int:
        """Hash as the string."""
        return str.__hash__(self)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as a plain string, which any process can read."""
        return str, (str(self),)

    def __copy__(self) -> Self:
        """Return the same, immutable string."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Return the same, immutable string."""
        return self


@dataclass(frozen=True, slots=True)
class Protected:
    """What the registry knows of one protected frame.

    Attributes
    ----------
    handle : str
        The string that leads here.
    core : SessionCore
        The session whose budget is charged.
    roster : Roster
        Its rows.
    facts : mapping of column to ColumnFacts
        What the schema declared.
    columns : frozenset
        The columns it had, which an error may name.
    kept : DataFrame or None
        With ``derived="refuse"``: the frame itself, shallow, to tell it from derived ones.
    itself : weak reference or None
        With ``derived="refuse"``: to what ``protect()`` returned.
    adopted : bool
        Whether it was derived, and taken back.
    """

    handle: str
    core: SessionCore
    roster: Roster
    facts: dict[Hashable, ColumnFacts]
    columns: frozenset[Hashable]
    kept: pd.DataFrame | None = None
    itself: weakref.ref[pd.DataFrame] | None = None
    adopted: bool = False

    def check_derived(self, frame: pd.DataFrame | pd.Series[Any]) -> None:
        """Raise ``LineageError`` for a derived frame where these are refused."""
        if self.kept is None:
            return
        from pandas_dp.lineage.derived import is_part_of  # noqa: PLC0415  (loaded for those who use it)

        known = isinstance(frame, pd.Series) or (self.itself is not None and frame is self.itself())
        if not known or not is_part_of(frame, self.kept):
            raise LineageError.derived()


# Kept over a reload of this module: a second, empty registry would be a second budget.
_registry: dict[str, Protected] = globals().get("_registry", {})
named_sessions: dict[str, tuple[Any, dict[str, object]]] = globals().get("named_sessions", {})
"""Sessions by name, as users hold them, with the parameters that they were opened with."""
kept_sessions: dict[str, Any] = globals().get("kept_sessions", {})
"""Sessions by ledger file, as users hold them."""


def find(frame: pd.DataFrame | pd.Series[Any]) -> Protected | None:
    """Return what the registry knows of a frame, by the handle it carries, or None.

    Raises
    ------
    LineageError
        If the frame carries the handles of two frames: rows were mixed.
    """
    handles = {_handle_of(name) for name in frame.index.names}
    if frame.attrs:
        handles.add(_handle_of(frame.attrs.get(_KEY)))
    if isinstance(frame, pd.DataFrame):
        # After reset_index() the labels are a column.
        handles.update(name for name in frame.columns if isinstance(name, str) and name in _registry)
    handles.discard(None)
    if len(handles) > 1:
        raise LineageError.mixed()
    return _registry[handles.pop()] if handles else None  # type: ignore[index]


def _handle_of(name: object) -> str | None:
    if not isinstance(name, str):
        return None
    handle = name.handle if isinstance(name, IndexName) else name
    return handle if handle in _registry else None


def require(frame: pd.DataFrame | pd.Series[Any]) -> Protected:
    """Return what the registry knows of a frame, or raise ``NotProtected``."""
    found = find(frame)
    if found is None:
        raise NotProtected.unknown()
    return found


def register(
    core: SessionCore,
    frame: pd.DataFrame,
    facts: dict[Hashable, ColumnFacts],
    *,
    unit: Hashable | None,
    max_rows: int,
    label: str,
    adopted: bool = False,
    keep: bool = False,
) -> pd.DataFrame:
    """Give a frame its handle and enter it into the registry."""
    handle = _fresh_handle(label)
    protected = frame.copy(deep=False)
    protected.index = _labelled(frame, handle, unit)
    protected.attrs = {**frame.attrs, _KEY: handle}
    roster = Roster(protected, handle, unit, max_rows, adopted=adopted)
    columns = frozenset(frame.columns) if isinstance(frame, pd.DataFrame) else frozenset()
    with lock.LOCK:
        earlier = [
            known
            for known in protected_by(core)
            if not (keep or adopted or known.kept is not None or known.adopted)
            and (known.handle[:-8], known.columns, known.facts) == (handle[:-8], columns, facts)
            and known.roster.same_as(roster)
        ]
        if earlier:
            # The same rows again, as when a notebook cell is run again: the same handle, and no second copy of the labels.
            handle = earlier[0].handle
            protected.index = _labelled(frame, handle, unit)
            protected.attrs = {**frame.attrs, _KEY: handle}
        else:
            kept, itself = (protected.copy(deep=False), weakref.ref(protected)) if keep else (None, None)
            _registry[handle] = Protected(handle, core, roster, facts, columns, kept, itself, adopted)
    return protected


def _labelled(frame: pd.DataFrame, handle: str, unit: Hashable | None) -> pd.Index[Any]:
    """Return the index that a protected frame has.

    Unnamed, it is called by the handle; named, it keeps its name.  Where labels repeat and the unit is a column, a level of row numbers is added,
    called by the handle: repeated labels could not tell a row from an aggregate over the label.
    """
    index = frame.index
    names = list(index.names)
    if unit is not None and unit not in names and not index.is_unique:
        numbers = pd.RangeIndex(len(index), name=handle)
        return pd.MultiIndex.from_arrays([*(index.get_level_values(level) for level in range(index.nlevels)), numbers])
    if len(names) == 1:
        return index.rename(handle if _is_unnamed(names[0]) else _index_name(names[0], handle))
    renamed: pd.Index[Any] = index.set_names([_index_name(name, handle) for name in names])
    return renamed


def _index_name(name: Hashable, handle: str) -> Hashable:
    return IndexName(name, handle) if isinstance(name, str) else name


def _fresh_handle(label: str) -> str:
    while True:
        handle = f"{label}#{fresh_token()}"
        if handle not in _registry:
            return handle


def _is_unnamed(name: Hashable) -> bool:
    # A handle that no session of this process knows is a leftover of an earlier one.
    return name is None or (isinstance(name, str) and bool(HANDLE.fullmatch(name)))


def refuse_protected(frame: pd.DataFrame) -> None:
    """Raise ``AlreadyProtected`` for a frame that has a session."""
    if isinstance(frame, (pd.DataFrame, pd.Series)) and find(frame) is not None:
        raise AlreadyProtected.again()


def protected_by(core: SessionCore) -> list[Protected]:
    """Return what is known of a session's frames, oldest first."""
    return [known for known in _registry.values() if known.core is core]


def check_own(known: Protected, column: Hashable) -> None:
    """Raise ``ColumnError`` unless a column is one of the protected frame, whose bounds can be remembered."""
    if column not in known.columns:
        raise ColumnError.absent(column, sorted(known.columns, key=str))


def remember(known: Protected, column: Hashable, bounds: tuple[Any, Any]) -> None:
    """Take released bounds of a column for where none are declared or given."""
    with lock.LOCK:
        known.facts[column] = replace(known.facts.get(column) or ColumnFacts(numeric=True), estimated=bounds)


def forget(core: SessionCore) -> None:
    """Free the row labels of a closed session's frames; their handles are still known, to say that it is closed."""
    with lock.LOCK:
        for known in protected_by(core):
            _registry[known.handle] = Protected(known.handle, core, _NO_ROWS, {}, known.columns)


_NO_ROWS = Roster(pd.DataFrame(), "", None, 1)
