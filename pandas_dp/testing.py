"""For tests: repeatable noise, and the contracts that every engine and every accountant is held to.

Nothing here is for production.  Answers drawn inside :func:`unsafe_seeded_noise` are **not private**, whoever knows the seed can subtract the
noise; the ledger and the releases record it (``private=False``).
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.accounting import Cost
from pandas_dp.cells.cells import Cell, FloatGrid, IntGrid, mean_cells, present, rows, signed_sum, spread_cells
from pandas_dp.composition import optimal_delta
from pandas_dp.engines import Groups
from pandas_dp.engines.columns import totals as pandas_totals
from pandas_dp.errors import BudgetExhausted
from pandas_dp.noise import entropy as noise
from pandas_dp.quantities.budget import Epsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from pandas_dp.accounting import Accountant
    from pandas_dp.engines import Totals

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


def check_engine(totals: Totals, convert: Callable[[pd.DataFrame], Any]) -> None:
    """Hold an engine to the contract: the pandas engine's totals, bit for bit, on hard cases.

    Parameters
    ----------
    totals : callable
        The engine's one function.
    convert : callable
        Turns a pandas DataFrame into what the engine handles, with the rows in the same order.

    Raises
    ------
    AssertionError
        Names the case and the cell in which the totals differ.
    """
    for name, frame, cells in engine_cases():
        native = convert(frame)
        for which, kept in _selections(len(frame)):
            groups = Groups(np.arange(len(frame)) % 4, 3)  # the fourth is none
            grouped = [[int(total) for total in cell] for cell in totals(native, cells, by=groups, unit=kept)]
            if grouped != [[int(total) for total in cell] for cell in pandas_totals(frame, cells, by=groups, unit=kept)]:
                msg = f"engine differs from the contract in case {name!r}, {which}, by group"
                raise AssertionError(msg)
            expected = pandas_totals(frame, cells, unit=kept)
            found = list(totals(native, cells, unit=kept))
            if found != expected or any(type(total) is not int for total in found):
                differing = [str(cell) for cell, a, b in zip(cells, expected, found, strict=False) if a != b]
                msg = f"engine differs from the contract in case {name!r}, {which}: {differing or 'totals must be Python ints'}"
                raise AssertionError(msg)


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


def _selections(length: int) -> list[tuple[str, NDArray[np.bool_] | None]]:
    return [("all rows", None), ("every third row", np.arange(length) % 3 == 0), ("no row", np.zeros(length, dtype=np.bool_))]


def engine_cases() -> list[tuple[str, pd.DataFrame, list[Cell]]]:
    """Return the cases of :func:`check_engine`: name, frame, and cells over its column ``x``."""
    nan, inf = float("nan"), float("inf")
    edge = [nan, inf, -inf, 0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 0.1, 0.5, 1.0, 1 / 3, 2.0**52, 1e16, 1.0, -1e16]
    many = [((k * 7919) % 1000) / 7 - 20 for k in range(70_000)]
    ints = [-(2**63), 2**63 - 1, -1, 0, 1, 17, 2**53 + 1, -(2**53) - 1]
    cases: list[tuple[str, list[Any], Any, list[FloatGrid | IntGrid]]] = [
        ("edges", edge * 3, "float64", [FloatGrid.between(0.0, 1.0), FloatGrid.between(-1e16, 1e16), FloatGrid.between(-0.3, 0.7)]),
        ("far from zero", [2.0**52 + k for k in range(9)], "float64", [FloatGrid.between(2.0**52, 2.0**52 + 1)]),
        ("tiny bounds", [0.0, 1e-270, 3e-271, nan], "float64", [FloatGrid.between(0.0, 1e-270)]),
        ("more than one block", many, "float64", [FloatGrid.between(-3.25, 100.5)]),
        ("single precision", [0.1] * 1000 + [nan, 3e38], "float32", [FloatGrid.between(0.0, 1.0)]),
        ("integers", ints, "int64", [IntGrid(-(2**63), 2**63 - 1), IntGrid(0, 100)]),
        ("unsigned", [2**64 - 1, 0, 5], "uint64", [IntGrid(0, 2**64 - 1)]),
        ("small integers", [-128, 127, 0], "int8", [IntGrid(-128, 127)]),
        ("booleans", [True, False, True], "bool", [IntGrid(0, 1)]),
        ("nullable", [1, None, 3], "Int64", [IntGrid(0, 10), FloatGrid.between(0.0, 2.5)]),
        ("no rows", [], "float64", [FloatGrid.between(0.0, 1.0)]),
    ]  # fmt: skip
    return [
        (
            name,
            pd.DataFrame({"x": pd.Series(values, dtype=dtype)}),
            [
                *rows(),
                *present("x"),
                *(cell for grid in grids for cell in (*signed_sum("x", grid), *mean_cells("x", grid), *spread_cells("x", grid))),
            ],
        )
        for name, values, dtype, grids in cases
    ]
