"""Private gradients: clipping by exact arithmetic, integer sums whatever the threads, the noise's variance as a fraction, bad values, and what clipping the whole batch does instead."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pandas_dp
from pandas_dp import ParameterError, ParameterTypeError, UnsupportedDtype, gradients, mechanisms
from pandas_dp.composition import approx_to_zcdp
from pandas_dp.gradients import _Clip, _Grid, _Work, clip_gradients, gradient_zcdp, noise_multiplier_for, privatize_gradients

CELLS = st.one_of(
    st.floats(-10, 10),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 1e200, 1e150, 5e-324, 1e-160, -0.0, 1.0, 1 / 3]),
)
NORMS = st.fractions(Fraction(1, 1000), 1000, max_denominator=10**6)


def two_layers(rows):
    """Return rows of five numbers as layers of shapes (n, 2, 1) and (n, 3)."""
    whole = np.array(rows, dtype=np.float64).reshape(-1, 5)
    return [whole[:, :2].reshape(-1, 2, 1), whole[:, 2:]]


def square(arrays, example):
    """Return the exact squared norm of an example."""
    return sum(Fraction(cell) ** 2 for array in arrays for cell in array[example].ravel().tolist())


@pytest.fixture
def silent(monkeypatch):
    """Replace the noise by zeros and record the variances that are asked for."""
    seen = []

    class Silent:
        def __init__(self, variance):
            seen.append(variance)

        def draws(self, count):
            return np.zeros(count, dtype=np.int64)

    monkeypatch.setattr(gradients, "discrete_gaussian", Silent)
    return seen


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.lists(st.lists(CELLS, min_size=5, max_size=5), min_size=1, max_size=3), NORMS)
def test_clipped_norms_never_pass_the_limit(rows, limit):
    """For every example, in exact arithmetic: the clipped norm over all layers is at most the limit; no coordinate grows or changes its sign; an example that is not finite is zeros; one within the limit moves by
    less than a step, one beyond is shrunk to the limit, and no further.
    """
    layers = two_layers(rows)
    clipped = clip_gradients(layers, limit)
    step = Fraction(_Grid.of(limit).step)
    assert [array.shape for array in clipped] == [array.shape for array in layers]
    for example, row in enumerate(rows):
        norm = square(clipped, example)
        assert norm <= limit**2
        pairs = [
            (a, b)
            for old, new in zip(layers, clipped, strict=True)
            for a, b in zip(old[example].ravel().tolist(), new[example].ravel().tolist(), strict=True)
        ]
        if not np.isfinite(row).all():
            assert not any(b for _, b in pairs)
            continue
        assert all(abs(b) <= abs(a) and a * b >= 0 for a, b in pairs)
        if square(layers, example) <= (limit * (1 - Fraction(1, 2**30))) ** 2:
            assert all(abs(Fraction(a) - Fraction(b)) < step for a, b in pairs)
        elif square(layers, example) >= limit**2:
            assert norm >= (limit * (1 - Fraction(1, 2**25))) ** 2


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.lists(st.lists(CELLS, min_size=5, max_size=5), min_size=1, max_size=4), st.lists(CELLS, min_size=5, max_size=5), NORMS)
def test_one_example_moves_the_sum_by_the_limit_at_most(rows, more, limit):
    """Adding an example, whatever is in it, moves the integer sums by a vector whose squared length is at most the square of the limit in steps: what the noise is made for."""
    grid = _Grid.of(limit)
    without, given_more = (_Work.of(two_layers(which), grid).total(0, len(which)) for which in (rows, [*rows, more]))
    moved = sum((int(a) - int(b)) ** 2 for one, other in zip(without, given_more, strict=True) for a, b in zip(one, other, strict=True))
    assert moved <= grid.square
    assert grid.square * Fraction(grid.step) ** 2 == limit**2
    assert 2**60 <= grid.square < 2**62


def test_clipping_is_per_example_and_joint():
    """Each example is clipped by itself, by its norm over all layers together: (3, 4) over two layers becomes (0.6, 0.8), and a small neighbour stays."""
    weights, bias = clip_gradients([np.array([[3.0], [0.3]]), np.array([4.0, 0.4])], 1)
    assert weights.ravel() == pytest.approx([0.6, 0.3], abs=1e-8)
    assert bias == pytest.approx([0.8, 0.4], abs=1e-8)


def test_extreme_examples_are_clipped_like_others():
    """Squares that overflow or underflow do not matter: enormous gradients come out in their direction at the limit, tiny ones as they are, up to a step."""
    for size in (1e155, 1e300, 1.7e308):
        assert clip_gradients([np.array([[size, size]])], 1)[0].ravel() == pytest.approx([math.sqrt(0.5)] * 2, rel=1e-8)
    assert clip_gradients([np.array([[3e-99, 4e-99]])], "1e-100")[0].ravel() == pytest.approx([0.6e-100, 0.8e-100], rel=1e-8)
    assert clip_gradients([np.array([[3e99, -4e99]])], 1e100)[0].ravel() == pytest.approx([3e99, -4e99], rel=1e-8)


@pytest.mark.parametrize("width", [1, 1000, 10**6, 10**7])
@pytest.mark.parametrize("limit", ["1", "0.3", "7/3"])
def test_the_float_limit_leaves_room_for_rounding(width, limit):
    """What floats compare a norm with, and scale to, is below the limit by twice what a float sum of ``width`` squares, a root, a quotient and a product can be off by, and costs less than a millionth."""
    grid = _Grid.of(Fraction(limit))
    clip = _Clip(_Work.of([np.empty((0, width), dtype=np.int8)], grid))
    off = 1 + 2 * (width + 8) * Fraction(1, 2**53)
    assert (Fraction(clip._limit) * off) ** 2 <= grid.square <= (Fraction(clip._limit) * (1 + Fraction(1, 10**6))) ** 2


def test_an_example_that_fails_the_integer_check_is_zeros():
    """If a norm in steps were beyond the limit, for whatever reason, the example would contribute nothing."""
    clip = _Clip(_Work.of([np.array([[3.0, 4.0]])], _Grid.of(Fraction(1))))
    assert clip.steps(0)[0].any()
    clip._limit *= 1.001
    assert not clip.steps(0)[0].any()


@pytest.mark.parametrize("limit", ["1", "0.3", "7/3"])
def test_noise_has_the_stated_variance(silent, limit):
    """The discrete Gaussian's variance is exactly (noise multiplier times limit)^2 in steps; the answer is the exact sum of the clipped examples, divided by the lot size."""
    layers = two_layers([[1, 2, 3, 4, 5], [0.1, 0, 0, 0, 0], [math.nan, 1, 1, 1, 1]])
    answer = privatize_gradients(layers, limit, "1.1", lot_size=4)
    grid = _Grid.of(Fraction(limit))
    assert silent == [Fraction(11, 10) ** 2 * grid.square]
    clipped = clip_gradients(layers, limit)
    for mean, layer in zip(answer, clipped, strict=True):
        assert mean == pytest.approx(layer.sum(axis=0) / 4, rel=1e-15)
        assert mean.dtype == np.float64
    assert np.array_equal(privatize_gradients(layers, limit, 1)[1], clipped[1].sum(axis=0) / 3)


