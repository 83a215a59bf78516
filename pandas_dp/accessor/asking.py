"""Where the accessors meet the release: what is asked of a frame, Series or view is answered and charged for, or planned only.

The one module of this room that calls the release.  It must never look at a value, nor decide what a query costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pandas as pd

from pandas_dp.errors import DPError
from pandas_dp.release import asked as questions
from pandas_dp.release import path as release
from pandas_dp.release.plan import plan_of
from pandas_dp.sessions import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.release.plan import Plan
    from pandas_dp.release.price import Price
    from pandas_dp.results import Release
    from pandas_dp.sessions.core import SessionCore
    from pandas_dp.sessions.registry import Protected
    from pandas_dp.sessions.session import Session
    from pandas_dp.statistics.query import Query

    Build = Callable[[PublicFrame], Query]
    """How a question's arguments become a query, once the public facts of what it is asked of are known."""

__all__ = ["Answers", "Asks", "Planned", "core_of", "is_protected", "known_of", "planned", "session_of", "text_of"]


class Asks(Protocol):
    """What an accessor has, to put a question: one answers and charges, another works out cost and error."""

    source: Any
    """The frame, Series or view that is asked."""

    def run(self, build: Build, price: Price) -> Any:
        """Put one question at a price."""


class Answers:
    """Answers what is asked, and charges for it."""

    __slots__ = ("source",)

    def __init__(self, source: Any) -> None:
        self.source = source

    def run(self, build: Build, price: Price, read: Callable[[Release], Release] | None = None) -> Any:
        """Return the answer; ``read`` makes of the release the one that is recorded."""
        return release.answer(self.source, build, price, read)

    def released(self, build: Build, price: Price) -> Release:
        """Return the release instead of the answer."""
        return release.released(self.source, build, price)[0]

    def unit(self) -> Hashable | None:
        """Return the column or level that identifies the privacy unit, if there is one."""
        return known_of(self.source).roster.unit


class Planned(NamedTuple):
    """What a query would be and cost, before anything is charged or read."""

    query: Query
    plan: Plan
    rows: int | None
    """The released number of rows that a ± may rest on."""
    session: SessionCore


def planned(source: Any, build: Build, price: Price) -> Planned:
    """Take a question as far as the charge, by public facts and earlier releases, and no further."""
    query, known, _ = questions.asked(source, build)
    session = known.core
    rows = questions.rows_of(query, source, session)
    return Planned(query, plan_of(query, session, price, known.roster, lambda: rows), rows, session)


def known_of(source: Any) -> Protected:
    """Return what the registry knows of a frame, Series or view, or raise ``NotProtected``."""
    return registry.require(questions.base_of(source))


def core_of(source: Any) -> SessionCore:
    """Return what the session is that answers for a frame, Series or view, or raise ``NotProtected``."""
    return known_of(source).core


def session_of(source: Any) -> Session[Any]:
    """Return the session itself, as its user holds it, or raise ``NotProtected``."""
    found: Session[Any] = core_of(source).face
    return found


def text_of(source: Any) -> str:
    """Return what an accessor's ``repr`` says: what is left of the budget; nothing of it depends on data."""
    try:
        known = registry.find(questions.base_of(source))
    except DPError:
        known = None
    return "<.dp: not protected>" if known is None else f"<.dp: {known.core.face!r}>"


def is_protected(labels: Any) -> bool:
    """Return whether labels are those of a protected frame, or values of one."""
    carrier = pd.DataFrame(index=labels) if isinstance(labels, pd.Index) else labels
    return isinstance(carrier, (pd.Series, pd.DataFrame)) and registry.find(carrier) is not None
