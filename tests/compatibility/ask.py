"""What a user may ask, surface by surface: named queries of made-up frames with repeatable noise, and a record of each answer.

Each query has noise of its own, by its name: one that is added, changed or left out changes no other.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager

import numpy as np
import pandas as pd
from compatibility.canonical import books, entropy, error, exact, facts, line, record, unnamed
from compatibility.frames import BOUNDS, MONTHS, WARDS, arrow, checked, cities, people, protect, raw, stays

import pandas_dp
from pandas_dp import composition, gradients, mechanisms, sensitivity
from pandas_dp.datasets import Visits, visits
from pandas_dp.noise.entropy import injected  # the one private name: noise whose calls can be counted

__all__ = ["SURFACES", "ask_all", "counted_noise", "failing_noise", "several_quantiles"]

SURFACES = {}

_SEVERAL = re.compile(r"describe\(|\biqr\b|quantile\([^;]*;[^)]*,")


@contextmanager
def counted_noise(seed, sizes):
    """Draw the noise of ``pandas_dp.testing.unsafe_seeded_noise``, and write down how many bytes each call asks for."""

    def source(count):
        sizes.append(count)
        return hashlib.shake_128(f"{seed}/{len(sizes)}".encode()).digest(count)

    with injected(source):
        yield


@contextmanager
def failing_noise():
    """Let whatever draws noise fail."""

    def source(count):
        raise OSError

    with injected(source):
        yield


def several_quantiles(query):
    """Whether several quantiles of a column are chosen together, by the query's text."""
    return _SEVERAL.search(query) is not None


class Asked:
    """The records of a surface."""

    def __init__(self, surface):
        self.surface = surface
        self.records = {}

    def __call__(self, source, queries):
        """Ask queries one after another of a protected frame, or of a session; and write down what the session says in the end."""
        session = source if isinstance(source, pandas_dp.Session) else source.dp.session
        for name, query in queries.items():
            self._ask(name, query, session)
        ledger = session.ledger
        for found in self.records.values():
            for one in found.get("releases", ()):
                if "line" not in one:
                    found_line = line(dict(ledger.iloc[one["number"] - 1]))
                    if exact(one["query"]) == found_line["query"]:
                        del found_line["query"]  # said once
                    one["line"] = found_line
        self._keep(f"books {sum(name.startswith('books') for name in self.records) + 1}", {**books(session), "lines": len(ledger)})

    def alone(self, queries):
        """Ask what needs no session."""
        for name, query in queries.items():
            self._ask(name, query, None)

    def _keep(self, name, found):
        if name in self.records:
            msg = f"two queries are called {name!r} in {self.surface!r}"
            raise ValueError(msg)
        self.records[name] = found

    def _ask(self, name, query, session):
        known = 0 if session is None else len(session.releases)
        sizes = []
        try:
            with counted_noise(f"{self.surface}: {name}", sizes):
                answer = record(query())
        except pandas_dp.DPError as raised:
            self._keep(name, {**error(raised), "entropy": entropy(sizes)})
            return
        found = {"answer": answer, "entropy": entropy(sizes)}
        if session is not None:
            found["releases"] = [facts(release) for release in session.releases[known:]]
            for one in found["releases"]:
                if one["value"] == answer:
                    del one["value"]
            if any(several_quantiles(one["query"]) for one in found["releases"]):
                found["several_quantiles"] = True
        self._keep(name, found)


def surface(function):
    """Enter a function among the surfaces."""
    SURFACES[function.__name__] = function
    return function


def ask_all():
    """Return the records of all surfaces, each by the surface's and the query's name."""
    found = {}
    for name, function in SURFACES.items():
        ask = Asked(name)
        function(ask)
        found.update({f"{name}: {query}": one for query, one in ask.records.items()})
    return found


def _bounded(column):
    return {} if BOUNDS[column] is None else {"bounds": BOUNDS[column]}


@surface
def counts(ask):
    df = people()
    ask(
        df,
        {
            "rows": lambda: df.dp.count(epsilon=0.1),
            "unique": lambda: df.dp.count(unique=True, epsilon=0.1),
            "unique with a value": lambda: df.dp.count("charge", unique=True, epsilon=0.1),
            **{f"present {name}": lambda name=name: df.dp.count(name, epsilon=0.1) for name in BOUNDS},
            **{f"series {name}": lambda name=name: df[name].dp.count(epsilon=0.1) for name in ("age", "charge", "ward", "many")},
            "series unique": lambda: df["charge"].dp.count(unique=True, epsilon=0.1),
        },
    )
    empty = protect(raw().iloc[:0])
    ask(empty, {"no rows": lambda: empty.dp.count(epsilon=1), "mean of no rows": lambda: empty.dp.mean("age", bounds=(0, 90), epsilon=1)})


STATISTICS = ("sum", "mean", "var", "std", "median", "min", "max", "iqr", "describe")


@surface
def dtypes(ask):
    for name in BOUNDS:
        df = people()
        asked = STATISTICS if name not in {"ward", "kind"} else ("sum", "describe")
        ask(
            df,
            {f"{one} {name}": lambda df=df, one=one, name=name: getattr(df.dp, one)(name, epsilon=0.3, **_bounded(name)) for one in asked},
        )


@surface
def arrow_dtypes(ask):
    df = protect(arrow())
    held = {"n": (0, 90), "f": (0, 25), "b": None, "t": ("2024-01-01", "2024-08-31"), "d": ("0s", "240s"), "s": (0, 1)}
    bounded = {name: {} if one is None else {"bounds": one} for name, one in held.items()}
    ask(
        df,
        {
            **{f"count {name}": lambda name=name: df.dp.count(name, epsilon=0.1) for name in held},
            **{f"mean {name}": lambda name=name: df.dp.mean(name, epsilon=0.2, **bounded[name]) for name in held},
            **{f"median {name}": lambda name=name: df.dp.median(name, epsilon=0.2, **bounded[name]) for name in held},
            "groups of text": lambda: df.dp.groupby("s", keys=WARDS).size(epsilon=0.1),
            "groups of booleans": lambda: df.dp.groupby("b").mean("f", bounds=(0, 25), epsilon=0.1),
            "months": lambda: df.dp.groupby(pd.Grouper(key="t", freq="MS"), keys=MONTHS).size(epsilon=0.1),
            "bins": lambda: df.dp.histogram("n", bins=[0, 30, 60, 90], epsilon=0.1),
        },
    )


