"""What sessions of every kind answered, added up by an account of its own from the noise that was drawn.

Random interleavings of real queries are asked until they are refused again and again.  What each answered query lost is then worked out by hand: how far one unit can move its totals is
written down with the question, the laws of the noise are those of the samplers that drew.  Nothing of this package's accounting, prices or plans takes part.

An interleaving is within (ε, δ) if either of two upper bounds says so: the plain sums, exactly, where nothing was Gaussian; or the privacy-loss distribution of all charges together, by
``dp_accounting``, with losses rounded up to multiples of 0.0005 (a pessimistic estimate, so that its δ is an upper bound and no tolerance is needed).  An ε-private release is dominated by randomized response
[1]_; Gaussians add up to one; a choice of bounded range by the worst pairs of such a range, at three places of the range [2]_.

.. [1] P. Kairouz, S. Oh, P. Viswanath. The composition theorem for differential privacy. ICML 2015.
.. [2] J. Dong, D. Durfee, R. Rogers. Optimal differential privacy composition for exponential mechanisms. ICML 2020.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce

import numpy as np
import pandas as pd
import pytest
from draws_support import Choice, Sampled, recorded
from ledger_support import folder  # noqa: F401  (a fixture)

from pandas_dp import BudgetExhausted, Epsilon, ParameterError, Rho, Session, composition
from pandas_dp.accounting import records, stores
from pandas_dp.accounting.account import Accountant
from pandas_dp.accounting.filters import ApproximateFilter, ConcentratedFilter, PureFilter
from pandas_dp.accounting.records import amended
from pandas_dp.accounting.stores import FileStore
from pandas_dp.release import plan
from pandas_dp.statistics.noise_laws import Exponential, Laplace

STEP = 5e-4
PLACES = (0.35, 0.5, 0.65)
WARDS = ["a", "b", "c"]
ROWS = 60
MOST = 2  # rows of a unit
LEAST = Fraction(1, 10**6)  # smaller rests are not asked for

# What is asked, and by how much a unit of `rows` rows moves the totals of each part that gets noise.


@dataclass(frozen=True)
class Question:
    """A query, and what is known of it by hand."""

    ask: object
    moves: object
    """Of the number of a unit's rows: for each part in order how far a unit moves it, in the sum of absolute values and in the squared Euclidean norm; None for a choice."""
    chosen: bool = False
    """Whether all parts are choices, whose mechanism is not named."""
    private: bool = False


def alone(height, *more):
    """One part that a row moves by ``height`` at most, all of it possibly in one cell; then others."""
    return lambda rows: [(rows * height, (rows * height) ** 2), *more]


X, Y = {"bounds": (0, 8)}, {"bounds": {"x": (0, 8), "y": (0, 5)}}


def by(dp, **options):
    return dp.groupby("ward", keys=WARDS, **options)


