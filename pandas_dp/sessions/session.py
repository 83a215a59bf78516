"""Sessions: a budget and what was bought with it, in memory or in a ledger file.

Everything that a session prints or returns is public or paid for.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from pandas_dp.accounting.prices import open_account
from pandas_dp.display.completion import Listed
from pandas_dp.errors import (
    LabelError,
    LargeBudgetWarning,
    LedgerError,
    LineageError,
    ParameterTypeError,
    SessionConflict,
    boundary,
)
from pandas_dp.quantities.budget import Epsilon, checked_count
from pandas_dp.sessions import registry
from pandas_dp.sessions.entering import checked_name, enter
from pandas_dp.sessions.recording import Recording
from pandas_dp.sessions.released_counts import Counts
from pandas_dp.sessions.spending import Spending

if TYPE_CHECKING:
    import weakref
    from collections.abc import Hashable
    from os import PathLike

    from matplotlib.axes import Axes

    from pandas_dp.accessor.frames import DPFrame
    from pandas_dp.accounting import Entry
    from pandas_dp.accounting.prices import Account
    from pandas_dp.results import Release

__all__ = ["Session"]

_LARGE = 20


class Session(Listed, Recording, Spending):
    """A privacy budget and everything that was bought with it.

    Parameters
    ----------
    epsilon : int, float, str, Decimal, Fraction or NumPy scalar
        The budget, taken exactly as typed.
    delta : number, optional
        A budget of (ε, δ)-differential privacy: for Gaussian noise, private group keys, and many small queries.  Far below one over the number of people.
    rho : number, optional
        A budget of ρ-zero-concentrated differential privacy instead.
    name : str, optional
        For the handles of its frames and the ledger.
    queries : int, optional
        The planned number of queries: one that names no ε gets the equal share ``epsilon / queries``.
    ledger : path, optional
        A file that the session lives in: it is begun, or continued with what is left.

    Raises
    ------
    SessionConflict
        If the file was written with other parameters; it says which.
    LedgerError
        If the file is no ledger, damaged, locked, or cannot be written.

    Notes
    -----
    All answers of a session together are ε-differentially private, (ε, δ) with ``delta``, or ρ-zero-concentrated, for adding or removing one unit, whatever their order, number or
    failures, threads included.  In memory a session lives in one process: in a fork it is closed, and it cannot be pickled.  With ``ledger`` any number of processes share it, forks among
    them, and pickled it is the file's path; each charge is on the disk before any data is read.

    Examples
    --------
    >>> import pandas as pd, pandas_dp
    >>> session = pandas_dp.Session(epsilon=1.0)
    >>> visits = session.protect(pd.DataFrame({"age": [34, 51, 67]}))
    >>> session.budget, session.spent, session.remaining
    (ε=1, ε=0, ε=1)
    """

    _internal = frozenset({"price", "query_delta", *(one for one in vars(Recording) if not one.startswith("_"))})  # what other modules call

    @boundary
    def __init__(
        self,
        epsilon: object = None,
        *,
        delta: object = 0,
        rho: object = None,
        name: str | None = None,
        queries: int | None = None,
        ledger: str | PathLike[str] | None = None,
    ) -> None:
        account = open_account(epsilon, delta, rho)
        name, queries = checked_name(name), None if queries is None else checked_count("queries", queries)
        if ledger is not None:
            from pandas_dp.accounting.opening import as_path, begin  # noqa: PLC0415  (loaded for those who use it)

            account = begin(as_path(ledger), account, name, queries)
        self._start(account, name, queries)

    def _start(self, account: Account, name: str | None, queries: int | None) -> None:
        self._accountant, self._name, self._queries = account, name, queries
        self._releases: dict[int, Release] = {}
        self._counts = Counts()
        self._without_name: list[weakref.ref[pd.DataFrame]] = []
        if account.path is not None:
            from pandas_dp.sessions.preload import load  # noqa: PLC0415  (for those who share a session with forks)

            load()
        budget = account.budget
        if Fraction(budget) > _LARGE and isinstance(budget, Epsilon):
            warnings.warn(
                f"a budget of {budget!r} promises little: at ε=20 already, one person's data may change the odds of an "
                "answer 500-million-fold. Budgets between 0.1 and 3 are usual.",
                LargeBudgetWarning,
                stacklevel=_caller_level(),
            )

    @classmethod
    @boundary
    def open(cls, ledger: str | PathLike[str]) -> Session:
        """Continue the session of a ledger file, with the parameters that are recorded there.

        Parameters
        ----------
        ledger : path
            The file.

        Returns
        -------
        Session
            To read its account, to take back an answer by its label, to protect a frame under it, or to amend it.

        Raises
        ------
        LedgerError
            If there is none, or it cannot be trusted.
        """
        from pandas_dp.accounting.opening import as_path, resume  # noqa: PLC0415  (loaded for those who use it)

        account = resume(as_path(ledger))
        recorded = account.opening
        session = cls.__new__(cls)
        session._start(account, recorded["name"], None if recorded["queries"] is None else int(recorded["queries"]))  # noqa: SLF001  (a constructor)
        return session

    @property
    def name(self) -> str | None:
        """The session's name."""
        return self._name

    @property
    def releases(self) -> tuple[Release, ...]:
        """All answers so far, oldest first, with those that other processes recorded in the ledger file; reading them is free.

        Answers that another version of pandas_dp recorded and this one cannot read are left out.
        """
        return tuple(release for number, body in self._accountant.answers.items() if (release := self._found(number, body)) is not None)

    @property
    def ledger(self) -> pd.DataFrame:
        """Every charge as one row, also those whose computation failed.

        Returns
        -------
        DataFrame
            Columns ``time`` (UTC), ``frame``, ``query``, ``epsilon``, ``delta`` and ``rho`` (exact), ``mechanism``, ``scale`` (of the noise, in units of
            the answer), ``margin`` (± at 95 %; NaN where there is no single number), ``private`` (False for repeatable test noise) and ``label``.
        """
        margins = {release.number: release for release in self.releases}
        return pd.DataFrame(
            [_ledger_row(entry, margins.get(entry.number)) for entry in self._accountant.entries],
            columns=["time", "frame", "query", "epsilon", "delta", "rho", "mechanism", "scale", "margin", "private", "label"],
        ).astype({"label": object})

    @boundary
    def replay(self, label: str) -> Any:
        """Return the answer that is recorded under a label; free.

        Parameters
        ----------
        label : str
            As given to the query.

        Returns
        -------
        NoisyInt, NoisyFloat, Timestamp, Timedelta, Series or DataFrame
            What was released: what the query returned, or, where that was made of it (``value_counts``, ``crosstab``, ``mode``, ``bounds``), the noisy counts.
            The query itself, asked again under its label, returns what it returned.

        Raises
        ------
        LabelError
            If there is none.
        """
        known = self._accountant.labels.get(label) if isinstance(label, str) else None
        if known is None or known.number is None:
            raise LabelError.unknown(label) if isinstance(label, str) else ParameterTypeError.wrong_kind("label", "a string", type(label))
        return self._release(known.number).value

    @boundary
    def protect(
        self,
        frame: pd.DataFrame,
        *,
        schema: object = None,
        unit: Hashable | None = None,
        max_rows: int | None = None,
        name: str | None = None,
        enforce: str = "raise",
        derived: str = "follow",
    ) -> DPFrame:
        """Protect one more frame about the same people under this budget; see ``DataFrame.dp.protect``."""
        registry.refuse_protected(frame)
        protected = enter(self, frame, schema=schema, unit=unit, max_rows=max_rows, name=name, enforce=enforce, derived=derived)
        return cast("DPFrame", protected)

    @boundary
    def adopt(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Take back a derived frame that lost its row labels but still has its unit column.

        Parameters
        ----------
        frame : DataFrame or Series
            Derived from a frame of this session that was protected with ``unit=``; that column or index level must still be there, under its
            name, with the values it had.

        Returns
        -------
        DataFrame
            A shallow copy that is answered like the protected frame, under the same ``max_rows``.

        Raises
        ------
        LineageError
            If the unit cannot be read, or holds a unit that the protected frame does not have.

        Notes
        -----
        You vouch that each row was made from rows of its unit alone.  After ``groupby("ward").max()`` there may be a unit column whose rows
        are about other people: do not adopt such a frame.
        """
        if not isinstance(frame, (pd.DataFrame, pd.Series)):
            raise ParameterTypeError.wrong_kind("frame", "a pandas DataFrame or Series", type(frame))
        self._accountant.check_open()
        for known in reversed(registry.protected_by(self)):
            unit = known.roster.unit
            if unit is None or known.kept is not None or not known.roster.knows_units_of(frame):
                continue
            label = known.handle.rsplit("#", 1)[0]
            return registry.register(self, frame, known.facts, unit=unit, max_rows=known.roster.max_rows, label=label, adopted=True)
        raise LineageError.no_unit_column()

    def close(self) -> None:
        """Answer no more.  Ledger and releases stay readable; the row labels kept for identification are freed."""
        self._accountant.close()
        registry.forget(self)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw what was spent, query by query, and where the budget ends; see ``pandas_dp.plotting.budget``."""
        from pandas_dp.plotting.budgets import budget  # noqa: PLC0415  (for those who draw)

        return budget(self, ax=ax)

    def __repr__(self) -> str:
        """Return name and budget: nothing here depends on data."""
        label = f" {self._name!r}" if self._name else ""
        try:
            self._accountant.refresh()
        except LedgerError:
            return f"<Session{label}: its ledger cannot be read>"
        delta = f", {self.delta!r}" if self.delta else ""
        closed = ", closed" if self._accountant.closed else ""
        return f"<Session{label}{closed}: {self.remaining!r} of {self.budget!r} left{delta}>"

    @boundary
    def _repr_html_(self) -> str:
        """Return budget and ledger for notebooks; nothing here depends on data."""
        from pandas_dp.display.html import shown  # noqa: PLC0415  (for notebooks)

        return shown(lambda: self)

    def __deepcopy__(self, memo: object = None) -> Session:
        """Return the same session: there is one budget."""
        return self

    __copy__ = __deepcopy__

    def __reduce__(self) -> Any:
        """Pickle as the path of the ledger file; refuse to be pickled without one."""
        if self._accountant.path is None:
            raise SessionConflict.not_picklable()
        return Session.open, (self._accountant.path,)


def _ledger_row(entry: Entry, release: Release | None) -> tuple[Any, ...]:
    margin: Any = entry.margin
    if margin != margin and release is not None and release.columns is None and release.index is None:  # noqa: PLR0124  (NaN: not known before)
        with suppress(Exception):  # an answer of a forged file
            margin = release.half_width()
    return (
        entry.time, entry.frame, entry.query, entry.epsilon, entry.delta, entry.cost.rho, entry.mechanism, entry.scale, margin, entry.private, entry.label,
    )  # fmt: skip


def _caller_level() -> int:
    """Return the stacklevel of the first caller outside this package, for the warning."""
    import sys  # noqa: PLC0415

    level = 1
    frame = sys._getframe(1)  # noqa: SLF001  (the documented way to walk the stack)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pandas_dp"):
        frame = frame.f_back
        level += 1
    return level
