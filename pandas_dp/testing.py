"""For tests: repeatable noise, and the contracts that every engine and every accountant is held to.

Nothing here is for production.  Answers drawn inside :func:`unsafe_seeded_noise` are **not private**, whoever knows the seed can subtract the
noise; the ledger and the releases record it (``private=False``).
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pandas_dp.accounting import Cost
from pandas_dp.composition import optimal_delta
from pandas_dp.errors import BudgetExhausted
from pandas_dp.noise import entropy as noise
from pandas_dp.quantities.budget import Epsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from pandas_dp.accounting import Accountant
    from pandas_dp.engines.contract import Contribution, Source

__all__ = ["check_accountant", "check_engine", "unsafe_seeded_noise"]


@contextmanager
def unsafe_seeded_noise(seed: int | str) -> Iterator[None]:
    """Draw repeatable noise in this context, and in this thread alone.

    For doctests and for the tests of code that uses pandas_dp.  Answers are not private and marked so.

    Parameters
    ----------
    seed : int or str
        The same seed gives the same noise, on every platform.

    Examples
    --------
    >>> import pandas as pd, pandas_dp
    >>> from pandas_dp.testing import unsafe_seeded_noise
    >>> df = pd.DataFrame({"x": [1.0, 2.0]}).dp.protect(epsilon=1)
    >>> with unsafe_seeded_noise(1):
    ...     first = df.dp.count(epsilon=0.1)
    >>> with unsafe_seeded_noise(1):
    ...     bool(df.dp.count(epsilon=0.1) == first)
    True
    >>> df.dp.session.ledger["private"].tolist()
    [False, False]
    """
    counter = 0

    def source(count: int) -> bytes:
        nonlocal counter
        counter += 1
        return hashlib.shake_128(f"{seed}/{counter}".encode()).digest(count)

    with noise.injected(source):
        yield


def check_engine(source_of: Callable[[list[pd.DataFrame], Contribution], Source]) -> list[str]:
    """Hold an engine to the contract: the pandas engine's integers, bit for bit, on hard cases that are cut into partitions.

    Parameters
    ----------
    source_of : callable
        Turns the partitions of a pandas DataFrame, in order, into what the engine handles, and returns the engine's source of it.  Some are empty, and some hold the same
        numbers in another dtype.  Its second argument says which column identifies the unit.

    Returns
    -------
    list of str
        The names of the plans that the engine refuses.

    Raises
    ------
    AssertionError
        Names the case, the number of partitions and the round in which the engine differs.

    Notes
    -----
    The cases: columns of every kind at the ends of their ranges; declared keys, combinations and bins; steps of a tracked view; contribution bounding (of a unit's rows, which are alike,
    ``min(rows, max_rows)`` count) and one record for each unit; ranks; second moments; private keys; cells that raise with a value in the text.
    """
    from pandas_dp.engines.conformance import check  # noqa: PLC0415  (loaded for those who use it)

    return check(source_of)


def check_accountant(make: Callable[[], Accountant], epsilon: float, delta: float) -> None:
    """Hold an accountant to its promise: filled with equal queries it stays within (ε, δ) by exact optimal composition.

    Parameters
    ----------
    make : callable
        Returns a fresh account.
    epsilon, delta : float
        What it promises; δ of 0 for the plain sum.

    Raises
    ------
    AssertionError
        Names the price and the number of queries that were accepted.
    """
    for price in ("1", "0.3", "0.1", "0.03", "0.01", "1/7"):
        account, count = make(), 0
        cost = Cost.laplace(Epsilon(price))
        try:
            while True:
                account.charge(cost, frame="", query="", mechanism="", scale=0.0, margin=0.0, private=False)
                count += 1
        except BudgetExhausted:
            pass
        lost = count * Epsilon(price) > epsilon if delta == 0 else bool(count) and optimal_delta(Epsilon(price), count, epsilon) > delta
        if lost or len(account.entries) != count:
            msg = f"accountant accepted {count} queries of ε={price}, which exceed ({epsilon}, {delta})"
            raise AssertionError(msg)