QUESTIONS = {
    "count": Question(lambda dp, p: dp.count(**p), alone(1)),
    "present": Question(lambda dp, p: dp.count("x", **p), alone(1)),
    "units": Question(lambda dp, p: dp.count(unique=True, **p), lambda rows: [(1, 1)]),
    "sum": Question(lambda dp, p: dp.sum("x", **X, **p), alone(8)),
    "mean": Question(lambda dp, p: dp.mean("x", **X, **p), alone(8)),
    "means": Question(lambda dp, p: dp.mean(["x", "y"], **Y, **p), lambda rows: [(8 * rows, 64 * rows**2), (5 * rows, 25 * rows**2)]),
    "std": Question(lambda dp, p: dp.std("x", **X, **p), alone(64)),
    "nunique": Question(lambda dp, p: dp.nunique("ward", keys=WARDS, **p), alone(1)),
    "sizes": Question(lambda dp, p: by(dp).size(**p), alone(1)),
    "units by group": Question(lambda dp, p: by(dp).count(unique=True, **p), lambda rows: [(rows, rows)]),
    "means by group": Question(lambda dp, p: by(dp).mean("x", **X, **p), alone(8)),
    "histogram": Question(lambda dp, p: dp.histogram("x", bins=[0, 2, 4, 8], **p), alone(1)),
    "median": Question(lambda dp, p: dp.median("x", **X, **p), lambda rows: [None], chosen=True),
    "quantiles": Question(lambda dp, p: dp.quantile("x", [0.1, 0.5, 0.9], **X, **p), lambda rows: [None], chosen=True),
    "max": Question(lambda dp, p: dp.max("x", **X, **p), lambda rows: [None], chosen=True),
    "medians by group": Question(lambda dp, p: by(dp).median("x", **X, **p), lambda rows: [None], chosen=True),
    "describe": Question(lambda dp, p: dp.describe("x", **X, **p), alone(64, None, None, None)),
    "mixed": Question(
        lambda dp, p: dp.agg({"x": ["mean", "median"], "y": ["sum", "max"]}, **Y, **p),
        lambda rows: [(8 * rows, 64 * rows**2), None, (5 * rows, 25 * rows**2), None],
    ),
    "mixed by group": Question(lambda dp, p: by(dp).agg({"x": ["count", "sum", "median"]}, **X, **p), alone(8, None)),
    "private sizes": Question(lambda dp, p: dp.groupby("ward", keys="private", **p.pop("key", {})).size(**p), alone(1), private=True),
    "private means": Question(
        lambda dp, p: dp.groupby("ward", keys="private", **p.pop("key", {})).mean("x", **X, **p), alone(8), private=True
    ),
}


# What was lost.


@dataclass(frozen=True)
class Lost:
    """What one part of an answer lost: ε where it has one, δ of keys, and ρ."""

    kind: str
    epsilon: Fraction | None
    rho: Fraction
    delta: float = 0.0


def losses(question, record, rows):
    """Return what an answer lost, by the samplers that drew its noise."""
    found, moves = [], iter(question.moves(rows))
    for drawn in record.drawn:
        if isinstance(drawn, Choice):
            assert next(moves) is None
            if drawn.calls:  # by group: a row is in one of them
                epsilon = max(one * rows / told for one, told, _ in drawn.calls)
                found.append(Lost("choice", epsilon, epsilon**2 / 8))
        elif drawn.keys:
            scale = Fraction(drawn.law.scale)
            q = math.exp(-1 / scale)
            delta = rows * q ** (record.threshold - 1) / (1 + q)
            found.append(Lost("pure", rows / scale, (rows / scale) ** 2 / 2, delta * (1 + 1e-9)))
            if record.plan.selection.whole:
                next(moves)
        elif isinstance(drawn.law, Laplace):
            epsilon = next(moves)[0] / Fraction(drawn.law.scale)
            found.append(Lost("pure", epsilon, epsilon**2 / 2))
        else:
            found.append(Lost("gaussian", None, next(moves)[1] / (2 * Fraction(drawn.law.variance))))
    assert next(moves, "no more") == "no more"
    return found


def composed(lost):
    """Return the privacy-loss distributions of everything together: one for each place of the worst pair in the range of choices."""
    from dp_accounting.pld import common, privacy_loss_distribution

    def together(parts):
        return reduce(lambda whole, part: whole.compose(part), parts)

    sure = []
    for (epsilon, delta), count in Counter((one.epsilon, one.delta) for one in lost if one.kind == "pure").items():
        parameters = common.DifferentialPrivacyParameters(float(epsilon), delta)
        sure.append(privacy_loss_distribution.from_privacy_parameters(parameters, value_discretization_interval=STEP).self_compose(count))
    rho = sum((one.rho for one in lost if one.kind == "gaussian"), Fraction(0))
    if rho:
        sure.append(_gaussian(rho))
    chosen = Counter(float(one.epsilon) for one in lost if one.kind == "choice")
    if not chosen:
        return [together(sure)]
    found = []
    for place in PLACES:
        pairs = []
        for epsilon, count in chosen.items():  # the two losses t and t - ε
            t = place * epsilon
            upper = (1 - math.exp(t - epsilon)) / (1 - math.exp(-epsilon))
            pair = [{0: math.log(share), 1: math.log1p(-share)} for share in (upper * math.exp(-t), upper)]
            one = privacy_loss_distribution.from_two_probability_mass_functions(*pair, value_discretization_interval=STEP, symmetric=False)
            pairs.append(one.self_compose(count))
        found.append(together([*([together(sure)] if sure else []), *pairs]))
    return found


