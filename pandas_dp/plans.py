"""What a query will cost and which noise makes it cost that: decided before anything is charged, from public facts alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pandas_dp.accounting import NO_DELTA
from pandas_dp.cells import records_of_unit, rows, unit_sensitivity
from pandas_dp.errors import ParameterError
from pandas_dp.keys import PrivateKeys
from pandas_dp.samplers.threshold import key_threshold

if TYPE_CHECKING:
    from pandas_dp.accounting import Delta, Epsilon
    from pandas_dp.cells import Cell
    from pandas_dp.session import Session
    from pandas_dp.statistics.readings import Query, Reading
    from pandas_dp.units import Roster

__all__ = ["ColumnPart", "Plan", "Showing", "margin_before", "plan_of"]

MECHANISM = "discrete Laplace"
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class ColumnPart:
    """One column's share of a release: its cells, the scale of the noise on each, and what is read from them."""

    cells: tuple[Cell, ...]
    readings: tuple[Reading, ...]
    scale: Fraction


@dataclass(frozen=True, slots=True)
class Showing:
    """How private keys are found: noise on their numbers of units, and the threshold that shows one."""

    scale: Fraction
    threshold: int
    whole: bool
    """Whether these noisy numbers are the answer."""
    max_groups: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a query costs, and the noise that makes it cost that."""

    epsilon: Epsilon
    delta: Delta
    mechanism: str
    parts: list[ColumnPart]
    showing: Showing | None = None


def plan_of(query: Query, session: Session, epsilon: object | None, roster: Roster) -> Plan:
    """Divide ε and set each scale: sensitivity / ε, exactly."""
    if query.max_groups is not None and roster.unit is None:
        raise ParameterError.needs_unit("max_groups")
    exact = session.query_epsilon(epsilon)
    if not isinstance(query.keys, PrivateKeys):
        return Plan(exact, NO_DELTA, MECHANISM, _parts(query, Fraction(exact), roster.max_rows))
    delta = session.query_delta(query.keys.delta)
    units = query.one_each is not None and query.one_each.column is None
    whole = query.parts[0].cells == rows() and (units or roster.unit is None)  # the numbers that are compared are the answer
    share = Fraction(exact) if whole else Fraction(exact) / 2
    reach = records_of_unit(roster.max_rows, query.max_groups, grouped=True, one_each=True)
    scale = Fraction(reach) / share
    showing = Showing(scale, key_threshold(scale, delta, reach), whole, query.max_groups)
    return Plan(exact, delta, f"{MECHANISM}, keys shown from {showing.threshold} units", _parts(query, share, roster.max_rows), showing)


def _parts(query: Query, epsilon: Fraction, max_rows: int) -> list[ColumnPart]:
    """Divide ε equally over the columns."""
    records = records_of_unit(max_rows, query.max_groups, grouped=query.keys is not None, one_each=query.one_each is not None)
    over = len(query.parts) / epsilon
    return [
        ColumnPart(part.cells, part.readings, unit_sensitivity(part.cells, max_rows, records, part.row_limit) * over)
        for part in query.parts
    ]


def margin_before(parts: list[ColumnPart]) -> float:
    """Return the ± at 95 % where it is one number and known before the answer, else NaN."""
    alone = len(parts) == 1 and len(parts[0].readings) == 1
    width = parts[0].readings[0].half_width_before(parts[0].scale, LEVEL, None) if alone else None
    return float(width) if isinstance(width, (int, float)) else float("nan")
