"""Reading a pandera schema: bounds, keys, nullability and dtype, frozen; and validation with clean errors.

The only module that knows pandera, which is imported when a schema is given and not before.  pandera's own errors carry the frame,
the failing values and their labels: none of that may leave this module.  Nothing else in the project relies on
validation having happened (it can be switched off by an environment variable): every query clamps.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pandas_dp.domain import ColumnFacts, kind_of
from pandas_dp.errors import SchemaError, SchemaViolation

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

__all__ = ["read_schema", "validate"]


def read_schema(schema: Any, columns: Iterable[Hashable]) -> tuple[Any, dict[Hashable, ColumnFacts]]:
    """Return the schema as a ``DataFrameSchema`` and what it declares about each column.

    Parameters
    ----------
    schema : DataFrameSchema or DataFrameModel
        From pandera.
    columns : iterable of Hashable
        The frame's column names, for patterns (``regex=True``).

    Raises
    ------
    SchemaError
        If it is no pandera schema, or its checks contradict each other.
    """
    import pandera.pandas as pa

    model: Any = schema
    if isinstance(model, type) and issubclass(model, pa.DataFrameModel):
        schema = cast("Any", model).to_schema()
    if not isinstance(schema, pa.DataFrameSchema):
        raise SchemaError.not_pandera(schema if isinstance(schema, type) else type(schema))
    facts: dict[Hashable, ColumnFacts] = {}
    names = list(columns)
    for name, column in schema.columns.items():
        declared = _facts(name, column)
        matching = [c for c in names if isinstance(c, str) and re.match(str(name), c)] if column.regex else [name]
        facts.update(dict.fromkeys(matching, declared))
    return schema, facts


def _facts(name: Hashable, column: Any) -> ColumnFacts:
    lower: Any = None
    upper: Any = None
    keys: tuple[Any, ...] | None = None
    for check in column.checks:
        if not _is_declaration(check):
            continue
        stated = check.statistics or {}
        low, high = _range(check.name, stated)
        lower = low if lower is None or (low is not None and low > lower) else lower
        upper = high if upper is None or (high is not None and high < upper) else upper
        if check.name == "isin":
            allowed = tuple(stated["allowed_values"])
            keys = allowed if keys is None else tuple(key for key in keys if key in allowed)
    if lower is None and upper is None and keys and all(_is_number(key) for key in keys):
        lower, upper = min(keys), max(keys)
    if lower is not None and upper is not None and lower > upper:
        raise SchemaError.contradictory(name)
    dtype = getattr(column.dtype, "type", None)
    return ColumnFacts(
        bounds=None if lower is None and upper is None else (lower, upper),
        keys=keys,
        nullable=bool(column.nullable),
        numeric=_is_numeric(dtype) or _is_number(lower) or _is_number(upper),
        dtype=None if column.dtype is None else str(column.dtype),
    )


def _is_declaration(check: Any) -> bool:
    """Whether a check is one of pandera's own that holds for every value: anybody can name a function ``isin``."""
    function = getattr(check, "_check_fn", None)
    return type(function).__name__ == "Dispatcher" and not check.raise_warning and not check.groupby


def _range(name: str, stated: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the inclusive range a check declares; an excluded end is one that clamping may still return."""
    if name == "in_range":
        return stated["min_value"], stated["max_value"]
    if name in {"greater_than", "greater_than_or_equal_to"}:
        return stated["min_value"], None
    if name in {"less_than", "less_than_or_equal_to"}:
        return None, stated["max_value"]
    if name == "equal_to":
        return stated["value"], stated["value"]
    return None, None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number, Fraction)) and not isinstance(value, bool)


def _is_numeric(dtype: object) -> bool:
    kind = kind_of(dtype) if isinstance(dtype, (np.dtype, pd.api.extensions.ExtensionDtype)) else None
    return kind is not None and kind.name in {"int", "float", "bool"}


def validate(frame: pd.DataFrame, schema: Any) -> pd.DataFrame:
    """Return the validated (and, if the schema says so, coerced) frame, or raise ``SchemaViolation``.

    The failures are collected inside the handler and raised outside, so that neither ``__cause__`` nor ``__context__`` leads to the data.
    """
    failures: list[tuple[str, str]] | None = None
    validated: Any = None
    try:
        validated = schema.validate(frame, lazy=True)
    except Exception as error:  # noqa: BLE001  (whatever pandera raises may quote the data)
        failures = _failures(error)
    if failures is not None:
        raise SchemaViolation.of(failures)
    return validated  # type: ignore[no-any-return]


def _failures(error: Exception) -> list[tuple[str, str]]:
    """Pick column and check names out of pandera's errors, and nothing else."""
    found = []
    for single in getattr(error, "schema_errors", ()):
        context = getattr(single, "schema", None)
        check = getattr(single, "check", None)
        name = getattr(check, "name", None) or getattr(getattr(single, "reason_code", None), "name", "check")
        found.append((str(getattr(context, "name", None) or "frame"), str(name).lower()))
    return found
