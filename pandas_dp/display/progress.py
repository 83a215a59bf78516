"""A bar for work that may take seconds, for whoever has tqdm and looks at the screen.

What it shows is public: how many steps there are, and how many are done.  Where a number of steps is private (that of the groups before private keys are released) the caller
gives none, and there is no bar.  How fast it moves is timing, which is out of the promise's scope (docs/explanation/promise.md), as is how long a query takes.  It must never make a
query fail, for it runs after the charge: whatever tqdm raises ends the bar and nothing else.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["steps"]

Item = TypeVar("Item")

_DELAY = 2  # seconds
_SHOWN = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}"  # no rates or times
_within: ContextVar[bool] = ContextVar("within", default=False)


def steps(items: Iterable[Item], total: int | None, least: int = 1000) -> Iterable[Item]:
    """Return the items, with a bar if going through them takes more than two seconds.

    Parameters
    ----------
    items : iterable
        What is gone through.
    total : int or None
        How many there are, if that is public.
    least : int
        Up to so many, which are quick, there is no bar, and tqdm is not loaded.
    """
    return items if total is None or total <= least or _within.get() else _followed(items, total)


def _followed(items: Iterable[Item], total: int) -> Iterator[Item]:
    bar = _bar(total)
    inside = _within.set(True)  # one bar at a time
    try:
        for item in items:
            yield item
            if bar is not None:
                with suppress(Exception):
                    bar.update()
    finally:
        with suppress(ValueError):  # ended from another context
            _within.reset(inside)
        if bar is not None:
            with suppress(Exception):
                bar.close()


def _bar(total: int) -> Any:
    """Return a bar that shows itself after a while, or None: without tqdm, or where nobody looks."""
    with suppress(Exception):
        kernel = type(sys.stderr).__module__.partition(".")[0] == "ipykernel"
        if kernel or sys.stderr.isatty():
            from threading import RLock  # noqa: PLC0415  (for those who have tqdm, as the next)

            from tqdm.std import tqdm

            class Bar(tqdm):  # type: ignore[misc]  # tqdm has no types
                monitor_interval = 0  # no thread, which a fork would not like

            Bar.set_lock(RLock())  # and no lock between processes
            place = {"file": _Output(), "ncols": 60} if kernel else {"file": sys.stderr, "dynamic_ncols": True}
            return Bar(total=total, desc="pandas_dp", delay=_DELAY, mininterval=0.2, miniters=1, leave=False, bar_format=_SHOWN, **place)
    return None


class _Output:
    """Where a notebook shows a bar: an output that each line replaces, and the last one empties.

    What goes to its standard error would stay in the saved notebook, line by line, if no browser was there to overwrite it.
    """

    encoding = "utf-8"

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str) -> None:
        """Show a line; what moves a terminal's cursor is passed over."""
        line = {"text/plain": text.strip()}
        if not text.startswith("\r"):
            return
        if self._handle is not None:
            self._handle.update(line, raw=True)
        elif line["text/plain"]:
            from IPython.display import DisplayHandle  # noqa: PLC0415  (a kernel has it)

            self._handle = DisplayHandle()
            self._handle.display(line, raw=True)

    def flush(self) -> None:
        """Be a file."""
