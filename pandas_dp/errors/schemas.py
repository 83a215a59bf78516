"""Errors about schemas, and about frames that do not satisfy theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pandas_dp.errors.base import DPError
from pandas_dp.errors.wording import where

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

__all__ = ["SchemaError", "SchemaViolation"]


class SchemaError(DPError, ValueError):
    """The schema itself cannot be used.  Judged without the data."""

    @classmethod
    def not_pandera(cls, kind: type) -> Self:
        return cls(f"schema= must be a pandera DataFrameSchema or DataFrameModel (import pandera.pandas as pa), not {kind.__name__}.")

    @classmethod
    def unreadable(cls) -> Self:
        return cls(
            "the schema's columns and checks could not be read. Try schema.validate(frame.head(0)), which shows what is wrong with it."
        )

    @classmethod
    def contradictory(cls, column: Hashable) -> Self:
        return cls(f"the schema's checks for {where(column)} leave no room between lower and upper bound. Correct the schema.")


class SchemaViolation(DPError, ValueError):
    """The frame does not satisfy its schema.  Says which columns and checks, never which values.

    Attributes
    ----------
    failures : tuple of (column, check)
        What failed, by name.
    """

    failures: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, failures: Iterable[tuple[str, str]]) -> Self:
        unique = tuple(dict.fromkeys(failures))
        shown = "; ".join(f"{column}: {check}" for column, check in unique)
        if unique and all(check.startswith("not in the ") for _, check in unique):
            return cls(
                f"the columns of the frame are not those of its schema ({shown}). Rename them, or correct the schema: required=False lets a "
                "column be missing, strict=False lets others be there.",
                failures=unique,
            )
        return cls(
            f"the frame does not satisfy its schema ({shown or 'validation failed'}). No values are shown here: the owner "
            "can look with schema.validate(df, lazy=True) outside pandas_dp. Correct the data or the schema, or use "
            "enforce='clamp' to leave values to the clamping that every query does anyway.",
            failures=unique,
        )
