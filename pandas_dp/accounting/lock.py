"""The locks: charges are short.  Use them as ``lock.LOCK`` and ``lock.FILES``, for a fork replaces them.

Who needs both takes ``FILES`` first.
"""

from __future__ import annotations

import os
import threading

__all__ = ["FILES", "LOCK", "charging"]

LOCK = threading.RLock()
"""Guards every account and the registry of sessions."""

FILES = threading.RLock()
"""Guards ledger files: while it is free, no connection to one is open."""


charging = 0
"""The thread that charges a session in memory, which holds ``LOCK``; 0 for none."""


def _before() -> None:
    # SQLite must not be carried over a fork: wait until no thread has a connection open.
    FILES.acquire()


def _in_parent() -> None:
    FILES.release()


def _in_child() -> None:
    # Another thread of the parent may have held a lock when the process forked; nobody in the child would free it.
    global LOCK, FILES, charging
    LOCK, FILES, charging = threading.RLock(), threading.RLock(), 0


if hasattr(os, "register_at_fork"):  # pragma: no branch  (absent on Windows, which cannot fork)
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
