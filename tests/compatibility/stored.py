"""Where the records stand, how they are read, and in what two of them differ."""

from __future__ import annotations

import json
import math
from pathlib import Path

__all__ = ["HERE", "difference", "read", "write"]

HERE = Path(__file__).parent / "records"


def read(name):
    """Return the records of a file."""
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def write(name, records):
    """Write records, each on a line of its own."""
    lines = (f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(one, ensure_ascii=False)}" for key, one in records.items())
    (HERE / name).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def difference(recorded, found, where=""):
    """Return the first place in which two records differ, and both, as a text; or None."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        for name in {**recorded, **found}:
            if name not in recorded or name not in found:
                return f"{where}/{name}: {'is new' if name in found else 'is missing now'}"
            below = difference(recorded[name], found[name], f"{where}/{name}")
            if below is not None:
                return below
        return None
    if isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        below = (difference(one, other, f"{where}/{place}") for place, (one, other) in enumerate(zip(recorded, found, strict=True)))
        return next((one for one in below if one is not None), None)
    if recorded == found or ("/interval/" in where and _close(recorded, found)) or ("/half_width" in where and _close(recorded, found)):
        return None
    return f"{where}: {recorded!r:.300} recorded, {found!r:.300} now"


def _close(recorded, found):
    """Whether two ends of an interval are the same but for the last bits, which NumPy's own sums and powers decide."""
    try:
        return math.isclose(float(recorded), float(found), rel_tol=1e-12)
    except (TypeError, ValueError):
        return False
