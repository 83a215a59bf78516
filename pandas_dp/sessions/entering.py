"""How a frame comes under a session: checked, validated, given its handle.  The user's documentation is ``DataFrame.dp.protect``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import pandas as pd

from pandas_dp.domains.schema import read_schema, validate
from pandas_dp.errors import ParameterError, ParameterTypeError
from pandas_dp.quantities.budget import checked_count
from pandas_dp.sessions import registry

if TYPE_CHECKING:
    from pandas_dp.domains.domain import ColumnFacts
    from pandas_dp.sessions.session import Session

__all__ = ["checked_name", "enter", "frame_name"]

_ENFORCE = ("raise", "clamp")
_DERIVED = ("follow", "refuse")


def enter(
    session: Session,
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
    label = frame_name(name, session.name)
    session.accountant.check_open()
    given = frame
    facts: dict[Hashable, ColumnFacts] = {}
    if schema is not None:
        read, facts = read_schema(schema, frame.columns)
        if enforce == "raise":
            frame = validate(frame, read)
    if session.accountant.path is not None:
        from pandas_dp.release.labels import declared_of  # noqa: PLC0415  (loaded for those who use it)

        session.declare(label, declared_of(facts, unit=unit, max_rows=max_rows, enforce=enforce, derived=derived))
    protected = registry.register(session, frame, facts, unit=unit, max_rows=rows, label=label, keep=derived == "refuse")
    if name is None:
        session.unnamed(given)
    return protected


def frame_name(name: str | None, of_session: str | None) -> str:
    """Return what a frame is called in handles and the ledger."""
    return checked_name(name) or of_session or "protected"


def checked_name(name: object) -> str | None:
    """Return a name that can be part of a handle, or refuse it."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise ParameterTypeError.wrong_kind("name", "a string", type(name))
    if not name.strip() or "#" in name or len(name) > 100:  # noqa: PLR2004
        raise ParameterError.number("name", "a short, non-empty string without '#'")
    return name
