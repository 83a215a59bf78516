"""The account that is charged: exact sums, a stopping rule for each kind of budget, and a ledger in memory or in a file.  Knows nothing of frames, data or noise."""

from pandas_dp.accounting.account import Accountant
from pandas_dp.accounting.filters import ApproximateFilter, ConcentratedFilter, Filter, PureFilter
from pandas_dp.accounting.ledger import Cost, Entry
from pandas_dp.quantities.budget import DELTA_MIN, EPSILON_MAX, EPSILON_MIN, Delta, Epsilon, Rho, as_delta, as_epsilon, as_rho

__all__ = [
    "DELTA_MIN",
    "EPSILON_MAX",
    "EPSILON_MIN",
    "Accountant",
    "ApproximateFilter",
    "ConcentratedFilter",
    "Cost",
    "Delta",
    "Entry",
    "Epsilon",
    "Filter",
    "PureFilter",
    "Rho",
    "as_delta",
    "as_epsilon",
    "as_rho",
]
