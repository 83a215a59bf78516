"""Labelled questions of sessions that live in files: of a pure, an approximate and a concentrated one."""

from __future__ import annotations

import pandas as pd
from compatibility.frames import BOUNDS, MONTHS, WARDS, cities, raw, schema, stays

__all__ = ["FRAMES", "QUESTIONS", "SECRET", "SESSIONS", "protected"]

SESSIONS = {
    "pure": {"epsilon": 10, "queries": 100},
    "approximate": {"epsilon": 10, "delta": "1e-3", "name": "study"},
    "concentrated": {"rho": 2, "queries": 40},
}


def _declared():
    return raw()[["age", "charge", "ward", "smoker"]].astype({"ward": object})


FRAMES = {
    "every": (raw, {}),
    "declared": (_declared, {"schema": schema}),
    "stays": (stays, {"unit": "who", "max_rows": 4}),
    "cities": (cities, {}),
}


def protected(session, names=FRAMES):
    """Return the frames, protected by their names under a session; with the declarations they always have."""
    found = {}
    for name in names:
        make, options = FRAMES[name]
        given = {key: value() if callable(value) else value for key, value in options.items()}
        found[name] = session.protect(make(), name=name, **given)
    return found


_AGE, _CHARGE = {"bounds": (0, 90)}, {"bounds": (0, 1500)}
_E = {"epsilon": "0.05"}
_MONTHS = pd.Grouper(key="day", freq="MS")
_PAIRS = pd.MultiIndex.from_tuples([("north", True), ("east", False)], names=["ward", "smoker"])

