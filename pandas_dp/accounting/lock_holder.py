"""Who holds a locked ledger file, as far as the system tells.

Linux lists all locks.  Nothing is opened for it: closing a file again would give back the locks that this process has on it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["holder_of"]

_LOCKS = Path("/proc/locks")
_FIELDS = 8  # number, POSIX, ADVISORY, WRITE, process, device:inode, first and last byte


def holder_of(path: Path) -> str:
    """Return a text that names a process which locks the file, or says that it is not known."""
    with suppress(Exception):  # whatever a system without such a list raises
        inodes = {str(file.stat().st_ino) for file in (path, path.with_name(path.name + "-shm")) if file.exists()}
        lines = [line.split() for line in _LOCKS.read_text(encoding="ascii").splitlines()]
        found = [line for line in lines if len(line) == _FIELDS and line[5].rsplit(":", 1)[-1] in inodes]
        for line in sorted(found, key=lambda line: line[3] != "WRITE"):
            process = int(line[4])
            if process > 0 and process != os.getpid():
                return f"process {process}{_called(process)}"
    return "another connection of this process, or one that the system does not name"


def _called(process: int) -> str:
    with suppress(OSError):
        name = Path(f"/proc/{process}/comm").read_text(encoding="utf-8", errors="replace").strip()
        return f" ({name})" if name.isprintable() else ""
    return ""
