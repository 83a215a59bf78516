"""Every cell of every release has noise of its own, drawn with the scale of its part: for each query of the public surface, on the draws themselves; and black boxes where an example would not show it.

The exact tests add nothing and draw nothing: they compare what samplers drew with the difference between what estimators got and what the engine counted.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from fractions import Fraction

import draws_support
import numpy as np
import pandas as pd
import pytest
from draws_support import recorded
from support import protect

from pandas_dp.accessor.frame_queries import ViewDP
from pandas_dp.accessor.frames import DataFrameDP
from pandas_dp.accessor.groupby import GroupByDP
from pandas_dp.accessor.series import SeriesDP
from pandas_dp.release import noisy as release_noisy
from pandas_dp.release import path
from pandas_dp.statistics.noise_laws import Laplace
from pandas_dp.statistics.query import CellTotals, OrderChoice

TIMES, MORE_TIMES = 5, 12
EPSILON = Fraction(1, 1000)
FOR_KEYS = Fraction(1, 5)
X = {"bounds": (0, 8)}
XY = {"bounds": {"x": (0, 8), "y": (-3.5, 5)}}
KEYS = ["a", "b", "c", "nowhere"]
PAIRS = {"ward": KEYS, "sex": ["f", "m"]}

# The table: of each class and each of its queries, calls.  A test below holds it to the public surface.

FRAME = {
    "count": [
        lambda dp, p: dp.count(**p),
        lambda dp, p: dp.count("x", **p),
        lambda dp, p: dp.count(["x", "y", "ward"], **p),
        lambda dp, p: dp.count(unique=True, **p),
        lambda dp, p: dp.count("x", unique=True, **p),
    ],
    "sum": [lambda dp, p: dp.sum("x", **X, **p), lambda dp, p: dp.sum(["x", "y"], **XY, **p)],
    "mean": [lambda dp, p: dp.mean("y", bounds=(-3.5, 5), **p), lambda dp, p: dp.mean(["x", "y"], **XY, **p)],
    "var": [lambda dp, p: dp.var("x", **X, **p), lambda dp, p: dp.var(["x", "y"], **XY, **p)],
    "std": [lambda dp, p: dp.std("y", bounds=(-3.5, 5), ddof=0, **p), lambda dp, p: dp.std(["x", "y"], **XY, **p)],
    "median": [lambda dp, p: dp.median("x", **X, **p), lambda dp, p: dp.median(["x", "y"], **XY, **p)],
    "quantile": [lambda dp, p: dp.quantile("x", 0.3, **X, **p), lambda dp, p: dp.quantile(["x", "y"], [0.9, 0.1, 0.5], **XY, **p)],
    "min": [lambda dp, p: dp.min("x", **X, **p)],
    "max": [lambda dp, p: dp.max(["x", "y"], **XY, **p)],
    "iqr": [lambda dp, p: dp.iqr("x", **X, **p)],
    "agg": [
        lambda dp, p: dp.agg({"x": ["mean", "std", "count", "median", "max"], "y": "sum"}, **XY, **p),
        lambda dp, p: dp.agg(n=("ward", "count"), high=("x", "max"), mean=("y", "mean"), **XY, **p),
    ],
    "describe": [lambda dp, p: dp.describe("x", **X, **p), lambda dp, p: dp.describe(["x", "y"], **XY, **p)],
    "cov": [lambda dp, p: dp.cov(["x", "y"], **XY, **p), lambda dp, p: dp.cov(["x", "y", "z"], bounds=(0, 8), **p)],
    "corr": [lambda dp, p: dp.corr(["x", "y"], **XY, **p), lambda dp, p: dp.corr([*"xyzuvw"], bounds=(0, 8), **p)],
    "value_counts": [
        lambda dp, p: dp.value_counts("ward", keys=KEYS, **p),
        lambda dp, p: dp.value_counts("ward", keys=KEYS, other="else", **p),
    ],
    "mode": [lambda dp, p: dp.mode("ward", keys=KEYS, **p)],
    "nlargest": [lambda dp, p: dp.nlargest(2, "ward", keys=KEYS, **p)],
    "nunique": [lambda dp, p: dp.nunique("ward", keys=KEYS, **p)],
    "crosstab": [lambda dp, p: dp.crosstab("ward", "sex", keys=PAIRS, margins=True, **p)],
    "histogram": [lambda dp, p: dp.histogram("x", bins=[0, 2, 4, 8], **p)],
    "bounds": [lambda dp, p: dp.bounds("y", **p)],
    "clamping_rate": [lambda dp, p: dp.clamping_rate("x", bounds=(2, 5), **p)],
}
SERIES = {
    "count": [lambda dp, p: dp.count(**p), lambda dp, p: dp.count(unique=True, **p)],
    "sum": [lambda dp, p: dp.sum(**X, **p)],
    "mean": [lambda dp, p: dp.mean(**X, **p)],
    "var": [lambda dp, p: dp.var(**X, **p)],
    "std": [lambda dp, p: dp.std(**X, **p)],
    "median": [lambda dp, p: dp.median(**X, **p)],
    "quantile": [lambda dp, p: dp.quantile([0.1, 0.7], **X, **p)],
    "min": [lambda dp, p: dp.min(**X, **p)],
    "max": [lambda dp, p: dp.max(**X, **p)],
    "iqr": [lambda dp, p: dp.iqr(**X, **p)],
    "agg": [lambda dp, p: dp.agg(["count", "sum", "var", "iqr", "min"], **X, **p)],
    "describe": [lambda dp, p: dp.describe(**X, **p)],
    "value_counts": [lambda dp, p: dp.value_counts(keys=[0, 1, 2, 99], **p)],
    "mode": [lambda dp, p: dp.mode(keys=[0, 1, 2], **p)],
    "nunique": [lambda dp, p: dp.nunique(keys=[0, 1, 2, 99], **p)],
    "bounds": [lambda dp, p: dp.bounds(**p)],
    "clamping_rate": [lambda dp, p: dp.clamping_rate(bounds=(2, 5), **p)],
}
GROUPS = {
    "size": [lambda dp, p: dp.size(**p)],
    "count": [
        lambda dp, p: dp.count("x", **p),
        lambda dp, p: dp.count(["x", "y"], **p),
        lambda dp, p: dp.count(unique=True, **p),
        lambda dp, p: dp.count("x", unique=True, **p),
    ],
    "sum": [lambda dp, p: dp.sum("x", **X, **p), lambda dp, p: dp["y"].sum(bounds=(-3.5, 5), **p)],
    "mean": [lambda dp, p: dp.mean(["x", "y"], **XY, **p)],
    "var": [lambda dp, p: dp.var("x", **X, **p)],
    "std": [lambda dp, p: dp.std(["x", "y"], **XY, **p)],
    "median": [lambda dp, p: dp.median("x", **X, **p)],
    "quantile": [lambda dp, p: dp.quantile("x", [0.2, 0.5], **X, **p)],
    "min": [lambda dp, p: dp.min(["x", "y"], **XY, **p)],
    "max": [lambda dp, p: dp.max("x", **X, **p)],
    "iqr": [lambda dp, p: dp.iqr("x", **X, **p)],
    "agg": [lambda dp, p: dp.agg({"x": ["mean", "count", "median"], "y": ["std", "max"]}, **XY, **p)],
    "describe": [lambda dp, p: dp.describe("x", **X, **p)],
}
OF_UNITS = {  # where rows have a unit of their own name
    (DataFrameDP, "sum"): [lambda dp, p: dp.sum("x", **X, per_unit=(0, 10), **p)],
    (SeriesDP, "sum"): [lambda dp, p: dp.sum(**X, per_unit=(0, 10), **p)],
    (GroupByDP, "sum"): [lambda dp, p: dp.sum("x", **X, per_unit=(0, 10), **p)],
}
OF_PRIVATE_KEYS = {  # where there is a δ
    (DataFrameDP, "value_counts"): [lambda dp, p: dp.value_counts("ward", keys="private", **p)],
    (DataFrameDP, "mode"): [lambda dp, p: dp.mode("ward", keys="private", **p)],
}
TABLE = {DataFrameDP: FRAME, ViewDP: FRAME, SeriesDP: SERIES, GroupByDP: GROUPS}
NO_QUERIES = {"session", "preview", "protect", "groupby", "where", "assign", "select"}
LAPLACE_ONLY = {"median", "quantile", "min", "max", "iqr", "cov", "corr"}


def public(cls):
    """Return the names of all that is public of a class."""
    return {name for name, _ in inspect.getmembers(cls) if not name.startswith("_")}


@pytest.mark.parametrize("cls", TABLE)
def test_the_table_has_every_query(cls):
    """What is public of an accessor is in the table, or one of a few names that ask nothing; all that takes a price is in the table.  A new query that nobody enters fails here."""
    priced = {
        name
        for name in public(cls)
        if name != "protect" and callable(getattr(cls, name)) and "epsilon" in inspect.signature(getattr(cls, name)).parameters
    }
    assert priced == set(TABLE[cls])
    assert public(cls) - priced <= NO_QUERIES
    assert all(TABLE[cls].values())


def people(units):
    """Six hundred units: of one row, or of two in two wards or in one; a few of wards of their own."""
    generator = np.random.default_rng(7)
    rows = 600 * (2 if units else 1)
    frame = pd.DataFrame(
        {
            "who": np.arange(rows) // (2 if units else 1),
            "ward": np.array(["a", "b", "c"])[generator.integers(3, size=rows)].astype(object),
            "sex": np.array(["f", "m"])[generator.integers(2, size=rows)].astype(object),
            "x": generator.integers(0, 9, size=rows),
            "y": generator.normal(1, 2, size=rows),
            **{name: generator.integers(0, 9, size=rows) for name in "zuvw"},
        }
    )
    frame.loc[frame.index[::50], "x"] = 99
    frame.loc[frame.index[::40], "y"] = np.nan
    frame.loc[frame.index[-3:], "ward"] = ["d", "e", "f"]
    return frame


def sources(units):
    """Return, by name, what is asked: its class, and a way from a protected frame to it."""
    found = {
        "frame": (DataFrameDP, lambda df: df.dp),
        "view": (ViewDP, lambda df: df.dp.where("x >= 1")),
        "series": (SeriesDP, lambda df: df["x"].dp),
        "groups": (GroupByDP, lambda df: df.dp.groupby("ward", keys=KEYS)),
        "groups and others": (GroupByDP, lambda df: df.dp.groupby(["sex", "ward"], keys=PAIRS, other="else")),
        "groups of a view": (GroupByDP, lambda df: df.dp.where("x >= 1").groupby("ward", keys=KEYS)),
        "private groups": (GroupByDP, lambda df: df.dp.groupby("ward", keys="private", delta="0.001")),
    }
    if units:
        found["few groups"] = (GroupByDP, lambda df: df.dp.groupby("ward", keys=KEYS, max_groups=1))
        found["few private groups"] = (GroupByDP, lambda df: df.dp.groupby("ward", keys="private", delta="0.001", max_groups=1))
    return found


CASES = {
    f"{'units' if units else 'rows'}, {source}, {mechanism}": (units, source, mechanism)
    for units in (False, True)
    for source in sources(units)
    for mechanism in ("laplace", "gaussian")
    if mechanism == "laplace" or "private" not in source
}


def asked(units, source, mechanism):
    """Return, for each query of a case, its name and the call that asks it once."""
    df = protect(people(units), delta="0.999999", **({"unit": "who", "max_rows": 3} if units else {}))
    cls, way = sources(units)[source]
    found = {}
    for name, calls in TABLE[cls].items():
        if mechanism == "gaussian" and name in LAPLACE_ONLY:
            continue
        more = [
            *(OF_UNITS.get((cls, name), []) if units else []),
            *(OF_PRIVATE_KEYS.get((cls, name), []) if mechanism == "laplace" else []),
        ]
        for place, call in enumerate([*calls, *more]):
            price = {"epsilon": FOR_KEYS if "private" in source else EPSILON}
            if name not in LAPLACE_ONLY:
                price["mechanism"] = mechanism
            found[f"{name} {place}"] = lambda call=call, price=price: call(way(df), price)
    return found


def complaints(record):
    """Return what is wrong with the noise of a release."""
    plan, found = record.plan, []
    groups = None if record.index is None else len(record.index)
    estimates, samplers, choices = iter(record.estimates), iter(record.samplers), iter(record.choices)
    totals, matrices = iter(record.exact), iter(record.design)
    shown = None
    if (plan.selection is not None) != (len(record.selection) == 1):
        return ["keys without noise of their own"]
    if plan.selection is not None:
        shown = _shown(record, found)
        if shown is None or len(shown) != groups:
            return [*found, "other keys are shown than noise and threshold say"]
        if plan.selection.whole:
            (estimate,) = record.estimates
            if not np.array_equal(estimate.noisy[0], shown) or record.samplers or estimate.noise != plan.selection.noise:
                found.append("the noisy numbers of units are not the answer")
            return found
    for part, law in plan.parts:
        own = [next(estimates) for _ in part.estimators]
        if isinstance(part.released, OrderChoice):
            found += _chosen(own, part, law, next(choices), groups)
            continue
        exact = [next(totals) for _ in part.released.cells] if isinstance(part.released, CellTotals) else next(matrices)
        if not isinstance(part.released, CellTotals) and len(exact) != part.released.design.size:
            found.append("not every cell of the design")
        found += _added(own, law, exact, next(samplers, None), groups)
    if any(next(rest, None) is not None for rest in (estimates, samplers, choices, totals, matrices)):
        found.append("more was drawn than there are parts")
    return found


def _shown(record, found):
    """Return the noisy numbers that show, by the draws."""
    (sampler,), selection = record.selection, record.plan.selection
    occurring = np.asarray(record.candidates)[np.flatnonzero(record.candidates)]
    if sampler.law != selection.noise or record.threshold != selection.threshold:
        found.append("keys by another scale or threshold")
    if len(sampler.draws) != 1 or len(sampler.draws[0]) != len(occurring):
        found.append("not one draw for each key that occurs")
        return None
    counts = occurring + sampler.draws[0]
    if not np.array_equal(record.compared, counts):
        found.append("a key's number of units got other noise than was drawn for it")
    return counts[counts >= selection.threshold]


def _chosen(estimates, part, law, choice, groups):
    found = []
    if len(choice.calls) != (1 if groups is None else groups):
        return ["not one choice for each group"]
    if any((epsilon, rows) != (law.epsilon, law.records) for epsilon, rows, _ in choice.calls):
        found.append("a choice by another ε")
    points = list(zip(*(points for _, _, points in choice.calls), strict=True))
    for estimate, estimator in zip(estimates, part.estimators, strict=True):
        places = [estimator.place] + ([] if estimator.other is None else [estimator.other])
        if groups is None:
            same = list(estimate.heights) == [points[place][0] for place in places]
        else:
            same = [list(column) for column in estimate.noisy] == [list(column) for column in points] or not groups
        if not same:
            found.append("other points than were chosen")
    return found


def _added(estimates, law, exact, sampler, groups):
    """Compare, cell by cell and group by group, what estimators got with what the engine counted and the sampler drew."""
    if sampler is None:
        return ["no noise"]
    found = []
    if sampler.law != law:
        found.append(f"noise of {sampler.law} instead of {law}")
    if any(getattr(estimate, "noise", None) != law and Laplace(getattr(estimate, "scale", Fraction(1))) != law for estimate in estimates):
        found.append("estimators were told another law")
    if len(sampler.draws) != len(exact):
        return [*found, f"{len(sampler.draws)} draws for {len(exact)} cells"]
    for cell, (total, drawn) in enumerate(zip(exact, sampler.draws, strict=True)):
        if groups is not None and (np.shape(drawn) != (groups,) or np.shape(total) != (groups,)):
            found.append(f"not one draw for each group in cell {cell}")
            continue
        for estimate in estimates:
            got = estimate.noisy[cell]
            if groups is None:
                if int(got) - int(total) != int(drawn):
                    found.append(f"cell {cell} got other noise than was drawn for it")
            else:
                found += [
                    f"group {group} of cell {cell} got other noise than was drawn for it"
                    for group in range(groups)
                    if int(got[group]) - int(total[group]) != int(drawn[group])
                ]
    return found


def unvaried(records):
    """Return the cells whose noisy totals were the same in all releases of one question: of groups that were shown in all."""
    seen = {}
    for record in records:
        names = [None] if record.index is None else list(record.index)
        for place, estimate in enumerate(record.estimates):
            if not hasattr(estimate, "noisy") or hasattr(estimate.noise if hasattr(estimate, "noise") else None, "records"):
                continue  # a choice, which may well be the same
            for cell, column in enumerate(estimate.noisy):
                for name, total in zip(names, [column] if record.index is None else column, strict=True):
                    seen.setdefault((place, cell, name), []).append(int(total))
    return [where for where, totals in seen.items() if len(totals) == len(records) and len(set(totals)) == 1]


@pytest.mark.parametrize("case", CASES)
def test_every_cell_has_its_noise(case, monkeypatch):
    """For each query of a frame, view, Series or grouping, with rows or units, by Laplace or Gaussian noise: every cell of every group has one draw of its own, of the law that the plan says for its part, and
    an estimator gets the exact total plus that draw and nothing else; keys and choices likewise.

    It would catch a cell, a group or a candidate without noise, one draw used twice, and the scale of another part.  Nothing is estimated: the draws are those that users get.

    N = 5 releases of each question, 12 where keys are private: every noisy total differs between them.  One cell's draws have a scale of at least 1000, or 5, and are all equal with a probability of at most
    (1/2000)^4 = 6e-14, or (1/10)^11 = 1e-11; of fewer than 10 000 cells of all cases together one is with a probability below 1e-6.
    """
    times = MORE_TIMES if "private" in case else TIMES
    with recorded(monkeypatch) as seen:
        for name, ask in asked(*CASES[case]).items():
            seen.clear()
            for _ in range(times):
                ask()
            assert [complaints(record) for record in seen] == [[]] * times, name
            assert unvaried(seen) == [], name
            if "private" in case:
                assert max(len(record.index) for record in seen) >= 3, "the wards of many"


def test_every_kind_of_release_is_in_a_case(monkeypatch):
    """The cases reach scalar cells, cells by group, choices, choices by group, matrices, keys that are the answer and keys that select, Laplace and Gaussian noise: a test that compares nothing would be no test."""
    reached = set()
    with recorded(monkeypatch) as seen:
        for case in ("rows, frame, laplace", "rows, frame, gaussian", "rows, groups, laplace", "rows, private groups, laplace"):
            for ask in asked(*CASES[case]).values():
                ask()
    for record in seen:
        grouped = "scalar" if record.index is None else "grouped"
        reached |= {(grouped, type(part.released).__name__, type(law).__name__) for part, law in record.plan.parts}
        if record.plan.selection is not None:
            reached.add(("keys", record.plan.selection.whole))
    assert reached == {
        *(("scalar", "CellTotals", law) for law in ("Laplace", "Gaussian")),
        *(("grouped", "CellTotals", law) for law in ("Laplace", "Gaussian")),
        *((how, "OrderChoice", "Exponential") for how in ("scalar", "grouped")),
        ("scalar", "SecondMoments", "Laplace"),
        ("keys", True),
        ("keys", False),
    }


# Twins: releases that leave something without noise of its own.


def _first_cell(exact, law, groups):
    found = release_noisy.noisy(exact, law, groups)
    return [exact[0], *found[1:]]


def _only_other_cells(exact, law, groups):
    return [exact[0], *release_noisy.noisy(exact[1:], law, groups)]


def _last_group(exact, law, groups):
    found = release_noisy.noisy(exact, law, groups)
    return [np.append(column[:-1], total[-1:]) for column, total in zip(found, exact, strict=True)]


def _all_but_the_last_group(exact, law, groups):
    sampler = release_noisy.sampler_of(law)
    return [release_noisy.add(total, np.append(sampler.draws(groups - 1), 0)) for total in exact]


def _one_draw(exact, law, groups):
    sampler = release_noisy.sampler_of(law)
    drawn = sampler.draw() if groups is None else sampler.draws(groups)
    return [total + drawn if groups is None else release_noisy.add(total, drawn) for total in exact]


def _one_draw_for_all_groups(exact, law, groups):
    sampler = release_noisy.sampler_of(law)
    return [release_noisy.add(total, np.full(groups, sampler.draw())) for total in exact]


def _of_another_part():
    laws = []

    def noisy(exact, law, groups):
        laws.append(law)
        return release_noisy.noisy(exact, laws[0], groups)

    return noisy


def _twice(exact, law, groups):
    return release_noisy.noisy(release_noisy.noisy(exact, law, groups), law, groups)


def _last_candidate(exact, noise):
    return np.append(release_noisy.add(exact, noise)[:-1], exact[-1:])


def _last_group_chosen_for_more(choice, law, top, ranks, groups, *, public):
    found = release_noisy.chosen(choice, law, top, ranks, groups - 1, public=public)
    last = release_noisy.chosen(choice, replace(law, epsilon=2 * law.epsilon), top, lambda _: ranks(groups - 1), None, public=public)
    return [np.append(column, point) for column, point in zip(found, last, strict=True)]


FRAMES, BY_WARD = (False, "frame", "laplace"), (False, "groups", "laplace")
TWINS = {
    "the first cell of cov is exact": (FRAMES, "cov 0", "noisy", _first_cell),
    "the first cell of cov is not drawn for": (FRAMES, "cov 1", "noisy", _only_other_cells),
    "the first cell of a mean is exact": ((False, "frame", "gaussian"), "mean 0", "noisy", _first_cell),
    "the first cell of describe is exact": ((True, "series", "gaussian"), "describe 0", "noisy", _first_cell),
    "the last group is exact": (BY_WARD, "sum 0", "noisy", _last_group),
    "the last group is not drawn for": ((True, "few groups", "gaussian"), "std 0", "noisy", _all_but_the_last_group),
    "one draw for two cells": (FRAMES, "mean 0", "noisy", _one_draw),
    "one draw for two cells, by group": (BY_WARD, "var 0", "noisy", _one_draw),
    "one draw for all groups": (BY_WARD, "size 0", "noisy", _one_draw_for_all_groups),
    "the scale of another part": ((False, "view", "laplace"), "sum 1", "noisy", _of_another_part()),
    "the scale of another part, by group": ((True, "groups", "gaussian"), "agg 0", "noisy", _of_another_part()),
    "noise is added twice": (FRAMES, "count 0", "noisy", _twice),
    "the last candidate is exact": ((False, "private groups", "laplace"), "size 0", "add", _last_candidate),
    "the last shown group is exact": ((True, "few private groups", "laplace"), "mean 0", "noisy", _last_group),
    "the last group is chosen for more": (BY_WARD, "median 0", "chosen", _last_group_chosen_for_more),
}


@pytest.mark.parametrize("twin", TWINS)
def test_twins_are_caught(twin, monkeypatch):
    """The twins: a release in which this is wrong is found out by the first answer."""
    case, name, piece, wrong = TWINS[twin]
    ask = asked(*case)[name]
    with recorded(monkeypatch) as seen:
        ask()
    assert complaints(seen[0]) == []
    monkeypatch.setattr(path, piece, wrong)
    with recorded(monkeypatch) as seen:
        ask()
    assert complaints(seen[0])


def test_a_draw_that_never_varies_is_caught(monkeypatch):
    """The twin: samplers that draw the same in every release pass the comparison of each, and fail that of five."""

    class Stuck:
        def __init__(self, scale):
            self.scale = scale

        def draw(self):
            return 17

        def draws(self, count):
            return np.arange(count)

    ask = asked(*BY_WARD)["size 0"]
    monkeypatch.setattr(release_noisy, "discrete_laplace", Stuck)
    monkeypatch.setattr(draws_support, "DiscreteLaplace", Stuck)
    with recorded(monkeypatch) as seen:
        for _ in range(TIMES):
            ask()
    assert [complaints(record) for record in seen] == [[]] * TIMES
    assert len(unvaried(seen)) == len(KEYS)
