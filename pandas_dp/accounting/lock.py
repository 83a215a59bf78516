"""The one lock: charges are short.  Use it as ``lock.LOCK``, for a fork replaces it."""

from __future__ import annotations

import os
import threading

__all__ = ["LOCK"]

LOCK = threading.RLock()
"""Guards every account and the registry of sessions."""


def _renew() -> None:
    # Another thread of the parent may have held the lock when the process forked; nobody in the child would free it.
    global LOCK  # noqa: PLW0603
    LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):  # pragma: no branch  (absent on Windows, which cannot fork)
    os.register_at_fork(after_in_child=_renew)
