"""Errors about frames: not protected, protected twice, rows that cannot be traced."""

from __future__ import annotations

from typing import Self

from pandas_dp.errors.base import DPError
from pandas_dp.errors.wording import UNCHARGED

__all__ = ["AlreadyProtected", "LineageError", "NotProtected"]


class NotProtected(DPError, RuntimeError):
    """The frame belongs to no session of this process."""

    @classmethod
    def unknown(cls) -> Self:
        return cls(
            "this frame is not protected: it carries no handle of a session of this process. "
            "Call df.dp.protect(epsilon=...) once, on the original frame, and derive from what it returns. "
            "Aggregates, reshapes and merge() drop the handle on purpose: join a public table with "
            "df.join(table, on=...) or Series.map instead of merge(), filter with query/loc, and ask .dp "
            "before you aggregate; session.adopt(frame) takes back a frame that still has its unit column. " + UNCHARGED
        )


class AlreadyProtected(DPError, ValueError):
    """``protect()`` was called on a frame that a session already protects."""

    @classmethod
    def again(cls) -> Self:
        return cls(
            "this frame is already protected: a second budget for the same people would not be one promise. "
            "Use the frame as it is; its session is df.dp.session."
        )


class LineageError(DPError, ValueError):
    """The rows cannot be traced one by one to the protected frame."""

    @classmethod
    def derived(cls) -> Self:
        return cls(
            "this frame was protected with derived='refuse', and is answered only as a whole, by its columns, and through tracked views: "
            f"df.dp.where(...), df.dp.assign(...), df.dp.select(...). {UNCHARGED}"
        )

    @classmethod
    def lost(cls) -> Self:
        return cls(
            "the rows of this frame do not carry the row labels of the protected frame, so it cannot be known "
            "whom they are about (reset_index(drop=True), set_index, ignore_index=True, merge, an aggregate or a "
            "reshape removes them). Keep the index; use join(table, on=...) or map instead of merge(); ask .dp before "
            "you aggregate; or name a unit column in protect(unit=..., max_rows=...) and hand the frame to "
            "df.dp.session.adopt(frame). " + UNCHARGED
        )

    @classmethod
    def mixed(cls) -> Self:
        return cls(
            "this frame carries the marks of two protected frames: rows of both were joined or combined, and a budget answers for one. "
            "Join before you protect, or keep them apart; two frames about the same people can share one budget with "
            "pandas_dp.Session(epsilon=...).protect(frame), but not one row. " + UNCHARGED
        )

    @classmethod
    def relabelled(cls) -> Self:
        return cls(
            "this frame has row labels that the protected frame does not have: rows were added or relabelled "
            "(append, reindex, rename, a join that is not on='left'). Keep to the protected rows and their index: "
            "filter, select and assign columns. " + UNCHARGED
        )

    @classmethod
    def repeated(cls) -> Self:
        return cls(
            "row labels of the protected frame are repeated in this frame: rows were duplicated (concat of "
            "overlapping parts, explode, melt, stack, sample(replace=True), a join on a table with repeated keys), "
            "so one person could count more than once. Concat disjoint parts only, join on unique keys, or protect "
            "with unit=... and max_rows=..., which limits how often one unit counts. " + UNCHARGED
        )

    @classmethod
    def not_unique(cls) -> Self:
        return cls(
            "the index has repeated labels, so a row cannot be told by its label. Say which column or index level "
            "holds the person with protect(unit='patient_id', max_rows=5), or give every row its own label with "
            "df.reset_index(drop=True).dp.protect(...) if each row is one person."
        )

    @classmethod
    def no_unit_column(cls) -> Self:
        return cls(
            "adopt() needs the unit column (or index level) that the session was protected with, under its own name, "
            "holding only units of the protected frame. Keep that column through the merge or reshape. " + UNCHARGED
        )
