"""The one audited path from a protected frame to a released number.

The only module that holds data's totals, budget and noise at once; read it when auditing a privacy claim.  The order is fixed:

1. check row identity (labels only), so that what is named next are columns and not rows of a transposed frame;
2. check the arguments against public facts (names, dtypes, declarations), and that the engine can read what is asked; under a label that was answered, return that answer;
3. charge the budget, atomically;
4. read the data: an engine opens the read plan, and exact integers come back;
5. add integer noise of scale sensitivity / ε to every total (and before that, where group keys are private, to their numbers of units, to find which show);
6. finish: post-processing of noisy totals.

Nothing before 3 reads a value.  Nothing after 3 refunds, and whatever fails there fails alike for every frame.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.cells.cells import top_of
from pandas_dp.display.progress import steps as followed
from pandas_dp.engines.contract import Gram, Occurring, Ranks
from pandas_dp.errors import CallError, ComputationFailed, SessionClosed
from pandas_dp.noise.entropy import is_private
from pandas_dp.release.asked import asked, labelled, names_of, rows_of, steps_of, where_of
from pandas_dp.release.noisy import add, chosen, narrow, noisy, sampler_of, totals
from pandas_dp.release.plan import margin_before, plan_of, request_of
from pandas_dp.results import Release
from pandas_dp.statistics.estimates import GroupEstimate
from pandas_dp.statistics.query import CellTotals, OrderChoice

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.engines.contract import Reader
    from pandas_dp.release.plan import KeySelection, Plan, Request
    from pandas_dp.release.price import Price
    from pandas_dp.results import Estimate
    from pandas_dp.sessions.core import SessionCore
    from pandas_dp.statistics.query import Query

__all__ = ["answer", "released"]


def answer(thing: Any, build: Callable[[PublicFrame], Query], price: Price, read: Callable[[Release], Release] | None = None) -> Any:
    """Answer a query; see :func:`released`."""
    return released(thing, build, price, read)[1]


def released(
    thing: Any, build: Callable[[PublicFrame], Query], price: Price, read: Callable[[Release], Release] | None = None
) -> tuple[Release, Any]:
    """Answer a query, or raise before anything is read or charged.  Return the release and the answer.

    Parameters
    ----------
    thing : DataFrame, Series or View
        Derived from a protected frame.
    build : callable
        Turns public facts into the query.
    price : Price
        As the call named it.
    read : callable, optional
        Post-processing: makes of the release the one that is recorded and returned.
    """
    process = os.getpid()
    query, protected, source = asked(thing, build)
    session = protected.core
    label, question = labelled(thing, query, price, protected)
    if label is not None and question is not None:
        known = session.recorded(label, question)
        if known is not None:
            return known, _noted(known, known.value, query, thing, session)
    plan = plan_of(query, session, price, protected.roster, lambda: rows_of(query, thing, session))
    request = request_of(query, steps_of(thing), protected.roster)
    refusal = source.unsupported(request.plan)
    if refusal is not None:
        raise CallError.unsupported(query.text, refusal)
    private = is_private()
    session.check_recordable(lambda: names_of(query))
    entry = session.charge(
        plan.cost,
        frame=protected.handle,
        query=query.text,
        mechanism=plan.mechanism,
        scale=max(estimator.answer_scale(noise) for part, noise in plan.parts for estimator in part.estimators),
        margin=margin_before(plan.parts),
        private=private,
        label=label,
        asked=question,
    )
    if isinstance(entry, Release):  # another process answered the label in between
        return entry, _noted(entry, entry.value, query, thing, session)
    release = None
    with suppress(Exception):  # its text may quote data; what is raised below says nothing but that it failed
        found, index = _measure(source.open(request.plan, session.salt), query, plan, request)
        estimates = query.ordered(found)
        made = Release(
            entry.number, query.text, protected.handle, plan.cost, plan.mechanism, query.labels,
            estimates if query.settle is None else query.settle(estimates), private, index, query.functions, query.square, query.name,
        )  # fmt: skip
        made = made if read is None else read(made)
        value = made.value
        release = made
    if release is None:
        raise ComputationFailed.after_charge(query.text)
    if os.getpid() != process:  # a handler forked in between: the charge buys one answer, the parent's
        raise SessionClosed.forked()
    session.record(release)
    return release, _noted(release, value, query, thing, session)


def _measure(reader: Reader, query: Query, plan: Plan, request: Request) -> tuple[list[Estimate], pd.Index[Any] | None]:
    """Read, add noise, finish.  Runs after the charge."""
    index = getattr(query.keys, "index", None)
    if plan.selection is not None:
        counts, index = _shown(reader, plan.selection)
        if plan.selection.whole:
            (estimator,) = plan.parts[0][0].estimators
            return [GroupEstimate(estimator, (counts,), plan.selection.noise, estimator.values([counts]))], index
    groups = None if index is None else len(index)
    exact = totals(request.cells, _sums(reader, query), request.places) if request.cells else []
    estimates: list[Estimate] = []
    for part, noise in followed(plan.parts, len(plan.parts), least=5):
        what: Any = part.released
        law: Any = noise
        if isinstance(what, OrderChoice):
            ranks = partial(reader.ranks, Ranks(what.column, what.grid))
            found = chosen(what, law, top_of(what.grid), ranks, groups, public=plan.selection is None)
        elif isinstance(what, CellTotals):
            found = noisy([exact.pop(0) for _ in what.cells], law, groups)
        else:
            found = noisy(what.design.totals(*_read(reader.gram(Gram(what.columns, what.grids)))), law, None)
        if groups is None:
            estimates.extend(estimator.finish(found, noise) for estimator in part.estimators)
        else:
            estimates.extend(GroupEstimate(estimator, tuple(found), noise, estimator.values(found)) for estimator in part.estimators)
    return estimates, index


def _sums(reader: Reader, query: Query) -> list[tuple[Any, Any, Any]]:
    """Return the sums that cells' totals are made of; of keys that occur, their number."""
    found: list[tuple[Any, Any, Any]] = (
        _read(reader.sums()) if query.distinct is None else [(_read(reader.occurring(Occurring(query.distinct))), 0, 0)]
    )
    return found


def _shown(reader: Reader, selection: KeySelection) -> tuple[NDArray[Any], pd.Index[Any]]:
    """Find the keys that enough units have: noisy numbers of units that reach the threshold."""
    units = _read(reader.candidates())
    occurring = np.flatnonzero(units)
    counts = add(units[occurring], sampler_of(selection.noise).draws(len(occurring)))
    shown = np.flatnonzero(counts >= selection.threshold)
    # Of those that do not show nothing may be seen, not even how they are held.
    return narrow(counts[shown]), _read(reader.show(occurring[shown]))


def _read(found: Any) -> Any:
    """Return what a round found, or leave the path: reading failed."""
    if found is None:
        raise ComputationFailed.after_charge("")
    return found


def _noted(release: Release, value: Any, query: Query, thing: Any, session: SessionCore) -> Any:
    """Return the value; if it is the number of rows of a frame or view, let the session remember it."""
    if query.counts_rows and query.keys is None and query.one_each is None and query.distinct is None:
        session.counts.note(*where_of(thing), int(release.estimates[0].value))
    return value
