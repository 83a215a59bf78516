"""The closed set of cell kinds, and every sensitivity in the project.

A statistic is a noisy histogram of unit mass: each record spreads integers over a few cells, and a release adds
integer noise to the cells' totals.  What one unit can move the vector of totals by, in L1, is decided here and
nowhere else.  This module reads no values: it turns public bounds into a public integer grid.

A :class:`Grid` gives every value of a column an integer *step*, the same on every engine: the integers themselves where they
are exact (``int``, ``bool``, datetimes in their unit), else about ``2**30`` steps of the bounds' width.  From the steps of the
present records an engine takes three exact integers, their number, their sum and the sum of their squares; every cell's
total is an integer combination of these.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = [
    "Cell",
    "FloatGrid",
    "Grid",
    "IntGrid",
    "OneEach",
    "clamped_total",
    "l1_sensitivity",
    "mass",
    "mean_cells",
    "present",
    "records_of_unit",
    "replacement_sensitivity",
    "rows",
    "signed_sum",
    "spread_cells",
    "squared_sensitivity",
    "top_of",
    "unit_sensitivity",
]

_ONE = Fraction(1)
_STEP_BITS = 30
_LARGE = 2**31  # times a number of rows below it, this fits an int64
_FAR = 2**8  # bounds this many widths away from zero are shifted to the origin first


@dataclass(frozen=True, slots=True)
class IntGrid:
    """Values that are integers: a step is the clamped value itself.

    Attributes
    ----------
    first, last : int
        The bounds, inclusive; ``first < last``.
    """

    first: int
    last: int

    @property
    def unit(self) -> Fraction:
        """The worth of one step."""
        return _ONE

    @property
    def offset(self) -> int:
        """The value, in steps, of step 0."""
        return 0


@dataclass(frozen=True, slots=True)
class FloatGrid:
    """Floats, clamped to ``[lower, upper]`` and rounded to a grid that depends on the bounds alone.

    ``step(x) = round((clamp(x) - origin) / g)`` with ``g`` a power of two, by adding ``magic = 1.5 * 2**52 * g``: the bits of the sum,
    read as an integer, are those of ``magic`` plus the step.  Every operation is one IEEE 754 operation on one value and monotone, so the
    steps of all records lie between those of the bounds, which are computed the same way.

    Attributes
    ----------
    lower, upper : float
        The bounds.
    origin : float
        Subtracted after clamping: 0, or for bounds far from zero a multiple of ``g`` next to ``lower``.
    g : float
        The grid's spacing, a power of two.
    first, last : int
        The steps of the bounds.
    """

    lower: float
    upper: float
    origin: float
    g: float
    first: int
    last: int

    @classmethod
    def between(cls, lower: float, upper: float) -> FloatGrid:
        """Lay a grid of about ``2**30`` steps over the bounds."""
        width = upper - lower
        g = math.ldexp(1.0, math.frexp(width)[1] - _STEP_BITS)
        far = max(abs(lower), abs(upper)) > _FAR * width
        origin = g * round(lower / g) if far else 0.0
        return cls._of(lower, upper, origin, g)

    @classmethod
    def spaced(cls, lower: float, upper: float, g: float) -> FloatGrid:
        """Lay a grid of spacing ``g`` over bounds that are at most ``2**50`` steps away from zero."""
        return cls._of(lower, upper, 0.0, g)

    @classmethod
    def _of(cls, lower: float, upper: float, origin: float, g: float) -> FloatGrid:
        magic = 1.5 * 2.0**52 * g
        return cls(
            lower,
            upper,
            origin,
            g,
            _bits((lower - origin) + magic) - _bits(magic),
            _bits((upper - origin) + magic) - _bits(magic),
        )

    @property
    def magic(self) -> float:
        """The number whose addition rounds to the grid."""
        return 1.5 * 2.0**52 * self.g

    @property
    def unit(self) -> Fraction:
        """The worth of one step."""
        return _exactly(self.g)

    @property
    def offset(self) -> int:
        """The value, in steps, of step 0."""
        return int(_exactly(self.origin) / self.unit) if self.origin else 0


@lru_cache(maxsize=1024)
def _exactly(number: float) -> Fraction:
    return Fraction(number)


def _bits(number: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


Grid = IntGrid | FloatGrid


def top_of(grid: Grid) -> int:
    """Return how many steps the bounds are apart."""
    return grid.last - grid.first


@dataclass(frozen=True, slots=True)
class Cell:
    """One integer total: ``per_record * records + per_step * (sum of steps) + per_square * (sum of squared steps)`` of one column.

    Attributes
    ----------
    column : Hashable
        The column; records with a missing value there contribute nothing.  Ignored if ``everything``.
    grid : Grid or None
        How values become steps; None where only presence counts.
    per_record, per_step, per_square : int
        The contribution of a record at step ``s`` is ``per_record + per_step * s + per_square * s**2``.
    everything : bool
        Count all rows, whatever their values.
    """

    column: Hashable
    grid: Grid | None
    per_record: int
    per_step: int
    per_square: int = 0
    everything: bool = False

    def means(self) -> tuple[Any, ...]:
        """Return what counts for the question that is asked: which records the cell counts."""
        return self.column, self.everything

    def of(self, count: Any, total: Any, squares: Any = None) -> Any:
        """Return the total of ``count`` records from the sums of steps and squared steps: ints, or arrays of one for each group."""
        if hasattr(count, "astype") and (self.per_square or abs(self.per_record) >= _LARGE):
            count, total = count.astype(object), total.astype(object)
        linear = self.per_record * count + self.per_step * total
        return linear + self.per_square * squares if self.per_square else linear

    def at(self, step: int) -> int:
        """Return what one record at ``step`` contributes."""
        return self.per_record + self.per_step * step + self.per_square * step * step


@dataclass(frozen=True, slots=True)
class OneEach:
    """That a unit has one record in each group: because it has a value in ``column``, or with the sum of its steps on ``grid``."""

    column: Hashable | None
    grid: Grid | None


def rows() -> tuple[Cell, ...]:
    """One cell: every record counts 1."""
    return (Cell(None, None, 1, 0, everything=True),)


def present(column: Hashable) -> tuple[Cell, ...]:
    """One cell: every record with a value in ``column`` counts 1."""
    return (Cell(column, None, 1, 0),)


def signed_sum(column: Hashable, grid: Grid) -> tuple[Cell, ...]:
    """One signed cell: every record counts its clamped value, in steps from the value 0."""
    return (Cell(column, grid, grid.offset, 1),)


def mean_cells(column: Hashable, grid: Grid) -> tuple[Cell, Cell]:
    """Two cells: a record at height ``k`` of the ``m`` steps between the bounds counts ``(k, m - k)``: always mass ``m``."""
    return Cell(column, grid, -grid.first, 1), Cell(column, grid, grid.last, -1)


def spread_cells(column: Hashable, grid: Grid) -> tuple[Cell, Cell, Cell]:
    """Three cells: a record at height ``k`` of ``m`` steps counts ``(k**2, 2*k*(m-k), (m-k)**2)``: always mass ``m**2``."""
    first, last = grid.first, grid.last
    return (
        Cell(column, grid, first * first, -2 * first, 1),
        Cell(column, grid, -2 * first * last, 2 * (first + last), -2),
        Cell(column, grid, last * last, -2 * last, 1),
    )


def clamped_total(column: Hashable, lower: int, upper: int) -> tuple[Cell, ...]:
    """One signed cell: every record is a unit's total in steps, clamped."""
    return signed_sum(column, IntGrid(lower, upper))


