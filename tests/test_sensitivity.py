"""Sensitivities by neighbouring relation: the formulas by enumeration, and what tutorials' formulas do instead."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from pandas_dp import ParameterError, ParameterTypeError, mechanisms, sensitivity
from pandas_dp.cells.cells import IntGrid, mean_cells, present, replacement_sensitivity, signed_sum, spread_cells

BOUNDS = [(0, 1), (-1, 1), (2, 5), (-5, -2), (-3, 7)]
RELATIONS = ["add-remove", "replace-one"]


def neighbours(bounds, relation):
    """Yield all pairs of neighbouring data sets of up to three whole values between bounds."""
    values = range(bounds[0], bounds[1] + 1)
    sets = [
        list(rows) for size in range(4) for rows in itertools.product((bounds[0], 0 if 0 in values else values[1], bounds[1]), repeat=size)
    ]
    for rows in sets:
        for place in range(len(rows)):
            rest = rows[:place] + rows[place + 1 :]
            if relation == "add-remove":
                yield rows, rest
            else:
                yield from ((rows, [*rest, value]) for value in values)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_formulas_by_enumeration(bounds, relation):
    """Over all small neighbouring data sets the sum, and the number of positive values, move by the sensitivity at most, and once by exactly that."""
    pairs = list(neighbours(bounds, relation))
    assert max(abs(sum(a) - sum(b)) for a, b in pairs) == sensitivity.sum(bounds, neighbours=relation)
    assert (
        max(abs(sum(x > 0 for x in a) - sum(x > 0 for x in b)) for a, b in neighbours((-1, 1), relation))
        == sensitivity.count(neighbours=relation)
        == 1
    )


@pytest.mark.parametrize("bounds", BOUNDS)
def test_mean_by_enumeration(bounds):
    """With a public n of three the mean moves by (U - L)/3 at most, and once by that."""
    moves = {
        n: max(abs(Fraction(sum(a), n) - Fraction(sum(b), n)) for a, b in neighbours(bounds, "replace-one") if len(a) == n)
        for n in (1, 2, 3)
    }
    assert moves == {n: sensitivity.mean(bounds, n) for n in (1, 2, 3)}


def test_results_are_exact():
    """Whole results are ints, others fractions; floats mean what they print; mechanisms take them."""
    assert type(sensitivity.sum((0, 65.0))) is int
    assert sensitivity.sum((0.1, 0.3), neighbours="replace-one") == Fraction(1, 5)
    assert sensitivity.sum((Decimal("-0.1"), "1/3")) == Fraction(1, 3)
    assert sensitivity.sum([np.float32(-0.7), np.int8(0)]) == Fraction(7, 10)
    assert sensitivity.mean((-0.5, 1), n=np.int64(3)) == Fraction(1, 2)
    for size in (sensitivity.count(), sensitivity.sum((0.1, 0.3)), sensitivity.mean((0, 1), 7)):
        assert isinstance(mechanisms.laplace(1, size, 1), float)


def test_replacement_of_cells():
    """The two cells of a mean move by twice their mass under replacement, the one of a count by 1; squares are outside."""
    grid = IntGrid(3, 8)
    assert replacement_sensitivity(signed_sum("x", grid)) == 5
    assert replacement_sensitivity(mean_cells("x", grid)) == 10
    assert replacement_sensitivity(present("x")) == 1
    with pytest.raises(ValueError, match="squares"):
        replacement_sensitivity(spread_cells("x", grid))


@pytest.mark.parametrize(
    "bounds", [(1, 0), (1, 1), (0, math.nan), (-math.inf, 0), (0,), (0, 1, 2), (0, True), (None, 1), ("a", 1), 5, "01", {0, 1}], ids=str
)
def test_bad_bounds_are_refused(bounds):
    """Bounds that are reversed, equal, not finite, no pair or no numbers are a ParameterError about bounds."""
    for call in (lambda: sensitivity.sum(bounds), lambda: sensitivity.mean(bounds, 5)):
        with pytest.raises(ParameterError) as caught:
            call()
        assert caught.value.parameter == "bounds"


def test_validity_is_enforced():
    """The mean needs a public n of at least 1 and replace-one; under add-remove the error points at df.dp.mean; other relations are refused by name."""
    with pytest.raises(ParameterError, match=r"df\.dp\.mean"):
        sensitivity.mean((0, 1), 10, neighbours="add-remove")
    for n in (0, -1):
        with pytest.raises(ParameterError, match="n must be"):
            sensitivity.mean((0, 1), n)
    for n in (None, 2.5, True, "10"):
        with pytest.raises(ParameterTypeError, match="n must be"):
            sensitivity.mean((0, 1), n)
    for call in (sensitivity.count, lambda **o: sensitivity.sum((0, 1), **o), lambda **o: sensitivity.mean((0, 1), 2, **o)):
        for relation in ("swap", None, ["add-remove"]):
            with pytest.raises(ParameterError, match="'add-remove', 'replace-one'"):
                call(neighbours=relation)


# What the formulas of tutorials do.


def test_the_largest_value_of_the_data_is_no_sensitivity():
    """Of "the sensitivity of a sum is max |x| of the data": with {1, 2, 3} and the same plus 100 the two scales are 3 and 100, and "above 50" has a probability of 2.1e-7 and 0.714: a loss of 15 where 1 was claimed."""
    without, given = (stats.laplace(loc=sum(rows), scale=max(rows)).sf(50) for rows in ([1, 2, 3], [1, 2, 3, 100]))
    assert without == pytest.approx(2.1e-7, rel=0.02)
    assert given == pytest.approx(0.714, abs=0.001)
    assert math.log(given / without) == pytest.approx(15.0, abs=0.05)


def test_a_sensitivity_of_the_other_relation_is_wrong():
    """With bounds (-1, 1) noise for adding or removing loses twice the ε when somebody is replaced."""
    scale = sensitivity.sum((-1, 1))  # at ε = 1
    assert sensitivity.sum((-1, 1), neighbours="replace-one") / scale == 2.0
    assert sensitivity.sum((50, 60)) == 60
    assert sensitivity.sum((50, 60), neighbours="replace-one") == 10


@pytest.mark.parametrize(("n", "delta"), [(1, 0.142), (2, 0.0754), (10, 0.0175), (100, 0.0018)])
def test_a_mean_s_width_over_n_is_no_sensitivity_when_n_is_private(n, delta):
    """Of "the sensitivity of a mean is (max - min)/n" when somebody is added: at a claimed ε of 1 the densities' ratio is unbounded, because the scales 1/n and 1/(n+1) differ, and the δ that would repair it
    is 0.142 for 1 → 2 people, 0.0018 for 100 → 101.
    """
    worst = 0.0
    for one, other in (
        (stats.laplace(0, 1 / n), stats.laplace(1 / (n + 1), 1 / (n + 1))),
        (stats.laplace(1 / (n + 1), 1 / (n + 1)), stats.laplace(0, 1 / n)),
    ):
        ends = [-30 / n, 0, 1 / (n + 1), 30 / n]
        excess = sum(
            integrate.quad(lambda x, p=one, q=other: max(p.pdf(x) - math.e * q.pdf(x), 0), a, b, limit=200, points=[a + (b - a) / 8])[0]
            for a, b in itertools.pairwise(ends)
        )
        worst = max(worst, excess)
    assert worst == pytest.approx(delta, rel=0.03)
    far = 200  # in units of the width: there the log of the ratio of the densities, with n and n + 1, is
    assert math.log(n / (n + 1)) - n * far + (n + 1) * (far - 1 / (n + 1)) > 190
