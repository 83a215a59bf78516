"""The one audited path from a protected frame to a released number.

The only module that holds data, budget and noise at once; read it when auditing a privacy claim.  The order is fixed:

1. check row identity (labels only), so that what is named next are columns and not rows of a transposed frame;
2. check the arguments against public facts (names, dtypes, declarations); under a label that was answered, return that answer;
3. charge the budget, atomically;
4. read the data: exact integer totals;
5. add integer noise of scale sensitivity / ε to every total (and before that, where group keys are private, to their numbers of units, to find which show);
6. finish: post-processing of noisy totals.

Nothing before 3 reads a value.  Nothing after 3 refunds, and whatever fails there fails alike for every frame.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from pandas_dp.cells.cells import OneEach, rows, top_of
from pandas_dp.engines.group_codes import group_codes
from pandas_dp.engines.columns import column_of, totals
from pandas_dp.errors import ComputationFailed, SessionClosed
from pandas_dp.domains.keysets import PrivateKeys
from pandas_dp.noise.entropy import is_private
from pandas_dp.release.plan import margin_before, plan_of
from pandas_dp.display.progress import steps
from pandas_dp.domains.public_frame import PublicFrame
from pandas_dp.sessions.registry import require
from pandas_dp.results import Release
from pandas_dp.noise.laplace import discrete_laplace
from pandas_dp.statistics.estimates import GroupEstimate
from pandas_dp.statistics.noise_laws import Exponential, Gaussian, Laplace

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

    from pandas_dp.engines import Groups
    from pandas_dp.domains.keysets import KeySet
    from pandas_dp.release.plan import ColumnPart, Plan, Price, Showing
    from pandas_dp.sessions.registry import Protected
    from pandas_dp.results import Estimate
    from pandas_dp.sessions.core import SessionCore
    from pandas_dp.statistics.estimators import Moments, OrderChoice, Query
    from pandas_dp.lineage.roster import Selection

__all__ = ["Source", "answer", "base_of", "query_of", "released", "rows_of"]

_WIDE = 2**62

Columns = dict["Hashable", "pd.Series[Any]"]


class Source(Protocol):
    """What a query can be asked of: a tracked view, or a frame or Series itself."""

    base: pd.DataFrame
    """The frame with the handle and the row labels."""
    text: str
    """The steps that lead from there, for the ledger."""

    def public(self, protected: Protected) -> PublicFrame:
        """Return its public facts."""

    def read(self) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
        """Return its values, with the labels of ``base``, and which rows belong to it.  Reads data: runs after the charge."""


def base_of(source: Any) -> Any:
    """Return the frame that carries handle and labels."""
    return source if isinstance(source, (pd.DataFrame, pd.Series)) else source.base


def where_of(source: Any) -> tuple[Any, str]:
    """Return the frame that is asked, and the steps of a view of it."""
    base = base_of(source)
    return base, "" if base is source else source.text


def rows_of(query: Query, source: Any, session: SessionCore) -> int | None:
    """Return the released number of rows that a ± may rest on: of this very frame or view, and not of its groups."""
    return None if query.keys is not None else session.counts.last(*where_of(source))


def query_of(source: Any, protected: Protected, build: Callable[[PublicFrame], Query]) -> tuple[Query, Columns]:
    """Build the query from the public facts of what it is asked of; return the columns, too, that were looked up for their dtypes."""
    if base_of(source) is source:
        public = PublicFrame(source, protected.facts, protected.columns)
        return build(public), public.fetched
    query = build(source.public(protected))
    return replace(query, text=f"{source.text}.{query.text}" if source.text else query.text), {}


def answer(source: Any, build: Callable[[PublicFrame], Query], price: Price, read: Callable[[Release], Release] | None = None) -> Any:
    """Answer a query; see :func:`released`."""
    return released(source, build, price, read)[1]


def released(
    source: Any, build: Callable[[PublicFrame], Query], price: Price, read: Callable[[Release], Release] | None = None
) -> tuple[Release, Any]:
    """Answer a query, or raise before anything is read or charged.  Return the release and the answer.

    Parameters
    ----------
    source : DataFrame, Series or Source
        Derived from a protected frame.
    build : callable
        Turns public facts into the query.
    price : Price
        As the call named it.
    read : callable, optional
        Post-processing: makes of the release the one that is recorded and returned.
    """
    process = os.getpid()
    protected = require(base_of(source))
    session, roster = protected.core, protected.roster
    session.account.check_open()
    protected.check_derived(base_of(source))
    selection = roster.identify(base_of(source))
    query, columns = query_of(source, protected, build)
    label, asked = _labelled(source, query, price, protected)
    if label is not None and asked is not None:
        known = session.recorded(label, asked)
        if known is not None:
            return known, _noted(known, known.value, query, source, session)
    plan = plan_of(query, session, price, roster, lambda: rows_of(query, source, session))
    parts = plan.parts
    private = is_private()
    session.check_recordable(lambda: _public(query, parts))
    entry = session.charge(
        plan.cost,
        frame=protected.handle,
        query=query.text,
        mechanism=plan.mechanism,
        scale=max(reading.answer_scale(part.noise) for part in parts for reading in part.readings),
        margin=margin_before(parts),
        private=private,
        label=label,
        asked=asked,
    )
    if isinstance(entry, Release):  # another process answered the label in between
        return entry, _noted(entry, entry.value, query, source, session)
    release = None
    with suppress(Exception):  # its text may quote data; what is raised below says nothing but that it failed
        estimates, index = _measure(source, query, plan, selection, columns)
        made = Release(
            entry.number,
            query.text,
            protected.handle,
            plan.cost,
            plan.mechanism,
            query.labels,
            query.ordered(estimates) if query.settle is None else query.settle(query.ordered(estimates)),
            private,
            index,
            query.functions,
            query.square,
            query.name,
        )
        made = made if read is None else read(made)
        value = made.value
        release = made
    if release is None:
        raise ComputationFailed.after_charge(query.text)
    if os.getpid() != process:  # a handler forked in between: the charge buys one answer, the parent's
        raise SessionClosed.forked()
    session.record(release)
    return release, _noted(release, value, query, source, session)


def _noted(release: Release, value: Any, query: Query, source: Any, session: SessionCore) -> Any:
    """Return the value; if it is the number of rows of a frame or view, let the session remember it."""
    cells = query.parts[0].cells
    counts = len(cells) == 1 and cells[0].everything and len(query.parts) == 1
    if counts and query.keys is None and query.one_each is None and query.distinct is None:
        session.counts.note(*where_of(source), int(release.estimates[0].value))
    return value


def _public(query: Query, parts: list[ColumnPart]) -> tuple[Any, ...]:
    """Return what an answer holds of names, keys and time zones."""
    domains = [getattr(reading, "domain", None) for part in parts for reading in part.readings]
    return query.labels, query.name, getattr(query.keys, "index", None), domains


def _labelled(source: Any, query: Query, price: Price, protected: Protected) -> tuple[str | None, dict[str, str] | None]:
    """Return a query's label and what is asked under it, if it has one."""
    if price.label is None or price.label is False:
        return None, None
    from pandas_dp.release.labels import label_of

    return label_of(price.label, query, price, protected, None if base_of(source) is source else source.text)


