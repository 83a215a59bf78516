"""The accounts that are charged.  Knows nothing of frames, data or noise."""

from pandas_dp.accounting.accountants import Accountant, ApproximateAccountant, ConcentratedAccountant, PureAccountant
from pandas_dp.accounting.ledger import Cost, Entry
from pandas_dp.quantities.budget import DELTA_MIN, EPSILON_MAX, EPSILON_MIN, Delta, Epsilon, Rho, as_delta, as_epsilon, as_rho

__all__ = [
    "DELTA_MIN",
    "EPSILON_MAX",
    "EPSILON_MIN",
    "Accountant",
    "ApproximateAccountant",
    "ConcentratedAccountant",
    "Cost",
    "Delta",
    "Entry",
    "Epsilon",
    "PureAccountant",
    "Rho",
    "as_delta",
    "as_epsilon",
    "as_rho",
]
