"""The charge is what the noise costs: of every query at every price, for every unit, in every kind of session, added up from the plan in fractions.

What the noises of a plan cost is worked out here again, from the cells' own contributions and the definitions of the mechanisms, and by nothing that plans are made with:
a noise that is too small for what was charged, a share that is spent twice, or a δ that is not written down, is a difference of two fractions.
"""

from __future__ import annotations

import itertools
import warnings
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import pandas_dp
from pandas_dp import ParameterError, Session
from pandas_dp.accounting.ledger import Cost
from pandas_dp.release import path
from pandas_dp.statistics.noise_laws import Exponential, Gaussian, Laplace
from pandas_dp.statistics.query import CellTotals, OrderChoice, SecondMoments

getcontext().prec = 60

BOUNDS = {"x": (-3, 9), "y": (0.0, 2.5)}

FRAME = {
    "count": lambda dp, **p: dp.count(**p),
    "count of a column": lambda dp, **p: dp.count("y", **p),
    "count of columns": lambda dp, **p: dp.count(["x", "y"], **p),
    "count of units": lambda dp, **p: dp.count("x", unique=True, **p),
    "sum": lambda dp, **p: dp.sum("x", bounds=(-3, 9), **p),
    "sum of all": lambda dp, **p: dp.sum(bounds=BOUNDS, **p),
    "sum per unit": lambda dp, **p: dp.sum("x", per_unit=(-4, 20), **p),
    "sum per unit, rows bounded": lambda dp, **p: dp.sum("x", bounds=(0, 9), per_unit=(0, 20), **p),
    "mean": lambda dp, **p: dp.mean("y", bounds=(0, 2.5), **p),
    "mean of all": lambda dp, **p: dp.mean(bounds=BOUNDS, **p),
    "var": lambda dp, **p: dp.var("x", bounds=(-3, 9), **p),
    "std": lambda dp, **p: dp.std(["x", "y"], bounds=BOUNDS, **p),
    "median": lambda dp, **p: dp.median("x", bounds=(-3, 9), **p),
    "quantile": lambda dp, **p: dp.quantile("y", 0.9, bounds=(0, 2.5), **p),
    "quantiles": lambda dp, **p: dp.quantile(["x", "y"], [0.1, 0.5, 0.9], bounds=BOUNDS, **p),
    "min": lambda dp, **p: dp.min("x", bounds=(-3, 9), **p),
    "max": lambda dp, **p: dp.max(["x", "y"], bounds=BOUNDS, **p),
    "iqr": lambda dp, **p: dp.iqr("x", bounds=(-3, 9), **p),
    "describe": lambda dp, **p: dp.describe("x", bounds=(-3, 9), **p),
    "describe all": lambda dp, **p: dp.describe(bounds=BOUNDS, **p),
    "agg": lambda dp, **p: dp.agg({"x": ["mean", "std", "median", "max"], "y": ["count", "sum"]}, bounds=BOUNDS, **p),
    "agg of choices": lambda dp, **p: dp.agg(["min", "median", "iqr"], bounds=BOUNDS, **p),
    "cov": lambda dp, **p: dp.cov(["x", "y"], bounds=BOUNDS, **p),
    "corr": lambda dp, **p: dp.corr(["x", "y", "g"], bounds={**BOUNDS, "g": (0, 3)}, **p),
    "bounds": lambda dp, **p: dp.bounds("x", **p),
    "clamping rate": lambda dp, **p: dp.clamping_rate("x", bounds=(0, 5), **p),
    "nunique": lambda dp, **p: dp.nunique("g", keys=[0, 1, 2], **p),
    "value_counts": lambda dp, **p: dp.value_counts("g", keys=[0, 1, 2], **p),
    "mode": lambda dp, **p: dp.mode("g", keys=[0, 1], **p),
    "nlargest": lambda dp, **p: dp.nlargest(1, "g", keys=[0, 1], **p),
    "crosstab": lambda dp, **p: dp.crosstab("g", "h", keys={"g": [0, 1, 2], "h": ["a", "b"]}, **p),
    "histogram": lambda dp, **p: dp.histogram("x", bins=[-3, 0, 5, 9], **p),
}
GROUPS = {
    "size": lambda g, **p: g.size(**p),
    "count": lambda g, **p: g.count("y", **p),
    "count of units": lambda g, **p: g.count("x", unique=True, **p),
    "sum": lambda g, **p: g.sum("x", bounds=(-3, 9), **p),
    "sum per unit": lambda g, **p: g.sum("x", per_unit=(-4, 20), **p),
    "mean": lambda g, **p: g.mean(["x", "y"], bounds=BOUNDS, **p),
    "var": lambda g, **p: g.var("x", bounds=(-3, 9), **p),
    "std": lambda g, **p: g.std("y", bounds=(0, 2.5), **p),
    "median": lambda g, **p: g.median("x", bounds=(-3, 9), **p),
    "quantile": lambda g, **p: g.quantile("x", 0.2, bounds=(-3, 9), **p),
    "min": lambda g, **p: g.min("x", bounds=(-3, 9), **p),
    "max": lambda g, **p: g.max("x", bounds=(-3, 9), **p),
    "iqr": lambda g, **p: g.iqr("x", bounds=(-3, 9), **p),
    "describe": lambda g, **p: g.describe("x", bounds=(-3, 9), **p),
    "agg": lambda g, **p: g.agg({"x": ["mean", "max"], "y": "std"}, bounds=BOUNDS, **p),
}
SERIES = {
    "count": lambda dp, **p: dp.count(**p),
    "sum": lambda dp, **p: dp.sum(bounds=(-3, 9), **p),
    "mean": lambda dp, **p: dp.mean(bounds=(-3, 9), **p),
    "var": lambda dp, **p: dp.var(bounds=(-3, 9), **p),
    "std": lambda dp, **p: dp.std(bounds=(-3, 9), **p),
    "median": lambda dp, **p: dp.median(bounds=(-3, 9), **p),
    "quantile": lambda dp, **p: dp.quantile([0.25, 0.75], bounds=(-3, 9), **p),
    "min": lambda dp, **p: dp.min(bounds=(-3, 9), **p),
    "max": lambda dp, **p: dp.max(bounds=(-3, 9), **p),
    "iqr": lambda dp, **p: dp.iqr(bounds=(-3, 9), **p),
    "describe": lambda dp, **p: dp.describe(bounds=(-3, 9), **p),
    "agg": lambda dp, **p: dp.agg(["count", "mean", "median"], bounds=(-3, 9), **p),
    "bounds": lambda dp, **p: dp.bounds(**p),
    "clamping_rate": lambda dp, **p: dp.clamping_rate(bounds=(0, 5), **p),
    "nunique": lambda dp, **p: dp.nunique(keys=[0, 1, 2], **p),
    "value_counts": lambda dp, **p: dp.value_counts(keys=[0, 1, 2], **p),
    "mode": lambda dp, **p: dp.mode(keys=[0, 1], **p),
}
QUERIES = {
    **{f"frame: {name}": ask for name, ask in FRAME.items()},
    **{f"view: {name}": lambda dp, ask=ask, **p: ask(dp.where("x > 0").assign(z="x + y"), **p) for name, ask in FRAME.items()},
    "view: a new column": lambda dp, **p: dp.assign(z="x + 1").mean("z", bounds=(-2, 10), **p),
    **{f"groups: {name}": lambda dp, ask=ask, **p: ask(dp.groupby("g", keys=[0, 1, 2]), **p) for name, ask in GROUPS.items()},
    **{f"groups, max_groups: {name}": lambda dp, ask=ask, **p: ask(dp.groupby("g", keys=[0, 1, 2], max_groups=2), **p) for name, ask in GROUPS.items()},
    **{f"private keys: {name}": lambda dp, ask=ask, **p: ask(dp.groupby("h", keys="private", delta="1e-9"), **p) for name, ask in GROUPS.items()},
    **{f"private keys, max_groups: {name}": lambda dp, ask=ask, **p: ask(dp.groupby("h", keys="private", max_groups=2), **p) for name, ask in GROUPS.items()},
    **{f"series: {name}": lambda dp, ask=ask, **p: ask(dp._asks.source["x"].dp, **p) for name, ask in SERIES.items()},
}  # fmt: skip
PRICES = {
    "epsilon": {"epsilon": "1/7"},
    "rho": {"rho": "1/50"},
    "gaussian": {"epsilon": "1/7", "mechanism": "gaussian"},
    "laplace for rho": {"rho": "1/50", "mechanism": "laplace"},
    "laplace": {"epsilon": "1/7", "mechanism": "laplace"},
    "within": {"within": 3, "rows": 1000},
    "within, gaussian": {"within": 3, "rows": 1000, "mechanism": "gaussian"},
    "the planned share": {},
    "label": {"epsilon": "1/7", "label": "asked once"},
}
SESSIONS = {"pure": {"epsilon": 10**6}, "approximate": {"epsilon": 10**6, "delta": "0.5"}, "concentrated": {"rho": 10**6}}
UNITS = {
    "rows": {},
    "units of two rows": {"unit": "who", "max_rows": 2},
    "units of seven rows": {"unit": "who", "max_rows": 7},
}