@surface
def series(ask):
    df = people()
    age, charge, ward = df["age"].dp, df["charge"].dp, df["ward"].dp
    ask(
        df,
        {
            **{f"{one} of age": lambda one=one: getattr(age, one)(bounds=(0, 90), epsilon=0.3) for one in STATISTICS},
            "var with ddof": lambda: age.var(bounds=(0, 90), ddof=0, epsilon=0.3),
            "a quantile": lambda: charge.quantile(0.9, bounds=(0, 1500), epsilon=0.3),
            "a list of one quantile": lambda: charge.quantile([0.9], bounds=(0, 1500), epsilon=0.3),
            "quantiles": lambda: charge.quantile([0.9, 0.1, 0.5], bounds=(0, 1500), epsilon=0.3),
            "agg of one": lambda: charge.agg("mean", bounds=(0, 1500), epsilon=0.3),
            "agg": lambda: charge.agg(["count", "sum", "mean", "var", "std"], bounds=(0, 1500), epsilon=0.3),
            "agg named": lambda: charge.agg(low="min", middle="median", bounds=(0, 1500), epsilon=0.3),
            "value_counts": lambda: ward.value_counts(keys=WARDS, epsilon=0.3),
            "shares": lambda: ward.value_counts(keys=WARDS, other="other", normalize=True, sort=False, epsilon=0.3),
            "mode": lambda: ward.mode(keys=WARDS, epsilon=0.3),
            "nunique": lambda: ward.nunique(keys=[*WARDS, "nowhere"], epsilon=0.3),
            "bounds": lambda: charge.bounds(epsilon=0.3),
            "clamping_rate": lambda: charge.clamping_rate(bounds=(0, 1000), epsilon=0.3),
            "a sum of few": lambda: df[df["age"] > 70]["charge"].dp.sum(bounds=(0, 1500), epsilon=0.3),
            "a condition": lambda: (df["age"] > 70).dp.mean(epsilon=0.3),
            "arithmetic": lambda: (df["charge"] / 12).dp.mean(bounds=(0, 125), epsilon=0.3),
        },
    )


@surface
def several_columns(ask):
    df = checked()
    pair = ["age", "charge"]
    ask(
        df,
        {
            "mean": lambda: df.dp.mean(pair, epsilon=0.4),
            "mean of all": lambda: df.dp.mean(epsilon=0.4),
            "sum of all": lambda: df.dp.sum(epsilon=0.4),
            "sum with narrower bounds": lambda: df.dp.sum(pair, bounds={"charge": (0, 500)}, epsilon=0.4),
            "var": lambda: df.dp.var(pair, epsilon=0.4),
            "std": lambda: df.dp.std(pair, ddof=0, epsilon=0.4),
            "median": lambda: df.dp.median(pair, epsilon=0.4),
            "quantile": lambda: df.dp.quantile(pair, 0.3, epsilon=0.4),
            "quantiles": lambda: df.dp.quantile(pair, [0.25, 0.75], epsilon=0.4),
            "min": lambda: df.dp.min(pair, epsilon=0.4),
            "max of all": lambda: df.dp.max(epsilon=0.4),
            "iqr": lambda: df.dp.iqr(pair, epsilon=0.4),
            "describe": lambda: df.dp.describe(epsilon=0.8),
            "describe a list": lambda: df.dp.describe(["charge"], epsilon=0.8),
        },
    )


@surface
def aggregates(ask):
    df = checked()
    ask(
        df,
        {
            "a name": lambda: df.dp.agg("mean", epsilon=0.4),
            "a list": lambda: df.dp.agg(["count", "mean", "std"], epsilon=0.4),
            "a dict": lambda: df.dp.agg({"age": "mean", "charge": "sum"}, epsilon=0.4),
            "a dict of lists": lambda: df.dp.agg({"age": ["mean", "var"], "charge": "sum", "ward": "count"}, epsilon=0.4),
            "named": lambda: df.dp.agg(oldest=("age", "max"), typical=("charge", "median"), epsilon=0.4),
            "cells and order": lambda: df.dp.agg({"age": ["count", "median", "min", "max", "mean"]}, epsilon=0.4),
            "quartiles": lambda: df.dp.agg({"age": ["median", "iqr"]}, epsilon=0.4),
            "narrower": lambda: df.dp.agg({"charge": ["mean", "sum"]}, bounds={"charge": (10, 400)}, epsilon=0.4),
            "a list without bounds": lambda: people().dp.agg(["mean"], epsilon=0.1),
            "unknown": lambda: df.dp.agg("kurtosis", epsilon=0.1),
            "repeated": lambda: df.dp.agg(["mean", "mean"], epsilon=0.1),
            "both forms": lambda: df.dp.agg("mean", x=("age", "mean"), epsilon=0.1),
        },
    )


