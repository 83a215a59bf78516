"""What a session in a ledger file loads at once, and other sessions when they use it.

Such a session is shared with forks.  A process that is forked while another thread loads a module, in its first query, would find that module half loaded for ever.
"""

from __future__ import annotations

import importlib
import pkgutil

__all__ = ["load"]

_ROOMS = (
    "accounting",
    "cells",
    "display",
    "domains",
    "engines",
    "expressions",
    "lineage",
    "noise",
    "quantities",
    "release",
    "statistics",
    "wire",
)


def load() -> None:
    """Load what queries load when they are first asked."""
    for room in _ROOMS:
        package = importlib.import_module(f"pandas_dp.{room}")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"pandas_dp.{room}.{module.name}")
