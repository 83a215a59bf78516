"""What a record of a ledger file says: all that a charge is, and under a seal that covers everything before it."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from pandas_dp.accounting import Cost, Delta, Epsilon, Rho
from pandas_dp.accounting.ledger import Entry
from pandas_dp.accounting.records import CHARGE, START, Mark, body_of, entry_of, seal

COSTS = {
    "pure": Cost.laplace(Epsilon(Fraction(1, 3))),
    "private keys": Cost.laplace(Epsilon(1), Delta(Fraction(1, 10**7))),
    "choice": Cost.selection(Epsilon(Fraction(1, 2))),
    "Gaussian": Cost.gaussian(Rho(Fraction(1, 50)), Epsilon(Fraction(1, 5))),
}


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
def test_a_charge_comes_back(cost):
    """A charge that was written and read is the same: ε, δ, ρ and whether it was pure, and all that is told of it.

    It would catch an amount that is not written: a session that continues in a file would never run out of it.
    """
    when = datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    for margin, label, asked in ((1.5, None, None), (2.5, "a", {"query": "count()"})):
        entry = Entry(3, when, "t#1", "count()", cost, "discrete Laplace", 2.0, margin, True, label, asked)
        assert entry_of(body_of(entry), 3) == entry
    unknown = Entry(3, when, "t#1", "mean('x')", cost, "discrete Laplace", 2.0, math.nan, False)
    back = entry_of(body_of(unknown), 3)
    assert math.isnan(back.margin)
    assert back.private is False


def test_a_seal_covers_everything():
    """Another record before, another number, kind or text: another seal.

    It would catch a chain that is none: records of two files, or of one in another order, could be put together.
    """
    one = seal(START, CHARGE, "{}")
    assert one.number == START.number + 1
    others = [
        seal(Mark(START.number, bytes(32)), CHARGE, "{}"),
        seal(Mark(START.number + 1, START.digest), CHARGE, "{}"),
        seal(START, "frame", "{}"),
        seal(START, CHARGE, "{ }"),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 1 + len(others)