@surface
def views(ask):
    df = people()
    every = df.dp.assign(monthly="charge / 12", old="age >= 65", stayed="stay", month="month(day)")
    few = df.dp.where("age >= 30 and ward in ['north', 'south']")
    b = {"bounds": BOUNDS["charge"]}
    ask(
        df,
        {
            "count": lambda: few.count(epsilon=0.1),
            "count present": lambda: few.count("charge", epsilon=0.1),
            "mean": lambda: few.mean("charge", **b, epsilon=0.2),
            "where twice": lambda: few.where("not smoker or isna(charge)").sum("age", bounds=(0, 90), epsilon=0.2),
            "assigned": lambda: every.mean("monthly", bounds=(0, 125), epsilon=0.2),
            "assigned condition": lambda: every.mean("old", epsilon=0.2),
            "assigned column": lambda: every.mean("stayed", bounds=("0h", "48h"), epsilon=0.2),
            "assigned part of a date": lambda: every.mean("month", epsilon=0.2),
            "groups of an assigned condition": lambda: every.groupby("old").size(epsilon=0.2),
            "by ward": lambda: few.groupby("ward", keys=WARDS).mean("charge", **b, epsilon=0.2),
            "describe": lambda: few.describe("charge", **b, epsilon=0.4),
            "quantiles": lambda: few.quantile("charge", [0.2, 0.8], **b, epsilon=0.4),
            "agg": lambda: few.agg({"charge": ["mean", "std"]}, bounds={"charge": (0, 1500)}, epsilon=0.2),
            "cov": lambda: every.select(["age", "monthly"]).cov(bounds={"age": (0, 90), "monthly": (0, 125)}, epsilon=0.4),
            "histogram": lambda: few.histogram("age", bins=[0, 30, 60, 91], right=False, epsilon=0.2),
            "value_counts": lambda: few.value_counts("kind", keys=["a", "b", "c"], epsilon=0.2),
            "crosstab": lambda: few.crosstab("ward", "smoker", keys={"ward": WARDS, "smoker": [True, False]}, epsilon=0.2),
            "bounds": lambda: few.bounds("charge", epsilon=0.2),
            "clamping_rate": lambda: few.clamping_rate("charge", bounds=(0, 800), epsilon=0.2),
            "nunique": lambda: few.nunique("ward", keys=WARDS, epsilon=0.2),
            "unique": lambda: few.count(unique=True, epsilon=0.1),
            "functions": lambda: df.dp.assign(x="clip(log1p(abs(charge)), 0, 5)").mean("x", epsilon=0.2),
            "where function": lambda: df.dp.assign(x="where(smoker, 2 * age, sqrt(age))").mean("x", bounds=(0, 180), epsilon=0.2),
            "missing values": lambda: df.dp.where("charge != 5").count(epsilon=0.2),
            "a label": lambda: few.count(epsilon=0.1, label=True),
            "the label again": lambda: few.count(epsilon=0.1, label=True),
            "no condition": lambda: df.dp.where("age + 1").count(epsilon=0.1),
            "outside the grammar": lambda: df.dp.where("age.mean() > 3").count(epsilon=0.1),
            "no such column": lambda: df.dp.where("agee > 3").count(epsilon=0.1),
            "preview": lambda: few.preview.count(epsilon=0.5),
        },
    )
    declared = checked()
    bounded = declared.dp.assign(monthly="charge / 12", twice="age + age")
    ask(
        declared,
        {
            "bounds that follow": lambda: bounded.mean("monthly", epsilon=0.2),
            "bounds of a sum": lambda: bounded.sum("twice", epsilon=0.2),
            "keys that follow": lambda: bounded.where("age > 5").groupby("ward").size(epsilon=0.2),
            "means of all": lambda: bounded.select(["age", "monthly"]).mean(epsilon=0.2),
        },
    )