_PURE = {
    "rows": lambda f, **k: f["every"].dp.count(**_E, **k),
    "rows of people": lambda f, **k: f["stays"].dp.count(**_E, **k),
    "people": lambda f, **k: f["stays"].dp.count(unique=True, **_E, **k),
    "sum": lambda f, **k: f["declared"].dp.sum("charge", **_E, **k),
    "large sum": lambda f, **k: f["every"].dp.sum("wide", bounds=BOUNDS["wide"], **_E, **k),
    "totals": lambda f, **k: f["stays"].dp.sum("charge", per_unit=(0, 5000), **_E, **k),
    "mean": lambda f, **k: f["declared"].dp.mean("age", **_E, **k),
    "narrower mean": lambda f, **k: f["declared"].dp.mean("charge", bounds=(0.5, 99.25), **_E, **k),
    "series": lambda f, **k: f["every"]["age"].dp.mean(**_AGE, **_E, **k),
    "mean of all": lambda f, **k: f["declared"].dp.mean(**_E, **k),
    "mean of dates": lambda f, **k: f["every"].dp.mean("day", bounds=BOUNDS["day"], **_E, **k),
    "median of zoned dates": lambda f, **k: f["every"].dp.median("zoned", bounds=BOUNDS["zoned"], **_E, **k),
    "mean of durations": lambda f, **k: f["every"].dp.mean("stay", bounds=BOUNDS["stay"], **_E, **k),
    "deviation of dates": lambda f, **k: f["every"].dp.std("day", bounds=BOUNDS["day"], **_E, **k),
    "var": lambda f, **k: f["every"].dp.var("age", ddof=0, **_AGE, **_E, **k),
    "std": lambda f, **k: f["declared"].dp.std(["age", "charge"], **_E, **k),
    "median": lambda f, **k: f["every"].dp.median("share", bounds=(0, 1), **_E, **k),
    "quantiles": lambda f, **k: f["every"].dp.quantile("many", [0.1, 0.9], bounds=(0, 50), **_E, **k),
    "max": lambda f, **k: f["declared"].dp.max("age", **_E, **k),
    "iqr": lambda f, **k: f["declared"].dp.iqr("age", **_E, **k),
    "describe": lambda f, **k: f["declared"].dp.describe(epsilon="0.2", **k),
    "agg": lambda f, **k: f["declared"].dp.agg({"age": ["mean", "std"], "charge": "sum"}, **_E, **k),
    "agg named": lambda f, **k: f["declared"].dp.agg(oldest=("age", "max"), typical=("charge", "mean"), **_E, **k),
    "cov": lambda f, **k: f["declared"].dp.cov(["age", "charge"], **_E, **k),
    "corr": lambda f, **k: f["declared"].dp.corr(["age", "charge", "smoker"], epsilon="0.2", **k),
    "sizes": lambda f, **k: f["every"].dp.groupby("ward", keys=WARDS).size(**_E, **k),
    "other": lambda f, **k: f["every"].dp.groupby("ward", keys=["north"], other="rest").size(**_E, **k),
    "means": lambda f, **k: f["declared"].dp.groupby("ward")["charge"].mean(**_E, **k),
    "table of means": lambda f, **k: f["declared"].dp.groupby(["ward", "smoker"]).agg({"age": ["mean", "var"]}, **_E, **k),
    "pairs": lambda f, **k: f["every"].dp.groupby(["ward", "smoker"], keys=_PAIRS).size(**_E, **k),
    "medians": lambda f, **k: f["declared"].dp.groupby("smoker")["age"].median(**_E, **k),
    "people by ward": lambda f, **k: f["stays"].dp.groupby("ward", keys=WARDS, max_groups=2).count(unique=True, **_E, **k),
    "months": lambda f, **k: f["every"].dp.groupby(_MONTHS, keys=MONTHS).size(**_E, **k),
    "durations as keys": lambda f, **k: f["every"].dp.groupby("stay", keys=[pd.Timedelta("13h"), pd.Timedelta("26h")]).size(**_E, **k),
    "dates as keys": lambda f, **k: f["every"].dp.groupby("day", keys=[pd.Timestamp("2024-01-12")]).size(**_E, **k),
    "bins": lambda f, **k: f["every"].dp.histogram("age", bins=[0, 18, 65, 91], right=False, **_E, **k),
    "equal bins": lambda f, **k: f["declared"].dp.histogram("charge", bins=3, **_E, **k),
    "value_counts": lambda f, **k: f["declared"].dp.value_counts("ward", normalize=True, **_E, **k),
    "crosstab": lambda f, **k: f["declared"].dp.crosstab("ward", "smoker", margins=True, **_E, **k),
    "mode": lambda f, **k: f["declared"].dp.mode("ward", **_E, **k),
    "nunique": lambda f, **k: f["declared"].dp.nunique("ward", **_E, **k),
    "bounds": lambda f, **k: f["every"].dp.bounds("charge", **_E, **k),
    "clamping rate": lambda f, **k: f["every"].dp.clamping_rate("charge", bounds=(0, 900), **_E, **k),
    "a view": lambda f, **k: f["declared"].dp.where("age >= 30").assign(monthly="charge / 12").mean("monthly", **_E, **k),
    "within": lambda f, **k: f["every"].dp.count(within=30, **k),
    "within of a mean": lambda f, **k: f["declared"].dp.mean("age", within=20, level=0.9, rows=240, **k),
    "a share": lambda f, **k: f["every"].dp.count("charge", **k),
    "ümlaut – ε": lambda f, **k: f["every"].dp.count("ward", **_E, **k),
}
_D = {"epsilon": "0.3"}
_APPROXIMATE = {
    "rows": lambda f, **k: f["every"].dp.count(**_E, **k),
    "private keys": lambda f, **k: f["cities"].dp.groupby("city", keys="private").size(**_D, **k),
    "private keys at a delta": lambda f, **k: f["cities"].dp.groupby("zone", keys="private", delta="1e-6").size(**_D, **k),
    "private pairs": lambda f, **k: f["cities"].dp.groupby(["city", "zone"], keys="private").size(epsilon=1, **k),
    "means of private keys": lambda f, **k: f["cities"].dp.groupby("city", keys="private")["x"].mean(bounds=(0, 9), epsilon=1, **k),
    "gaussian mean": lambda f, **k: f["declared"].dp.mean("age", **_E, mechanism="gaussian", **k),
    "rho": lambda f, **k: f["declared"].dp.sum("charge", rho="0.002", **k),
    "gaussian sizes": lambda f, **k: f["every"].dp.groupby("ward", keys=WARDS).size(rho="1/700", **k),
    "gaussian var": lambda f, **k: f["every"].dp.var("age", **_AGE, rho="0.002", **k),
    "corr": lambda f, **k: f["declared"].dp.corr(["age", "charge"], **_E, **k),
    "agg": lambda f, **k: f["every"].dp.groupby("smoker").agg({"charge": ["mean", "count", "median"]}, **_CHARGE, **_E, **k),
    "within, gaussian": lambda f, **k: f["every"].dp.count(within=40, mechanism="gaussian", **k),
}
_CONCENTRATED = {
    "rows": lambda f, **k: f["every"].dp.count(rho="0.01", **k),
    "a share": lambda f, **k: f["declared"].dp.mean("age", **k),
    "laplace": lambda f, **k: f["declared"].dp.mean("age", epsilon="0.1", **k),
    "median": lambda f, **k: f["declared"].dp.median("charge", rho="0.01", **k),
    "describe": lambda f, **k: f["declared"].dp.describe("age", rho="0.05", **k),
    "gaussian sums": lambda f, **k: f["declared"].dp.groupby("ward")["charge"].sum(rho="0.02", **k),
    "dates": lambda f, **k: f["every"].dp.mean("zoned", bounds=BOUNDS["zoned"], rho="0.02", **k),
    "quarters": lambda f, **k: f["every"].dp.groupby(pd.Grouper(key="zoned", freq="QS"), keys=MONTHS).size(rho="0.02", **k),
    "quantiles by ward": lambda f, **k: f["declared"].dp.groupby("ward")["age"].quantile([0.25, 0.75], rho="0.02", **k),
}

QUESTIONS = {"pure": _PURE, "approximate": _APPROXIMATE, "concentrated": _CONCENTRATED}
SECRET = {
    "rows, in secret": lambda f, **k: f["every"].dp.count(**_E, **k),
    "mean, in secret": lambda f, **k: f["every"].dp.mean("age", **_AGE, **_E, **k),
}
"""Asked of the pure session with the noise of the operating system, which is another question."""
