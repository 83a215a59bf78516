"""States share what they have in common, and none is changed by the one that follows it, however far that came."""

from __future__ import annotations

import time

import pytest

from pandas_dp.accounting import Accountant, Cost, Epsilon, PureFilter
from pandas_dp.accounting.histories import History, Mapped
from pandas_dp.errors import BudgetExhausted


def test_a_history_stays_as_it_was():
    """Two sequences that go on from one share nothing that either can see, in any order of steps."""
    base = History.empty().plus(1).plus(2)
    left, right = base.plus(3), base.plus(4)
    further = left.plus(5)
    assert [list(one) for one in (base, left, right, further)] == [[1, 2], [1, 2, 3], [1, 2, 4], [1, 2, 3, 5]]
    assert (len(base), base[1]) == (2, 2)
    for place in (2, -1):
        with pytest.raises(IndexError):
            base[place]


def test_a_mapping_stays_as_it_was():
    """The same of mappings: a key that a step set, and that was given up, is what it was before."""
    base = Mapped.empty().plus("a", 1).plus("b", 2)
    left, right = base.plus("a", 3), base.plus("c", 4)
    assert [one.as_dict() for one in (base, left, right)] == [{"a": 1, "b": 2}, {"a": 3, "b": 2}, {"a": 1, "b": 2, "c": 4}]
    assert (base.get("a"), left.get("a"), right.get("a"), right.get("c"), base.get("c"), left.get("c")) == (1, 3, 1, 4, None, None)
    assert ("c" in base, "c" in right, "a" in base, "z" in base) == (False, True, True, False)
    new = Mapped.empty().plus("a", 1)
    new.plus("b", 2)
    assert ("b" in new, new.get("b")) == (False, None)


@pytest.mark.parametrize("fails", range(4))
def test_a_step_that_was_given_up_leaves_nothing(fails):
    """Whatever a step put into the shared list before it was interrupted belongs to nobody: the next step goes on from where the state was."""
    base = Mapped.empty().plus("a", 1)
    for number in range(fails):
        base.plus(f"given up {number}", number)
        base.plus("a", number)
    assert base.as_dict() == {"a": 1}
    after = base.plus("b", 2).plus("c", 3)
    assert after.as_dict() == {"a": 1, "b": 2, "c": 3}
    assert [after.get(key) for key in "abc"] == [1, 2, 3]


def charge(account, cost=None):
    cost = Cost.laplace(Epsilon("1/20000")) if cost is None else cost
    return account.charge(cost, frame="f", query="q", mechanism="m", scale=1.0, margin=1.0, private=True)


def test_many_charges_are_not_quadratic():
    """The last thousand of 20 000 charges take about as long as the first thousand: at most five times."""
    account = Accountant(PureFilter(Epsilon(1)))
    times = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(1000):
            account.answered(charge(account).number, None)
        times.append(time.perf_counter() - start)
    assert account.remaining == 0
    assert min(times[-3:]) < 5 * min(times[:3])
    with pytest.raises(BudgetExhausted):
        charge(account)
    assert [entry.number for entry in account.entries] == list(range(1, 20_001))
    assert list(account.answers) == list(range(1, 20_001))


def test_a_state_is_never_changed():
    """What a state says is the same before and after later charges: its sums, entries and answers."""
    account = Accountant(PureFilter(Epsilon(1)))
    charge(account)
    before = account.state
    told = (before.sums, list(before.entries), before.answers.as_dict())
    account.answered(charge(account).number, None)
    assert (before.sums, list(before.entries), before.answers.as_dict()) == told
    assert account.state is not before
    assert len(account.entries) == 2
