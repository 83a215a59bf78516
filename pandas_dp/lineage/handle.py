"""What a handle looks like: the string by which a frame leads to its session, and which may not be taken for data."""

from __future__ import annotations

import re

__all__ = ["HANDLE"]

HANDLE = re.compile(r".+#[0-9a-f]{8}")
"""What a protected frame's unnamed index is called by: a label, and a token of :func:`pandas_dp.noise.entropy.fresh_token`."""
