"""What a session is to the modules of this package: its account, its answers, and what it remembers of its frames.

Users hold a :class:`~pandas_dp.sessions.session.Session`, which is a face over this and adds nothing to it.  Nothing here depends on data; what is recorded was released.  A core must never
refer to a frame but weakly.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pandas_dp.accounting.prices import strength_of
from pandas_dp.accounting.state import Answered
from pandas_dp.errors import LabelError, LedgerError, ParameterError, ParameterTypeError, SessionConflict
from pandas_dp.noise.entropy import fresh_secret
from pandas_dp.quantities.budget import Delta, as_delta
from pandas_dp.sessions.released_counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from pandas_dp.accounting import Accountant, Cost, Entry
    from pandas_dp.accounting.prices import Strength
    from pandas_dp.results import Release

__all__ = ["SessionCore", "checked_name", "core_of"]

_DELTA_SHARES = 20


class SessionCore:
    """An account, and what was bought with it.

    Parameters
    ----------
    account : Accountant
        What is charged.
    name : str or None
        The session's.
    queries : int or None
        The planned number of queries.

    Attributes
    ----------
    counts : Counts
        Released numbers of rows.
    salt : bytes
        The secret by which engines order rows that have no order; never recorded or shown.
    face : object or None
        The session that users hold, from the first frame on that came under it: whoever asks a frame for its session gets this one.
    """

    __slots__ = ("__weakref__", "_answers", "_without_name", "account", "counts", "face", "name", "queries", "salt")

    def __init__(self, account: Accountant, name: str | None = None, queries: int | None = None) -> None:
        self.account = account
        self.name = name
        self.queries = queries
        self.counts = Counts()
        self.salt = fresh_secret()
        self.face: Any = None
        self._answers: dict[int, Release] = {}
        self._without_name: list[weakref.ref[pd.DataFrame]] = []

    # Prices: what a query may spend.

    def price(self, epsilon: object, rho: object, mechanism: object, *, chosen: bool = False) -> Strength:
        """Return what a query may spend, by its own price or the equal share, and on which noise, or on a choice."""
        return strength_of(self.account.rule, epsilon, rho, mechanism, self.queries, chosen=chosen)

    def query_delta(self, delta: object | None) -> Delta:
        """Return the δ of a query that selects private keys: its own, or a share of half the session's, or else a tenth of that half."""
        self.account.refresh()
        whole = self.account.delta
        if not whole:
            raise ParameterError.delta_needed()
        return Delta(whole / (2 * self.queries if self.queries else _DELTA_SHARES)) if delta is None else as_delta(delta)

    # Charges and answers.

    def check_recordable(self, public: Callable[[], object]) -> None:
        """Raise ``ParameterTypeError`` if the ledger file could not hold names, keys or time zones of an answer."""
        if self.account.path is not None:
            from pandas_dp.wire.codec import fits  # noqa: PLC0415  (loaded for those who use it)

            if not fits(public()):
                raise ParameterTypeError.unrecordable()

    def charge(self, cost: Cost, *, label: str | None = None, asked: Mapping[str, str] | None = None, **details: Any) -> Entry | Release:
        """Charge; or return the answer that another process recorded under the label in the meantime."""
        try:
            return self.account.charge(cost, label=label, asked=asked, **details)
        except Answered as found:
            return self.answer(found.number)

    def record(self, release: Release) -> None:
        """Keep an answer that was paid for."""
        self._answers[release.number] = release
        body = None
        if self.account.path is not None:
            from pandas_dp.wire.codec import encode  # noqa: PLC0415  (loaded for those who use it)

            try:
                body = encode(release)
            except TypeError:  # private keys of unusual types
                body = encode(replace(release, index=None if release.index is None else release.index.map(str)))
        self.account.answered(release.number, body)

    def recorded(self, label: str, asked: Mapping[str, str]) -> Release | None:
        """Return what was answered under a label to the same question, or None; raise if it was another question."""
        self.account.refresh()
        try:
            self.account.check_label(label, asked)
        except Answered as found:
            return self.answer(found.number)
        return None

    def answer(self, number: int) -> Release:
        """Return the answer to the charge of this number, or raise if it cannot be read."""
        release = self._found(number, self.account.answer_of(number))
        if release is None:
            raise LedgerError.other_version(str(self.account.path))
        return release

    def answers(self) -> tuple[Release, ...]:
        """Return all answers that can be read, oldest first."""
        found = (self._found(number, body) for number, body in self.account.answers.items())
        return tuple(release for release in found if release is not None)

    def _found(self, number: int, body: Any) -> Release | None:
        """Return an answer, read from the file if it is not known here; None if it cannot be read."""
        if number not in self._answers and body is not None:
            from pandas_dp.results import Release  # noqa: PLC0415  (loaded for those who use it)
            from pandas_dp.wire.codec import decode  # noqa: PLC0415  (as above)

            with suppress(Exception):
                read = decode(body)
                if isinstance(read, Release) and read.number == number and read.value is not None:
                    self._answers[number] = read
        return self._answers.get(number)

    # Frames.

    def frame_name(self, name: str | None) -> str:
        """Return what a frame is called in handles and the ledger."""
        return checked_name(name) or self.name or "protected"

    def declare(self, name: str, declared: Mapping[str, str]) -> None:
        """Record what is declared of a frame in the ledger file, or raise if that is not what was recorded under its name."""
        path = self.account.path
        differences = [] if path is None else self.account.declare(name, declared)
        if differences:
            raise SessionConflict.redeclared(str(path), name, differences)

    def unnamed(self, frame: pd.DataFrame) -> None:
        """Take note of a frame that was given no name; of the same object again, as when a cell runs again, not a second time."""
        if not any(one() is frame for one in self._without_name):
            self._without_name.append(weakref.ref(frame))

    def check_names(self, frame: str) -> None:
        """Raise ``LabelError`` if the name of a frame may be that of another: how many were given tells, and no data."""
        if len(self._without_name) > (1 if self.account.path is None else 0) and frame == self.frame_name(None):
            raise LabelError.unnamed()


def core_of(session: object) -> SessionCore | None:
    """Return the core of a session, or None of anything else."""
    core = getattr(session, "_core", None)
    return core if isinstance(core, SessionCore) else None


def checked_name(name: object) -> str | None:
    """Return a name that can be part of a handle, or refuse it."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise ParameterTypeError.wrong_kind("name", "a string", type(name))
    if not name.strip() or "#" in name or len(name) > 100:  # noqa: PLR2004
        raise ParameterError.number("name", "a short, non-empty string without '#'")
    return name
