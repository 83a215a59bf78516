"""Reading a pandera schema: bounds, keys, nullability and dtype, frozen; and validation with clean errors.

The only module that knows pandera, which is imported when a schema is given and not before.  pandera's own errors carry the frame,
the failing values and their labels: none of that may leave this module.  Nothing else in the project relies on
validation having happened (it can be switched off by an environment variable): every query clamps.
"""

from __future__ import annotations

import re
import warnings
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pandas_dp.domains.domain import ColumnFacts
from pandas_dp.domains.dtypes import kind_of
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
    try:
        if isinstance(model, type) and issubclass(model, pa.DataFrameModel):
            model = cast("Any", model).to_schema()
        facts = _read_columns(model, list(columns)) if isinstance(model, pa.DataFrameSchema) else None
    except SchemaError:
        raise
    except Exception:  # noqa: BLE001  (a broken pattern or annotation, bounds of two types: what is in it cannot be read)
        model, facts = None, {}
    if model is None:
        raise SchemaError.unreadable()
    if facts is None:
        raise SchemaError.not_pandera(schema if isinstance(schema, type) else type(schema))
    return model, facts


def _read_columns(schema: Any, names: list[Hashable]) -> dict[Hashable, ColumnFacts]:
    facts: dict[Hashable, ColumnFacts] = {}
    for name, column in schema.columns.items():
        declared = _facts(name, column)
        matching = [c for c in names if not isinstance(c, tuple) and re.match(str(name), str(c))] if column.regex else [name]
        for match in matching:
            facts[match] = _both(match, facts[match], declared) if match in facts else declared
    return facts


def _facts(name: Hashable, column: Any) -> ColumnFacts:
    dtype = getattr(column.dtype, "type", None)
    facts = ColumnFacts(
        nullable=bool(column.nullable), numeric=_is_numeric(dtype), dtype=None if column.dtype is None else str(column.dtype)
    )
    for check in column.checks:
        kind = _kind(check)
        if kind is not None:
            facts = _both(name, facts, _declared(kind, check.statistics or {}))
    return facts


def _both(name: Hashable, one: ColumnFacts, other: ColumnFacts) -> ColumnFacts:
    """Return what is declared by two declarations together."""
    lowers = [facts.bounds[0] for facts in (one, other) if facts.bounds and facts.bounds[0] is not None]
    uppers = [facts.bounds[1] for facts in (one, other) if facts.bounds and facts.bounds[1] is not None]
    lower, upper = max(lowers, default=None), min(uppers, default=None)
    if one.keys is None or other.keys is None:
        keys = other.keys if one.keys is None else one.keys
    else:
        keys = tuple(key for key in one.keys if key in other.keys)
    if keys is not None and (lower is not None or upper is not None):
        keys = tuple(key for key in keys if (lower is None or key >= lower) and (upper is None or key <= upper))
    if keys == () or (lower is not None and upper is not None and lower > upper):
        raise SchemaError.contradictory(name)
    return ColumnFacts(
        bounds=None if lower is None and upper is None else (lower, upper),
        keys=keys,
        nullable=one.nullable and other.nullable,
        numeric=one.numeric or other.numeric or _is_number(lower) or _is_number(upper),
        dtype=one.dtype or other.dtype,
    )


def _declared(kind: str, stated: Mapping[str, Any]) -> ColumnFacts:
    """Return what one check declares; an excluded end is included, for clamping may return it."""
    if kind == "isin":
        keys = tuple(key for key in stated["allowed_values"] if not pd.isna(key))
        numbers = keys and all(_is_number(key) for key in keys)
        return ColumnFacts(keys=keys, bounds=(min(keys), max(keys)) if numbers else None)
    if kind == "equal_to":
        return ColumnFacts(bounds=(stated["value"], stated["value"]))
    return ColumnFacts(bounds=(stated.get("min_value"), stated.get("max_value")))


_KINDS = {
    "in_range",
    "greater_than",
    "greater_than_or_equal_to",
    "less_than",
    "less_than_or_equal_to",
    "equal_to",
    "isin",
}


def _kind(check: Any) -> str | None:
    """Return which of pandera's own checks this is, if it declares something for every value; a check's name may be anybody's choice."""
    function = getattr(check, "_check_fn", None)
    if type(function).__name__ != "Dispatcher" or check.raise_warning or check.groupby:
        return None
    kind = getattr(function, "_name", None)
    return kind if kind in _KINDS else None


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a check that only warns would print the values
            validated = schema.validate(frame, lazy=True)
    except Exception as error:  # noqa: BLE001  (whatever pandera raises may quote the data)
        failures = _failures(error, [*map(str, frame.columns)], schema)
    if failures is not None:
        raise SchemaViolation.of(failures)
    return validated  # type: ignore[no-any-return]


def _failures(error: Exception, columns: list[str], schema: Any) -> list[tuple[str, str]]:
    """Pick column and check names out of pandera's errors, and nothing else; which columns are missing or too many are names, too."""
    found = []
    patterns = [str(name) for name, column in schema.columns.items() if column.regex]
    declared = {str(name): bool(column.required) for name, column in schema.columns.items() if not column.regex}
    for single in getattr(error, "schema_errors", ()):
        context = getattr(single, "schema", None)
        check = getattr(single, "check", None)
        reason = getattr(getattr(single, "reason_code", None), "name", "")
        if reason == "COLUMN_NOT_IN_DATAFRAME":
            found += [(name, "not in the frame") for name, required in declared.items() if required and name not in columns]
            continue
        if reason == "COLUMN_NOT_IN_SCHEMA":
            found += [
                (name, "not in the schema") for name in columns if name not in declared and not any(re.match(one, name) for one in patterns)
            ]
            continue
        if reason == "INVALID_COLUMN_NAME":
            found += [(one, "not in the frame") for one in patterns if not any(re.match(one, name) for name in columns)]
            continue
        name = getattr(check, "name", None) or getattr(getattr(single, "reason_code", None), "name", "check")
        found.append((str(getattr(context, "name", None) or "frame"), str(name).lower()))
    return found
