"""The names under which classes and their fields are written: in ledger files, in pickles, and in the digests of questions.

They are independent of what classes and fields are called in Python: who renames or moves one changes its line here, and files and digests stay as they are.
A name that was ever written must never come to mean anything else, and none may be taken out while a file may hold it.  Names modules by strings alone, and imports none of them
before an answer of theirs is read.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

__all__ = ["CLASSES", "FIELDS", "QUESTIONS", "class_of", "field_of", "name_of", "written_field"]

CLASSES: dict[str, str] = {
    "CorrelationEstimate": "pandas_dp.statistics.association:CorrelationEstimate",
    "Cost": "pandas_dp.accounting.ledger:Cost",
    "Count": "pandas_dp.statistics.estimators:Count",
    "CountEstimate": "pandas_dp.statistics.estimates:CountEstimate",
    "CovarianceEstimate": "pandas_dp.statistics.association:CovarianceEstimate",
    "Design": "pandas_dp.cells.second_moments:Design",
    "Domain": "pandas_dp.domains.domain:Domain",
    "Exponential": "pandas_dp.statistics.noise_laws:Exponential",
    "FloatGrid": "pandas_dp.cells.cells:FloatGrid",
    "Gaussian": "pandas_dp.statistics.noise_laws:Gaussian",
    "GroupEstimate": "pandas_dp.statistics.estimates:GroupEstimate",
    "Height": "pandas_dp.statistics.order:PointEstimator",
    "IntGrid": "pandas_dp.cells.cells:IntGrid",
    "Kind": "pandas_dp.domains.dtypes:Kind",
    "Laplace": "pandas_dp.statistics.noise_laws:Laplace",
    "Mean": "pandas_dp.statistics.estimators:Mean",
    "OrderChoice": "pandas_dp.statistics.query:OrderChoice",
    "OrderEstimate": "pandas_dp.statistics.order:OrderEstimate",
    "Release": "pandas_dp.results:Release",
    "ShareEstimate": "pandas_dp.statistics.estimates:ShareEstimate",
    "Spread": "pandas_dp.statistics.estimators:Spread",
    "SpreadEstimate": "pandas_dp.statistics.estimates:SpreadEstimate",
    "Sum": "pandas_dp.statistics.estimators:Sum",
    "SumEstimate": "pandas_dp.statistics.estimates:SumEstimate",
}
"""What answers consist of: written name, and where the class is now.  Decoding builds these dataclasses and no others."""

QUESTIONS: dict[str, str] = {
    "Bins": "pandas_dp.domains.keysets:Bins",
    "Cell": "pandas_dp.cells.cells:Cell",
    "KeyList": "pandas_dp.domains.keysets:KeyList",
    "KeySet": "pandas_dp.domains.keysets:KeySet",
    "OneEach": "pandas_dp.cells.cells:OneEach",
    "Part": "pandas_dp.statistics.query:Part",
    "PrivateKeys": "pandas_dp.domains.keysets:PrivateKeys",
    "Query": "pandas_dp.statistics.query:Query",
    "_Matrix": "pandas_dp.statistics.matrix:_Matrix",
}
"""What questions consist of, beside the above: named in digests alone, and never read."""

FIELDS: dict[str, dict[str, str]] = {"GroupEstimate": {"estimator": "reading"}, "OrderEstimate": {"estimator": "reading"}}
"""Where a field has another name in Python: by written name of the class, {field in Python: written field}."""

_by_place = {place: name for name, place in (*CLASSES.items(), *QUESTIONS.items())}


def name_of(kind: type) -> str | None:
    """Return the written name of a class, or None if it has none."""
    return _by_place.get(f"{kind.__module__}:{kind.__qualname__}")


@cache
def _found(place: str) -> Any:
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)


def class_of(name: str) -> Any:
    """Return the class of answers that a written name means; raise ``KeyError`` if there is none."""
    return _found(CLASSES[name])


def written_field(name: str, field: str) -> str:
    """Return under which name a field of the class of this written name is written."""
    return FIELDS.get(name, {}).get(field, field)


def field_of(name: str, written: str) -> str:
    """Return what a written field is called in Python."""
    return next((field for field, other in FIELDS.get(name, {}).items() if other == written), written)
