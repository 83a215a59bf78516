"""What ``release.py`` does with a session: charges, answers and labels, recorded and taken back.

No user calls these.  Nothing here depends on data; what is recorded was released.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pandas_dp.accounting.blocks import Answered
from pandas_dp.errors import LabelError, LedgerError, ParameterTypeError, SessionConflict
from pandas_dp.sessions.entering import frame_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from pandas_dp.accounting import Cost, Entry
    from pandas_dp.accounting.prices import Account
    from pandas_dp.results import Release
    from pandas_dp.sessions.released_counts import Counts

__all__ = ["Recording"]


class Recording:
    """The books of a session, as its own modules keep them."""

    _accountant: Account
    _name: str | None
    _releases: dict[int, Release]
    _counts: Counts
    _without_name: list[weakref.ref[pd.DataFrame]]

    def unnamed(self, frame: pd.DataFrame) -> None:
        """Take note of a frame that was given no name; of the same object again, as when a cell runs again, not a second time."""
        if not any(one() is frame for one in self._without_name):
            self._without_name.append(weakref.ref(frame))

    def check_names(self, frame: str) -> None:
        """Raise ``LabelError`` if the name of a frame may be that of another: how many were given tells, and no data."""
        if len(self._without_name) > (1 if self._accountant.path is None else 0) and frame == frame_name(None, self._name):
            raise LabelError.unnamed()

    @property
    def counts(self) -> Counts:
        """Released numbers of rows; for ``release.py`` and previews alone."""
        return self._counts

    @property
    def accountant(self) -> Account:
        """The account; for ``release.py`` alone."""
        return self._accountant

    def check_recordable(self, public: Callable[[], object]) -> None:
        """Raise ``ParameterTypeError`` if the ledger file could not hold names, keys or time zones of an answer."""
        if self._accountant.path is not None:
            from pandas_dp.wire.codec import fits  # noqa: PLC0415  (loaded for those who use it)

            if not fits(public()):
                raise ParameterTypeError.unrecordable()

    def charge(self, cost: Cost, *, label: str | None = None, asked: Mapping[str, str] | None = None, **details: Any) -> Entry | Release:
        """Charge; or return the answer that another process recorded under the label in the meantime."""
        try:
            return self._accountant.charge(cost, label=label, asked=asked, **details)
        except Answered as found:
            return self._release(found.number)

    def record(self, release: Release) -> None:
        """Keep an answer that was paid for."""
        self._releases[release.number] = release
        body = None
        if self._accountant.path is not None:
            from pandas_dp.wire.codec import encode  # noqa: PLC0415  (loaded for those who use it)

            try:
                body = encode(release)
            except TypeError:  # private keys of unusual types
                body = encode(replace(release, index=None if release.index is None else release.index.map(str)))
        self._accountant.answered(release.number, body)

    def recorded(self, label: str, asked: Mapping[str, str]) -> Release | None:
        """Return what was answered under a label to the same question, or None; raise if it was another question."""
        self._accountant.refresh()
        try:
            self._accountant.check_label(label, asked)
        except Answered as found:
            return self._release(found.number)
        return None

    def declare(self, name: str, declared: Mapping[str, str]) -> None:
        """Record what is declared of a frame in the ledger file, or raise if that is not what was recorded under its name."""
        path = self._accountant.path
        differences = [] if path is None else self._accountant.declare(name, declared)
        if differences:
            raise SessionConflict.redeclared(str(path), name, differences)

    def _release(self, number: int) -> Release:
        release = self._found(number, self._accountant.answer_of(number))
        if release is None:
            raise LedgerError.other_version(str(self._accountant.path))
        return release

    def _found(self, number: int, body: Any) -> Release | None:
        """Return an answer, read from the file if it is not known here; None if it cannot be read."""
        if number not in self._releases and body is not None:
            from pandas_dp.results import Release  # noqa: PLC0415  (as above)
            from pandas_dp.wire.codec import decode  # noqa: PLC0415  (loaded for those who use it)

            with suppress(Exception):
                read = decode(body)
                if isinstance(read, Release) and read.number == number and read.value is not None:
                    self._releases[number] = read
        return self._releases.get(number)