def test_threads_change_nothing(silent):
    """Sums are the same, bit for bit, for any number of threads, more than there are examples included, and with threads chosen by size."""
    generator = np.random.default_rng(1)
    layers = [generator.normal(size=(37, 50, 3)), generator.normal(size=(37, 11)).astype(np.float32), generator.normal(size=37)]
    expected = privatize_gradients(layers, 0.7, 1, lot_size=37, threads=1)
    for threads in (2, 3, 8, 100, None):
        for one, other in zip(expected, privatize_gradients(layers, 0.7, 1, lot_size=37, threads=threads), strict=True):
            assert np.array_equal(one, other)
    large = [np.ones((2, 2**21 + 1))]
    assert np.array_equal(privatize_gradients(large, 1, 1)[0], privatize_gradients(large, 1, 1, threads=1)[0])


def test_noise_is_fresh_and_as_wide_as_stated():
    """The noise of 200 000 coordinates has the stated standard deviation to 1.5 % (an error of 9 standard deviations: false failure below 1e-15), would not have one 5 % off, and is new in every call and coordinate."""
    layers = [np.zeros((3, 200_000))]
    first, second = (privatize_gradients(layers, 2, 1.5, lot_size=10, threads=threads)[0] for threads in (1, 2))
    for noise in (first, second):
        ratio = noise.std() / (1.5 * 2 / 10)
        assert abs(ratio - 1) < 0.015
        assert abs(ratio * 1.05 - 1) > 0.015
        assert abs(ratio / 1.05 - 1) > 0.015
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.02
    assert len(set(first.tolist()) & set(second.tolist())) < 20


def test_clipping_the_whole_batch_bounds_nothing():
    """64 examples, one of norm 1000 and 63 small ones: without it the clipped mean of the batch moves by 1.00004, that of clipped examples by 1/64 = 0.0156; noise made for 1/64 is 64 times too little."""
    batch = np.tile([0.0, 0.01], (64, 1))
    batch[0] = [1000, 0]
    without = batch.copy()
    without[0] = 0

    def batch_clipped(rows):
        mean = rows.mean(axis=0)
        return mean / max(1, np.linalg.norm(mean))

    assert np.linalg.norm(batch_clipped(batch) - batch_clipped(without)) == pytest.approx(1.00004, abs=1e-5)
    each, rest = (clip_gradients([rows], 1)[0].sum(axis=0) / 64 for rows in (batch, without))
    assert np.linalg.norm(each - rest) == pytest.approx(1 / 64, rel=1e-6)