def table():
    generator = np.random.default_rng(0)
    return pd.DataFrame(
        {"who": np.arange(40) % 9, "x": generator.integers(-5, 12, 40), "y": generator.random(40) * 3, "g": np.arange(40) % 4, "h": ["a", "b", "c", "d"] * 10}
    )  # fmt: skip


def begun(session, unit, ledger=None):
    """A protected frame in a session of this kind, with more than enough budget, planned for many queries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pandas_dp.LargeBudgetWarning)
        opened = Session(**SESSIONS[session], queries=10**6, ledger=ledger)
    return opened.protect(table(), name="t", **UNITS[unit])


@pytest.fixture
def plans(monkeypatch):
    """What the releases of this test were planned as: (query, plan) of each."""
    found, measure = [], path._measure

    def recorded(reader, query, plan, request):
        found.append((query, plan))
        return measure(reader, query, plan, request)

    monkeypatch.setattr(path, "_measure", recorded)
    return found


def largest(cells, power):
    """The largest sum over cells of a power of what one record adds: at an end, or next to where a cell's contribution turns or vanishes."""
    grid = next((cell.grid for cell in cells if cell.grid is not None), None)
    if grid is None:
        return sum(abs(cell.at(0)) ** power for cell in cells)
    low, high = grid.first, grid.last
    steps = {low, high, (low + high) // 2, *range(low, min(high, low + 40) + 1), *range(max(low, high - 40), high + 1)}
    for cell in cells:
        for number in [
            0,
            -cell.per_record / cell.per_step if cell.per_step else 0,
            -cell.per_step / (2 * cell.per_square) if cell.per_square else 0,
        ]:
            steps |= {min(max(int(number) + k, low), high) for k in (-1, 0, 1)}
    return max(sum(abs(cell.at(step)) ** power for cell in cells) for step in steps)


def corner(design):
    """What a record with a value at a bound in every column adds to the cells of second moments together: the most there is."""
    columns = range(len(design.tops))
    found = []
    for heights in itertools.product(*((0, top) for top in design.tops)):
        products = {(i, j): heights[i] * heights[j] for i in columns for j in columns if i <= j}
        found.append(sum(map(abs, design.totals(1, list(heights), products))))
    return max(found)


def spent_on(query, plan, max_rows):
    """What the noises of a plan cost: ε, ρ, δ, and whether all of them are pure."""
    grouped, apart = query.keys is not None, query.one_each is not None
    reached = 1 if not grouped else max_rows if query.max_groups is None else min(max_rows, query.max_groups)
    records = min(max_rows, reached) if apart else max_rows
    epsilon = rho = delta = Fraction(0)
    pure = True
    parts = list(plan.parts)
    if plan.selection is not None:
        lost = Fraction(reached) / plan.selection.noise.scale
        epsilon, rho = epsilon + lost, rho + lost * lost / 2
        scale = Decimal(plan.selection.noise.scale.numerator) / Decimal(plan.selection.noise.scale.denominator)
        q = (-1 / scale).exp()
        # A key of one unit alone has the count 1: it shows where the noise reaches the threshold less 1.
        delta = Fraction(reached * (q ** (plan.selection.threshold - 1)) / (1 + q))
        if plan.selection.whole:
            parts = []
    for part, noise in parts:
        released = part.released
        if isinstance(released, OrderChoice):
            assert isinstance(noise, Exponential)
            lost = noise.epsilon * max_rows / noise.records
            epsilon, rho = epsilon + lost, rho + lost * lost / 8
            continue
        if isinstance(released, SecondMoments):
            one = euclidean = Fraction(max_rows * corner(released.design))
        else:
            assert isinstance(released, CellTotals)
            one, square = records * largest(released.cells, 1), largest(released.cells, 2)
            euclidean = records * square if apart else records * records * square
            if released.row_limit is not None:
                limit = max_rows * max(abs(query.one_each.grid.first), abs(query.one_each.grid.last))
                assert released.row_limit * max_rows >= limit or one <= limit
                one, euclidean = min(one, limit), min(euclidean, limit * limit)
        if isinstance(noise, Gaussian):
            rho, pure = rho + Fraction(euclidean) / (2 * noise.variance), False
        else:
            assert isinstance(noise, Laplace)
            lost = Fraction(one) / noise.scale
            epsilon, rho = epsilon + lost, rho + lost * lost / 2
    return epsilon, rho, delta, pure


CLOSE = Fraction(1, 10**6)


def differs(spent, cost):  # noqa: PLR0911
    """What is wrong with a charge, given what the noises cost; None if nothing is."""
    epsilon, rho, delta, pure = spent
    if cost.pure and not pure:
        return "called pure, with Gaussian noise in it"
    if cost.pure and epsilon > cost.epsilon:
        return f"costs ε={epsilon}, charged {Fraction(cost.epsilon)}"
    if rho > cost.rho:
        return f"costs ρ={float(rho)}, charged {float(cost.rho)}"
    if delta > cost.delta:
        return f"costs δ={float(delta)}, charged {float(cost.delta)}"
    if bool(delta) != bool(cost.delta):
        return "δ is charged for nothing"
    if not pure and cost.epsilon * cost.epsilon / 2 < cost.rho:
        return "called by less ε than a Laplace mechanism of this ρ has"
    if cost.pure and epsilon < cost.epsilon * (1 - CLOSE) and rho < cost.rho * (1 - CLOSE):
        return f"more is charged than it costs: ε={float(epsilon)} of {float(cost.epsilon)}, ρ={float(rho)} of {float(cost.rho)}"
    return None


def asked(df, ask, price):
    """Ask; return whether it was answered, refused before the charge as what this session or query does not have."""
    before = len(df.dp.session._core.account.entries)
    try:
        ask(df.dp, **price)
    except ParameterError:
        assert len(df.dp.session._core.account.entries) == before, "refused, and charged"
        return False
    return True


def faults(df, names, prices, plans, max_rows):
    """Ask queries at prices; return what is wrong with their charges, and which were answered."""
    found, answered = [], set()
    for number, (name, price) in enumerate(itertools.product(names, prices)):
        if name.startswith("view") and price not in {"epsilon", "rho", "gaussian"}:
            continue  # what a view is asked is planned as what a frame is
        del plans[:]
        options = dict(PRICES[price])
        if "label" in options:
            options["label"] = f"question {number}"
        if asked(df, QUERIES[name], options):
            answered.add((name, price))
            ((query, plan),) = plans
            wrong = differs(spent_on(query, plan, max_rows), df.dp.session._core.account.entries[-1].cost)
            found += [] if wrong is None else [f"{name} at {price}: {wrong}"]
    return found, answered


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("session", SESSIONS)
def test_the_charge_is_what_the_noise_costs(session, unit, plans):
    """Of every query at every price, the noises' ε, ρ and δ add up to no more than was charged, and, where all are pure, to that."""
    df = begun(session, unit)
    max_rows = UNITS[unit].get("max_rows", 1)
    wrong, answered = faults(df, QUERIES, PRICES, plans, max_rows)
    assert wrong == []
    private = {name for name in QUERIES if name.startswith("private keys")}
    needs_unit = {name for name in QUERIES if "max_groups" in name} if unit == "rows" else set()
    for name in QUERIES:
        if name not in needs_unit and (name not in private or session == "approximate"):
            assert (name, "epsilon") in answered, f"{name} is not answered"
            assert (name, "the planned share") in answered or session == "concentrated" or name.startswith("view"), (
                f"{name} has no planned share"
            )
    if session != "pure":
        assert {("frame: mean", "rho"), ("frame: median", "rho"), ("groups: sum", "gaussian"), ("frame: describe", "rho")} <= answered
    else:
        assert {price for _, price in answered} == {"epsilon", "laplace", "within", "the planned share", "label"}


@pytest.mark.parametrize("unit", ["rows", "units of two rows"])
@pytest.mark.parametrize("session", SESSIONS)
def test_the_ledger_says_what_was_charged(session, unit, plans, tmp_path):
    """A ledger file, read by somebody else, has the cost of every charge exactly: ε, ρ, δ and whether it is pure; and the sums that follow from them."""
    file = tmp_path / "ledger.sqlite"
    df = begun(session, unit, file)
    names = [name for name in QUERIES if not name.startswith(("view", "series"))]
    wrong, answered = faults(df, names, ["epsilon", "rho"], plans, UNITS[unit].get("max_rows", 1))
    assert wrong == []
    assert len(answered) > len(names) / 2
    mine = df.dp.session._core.account
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pandas_dp.LargeBudgetWarning)
        read = Session.open(file)._core.account
    assert [entry.cost for entry in read.entries] == [entry.cost for entry in mine.entries]
    assert (read.spent, read.spent_delta, read.remaining) == (mine.spent, mine.spent_delta, mine.remaining)
    costs = [entry.cost for entry in read.entries]
    assert Fraction(read.spent_delta) == sum((Fraction(cost.delta) for cost in costs), Fraction(0))
    assert session != "approximate" or read.spent_delta > 0
    if session == "pure":
        assert Fraction(read.spent) == sum((Fraction(cost.epsilon) for cost in costs), Fraction(0))
    if session == "concentrated":
        assert Fraction(read.spent) == sum((Fraction(cost.rho) for cost in costs), Fraction(0))


