"""Bins of a column of numbers: between public edges, over powers of two, or inside and outside of bounds.  Never made from data."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.domains.bounds import domain_of
from pandas_dp.domains.domain import ColumnFacts
from pandas_dp.domains.dtypes import kind_of
from pandas_dp.domains.keysets import MOST_GROUPS, Bins, KeySet
from pandas_dp.errors import KeysError, UnsupportedDtype

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pandas_dp.domains.dtypes import Kind
    from pandas_dp.domains.public_frame import PublicFrame

__all__ = ["bin_keys", "outside_keys", "power_keys"]

_POWERS = (-20, 61)  # of two, in between which numbers of everyday lie


def bin_keys(frame: PublicFrame, column: Hashable, bins: Any, *, right: bool) -> KeySet:
    """Find the groups of ``histogram(column, bins)``: the intervals between public, ascending edges.

    Raises
    ------
    KeysError
        If the edges are fewer than two, not ascending or not finite.
    UnsupportedDtype
        If the column holds no numbers.
    """
    frame.check(column)
    if not isinstance(right, (bool, np.bool_)):
        raise KeysError.unusable(column, "need right= to be True or False")
    kind = _number_kind("histogram", frame, column)
    if isinstance(bins, int) and not isinstance(bins, bool):
        domain = frame.domain("histogram", column, None)
        if not 1 <= bins <= MOST_GROUPS:
            raise KeysError.unusable(column, "must be a number of bins of at least 1, or their edges")
        low, high = (float(end) for end in domain.ends())
        edges = np.linspace(low, high, bins + 1)
        # As pd.cut does: a value on the outermost bound belongs to the outermost bin.
        edges[0 if right else -1] += (-1 if right else 1) * (high - low) / 1000
    else:
        edges = _edges(column, bins)
    intervals = pd.IntervalIndex.from_breaks(edges, closed="right" if right else "left", name=column)
    whole = kind.name == "int" and edges.dtype.kind in "iu"
    return KeySet((Bins(column, intervals, np.asarray(edges, dtype=np.int64 if whole else np.float64), right),), intervals)


def _edges(column: Hashable, bins: Any) -> Any:
    edges: Any = None
    if isinstance(bins, (list, tuple, range, np.ndarray, pd.Index, pd.Series)):
        with suppress(Exception):  # whatever a list of the caller's raises
            edges = np.asarray(list(bins))
    if edges is None or edges.ndim != 1 or edges.dtype.kind not in "iuf" or len(edges) < 2:  # noqa: PLR2004
        raise KeysError.unusable(column, "must be a number of bins, or at least two edges")
    if not np.isfinite(edges.astype(float)).all() or not (np.diff(edges.astype(float)) > 0).all():
        raise KeysError.unusable(column, "must be finite edges in ascending order")
    return edges


def _number_kind(statistic: str, frame: PublicFrame, column: Hashable) -> Kind:
    kind = kind_of(frame.dtype(column))
    facts = frame.facts.get(column)
    if kind is None or kind.name in {"datetime", "timedelta"} or (kind.name == "object" and not (facts and facts.numeric)):
        raise UnsupportedDtype.cannot(statistic, column, frame.dtype(column))
    return kind


def power_keys(frame: PublicFrame, column: Hashable) -> tuple[KeySet, Kind]:
    """Return bins over powers of two of both signs, and the column's kind."""
    frame.check(column)
    kind = _number_kind("bounds", frame, column)
    powers = [math.ldexp(1.0, power) for power in range(*_POWERS)]
    edges = np.array([-np.inf, *(-power for power in reversed(powers)), 0.0, *powers, np.inf])
    return _between(column, edges), kind


def outside_keys(frame: PublicFrame, column: Hashable, bounds: Any) -> KeySet:
    """Return three bins: below the bounds, inside them, above them."""
    frame.check(column)
    _number_kind("clamping_rate", frame, column)
    # Whatever is declared: a choice may be wider, too.
    low, high = (float(end) for end in domain_of("mean", column, frame.dtype(column), ColumnFacts(numeric=True), bounds).ends())
    return _between(column, np.array([-np.inf, low, np.nextafter(high, np.inf), np.inf]))


def _between(column: Hashable, edges: Any) -> KeySet:
    intervals = pd.IntervalIndex.from_breaks(edges, closed="left", name=column)
    return KeySet((Bins(column, intervals, edges, right=False),), intervals)