def test_price_of_steps():
    """ρ is steps / 2z^2, exactly; the multiplier for a promise keeps it, and one 1e-9 smaller does not."""
    assert gradient_zcdp("1.1") == 1 / (2 * Fraction(11, 10) ** 2)
    assert gradient_zcdp(2, steps=8) == 1
    for epsilon, delta, steps in ((1, 1e-5, 1), (0.1, 1e-9, 1000), (8, 1e-6, 7)):
        multiplier = noise_multiplier_for(epsilon, delta, steps)
        assert gradient_zcdp(multiplier, steps) <= Fraction(approx_to_zcdp(epsilon, delta))
        assert gradient_zcdp(multiplier * (1 - 1e-9), steps) > Fraction(approx_to_zcdp(epsilon, delta))


class Tensor:
    """Something that only converts."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        """Convert."""
        return self.array if dtype is None else self.array.astype(dtype)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int8, np.uint64, bool, list, Tensor, np.asfortranarray])
def test_many_kinds_of_arrays(silent, kind):
    """Arrays of any real dtype and order, nested lists and whatever converts itself are read alike, and what comes back is float64 without the first axis."""
    rows = np.array([[1, 0, 1], [0, 0, 1]])
    layer = rows.astype(kind) if isinstance(kind, type) and kind not in {list, Tensor} else rows.tolist() if kind is list else kind(rows)
    (mean,) = privatize_gradients([layer], 100, 1)
    assert mean == pytest.approx([0.5, 0, 1], abs=1e-6)
    assert mean.dtype == np.float64
    assert clip_gradients((layer,), 100)[0] == pytest.approx(rows, abs=1e-6)


def test_empty_lots():
    """A sampled lot may be empty: with a public lot size the answer is noise; without, an error."""
    (mean,) = privatize_gradients([np.empty((0, 4))], 1, 1, lot_size=8)
    assert mean.shape == (4,)
    assert privatize_gradients([np.empty((3, 0)), np.ones(3)], 1, 1)[0].shape == (0,)
    assert clip_gradients([np.empty((0, 4))], 1)[0].shape == (0, 4)
    with pytest.raises(ParameterError, match="lot_size"):
        privatize_gradients([np.empty((0, 4))], 1, 1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((np.ones((2, 2)), 1, 1), ParameterTypeError),
        (([], 1, 1), ParameterError),
        (([1.0], 1, 1), ParameterTypeError),
        (([[[1], [1, 2]]], 1, 1), ParameterTypeError),
        (([np.ones((2, 2)), np.ones(3)], 1, 1), ParameterError),
        (([np.array(["SECRET-42"])], 1, 1), UnsupportedDtype),
        (([np.array([1j])], 1, 1), UnsupportedDtype),
        (([np.array([None])], 1, 1), UnsupportedDtype),
        (([np.ones(2)], 0, 1), ParameterError),
        (([np.ones(2)], math.nan, 1), ParameterError),
        (([np.ones(2)], 1, 0), ParameterError),
        (([np.ones(2)], 1, 1e7), ParameterError),
        (([np.ones(2)], 1, None), ParameterTypeError),
    ],
    ids=range(13),
)
def test_bad_arguments_are_refused(arguments, error):
    """What is no list of arrays of numbers with one number of examples, and parameters out of range, are typed errors without values."""
    with pytest.raises(error) as caught:
        privatize_gradients(*arguments)
    assert "SECRET" not in str(caught.value)
    assert isinstance(caught.value, pandas_dp.DPError)


@pytest.mark.parametrize("options", [{"lot_size": 0}, {"lot_size": 2.5}, {"threads": 0}, {"threads": True}], ids=str)
def test_bad_options_are_refused(options):
    """A lot size or a number of threads that is no whole number of at least 1 is refused."""
    with pytest.raises(ParameterError, match=next(iter(options))):
        privatize_gradients([np.ones(2)], 1, 1, **options)


def test_too_many_examples_are_refused():
    """More than 2^31 examples could pass 64 bits, and are refused before anything is read."""
    with pytest.raises(ParameterError, match="2\\*\\*31"):
        privatize_gradients([np.broadcast_to(np.int8(0), (2**31 + 1,))], 1, 1)


def test_names():
    """Both functions are importable from the mechanisms, too."""
    assert mechanisms.clip_gradients is clip_gradients
    assert mechanisms.privatize_gradients is privatize_gradients