def _measure(source: Any, query: Query, plan: Plan, selection: Selection, columns: Columns) -> tuple[list[Estimate], pd.Index[Any] | None]:
    """Read, add noise, finish.  Runs after the charge."""
    frame, included = (source, None) if base_of(source) is source else source.read()
    counted = selection.counted(frame, included)
    index = None
    groups = None
    if isinstance(query.keys, PrivateKeys) and plan.showing is not None:
        groups, index, counts, counted = _shown_keys(frame, query.keys, plan.showing, selection, counted)
        if plan.showing.whole:
            part = plan.parts[0]
            return [GroupEstimate(part.readings[0], (counts,), plan.showing.noise, part.readings[0].values([counts]))], index
    elif query.keys is not None and not isinstance(query.keys, PrivateKeys):
        groups, index = group_codes(frame, query.keys), query.keys.index
    frame, groups, counted = _records(frame, query, selection, groups, counted, limited=plan.showing is not None)
    cells = [cell for part in plan.parts for cell in part.cells]
    alone = columns.get(cells[0].column) if cells and frame is source and len({cell.column for cell in cells}) == 1 else None
    exact = totals(frame if alone is None else alone, cells, by=groups, unit=counted)
    estimates: list[Estimate] = []
    for part in steps(plan.parts, len(plan.parts), least=5):
        if isinstance(part.noise, Exponential):
            noisy = _chosen(frame, part.part.order, part.noise, groups, counted, public=plan.showing is None)
        elif part.part.moments is not None:
            noisy = _moments(frame, part.part.moments, _sampler(part.noise), counted)
        else:
            noise = _sampler(part.noise)
            noisy = [exact.pop(0) + noise.draw() if groups is None else _add(exact.pop(0), noise.draws(groups.size)) for _ in part.cells]
        if groups is None:
            estimates.extend(reading.finish(noisy, part.noise) for reading in part.readings)
        else:
            estimates.extend(GroupEstimate(reading, tuple(noisy), part.noise, reading.values(noisy)) for reading in part.readings)
    return estimates, index


def _records(
    frame: Any, query: Query, selection: Selection, groups: Groups | None, counted: NDArray[np.bool_] | None, *, limited: bool
) -> tuple[Any, Groups | None, NDArray[np.bool_] | None]:
    """Return the records that are counted: rows, or one for each unit and group, or one for each key."""
    if query.max_groups is not None and groups is not None and not limited:
        counted = _within(frame, groups, query.max_groups, selection, counted)
    if query.distinct is not None:
        return _occurring(frame, query.distinct, counted), None, None
    if query.one_each is not None:
        from pandas_dp.engines.contribution import one_record_each

        return *one_record_each(frame, query.one_each, groups, *_people(frame, selection, counted)), None
    return frame, groups, counted


