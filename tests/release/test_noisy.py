"""Noise on exact totals: each total of each group has a draw of its own, and a choice by rank the ε and the records of its plan."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pandas_dp.noise import quantiles
from pandas_dp.release.noisy import add, chosen, narrow, noisy
from pandas_dp.statistics.noise_laws import Exponential, Gaussian, Laplace
from pandas_dp.statistics.query import OrderChoice

HUGE = Fraction(10**40)


@pytest.mark.parametrize("noise", [Laplace(HUGE), Gaussian(HUGE**2)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("groups", [None, 1, 7])
def test_every_total_has_a_draw_of_its_own(noise, groups):
    """Of equal totals no noisy one is exact, and no two are equal: draws of this scale are 0, or equal, with a probability below 2^-120; of 21, some are of either sign (but for a probability of 2^-20).

    It would catch a cell, or a group, that is left out, and a draw that is used twice.
    """
    exact = [0, 0, 0] if groups is None else [np.zeros(groups, dtype=np.int64)] * 3
    found = [int(value) for cell in noisy(exact, noise, groups) for value in np.atleast_1d(np.array(cell, dtype=object))]
    number = 1 if groups is None else groups
    assert len(found) == 3 * number
    assert 0 not in found
    assert len(set(found)) == len(found)
    assert {value > 0 for value in found} == {True, False} or len(found) < 21


def test_totals_are_added_to():
    """Noise is added to the total, in integers of any size; where all fit, in int64, and else in Python's."""
    for total in (5, -(2**61), 2**62, -(2**63), 2**200):
        held = np.array([total], dtype=object if abs(total) > 2**63 else np.int64)
        (found,) = add(held, np.array([-3], dtype=np.int64))
        assert found == total - 3
    assert add(np.array([2**61]), np.array([2**61 - 1])).dtype == np.int64
    assert add(np.array([2**61]), np.array([2**61])).dtype == object
    assert narrow(np.array([3], dtype=object)).dtype == np.int64
    assert narrow(np.array([2**62 - 1], dtype=object)).dtype == np.int64
    assert narrow(np.array([2**62], dtype=object)).dtype == object


@pytest.mark.parametrize("groups", [None, 3])
@pytest.mark.parametrize("extreme", [None, "min", "max"])
def test_a_choice_has_the_noise_of_its_plan(extreme, groups, monkeypatch):
    """Every choice, of every group, is made with the ε and the number of records that the plan names, and an extreme at its own end.

    It would catch records that are forgotten: quantiles of units with k rows would lose k times ε.
    """
    asked = []
    monkeypatch.setattr(
        quantiles,
        "private_extreme",
        lambda order, top, epsilon, records, *, largest: asked.append((order, top, epsilon, records, largest)) or 4,
    )
    monkeypatch.setattr(
        quantiles,
        "private_quantiles",
        lambda order, top, wanted, epsilon, records: asked.append((order, top, epsilon, records, wanted)) or [4, 5],
    )
    wanted = () if extreme else (Fraction(1, 4), Fraction(1, 2))
    choice = OrderChoice("x", None, wanted, extreme)
    found = chosen(choice, Exponential(Fraction(1, 3), 7), 9, lambda group: f"order {group}", groups, public=True)
    orders = [f"order {group}" for group in ([None] if groups is None else range(groups))]
    assert asked == [(order, 9, Fraction(1, 3), 7, wanted if extreme is None else extreme == "max") for order in orders]
    number = 1 if groups is None else groups
    assert [np.atleast_1d(one).tolist() for one in found] == [[point] * number for point in ([4] if extreme else [4, 5])]
