"""Sessions: a budget and what was bought with it, in memory or in a ledger file.

What users hold, and nothing else: each method says what it does and leaves it to :class:`~pandas_dp.sessions.core.SessionCore`.  Everything that a session prints or returns is public or paid
for, and nothing here charges.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

import pandas as pd

from pandas_dp.accounting import Accountant
from pandas_dp.accounting.filters import filter_of
from pandas_dp.errors import (
    LabelError,
    LargeBudgetWarning,
    LedgerError,
    LineageError,
    ParameterError,
    ParameterTypeError,
    SessionConflict,
    boundary,
)
from pandas_dp.quantities.budget import Delta, Epsilon, Rho, as_delta, as_epsilon, as_rho, checked_count
from pandas_dp.sessions import registry
from pandas_dp.sessions.core import SessionCore, checked_name
from pandas_dp.sessions.protect import enter

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence
    from os import PathLike

    from matplotlib.axes import Axes

    from pandas_dp.accounting import Entry
    from pandas_dp.results import Release

__all__ = ["Session"]

FrameT = TypeVar("FrameT", bound=pd.DataFrame)
"""What ``protect()`` returns, to type checkers: a DataFrame that has ``.dp``."""

_LARGE = 20


class Session(Generic[FrameT]):
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
        rule = filter_of(epsilon, delta, rho)
        name, queries = checked_name(name), None if queries is None else checked_count("queries", queries)
        if ledger is None:
            account = Accountant(rule)
        else:
            from pandas_dp.accounting.opening import as_path, begin  # noqa: PLC0415  (loaded for those who use it)

            account = begin(as_path(ledger), rule, name, queries)
        self._start(SessionCore(account, name, queries))

    def _start(self, core: SessionCore) -> None:
        self._core = core
        if core.account.path is not None:
            from pandas_dp.sessions.preload import load  # noqa: PLC0415  (for those who share a session with forks)

            load()
        budget = core.account.budget
        if Fraction(budget) > _LARGE and isinstance(budget, Epsilon):
            warnings.warn(
                f"a budget of {budget!r} promises little: at ε=20 already, one person's data may change the odds of an "
                "answer 500-million-fold. Budgets between 0.1 and 3 are usual.",
                LargeBudgetWarning,
                stacklevel=_caller_level(),
            )

    @classmethod
    @boundary
    def open(cls, ledger: str | PathLike[str]) -> Self:
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
        session._start(SessionCore(account, recorded["name"], None if recorded["queries"] is None else int(recorded["queries"])))  # noqa: SLF001  (a constructor)
        return session

    @property
    def name(self) -> str | None:
        """The session's name."""
        return self._core.name

    @property
    def budget(self) -> Epsilon | Rho:
        """What may be spent in all: ε, or ρ."""
        self._core.account.refresh()
        return self._core.account.budget

    @property
    def spent(self) -> Epsilon | Rho:
        """What has been charged: an exact sum; with δ, the smaller of the sum and of what the concentrated account comes to."""
        return self._core.account.spent

    @property
    def remaining(self) -> Epsilon | Rho:
        """What is left: the most that one more query may ask for."""
        return self._core.account.remaining

    @property
    def delta(self) -> Delta:
        """What may be spent of δ in all; 0 in a session of pure differential privacy."""
        self._core.account.refresh()
        return self._core.account.delta

    @property
    def spent_delta(self) -> Delta:
        """What has been charged of δ, exactly."""
        return self._core.account.spent_delta

    @property
    def remaining_delta(self) -> Delta:
        """What is left, exactly, of the half of δ that is for private keys; the other half is the conversion's."""
        return self._core.account.remaining_delta

    def split(self, shares: int | Sequence[object]) -> tuple[Epsilon | Rho, ...]:
        """Divide what is left, exactly.

        Parameters
        ----------
        shares : int or sequence of numbers
            A number of equal shares, or weights.

        Returns
        -------
        tuple of Epsilon or Rho
            Their sum is ``remaining``; with δ, they are as large as all of them still fit.  Nothing is reserved or charged.

        Examples
        --------
        >>> import pandas_dp
        >>> pandas_dp.Session(epsilon=1).split(4)
        (ε=0.25, ε=0.25, ε=0.25, ε=0.25)
        >>> pandas_dp.Session(epsilon=1).split([2, 1])
        (ε=2/3, ε=1/3)
        """
        if isinstance(shares, (str, bytes, type)):
            raise ParameterTypeError.wrong_kind("shares", "a number of shares or a sequence of weights", type(shares))
        if not hasattr(shares, "__iter__") or getattr(shares, "ndim", 1) == 0:
            weights: list[Fraction] = [Fraction(1)] * checked_count("shares", shares)
        else:
            weights = [Fraction(as_epsilon(weight, "weight")) for weight in shares]
            checked_count("shares", len(weights))
        return self._core.account.shares(weights)

    @boundary
    def odometer(self, *, delta: object = None) -> Epsilon:
        """Return the tightest ε that is known to have been spent, at a δ.

        Parameters
        ----------
        delta : number, optional
            By default the session's.

        Returns
        -------
        Epsilon
            Rounded up.  Less than ``spent`` after many queries.

        Raises
        ------
        AccountingMissing
            Without the extra ``accounting``; its attribute ``concentrated`` is what the concentrated account says.
        ParameterError
            Without a δ.

        Notes
        -----
        A reading, for queries whose parameters did not depend on earlier answers: the account decides what is refused.
        """
        from pandas_dp.accounting.odometer import tightest  # noqa: PLC0415  (for those who ask)

        if delta is None and not self.delta:
            raise ParameterError.number("delta", "given, such as 1e-6: this session has none")
        return tightest(self._core.account.entries, self.delta if delta is None else as_delta(delta))

    @boundary
    @contextmanager
    def allocate(self, *, epsilon: object = None, rho: object = None) -> Iterator[Self]:
        """Limit what is asked inside a ``with`` block, and give back what it does not spend.

        Parameters
        ----------
        epsilon, rho : number
            How much, in the unit of the session's budget.

        Yields
        ------
        Session
            This session; ``remaining`` inside is what is left of the block.

        Raises
        ------
        BudgetExhausted
            If that much is not left.

        Notes
        -----
        In sessions of pure and of concentrated differential privacy the amount is set aside: others cannot spend it meanwhile.  In a session with δ it is a
        limit alone.  Blocks may be nested.  A block belongs to its thread, and to tasks that inherit its context: a thread that is started inside of it is outside.

        Examples
        --------
        >>> import pandas_dp
        >>> session = pandas_dp.Session(epsilon=1)
        >>> with session.allocate(epsilon=0.3):
        ...     session.remaining
        ε=0.3
        >>> session.remaining
        ε=1
        """
        amount = as_epsilon(epsilon) if rho is None else as_rho(rho, "rho")
        if (epsilon is None) == (rho is None) or not isinstance(amount, self._core.account.unit):
            raise ParameterError.number("allocate", f"given one amount in the unit of the budget, such as {self.budget!r}")
        with self._core.account.allocate(Fraction(amount), "allocate()"):
            yield self

    @boundary
    def amend(self, *, epsilon: object = None, delta: object = None, rho: object = None, reason: str) -> None:
        """Change the budget of a session that is kept in a file: the decision of the data's owner, and an entry of the ledger.

        Parameters
        ----------
        epsilon, rho : number
            The new budget in all, in the unit of the old one; left out, it stays.
        delta : number, optional
            The new δ in all, in a session that has one.
        reason : str
            Who decided it, and why; recorded.

        Raises
        ------
        SessionConflict
            If the session is in memory.
        ParameterError
            If less is given than was spent, or the amount is in another unit.

        Notes
        -----
        From then on the ledger is continued with the new parameters: ``protect(epsilon=...)`` with the old ones is an error.
        """
        account = self._core.account
        if account.path is None:
            raise SessionConflict.no_ledger("amend()")
        if not isinstance(reason, str) or not reason.strip():
            raise ParameterError.number("reason", "given: who decided it, and why")
        named = [amount for amount in (None if epsilon is None else as_epsilon(epsilon), None if rho is None else as_rho(rho)) if amount]
        if not named and delta is None:
            raise ParameterError.number("amend", f"given the new budget in all, such as epsilon= where it is {account.budget!r}")
        fits = len(named) <= 1 and all(isinstance(amount, account.unit) for amount in named) and (delta is None or bool(account.delta))
        if not fits:
            raise ParameterError.number("amend", f"given amounts in the unit of the budget, such as {account.budget!r}")
        account.amend(named[0] if named else account.budget, account.delta if delta is None else as_delta(delta), reason.strip())

    @property
    def releases(self) -> tuple[Release, ...]:
        """All answers so far, oldest first, with those that other processes recorded in the ledger file; reading them is free.

        Answers that another version of pandas_dp recorded and this one cannot read are left out.
        """
        return self._core.answers()

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
            [_ledger_row(entry, margins.get(entry.number)) for entry in self._core.account.entries],
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
        known = self._core.account.labels.get(label) if isinstance(label, str) else None
        if known is None or known.number is None:
            raise LabelError.unknown(label) if isinstance(label, str) else ParameterTypeError.wrong_kind("label", "a string", type(label))
        return self._core.answer(known.number).value

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
    ) -> FrameT:
        """Protect one more frame about the same people under this budget; see ``DataFrame.dp.protect``."""
        registry.refuse_protected(frame)
        protected = enter(self, frame, schema=schema, unit=unit, max_rows=max_rows, name=name, enforce=enforce, derived=derived)
        return cast("FrameT", protected)

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
        self._core.account.check_open()
        for known in reversed(registry.protected_by(self._core)):
            unit = known.roster.unit
            if unit is None or known.kept is not None or not known.roster.knows_units_of(frame):
                continue
            label = known.handle.rsplit("#", 1)[0]
            return registry.register(self._core, frame, known.facts, unit=unit, max_rows=known.roster.max_rows, label=label, adopted=True)
        raise LineageError.no_unit_column()

    def close(self) -> None:
        """Answer no more.  Ledger and releases stay readable; the row labels kept for identification are freed."""
        self._core.account.close()
        registry.forget(self._core)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw what was spent, query by query, and where the budget ends; see ``pandas_dp.plotting.budget``."""
        from pandas_dp.display.spending import draw_spending  # noqa: PLC0415  (for those who draw)

        return draw_spending(self._core.account, self.name, ax)

    def __repr__(self) -> str:
        """Return name and budget: nothing here depends on data."""
        label = f" {self.name!r}" if self.name else ""
        try:
            self._core.account.refresh()
        except LedgerError:
            return f"<Session{label}: its ledger cannot be read>"
        delta = f", {self.delta!r}" if self.delta else ""
        closed = ", closed" if self._core.account.closed else ""
        return f"<Session{label}{closed}: {self.remaining!r} of {self.budget!r} left{delta}>"

    @boundary
    def _repr_html_(self) -> str:
        """Return budget and ledger for notebooks; nothing here depends on data."""
        from pandas_dp.display.html import shown  # noqa: PLC0415  (for notebooks)

        return shown(lambda: self._core)

    def __deepcopy__(self, memo: object = None) -> Self:
        """Return the same session: there is one budget."""
        return self

    __copy__ = __deepcopy__

    def __reduce__(self) -> Any:
        """Pickle as the path of the ledger file; refuse to be pickled without one."""
        if self._core.account.path is None:
            raise SessionConflict.not_picklable()
        return Session.open, (self._core.account.path,)


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
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001  (the documented way to walk the stack)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pandas_dp"):
        frame = frame.f_back
        level += 1
    return level
