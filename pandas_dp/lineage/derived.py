"""Whether a frame is the protected one itself, or a column of it: for ``protect(derived="refuse")``.

Compares where the values are kept, not the values: whether a derived frame is refused must not depend on what is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["is_part_of"]


def is_part_of(frame: pd.DataFrame | pd.Series[Any], kept: pd.DataFrame) -> bool:
    """Whether a frame has all rows and columns of the one that was kept, or a Series is one of its columns, unchanged."""
    if not frame.index.is_(kept.index):
        return False
    if isinstance(frame, pd.Series):
        places = [place for place, name in enumerate(kept.columns) if name is frame.name or name == frame.name]
        return len(places) == 1 and _same(frame, kept.iloc[:, places[0]]) is True
    return bool(frame.columns.equals(kept.columns)) and all(
        _same(frame.iloc[:, place], kept.iloc[:, place]) is not False for place in range(kept.shape[1])
    )


def _same(one: pd.Series[Any], other: pd.Series[Any]) -> bool | None:
    """Whether two columns are kept at the same place; None if they do not say: a nullable boolean, whose own Series is refused therefore."""
    if one.dtype != other.dtype:
        return False
    first, second = one.array, other.array
    if first is second:
        return True
    places = [_place(array) for array in (first, second)]
    return None if None in places else bool(places[0] == places[1])


def _place(array: Any) -> Any:
    """Return where an array keeps its values, or None if it does not say."""
    if isinstance(array, pd.Categorical):
        return _address(array.codes), id(array.categories)
    if hasattr(array, "asi8"):
        return _address(array.asi8)
    if hasattr(array, "__arrow_array__"):
        arrow = array.__arrow_array__()
        chunks = arrow.chunks if hasattr(arrow, "chunks") else [arrow]
        buffers = [buffer.address if buffer else 0 for chunk in chunks for buffer in chunk.buffers()]
        # The first buffer says what is missing; a masked array makes a new one each time.
        return None if isinstance(array.dtype, pd.BooleanDtype) else buffers[1:]
    return _address(np.asarray(array))


def _address(values: NDArray[Any]) -> tuple[Any, ...]:
    interface = values.__array_interface__
    return interface["data"][0], interface["shape"], interface["strides"]
