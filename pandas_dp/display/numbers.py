"""Numbers as they are printed: a value with its ±.  A margin may be rounded up, and must never be rounded down."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["plus_minus"]

_PLAIN = 1e16  # beyond, and below 10**-12, powers of ten are easier to read
_PLACES = 12


def plus_minus(value: Any, half_width: Any) -> str:
    """Return ``value ± half_width`` with the margin to two significant digits and the value to the same place."""
    if not isinstance(value, (int, float)):
        return f"{value} ± {half_width}"
    margin = float(half_width)
    if margin <= 0:
        return f"{float(value):.12g} ± 0"
    if not math.isfinite(margin):
        return f"{float(value):.6g} ± {margin}"
    places = max(0, 1 - math.floor(math.log10(margin)))
    if isinstance(value, int):
        places = 0
    if abs(value) >= _PLAIN or places > _PLACES:
        return f"{float(value):.6g} ± {margin:.2g}"
    # A margin may be rounded up, never down.
    margin = math.ceil(margin * 10**places * (1 - 1e-12)) / 10**places
    return f"{value:.{places}f} ± {margin:.{places}f}" if places else f"{round(value)} ± {margin:.0f}"
