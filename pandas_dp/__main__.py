"""``python -m pandas_dp``: which command was typed.  Does nothing itself."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pandas_dp.cli import report, tour

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")  # ε and ± on consoles that default to something else
    typed = sys.argv[1:] if arguments is None else list(arguments)
    if typed[:1] == ["ledger"]:
        from pandas_dp.cli import audit  # noqa: PLC0415  (loaded for those who use it)

        return audit.main(typed[1:])
    options = report.parsed(typed)
    if options.file is not None:
        return report.answer(options)
    tour.show()
    return 0


if __name__ == "__main__":  # pragma: no branch
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)
