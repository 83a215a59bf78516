"""Reading single cells of object columns, so that no value can raise, whatever it is.

Reads private data: for the engines and for tracked views, after the charge.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["is_missing", "number"]


def number(cell: object) -> float:
    """Return a cell as a double: NaN for what is no real number, an infinity for what is too large for one."""
    if not isinstance(cell, (int, float, Decimal, Fraction, np.bool_, np.integer, np.floating)):
        return math.nan
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf
    except Exception:  # noqa: BLE001  (a signalling NaN, or a subclass that misbehaves)
        return math.nan


def is_missing(cell: Any) -> bool:
    """Return whether pandas takes a cell for missing; what cannot even be compared with itself is."""
    try:
        return bool(pd.isna(cell)) if pd.api.types.is_scalar(cell) else False
    except Exception:  # noqa: BLE001  (pandas compares objects with themselves, which some refuse)
        return True
