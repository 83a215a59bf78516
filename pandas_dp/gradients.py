"""Private gradients: clip each example's gradient, add up, add Gaussian noise.

Everything that is added up is an integer.  A coordinate of a clipped gradient is a number of steps of a public grid, rounded toward zero, so that an example's L2 norm in steps never passes the limit;
sums are exact in 64 bits, whatever the order, the blocks and the threads; the noise is a discrete Gaussian; floats come once, at the end.  Nothing is charged anywhere, and no value may raise, warn or change
a shape or a dtype: an example with a NaN or an infinity anywhere contributes zeros.

Shapes, and with them the number of examples handed over, are public.  Amplification by subsampling is **not** accounted here.

References
----------
.. [ACG16] M. Abadi, A. Chu, I. Goodfellow, H. B. McMahan, I. Mironov, K. Talwar, L. Zhang. Deep learning with differential privacy. CCS 2016, algorithm 1, arXiv:1607.00133.
.. [CKS20] C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020, theorem 4, arXiv:2004.00010
   (for one coordinate; the Rényi divergences of independent coordinates add up to the squared L2 distance over 2σ²).
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.composition import approx_to_zcdp
from pandas_dp.errors import ParameterError, ParameterTypeError, UnsupportedDtype, boundary
from pandas_dp.noise.gaussian import discrete_gaussian
from pandas_dp.quantities import directed
from pandas_dp.quantities.budget import as_fraction, checked_count
from pandas_dp.quantities.directed import as_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["clip_gradients", "gradient_zcdp", "noise_multiplier_for", "privatize_gradients"]

_STEP_BITS = 30  # the limit is 2**30 to 2**31 steps, so that its square fits an int64
_EXAMPLES = 1 << 31  # of at most 2**31 steps each
_LARGE = 1 << 22  # numbers from which threads pay
_THREADS = 8
_HUGE = 1e250  # sums of squares beyond may have overflowed
_MULTIPLIER = Fraction(1, 10**6), Fraction(10**6)


@boundary
def clip_gradients(per_example_gradients: Sequence[Any], max_norm: Any) -> list[NDArray[np.float64]]:
    """Clip each example's gradient to an L2 norm of at most ``max_norm``, over all layers jointly.  Not private by itself.

    Clipping the gradient of a whole batch instead would not bound what one example does to it: with 64 examples, one of them of norm 1000 and the others small, its removal moves the batch-clipped mean by about 1, the
    mean of clipped examples by 1/64 of the norm [ACG16]_.

    Parameters
    ----------
    per_example_gradients : list or tuple of arrays
        One for each layer; the first axis is the example.  NumPy arrays, or whatever ``np.asarray`` converts.
    max_norm : number
        The limit C, from 1e-100 to 1e100.

    Returns
    -------
    list of ndarray of float64
        With the shapes that came in.  Coordinates are rounded toward zero to multiples of a power of two, ``2**-31`` to ``2**-30`` of the limit, such that the norm of those multiples, exactly, is at most ``max_norm``.  An
        example with a NaN or an infinity is all zeros.

    Raises
    ------
    ParameterError
        For a limit out of range, or layers with different numbers of examples; what is no list of arrays is its subclass ``ParameterTypeError``.
    UnsupportedDtype
        For arrays that are not of real numbers.

    Examples
    --------
    >>> import numpy as np
    >>> clip_gradients([np.array([[3.0], [0.3], [np.nan]]), np.array([4.0, 0.4, 1.0])], max_norm=1)
    [array([[0.6...],
           [0.3...],
           [0. ]]), array([0.8..., 0.4..., 0. ])]
    """
    grid = _Grid.of(as_size(max_norm, "max_norm"))
    layers = _layers(per_example_gradients, "clip_gradients")
    clip = _Clip(_Work.of(layers, grid))
    clipped = [np.empty(layer.shape) for layer in layers]
    for example in range(len(layers[0])):
        for steps, layer in zip(clip.steps(example), clipped, strict=True):
            layer[example] = (steps * grid.step).reshape(layer.shape[1:])
    return clipped


@boundary
def privatize_gradients(
    per_example_gradients: Sequence[Any],
    max_norm: Any,
    noise_multiplier: Any,
    *,
    lot_size: int | None = None,
    threads: int | None = None,
) -> list[NDArray[np.float64]]:
    """Return the noisy average gradient of a lot: clipped for each example, added up, noised, divided ([ACG16]_, algorithm 1).  Not charged anywhere.

    Parameters
    ----------
    per_example_gradients : list or tuple of arrays
        One for each layer, of shape ``(examples, ...)``: NumPy arrays, or whatever ``np.asarray`` converts.  At most ``2**31`` examples.
    max_norm : number
        The limit C of an example's L2 norm over all layers jointly, from 1e-100 to 1e100.
    noise_multiplier : number
        σ/C, from 1e-6 to 1e6: every coordinate of the sum gets Gaussian noise of standard deviation ``noise_multiplier * max_norm``.
    lot_size : int, optional
        What the sum is divided by: a **public** number, the expected size of a lot if lots are sampled.  Left out, it is the number of examples handed over, which then has to be
        public: an example that is left out must be handed over as zeros.
    threads : int, optional
        How many threads add up.  Left out, one for each processor if there is much to do, else one.  The sum is the same, bit for bit, for any number.

    Returns
    -------
    list of ndarray of float64
        One for each layer, without the first axis.

    Raises
    ------
    ParameterError, UnsupportedDtype
        As for :func:`clip_gradients`; also for an empty lot without a ``lot_size``.

    Privacy
    -------
    ``1 / (2 * noise_multiplier**2)``-zCDP for each call, when one example is added or removed (with a ``lot_size``) or replaced by zeros: a discrete Gaussian of variance σ² on integers of L2
    sensitivity C [CKS20]_.  When one example is *replaced by another*, the sensitivity is 2C and the cost four times as much.  :func:`gradient_zcdp` adds up the steps, :func:`noise_multiplier_for` finds the multiplier
    that a promise needs.  That lots are sampled at random may make the loss smaller; that is not accounted here, and needs an accountant for subsampled mechanisms.
    Noise is fresh in every call and every coordinate.

    Accuracy
    --------
    The noise of a coordinate of the average has standard deviation ``noise_multiplier * max_norm / lot_size``; rounding moves it by less than ``2**-30 * max_norm``.

    Examples
    --------
    >>> import numpy as np
    >>> from pandas_dp.testing import unsafe_seeded_noise
    >>> gradients = [np.ones((4, 3, 2)), np.ones((4, 2))]  # four examples, two layers
    >>> with unsafe_seeded_noise(1):
    ...     weights, bias = privatize_gradients(gradients, max_norm=1.0, noise_multiplier=1.1, lot_size=4)
    >>> weights.shape, bias.shape
    ((3, 2), (2,))
    """
    grid = _Grid.of(as_size(max_norm, "max_norm"))
    multiplier = _multiplier(noise_multiplier)
    size = None if lot_size is None else checked_count("lot_size", lot_size)
    workers = None if threads is None else checked_count("threads", threads)
    layers = _layers(per_example_gradients, "privatize_gradients")
    if size is None:
        size = len(layers[0])
        if size == 0:
            raise ParameterError.number("lot_size", "given for a lot without examples")
    sampler = discrete_gaussian(multiplier**2 * grid.square)
    work = _Work.of(layers, grid)
    sums, noise = _summed(work, workers, lambda: [sampler.draws(width) for width in work.widths])
    averages = []
    for layer, exact, drawn in zip(layers, sums, noise, strict=True):
        noisy = exact + drawn if drawn.dtype != object else exact.astype(object) + drawn
        averages.append((noisy.astype(np.float64) * grid.step / size).reshape(layer.shape[1:]))
    return averages


def gradient_zcdp(noise_multiplier: Any, steps: int = 1) -> Fraction:
    """Return the ρ of ``steps`` calls of :func:`privatize_gradients`, without subsampling: ``steps / (2 * noise_multiplier**2)``.

    Parameters
    ----------
    noise_multiplier : number
        σ/C, from 1e-6 to 1e6.
    steps : int
        How many lots.

    Returns
    -------
    Fraction
        ρ in nats, exact; :func:`pandas_dp.composition.zcdp_to_approx` turns it into (ε, δ).

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> from pandas_dp.composition import zcdp_to_approx
    >>> gradient_zcdp(10, steps=100), zcdp_to_approx(gradient_zcdp(10, steps=100), 1e-5)
    (Fraction(1, 2), 4.72...)
    """
    return checked_count("steps", steps) / (2 * _multiplier(noise_multiplier) ** 2)


def noise_multiplier_for(epsilon: Any, delta: Any, steps: int = 1) -> float:
    """Return the noise multiplier with which ``steps`` calls of :func:`privatize_gradients` keep an (ε, δ) promise, without subsampling.

    Parameters
    ----------
    epsilon, delta : number
        The promise; ε in nats.
    steps : int
        How many lots.

    Returns
    -------
    float
        Rounded up; :func:`gradient_zcdp` of it is at most :func:`pandas_dp.composition.approx_to_zcdp` of the promise.

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> noise_multiplier_for(1, 1e-5, steps=100)
    40.45...
    """
    count, rho = checked_count("steps", steps), Fraction(approx_to_zcdp(epsilon, delta))
    found = directed.up(Fraction(math.sqrt(count / (2 * rho))))
    while gradient_zcdp(found, count) > rho:
        found = math.nextafter(found, math.inf)
    return found


def _multiplier(value: Any) -> Fraction:
    multiplier = as_fraction(value, "noise_multiplier")
    if not _MULTIPLIER[0] <= multiplier <= _MULTIPLIER[1]:
        raise ParameterError.number("noise_multiplier", "between 1e-06 and 1e+06")
    return multiplier


def _layers(gradients: Any, asked: str) -> list[NDArray[Any]]:
    """Return the layers as arrays, or refuse what they are."""
    if not isinstance(gradients, (list, tuple)):
        raise ParameterTypeError.wrong_kind(
            "per_example_gradients", "a list of arrays, one for each layer (of one layer, [array])", type(gradients)
        )
    if not gradients:
        raise ParameterError.number("per_example_gradients", "a list of at least one array")
    layers = [_array(layer, asked) for layer in gradients]
    if len({len(layer) for layer in layers}) > 1:
        raise ParameterError.number("per_example_gradients", "arrays with the same number of examples, along their first axis")
    if len(layers[0]) > _EXAMPLES:
        raise ParameterError.number("per_example_gradients", "of at most 2**31 examples")
    return layers


def _array(layer: Any, asked: str) -> NDArray[Any]:
    array: NDArray[Any] | None = None
    with suppress(Exception):  # whatever an object of the caller's raises
        array = np.asarray(layer)
    if array is None or array.ndim == 0:
        needed = "arrays whose first axis is the example (detached and on the CPU, if they are tensors)"
        raise ParameterTypeError.wrong_kind("per_example_gradients", needed, type(layer))
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:  # noqa: PLR2004  (a long double)
        raise UnsupportedDtype.not_numbers(asked, None, array.dtype, whole=False)
    return array


@dataclass(frozen=True, slots=True)
class _Grid:
    """Steps of a power of two, of which the limit is ``2**30`` to ``2**31``.

    Attributes
    ----------
    step : float
        Exact.
    square : Fraction
        The square of the limit, in steps.
    """

    step: float
    square: Fraction

    @classmethod
    def of(cls, max_norm: Fraction) -> _Grid:
        exponent = max_norm.numerator.bit_length() - max_norm.denominator.bit_length()
        exponent -= max_norm < Fraction(2) ** exponent
        exponent -= _STEP_BITS
        return cls(math.ldexp(1.0, exponent), (max_norm / Fraction(2) ** exponent) ** 2)


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be added up: layers of shape (examples, width)."""

    layers: list[NDArray[Any]]
    grid: _Grid

    @classmethod
    def of(cls, layers: Sequence[NDArray[Any]], grid: _Grid) -> _Work:
        return cls([layer.reshape(len(layer), math.prod(layer.shape[1:])) for layer in layers], grid)

    @property
    def examples(self) -> int:
        return len(self.layers[0])

    @property
    def widths(self) -> list[int]:
        return [layer.shape[1] for layer in self.layers]

    def total(self, start: int, stop: int) -> list[Ints]:
        """Return the sum, in steps, of the clipped gradients of some examples."""
        sums = [np.zeros(width, dtype=np.int64) for width in self.widths]
        clip = _Clip(self)
        for example in range(start, stop):
            for exact, steps in zip(sums, clip.steps(example), strict=True):
                np.add(exact, steps, out=exact)
        return sums


