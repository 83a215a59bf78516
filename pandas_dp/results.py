"""What a query returns: plain numbers that remember their error, and the record of a release.

Everything here is already released: noisy totals and public parameters, so that reading, copying, printing
or pickling an answer any number of times tells nothing more.  No object here may refer to a frame or a session.
A pickle names the classes that users import, and :func:`rebuild`, and nothing that may move.
"""

from __future__ import annotations

import json
import math
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import pandas as pd

from pandas_dp.display.numbers import plus_minus
from pandas_dp.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from matplotlib.axes import Axes

    from pandas_dp.accounting import Cost
    from pandas_dp.quantities.budget import Epsilon

__all__ = ["Estimate", "NoisyFloat", "NoisyInt", "PrivateBounds", "Ranks", "Release", "check_level", "plus_minus", "rebuild"]

_VERSION = 1  # of what pickles hold


class Estimate(Protocol):
    """One finished number: a value and how far off it may be, from noisy totals alone."""

    @property
    def value(self) -> Any:
        """The answer: int, float, Timestamp or Timedelta."""

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return lower and upper end of the interval that covers the exact (clamped) answer at ``level``."""

    def half_width(self, level: float) -> Any:
        """Return the distance from the value to the farther end of the interval."""


@dataclass(frozen=True, slots=True)
class Release:
    """The record of one query: what was asked, what it cost, what was answered.

    Attributes
    ----------
    number : int
        The entry of the ledger that paid for it.
    query : str
        Its text.
    frame : str
        The handle of the protected frame.
    cost : Cost
        What was charged, for all columns together.
    mechanism : str
        For example ``"discrete Laplace"``.
    columns : tuple of Hashable or None
        The columns of the answers, one for each; None for a scalar.
    estimates : tuple of Estimate
        One per answer.
    private : bool
        False if the noise was the repeatable one of ``pandas_dp.testing``.
    index : Index or None
        The groups of a grouped answer.
    functions : tuple of str or None
        What each answer is, where columns have several.
    square : bool
        Whether the answer is a matrix of columns by columns.
    name : Hashable or None
        What a grouped answer is called, if it is a Series.
    """

    number: int
    query: str
    frame: str
    cost: Cost
    mechanism: str
    columns: tuple[Hashable, ...] | None
    estimates: tuple[Estimate, ...]
    private: bool
    index: pd.Index[Any] | None = None
    functions: tuple[str, ...] | None = None
    square: bool = False
    name: Hashable | None = None

    @property
    def epsilon(self) -> Epsilon:
        """What was charged of ε; for a Gaussian the ε of a Laplace mechanism of the same ρ."""
        return self.cost.epsilon

    @property
    def value(self) -> Any:
        """The answer as the query returned it: a number, a Series with one row per column, or one row per group and one column per column."""
        if self.columns is None and self.index is None:
            return _carry(self.estimates[0].value, self)
        return self._shaped([_tabular(estimate) for estimate in self.estimates])

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the confidence interval of the answer.

        Parameters
        ----------
        level : float
            Between 0 and 1, both excluded.

        Returns
        -------
        tuple of (lower, upper)
            Each of the shape of the answer: numbers for a number, Series for a Series.

        Notes
        -----
        It covers the exact answer over the *clamped* values with at least this probability over the noise;
        sampling error is not part of it.  Free: it is computed from what was released.
        """
        check_level(level)
        ends = [estimate.interval(level) for estimate in self.estimates]
        return self._shaped([end[0] for end in ends]), self._shaped([end[1] for end in ends])

    def half_width(self, level: float = 0.95) -> Any:
        """Return the ± at ``level``: the distance from the answer to the farther end of its interval."""
        check_level(level)
        return self._shaped([estimate.half_width(level) for estimate in self.estimates])

    def plot(self, *, level: float = 0.95, columns: Any = None, ax: Axes | None = None) -> Axes:
        """Draw the answer with its intervals: a bar, points with bars, or a heat map of a matrix.

        Parameters
        ----------
        level : float
            Of the intervals.
        columns : column or list of columns, optional
            Which to draw of several; by default all.
        ax : matplotlib Axes, optional
            By default those of a new figure.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ParameterError
            For columns that the answer does not have, or columns of different kinds, which share no axis.
        ExtraMissing
            Without matplotlib.

        Privacy
        -------
        Post-processing of what was released: nothing is read or charged.

        Notes
        -----
        More pictures are in ``pandas_dp.plotting``.
        """
        from pandas_dp.display.drawing import draw_answer  # noqa: PLC0415  (for those who draw)

        return draw_answer(self, ax, level, columns)

    def _shaped(self, values: list[Any]) -> Any:
        """Return one value per estimate in the shape of the answer."""
        if self.square:
            names = pd.Index(list(self.columns or ()), tupleize_cols=False)
            return pd.DataFrame(values[0], index=names, columns=names)
        if self.columns is None:
            return values[0] if self.index is None else pd.Series(values[0], index=self.index, name=self.name)
        if self.index is not None:
            columns = pd.Index(self.columns, tupleize_cols=False) if self.functions is None else self._pairs()
            return pd.concat([pd.Series(value, index=self.index) for value in values], axis=1, keys=range(len(values))).set_axis(
                columns, axis=1
            )
        if self.functions is None:
            return pd.Series(values, index=pd.Index(list(self.columns), tupleize_cols=False))
        # As pandas' agg: functions down, columns across, missing where nothing was asked.
        cells = dict(zip(zip(self.functions, self.columns, strict=True), values, strict=True))
        rows, across = list(dict.fromkeys(self.functions)), list(dict.fromkeys(self.columns))
        table = {place: [cells.get((row, column), math.nan) for row in rows] for place, column in enumerate(across)}
        return pd.DataFrame(table, index=rows).set_axis(pd.Index(across, tupleize_cols=False), axis=1)

    def _pairs(self) -> pd.MultiIndex:
        return pd.MultiIndex.from_arrays([list(self.columns or ()), list(self.functions or ())])

    def __repr__(self) -> str:
        """Return the query, its answer and its price."""
        if self.index is not None:
            answer = f"{len(self.index)} groups"
        elif self.square:
            answer = f"{len(self.columns or ())} columns by as many"
        elif self.columns is None:
            answer = _shown(self.estimates[0])
        else:
            names = self.columns if self.functions is None else [f"{a} {b}" for a, b in zip(self.columns, self.functions, strict=True)]
            answer = ", ".join(f"{name}: {_shown(estimate)}" for name, estimate in zip(names, self.estimates, strict=True))
        note = "" if self.private else ", repeatable noise: not private"
        return f"<Release {self.number}: {self.query} = {answer} for {self.cost.named!r}{note}>"

    def __copy__(self) -> Release:
        """Return a record of the same parts."""
        return replace(self)

    def __deepcopy__(self, memo: Any) -> Release:
        """Return a record of copied parts."""
        return replace(self, **{field.name: deepcopy(getattr(self, field.name), memo) for field in fields(self)})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as JSON, and beside it what JSON cannot hold exactly, such as private keys of unusual types."""
        from pandas_dp.wire.codec import encode  # noqa: PLC0415  (loaded for those who use it)

        others: list[Any] = []
        text = json.dumps(encode(self, others), allow_nan=False, separators=(",", ":"))
        return rebuild, (_VERSION, "Release", text, *others)


class _Noisy:
    """What ``NoisyInt`` and ``NoisyFloat`` share."""

    __slots__ = ()
    release: Release

    @property
    def epsilon(self) -> Epsilon:
        """What the answer cost."""
        return self.release.epsilon

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return (lower, upper) that cover the exact answer with probability ``level``; see ``Release.interval``."""
        return self.release.interval(level)

    def half_width(self, level: float = 0.95) -> Any:
        """Return the ± at ``level``."""
        return self.release.half_width(level)

    def __repr__(self) -> str:
        """Return the answer with its 95 % margin, such as ``38.72 ± 0.41``."""
        return _shown(self.release.estimates[0])

    def __copy__(self) -> _Noisy:
        """Return the same, immutable number."""
        return self

    def __deepcopy__(self, memo: object) -> _Noisy:
        """Return the same, immutable number."""
        return self


