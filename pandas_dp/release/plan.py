"""What a query will cost and which noise makes it cost that: decided before anything is charged, from public facts alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from pandas_dp.cells.cells import records_of_unit, rows, squared_sensitivity, unit_sensitivity
from pandas_dp.domains.keysets import PrivateKeys
from pandas_dp.engines.contract import Contribution, Gram, Occurring, Ranks, ReadPlan, Sums
from pandas_dp.errors import ParameterError, ParameterTypeError
from pandas_dp.quantities.budget import EPSILON_MAX, EPSILON_MIN, Epsilon, Rho
from pandas_dp.quantities.rounding import root_down
from pandas_dp.release.price import LEVEL
from pandas_dp.statistics.noise_laws import Exponential, Gaussian, Laplace
from pandas_dp.statistics.query import CellTotals, OrderChoice, SecondMoments

if TYPE_CHECKING:
    from collections.abc import Callable

    from pandas_dp.accounting import Cost
    from pandas_dp.accounting.prices import Strength
    from pandas_dp.cells.cells import Cell
    from pandas_dp.engines.contract import Read
    from pandas_dp.lineage.roster import Roster
    from pandas_dp.release.price import Price
    from pandas_dp.sessions.core import SessionCore
    from pandas_dp.statistics.query import Part, Query

__all__ = ["KeySelection", "Plan", "Request", "margin_before", "plan_of", "request_of", "widths"]

_DIGITS = 3  # to which a wanted ± is turned into an ε, upwards
Law = Laplace | Gaussian | Exponential


@dataclass(slots=True)
class KeySelection:
    """How private keys are found: noise on their numbers of units, and the threshold that shows one."""

    noise: Laplace
    threshold: int
    whole: bool
    """Whether these noisy numbers are the answer."""
    max_groups: int | None


@dataclass(slots=True)
class Plan:
    """What a query costs, and the noise that makes it cost that."""

    cost: Cost
    mechanism: str
    parts: list[tuple[Part, Law]]
    """What is released, and the noise on it."""
    selection: KeySelection | None = None


def plan_of(query: Query, session: SessionCore, price: Price, roster: Roster, size: Callable[[], int | None]) -> Plan:
    """Divide the price and set each scale, exactly.

    Parameters
    ----------
    query : Query
        In public terms.
    session : SessionCore
        Whose budget is asked.
    price : Price
        As the call named it.
    roster : Roster
        Of the frame.
    size : callable
        Returns a public number of rows or None, for a ± that depends on it.
    """
    if query.max_groups is not None and roster.unit is None:
        raise ParameterError.needs_unit("max_groups")
    if price.within is not None:
        price = replace(price, within=None, epsilon=_smallest(query, session, price, roster, price.rows or size()))
    chosen = all(isinstance(part.released, OrderChoice) for part in query.parts)
    strength = session.price(price.epsilon, price.rho, price.mechanism, chosen=chosen)
    if isinstance(query.keys, PrivateKeys):
        return _with_private_keys(query, query.keys, session, strength.cost, roster)
    parts = _parts(query, strength.epsilon, strength.rho, roster.max_rows)
    if len(parts) == 1 and not isinstance(parts[0][1], Exponential):
        return Plan(strength.cost, parts[0][1].mechanism, parts)
    mechanisms = dict.fromkeys(noise.mechanism for _, noise in parts)
    return Plan(_cost(strength, parts), ", ".join(mechanisms), parts)


def _cost(strength: Strength, parts: list[tuple[Part, Law]]) -> Cost:
    """Add up what the parts cost: ε²/2 of ρ for Laplace noise, ε²/8 for a choice, as :class:`pandas_dp.accounting.Cost` has it."""
    whole = sum((part.weight for part, _ in parts), Fraction(0))
    if strength.rho is not None:
        pure = all(isinstance(noise, Exponential) for _, noise in parts)
        epsilon = (
            sum((noise.epsilon for _, noise in parts if isinstance(noise, Exponential)), Fraction(0)) if pure else strength.cost.epsilon
        )
        return replace(strength.cost, epsilon=Epsilon(epsilon), pure=pure)
    if strength.cost.told is not None:
        return strength.cost  # named by ρ
    shares = [(part.weight / whole * strength.epsilon, isinstance(noise, Exponential)) for part, noise in parts]
    rho = sum((share * share / (8 if chosen else 2) for share, chosen in shares), Fraction(0))
    return replace(strength.cost, told=Rho(rho))


def _with_private_keys(query: Query, keys: PrivateKeys, session: SessionCore, cost: Cost, roster: Roster) -> Plan:
    from pandas_dp.noise.threshold import key_threshold  # noqa: PLC0415  (for those who select keys)

    delta = session.query_delta(keys.delta)
    if not cost.pure:
        raise ParameterError.laplace_only("keys='private'")
    whole = _counts_units(query, roster)
    share = Fraction(cost.epsilon) if whole else Fraction(cost.epsilon) / 2
    reach = records_of_unit(roster.max_rows, query.max_groups, grouped=True, one_each=True)
    scale = Fraction(reach) / share
    selection = KeySelection(Laplace(scale), key_threshold(scale, delta, reach), whole, query.max_groups)
    parts = _parts(query, share, None, roster.max_rows)
    return Plan(type(cost).laplace(cost.epsilon, delta), f"discrete Laplace, keys shown from {selection.threshold} units", parts, selection)


def _counts_units(query: Query, roster: Roster) -> bool:
    """Whether the numbers that are compared with the threshold are the answer."""
    released = query.parts[0].released
    cells = released.cells if isinstance(released, CellTotals) else ()
    if query.distinct is not None or cells != rows() or (query.one_each is not None and query.one_each.column is not None):
        return False
    return query.one_each is not None or roster.unit is None


def _parts(query: Query, epsilon: Fraction, rho: Fraction | None, max_rows: int) -> list[tuple[Part, Law]]:
    """Divide ε, or for Gaussian noise ρ, over the parts by their weights."""
    apart = query.one_each is not None
    records = records_of_unit(max_rows, query.max_groups, grouped=query.keys is not None, one_each=apart)
    if len(query.parts) == 1 and rho is None and isinstance(released := query.parts[0].released, CellTotals):
        # Most queries, which need no division of what they spend.
        return [(query.parts[0], Laplace(unit_sensitivity(released.cells, max_rows, records, released.row_limit) / epsilon))]
    whole = sum((part.weight for part in query.parts), Fraction(0))
    parts: list[tuple[Part, Law]] = []
    for part in query.parts:
        share, released = part.weight / whole, part.released
        noise: Law
        if isinstance(released, OrderChoice):
            noise = Exponential(epsilon * share if rho is None else root_down(8 * rho * share), max_rows)
        elif isinstance(released, SecondMoments):
            if rho is not None:
                raise ParameterError.laplace_only("a matrix of moments")
            noise = Laplace(Fraction(max_rows * released.design.sensitivity) / (epsilon * share))
        elif rho is None:
            noise = Laplace(unit_sensitivity(released.cells, max_rows, records, released.row_limit) / (epsilon * share))
        else:
            noise = Gaussian(squared_sensitivity(released.cells, max_rows, records, released.row_limit, apart=apart) / (2 * rho * share))
        parts.append((part, noise))
    return parts


class Request(NamedTuple):
    """What an engine is asked to read, and how the cells' totals are made of it."""

    plan: ReadPlan
    cells: list[Cell]
    """Of all parts, in order."""
    places: list[int]
    """Of each cell, which of the plan's sums its total is a combination of."""


