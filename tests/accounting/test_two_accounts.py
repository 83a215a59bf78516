"""Two accounts of one file: each counts what the other charged, and neither believes an older copy."""

from __future__ import annotations

from fractions import Fraction

import pytest
from ledger_support import folder  # noqa: F401  (a fixture)

from pandas_dp import BudgetExhausted, LedgerDamaged
from pandas_dp.accounting import Cost, Epsilon, PureFilter
from pandas_dp.accounting.opening import begin, resume

LINE = {"frame": "t#1", "query": "count()", "mechanism": "discrete Laplace", "scale": 1.0, "margin": 1.0, "private": True}


def cost(amount):
    """Return the cost of Laplace noise."""
    return Cost.laplace(Epsilon(Fraction(amount)))


@pytest.fixture
def accounts(folder):  # noqa: F811
    """Two accounts of one file with a budget of 1, as two processes have them."""
    path = folder / "two.sqlite"
    return path, begin(path, PureFilter(Epsilon(1)), None, None), resume(path)


def test_each_counts_what_the_other_charged(accounts):
    """A charge is decided with the other's charges, also those that were made since this account last looked: 0.6 and then 0.6 is too much, and 0.4 is not.

    It would catch an account that decides by what it has read before: two processes would spend the budget twice.
    """
    _, one, other = accounts
    assert other.remaining == 1
    one.charge(cost("0.6"), **LINE)
    with pytest.raises(BudgetExhausted):
        other.charge(cost("0.6"), **LINE)
    assert other.charge(cost("0.4"), **LINE).number == 2
    with pytest.raises(BudgetExhausted):
        one.charge(cost("0.1"), **LINE)
    assert one.spent == other.spent == 1
    assert [entry.epsilon for entry in one.entries] == [Fraction(3, 5), Fraction(2, 5)]


def test_an_older_copy_is_not_believed(accounts):
    """A file whose content is that of an earlier time, whole and sealed, is refused by an account that has read further: neither a charge nor a look at what is left is answered.

    It would catch an account that takes what is there: a copy from before would give the budget back.
    """
    path, one, other = accounts
    before = path.read_bytes()
    one.charge(cost("0.6"), **LINE)
    assert other.spent == Fraction(3, 5)
    path.write_bytes(before)
    for account in (one, other):
        with pytest.raises(LedgerDamaged, match="older copy"):
            account.charge(cost("0.1"), **LINE)
        with pytest.raises(LedgerDamaged, match="older copy"):
            account.refresh()
    assert resume(path).spent == 0