class NoisyInt(_Noisy, int):
    """A released ``int`` that carries its ε, its interval and its release.

    Calculates, compares, formats and serialises as a plain ``int``; arithmetic returns plain numbers.
    """

    release: Release

    def __new__(cls, value: int, release: Release) -> Self:
        """Attach the release to the number."""
        self = super().__new__(cls, value)
        self.release = release
        return self

    def __str__(self) -> str:
        """Return the plain number."""
        return int.__repr__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the release."""
        return NoisyInt, (int(self), self.release)


class NoisyFloat(_Noisy, float):
    """A released ``float`` that carries its ε, its interval and its release.

    Calculates, compares, formats and serialises as a plain ``float``; arithmetic returns plain numbers.
    """

    release: Release

    def __new__(cls, value: float, release: Release) -> Self:
        """Attach the release to the number."""
        self = super().__new__(cls, value)
        self.release = release
        return self

    def __str__(self) -> str:
        """Return the plain number."""
        return float.__repr__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the release."""
        return NoisyFloat, (float(self), self.release)


class Ranks(int):
    """A ± in ranks: how many rows an answer may be away from the one that was meant."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the number with its unit."""
        return f"{int(self)} ranks"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the number."""
        return rebuild, (_VERSION, "Ranks", int(self))


class PrivateBounds(tuple[Any, Any]):  # noqa: SLOT001  (a tuple cannot have slots)
    """Estimated bounds ``(lower, upper)``, which also know what they are expected to cut off.

    Attributes
    ----------
    clamped : float
        The expected share of values outside, by the same noisy counts.
    """

    clamped: float

    @classmethod
    def of(cls, lower: Any, upper: Any, clamped: float) -> PrivateBounds:
        """Return the pair."""
        found = cls((lower, upper))
        found.clamped = clamped
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the numbers."""
        return rebuild, (_VERSION, "PrivateBounds", *self, self.clamped)


