"""Errors about ledger files, and about labels under which answers are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pandas_dp.errors.base import DPError
from pandas_dp.errors.wording import UNCHARGED

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LabelError", "LedgerBusy", "LedgerDamaged", "LedgerError", "LedgerUnwritable"]

_COPY = "Keep a copy of it as it is, and put a copy that was whole in its place"


class LedgerError(DPError, RuntimeError):
    """A ledger file cannot be used.  Nothing was answered.

    Attributes
    ----------
    path : str
        The file.
    """

    path: str

    @classmethod
    def missing(cls, path: str) -> Self:
        return cls(
            f"there is no ledger at {path}. protect(ledger=...) with a budget begins one; to continue one, name the file that was begun.",
            path=path,
        )

    @classmethod
    def elsewhere(cls, path: str) -> Self:
        return cls(
            f"no ledger can be kept at {path}: the folder does not exist, or it is no file. Name a file in a folder that exists, on a local "
            "disk.",
            path=path,
        )

    @classmethod
    def no_file(cls, path: str) -> Self:
        return cls(f"ledger={path!r} names no file. A session in memory needs no ledger=; to keep one, name a file.", path=path)

    @classmethod
    def leftover(cls, path: str) -> Self:
        return cls(
            f"there is no ledger at {path}, but its log ({path}-wal) is still there: the file was removed or renamed while it was in use. "
            "Bring it back beside its log; a new ledger in its place would refill the budget.",
            path=path,
        )

    @classmethod
    def vanished(cls, path: str) -> Self:
        return cls(
            f"the ledger {path} is no longer there, or is another file than the one that this session opened. {UNCHARGED} "
            "Bring the file back, and open it again; session.close() ends the session of this process.",
            path=path,
        )

    @classmethod
    def foreign(cls, path: str) -> Self:
        return cls(f"{path} is no ledger of pandas_dp, and is left as it is. Name another file.", path=path)

    @classmethod
    def newer(cls, path: str, version: int) -> Self:
        return cls(
            f"the ledger {path} has format {version}, which this version of pandas_dp does not know. Use the version that wrote it, or a "
            "later one.",
            path=path,
            version=version,
        )

    @classmethod
    def other_version(cls, path: str) -> Self:
        return cls(
            f"an answer in the ledger {path} was written by a version of pandas_dp that this one cannot read. Use that version.", path=path
        )

    @classmethod
    def unreadable(cls, path: str) -> Self:
        return cls(f"the ledger {path} cannot be opened: look at its permissions, and at those of its folder. {UNCHARGED}", path=path)


class LedgerDamaged(LedgerError):
    """A ledger file is torn, truncated or edited.  It is never restarted, for that would refill the budget.

    Attributes
    ----------
    path : str
        The file.
    reason : str
        What is wrong with it.
    """

    reason: str

    @classmethod
    def found(cls, path: str, reason: str) -> Self:
        return cls(f"the ledger {path} is damaged: {reason}. {UNCHARGED} {_COPY}.", path=path, reason=reason)


class LedgerBusy(LedgerError):
    """Another process holds the ledger file, for longer than a query waits.

    Attributes
    ----------
    path : str
        The file.
    holder : str
        Who holds it, as far as the system tells.
    seconds : float
        How long was waited.
    """

    holder: str
    seconds: float

    @classmethod
    def held(cls, path: str, holder: str, seconds: float) -> Self:
        return cls(
            f"the ledger {path} is locked by {holder}, and was so for {seconds:g} seconds. {UNCHARGED} Ask again, or end what holds it.",
            path=path,
            holder=holder,
            seconds=seconds,
        )


class LedgerUnwritable(LedgerError):
    """A ledger file cannot be written: the disk is full or failing, or the file is read-only."""

    @classmethod
    def read_only(cls, path: str) -> Self:
        return cls(f"the ledger {path} is read-only here. {UNCHARGED} Make the file and its folder writable.", path=path)

    @classmethod
    def full(cls, path: str) -> Self:
        return cls(f"the ledger {path} cannot grow: the disk is full, or fails. {UNCHARGED} Make room, and ask again.", path=path)

    @classmethod
    def uncertain(cls, path: str) -> Self:
        return cls(
            f"the ledger {path} could not be brought to the disk: the disk is full, or fails. Nothing was answered. Whether it was charged, session.spent "
            "tells. Make room, and ask again.",
            path=path,
        )

    @classmethod
    def answer_kept(cls, path: str, query: str) -> Self:
        return cls(
            f"{query} was charged and answered, but the answer could not be written into the ledger {path}. It is the last of "
            "df.dp.session.releases in this process, and is written with the next charge that succeeds. Make room on the disk.",
            path=path,
            query=query,
        )


class LabelError(DPError, ValueError):
    """A label is unknown, or was used for another question.

    Attributes
    ----------
    label : str
        The label.
    differences : tuple of str
        In what the questions differ.
    """

    label: str
    differences: tuple[str, ...]

    @classmethod
    def unknown(cls, label: str) -> Self:
        return cls(
            f"no answer is recorded under the label {label!r}. df.dp.session.ledger lists the labels there are.",
            label=label,
            differences=(),
        )

    @classmethod
    def differs(cls, label: str, differences: Sequence[str]) -> Self:
        return cls(
            f"the label {label!r} was used for another question ({'; '.join(differences)}). {UNCHARGED} Ask the same question to get its "
            "answer again, or use another label.",
            label=label,
            differences=tuple(differences),
        )

    @classmethod
    def unnamed(cls) -> Self:
        return cls(
            "a label belongs to a frame by its name, and this one was given none: in a ledger, or where a session has several, another could be meant. "
            "Give protect() a name=, the same one every time.",
            label="",
            differences=(),
        )

    @classmethod
    def no_view(cls) -> Self:
        return cls(
            "label=True takes the expressions of a tracked view as the label, and this frame is no view: how it was derived cannot be "
            "known. Give label= a text that says what is asked, or ask through df.dp.where(...).",
            label="",
            differences=(),
        )
