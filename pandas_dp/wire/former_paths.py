"""Where classes were that old pickles name, so that they still open.

A former module is served from this table alone, to whoever imports it: it exists nowhere else, and gives nothing but the names that stand here.  A module that is still there
under its name is not served: it has to keep what pickles know of it.  No name may be taken out.  Importing this module imports none of the others.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["FORMER", "serve"]

FORMER: dict[str, dict[str, str]] = {
    "pandas_dp.amounts": {name: f"pandas_dp.quantities.budget:{name}" for name in ("Delta", "Epsilon", "Rho")},
    "pandas_dp.designs": {"Design": "pandas_dp.cells.second_moments:Design"},
    "pandas_dp.domain": {"Domain": "pandas_dp.domains.domain:Domain"},
    "pandas_dp.kinds": {"Kind": "pandas_dp.domains.dtypes:Kind"},
    "pandas_dp.previews": {"Preview": "pandas_dp.accessor.previews:Preview"},
    "pandas_dp.session": {"Session": "pandas_dp.sessions.session:Session"},
    "pandas_dp.statistics.limits": {"PrivateBounds": "pandas_dp.results:PrivateBounds"},
    "pandas_dp.statistics.noises": {name: f"pandas_dp.statistics.noise_laws:{name}" for name in ("Exponential", "Gaussian", "Laplace")},
    "pandas_dp.statistics.readings": {
        **{name: f"pandas_dp.statistics.estimators:{name}" for name in ("Count", "Mean", "Spread", "Sum")},
        "OrderChoice": "pandas_dp.statistics.query:OrderChoice",
    },
}
"""For each former module: the names that pickles take from it, and where they are now."""


class _FormerModules:
    """Finds the modules of the table, and no others."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return how a former module is made; None for any other."""
        del path, target
        loader: Any = self  # by what it has
        return ModuleSpec(name, loader) if name in FORMER else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make an empty module."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill a former module with what the table says."""
        for name, place in FORMER[module.__name__].items():
            where, called = place.split(":")
            found: Any = getattr(importlib.import_module(where), called)
            setattr(module, name, found)


def serve() -> None:
    """Serve former modules from now on, after all other finders."""
    if not any(type(finder).__qualname__ == _FormerModules.__qualname__ for finder in sys.meta_path):
        finder: Any = _FormerModules()
        sys.meta_path.append(finder)
