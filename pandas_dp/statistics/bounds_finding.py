"""Help with bounds: where a column's values lie by powers of two, and how many a choice cuts off.  Post-processing of noisy counts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pandas_dp.cells.cells import IntGrid
from pandas_dp.domains.bins import outside_keys, power_keys
from pandas_dp.domains.domain import Domain
from pandas_dp.domains.dtypes import Kind
from pandas_dp.results import PrivateBounds, Release
from pandas_dp.statistics.basic import count
from pandas_dp.statistics.estimates import ShareEstimate

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.statistics.query import Query

__all__ = ["bounds_of", "bounds_query", "outside_query", "outside_share"]

_CHANCE = 0.01  # that noise alone makes a bin of an empty column count


def bounds_query(frame: PublicFrame, column: Hashable) -> Query:
    """Ask for a histogram over powers of two."""
    keys, _ = power_keys(frame, column)
    return replace(count(frame, None), text=f"bounds({column!r})", keys=keys)


def bounds_of(release: Release, kind: Kind | None) -> PrivateBounds:
    """Read bounds off the noisy histogram: the outermost bins that noise alone does not explain, or the fullest one.

    Bins that the dtype cannot hold, and the unbounded outermost ones, are never bounds; what is in them counts as cut off.
    """
    estimate: Any = release.estimates[0]
    index: Any = release.index
    counts = [int(one) for one in estimate.noisy[0]]
    reach = estimate.noise.size * math.log(len(counts) / _CHANCE)
    lefts, rights = [float(end) for end in index.left], [float(end) for end in index.right]
    smallest, largest = (0.0, 1.0) if kind is None or kind.name == "bool" else (kind.smallest, kind.largest)
    if kind is None:
        smallest, largest = -math.inf, math.inf
    possible = [
        place
        for place in range(len(counts))
        if math.isfinite(lefts[place]) and math.isfinite(rights[place]) and lefts[place] < largest and rights[place] > smallest
    ]
    full = [place for place in possible if counts[place] > reach] or [max(possible, key=counts.__getitem__)]
    lower: Any = max(lefts[full[0]], smallest)
    upper: Any = min(rights[full[-1]], largest)
    outside = sum(max(one, 0) for place, one in enumerate(counts) if not full[0] <= place <= full[-1])
    loud = sum(one for place, one in enumerate(counts) if not full[0] <= place <= full[-1] and one > reach)
    inside = max(sum(counts[full[0] : full[-1] + 1]), 0)
    # Noise above zero in bins without values adds up: count only what the whole sum, or a loud bin, shows to be outside.
    rest = min(max(sum(counts) - inside, loud, 0), outside)
    clamped = rest / max(inside + rest, 1)
    if kind is not None and kind.name in {"int", "bool"}:
        lower, upper = max(math.floor(lower), int(smallest)), min(math.ceil(upper), int(largest))
        lower = min(lower, upper - 1)
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
