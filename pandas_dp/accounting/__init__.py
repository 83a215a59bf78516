"""Budgets and the accounts that are charged against them.  Knows nothing of frames, data or noise."""

from pandas_dp.accounting.accountant import NO_DELTA, Accountant, Entry
from pandas_dp.accounting.amounts import (
    DELTA_MIN,
    EPSILON_MAX,
    EPSILON_MIN,
    Delta,
    Epsilon,
    as_delta,
    as_epsilon,
    as_fraction,
    checked_count,
)

__all__ = [
    "DELTA_MIN",
    "EPSILON_MAX",
    "EPSILON_MIN",
    "NO_DELTA",
    "Accountant",
    "Delta",
    "Entry",
    "Epsilon",
    "as_delta",
    "as_epsilon",
    "as_fraction",
    "checked_count",
]
