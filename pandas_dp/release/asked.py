"""What is asked of a frame, Series or view, before anything is charged: traced by labels, and checked against public facts.

The first two steps of the path.  Nothing here reads a value, draws a bit or charges.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pandas as pd

from pandas_dp.domains.public_frame import PublicFrame
from pandas_dp.engines.sources import source_of
from pandas_dp.sessions.registry import require

if TYPE_CHECKING:
    from collections.abc import Callable

    from pandas_dp.engines.contract import Source
    from pandas_dp.release.price import Price
    from pandas_dp.sessions.core import SessionCore
    from pandas_dp.sessions.registry import Protected
    from pandas_dp.statistics.query import Query

__all__ = ["Asked", "View", "asked", "base_of", "labelled", "names_of", "rows_of", "steps_of", "where_of"]


class View(Protocol):
    """A tracked view, as a release sees it."""

    base: Any
    """The frame with the handle and the row labels."""
    text: str
    """The steps that lead from there, for the ledger."""
    steps: tuple[Any, ...]
    """The same, for an engine."""

    def public(self, protected: Protected) -> PublicFrame:
        """Return its public facts."""


class Asked(NamedTuple):
    """A query before it is planned: traced and checked, nothing charged, no value read."""

    query: Query
    protected: Protected
    source: Source


def base_of(thing: Any) -> Any:
    """Return the frame that carries handle and labels."""
    return thing if isinstance(thing, (pd.DataFrame, pd.Series)) else thing.base


def where_of(thing: Any) -> tuple[Any, str]:
    """Return the frame that is asked, and the steps of a view of it."""
    base = base_of(thing)
    return base, "" if base is thing else thing.text


def rows_of(query: Query, thing: Any, session: SessionCore) -> int | None:
    """Return the released number of rows that a ± may rest on: of this very frame or view, and not of its groups."""
    return None if query.keys is not None else session.counts.last(*where_of(thing))


def asked(thing: Any, build: Callable[[PublicFrame], Query]) -> Asked:
    """Trace the rows of what is asked, and check the query against public facts: steps 1 and 2."""
    base = base_of(thing)
    protected = require(base)
    protected.core.account.check_open()
    protected.check_derived(base)
    source = source_of(base, protected.roster)
    if base is thing:
        return Asked(build(PublicFrame(source, protected.facts, protected.columns)), protected, source)
    query = build(thing.public(protected))
    return Asked(replace(query, text=f"{thing.text}.{query.text}" if thing.text else query.text), protected, source)


def steps_of(thing: Any) -> tuple[Any, ...]:
    """Return the steps of a view, for an engine; none of a frame or Series."""
    steps: tuple[Any, ...] = () if base_of(thing) is thing else thing.steps
    return steps


def names_of(query: Query) -> tuple[Any, ...]:
    """Return what an answer holds of names, keys and time zones."""
    domains = [getattr(estimator, "domain", None) for part in query.parts for estimator in part.estimators]
    return query.labels, query.name, getattr(query.keys, "index", None), domains


def labelled(thing: Any, query: Query, price: Price, protected: Protected) -> tuple[str | None, dict[str, str] | None]:
    """Return a query's label and what is asked under it, if it has one."""
    if price.label is None or price.label is False:
        return None, None
    from pandas_dp.release.labels import label_of  # noqa: PLC0415  (for those who name one)

    return label_of(price.label, query, price, protected, None if base_of(thing) is thing else thing.text)
