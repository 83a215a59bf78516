"""Every kind of budget: (ε, δ) and ρ, Gaussian noise, prices by accuracy, blocks, previews in a table, the odometer."""

from __future__ import annotations

import itertools
import math
import threading
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from support import protect, silent_noise, upper_bound

import pandas_dp
from pandas_dp import BudgetExhausted, CallError, Delta, Epsilon, ParameterError, ParameterTypeError, Rho, composition
from pandas_dp.accounting import Accountant, ApproximateFilter, ConcentratedFilter, Cost, PureFilter
from pandas_dp.cells.cells import mean_cells, rows, signed_sum, spread_cells, squared_sensitivity
from pandas_dp.domains.domain import IntGrid
from pandas_dp.quantities.rounding import root_down, root_up, rounded_down, rounded_up
from pandas_dp.release import noisy
from pandas_dp.statistics.noise_laws import Gaussian, Laplace
from pandas_dp.testing import check_accountant

ENTRY = {"frame": "f", "query": "q", "mechanism": "m", "scale": 1.0, "margin": 1.0, "private": True}
DELTA = Delta("1e-6")


def frame(rows=1000, **options):
    return pd.DataFrame({"x": np.arange(rows) % 10, "g": ["a", "b"] * (rows // 2)}).dp.protect(**options)


def fill(account, cost):
    """Charge until it refuses; return how often it was accepted."""
    for count in itertools.count():
        try:
            account.charge(cost, **ENTRY)
        except BudgetExhausted:
            return count
    raise AssertionError


# Accountants: a conformance suite against exact composition.

ACCOUNTS = {
    "pure": lambda: Accountant(PureFilter(Epsilon(1))),
    "approximate": lambda: Accountant(ApproximateFilter(Epsilon(1), DELTA)),
    "concentrated": lambda: Accountant(ConcentratedFilter(Rho("0.02"))),
}


@pytest.mark.parametrize("name", ACCOUNTS)
@pytest.mark.parametrize("epsilon", ["1", "0.3", "0.1", "0.03", "0.01", "1/7"])
def test_accountants_never_under_report(name, epsilon):
    """Filled with equal Laplace queries, what was accepted is (1, 1e-6)-private, or ρ-concentrated, by the exact optimal composition (Kairouz-Oh-Viswanath)."""
    account = ACCOUNTS[name]()
    exact = Epsilon(epsilon)
    count = fill(account, Cost.laplace(exact))
    if name == "concentrated":
        assert count == math.floor(Fraction(2, 100) / (Fraction(exact) ** 2 / 2))
        assert composition.optimal_delta(exact, max(count, 1), composition.zcdp_to_approx("0.02", DELTA)) <= 1e-6 or count == 0
        return
    assert count >= math.floor(1 / Fraction(exact)), "no worse than the plain sum"
    assert composition.optimal_delta(exact, count, 1) <= 1e-6
    if name == "pure":
        assert count == math.floor(1 / Fraction(exact))


@pytest.mark.parametrize("name", ACCOUNTS)
def test_accountants_conform(name):
    """Every account passes the conformance suite at what it promises; a concentrated one at what its ρ converts to."""
    epsilon = composition.zcdp_to_approx("0.02", DELTA) if name == "concentrated" else 1
    check_accountant(ACCOUNTS[name], epsilon, 0 if name == "pure" else 1e-6)


def test_conformance_rejects():
    """The twin: an account of twice the budget, and one whose δ is a thousand times larger, are caught."""
    with pytest.raises(AssertionError, match="accepted"):
        check_accountant(lambda: Accountant(PureFilter(Epsilon(2))), 1, 0)
    with pytest.raises(AssertionError, match="accepted"):
        check_accountant(lambda: Accountant(ApproximateFilter(Epsilon(1), Delta("1e-2"))), 1, 1e-6)


def test_small_queries_last_longer_with_delta():
    """At ε = 1, δ = 1e-6 more than 350 queries of ε = 0.01 are answered instead of 100; without δ exactly 100."""
    assert fill(ACCOUNTS["approximate"](), Cost.laplace(Epsilon("0.01"))) > 350
    assert fill(ACCOUNTS["pure"](), Cost.laplace(Epsilon("0.01"))) == 100


@pytest.mark.parametrize("wrong", ["half the ρ", "a quarter more of δ"])
def test_the_conformance_check_catches_a_lax_account(wrong):
    """The twin: an account that charges half the ρ, or whose plain sum runs a fifth over, is caught by exact composition."""
    account = ACCOUNTS["approximate"]()
    exact = Epsilon("0.03")
    cost = Cost(exact, Delta(0), Rho(Fraction(exact) ** 2 / (8 if wrong == "half the ρ" else 6)))
    count = fill(account, cost)
    assert composition.optimal_delta(exact, count, 1) > 1e-6


def test_mixed_charges_fit_by_dp_accounting():
    """Random mixtures of Laplace prices that were accepted have at most ε = 1 at δ = 1e-6 by Google's privacy-loss distributions (20 sequences)."""
    from dp_accounting.pld import common, privacy_loss_distribution

    generator = np.random.default_rng(1)
    for _ in range(20):
        account = ACCOUNTS["approximate"]()
        while True:
            price = Epsilon(str(float(generator.choice([0.2, 0.07, 0.03, 0.015]))))
            try:
                account.charge(Cost.laplace(price), **ENTRY)
            except BudgetExhausted:
                break
        whole = None
        for entry in account.entries:
            one = privacy_loss_distribution.from_privacy_parameters(
                common.DifferentialPrivacyParameters(float(entry.epsilon), 0.0), value_discretization_interval=1e-3
            )
            whole = one if whole is None else whole.compose(one)
        assert whole.get_epsilon_for_delta(1e-6) <= 1 + 1e-3


def test_gaussians_fit():
    """Filled with Gaussians of ρ = 0.001, the accepted ones are (1, 1e-6)-private by the exact curve of one Gaussian of their sum; the next would be too many for the conversion."""
    account = ACCOUNTS["approximate"]()
    rho = Rho("0.001")
    count = fill(account, Cost.gaussian(rho, Epsilon("0.05")))
    assert composition.gaussian_delta(1 / math.sqrt(2 * float(rho) * count), 1, 1) <= 1e-6
    half = Delta(DELTA / 2)
    assert composition.zcdp_to_approx(count * Fraction(rho), half) <= 1 < composition.zcdp_to_approx((count + 1) * Fraction(rho), half)
    assert not account.state.sums.pure
    with pytest.raises(BudgetExhausted):
        account.charge(Cost.laplace(Epsilon("0.5")), **ENTRY)


def test_keys_have_a_half_of_delta_of_their_own():
    """Half of δ is for keys and half for the conversion, from the beginning: what keys take changes nothing about other queries, and they get no more than their half.

    Taken off the conversion's δ as one goes, two branches of one adaptive process could each use nearly all of it: a Gaussian near the limit, then by its
    answer either another Gaussian or a key.  The sum over branches was 1.2 δ.
    """
    plain, taken = ACCOUNTS["approximate"](), ACCOUNTS["approximate"]()
    taken.charge(Cost(Epsilon("0.000001"), Delta("5e-7"), Rho(Fraction(1, 10**15))), **ENTRY)
    assert taken.remaining_delta == 0
    assert fill(taken, Cost.laplace(Epsilon("0.01"))) == fill(plain, Cost.laplace(Epsilon("0.01")))
    with pytest.raises(BudgetExhausted, match="δ="):
        ACCOUNTS["approximate"]().charge(Cost.laplace(Epsilon("0.5"), Delta("6e-7")), **ENTRY)
    full = ACCOUNTS["approximate"]()
    assert full.after(Cost.laplace(Epsilon("0.1"), Delta("6e-7"))) < 0


def test_the_branching_process_that_was_found():
    """ρ = 0.017, then by the answer ρ = 0.00735 or a key at 0.99 δ: neither second query is accepted any more."""
    account = ACCOUNTS["approximate"]()
    account.charge(Cost.gaussian(Rho("0.0170"), Epsilon("0.2")), **ENTRY)
    with pytest.raises(BudgetExhausted):
        account.charge(Cost.gaussian(Rho("0.00735"), Epsilon("0.2")), **ENTRY)
    with pytest.raises(BudgetExhausted):
        account.charge(Cost.laplace(Epsilon("0.001"), Delta("9.9e-7")), **ENTRY)


@pytest.mark.parametrize("name", ACCOUNTS)
def test_what_remains_can_be_spent(name):
    """remaining is the most that one query may ask for: exactly that is accepted, and a little more is not."""
    for spent in ("0", "0.001", "0.01", "0.1"):
        for more in (0, 1):
            account = ACCOUNTS[name]()
            if spent != "0":
                account.charge(Cost.laplace(Epsilon(spent)), **ENTRY)
            rest = Fraction(account.remaining) * (1 + Fraction(more, 10**6))
            cost = Cost.gaussian(Rho(rest), Epsilon(root_up(2 * rest))) if name == "concentrated" else Cost.laplace(Epsilon(rest))
            if more:
                with pytest.raises(BudgetExhausted):
                    account.charge(cost, **ENTRY)
            else:
                assert account.after(cost) >= 0
                account.charge(cost, **ENTRY)


def test_rounding_is_to_the_safe_side():
    """Roots and conversions are short decimals on the side that is safe, to nine digits."""
    generator = np.random.default_rng(2)
    for _ in range(500):
        number = Fraction(int(generator.integers(1, 10**9)), int(generator.integers(1, 10**9)))
        assert root_down(number) ** 2 <= number <= root_up(number) ** 2
        assert rounded_down(number) <= number <= rounded_up(number)
        assert rounded_up(number) - rounded_down(number) <= number / 10**7
        assert root_up(number) - root_down(number) <= root_up(number) / 10**7
    assert root_down(Fraction(0)) == root_up(Fraction(0)) == 0
    assert root_up(Fraction(4)) == root_down(Fraction(4)) == 2


def test_threads_race_for_a_concentrated_budget():
    """Eight threads that race for ρ accept exactly as many charges as fit."""
    account = Accountant(ConcentratedFilter(Rho("0.1")))
    accepted = []

    def race():
        accepted.append(fill(account, Cost.gaussian(Rho("0.001"), Epsilon("0.05"))))

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(accepted) == 100
    assert account.spent == Fraction(1, 10)


# Sessions and queries.


def test_sessions_of_every_kind():
    """epsilon; epsilon and delta; rho: budgets print as typed, and only one of epsilon and rho is taken."""
    assert repr(pandas_dp.Session(epsilon=1)) == "<Session: ε=1 of ε=1 left>"
    assert repr(pandas_dp.Session(epsilon=1, delta=1e-6)) == "<Session: ε=1 of ε=1 left, δ=1e-06>"
    assert repr(pandas_dp.Session(rho=0.1)) == "<Session: ρ=0.1 of ρ=0.1 left>"
    for wrong in ({}, {"epsilon": 1, "rho": 1}, {"rho": 1, "delta": 1e-6}, {"rho": 0}, {"rho": "x"}):
        with pytest.raises(ParameterError):
            pandas_dp.Session(**wrong)
    df = frame(rho=0.1, name="concentrated")
    df.dp.count(rho=0.04)
    again = frame(rho="0.1", name="concentrated")
    assert again.dp.session.remaining == Fraction(6, 100)
    with pytest.raises(pandas_dp.SessionConflict, match="rho"):
        frame(rho=0.2, name="concentrated")


PRICES = {
    "Laplace by ε": ({"epsilon": "0.1"}, "discrete Laplace", 10.0, Fraction(1, 200)),
    "Gaussian by ρ": ({"rho": "0.005"}, "discrete Gaussian", 10.0, Fraction(1, 200)),
    "Gaussian by ε": ({"epsilon": "0.1", "mechanism": "gaussian"}, "discrete Gaussian", 10.0, Fraction(1, 200)),
    "Laplace by ρ": ({"rho": "0.005", "mechanism": "laplace"}, "discrete Laplace", 10.0, Fraction(1, 200)),
}


@pytest.mark.parametrize("name", PRICES)
@pytest.mark.parametrize("budget", [{"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}], ids=["approximate", "concentrated"])
def test_prices(name, budget):
    """Every price and mechanism: the scale is the sensitivity over ε, or the deviation 1/√(2ρ); Laplace at ε costs ρ = ε²/2, as the Gaussian that is called by the same ε."""
    price, mechanism, size, rho = PRICES[name]
    df = frame(**budget)
    answer = df.dp.count(**price)
    entry = df.dp.session.ledger.iloc[-1]
    assert (entry["mechanism"], entry["rho"]) == (mechanism, rho)
    assert entry["scale"] == pytest.approx(size)
    assert entry["margin"] == answer.half_width() == (30 if "Laplace" in mechanism else 20)
    assert abs(answer - 1000) < 300


def test_gaussian_only_where_it_is_accounted_for():
    """A session of pure differential privacy refuses ρ and the Gaussian mechanism, with what to do."""
    df = frame(epsilon=1)
    for price in ({"rho": 0.1}, {"epsilon": 0.1, "mechanism": "gaussian"}, {"rho": 0.1, "mechanism": "laplace"}):
        with pytest.raises(ParameterError, match=r"protect\(rho=\.\.\.\)"):
            df.dp.count(**price)
    assert df.dp.count(epsilon=0.5, mechanism="laplace") > 900
    with pytest.raises(ParameterError, match="Laplace"):
        frame(epsilon=1, delta=1e-6).dp.groupby("g", keys="private").size(rho=0.01)


WRONG = [
    ({"epsilon": 1, "rho": 1}, ParameterError),
    ({"epsilon": 1, "within": 5}, ParameterError),
    ({"mechanism": "cauchy", "epsilon": 1}, ParameterError),
    ({"epsilon": 1, "colour": 2}, CallError),
    ({"within": "wide"}, ParameterTypeError),
    ({"within": True}, ParameterTypeError),
    ({"within": -1}, ParameterError),
    ({"within": math.nan}, ParameterError),
    ({"within": 5, "level": 1}, ParameterError),
    ({"rho": [1]}, ParameterTypeError),
    ({}, ParameterError),
]


@pytest.mark.parametrize(("price", "error"), WRONG, ids=str)
def test_wrong_prices(price, error):
    """What is no price is refused before the charge, by queries, groups, tables, Series and previews alike."""
    df = frame(epsilon=1, delta=1e-6)
    for ask in (
        df.dp.count,
        df["x"].dp.count,
        df.dp.groupby("g", keys=["a", "b"]).size,
        lambda **options: df.dp.value_counts("g", keys=["a", "b"], **options),
        df.dp.preview.count,
    ):
        with pytest.raises(error):
            ask(**price)
    assert df.dp.session.spent == 0


def test_equal_shares():
    """queries=N gives each query its share: with δ what lets all N be asked, more than ε/N if N is large; in ρ exactly ρ/N."""
    few, many, concentrated = frame(epsilon=1, delta=1e-6, queries=2), frame(epsilon=1, delta=1e-6, queries=200), frame(rho=0.1, queries=4)
    few.dp.count()
    assert few.dp.session.ledger["epsilon"].iloc[-1] == Fraction(1, 2)
    for _ in range(200):
        many.dp.count()
    assert many.dp.session.ledger["epsilon"].iloc[-1] > Fraction(1, 200)
    concentrated.dp.count()
    assert concentrated.dp.session.remaining == Fraction(75, 1000)
    assert concentrated.dp.session.ledger["mechanism"].iloc[-1] == "discrete Gaussian"


def test_split():
    """Shares are exact in pure and concentrated sessions; with δ as large as all of them still fit, whatever their weights."""
    assert frame(rho=0.1).dp.session.split([2, 1, 1]) == (Fraction(5, 100), Fraction(25, 1000), Fraction(25, 1000))
    df = frame(epsilon=1, delta=1e-6)
    assert df.dp.session.split(2) == (Fraction(1, 2), Fraction(1, 2))
    shares = df.dp.session.split([1] * 100 + [3])
    assert shares[0] > Fraction(1, 103)
    assert shares[-1] == 3 * shares[0]
    for share in shares:
        df.dp.count(epsilon=share)


# Blocks.


def test_a_block_limits_and_gives_back():
    """allocate() limits what the block may spend, in nested blocks too, and gives back what is left; an error inside gives it back as well."""
    df = frame(epsilon=1)
    session = df.dp.session
    with session.allocate(epsilon=0.3) as same:
        assert same is session
        assert session.remaining == Fraction(3, 10)
        df.dp.count(epsilon=0.1)
        with session.allocate(epsilon=0.15):
            with pytest.raises(BudgetExhausted, match=r"ε=0\.15 of the allocated ε=0\.15 is left"):
                df.dp.count(epsilon=0.2)
            df.dp.count(epsilon=0.1)
        assert session.remaining == Fraction(1, 10)
        with pytest.raises(BudgetExhausted), session.allocate(epsilon=0.2):
            pass
    assert session.remaining == Fraction(8, 10)
    with pytest.raises(ZeroDivisionError), session.allocate(epsilon=0.5):
        _ = 1 / 0
    assert session.remaining == Fraction(8, 10)
    assert session.spent == Fraction(2, 10)


def test_a_block_reserves():
    """What a block has set aside cannot be spent by another thread meanwhile, and is there for the block."""
    df = frame(epsilon=1)
    found = []

    def other():
        found.append(df.dp.session.remaining)
        try:
            df.dp.count(epsilon=0.5)
        except BudgetExhausted as error:
            found.append(error.remaining)

    with df.dp.session.allocate(epsilon=0.7):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        df.dp.count(epsilon=0.7)
    assert found == [Fraction(3, 10), Fraction(3, 10)]
    df.dp.count(epsilon=0.3)


def test_blocks_that_end_elsewhere():
    """A block held by a generator that is closed in another thread, or two that end in another order, give everything back and bind nobody."""
    session = frame(epsilon=1).dp.session

    def holding(amount):
        with session.allocate(epsilon=amount):
            yield

    held = holding(0.5)
    next(held)
    thread = threading.Thread(target=held.close)
    thread.start()
    thread.join()
    assert session.remaining == 1
    first, second = holding(0.3), holding(0.2)
    next(first)
    next(second)
    first.close()
    second.close()
    assert session.remaining == 1


def test_a_block_inside_a_block_reserves_there():
    """What an inner block has set aside cannot be spent by a task that is in the outer block only."""
    import contextvars

    df = frame(epsilon=1)
    with df.dp.session.allocate(epsilon=0.6):
        outside = contextvars.copy_context()
        with df.dp.session.allocate(epsilon=0.5):
            with pytest.raises(BudgetExhausted):
                outside.run(lambda: df.dp.count(epsilon=0.6))
            outside.run(lambda: df.dp.count(epsilon=0.1))
            df.dp.count(epsilon=0.5)
    assert df.dp.session.remaining == Fraction(4, 10)


def test_blocks_in_other_budgets():
    """In ρ a block is in ρ; with δ it is a limit on the sum; one amount in the unit of the budget is needed."""
    df = frame(rho=0.1)
    with df.dp.session.allocate(rho=0.02):
        df.dp.count(rho=0.02)
        with pytest.raises(BudgetExhausted, match=r"ρ=0\.01"):
            df.dp.count(rho=0.01)
    df = frame(epsilon=1, delta=1e-6)
    with df.dp.session.allocate(epsilon=0.3):
        df.dp.count(epsilon=0.3)
        with pytest.raises(BudgetExhausted):
            df.dp.count(epsilon=0.01)
    df.dp.count(epsilon=0.5)
    for wrong in ({}, {"rho": 0.1}, {"epsilon": 0.1, "rho": 0.1}, {"epsilon": 2}, {"epsilon": -1}):
        with pytest.raises(pandas_dp.DPError), df.dp.session.allocate(**wrong):
            pass


# Prices by accuracy.

ACCURATE = {
    "count": lambda dp, **price: dp.count(**price),
    "sum": lambda dp, **price: dp.sum("x", bounds=(0, 9), **price),
    "mean": lambda dp, **price: dp.mean("x", bounds=(0, 9), **price),
    "agg": lambda dp, **price: dp.agg({"x": "mean"}, bounds=(0, 9), **price),
}


@pytest.mark.parametrize("name", ACCURATE)
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_within_is_the_smallest_epsilon(name, level, mechanism):
    """within= charges the smallest ε, to three digits, whose ± before the answer is at most what was asked: a little less would be too wide."""
    df = frame(epsilon=20, delta=1e-6)
    df.dp.count(epsilon=1)
    wanted = {"count": 25, "sum": 200, "mean": 0.3, "agg": 0.3}[name]
    shown = ACCURATE[name](df.dp.preview, within=wanted, level=level, mechanism=mechanism)
    widths = shown.half_width.values() if isinstance(shown.half_width, dict) else [shown.half_width]
    assert max(widths) <= wanted
    ACCURATE[name](df.dp, within=wanted, level=level, mechanism=mechanism)
    epsilon = df.dp.session.ledger["epsilon"].iloc[-1]
    less = epsilon * Fraction(989, 1000)
    narrower = ACCURATE[name](df.dp.preview, epsilon=less, level=level, mechanism=mechanism).half_width
    assert max(narrower.values() if isinstance(narrower, dict) else [narrower]) > wanted


def test_within_and_rows():
    """A mean's ± needs a number of rows: the last released count, or an error that says so; group-by and durations work, too."""
    df = frame(epsilon=20)
    with pytest.raises(ParameterError, match="release count"):
        df.dp.mean("x", bounds=(0, 9), within=0.1)
    assert df.dp.session.spent == 0
    df.dp.groupby("g", keys=["a", "b"]).size(within=5)
    assert df.dp.session.releases[-1].half_width().tolist() == [5, 5]
    spans = protect(pd.DataFrame({"d": pd.to_timedelta([1, 2, 3], unit="h")}))
    spans.dp.sum("d", bounds=(pd.Timedelta(0), pd.Timedelta("4h")), within=pd.Timedelta("1h"))
    assert spans.dp.session.releases[-1].half_width() <= pd.Timedelta("1h")


def test_previews_in_a_table():
    """A list of ε gives a table: one row each, with the ± and whether it fits; for several answers a column each."""
    df = frame(epsilon=0.3)
    table = df.dp.preview.count(epsilon=[0.1, 0.2, 0.5])
    assert table.index.tolist() == [0.1, 0.2, 0.5]
    assert table.index.name == "epsilon"
    assert table["half_width"].tolist() == [30, 15, 6]
    assert table["fits"].tolist() == [True, True, False]
    several = df["x"].dp.preview.agg(["mean", "count"], bounds=(0, 9), epsilon=np.array([0.1, 0.2]), rows=1000)
    assert several.columns.tolist() == ["mean", "count", "remaining", "fits"]
    with pytest.raises(ParameterError):
        df.dp.preview.count(epsilon=[])
    assert df.dp.session.spent == 0


def test_preview_of_what_is_left():
    """A preview tells what would be left, also with δ; what fits is answered, and what does not is refused."""
    df = frame(epsilon=1, delta=1e-6)
    for price in ({"epsilon": 0.5}, {"rho": 0.005}, {"rho": 0.5}, {"epsilon": 2}):
        shown = df.dp.preview.count(**price)
        if shown.fits:
            df.dp.count(**price)
            assert df.dp.session.remaining == shown.remaining
        else:
            with pytest.raises(BudgetExhausted):
                df.dp.count(**price)


# Gaussian noise in releases.


def test_euclidean_sensitivities():
    """The Euclidean sensitivity is that of the worst record by trying all, for rows in one place and for records in different groups."""
    for cells in (rows(), signed_sum("x", IntGrid(-3, 7)), mean_cells("x", IntGrid(-3, 7)), spread_cells("x", IntGrid(-3, 7))):
        steps = range(-3, 8) if cells[0].grid else [0]
        worst = max(sum(cell.at(step) ** 2 for cell in cells) for step in steps)
        assert squared_sensitivity(cells, 1, 1, None, apart=False) == worst
        assert squared_sensitivity(cells, 4, 4, None, apart=False) == 16 * worst
        assert squared_sensitivity(cells, 4, 3, None, apart=True) == 3 * worst
    assert squared_sensitivity(signed_sum("x", IntGrid(0, 9)), 2, 1, 3, apart=True) == 36


def _moved(left, right):
    return [
        int(difference)
        for a, b in zip(left, right, strict=True)
        for difference in np.ravel(np.asarray(a, dtype=object) - np.asarray(b, dtype=object))
    ]


def test_units_in_several_groups_need_less_gaussian_noise():
    """A unit that reaches four groups once each moves the totals by √4 in the Euclidean norm, not by 4."""
    df = pd.DataFrame({"who": [1, 1, 2], "g": ["a", "b", "a"]}).dp.protect(rho=10, unit="who", max_rows=4)
    df.dp.groupby("g", keys=["a", "b"]).count(unique=True, rho=0.5)
    assert df.dp.session.ledger["scale"].iloc[-1] == pytest.approx(2)
    df.dp.groupby("g", keys=["a", "b"]).size(rho=0.5)
    assert df.dp.session.ledger["scale"].iloc[-1] == pytest.approx(4)


def test_gaussian_answers_have_the_deviation_they_say():
    """N = 10 000 sums: the sample deviation is within 6 % of Δ/√(2ρ) (8 standard errors, false alarm below 1e-14), a Laplace's or one of half the ρ is not."""
    df = frame(rho=1_000_000)
    series = df["x"]
    draws = np.array([series.dp.sum(bounds=(0, 9), rho=0.5) for _ in range(10_000)], dtype=float)
    assert abs(draws.std() / 9 - 1) < 0.06
    assert abs(draws.mean() - 4500) < 8 * 9 / math.sqrt(10_000)
    tail = np.mean(np.abs(draws - 4500) > 3 * 9)
    assert upper_bound(round(tail * 10_000), 10_000) < 2 * 0.0027 + 0.002


def covered(functions, monkeypatch, factor):
    """Return how many of 800 releases' 80 % intervals hold the truth, by function; the noise's deviation is wider than they believe by a factor."""
    generator = np.random.default_rng(9)
    values = pd.Series(generator.random(3000))
    exact = values.agg(functions)
    series = protect(pd.DataFrame({"x": values}), delta=1e-6)["x"]
    real = noisy.sampler_of
    monkeypatch.setattr(noisy, "sampler_of", lambda noise: real(Gaussian(noise.variance * factor**2)))
    hits = np.zeros(len(functions))
    for _ in range(800):
        series.dp.agg(functions, bounds=(0, 1), rho=0.05)
        low, high = series.dp.session.releases[-1].interval(0.8)
        hits += ((low <= exact + 1e-9) & (exact - 1e-9 <= high)).to_numpy()
    return hits


@pytest.mark.parametrize("functions", [["mean"], ["count", "sum", "mean"], ["count", "sum", "mean", "var", "std"]], ids=len)
def test_gaussian_intervals_cover(functions, monkeypatch):
    """N = 800 releases with Gaussian noise: the 80 % intervals of every function cover at least 584 times: a true 0.8 fails with a probability of 7e-7 by the binomial, and a true
    0.65 is caught with 0.999999; so is noise twice as wide as believed (next test).
    """
    hits = covered(functions, monkeypatch, 1)
    assert (hits >= 584).all(), hits


def test_gaussian_intervals_with_too_much_noise_do_not_cover(monkeypatch):
    """The twin: with noise twice as wide as they believe the intervals of a mean cover 0.48 of the time (584 times with less than 1e-40)."""
    assert covered(["count", "sum", "mean"], monkeypatch, 2).max() < 584


def test_neighbours_with_gaussian_noise(monkeypatch):
    """Grey box: the squares of what a person moves sum to at most the variance's sensitivity, on 100 random neighbours and every kind of release."""
    noises = []
    real = noisy.sampler_of
    monkeypatch.setattr(noisy, "sampler_of", lambda noise: noises.append(noise) or real(Laplace(Fraction(1))))
    generator = np.random.default_rng(4)
    queries = (
        lambda dp: dp.agg({"x": ["mean", "std"]}, bounds=(0, 9), rho=0.5),
        lambda dp: dp.groupby("g", keys=["a", "b", "c"]).size(rho=0.5),
        lambda dp: dp.groupby("g", keys=["a", "b", "c"], max_groups=2).count(unique=True, rho=0.5),
        lambda dp: dp.groupby("g", keys=["a", "b", "c"]).sum("x", per_unit=(-4, 20), rho=0.5),
    )
    for trial in range(100):
        whole = pd.DataFrame(
            {"who": generator.integers(0, 3, 30), "x": generator.integers(-5, 20, 30), "g": generator.choice(["a", "b", "c"], 30)}
        )
        noises.clear()
        with silent_noise(monkeypatch) as seen:
            for part in (whole, whole[whole.who != 0]):
                queries[trial % 4](protect(part, delta=1e-6, unit="who", max_rows=3).dp)
        (left, _), (right, _) = seen
        moved = sum(difference**2 for difference in _moved(left, right))
        assert isinstance(noises[0], Gaussian)
        assert moved <= noises[0].variance, "at ρ = 1/2 the variance is the squared sensitivity"


# The odometer.


def test_the_odometer_is_tighter_and_safe():
    """After 100 queries of ε = 0.01 the odometer says at most 1 % more than the exact optimum, and less than the account."""
    df = frame(epsilon=1, delta=1e-6)
    for _ in range(100):
        df.dp.count(epsilon=0.01)
    read = df.dp.session.odometer()
    exact = composition.optimal(0.01, 100, 1e-6)
    assert exact <= read <= exact * 1.01
    assert read < df.dp.session.spent < 1
    assert df.dp.session.odometer(delta=1e-12) > read


def test_the_odometer_with_gaussians_and_keys():
    """With Gaussians it is no more than what the account says; with one query next to its ε; before any it is 0."""
    df = frame(epsilon=1, delta=1e-6)
    assert df.dp.session.odometer() == 0
    df.dp.count(epsilon=0.1)
    assert Fraction(999, 10_000) < df.dp.session.odometer() <= Fraction(1, 10)
    df.dp.count(rho=0.002)
    df.dp.groupby("g", keys="private").size(epsilon=0.1)
    assert df.dp.session.odometer() <= df.dp.session.spent
    pure = frame(epsilon=1)
    pure.dp.count(epsilon=0.5)
    assert pure.dp.session.odometer(delta=1e-9) == pytest.approx(0.5, abs=1e-4)
    with pytest.raises(ParameterError, match="delta"):
        pure.dp.session.odometer()


def test_the_odometer_at_its_limits():
    """Tiny and huge charges, and a δ below what keys took, neither take long nor fail in an unforeseen way."""
    df = frame(epsilon=20, delta=1e-6)
    df.dp.count(epsilon="1e-9")
    for price in range(1, 20):
        df.dp.count(epsilon=price / 20)
    assert 0 < df.dp.session.odometer() <= df.dp.session.spent
    df.dp.groupby("g", keys="private", delta=1e-7).size(epsilon=0.1)
    with pytest.raises(ParameterError, match="private keys"):
        df.dp.session.odometer(delta=1e-9)
    huge = protect(pd.DataFrame({"x": [1.0]}))
    huge.dp.count(epsilon=1000)
    assert huge.dp.session.odometer(delta=1e-6) <= 1000


def test_the_odometer_without_its_package(monkeypatch):
    """Without dp-accounting the error says what to install, and carries the concentrated figure."""
    import sys

    df = frame(epsilon=1, delta=1e-6)
    df.dp.count(epsilon=0.1)
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(pandas_dp.AccountingMissing, match=r"pandas_dp\[accounting\]") as caught:
        df.dp.session.odometer()
    assert caught.value.concentrated >= composition.zcdp_to_approx(Fraction(1, 200), 1e-6)
    assert isinstance(caught.value, ImportError)