def rebuild(version: int, kind: str, *parts: Any) -> Any:
    """Return an answer from what a pickle holds of it.

    Parameters
    ----------
    version : int
        Of the way in which it is held.
    kind : str
        What it is.
    *parts : Any
        What it consists of.

    Raises
    ------
    ValueError
        For what a later version of pandas_dp pickled.
    """
    if version != _VERSION or kind not in _REBUILT:
        msg = "this answer was pickled by a later version of pandas_dp"
        raise ValueError(msg)
    return _REBUILT[kind](*parts)


def _release_of(text: str, *others: Any) -> Release:
    from pandas_dp.wire.codec import decode  # noqa: PLC0415  (loaded for those who use it)

    found: Release = decode(json.loads(text), others)
    return found


_REBUILT: dict[str, Callable[..., Any]] = {"PrivateBounds": PrivateBounds.of, "Ranks": Ranks, "Release": _release_of}


def _tabular(estimate: Any) -> Any:
    """Return a value for a table: of what may not fit an int64 a float, so that its dtype does not depend on it."""
    value = estimate.value
    return float(value) if isinstance(value, int) and getattr(estimate, "wide", False) else value


def _shown(estimate: Any) -> str:
    """Return a value with its ±, in whatever unit that is."""
    own = getattr(estimate, "shown", None)
    return plus_minus(estimate.value, estimate.half_width(0.95)) if own is None else str(own())


def _carry(value: Any, release: Release) -> Any:
    if isinstance(value, int):
        return NoisyInt(value, release)
    if isinstance(value, float):
        return NoisyFloat(value, release)
    return value  # Timestamp and Timedelta: no subclass survives pandas; the session keeps their release


def check_level(level: float) -> None:
    """Raise ``ParameterError`` unless ``0 < level < 1``."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        raise ParameterError.number("level", "a number between 0 and 1, such as 0.95")