def _occurring(frame: Any, keys: KeySet, counted: NDArray[np.bool_] | None) -> pd.DataFrame:
    """Return a frame with one row for each key that a counted row has."""
    groups = group_codes(frame, keys)
    codes = groups.codes if counted is None else groups.codes[counted]
    occurring = int(np.count_nonzero(np.bincount(codes, minlength=groups.size + 1)[: groups.size]))
    return pd.DataFrame({"total": np.zeros(occurring, dtype=np.int64)})


def _chosen(
    frame: Any, choice: OrderChoice | None, noise: Exponential, groups: Groups | None, counted: NDArray[np.bool_] | None, *, public: bool
) -> list[Any]:
    """Choose points by rank: ints, or arrays with a place for each group, whose number is public or not yet."""
    from pandas_dp.engines.contribution import heights_of
    from pandas_dp.noise.quantiles import private_extreme, private_quantiles

    if choice is None:
        return []
    heights, there = heights_of(column_of(frame, choice.column), choice.grid)
    rows = np.flatnonzero(there if counted is None else there & counted)
    top = top_of(choice.grid)
    values = heights[rows] if top >= _WIDE else heights[rows].view(np.int64)

    def points(own: NDArray[Any]) -> list[int]:
        if choice.extreme is not None:
            return [private_extreme(own, top, noise.epsilon, noise.records, largest=choice.extreme == "max")]
        return private_quantiles(own, top, choice.quantiles, noise.epsilon, noise.records)

    if groups is None:
        return points(values)
    codes = groups.codes[rows]
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(groups.size + 1))
    ranges = steps(range(groups.size), groups.size if public else None)
    found = [points(values[order[ends[group] : ends[group + 1]]]) for group in ranges]
    return [np.array(column, dtype=object) for column in zip(*found, strict=True)] or [np.empty(0, dtype=object)] * max(
        1, len(choice.quantiles)
    )


def _moments(frame: Any, moments: Moments, noise: Any, counted: NDArray[np.bool_] | None) -> list[int]:
    """Add noise to the cells of a matrix of second moments."""
    from pandas_dp.engines.gram import gram

    count, sums, products = gram(frame, moments.columns, moments.grids, counted)
    return [total + noise.draw() for total in moments.design.totals(count, sums, products)]


def _sampler(noise: Laplace | Gaussian) -> Any:
    if isinstance(noise, Laplace):
        return discrete_laplace(noise.scale)
    from pandas_dp.noise.gaussian import discrete_gaussian

    return discrete_gaussian(noise.variance)


def _shown_keys(
    frame: Any,
    keys: PrivateKeys,
    showing: Showing,
    selection: Selection,
    counted: NDArray[np.bool_] | None,
) -> tuple[Groups, pd.Index[Any], NDArray[Any], NDArray[np.bool_] | None]:
    """Find the keys that enough units have: noisy numbers of units that reach the threshold."""
    from pandas_dp.engines.candidates import observed
    from pandas_dp.engines.contribution import one_record_each

    candidates = observed(frame, keys)
    if showing.max_groups is not None:
        counted = _within(frame, candidates.groups, showing.max_groups, selection, counted)
    people, groups = one_record_each(frame, OneEach(None, None), candidates.groups, *_people(frame, selection, counted))
    units = totals(people, rows(), by=groups)[0]
    occurring = np.flatnonzero(units)
    noisy = _add(units[occurring], _sampler(showing.noise).draws(len(occurring)))
    shown = np.flatnonzero(noisy >= showing.threshold)
    chosen, index = candidates.chosen(occurring[shown])
    return chosen, index, _narrow(noisy[shown]), counted  # of those that do not show nothing may be seen, not even how they are held


def _within(frame: Any, groups: Groups, max_groups: int, selection: Selection, counted: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    from pandas_dp.engines.contribution import within_groups

    return within_groups(groups, *_people(frame, selection, counted), max_groups, selection.order(frame))


def _people(frame: Any, selection: Selection, counted: NDArray[np.bool_] | None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the unit of each row, and which rows count."""
    units = np.arange(len(frame)) if selection.units is None else selection.units
    return units, np.ones(len(frame), dtype=np.bool_) if counted is None else counted


def _add(exact: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """Add noise to totals in integers: int64 where every noisy total fits, else Python's, so that the kind tells nothing but the noisy totals."""
    sure = _reach(exact) + _reach(noise) < _WIDE
    kind = np.int64 if sure else np.object_
    total: NDArray[Any] = exact.astype(kind) + noise.astype(kind)
    return _narrow(total)


def _narrow(totals: NDArray[Any]) -> NDArray[Any]:
    """Hold noisy totals in int64 where they fit, whatever they were the sums of."""
    return totals.astype(np.int64 if _reach(totals) < _WIDE else np.object_, copy=False)


def _reach(totals: NDArray[Any]) -> int:
    """Return how far from zero any is: in Python's integers, which have room for the negative end of int64."""
    return max(int(totals.max(initial=0)), -int(totals.min(initial=0)))
