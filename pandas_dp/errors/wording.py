"""How names, bounds and texts are quoted in errors: as they were typed, and never what could hold data."""

from __future__ import annotations

import datetime as dt
import numbers
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["UNCHARGED", "bound", "excerpt", "label", "pair", "plain", "type_name", "visible", "where"]

UNCHARGED = "Nothing was computed and nothing was spent."
_DIGITS = 40
_EXCERPT = 80


def type_name(dtype: object) -> str:
    """Return a dtype's name without anything that depends on values (a Categorical's repr lists its categories)."""
    name = str(getattr(dtype, "name", dtype))
    return name.split("[", maxsplit=1)[0] if name.startswith(("interval", "category", "Sparse")) else name


def where(column: Hashable) -> str:
    """Return how a column is called in a sentence."""
    return "the Series" if column is None else f"column {label(column)}"


def label(name: object) -> str:
    """Return a name as it was typed; of anything that could hold data, the type."""
    if isinstance(name, (str, bytes, numbers.Number, dt.date, dt.timedelta)) or name is None:
        return repr(name)
    if isinstance(name, tuple):
        return "(" + ", ".join(map(label, name)) + ")"
    return f"of type {type(name).__name__}"


def visible(text: str) -> str:
    """Escape what is not seen or changes how the rest is: control characters, directions of writing, halves of characters."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def excerpt(text: str) -> str:
    """Quote a piece of an expression, which is public, at a length that can be read."""
    return repr(text if len(text) <= _EXCERPT else text[:_EXCERPT] + "...")


def bound(end: object) -> str:
    """Return one end of a pair of bounds, at a length that can be read."""
    if end is None:
        return "none"
    if isinstance(end, int) and end.bit_length() > 4 * _DIGITS:
        return f"an integer of {end.bit_length()} bits"
    if isinstance(end, (str, numbers.Number, dt.date, dt.timedelta)) or (hasattr(end, "dtype") and getattr(end, "ndim", 1) == 0):
        text = str(end)
        return text if len(text) <= _DIGITS else text[:_DIGITS] + "..."
    return f"a {type(end).__name__}"


def plain(bounds: object) -> tuple[object, ...] | None:
    """Return bounds for an error's attribute: numbers, dates and texts as they are; nothing else is kept."""
    if not isinstance(bounds, tuple):
        return None
    kept = all(isinstance(one, (str, numbers.Number, dt.date, dt.timedelta)) and bound(one)[:2] != "an" for one in bounds)
    return bounds if kept else None


def pair(bounds: object) -> str:
    """Return a pair of bounds, or what was given instead."""
    if isinstance(bounds, tuple):
        return "(" + ", ".join(map(bound, bounds)) + ")"
    return f"of type {type(bounds).__name__}"
