"""The one audited path from a protected frame to a released number.

The only module that holds data, budget and noise at once; read it when auditing a privacy claim.  The order is fixed:

1. check row identity (labels only), so that what is named next are columns and not rows of a transposed frame;
2. check the arguments against public facts (names, dtypes, declarations);
3. charge the budget, atomically;
4. read the data: exact integer totals;
5. add integer noise of scale sensitivity / ε to every total;
6. finish: post-processing of noisy totals.

Nothing before 3 reads a value.  Nothing after 3 refunds, and whatever fails there fails alike for every frame.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from pandas_dp.accounting import Epsilon
from pandas_dp.cells import Cell, l1_sensitivity
from pandas_dp.engines.grouping import group_codes
from pandas_dp.engines.pandas import totals
from pandas_dp.errors import ComputationFailed, ParameterError
from pandas_dp.noise import is_private
from pandas_dp.public import PublicFrame
from pandas_dp.registry import require
from pandas_dp.results import Release, check_level, plus_minus
from pandas_dp.samplers.laplace import discrete_laplace
from pandas_dp.statistics.estimates import GroupEstimate

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

    from pandas_dp.keys import KeySet
    from pandas_dp.registry import Protected
    from pandas_dp.results import Estimate
    from pandas_dp.session import Session
    from pandas_dp.statistics.readings import Query, Reading
    from pandas_dp.units import Selection

__all__ = ["Preview", "answer", "preview"]

MECHANISM = "discrete Laplace"
LEVEL = 0.95
_MOST_ROWS = 10**15
_WIDE = 2**62


@dataclass(frozen=True, slots=True)
class _Part:
    """One column's share of a release: its cells, the scale of the noise on each, and what is read from them."""

    cells: tuple[Cell, ...]
    readings: tuple[Reading, ...]
    scale: Fraction


class Source(Protocol):
    """What a query can be asked of: a tracked view, or a frame or Series itself."""

    base: pd.DataFrame
    """The frame with the handle and the row labels."""
    text: str
    """The steps that lead from there, for the ledger."""

    def public(self, protected: Protected) -> PublicFrame:
        """Return its public facts."""

    def read(self) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
        """Return its values, with the labels of ``base``, and which rows belong to it.  Reads data: runs after the charge."""


def base_of(source: Any) -> Any:
    """Return the frame that carries handle and labels."""
    return source if isinstance(source, (pd.DataFrame, pd.Series)) else source.base


def _query(source: Any, protected: Protected, build: Callable[[PublicFrame], Query]) -> Query:
    """Build the query from the public facts of what it is asked of."""
    if base_of(source) is source:
        return build(PublicFrame(source, protected.facts, protected.columns))
    query = build(source.public(protected))
    return replace(query, text=f"{source.text}.{query.text}" if source.text else query.text)


def answer(source: Any, build: Callable[[PublicFrame], Query], epsilon: object | None) -> Any:
    """Answer a query, or raise before anything is read or charged.

    Parameters
    ----------
    source : DataFrame, Series or Source
        Derived from a protected frame.
    build : callable
        Turns public facts into the query.
    epsilon : number or None
        The query's ε; None for the session's equal share.
    """
    protected = require(base_of(source))
    session, roster = protected.session, protected.roster
    session.accountant.check_open()
    selection = roster.identify(base_of(source))
    query = _query(source, protected, build)
    exact = session.query_epsilon(epsilon)
    parts = _parts(query, exact, roster.max_rows)
    private = is_private()
    entry = session.accountant.charge(
        exact,
        frame=protected.handle,
        query=query.text,
        mechanism=MECHANISM,
        scale=max(reading.answer_scale(part.scale) for part in parts for reading in part.readings),
        margin=_margin_before(parts),
        private=private,
    )
    release = None
    index = None if query.keys is None else query.keys.index
    with suppress(Exception):  # its text may quote data; what is raised below says nothing but that it failed
        estimates = _measure(source, parts, selection, query.keys)
        release = Release(
            entry.number, query.text, protected.handle, exact, MECHANISM, query.labels, estimates, private, index, query.functions
        )
        value = release.value
    if release is None:
        raise ComputationFailed.after_charge(query.text)
    session.record(release)
    return value


def _parts(query: Query, epsilon: Epsilon, max_rows: int) -> list[_Part]:
    """Divide ε equally over the columns and set each scale: sensitivity / ε, exactly."""
    over = epsilon.denominator * len(query.parts)
    return [
        _Part(part.cells, part.readings, Fraction(l1_sensitivity(part.cells, max_rows) * over, epsilon.numerator)) for part in query.parts
    ]


