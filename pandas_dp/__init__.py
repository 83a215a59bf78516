"""pandas_dp: the pandas accessor for differential privacy.

Importing it gives every DataFrame and Series a ``.dp`` accessor.  ``df.dp.protect(epsilon=1.0)`` attaches a privacy
budget; ``count``, ``sum`` and ``mean`` on what it returns, and on what is derived from that, are differentially private and
charged, until the budget is gone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pandas_dp.accessor.frame_queries import ViewDP
from pandas_dp.accessor.frames import DataFrameDP, Session
from pandas_dp.accessor.groupby import GroupByDP
from pandas_dp.accessor.previews import Preview
from pandas_dp.accessor.series import SeriesDP
from pandas_dp.accessor.typed import dp
from pandas_dp.errors import (
    AccountingMissing,
    AggregationError,
    AlreadyProtected,
    BoundsError,
    BudgetExhausted,
    CallError,
    ColumnError,
    ComputationFailed,
    DPError,
    ExpressionError,
    ExtraMissing,
    KeysError,
    LabelError,
    LargeBudgetWarning,
    LedgerBusy,
    LedgerDamaged,
    LedgerError,
    LedgerUnwritable,
    LineageError,
    NoSuchQuery,
    NotProtected,
    ParameterError,
    ParameterTypeError,
    SchemaError,
    SchemaViolation,
    SessionClosed,
    SessionConflict,
    UnsupportedDtype,
)
from pandas_dp.quantities.budget import Delta, Epsilon, Rho
from pandas_dp.results import NoisyFloat, NoisyInt, Release
from pandas_dp.wire import former_paths

if TYPE_CHECKING:
    from pandas_dp import composition, datasets, gradients, mechanisms, plotting, sensitivity, testing

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
    "DataFrameDP",
    "Delta",
    "Epsilon",
    "ExpressionError",
    "ExtraMissing",
    "GroupByDP",
    "KeysError",
    "LabelError",
    "LargeBudgetWarning",
    "LedgerBusy",
    "LedgerDamaged",
    "LedgerError",
    "LedgerUnwritable",
    "LineageError",
    "NoSuchQuery",
    "NoisyFloat",
    "NoisyInt",
    "NotProtected",
    "ParameterError",
    "ParameterTypeError",
    "Preview",
    "Release",
    "Rho",
    "SchemaError",
    "SchemaViolation",
    "SeriesDP",
    "Session",
    "SessionClosed",
    "SessionConflict",
    "UnsupportedDtype",
    "ViewDP",
    "__version__",
    "composition",
    "datasets",
    "dp",
    "gradients",
    "mechanisms",
    "plotting",
    "sensitivity",
    "testing",
]

__version__ = "0.1.0"

_LOADED_BY_USE = {"composition", "datasets", "gradients", "mechanisms", "plotting", "sensitivity", "testing"}


def __getattr__(name: str) -> Any:
    """Load what not every query needs when it is first used."""
    if name in _LOADED_BY_USE:
        return import_module(f"pandas_dp.{name}")
    msg = f"module 'pandas_dp' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    """List what users import, and nothing that the package consists of."""
    return list(__all__)


# Where users import them from: what pickles name, which outlive the place of a class in the package.
for _public in (Delta, Epsilon, NoisyFloat, NoisyInt, Preview, Rho, Session):
    _public.__module__ = __name__
former_paths.serve()
