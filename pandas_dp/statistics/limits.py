"""Help with bounds: where a column's values lie by powers of two, and how many a choice cuts off.  Post-processing of noisy counts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pandas_dp.bins import outside_keys, power_keys
from pandas_dp.cells import IntGrid
from pandas_dp.domain import Domain
from pandas_dp.kinds import Kind
from pandas_dp.statistics.basic import count
from pandas_dp.statistics.estimates import ShareEstimate

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pandas_dp.public import PublicFrame
    from pandas_dp.results import Release
    from pandas_dp.statistics.readings import Query

__all__ = ["PrivateBounds", "bounds_of", "bounds_query", "outside_query", "outside_share"]

_CHANCE = 0.01  # that noise alone makes a bin of an empty column count


class PrivateBounds(tuple[Any, Any]):  # noqa: SLOT001  (a tuple cannot have slots)
    """Estimated bounds ``(lower, upper)``, which also know what they are expected to cut off.

    Attributes
    ----------
    clamped : float
        The expected share of values outside, by the same noisy counts.
    """

    clamped: float

    @classmethod
    def of(cls, lower: Any, upper: Any, clamped: float) -> PrivateBounds:
        """Return the pair."""
        found = cls((lower, upper))
        found.clamped = clamped
        return found


def bounds_query(frame: PublicFrame, column: Hashable) -> Query:
    """Ask for a histogram over powers of two."""
    keys, _ = power_keys(frame, column)
    return replace(count(frame, None), text=f"bounds({column!r})", keys=keys)


def bounds_of(release: Release, kind: Kind | None) -> PrivateBounds:
    """Read bounds off the noisy histogram: the outermost bins that noise alone does not explain, or the fullest one."""
    estimate = release.estimates[0]
    index: Any = release.index
    counts = [int(one) for one in estimate.noisy[0]]  # type: ignore[attr-defined]  # a grouped estimate
    reach = estimate.noise.size * math.log(len(counts) / _CHANCE)  # type: ignore[attr-defined]  # as above
    full = [place for place, one in enumerate(counts) if one > reach] or [counts.index(max(counts))]
    lower, upper = float(index.left[full[0]]), float(index.right[full[-1]])
    outside = sum(max(one, 0) for place, one in enumerate(counts) if not full[0] <= place <= full[-1] and one > reach)
    inside = sum(counts[full[0] : full[-1] + 1])
    rest = max(sum(counts) - inside, outside, 0)
    clamped = min(rest / max(sum(counts), 1), 1.0)
    if kind is not None and kind.name in {"int", "bool"}:
        low, high = (0, 1) if kind.name == "bool" else (kind.smallest, kind.largest)
        lower, upper = max(math.floor(lower), int(low)), min(math.ceil(upper), int(high))
    elif kind is not None:
        lower, upper = max(lower, kind.smallest), min(upper, kind.largest)
    return PrivateBounds.of(lower, upper, clamped)


def outside_query(frame: PublicFrame, column: Hashable, bounds: Any) -> Query:
    """Ask how many values lie below, inside and above."""
    keys = outside_keys(frame, column, bounds)
    return replace(count(frame, None), text=f"clamping_rate({column!r} outside [{bounds[0]}, {bounds[1]}])", keys=keys)


def outside_share(release: Release) -> Release:
    """Return the release of the share outside, read from the three noisy counts."""
    estimate: Any = release.estimates[0]
    unit = Domain(None, Kind("bool"), IntGrid(0, 1), (0, 1))
    share = ShareEstimate(tuple(int(cell) for cell in estimate.noisy[0]), (1.0, 0.0, 1.0), estimate.noise, unit)
    return replace(release, estimates=(share,), index=None, columns=None)