def _measure(source: Any, parts: list[_Part], selection: Selection, keys: KeySet | None) -> tuple[Estimate, ...]:
    """Read, add noise, finish.  Runs after the charge."""
    frame, rows = (source, None) if base_of(source) is source else source.read()
    cells = [cell for part in parts for cell in part.cells]
    groups = None if keys is None else group_codes(frame, keys)
    exact = totals(frame, cells, by=groups, unit=selection.counted(frame, rows))
    estimates: list[Estimate] = []
    for part in parts:
        noise = discrete_laplace(part.scale)
        if groups is None:
            noisy = [exact.pop(0) + noise.draw() for _ in part.cells]
            estimates.extend(reading.finish(noisy, part.scale) for reading in part.readings)
        else:
            arrays = [_add(exact.pop(0), noise.draws(groups.size)) for _ in part.cells]
            estimates.extend(GroupEstimate(reading, tuple(arrays), part.scale, reading.values(arrays)) for reading in part.readings)
    return tuple(estimates)


def _add(exact: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """Add noise to totals in integers, of Python's kind where the sum might not fit."""
    largest = int(np.abs(exact).max(initial=0)) + int(np.abs(noise).max(initial=0))
    kind = np.int64 if largest < _WIDE else np.object_
    total: NDArray[Any] = exact.astype(kind) + noise.astype(kind)
    return total


def _margin_before(parts: list[_Part]) -> float:
    """Return the ± at 95 % where it is one number and known before the answer, else NaN."""
    alone = len(parts) == 1 and len(parts[0].readings) == 1
    width = parts[0].readings[0].half_width_before(parts[0].scale, LEVEL, None) if alone else None
    return float(width) if isinstance(width, (int, float)) else float("nan")


@dataclass(frozen=True, slots=True)
class Preview:
    """What a query would cost and how far off its answer could be.  Nothing was spent or read.

    Attributes
    ----------
    query : str
        Its text.
    epsilon : Epsilon
        What it would cost.
    remaining : Epsilon
        What would be left, or would be missing if negative.
    half_width : number or dict
        The ± of the answer at ``level``; per column if there are several.  For a mean, the ± at either end of the bounds,
        where it is largest: up to a third less in the middle.
    level : float
        The confidence level.
    """

    query: str
    epsilon: Epsilon
    remaining: Epsilon
    half_width: Any
    level: float

    @property
    def fits(self) -> bool:
        """Whether the budget allows it now."""
        return Fraction(self.remaining) >= 0

    def __repr__(self) -> str:
        """Return cost, error and what would be left."""
        widths = self.half_width if isinstance(self.half_width, dict) else {"": self.half_width}
        shown = ", ".join(f"{name}{': ' if name else ''}{_margin_text(width)}" for name, width in widths.items())
        left = f"would leave {self.remaining!r}" if self.fits else f"is {Epsilon(-self.remaining)!r} too much"
        return f"<Preview {self.query}: {self.epsilon!r} {left}; {shown} at {self.level:.0%}>"


def _margin_text(width: Any) -> str:
    return "±" + (plus_minus(0, width) if isinstance(width, int) else plus_minus(0.0, width)).rsplit("±", 1)[1].strip()


def preview(
    source: Any,
    build: Callable[[PublicFrame], Query],
    epsilon: object | None,
    rows: object | None,
    level: float,
) -> Preview:
    """Work out cost and error of a query from public facts and earlier releases."""
    protected = require(base_of(source))
    session = protected.session
    check_level(level)
    session.accountant.check_open()
    protected.roster.identify(base_of(source))
    query = _query(source, protected, build)
    exact = session.query_epsilon(epsilon)
    size = _checked_rows(rows) if rows is not None else _last_count(session)
    widths = []
    for part in _parts(query, exact, protected.roster.max_rows):
        for reading in part.readings:
            width = reading.half_width_before(part.scale, level, size)
            if width is None:
                raise ParameterError.rows_needed()
            widths.append(width)
    half_width = widths[0] if query.labels is None else dict(zip(_names(query), widths, strict=True))
    return Preview(query.text, exact, Epsilon(session.remaining - exact), half_width, level)


def _names(query: Query) -> list[Hashable]:
    """Return one name for each answer."""
    labels = query.labels or ()
    return list(labels) if query.functions is None else list(zip(labels, query.functions, strict=True))


def _checked_rows(rows: object) -> int:
    number: int | None = None
    try:
        number = int(rows)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not 1 <= number <= _MOST_ROWS:
        raise ParameterError.number("rows", f"a number of rows between 1 and {_MOST_ROWS:,}")
    return number


def _last_count(session: Session) -> int | None:
    """Return the last released count, which is public by now."""
    for release in reversed(session.releases):
        if release.query.startswith("count("):
            return max(1, int(release.estimates[0].value))
    return None