def _summed(work: _Work, threads: int | None, draw: Callable[[], list[Ints]]) -> tuple[list[Ints], list[Ints]]:
    """Return sums and noise; the noise is drawn in this thread, while others add up."""
    if threads is None:
        threads = min(_THREADS, os.cpu_count() or 1) if work.examples * sum(work.widths) >= _LARGE else 1
    threads = min(threads, max(work.examples, 1))
    if threads == 1:
        return work.total(0, work.examples), draw()
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (8 ms that scalars never need)

    ends = [work.examples * place // threads for place in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        parts = [pool.submit(work.total, start, stop) for start, stop in pairwise(ends)]
        noise = draw()
        sums, *others = (part.result() for part in parts)
    for other in others:
        for exact, more in zip(sums, other, strict=True):
            np.add(exact, more, out=exact)
    return sums, noise


class _Clip:
    """One example after the other, as integers, in buffers that the next one overwrites.

    Notes
    -----
    An example is scaled by ``limit * (1 - margin) / norm`` unless its norm is below ``limit * (1 - margin)``, and rounded toward zero.  A float sum of ``d`` squares is off by at most ``d + 1`` parts in ``2**53``, in whatever order [1]_,
    and ``margin`` is twice that and more; so the sum of the squared steps is at most the square of the limit, which is below ``2**62``, and exact in 64 bits.  It is computed all the same: an example that fails becomes
    zeros.

    References
    ----------
    .. [1] N. J. Higham. Accuracy and stability of numerical algorithms. 2002, section 3.1.
    """

    def __init__(self, work: _Work) -> None:
        self._work = work
        self._inverse = 1 / work.grid.step
        self._most = math.floor(work.grid.square)
        margin = (sum(work.widths) + 64) * 2.0**-52
        self._limit = math.sqrt(work.grid.square) * (1 - margin)  # in steps
        self._floats = [np.empty(width) for width in work.widths]
        self._ints = [np.empty(width, dtype=np.int64) for width in work.widths]

    def steps(self, example: int) -> list[Ints]:
        """Return the clipped gradient of an example, in steps."""
        rows = [layer[example] for layer in self._work.layers]
        with np.errstate(all="ignore"):
            for row, steps in zip(rows, self._floats, strict=True):
                np.multiply(row, self._inverse, out=steps, dtype=np.float64)  # not in the layer's own, which may overflow
            square = _square(self._floats)
            if not square <= _HUGE:
                square = self._from_afar(rows)
            if square > self._limit**2:
                for steps in self._floats:
                    np.multiply(steps, self._limit / math.sqrt(square), out=steps)
        for steps, ints in zip(self._floats, self._ints, strict=True):
            np.copyto(ints, steps, casting="unsafe")  # toward zero
        if sum(int(np.einsum("i,i->", ints, ints)) for ints in self._ints) > self._most:
            for ints in self._ints:
                ints.fill(0)
        return self._ints

    def _from_afar(self, rows: list[NDArray[Any]]) -> float:
        """Shrink an enormous example until its square is no overflow; make zeros of one that is not finite."""
        largest = float(np.max([np.abs(row.astype(np.float64)).max(initial=0.0) for row in rows]))  # NaN if there is one
        for row, steps in zip(rows, self._floats, strict=True):
            if math.isfinite(largest):
                np.divide(row, largest, out=steps, dtype=np.float64)
                np.multiply(steps, 2.0**400, out=steps)  # still far beyond any limit
            else:
                steps.fill(0.0)
        return _square(self._floats)


def _square(rows: list[Floats]) -> float:
    return math.fsum(float(np.einsum("i,i->", row, row)) for row in rows)
