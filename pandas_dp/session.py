"""Sessions: a budget, what was bought with it, and ``protect()``, which attaches it to a frame.

Everything that a session prints or returns is public or paid for.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pandas as pd

from pandas_dp import registry
from pandas_dp.accounting import lock
from pandas_dp.accounting.prices import as_optional_delta, open_account, strength_of
from pandas_dp.amounts import Delta, Epsilon, Rho, as_delta, as_epsilon, as_rho, checked_count
from pandas_dp.entering import caller_level, checked_name, enter
from pandas_dp.errors import LargeBudgetWarning, LineageError, ParameterError, ParameterTypeError, SessionConflict, boundary
from pandas_dp.schema import read_schema

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from matplotlib.axes import Axes

    from pandas_dp.accounting import Entry
    from pandas_dp.accounting.prices import Account, Strength
    from pandas_dp.results import Release

__all__ = ["Session", "protect"]

_LARGE = 20
_DELTA_SHARES = 20


class Session:
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

    Notes
    -----
    All answers of a session together are ε-differentially private, (ε, δ) with ``delta``, or ρ-zero-concentrated, for adding or removing one unit, whatever their order, number or
    failures, threads included.  A session lives in one process: in a fork it is closed, and it cannot be pickled.

    Examples
    --------
    >>> import pandas as pd, pandas_dp
    >>> session = pandas_dp.Session(epsilon=1.0)
    >>> visits = session.protect(pd.DataFrame({"age": [34, 51, 67]}))
    >>> session.budget, session.spent, session.remaining
    (ε=1, ε=0, ε=1)
    """

    def __init__(
        self, epsilon: object = None, *, delta: object = 0, rho: object = None, name: str | None = None, queries: int | None = None
    ) -> None:
        self._accountant = open_account(epsilon, delta, rho)
        budget = self._accountant.budget
        self._name = checked_name(name)
        self._queries = None if queries is None else checked_count("queries", queries)
        self._releases: list[Release] = []
        if Fraction(budget) > _LARGE and isinstance(budget, Epsilon):
            warnings.warn(
                f"a budget of {budget!r} promises little: at ε=20 already, one person's data may change the odds of an "
                "answer 500-million-fold. Budgets between 0.1 and 3 are usual.",
                LargeBudgetWarning,
                stacklevel=caller_level(),
            )

    @property
    def name(self) -> str | None:
        """The session's name."""
        return self._name

    @property
    def budget(self) -> Epsilon | Rho:
        """What may be spent in all: ε, or ρ."""
        return self._accountant.budget

    @property
    def spent(self) -> Epsilon | Rho:
        """What has been charged: an exact sum; with δ, the smaller of the sum and of what the concentrated account comes to."""
        return self._accountant.spent

    @property
    def remaining(self) -> Epsilon | Rho:
        """What is left: the most that one more query may ask for."""
        return self._accountant.remaining

    @property
    def delta(self) -> Delta:
        """What may be spent of δ in all; 0 in a session of pure differential privacy."""
        return self._accountant.delta

    @property
    def spent_delta(self) -> Delta:
        """What has been charged of δ, exactly."""
        return self._accountant.spent_delta

    @property
    def remaining_delta(self) -> Delta:
        """What is left, exactly, of the half of δ that is for private keys; the other half is the conversion's."""
        return self._accountant.remaining_delta

    @property
    def releases(self) -> tuple[Release, ...]:
        """All answers so far, oldest first; reading them is free."""
        with lock.LOCK:
            return tuple(self._releases)

    @property
    def ledger(self) -> pd.DataFrame:
        """Every charge as one row, also those whose computation failed.

        Returns
        -------
        DataFrame
            Columns ``time`` (UTC), ``frame``, ``query``, ``epsilon``, ``delta`` and ``rho`` (exact), ``mechanism``, ``scale`` (of the noise, in units of
            the answer), ``margin`` (± at 95 %; NaN where there is no single number) and ``private`` (False for repeatable test noise).
        """
        margins = {release.number: release for release in self.releases}
        return pd.DataFrame(
            [_ledger_row(entry, margins.get(entry.number)) for entry in self._accountant.entries],
            columns=["time", "frame", "query", "epsilon", "delta", "rho", "mechanism", "scale", "margin", "private"],
        )

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
        return self._accountant.shares(weights)

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
        from pandas_dp.odometer import tightest  # noqa: PLC0415  (for those who ask)

        if delta is None and not self.delta:
            raise ParameterError.number("delta", "given, such as 1e-6: this session has none")
        return tightest(self._accountant.entries, self.delta if delta is None else as_delta(delta))

    @contextmanager
    def allocate(self, *, epsilon: object = None, rho: object = None) -> Iterator[Session]:
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
        if (epsilon is None) == (rho is None) or not isinstance(amount, self._accountant.unit):
            raise ParameterError.number("allocate", f"given one amount in the unit of the budget, such as {self.budget!r}")
        with self._accountant.allocate(Fraction(amount), "allocate()"):
            yield self

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
    ) -> pd.DataFrame:
        """Protect one more frame about the same people under this budget; see ``DataFrame.dp.protect``."""
        registry.refuse_protected(frame)
        return enter(self, frame, schema=schema, unit=unit, max_rows=max_rows, name=name, enforce=enforce, derived=derived)

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

    def price(self, epsilon: object, rho: object, mechanism: object, *, chosen: bool = False) -> Strength:
        """Return what a query may spend, by its own price or the equal share, and on which noise, or on a choice."""
        return strength_of(self._accountant, epsilon, rho, mechanism, self._queries, chosen=chosen)

    def query_delta(self, delta: object | None) -> Delta:
        """Return the δ of a query that selects private keys: its own, or a share of half the session's, or else a tenth of that half."""
        if not self.delta:
            raise ParameterError.delta_needed()
        return Delta(self.delta / (2 * self._queries if self._queries else _DELTA_SHARES)) if delta is None else as_delta(delta)

    def last_count(self) -> int | None:
        """Return the last released count, which is public by now."""
        for release in reversed(self.releases):
            if release.query.startswith("count(") and "unique=" not in release.query:
                return max(1, int(release.estimates[0].value))
        return None

    @property
    def accountant(self) -> Account:
        """The account; for ``release.py`` alone."""
        return self._accountant

    def record(self, release: Release) -> None:
        """Keep an answer that was paid for."""
        with lock.LOCK:
            self._releases.append(release)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw what was spent, query by query, and where the budget ends; see ``pandas_dp.plotting.budget``."""
        from pandas_dp.plotting.budgets import budget  # noqa: PLC0415  (for those who draw)

        return budget(self, ax=ax)

    def __repr__(self) -> str:
        """Return name and budget: nothing here depends on data."""
        label = f" {self._name!r}" if self._name else ""
        delta = f", {self.delta!r}" if self.delta else ""
        return f"<Session{label}: {self.remaining!r} of {self.budget!r} left{delta}>"

    def __deepcopy__(self, memo: object = None) -> Session:
        """Return the same session: there is one budget."""
        return self

    __copy__ = __deepcopy__

    def __reduce__(self) -> Any:
        """Refuse to be pickled."""
        raise SessionConflict.not_picklable()


def protect(
    frame: pd.DataFrame,
    epsilon: object | None,
    *,
    delta: object,
    rho: object,
    schema: object,
    unit: Hashable | None,
    max_rows: int | None,
    name: str | None,
    queries: int | None,
    enforce: str,
    derived: str,
    session: Session | None,
) -> pd.DataFrame:
    """Attach a session to a frame; the user's documentation is ``DataFrame.dp.protect``."""
    registry.refuse_protected(frame)
    if session is not None:
        if not isinstance(session, Session):
            raise ParameterTypeError.wrong_kind("session", "a pandas_dp.Session", type(session))
        if epsilon is not None or queries is not None or delta != 0 or rho is not None:
            raise SessionConflict.mixed("epsilon=, delta=, rho= and queries=")
        return enter(session, frame, schema=schema, unit=unit, max_rows=max_rows, name=name, enforce=enforce, derived=derived)
    if (epsilon is None) == (rho is None):
        raise ParameterError.budget_missing()
    declared = None if schema is None else read_schema(schema, frame.columns)
    parameters: dict[str, object] = {
        "epsilon": None if epsilon is None else as_epsilon(epsilon),
        "rho": None if rho is None else as_rho(rho),
        "delta": as_optional_delta(delta),
        "unit": unit,
        "max_rows": max_rows,
        "queries": queries,
        "enforce": enforce,
        "derived": derived,
        "schema": None if declared is None else declared[1],
    }
    checked_name(name)
    with lock.LOCK:
        if name is not None and name in registry.named_sessions:
            opened, before = registry.named_sessions[name]
            differences = [_difference(key, before[key], value) for key, value in parameters.items() if before[key] != value]
            if differences:
                raise SessionConflict.differs(name, differences)
            opened.accountant.check_open()
        else:
            opened = Session(epsilon, delta=delta, rho=rho, name=name, queries=queries)
        protected = enter(opened, frame, schema=schema, unit=unit, max_rows=max_rows, name=name, enforce=enforce, derived=derived)
        if name is not None:
            # Only now: a protect() that failed has not taken the name.
            registry.named_sessions.setdefault(name, (opened, parameters))
    return protected


def _difference(key: str, before: object, now: object) -> str:
    if key == "schema":
        return "another schema"
    return f"{key}: {before!r} before, {now!r} now"


def _ledger_row(entry: Entry, release: Release | None) -> tuple[Any, ...]:
    margin: Any = entry.margin
    if margin != margin and release is not None and release.columns is None and release.index is None:  # noqa: PLR0124  (NaN: not known before)
        margin = release.half_width()
    return (
        entry.time, entry.frame, entry.query, entry.epsilon, entry.delta, entry.cost.rho, entry.mechanism, entry.scale, margin, entry.private,
    )  # fmt: skip
