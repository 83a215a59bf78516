"""Every error of the project and its wording.

Each class derives from :class:`DPError` and from the built-in error a Python user would catch.
Numbers travel as attributes.  The wording lives in classmethods, says what was asked, what did
not happen and what to do next, and must never hold a value, a label, a row count or anything else
read from the data: an error is an answer nobody paid for.
"""

from __future__ import annotations

from pandas_dp.errors.base import ComputationFailed, DPError, LargeBudgetWarning
from pandas_dp.errors.budgets import BudgetExhausted, SessionClosed, SessionConflict
from pandas_dp.errors.calls import CallError, NoSuchQuery
from pandas_dp.errors.columns import ColumnError, ExpressionError, UnsupportedDtype
from pandas_dp.errors.frames import AlreadyProtected, LineageError, NotProtected
from pandas_dp.errors.ledgers import LabelError, LedgerBusy, LedgerDamaged, LedgerError, LedgerUnwritable
from pandas_dp.errors.packages import AccountingMissing, ExtraMissing
from pandas_dp.errors.parameters import AggregationError, BoundsError, KeysError, ParameterError, ParameterTypeError
from pandas_dp.errors.schemas import SchemaError, SchemaViolation
from pandas_dp.errors.tracebacks import boundary

__all__ = [
    "AccountingMissing",
    "AggregationError",
    "AlreadyProtected",
    "BoundsError",
    "BudgetExhausted",
    "CallError",
    "ColumnError",
    "ComputationFailed",
    "DPError",
    "ExpressionError",
    "ExtraMissing",
    "KeysError",
    "LabelError",
    "LargeBudgetWarning",
    "LedgerBusy",
    "LedgerDamaged",
    "LedgerError",
    "LedgerUnwritable",
    "LineageError",
    "NoSuchQuery",
    "NotProtected",
    "ParameterError",
    "ParameterTypeError",
    "SchemaError",
    "SchemaViolation",
    "SessionClosed",
    "SessionConflict",
    "UnsupportedDtype",
    "boundary",
]

for _name in __all__:
    if _name != "boundary":
        globals()[_name].__module__ = __name__  # where users import it from, and what a traceback shows