def records_of_unit(max_rows: int, max_groups: int | None, *, grouped: bool, one_each: bool) -> int:
    """Return how many records of one unit a release may count.

    Parameters
    ----------
    max_rows : int
        How many rows of a unit count.
    max_groups : int or None
        How many groups a unit reaches, if that is bounded.
    grouped : bool
        Whether there are groups; without them a unit is in one.
    one_each : bool
        Whether a unit has one record in each group, instead of one for each row.
    """
    if not one_each:
        return max_rows
    groups = 1 if not grouped else max_rows if max_groups is None else max_groups
    return min(max_rows, groups)


def mass(cells: Sequence[Cell]) -> int:
    """Return what one record adds to the cells together, where that is the same for every value."""
    return sum(cell.at(cell.grid.first if cell.grid else 0) for cell in cells)


def l1_sensitivity(cells: Sequence[Cell], records: int = 1) -> int:
    """Return by how much adding or removing one unit can move the totals, summed over the cells.

    Parameters
    ----------
    cells : sequence of Cell
        Cells that are released together, of one column.
    records : int
        How many records of a unit count.

    Returns
    -------
    int
        ``records`` times the largest sum of absolute contributions of one record.  Linear contributions make a convex sum of absolute values,
        largest at a bound; squares are only allowed in cells that are never negative, whose sum is a parabola.

    Raises
    ------
    ValueError
        If cells with squares can be negative: they are outside the closed set.

    Notes
    -----
    Neighbouring relation: one unit is added or removed.  Count: 1.  Sum over ``[L, U]``: ``max(|L|, |U|)`` [1]_.  Mean:
    ``|k| + |m - k| = m``, so that the whole ε serves each of the two cells.  Variance: ``k**2 + 2*k*(m-k) + (m-k)**2 = m**2``, likewise.

    References
    ----------
    .. [1] C. Dwork, A. Roth. The algorithmic foundations of differential privacy. 2014, definition 3.1 (ℓ1-sensitivity).
    """
    ends = {step for cell in cells if cell.grid is not None for step in (cell.grid.first, cell.grid.last)} or {0}
    if not any(cell.per_square for cell in cells):
        return records * max(sum(abs(cell.at(step)) for cell in cells) for step in ends)
    low, high = min(ends), max(ends)
    if any(_least(cell, low, high) < 0 for cell in cells):
        msg = "cells with squares must not be negative"
        raise ValueError(msg)
    total = Cell(None, None, sum(c.per_record for c in cells), sum(c.per_step for c in cells), sum(c.per_square for c in cells))
    return records * max(total.at(step) for step in _turns(total, low, high))


