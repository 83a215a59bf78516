"""What is made of released counts: sorted counts, shares, tables with margins.

Free post-processing of noisy numbers; nothing here may ask, charge or read.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from pandas_dp.errors import KeysError

__all__ = ["check_crosstab", "crosstab", "mode", "value_counts"]


def value_counts(counts: pd.Series[Any], *, normalize: bool = False, sort: bool = True) -> pd.Series[Any]:
    """Return noisy counts, or their shares of the noisy total; largest first if sorted."""
    counts = counts.rename("count")
    if normalize:
        present = counts.clip(lower=0)
        counts = (present / max(int(present.sum()), 1)).rename("proportion")
    return counts.sort_values(ascending=False, kind="stable") if sort else counts


def mode(counts: pd.Series[Any]) -> Any:
    """Return the key with the largest noisy count; None where no private key shows."""
    return value_counts(counts).idxmax() if len(counts) else None


def check_crosstab(index: Any, columns: Any, keys: Any, *, margins: bool) -> None:
    """Refuse keys that are no lists for every pair, or that the margins' name would hide."""
    if keys is not None and not isinstance(keys, dict):
        raise KeysError.unusable([index, columns], "must be a dict of lists: a table has every pair")
    if margins and any("All" in list(values) for values in (keys or {}).values()):
        raise KeysError.unusable([index, columns], "contain 'All', which margins=True calls the sums")


def crosstab(counts: pd.Series[Any], *, margins: bool) -> pd.DataFrame:
    """Lay out the noisy counts of pairs of keys as a table; its margins are sums of noisy cells."""
    first, second = (counts.index.get_level_values(place).unique() for place in (0, 1))
    table = pd.DataFrame(counts.to_numpy().reshape(len(first), len(second)), index=first, columns=second)
    if margins:
        table["All"] = table.sum(axis=1)
        table.loc["All"] = table.sum(axis=0)
    return table