@lru_cache(maxsize=64)
def _gaussian(rho):
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution.from_gaussian_mechanism(1 / math.sqrt(2 * rho), value_discretization_interval=STEP)


def delta_at(lost, epsilons):
    """Return δ at each ε, for the worst of the places."""
    return np.max([one.get_delta_for_epsilon(epsilons) for one in composed(lost)], axis=0)


def converted(rho, epsilon):
    """Return a δ of ρ-zCDP at ε, by any orders α: every one gives a true bound [Canonne, Kamath, Steinke 2020, corollary 13]."""
    orders = 1 + np.exp(np.linspace(-5, 8, 4000))
    logs = (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
    return math.exp(min(logs.min(), 0.0))


def complaints(lost, budget, delta):
    """Return what is over a budget: of ε without or with δ, or of ρ."""
    if not lost:
        return []
    if isinstance(budget, Rho):
        rho = sum(one.rho for one in lost)
        found = [] if rho <= budget else [f"ρ {float(rho)} of {budget}"]
        epsilons = [3 * math.sqrt(budget), 6 * math.sqrt(budget), 9 * math.sqrt(budget)]
        allowed = [converted(float(budget), epsilon) for epsilon in epsilons]
        return found + [
            f"δ {have} of {most} at ε {epsilon}"
            for have, most, epsilon in zip(delta_at(lost, epsilons), allowed, epsilons, strict=True)
            if have > most
        ]
    sure = all(one.epsilon is not None for one in lost)
    epsilon, deltas = sum(one.epsilon or 0 for one in lost), math.fsum(one.delta for one in lost)
    if sure and epsilon <= budget and deltas <= delta:
        return []
    if not delta:
        return [f"ε {float(epsilon)} of {budget}"]
    have = delta_at(lost, [float(budget)])[0]
    return [f"δ {have} of {delta} at ε {budget}"] if have > delta else []


# Interleavings.


@dataclass
class Log:
    """What happened to a session."""

    lost: list = field(default_factory=list)
    answered: int = 0
    refused: int = 0
    asked: set = field(default_factory=set)
    acts: Counter = field(default_factory=Counter)
    complaints: list = field(default_factory=list)


def people():
    return pd.DataFrame(
        {"who": np.arange(ROWS) // MOST, "x": np.arange(ROWS) % 9, "y": np.arange(ROWS) % 6, "ward": np.resize(WARDS, ROWS)}
    )


BUDGETS = {"pure": {"epsilon": 1}, "approximate": {"epsilon": 1, "delta": 1e-6}, "concentrated": {"rho": "0.05"}}


class Interleaving:
    """Asks a session of a kind, chosen by a seed, until it refuses again and again."""

    def __init__(self, kind, seed, seen, path=None):
        self.kind, self.seen, self.path = kind, seen, path
        self.generator = np.random.default_rng(seed)
        self.units = bool(self.generator.integers(2))
        # One seed asks for large answers, another for small ones; for Gaussian noise never, sometimes or nearly always.
        self.size = self.generator.choice([0.2, 0.8, 3.0] if kind == "approximate" else [0.2, 0.6, 1.6])
        self.gaussian = self.generator.choice([0.1, 0.5, 0.9])
        self.handles, self.log = [], Log()
        self.names = [name for name in QUESTIONS if kind == "approximate" or not QUESTIONS[name].private]

    def protect(self, session=None):
        unit = {"unit": "who", "max_rows": MOST} if self.units else {}
        if session is None and self.path is None:
            return people().dp.protect(**BUDGETS[self.kind], **unit)
        return (Session(**BUDGETS[self.kind], ledger=self.path) if session is None else session).protect(people(), **unit)

    def run(self, acts=400, refusals=25):
        """Return the log."""
        self.handles = [self.protect()]
        if self.path is not None:
            self.handles.append(self.protect())
        in_a_row = 0
        for _ in range(acts):
            before = self.log.answered
            if self.act():
                in_a_row = 0 if self.log.answered > before else in_a_row + 1
            if in_a_row >= refusals or self.log.complaints:
                break
        self.check()
        for frame in self.handles:
            frame.dp.session.close()
        return self.log

    def check(self):
        session = self.handles[0].dp.session
        self.log.complaints += complaints(self.log.lost, session.budget, session.delta)

    def act(self):
        """Do one thing, and return whether that was to ask."""
        kinds = ["ask", "rest", "share", "block"] + (["restart", "amend"] if self.path is not None else [])
        kind = self.generator.choice(kinds, p=[0.82, 0.04, 0.06, 0.08] if self.path is None else [0.7, 0.04, 0.06, 0.08, 0.09, 0.03])
        self.log.acts[str(kind)] += 1
        if kind == "restart":
            for frame in self.handles:
                frame.dp.session.close()
            self.handles = [self.protect(Session.open(self.path)) for _ in range(2)]
            return False
        if kind == "amend":
            return self.amend()
        frame = self.handles[self.generator.integers(len(self.handles))]
        if kind == "block":
            return self.block(frame)
        amount = None
        session = frame.dp.session
        if kind == "rest":
            amount = session.remaining
        elif kind == "share":
            amount = session.split([int(weight) for weight in self.generator.integers(1, 4, size=3)])[0]
        self.ask(frame, amount)
        return True

    def amend(self):
        self.check()  # by the budget until now
        session = self.handles[0].dp.session
        factor = Fraction(int(self.generator.integers(6, 14)), 10)
        amount = {"rho" if self.kind == "concentrated" else "epsilon": Fraction(session.budget) * factor}
        if self.kind == "approximate":
            amount["delta"] = Fraction(session.delta) * factor
        before = session.budget, session.delta
        try:
            session.amend(**amount, reason="the owners decided")
        except ParameterError:  # less than was spent
            assert factor < 1
            assert (session.budget, session.delta) == before
        return False

    def block(self, frame):
        session = frame.dp.session
        unit = "rho" if self.kind == "concentrated" else "epsilon"
        amount = Fraction(session.budget) * int(self.generator.integers(1, 4)) / 10
        try:
            with session.allocate(**{unit: amount}):
                before = sum(one.rho if unit == "rho" else one.epsilon or 0 for one in self.log.lost)
                for _ in range(int(self.generator.integers(1, 5))):
                    self.ask(frame)
                after = sum(one.rho if unit == "rho" else one.epsilon or 0 for one in self.log.lost)
                if after - before > amount:
                    self.log.complaints.append(f"{after - before} in a block of {amount}")
        except BudgetExhausted:
            self.log.refused += 1
        return True

    def ask(self, frame, amount=None):
        """Ask one question at one price."""
        name = self.names[self.generator.integers(len(self.names))]
        question = QUESTIONS[name]
        price = self.price(question, amount)
        if price is None:
            return
        if question.private:
            delta = Fraction(int(self.generator.integers(1, 20)), 10**8)
            price["key"] = {"delta": delta}
        try:
            question.ask(frame.dp, price)
        except BudgetExhausted:
            self.log.refused += 1
            return
        self.log.answered += 1
        self.log.asked.add(name)
        lost = losses(question, self.seen[-1], MOST if self.units else 1)
        if question.private and math.fsum(one.delta for one in lost) > delta * (1 + Fraction(1, 10**6)):
            self.log.complaints.append(f"keys of δ {delta} show with more")
        self.log.lost += lost

    def price(self, question, amount):
        """Return a price of the kinds that a session and a question know."""
        gaussian = self.kind != "pure" and not question.private and self.generator.random() < self.gaussian
        number = Fraction(str(round(float(self.generator.choice([0.02, 0.05, 0.1, 0.3]) * self.size), 4)))
        if isinstance(amount, Rho) or (gaussian and amount is None and self.generator.random() < 0.5):
            rho = amount if isinstance(amount, Rho) else number**2 / 2
            if rho < LEAST:
                return None
            return {"rho": rho} | ({} if question.chosen or gaussian else {"mechanism": "laplace"})
        epsilon = number if amount is None else amount
        if epsilon < LEAST:
            return None
        mechanism = {} if question.chosen or self.kind == "pure" else {"mechanism": "gaussian" if gaussian else "laplace"}
        return {"epsilon": epsilon} | mechanism


# (place, kind): how many interleavings.
SEEDS = {
    ("memory", "pure"): 8,
    ("memory", "approximate"): 12,
    ("memory", "concentrated"): 5,
    ("file", "pure"): 5,
    ("file", "approximate"): 6,
    ("file", "concentrated"): 3,
}


def interleaved(kind, path, seen, seed, acts=400):
    """Return the log of one interleaving."""
    seen.clear()
    return Interleaving(kind, seed, seen, path).run(acts)


@pytest.mark.parametrize(("place", "kind"), SEEDS)
def test_interleavings(kind, place, folder, monkeypatch):  # noqa: F811
    """Seeds 0 to 11 at most: whatever is asked in whatever order, BudgetExhausted is all that refuses, and what was answered is within the budget by the account of this file.

    It would catch a line of filters, accounts, prices, plans or ledger that charges less than the noise costs, where orders, blocks, restarts, two handles or amendments matter.  Nothing that
    decides here is random but the seeds: what is asked does not depend on answers.
    """
    paths = [None if place == "memory" else folder / f"{seed}.sqlite" for seed in range(SEEDS[place, kind])]
    with recorded(monkeypatch) as seen:
        logs = [interleaved(kind, paths[seed], seen, seed) for seed in range(SEEDS[place, kind])]
    assert [log.complaints for log in logs] == [[] for _ in logs]
    assert all(log.answered and log.refused >= 10 for log in logs)
    assert sum(log.answered for log in logs) >= 40
    assert {act for log in logs for act in log.acts} == {"ask", "rest", "share", "block"} | (
        {"restart", "amend"} if place == "file" else set()
    )
    asked = set().union(*(log.asked for log in logs))
    assert len(asked) >= 15
    if kind == "approximate":
        assert {"private sizes", "private means"} <= asked


def _without_history(rule, sums, cost, aside):
    fits = (cost.pure and sums.epsilon + cost.epsilon <= rule._limit) or sums.rho + cost.rho <= rule._most()
    return rule.plus(sums, cost) if fits else None


def _without_this(rule, sums, cost, aside):
    fits = (sums.pure and sums.epsilon + cost.epsilon <= rule._limit) or sums.rho + cost.rho <= rule._most()
    return rule.plus(sums, cost) if fits else None


def _without_rho(rule, sums, cost):
    return sums._replace(epsilon=sums.epsilon + cost.epsilon, delta=sums.delta + cost.delta, pure=sums.pure and cost.pure)


def _but_the_last(rule, sums, cost, aside):
    return rule.plus(sums, cost) if sums.epsilon < rule._limit else None


def _as_if_all_were_chosen(rule, cost):
    return Fraction(cost.rho) / 4


def _only_gaussians(rule, sums, cost):
    return sums._replace(rho=sums.rho + (0 if cost.pure else cost.rho))


def _choices_undivided(original):
    def parts(query, epsilon, rho, max_rows):
        found = original(query, epsilon, rho, max_rows)
        if rho is None:
            return found
        return [(part, Exponential(plan.root_down(8 * rho), max_rows) if isinstance(law, Exponential) else law) for part, law in found]

    return parts


def _forgetting(original):
    def read(store, state, records, mark):
        found = original(store, state, records, mark)
        return found if state.entries else found._replace(sums=found.rule.start())

    return read


def _unchecked(account, budget, delta, reason):
    state = account.state
    account._store.amend(account, lambda: amended(len(state.entries) + 1, (state.rule.budget, state.rule.delta), (budget, delta), reason))


TWINS = {
    "earlier Gaussians are forgotten where the sum is asked": (
        "approximate",
        "memory",
        ApproximateFilter,
        "admitted",
        lambda _: _without_history,
    ),
    "a Gaussian is let pass by the sum": ("approximate", "memory", ApproximateFilter, "admitted", lambda _: _without_this),
    "no ρ is counted": ("approximate", "memory", ApproximateFilter, "plus", lambda _: _without_rho),
    "the last charge is not compared": ("pure", "memory", PureFilter, "admitted", lambda _: _but_the_last),
    "every charge costs what a choice does": ("concentrated", "memory", ConcentratedFilter, "price", lambda _: _as_if_all_were_chosen),
    "only Gaussians are added up": ("concentrated", "memory", ConcentratedFilter, "plus", lambda _: _only_gaussians),
    "each choice gets the ρ of the whole query": ("concentrated", "memory", plan, "_parts", _choices_undivided),
    "a restart forgets": ("pure", "file", FileStore, "read", _forgetting),
    "a restart forgets, with δ": ("approximate", "file", FileStore, "read", _forgetting),
    "a budget is amended below what was spent": ("pure", "file", Accountant, "amend", lambda _: _unchecked),
}


@pytest.mark.parametrize("twin", TWINS)
def test_twins_are_caught(twin, folder, monkeypatch):  # noqa: F811
    """The twins: an account with this line wrong is found to be over its budget by one of the interleavings of seeds 0 to 19, stopped after 120 acts, as one that never refuses must be."""
    kind, place, owner, name, make = TWINS[twin]
    paths = [None if place == "memory" else folder / f"{seed}.sqlite" for seed in range(20)]
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    with recorded(monkeypatch) as seen:
        assert any(interleaved(kind, paths[seed], seen, seed, 120).complaints for seed in range(20))


# Orders, one by one.

GAUSSIAN, LAPLACE = {"mechanism": "gaussian"}, {"mechanism": "laplace"}
ORDERS = {
    "a Gaussian, then Laplace noise that fits the sum": [({"epsilon": "0.15", **GAUSSIAN}, True), ({"epsilon": "0.8", **LAPLACE}, False)],
    "Laplace noise, then a Gaussian that fits the sum": [({"epsilon": "0.8", **LAPLACE}, True), ({"epsilon": "0.15", **GAUSSIAN}, False)],
    "a first Gaussian above the conversion": [({"epsilon": "0.9", **GAUSSIAN}, False)],
    "a first Gaussian by ρ above the conversion": [({"rho": "0.023"}, False)],
    "a first Gaussian by ρ below the conversion": [({"rho": "0.0228"}, True)],
}


@pytest.mark.parametrize("place", ["memory", "file", "file, restarted"])
@pytest.mark.parametrize("order", ORDERS)
def test_orders(order, place, folder, monkeypatch):  # noqa: F811
    """With ε = 1 and δ = 10^-6: Gaussian noise is never let pass by the plain sum, in whatever order; and what is refused would have been over the budget by the account of this file.

    It would catch "all so far had an ε" or "this one has an ε" missing in the filter, or lost in the file.
    """
    session = Session(epsilon=1, delta=1e-6, ledger=None if place == "memory" else folder / "orders.sqlite")
    with recorded(monkeypatch) as seen:
        frame, lost = session.protect(people()), []
        for price, answered in ORDERS[order]:
            if place == "file, restarted":
                session.close()
                frame = Session.open(folder / "orders.sqlite").protect(people())
            if answered:
                frame.dp.count(**price)
                lost += losses(QUESTIONS["count"], seen[-1], 1)
                assert complaints(lost, Epsilon(1), 1e-6) == []
            else:
                with pytest.raises(BudgetExhausted):
                    frame.dp.count(**price)
                refused = seen[-1]
                ((_, law),) = refused.plan.parts
                refused.drawn.append(Sampled(law, keys=False))  # as if it had drawn
                if order != "a first Gaussian by ρ above the conversion":  # which is not tight
                    assert complaints(lost + losses(QUESTIONS["count"], refused, 1), Epsilon(1), 1e-6)


def _asked_for_keys(path, monkeypatch, most):
    """Ask for private keys in a file, restarting before each, until refused; return what was lost, and what was refused."""
    lost, refused = [], []
    Session(epsilon=1, delta=1e-6, ledger=path).close()
    with recorded(monkeypatch) as seen:
        while len(lost) < 2 * most:
            session = Session.open(path)
            frame = session.protect(people())
            try:
                frame.dp.groupby("ward", keys="private", delta=1e-7).mean("x", **X, epsilon=0.01)
            except BudgetExhausted as refusal:
                refused.append(refusal.requested)
                break
            finally:
                session.close()
            lost += losses(QUESTIONS["private means"], seen[-1], 1)
        by(Session.open(path).protect(people()).dp).size(epsilon=0.01)  # public keys are answered still
    return lost, refused


def test_delta_runs_out(folder, monkeypatch):  # noqa: F811
    """In a file that is opened anew for each query, private keys of δ = 10^-7 are answered five times, which is half of the session's 10^-6, and then no more; what they lost of δ by the noise and the threshold is at most that."""
    lost, refused = _asked_for_keys(folder / "keys.sqlite", monkeypatch, 30)
    assert refused == [Fraction(1, 10**7)], "the refusal is about δ"
    deltas = [one.delta for one in lost if one.delta]
    assert len(deltas) == 5
    assert math.fsum(deltas) <= 5e-7
    assert complaints(lost, Epsilon(1), 1e-6) == []


def test_a_ledger_that_forgets_delta_is_caught(folder, monkeypatch):  # noqa: F811
    """The twin: a file in which no δ is written answers until this account is over its δ."""
    monkeypatch.setattr(stores, "body_of", lambda entry: {**records.body_of(entry), "delta": "0/1"})
    lost, _ = _asked_for_keys(folder / "keys.sqlite", monkeypatch, 30)
    assert complaints(lost, Epsilon(1), 1e-6)


# The account of this file itself.


def test_the_account_is_an_upper_bound_and_close():
    """By formulas: fifty randomized responses, Gaussians one by one and together, and choices, whose worst pair in the middle of the range is randomized response at half of ε.

    It would catch a distribution of another mechanism, and rounding to the wrong side or by too much.
    """
    half = Fraction(1, 2)
    fifty = [Lost("pure", Fraction(1, 10), Fraction(1, 200))] * 50
    exact = composition.optimal_delta("0.1", 50, 2)
    assert exact <= delta_at(fifty, [2.0])[0] <= exact * 1.1
    gaussians = [Lost("gaussian", None, Fraction(1, 100))] * 2 + [Lost("gaussian", None, Fraction(3, 100))]
    exact = composition.gaussian_delta(1 / math.sqrt(2 * 0.05), 1, 1)
    assert exact * (1 - 1e-9) <= delta_at(gaussians, [1.0])[0] <= exact * 1.01
    choices = [Lost("choice", half, half**2 / 8)] * 40
    exact = composition.optimal_delta("1/4", 40, 3)
    assert exact <= delta_at(choices, [3.0])[0] <= 4 * exact, "and elsewhere in the range it may be a little worse"
    with_keys = [Lost("pure", half, half**2 / 2, 1e-7)] * 3
    assert 3e-7 * (1 - 1e-6) <= delta_at(with_keys, [1.6])[0] <= 3e-7 * (1 + 1e-6)
    assert converted(0.5, composition.zcdp_to_approx(0.5, 1e-6)) == pytest.approx(1e-6, rel=1e-4)
