"""Who holds a locked ledger file, as far as the system tells."""

from __future__ import annotations

import os
import struct
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["holder_of"]

# Where SQLite locks: in the shared-memory file the bytes of writer, checkpointer and recoverer; in the main file those of whoever has it alone.
_SHARED = ((120, 1), (121, 1), (122, 1))
_MAIN = ((0x40000000, 1), (0x40000001, 1), (0x40000002, 510))
_LAYOUTS = {"linux": ("@hhqqi", (0, 1, 2, 3, 4)), "darwin": ("@qqihh", (3, 4, 0, 1, 2))}  # type, whence, start, length, process


def holder_of(path: Path) -> str:
    """Return a text that names the process which locks the file, or says that it is not known."""
    with suppress(Exception):  # whatever a system without such locks raises
        shared = path.with_name(path.name + "-shm")
        for file, ranges in ((shared, _SHARED), (path, _MAIN)):
            process = _process(file, ranges) if file.exists() else None
            if process is not None:
                return f"process {process}{_called(process)}"
    return "another connection of this process, or one that the system does not name"


def _process(file: Path, ranges: tuple[tuple[int, int], ...]) -> int | None:
    import fcntl  # noqa: PLC0415  (absent on Windows)

    layout, places = _LAYOUTS[sys.platform]
    handle = os.open(file, os.O_RDWR)
    try:
        for start, length in ranges:
            fields = dict(zip(places, (fcntl.F_WRLCK, os.SEEK_SET, start, length, 0), strict=True))
            found = struct.unpack(layout, fcntl.fcntl(handle, fcntl.F_GETLK, struct.pack(layout, *(fields[place] for place in range(5)))))
            if found[places[0]] != fcntl.F_UNLCK and found[places[4]] > 0:
                return int(found[places[4]])
    finally:
        os.close(handle)
    return None


def _called(process: int) -> str:
    with suppress(OSError):
        return f" ({Path(f'/proc/{process}/comm').read_text(encoding='utf-8', errors='replace').strip()})"
    return ""