def replacement_sensitivity(cells: Sequence[Cell]) -> int:
    """Return by how much giving one record other values can move the totals, summed over the cells, while the number of records stays.

    Parameters
    ----------
    cells : sequence of Cell
        Cells that are released together, of one column in which every record has a value, or of none.

    Returns
    -------
    int
        The sum over the cells of ``abs(per_step) * (last - first)``; where only presence counts, 1 for each cell: a record that counted may come not to count.

    Raises
    ------
    ValueError
        If there are squares, for which this is not known here.

    Notes
    -----
    Neighbouring relation: one record is replaced; there is no ``.dp`` query under it.  Sum over ``[L, U]``: ``U - L`` [1]_.  That may be less, or more, than adding or removing a record moves it,
    which is ``max(|L|, |U|)``: of bounds (50, 60) a tenth of it, nearly, and of (-1, 1) twice as much.

    References
    ----------
    .. [1] S. Casacuberta, M. Shoemate, S. Vadhan, C. Wagaman. Widespread underestimation of sensitivity in differentially private libraries and how to fix it. CCS 2022, section 2.
    """
    if any(cell.per_square for cell in cells):
        msg = "cells with squares have no replacement sensitivity here"
        raise ValueError(msg)
    return sum(abs(cell.per_record) if cell.grid is None else abs(cell.per_step) * top_of(cell.grid) for cell in cells)


def _least(cell: Cell, low: int, high: int) -> int:
    return min(cell.at(step) for step in _turns(cell, low, high))


def _turns(cell: Cell, low: int, high: int) -> set[int]:
    """Return steps among which a parabola on integers has its extremes: the ends, and those next to its vertex."""
    if not cell.per_square:
        return {low, high}
    vertex = -cell.per_step // (2 * cell.per_square)
    return {low, high, *(min(max(step, low), high) for step in (vertex, vertex + 1))}


def unit_sensitivity(cells: Sequence[Cell], max_rows: int, records: int, row_limit: int | None) -> int:
    """Return by how much one unit can move the totals: by its records, and no more than its rows allow.

    Parameters
    ----------
    cells : sequence of Cell
        Of one column.
    max_rows, records : int
        How many rows of a unit count, and into how many records they are made.
    row_limit : int or None
        What one row adds to its record at most, if that is known.
    """
    by_records = l1_sensitivity(cells, records)
    return by_records if row_limit is None else min(by_records, max_rows * row_limit)


def squared_sensitivity(cells: Sequence[Cell], max_rows: int, records: int, row_limit: int | None, *, apart: bool) -> int:
    """Return the square of how far one unit can move the totals, in the Euclidean norm.

    Parameters
    ----------
    cells, max_rows, records, row_limit
        As for :func:`unit_sensitivity`.
    apart : bool
        Whether a unit's records are in different groups, one each: then their squares add up, instead of their sizes.

    Notes
    -----
    Of numbers whose absolute values have a given sum, the sum of squares is largest if there is one: the Euclidean norm is at most the ℓ1 norm [1]_.  It is attained by a
    record at a bound, whose mass is all in one cell.

    References
    ----------
    .. [1] C. Dwork, A. Roth. The algorithmic foundations of differential privacy. 2014, definition 3.8 (ℓ2-sensitivity).
    """
    rows = None if row_limit is None else (max_rows * row_limit) ** 2
    found = records * l1_sensitivity(cells) ** 2 if apart else l1_sensitivity(cells, records) ** 2
    return found if rows is None else min(found, rows)