@surface
def groups(ask):
    df = people()
    by = df.dp.groupby("ward", keys=WARDS)
    b = {"bounds": (0, 1500)}
    pairs = pd.MultiIndex.from_tuples([("north", True), ("east", False), ("west", True)], names=["ward", "smoker"])
    grouper = pd.Grouper(key="day", freq="MS")
    ask(
        df,
        {
            "size": lambda: by.size(epsilon=0.2),
            "count": lambda: by.count("charge", epsilon=0.2),
            "unique": lambda: by.count(unique=True, epsilon=0.2),
            **{f"{one}": lambda one=one: getattr(by["charge"], one)(**b, epsilon=0.3) for one in STATISTICS},
            "quantile": lambda: by["charge"].quantile(0.9, **b, epsilon=0.3),
            "quantiles": lambda: by["charge"].quantile([0.1, 0.9], **b, epsilon=0.3),
            "agg of one": lambda: by["charge"].agg(["mean", "count"], **b, epsilon=0.3),
            "agg": lambda: by.agg({"age": ["mean", "max"], "charge": "sum"}, bounds={"age": (0, 90), "charge": (0, 1500)}, epsilon=0.3),
            "agg named": lambda: by.agg(average=("charge", "mean"), number=("charge", "count"), bounds=b["bounds"], epsilon=0.3),
            "several columns": lambda: by[["age", "charge"]].mean(bounds={"age": (0, 90), "charge": (0, 1500)}, epsilon=0.3),
            "other": lambda: df.dp.groupby("ward", keys=["north"], other="rest").size(epsilon=0.2),
            "booleans": lambda: df.dp.groupby("smoker").mean("age", bounds=(0, 90), epsilon=0.2),
            "nullable booleans": lambda: df.dp.groupby("maybe").size(epsilon=0.2),
            "integers": lambda: df.dp.groupby("visits", keys=[0, 3, 6, 9]).size(epsilon=0.2),
            "nullable integers": lambda: df.dp.groupby("many", keys=[0, 3, 6]).size(epsilon=0.2),
            "floats": lambda: df.dp.groupby("share", keys=[0.0, 0.5]).size(epsilon=0.2),
            "categories": lambda: df.dp.groupby("kind", keys=["c", "b", "a"]).size(epsilon=0.2),
            "dates": lambda: df.dp.groupby("day", keys=[pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-12")]).size(epsilon=0.2),
            "durations": lambda: df.dp.groupby("stay", keys=[pd.Timedelta("13h"), pd.Timedelta("26h")]).size(epsilon=0.2),
            "two columns": lambda: df.dp.groupby(["ward", "smoker"], keys={"ward": WARDS, "smoker": [True, False]}).size(epsilon=0.2),
            "pairs": lambda: df.dp.groupby(["ward", "smoker"], keys=pairs).mean("age", bounds=(0, 90), epsilon=0.2),
            "a frame of pairs": lambda: df.dp.groupby(["ward", "smoker"], keys=pairs.to_frame(index=False)).size(epsilon=0.2),
            "months": lambda: df.dp.groupby(grouper, keys=MONTHS).size(epsilon=0.2),
            "means of months": lambda: df.dp.groupby(grouper, keys=MONTHS)["age"].mean(bounds=(0, 90), epsilon=0.2),
            "weeks of a zone": lambda: df.dp.groupby(pd.Grouper(key="zoned", freq="W"), keys=("2024-01-01", "2024-02-28")).size(
                epsilon=0.2
            ),
            "quarters and wards": lambda: df.dp.groupby(
                [pd.Grouper(key="day", freq="QS"), "ward"], keys={"day": MONTHS, "ward": WARDS}
            ).size(epsilon=0.2),
            "means of dates": lambda: by["day"].mean(bounds=BOUNDS["day"], epsilon=0.3),
            "medians of durations": lambda: by["stay"].median(bounds=BOUNDS["stay"], epsilon=0.3),
            "sums of durations": lambda: by["stay"].sum(bounds=BOUNDS["stay"], epsilon=0.3),
            "sums of large numbers": lambda: by["wide"].sum(bounds=BOUNDS["wide"], epsilon=0.3),
            "sums of nullable integers": lambda: by["many"].sum(bounds=BOUNDS["many"], epsilon=0.3),
            "no keys": lambda: df.dp.groupby("ward").size(epsilon=0.2),
            "keys that repeat": lambda: df.dp.groupby("ward", keys=["north", "north"]).size(epsilon=0.2),
            "private keys without delta": lambda: df.dp.groupby("ward", keys="private").size(epsilon=0.2),
            "a label": lambda: by.size(epsilon=0.2, label="sizes"),
            "the label again": lambda: by.size(epsilon=0.2, label="sizes"),
        },
    )
    declared = checked()
    ask(
        declared,
        {
            "declared keys": lambda: declared.dp.groupby("ward").size(epsilon=0.2),
            "declared pairs": lambda: declared.dp.groupby(["ward", "smoker"])["charge"].mean(epsilon=0.2),
            "all columns": lambda: declared.dp.groupby("ward").mean(epsilon=0.2),
            "describe all": lambda: declared.dp.groupby("smoker").describe(epsilon=0.8),
        },
    )


@surface
def tables(ask):
    df = people()
    every = {"ward": WARDS, "kind": ["a", "b", "c"]}
    ask(
        df,
        {
            "value_counts": lambda: df.dp.value_counts("ward", keys=WARDS, epsilon=0.2),
            "unsorted": lambda: df.dp.value_counts("ward", keys=WARDS, sort=False, epsilon=0.2),
            "shares": lambda: df.dp.value_counts("ward", keys=WARDS, normalize=True, epsilon=0.2),
            "other": lambda: df.dp.value_counts("ward", keys=["north"], other="rest", epsilon=0.2),
            "booleans": lambda: df.dp.value_counts("smoker", epsilon=0.2),
            "mode": lambda: df.dp.mode("ward", keys=WARDS, epsilon=0.2),
            "mode of integers": lambda: df.dp.mode("visits", keys=[0, 1, 2], epsilon=0.2),
            "mode of booleans": lambda: df.dp.mode("smoker", epsilon=0.2),
            "mode of dates": lambda: df.dp.mode("day", keys=[pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-12")], epsilon=0.2),
            "nlargest": lambda: df.dp.nlargest(2, "ward", keys=WARDS, epsilon=0.2),
            "nunique": lambda: df.dp.nunique("ward", keys=[*WARDS, "nowhere"], epsilon=0.2),
            "crosstab": lambda: df.dp.crosstab("ward", "kind", keys=every, epsilon=0.2),
            "margins": lambda: df.dp.crosstab("ward", "kind", keys=every, margins=True, epsilon=0.2),
            "bins": lambda: df.dp.histogram("age", bins=[0, 18, 65, 91], epsilon=0.2),
            "bins from the left": lambda: df.dp.histogram("age", bins=[0, 18, 65, 91], right=False, epsilon=0.2),
            "bins of floats": lambda: df.dp.histogram("charge", bins=[0, 10.5, 100, 1500], epsilon=0.2),
            "a label": lambda: df.dp.crosstab("ward", "kind", keys=every, epsilon=0.2, label="table"),
            "the label again": lambda: df.dp.crosstab("ward", "kind", keys=every, epsilon=0.2, label="table"),
        },
    )
    declared = checked()
    ask(
        declared,
        {
            "equal bins": lambda: declared.dp.histogram("age", bins=5, epsilon=0.2),
            "equal bins of floats": lambda: declared.dp.histogram("charge", bins=4, epsilon=0.2),
            "declared table": lambda: declared.dp.crosstab("ward", "smoker", epsilon=0.2),
            "declared counts": lambda: declared.dp.value_counts("ward", epsilon=0.2),
            "declared nunique": lambda: declared.dp.nunique("ward", epsilon=0.2),
        },
    )


@surface
def private_keys(ask):
    df = protect(cities(), delta="1e-3", queries=40)
    by = df.dp.groupby("city", keys="private")
    b = {"bounds": (0, 9)}
    ask(
        df,
        {
            "size": lambda: by.size(epsilon=0.5),
            "size at a delta": lambda: df.dp.groupby("city", keys="private", delta="1e-7").size(epsilon=0.5),
            "unique": lambda: by.count(unique=True, epsilon=0.5),
            "mean": lambda: by["x"].mean(**b, epsilon=0.5),
            "median": lambda: by["x"].median(**b, epsilon=0.5),
            "quantiles": lambda: by["x"].quantile([0.2, 0.8], **b, epsilon=0.5),
            "agg": lambda: by.agg({"x": ["mean", "std", "count"]}, **b, epsilon=0.5),
            "integers": lambda: df.dp.groupby("zone", keys="private").size(epsilon=0.5),
            "booleans": lambda: df.dp.groupby("flag", keys="private").size(epsilon=0.5),
            "two columns": lambda: df.dp.groupby(["city", "zone"], keys="private").size(epsilon=1),
            "gaussian": lambda: by["x"].mean(**b, epsilon=0.5, mechanism="gaussian"),
            "value_counts": lambda: df.dp.value_counts("city", keys="private", epsilon=0.5),
            "mode": lambda: df.dp.mode("city", keys="private", epsilon=0.5),
            "nothing reaches it": lambda: df.dp.groupby("day", keys="private").size(epsilon=0.5),
            "preview": lambda: df.dp.preview.groupby("city", keys="private").size(epsilon=0.5),
            "a label": lambda: by.size(epsilon=0.5, label="cities"),
            "the label again": lambda: by.size(epsilon=0.5, label="cities"),
        },
    )
    units = protect(stays(), delta="1e-3", unit="who", max_rows=4)
    by_ward = units.dp.groupby("ward", keys="private", max_groups=2)
    ask(
        units,
        {
            "people": lambda: by_ward.count(unique=True, epsilon=1),
            "rows of people": lambda: units.dp.groupby("ward", keys="private").size(epsilon=1),
            "means of people": lambda: by_ward.mean("nights", bounds=(0, 30), epsilon=1),
        },
    )


@surface
def association(ask):
    bounds = {"age": (0, 90), "charge": (0, 1500), "smoker": (0, 1), "many": (0, 50), "day": BOUNDS["day"]}
    pair, three = ["age", "charge"], ["age", "charge", "smoker"]
    for kind, options in {"pure": {}, "approximate": {"delta": "1e-6"}, "concentrated": {"rho": 5}}.items():
        df = people(**options)
        price = {"epsilon": 0.5}
        ask(
            df,
            {
                f"cov, {kind}": lambda df=df, price=price: df.dp.cov(pair, bounds=bounds, **price),
                f"corr, {kind}": lambda df=df, price=price: df.dp.corr(three, bounds=bounds, **price),
                f"nullable, {kind}": lambda df=df, price=price: df.dp.corr(["age", "many"], bounds=bounds, **price),
                f"alone, {kind}": lambda df=df, price=price: df.dp.cov(["age"], bounds=bounds, **price),
                f"dates, {kind}": lambda df=df, price=price: df.dp.corr(["age", "day"], bounds=bounds, **price),
            },
        )
    df = checked(delta="1e-6")
    ask(
        df,
        {
            "all": lambda: df.dp.cov(epsilon=0.5),
            "all, corr": lambda: df.dp.corr(epsilon=0.5),
            "gaussian": lambda: df.dp.corr(pair, epsilon=0.5, mechanism="gaussian"),
            "no bounds": lambda: people().dp.cov(pair, epsilon=0.5),
        },
    )


@surface
def limits(ask):
    df = people()
    ask(
        df,
        {
            **{f"bounds {name}": lambda name=name: df.dp.bounds(name, epsilon=0.3) for name in BOUNDS if name not in {"smoker", "maybe"}},
            "clamping rate": lambda: df.dp.clamping_rate("charge", bounds=(0, 900), epsilon=0.3),
            "clamping rate of integers": lambda: df.dp.clamping_rate("age", bounds=(10, 60), epsilon=0.3),
            "clamping rate of dates": lambda: df.dp.clamping_rate("day", bounds=MONTHS, epsilon=0.3),
            "none to take": lambda: df.dp.mean("charge", epsilon=0.3),
            "remember": lambda: df.dp.bounds("charge", remember=True, epsilon=0.3),
            "remembered": lambda: df.dp.mean("charge", epsilon=0.3),
            "given nevertheless": lambda: df.dp.mean("charge", bounds=(0, 10_000), epsilon=0.3),
        },
    )
    declared = checked()
    ask(
        declared,
        {
            "wider": lambda: declared.dp.mean("age", bounds=(0, 100), epsilon=0.1),
            "reversed": lambda: declared.dp.mean("age", bounds=(50, 10), epsilon=0.1),
            "narrower": lambda: declared.dp.mean("age", bounds=(10, 50), epsilon=0.1),
            "fractions": lambda: declared.dp.sum("charge", bounds=(0.1, 99.9), epsilon=0.1),
        },
    )


@surface
def units(ask):
    df = protect(stays(), unit="who", max_rows=4)
    ward = df.dp.groupby("ward", keys=WARDS)
    two = df.dp.groupby("ward", keys=WARDS, max_groups=2)
    b, p = {"bounds": (0, 1251)}, {"per_unit": (0, 5000)}
    ask(
        df,
        {
            "rows": lambda: df.dp.count(epsilon=0.2),
            "people": lambda: df.dp.count(unique=True, epsilon=0.2),
            "people with a value": lambda: df.dp.count("charge", unique=True, epsilon=0.2),
            **{one: lambda one=one: getattr(df.dp, one)("charge", **b, epsilon=0.3) for one in STATISTICS},
            "totals": lambda: df.dp.sum("charge", **p, epsilon=0.3),
            "totals of bounded rows": lambda: df.dp.sum("nights", bounds=(0, 30), per_unit=(0, 60), epsilon=0.3),
            "totals of a series": lambda: df["nights"].dp.sum(per_unit=(-5, 100), epsilon=0.3),
            "totals by ward": lambda: ward["charge"].sum(**p, epsilon=0.3),
            "people by ward": lambda: ward.count(unique=True, epsilon=0.3),
            "people of two wards": lambda: two.count(unique=True, epsilon=0.3),
            "totals of two wards": lambda: two["nights"].sum(per_unit=(0, 60), epsilon=0.3),
            "rows of two wards": lambda: two.size(epsilon=0.3),
            "means of two wards": lambda: two["charge"].mean(**b, epsilon=0.3),
            "medians of two wards": lambda: two["charge"].median(**b, epsilon=0.3),
            "histogram": lambda: df.dp.histogram("nights", bins=[0, 10, 20, 31], epsilon=0.3),
            "nunique": lambda: df.dp.nunique("ward", keys=WARDS, epsilon=0.3),
            "bounds": lambda: df.dp.bounds("charge", epsilon=0.3),
            "corr": lambda: df.dp.corr(["charge", "nights"], bounds={"charge": (0, 1251), "nights": (0, 30)}, epsilon=0.5),
            "a view": lambda: df.dp.where("nights > 10").count(unique=True, epsilon=0.3),
            "a sum for each, in pandas": lambda: df.groupby("who")["charge"].sum().dp.mean(bounds=(0, 9000), epsilon=0.3),
            "filtered": lambda: df[df["nights"] > 10].dp.mean("charge", **b, epsilon=0.3),
            "units are no keys": lambda: df.dp.nunique("who", epsilon=0.3),
        },
    )
    rows = people()
    ask(rows, {"totals of rows": lambda: rows.dp.sum("age", per_unit=(0, 50), epsilon=0.3)})
    level = protect(stays().set_index("who"), unit="who", max_rows=1000)
    ask(level, {"a level": lambda: level.dp.count(unique=True, epsilon=0.3), "rows of a level": lambda: level.dp.count(epsilon=0.3)})


@surface
def many_rows_and_groups(ask):
    df = protect(visits(), schema=Visits, delta="1e-4", queries=100)
    people_of = protect(visits(), schema=Visits, unit="patient_id", max_rows=3)
    patients = list(range(100_000, 106_000, 4))  # as many as are drawn for in blocks
    every = df.dp.groupby("patient_id", keys=patients)
    e, rho = {"epsilon": 0.2}, {"rho": 0.01}
    ask(
        df,
        {
            "mean": lambda: df.dp.mean("charge", **e),
            "means of all": lambda: df.dp.mean(**e),
            "quantiles": lambda: df.dp.quantile("charge", [0.1, 0.5, 0.9], **e),
            "median": lambda: df.dp.median("charge", **e),
            "describe": lambda: df.dp.describe("age", **e),
            "corr": lambda: df.dp.corr(["age", "charge", "smoker"], **e),
            "by ward": lambda: df.dp.groupby("ward")["charge"].mean(**e),
            "many sizes": lambda: every.size(**e),
            "many sizes, small noise": lambda: every.size(epsilon="0.999"),
            "many sizes, much noise": lambda: every.size(epsilon="1/100003"),
            "many sums": lambda: every["charge"].sum(**e),
            "many means": lambda: every["age"].mean(**e),
            "many spreads": lambda: every.agg({"age": ["count", "std"]}, **e),
            "many medians": lambda: df.dp.groupby("patient_id", keys=patients[:60])["age"].median(**e),
            "many sizes, gaussian": lambda: every.size(**rho),
            "many sums, gaussian": lambda: every["charge"].sum(rho="0.003"),
            "many private keys": lambda: df.dp.groupby("patient_id", keys="private", delta="1e-6").size(epsilon=0.5),
            "many bins": lambda: df.dp.histogram("charge", bins=500, **e),
            "days": lambda: df.dp.groupby(pd.Grouper(key="admitted", freq="D"), keys=("2024-01-01", "2024-12-31")).size(**e),
            "bounds": lambda: df.dp.bounds("charge", **e),
            "nunique": lambda: df.dp.nunique("patient_id", keys=patients, **e),
            "a view": lambda: df.dp.where("age >= 65").assign(monthly="charge / 12").sum("monthly", **e),
        },
    )
    ask(
        people_of,
        {
            "people": lambda: people_of.dp.count(unique=True, **e),
            "rows of people": lambda: people_of.dp.count(**e),
            "totals": lambda: people_of.dp.sum("charge", per_unit=(0, 20_000), **e),
            "people by ward": lambda: people_of.dp.groupby("ward", max_groups=2).count(unique=True, **e),
            "median of people": lambda: people_of.dp.median("charge", **e),
        },
    )


@surface
def prices(ask):
    pure, approximate, concentrated = people(queries=200), people(epsilon=5, delta="1e-6", queries=100), people(rho=2, queries=50)
    b = {"bounds": (0, 90)}
    for name, df in {"pure": pure, "approximate": approximate, "concentrated": concentrated}.items():
        asked = {
            "a number": lambda df=df: df.dp.count(epsilon=0.25),
            "a text": lambda df=df: df.dp.count(epsilon="1/3"),
            "a share": lambda df=df: df.dp.count(),
            "a share of a mean": lambda df=df: df.dp.mean("age", **b),
            "rho": lambda df=df: df.dp.mean("age", **b, rho="0.01"),
            "rho of a laplace": lambda df=df: df.dp.mean("age", **b, rho="0.01", mechanism="laplace"),
            "gaussian": lambda df=df: df.dp.mean("age", **b, epsilon=0.1, mechanism="gaussian"),
            "gaussian sum": lambda df=df: df.dp.sum("charge", bounds=(0, 1500), epsilon=0.2, mechanism="gaussian"),
            "gaussian var": lambda df=df: df.dp.var("age", **b, epsilon=0.4, mechanism="gaussian"),
            "gaussian groups": lambda df=df: df.dp.groupby("ward", keys=WARDS).size(epsilon=0.1, mechanism="gaussian"),
            "gaussian means": lambda df=df: df.dp.groupby("ward", keys=WARDS)["age"].mean(**b, rho="0.01"),
            "gaussian agg": lambda df=df: df.dp.agg({"age": ["mean", "std", "median"]}, **b, rho="0.02"),
            "laplace": lambda df=df: df.dp.sum("age", **b, epsilon=0.1, mechanism="laplace"),
            "a median": lambda df=df: df.dp.median("age", **b, rho="0.01"),
            "a median on epsilon": lambda df=df: df.dp.median("age", **b, epsilon="0.2"),
            "describe": lambda df=df: df.dp.describe("age", **b, rho="0.05"),
            "within": lambda df=df: df.dp.count(within=20),
            "within at a level": lambda df=df: df.dp.sum("age", **b, within=900, level=0.8),
            "within of a mean": lambda df=df: df.dp.mean("age", **b, within=5, rows=240),
            "within of a median": lambda df=df: df.dp.median("age", **b, within=40),
            "within by rho": lambda df=df: df.dp.count(within=10, mechanism="gaussian"),
            "two prices": lambda df=df: df.dp.count(epsilon=0.1, rho=0.1),
            "nothing": lambda df=df: df.dp.count(epsilon=0),
            "a negative one": lambda df=df: df.dp.count(epsilon=-1),
            "an unknown mechanism": lambda df=df: df.dp.count(epsilon=0.1, mechanism="uniform"),
            "an unknown option": lambda df=df: df.dp.count(epsilon=0.1, sigma=3),
            "too much": lambda df=df: df.dp.count(epsilon=50),
        }
        without_rho = ("a median", "describe", "rho") if name == "pure" else ()
        left_out = {one for one in asked if one.startswith("gaussian") and name == "pure"}.union(without_rho)
        ask(df, {f"{one}, {name}": query for one, query in asked.items() if one not in left_out or one == "gaussian"})


@surface
def previews(ask):
    df = checked(delta="1e-6")
    p, by = df.dp.preview, df.dp.preview.groupby("ward")
    ask(
        df,
        {
            "count": lambda: p.count(epsilon=0.5),
            "sum": lambda: p.sum("age", epsilon=0.5),
            "sums": lambda: p.sum(epsilon=0.5),
            "mean without rows": lambda: p.mean("age", epsilon=0.5),
            "mean": lambda: p.mean("age", epsilon=0.5, rows=200),
            "means": lambda: p.mean(epsilon=0.5, rows=200),
            "var": lambda: p.var("age", epsilon=0.5, rows=200),
            "std": lambda: p.std("age", epsilon=0.5, rows=200),
            "median": lambda: p.median("age", epsilon=0.5),
            "quantiles": lambda: p.quantile("age", [0.1, 0.9], epsilon=0.5),
            "min": lambda: p.min("age", epsilon=0.5),
            "iqr": lambda: p.iqr("age", epsilon=0.5),
            "describe": lambda: p.describe("age", epsilon=0.5, rows=200),
            "agg": lambda: p.agg({"age": ["mean", "count"], "charge": "sum"}, epsilon=0.5, rows=200),
            "cov": lambda: p.cov(["age", "charge"], epsilon=0.5, rows=200),
            "corr": lambda: p.corr(["age", "charge"], epsilon=0.5, rows=200),
            "gaussian": lambda: p.mean("age", rho=0.01, rows=200),
            "within": lambda: p.count(within=12),
            "a list": lambda: p.count(epsilon=[0.1, 0.5]),
            "a list of means": lambda: p.mean(["age", "charge"], epsilon=[0.1, 0.5], rows=200),
            "too much": lambda: p.count(epsilon=30),
            "groups": lambda: by.size(epsilon=0.5),
            "means of groups": lambda: by["charge"].mean(epsilon=0.5, rows=40),
            "agg of groups": lambda: by.agg({"age": ["mean", "median"]}, epsilon=0.5, rows=40),
            "series": lambda: df["age"].dp.preview.sum(epsilon=0.5),
            "series mean": lambda: df["age"].dp.preview.mean(epsilon=0.5, rows=200),
            "series describe": lambda: df["age"].dp.preview.describe(epsilon=0.5, rows=200),
            "a count": lambda: df.dp.count(epsilon=0.5),
            "mean after a count": lambda: p.mean("age", epsilon=0.5),
            "mean of other rows": lambda: df[df["age"] > 5].dp.preview.mean("age", epsilon=0.5),
        },
    )


@surface
def derived(ask):
    df = people()
    towns = pd.DataFrame({"ward": WARDS, "beds": [10, 20, 30, 40]})
    b = {"bounds": (0, 90)}
    ask(
        df,
        {
            "query": lambda: df.query("age > 30").dp.count(epsilon=0.2),
            "a mask": lambda: df[df["age"] > 30].dp.mean("age", **b, epsilon=0.2),
            "columns": lambda: df[["age", "charge"]].dp.mean("age", **b, epsilon=0.2),
            "assign": lambda: df.assign(half=df["age"] / 2).dp.mean("half", bounds=(0, 45), epsilon=0.2),
            "sorted": lambda: df.sort_values("age").dp.sum("charge", bounds=(0, 1500), epsilon=0.2),
            "head": lambda: df.head(50).dp.count(epsilon=0.2),
            "dropna": lambda: df.dropna(subset=["charge"]).dp.count(epsilon=0.2),
            "merged": lambda: df.merge(towns, on="ward", how="left").set_index(df.index).dp.count(epsilon=0.2),
            "joined": lambda: df.join(towns.set_index("ward"), on="ward").dp.sum("beds", bounds=(0, 40), epsilon=0.2),
            "renamed": lambda: df.rename(columns={"age": "years"}).dp.mean("years", **b, epsilon=0.2),
            "doubled": lambda: pd.concat([df, df]).dp.count(epsilon=0.2),
            "relabelled": lambda: df.reset_index(drop=True).dp.count(epsilon=0.2),
            "groups in pandas": lambda: df.groupby("ward")["age"].sum().dp.mean(bounds=(0, 9000), epsilon=0.2),
        },
    )
    strict = people(derived="refuse")
    ask(
        strict,
        {
            "the frame itself": lambda: strict.dp.count(epsilon=0.2),
            "a column": lambda: strict["age"].dp.mean(**b, epsilon=0.2),
            "a view": lambda: strict.dp.where("age > 30").count(epsilon=0.2),
            "refused": lambda: strict[strict["age"] > 30].dp.count(epsilon=0.2),
        },
    )


@surface
def sessions(ask):
    session = pandas_dp.Session(epsilon=2, delta="1e-6", name="study", queries=20)
    first, second = session.protect(raw(), name="first"), session.protect(stays(), name="second", unit="who", max_rows=2)

    def allocated():
        with session.allocate(epsilon=0.3):
            first.dp.count(epsilon=0.1)
            return session.remaining

    def overdrawn():
        with session.allocate(epsilon=0.1):
            first.dp.count(epsilon=0.2)

    ask(
        session,
        {
            "one frame": lambda: first.dp.count(epsilon=0.1),
            "the other": lambda: second.dp.mean("nights", bounds=(0, 30), epsilon=0.1),
            "share": lambda: first.dp.count(),
            "split": lambda: session.split(3),
            "split by weights": lambda: session.split([2, 1]),
            "allocated": allocated,
            "overdrawn": overdrawn,
            "odometer": session.odometer,
            "odometer at a delta": lambda: session.odometer(delta="1e-5"),
            "labelled": lambda: first.dp.mean("age", bounds=(0, 90), epsilon=0.1, label="age"),
            "replayed": lambda: session.replay("age"),
            "again": lambda: first.dp.mean("age", bounds=(0, 90), epsilon="1/10", label="age"),
            "bounds as floats": lambda: first.dp.mean("age", bounds=(0, 90.0), epsilon=0.1, label="age"),
            "another question": lambda: first.dp.mean("age", bounds=(0, 80), epsilon=0.1, label="age"),
            "unknown": lambda: session.replay("nothing"),
            "releases": lambda: [unnamed(one) for one in session.releases],
            "columns of the ledger": lambda: session.ledger.columns,
            "amend in memory": lambda: session.amend(epsilon=3, reason="none"),
            "protected twice": lambda: session.protect(first),
        },
    )
    session.close()
    ask.alone({"closed": lambda: first.dp.count(epsilon=0.1), "closed, shown": lambda: repr(session)})
    concentrated = people(rho=1)
    ask(
        concentrated,
        {
            "count": lambda: concentrated.dp.count(rho="0.1"),
            "rho, split": lambda: concentrated.dp.session.split(4),
            "rho, odometer": lambda: concentrated.dp.session.odometer(delta="1e-6"),
        },
    )
    full = people(epsilon=1)
    ask(
        full,
        {
            "all of it": lambda: full.dp.count(epsilon=1),
            "no more": lambda: full.dp.count(epsilon="1/1000"),
            "repr of the accessor": lambda: repr(full.dp),
        },
    )


@surface
def refusals(ask):
    df = people()
    plain = raw()
    ask(
        df,
        {
            "not protected": lambda: plain.dp.count(epsilon=1),
            "no budget": plain.dp.protect,
            "two budgets": lambda: plain.dp.protect(epsilon=1, rho=1),
            "protected twice": lambda: df.dp.protect(epsilon=1),
            "a unit without rows": lambda: plain.dp.protect(epsilon=1, unit="age"),
            "an index that repeats": lambda: pd.concat([plain, plain]).dp.protect(epsilon=1),
            "no such unit": lambda: plain.dp.protect(epsilon=1, unit="nobody", max_rows=1),
            "a bad name": lambda: plain.dp.protect(epsilon=1, name="a#b"),
            "a bad choice": lambda: plain.dp.protect(epsilon=1, enforce="maybe"),
            "no such query": lambda: df.dp.average,
            "no such column": lambda: df.dp.mean("height", bounds=(0, 1), epsilon=0.1),
            "no bounds": lambda: df.dp.mean("age", epsilon=0.1),
            "no such option": lambda: df.dp.mean("age", bounds=(0, 1), epsilon=0.1, ddof=1),
            "a bad quantile": lambda: df.dp.quantile("age", 1.5, bounds=(0, 1), epsilon=0.1),
            "a bad ddof": lambda: df.dp.var("age", bounds=(0, 1), ddof=-1, epsilon=0.1),
            "bad bins": lambda: df.dp.histogram("age", bins=[3, 2], epsilon=0.1),
            "bad n": lambda: df.dp.nlargest(0, "ward", keys=WARDS, epsilon=0.1),
            "a bad flag": lambda: df.dp.count(unique="yes", epsilon=0.1),
            "a bad label": lambda: df.dp.count(epsilon=0.1, label=" "),
            "no view": lambda: df.dp.count(epsilon=0.1, label=True),
            "a column of the frame as keys": lambda: df.dp.groupby("ward", keys=df["ward"]).size(epsilon=0.1),
            "a schema that does not fit": lambda: checked(name=None, unit="nobody", max_rows=1),
        },
    )


@surface
def values_in_hand(ask):
    numbers = pd.Series([1.5, 2.25, None, -3.0], index=list("abcd"), name="x")
    gradient = [np.arange(24, dtype=float).reshape(4, 3, 2) / 7, np.ones((4, 5))]
    ask.alone(
        {
            "laplace": lambda: mechanisms.laplace(3.5, 1, 0.5),
            "laplace of a series": lambda: mechanisms.laplace(numbers, 1, 0.5),
            "laplace of a list": lambda: mechanisms.laplace([1, 2.5], "0.1", 1),
            "laplace within": lambda: mechanisms.laplace([0.0] * 5, 1, 0.2, lower=0, upper=1),
            "laplace to integers": lambda: mechanisms.laplace([1, 2, 3], 1, 0.5, integer=True),
            "gaussian": lambda: mechanisms.gaussian(3.5, 1, 0.5, 1e-6),
            "gaussian of an array": lambda: mechanisms.gaussian(np.arange(5.0), 2, 1, 1e-5),
            "gaussian of a frame": lambda: mechanisms.gaussian(pd.DataFrame({"x": [1.0, 2.0], "y": [3, 4]}), 1, 1, 1e-5),
            "geometric": lambda: mechanisms.geometric(5, 1, 0.5),
            "geometric of a series": lambda: mechanisms.geometric(pd.Series([1, 2, 3]), 1, 0.5, lower=0),
            "exponential": lambda: mechanisms.exponential(["a", "b", "c"], [1, 5, 2], 1, 1),
            "compare": lambda: mechanisms.compare(1, 0.5, 1e-6, answers=3),
            "no number": lambda: mechanisms.laplace("x", 1, 1),
            "no epsilon": lambda: mechanisms.laplace(1, 1, 0),
            "sensitivity of a sum": lambda: sensitivity.sum((-2, 5)),
            "sensitivity of a replaced row": lambda: sensitivity.sum((-2, 5), neighbours="replace-one"),
            "sensitivity of a mean": lambda: sensitivity.mean((0, 1), 30),
            "sensitivity of a count": sensitivity.count,
            "clipped gradients": lambda: gradients.clip_gradients(gradient, 1),
            "gradients": lambda: gradients.privatize_gradients(gradient, 1, 1.5, lot_size=4, threads=1),
            "gradient rho": lambda: gradients.gradient_zcdp(1.5, 10),
            "noise multiplier": lambda: gradients.noise_multiplier_for(1, 1e-6, 10),
            "basic": lambda: composition.basic([0.1, 0.2], [1e-6, 0]),
            "advanced": lambda: composition.advanced(0.1, 50, 1e-6),
            "optimal": lambda: composition.optimal(0.1, 50, 1e-6),
            "optimal delta": lambda: composition.optimal_delta(0.1, 50, 2),
            "zcdp": lambda: composition.zcdp(["0.1", "0.02"]),
            "zcdp to approx": lambda: composition.zcdp_to_approx(0.05, 1e-6),
            "approx to zcdp": lambda: composition.approx_to_zcdp(1, 1e-6),
            "pure to zcdp": lambda: composition.pure_to_zcdp(0.5, "tight"),
            "gaussian sigma": lambda: composition.gaussian_sigma(1, 1e-6, 1),
            "gaussian delta": lambda: composition.gaussian_delta(4, 1, 1),
            "fits": lambda: composition.fits(0.05, 2, 1e-6),
            "amounts": lambda: [exact(pandas_dp.Epsilon("0.1")), exact(pandas_dp.Rho(2)), repr(pandas_dp.Delta("1e-6"))],
        }
    )