NO_QUERIES = {"protect", "session", "preview", "groupby", "where", "assign", "select"}


def test_no_query_is_forgotten():
    """Every public method of what can be asked is a query of the table above, or known to be none: a new one cannot be forgotten."""
    tables = {
        pandas_dp.DataFrameDP: FRAME,
        pandas_dp.ViewDP: FRAME,
        pandas_dp.SeriesDP: SERIES,
        pandas_dp.GroupByDP: GROUPS,
    }
    for owner, queries in tables.items():
        methods = {name for name in dir(owner) if not name.startswith("_")} - NO_QUERIES
        assert {called(ask) for ask in queries.values()} == methods, owner.__name__


def called(ask):
    """The method that a question calls."""

    class Listener:
        def __getattr__(self, name):
            return lambda *_, **__: name

    return ask(Listener())


def altered(cost, **changes):
    fields = {"epsilon": cost.epsilon, "delta": cost.delta, "told": cost.told, "pure": cost.pure, **changes}
    return Cost(**fields)


def test_a_wrong_charge_is_a_difference(plans):
    """The twin: a charge that forgets δ, a part's ρ, the Gaussian, or a thousandth of ε, and a noise of a scale for one row less, differ."""
    df = begun("approximate", "units of two rows")
    ask = {
        "laplace": lambda: df.dp.mean("x", bounds=(-3, 9), epsilon=1),
        "gaussian": lambda: df.dp.sum("x", bounds=(-3, 9), rho="0.1"),
        "choices": lambda: df.dp.describe("x", bounds=(-3, 9), rho="0.1"),
        "keys": lambda: df.dp.groupby("h", keys="private").mean("x", bounds=(-3, 9), epsilon=1),
    }
    found = {}
    for name, query in ask.items():
        del plans[:]
        query()
        found[name] = (*plans[0], df.dp.session._core.account.entries[-1].cost)
    for query, plan, cost in found.values():
        assert differs(spent_on(query, plan, 2), cost) is None
        assert differs(spent_on(query, plan, 3), cost) is not None, "noise for two rows of a unit, where three count"
    query, plan, cost = found["laplace"]
    assert "costs ε" in differs(spent_on(query, plan, 2), altered(cost, epsilon=pandas_dp.Epsilon(Fraction(999, 1000))))
    query, plan, cost = found["gaussian"]
    assert "called pure" in differs(spent_on(query, plan, 2), altered(cost, pure=True))
    assert "costs ρ" in differs(spent_on(query, plan, 2), altered(cost, told=pandas_dp.Rho("0.0999")))
    query, plan, cost = found["choices"]
    assert "costs ρ" in differs(spent_on(query, plan, 2), altered(cost, told=pandas_dp.Rho("0.0999")))
    query, plan, cost = found["keys"]
    assert "costs δ" in differs(spent_on(query, plan, 2), altered(cost, delta=pandas_dp.Delta(0)))
    assert "costs ε" in differs(spent_on(query, plan, 2), altered(cost, epsilon=pandas_dp.Epsilon(Fraction(1, 2))))
