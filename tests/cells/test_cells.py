"""Grids and sensitivities: one place, each attained and none exceeded."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pandas_dp.cells.cells import (
    Cell,
    FloatGrid,
    IntGrid,
    clamped_total,
    l1_sensitivity,
    mass,
    mean_cells,
    present,
    records_of_unit,
    rows,
    signed_sum,
    spread_cells,
    squared_sensitivity,
    unit_sensitivity,
)

SUMS = [((-10, 90), 90), ((40, 60), 60), ((-1, 1), 1), ((-5, -2), 5), ((0, 110), 110)]


@pytest.mark.parametrize(("bounds", "expected"), SUMS)
def test_sum_sensitivity_is_add_remove(bounds, expected):
    """Adding or removing a record moves a sum by max(|L|, |U|), not by U - L."""
    assert l1_sensitivity(signed_sum("x", IntGrid(*bounds))) == expected
    grid = FloatGrid.between(*map(float, bounds))
    assert l1_sensitivity(signed_sum("x", grid)) * grid.unit == expected


@pytest.mark.parametrize(("bounds", "expected"), SUMS)
def test_mean_sensitivity_is_the_mass(bounds, expected):
    """The two cells of a mean always hold mass U - L between them, so that both get the whole ε."""
    cells = mean_cells("x", IntGrid(*bounds))
    assert l1_sensitivity(cells) == bounds[1] - bounds[0]
    for step in range(bounds[0], bounds[1] + 1):
        assert [cell.at(step) >= 0 for cell in cells] == [True, True]
        assert sum(cell.at(step) for cell in cells) == bounds[1] - bounds[0]


@pytest.mark.parametrize(("bounds", "expected"), SUMS)
def test_spread_sensitivity_is_the_mass(bounds, expected):
    """The three cells of a variance always hold mass (U - L)**2 between them, and none is ever negative."""
    cells = spread_cells("x", IntGrid(*bounds))
    m = bounds[1] - bounds[0]
    assert l1_sensitivity(cells) == mass(cells) == m * m
    for step in range(bounds[0], bounds[1] + 1):
        k = step - bounds[0]
        assert [cell.at(step) for cell in cells] == [k * k, 2 * k * (m - k), (m - k) ** 2]


def test_parabolas_are_largest_next_to_the_vertex():
    """For cells with squares the sensitivity is the largest over all steps, found by trying each; cells that can be negative are refused."""
    for first, last in itertools.combinations(range(-5, 6), 2):
        for a, b, c in itertools.product((-2, 1), (-3, 0, 4), (0, 30, 90)):
            cell = Cell("x", IntGrid(first, last), c, b, a)
            values = [cell.at(step) for step in range(first, last + 1)]
            if min(values) >= 0:
                assert l1_sensitivity([cell]) == max(values)
            else:
                with pytest.raises(ValueError, match="negative"):
                    l1_sensitivity([cell])


@pytest.mark.parametrize("max_rows", [1, 3, 1000])
def test_units_multiply(max_rows):
    """A unit of up to k records moves every total k times as far."""
    for cells in (
        rows(),
        present("x"),
        signed_sum("x", IntGrid(-3, 7)),
        mean_cells("x", IntGrid(-3, 7)),
        spread_cells("x", IntGrid(-3, 7)),
    ):
        assert l1_sensitivity(cells, max_rows) == max_rows * l1_sensitivity(cells)


def test_largest_at_a_bound():
    """The sensitivity is the largest over all steps, found by trying each."""
    for first, last in itertools.combinations(range(-6, 7), 2):
        for cells in (signed_sum("x", IntGrid(first, last)), mean_cells("x", IntGrid(first, last))):
            brute = max(sum(abs(cell.at(step)) for cell in cells) for step in range(first, last + 1))
            assert l1_sensitivity(cells) == brute


finite = st.floats(-1e250, 1e250)


@settings(max_examples=500, deadline=None, derandomize=True, database=None)
@given(finite, finite)
def test_float_grid_is_fine_and_true(a, b):
    """For any bounds: 2**29 to 2**31 steps (fewer only where doubles themselves are coarser), ends within a step of the bounds, sums exact to a step."""
    low, high = min(a, b), max(a, b)
    if not high - low >= 2.0**-900:
        return
    grid = FloatGrid.between(low, high)
    steps = grid.last - grid.first
    assert 2**29 - 1 <= steps <= 2**31
    assert abs((grid.first + grid.offset) * grid.unit - Fraction(low)) <= grid.unit
    assert abs((grid.last + grid.offset) * grid.unit - Fraction(high)) <= grid.unit
    assert math.frexp(grid.g)[0] == 0.5, "a power of two"
    assert max(abs(grid.first), abs(grid.last)) < 2**40, "block sums of 2**17 steps stay far below 2**63"
    worst = max(abs(Fraction(low)), abs(Fraction(high)))
    assert l1_sensitivity(signed_sum("x", grid)) * grid.unit <= worst + grid.unit


def test_bounds_next_to_each_other():
    """Bounds one ulp apart far from zero still make a grid on which the bounds differ."""
    for low in (1.0, 2.0**52, 1.7e18, -1e200):
        grid = FloatGrid.between(low, math.nextafter(low, math.inf))
        assert grid.last > grid.first


def test_how_many_records_a_unit_has():
    """A unit has a record for each of its rows, or one in each group that it reaches: without groups in one, by group in as many as its rows or ``max_groups`` allow."""
    for max_rows, max_groups in itertools.product(range(1, 6), (None, 1, 2, 7)):
        assert records_of_unit(max_rows, max_groups, grouped=True, one_each=False) == max_rows
        assert records_of_unit(max_rows, max_groups, grouped=False, one_each=True) == 1
        assert records_of_unit(max_rows, max_groups, grouped=True, one_each=True) == min(max_rows, max_groups or max_rows)


@pytest.mark.parametrize(("max_rows", "records"), [(1, 1), (4, 4), (4, 1), (4, 2)])
@pytest.mark.parametrize("row_limit", [None, 3, 11, 100])
def test_what_a_unit_can_move(max_rows, records, row_limit):
    """A unit moves totals by its records, or by what its rows add to these, whichever is less; in the Euclidean norm records of different groups add their squares.

    It would catch a unit of several rows or groups that has the noise of one, in either norm.
    """
    for cells, most in (
        (rows(), 1),
        (signed_sum("x", IntGrid(-3, 7)), 7),
        (clamped_total("x", -20, 5), 20),
        (mean_cells("x", IntGrid(-3, 7)), 10),
    ):
        by_rows = math.inf if row_limit is None else max_rows * row_limit
        assert unit_sensitivity(cells, max_rows, records, row_limit) == min(records * most, by_rows)
        assert squared_sensitivity(cells, max_rows, records, row_limit, apart=False) == min((records * most) ** 2, by_rows**2)
        assert squared_sensitivity(cells, max_rows, records, row_limit, apart=True) == min(records * most**2, by_rows**2)
