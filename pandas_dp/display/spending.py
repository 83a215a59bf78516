"""How a budget is drawn: what was spent on which query, and where it ends.

What is drawn stands in the ledger, which is public: this module must never see a frame, and charges nothing.  The public function is :func:`pandas_dp.plotting.budget`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.display.drawing import axes_for, headed, name_places, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from pandas_dp.accounting import Accountant, Entry, Filter

__all__ = ["draw_spending"]

_BARS = 20  # queries that get a bar with their text each
_ROWS = 14  # of them, from where on the texts are small


def draw_spending(account: Accountant, name: str | None, ax: Axes | None) -> Axes:
    """Draw what was charged to an account, query by query; up to 20 as bars, more as one line."""
    entries, limit = account.entries, float(account.budget)
    after = _spent_after(account.rule, entries)
    symbol, spent = account.unit.symbol, after[-1]
    money = f"spent ({symbol}{f', at {account.delta!r}' if account.delta else ''})"
    ax = axes_for(ax)
    if len(entries) <= _BARS:
        ax.barh(range(len(entries)), np.diff(after), left=after[:-1], height=0.7)
        if len(entries) > _ROWS:
            ax.tick_params(axis="y", labelsize="small")
        name_places(ax.yaxis, [short(entry.query) for entry in entries])
        ax.invert_yaxis()
        ax.set_xlim(0, 1.1 * max(limit, spent))
        ax.set_xlabel(money)
        ax.set_ylabel("" if entries else "no query yet")
        _mark_limit(ax, limit, f"budget {account.budget!r}", upright=True)
    else:
        ax.step(range(len(after)), after, where="post")
        ax.set_xlim(0, len(entries))
        ax.set_ylim(0, 1.1 * max(limit, spent))
        ax.set_xlabel("number of queries")
        ax.locator_params(axis="x", integer=True)
        ax.set_ylabel(money)
        _mark_limit(ax, limit, f"budget {account.budget!r}", upright=False)
    called = f"{name}: " if name else ""
    headed(ax, f"{called}{symbol}={spent:.4g} of {account.budget!r} spent", private=all(entry.private for entry in entries))
    return ax


def _mark_limit(ax: Axes, limit: float, text: str, *, upright: bool) -> None:
    """Draw where the budget ends, and say so on the far side of it, where nothing else is."""
    colour = ax.xaxis.label.get_color()
    if upright:
        ax.axvline(limit, linestyle="--", color=colour)
        at: dict[str, Any] = {
            "xy": (limit, 0.97),
            "xycoords": ("data", "axes fraction"),
            "xytext": (3, 0),
            "rotation": 90,
            "ha": "left",
            "va": "top",
        }
    else:
        ax.axhline(limit, linestyle="--", color=colour)
        at = {"xy": (0.02, limit), "xycoords": ("axes fraction", "data"), "xytext": (0, 3), "ha": "left", "va": "bottom"}
    ax.annotate(text, textcoords="offset points", **at)


def _spent_after(rule: Filter, entries: Sequence[Entry]) -> list[float]:
    """Return what had been spent before the first charge and after each, by the rule of today's budget."""
    sums, spent = rule.start(), [0.0]
    for entry in entries:
        sums = rule.plus(sums, entry.cost)
        spent.append(float(rule.spent(sums)))
    return spent