def request_of(query: Query, steps: tuple[Any, ...], roster: Roster) -> Request:
    """Return what an engine is asked to read."""
    cells = [cell for part in query.parts if isinstance(part.released, CellTotals) for cell in part.released.cells]
    contribution = Contribution(roster.unit, roster.max_rows, query.max_groups)
    if query.distinct is not None:
        return Request(ReadPlan((Occurring(query.distinct),), steps, contribution), cells, [0] * len(cells))
    sums: list[Sums] = []
    places = [_placed(cell, sums) for cell in cells]
    if any(cell.per_square for cell in cells):
        squared = {place for cell, place in zip(cells, places, strict=True) if cell.per_square}
        sums = [read._replace(squares=place in squared) for place, read in enumerate(sums)]
    reads: list[Read] = [*sums]
    for part in query.parts:
        released = part.released
        if isinstance(released, OrderChoice):
            reads.append(Ranks(released.column, released.grid))
        elif isinstance(released, SecondMoments):
            reads.append(Gram(released.columns, released.grids))
    return Request(ReadPlan(tuple(reads), steps, contribution, query.keys, query.one_each), cells, places)


def _placed(cell: Cell, sums: list[Sums]) -> int:
    """Return the place among the sums of those that a cell needs; they are added if they are not there."""
    for place, read in enumerate(sums):
        # The same grid, not an equal one: comparing would take longer than a small sum, and reading twice is no fault.
        if read.grid is cell.grid and read.everything == cell.everything and read.column == cell.column:
            return place
    sums.append(Sums(cell.column, cell.grid, everything=cell.everything))
    return len(sums) - 1


def widths(parts: list[tuple[Part, Law]], level: float, size: int | None) -> list[Any]:
    """Return the ± of every estimator, as far as it can be told before the answer; raise if that needs a number of rows."""
    found = [estimator.half_width_before(noise, level, size) for part, noise in parts for estimator in part.estimators]
    if any(width is None for width in found):
        raise ParameterError.rows_needed()
    return found


def _smallest(query: Query, session: SessionCore, price: Price, roster: Roster, size: int | None) -> Epsilon:
    """Return the smallest ε, to three digits upwards, whose ± is at most what was asked for."""
    gaussian = session.price(1, None, price.mechanism).rho is not None
    halved = isinstance(query.keys, PrivateKeys) and not _counts_units(query, roster)

    def reaches(epsilon: Fraction) -> bool:
        parts = _parts(query, epsilon / (1 + halved), epsilon * epsilon / 2 if gaussian else None, roster.max_rows)
        return all(_at_most(width, price.within) for width in widths(parts, price.level, size))

    low, high = math.floor(math.log10(EPSILON_MIN)), math.ceil(math.log10(EPSILON_MAX))
    if not reaches(Fraction(10) ** high):
        raise ParameterError.number("within", "larger: no ε makes the answer that precise")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(Fraction(10) ** middle) else (middle, high)
    unit = Fraction(10) ** (low - _DIGITS + 1)
    few, many = 10 ** (_DIGITS - 1), 10**_DIGITS
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if reaches(middle * unit) else (middle, many)
    return Epsilon(max(many * unit, EPSILON_MIN))


def _at_most(width: Any, wanted: Any) -> bool:
    fits: bool | None = None
    try:
        fits = bool(width <= wanted)
    except Exception:  # noqa: BLE001  (whatever comparing with an object of the caller's raises)
        fits = None
    if fits is None or isinstance(wanted, bool):
        raise ParameterTypeError.wrong_kind("within", f"a number or duration, as the answer is ({type(width).__name__})", type(wanted))
    return fits


def margin_before(parts: list[tuple[Part, Law]]) -> float:
    """Return the ± at 95 % where it is one number and known before the answer, else NaN."""
    alone = len(parts) == 1 and len(parts[0][0].estimators) == 1
    width = parts[0][0].estimators[0].half_width_before(parts[0][1], LEVEL, None) if alone else None
    return float(width) if isinstance(width, (int, float)) else float("nan")
