"""Laplace, Gaussian and geometric noise on values in hand.

Values are put on a public integer grid, noise is added in integers, and the sum becomes a float once.  Nothing here is charged anywhere, and nothing
that depends on values may raise, warn, or change a dtype or a shape.  What decides how much noise there is, is in :mod:`pandas_dp.mechanisms.calibration`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from pandas_dp.errors import ParameterError, boundary
from pandas_dp.mechanisms.calibration import gaussian_plan, geometric_plan, laplace_plan
from pandas_dp.mechanisms.containers import open_values
from pandas_dp.quantities.budget import as_delta, as_epsilon, as_real, checked_flag
from pandas_dp.quantities.directed import as_size

if TYPE_CHECKING:
    from decimal import Decimal

    import pandas as pd
    from numpy.typing import NDArray

    from pandas_dp.mechanisms.calibration import Plan
    from pandas_dp.mechanisms.containers import Opened

    Held = TypeVar("Held", bound=pd.DataFrame | pd.Series[Any] | NDArray[Any])
    Scalar = float | Decimal | Fraction | np.generic | None

__all__ = ["gaussian", "geometric", "laplace"]

_BLOCK = 1 << 17
_FITS = 2.0**61  # steps below this, and noise below 2**62, add up in an int64
_END = 2**200  # the grid ends so many steps from zero
_WHOLE = 2**62  # whole answers end here
_FARTHEST = Fraction(10**300)


@overload
def laplace(value: Held, sensitivity: Any, epsilon: Any, *, lower: Any = ..., upper: Any = ..., integer: bool = ...) -> Held: ...
@overload
def laplace(
    value: list[Any], sensitivity: Any, epsilon: Any, *, lower: Any = ..., upper: Any = ..., integer: bool = ...
) -> list[float]: ...
@overload
def laplace(
    value: tuple[Any, ...], sensitivity: Any, epsilon: Any, *, lower: Any = ..., upper: Any = ..., integer: bool = ...
) -> tuple[float, ...]: ...
@overload
def laplace(value: Scalar, sensitivity: Any, epsilon: Any, *, lower: Any = ..., upper: Any = ..., integer: bool = ...) -> float: ...
@boundary
def laplace(value: Any, sensitivity: Any, epsilon: Any, *, lower: Any = None, upper: Any = None, integer: bool = False) -> Any:
    """Add Laplace noise of scale ``sensitivity / epsilon``.  Not charged anywhere.

    This is a mechanism for a value in hand: it knows no session and no accountant.  Whoever calls it twice has spent both ε, and has to add them up
    (:func:`pandas_dp.composition.basic`).  For queries on a protected frame, ``df.dp`` finds sensitivities and charges.

    Parameters
    ----------
    value : number, list, tuple, ndarray, Series or DataFrame
        The private values.  Type, dtype, shape, index, columns and name are public.  A missing value, or a cell of a list that is no number, counts as 0,
        moved between ``lower`` and ``upper``; an infinite or enormous one as the end of the grid, ``2**200`` steps from zero.
    sensitivity : number
        How far one person can move the value, in its units, from 1e-100 to 1e100; of several values **all together, in L1**: the sum of the absolute
        differences over the whole list, array or frame.  :mod:`pandas_dp.sensitivity` has it for counts, sums and means.  It may not be taken from the data.
    epsilon : number
        ε, in nats.
    lower, upper : number, optional
        Public: the *answer* is clamped to them, which costs no privacy.  They do not make the sensitivity smaller.
    integer : bool
        Whether the answer is rounded to whole numbers, ``int`` or ``int64``, at most ``2**62`` in absolute value.

    Returns
    -------
    float, list, tuple, ndarray, Series or DataFrame
        What ``value`` was, with index, columns and name; elements are ``float``, ``float64`` in arrays, or integers if asked for.

    Raises
    ------
    ParameterError
        For a sensitivity, an ε or bounds out of range; what is no number at all is its subclass ``ParameterTypeError``.
    UnsupportedDtype
        For arrays of texts, dates or objects.

    Privacy
    -------
    ε-differentially private for neighbours whose values differ by at most the sensitivity, whatever neighbours are [1]_.  The noise is discrete Laplace on a grid whose
    step is a power of two, about ``2**-30`` of the scale, chosen from the parameters and the number of values; values are rounded to it and the sensitivity
    is enlarged by what rounding can add.  So the low bits of the answer say nothing [2]_.

    Accuracy
    --------
    Standard deviation ``1.414 * sensitivity / epsilon``, 95 % of answers within ``2.996 *`` of it, for each value.  The noise for the rounding is a part of about ``2**-29`` for
    one value, and below ``2**-18`` for a million of them at ε = 1.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith. Calibrating noise to sensitivity in private data analysis. TCC 2006.
    .. [2] I. Mironov. On significance of the least significant bits for differential privacy. CCS 2012.

    Examples
    --------
    >>> import pandas as pd
    >>> from pandas_dp.testing import unsafe_seeded_noise
    >>> with unsafe_seeded_noise(1):
    ...     laplace(120, sensitivity=1, epsilon=0.5)
    ...     laplace(pd.Series({"north": 10, "south": 4}), sensitivity=1, epsilon=0.5, lower=0, integer=True)
    128.56...
    north    7
    south    4
    dtype: int64
    """
    size, each = as_size(sensitivity, "sensitivity"), Fraction(as_epsilon(epsilon))
    answer = _Answer.of(lower, upper, integer)
    opened = open_values(value, "laplace")
    return _floats(opened, laplace_plan(size, each, len(opened.floats)), answer)


@overload
def gaussian(
    value: Held, sensitivity: Any, epsilon: Any, delta: Any, *, lower: Any = ..., upper: Any = ..., integer: bool = ...
) -> Held: ...
@overload
def gaussian(
    value: list[Any], sensitivity: Any, epsilon: Any, delta: Any, *, lower: Any = ..., upper: Any = ..., integer: bool = ...
) -> list[float]: ...
@overload
def gaussian(
    value: tuple[Any, ...], sensitivity: Any, epsilon: Any, delta: Any, *, lower: Any = ..., upper: Any = ..., integer: bool = ...
) -> tuple[float, ...]: ...
@overload
def gaussian(
    value: Scalar, sensitivity: Any, epsilon: Any, delta: Any, *, lower: Any = ..., upper: Any = ..., integer: bool = ...
) -> float: ...
@boundary
def gaussian(value: Any, sensitivity: Any, epsilon: Any, delta: Any, *, lower: Any = None, upper: Any = None, integer: bool = False) -> Any:
    """Add Gaussian noise, as much as (ε, δ) needs and no more, for every ε.  Not charged anywhere.

    Like :func:`laplace`, a mechanism for a value in hand that knows no session.  It is for many values at once, where the L2 sensitivity is much smaller than the L1 one.

    Parameters
    ----------
    value : number, list, tuple, ndarray, Series or DataFrame
        The private values, as for :func:`laplace`.
    sensitivity : number
        How far one person can move the value, in its units, from 1e-100 to 1e100; of several values **all together, in L2**: the square root of the sum of
        the squared differences over the whole list, array or frame.
    epsilon, delta : number
        ε, in nats, and δ, far below one over the number of people.
    lower, upper, integer
        As for :func:`laplace`.

    Returns
    -------
    float, list, tuple, ndarray, Series or DataFrame
        As for :func:`laplace`.

    Raises
    ------
    ParameterError, UnsupportedDtype
        As for :func:`laplace`.

    Privacy
    -------
    (ε, δ)-differentially private for neighbours whose values differ by at most the sensitivity.  σ is the least for which the exact curve of the Gaussian
    mechanism [1]_ allows ε and δ, not the textbook's ``sqrt(2 ln(1.25/δ)) / ε``, which is proven below ε = 1 only, false from an ε between 6 and 10 on, depending on δ, and
    a quarter too large at ε = 1 and δ = 1e-6.
    The noise is a discrete Gaussian [2]_ on a public grid; a millionth of ε and δ pays for the difference (proof in ``pandas_dp.mechanisms.calibration``).

    Accuracy
    --------
    At ε = 1 and δ = 1e-6 the standard deviation is ``4.22 * sensitivity``, at ε = 0.1 ``36.3 *`` and at ε = 10 ``0.541 *``; 95 % of answers are within 1.96 of it.

    References
    ----------
    .. [1] B. Balle, Y.-X. Wang. Improving the Gaussian mechanism for differential privacy. ICML 2018, theorem 8, arXiv:1805.06530.
    .. [2] C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020, arXiv:2004.00010.

    Examples
    --------
    >>> from pandas_dp.testing import unsafe_seeded_noise
    >>> with unsafe_seeded_noise(1):
    ...     gaussian([120, 80], sensitivity=1, epsilon=1, delta=1e-6)
    [122.26..., 79.57...]
    """
    size, each, promise = as_size(sensitivity, "sensitivity"), Fraction(as_epsilon(epsilon)), Fraction(as_delta(delta))
    answer = _Answer.of(lower, upper, integer)
    opened = open_values(value, "gaussian")
    return _floats(opened, gaussian_plan(size, each, promise, len(opened.floats)), answer)


@overload
def geometric(value: Held, sensitivity: Any, epsilon: Any, *, lower: Any = ..., upper: Any = ...) -> Held: ...
@overload
def geometric(value: list[Any], sensitivity: Any, epsilon: Any, *, lower: Any = ..., upper: Any = ...) -> list[int]: ...
@overload
def geometric(value: tuple[Any, ...], sensitivity: Any, epsilon: Any, *, lower: Any = ..., upper: Any = ...) -> tuple[int, ...]: ...
@overload
def geometric(value: Scalar, sensitivity: Any, epsilon: Any, *, lower: Any = ..., upper: Any = ...) -> int: ...
@boundary
def geometric(value: Any, sensitivity: Any, epsilon: Any, *, lower: Any = None, upper: Any = None) -> Any:
    """Add two-sided geometric noise (discrete Laplace) to whole numbers.  Not charged anywhere.

    Like :func:`laplace`, a mechanism for a value in hand that knows no session.  For counts: the answer is a whole number, and nothing is rounded.

    Parameters
    ----------
    value : number, list, tuple, ndarray, Series or DataFrame
        Private whole numbers, between ``-2**62`` and ``2**62``: others are clamped.  Arrays, Series and frames must have a dtype of integers or booleans.  A missing value counts as 0,
        moved between ``lower`` and ``upper``.  A scalar that is not whole is rounded down; a cell of a list that is not whole counts as missing.
    sensitivity : int
        How far one person can move the value, from 1; of several values **all together, in L1**: the sum of the absolute differences.
    epsilon : number
        ε, in nats.
    lower, upper : number, optional
        Public: the *answer* is clamped to the whole numbers between them.

    Returns
    -------
    int, list, tuple, ndarray, Series or DataFrame
        What ``value`` was, with index, columns and name; elements are ``int``, ``int64`` in arrays, at most ``2**62`` in absolute value.

    Raises
    ------
    ParameterError
        As for :func:`laplace`; and for a sensitivity that is no whole number.
    UnsupportedDtype
        For arrays of floats, texts, dates or objects.

    Privacy
    -------
    ε-differentially private for neighbours whose values differ by at most the sensitivity: noise ``k`` has probability proportional to
    ``exp(-epsilon * abs(k) / sensitivity)`` [1]_, drawn exactly.

    Accuracy
    --------
    At sensitivity 1 and ε = 1 the standard deviation is 1.36 and 95 % of answers are within 3, at ε = 0.1 it is 14.1 and they are within 29.  It is never more than that of
    :func:`laplace`.

    References
    ----------
    .. [1] A. Ghosh, T. Roughgarden, M. Sundararajan. Universally utility-maximizing privacy mechanisms. STOC 2009.

    Examples
    --------
    >>> from pandas_dp.testing import unsafe_seeded_noise
    >>> with unsafe_seeded_noise(1):
    ...     geometric(120, sensitivity=1, epsilon=0.5), geometric([3, 0], sensitivity=1, epsilon=0.5, lower=0)
    (119, [5, 4])
    """
    size, each = as_size(sensitivity, "sensitivity"), Fraction(as_epsilon(epsilon))
    if size.denominator != 1:
        raise ParameterError.number("sensitivity", "a whole number of at least 1")
    answer = _Answer.of(lower, upper, integer=True)
    opened = open_values(value, "geometric", whole=True)
    floats = np.floor(opened.floats)
    exact = {place: math.floor(cell) for place, cell in opened.exact.items()}
    if opened.several:
        floats[floats != opened.floats] = np.nan
        for place, cell in opened.exact.items():
            if cell != exact[place]:
                floats[place] = np.nan
                del exact[place]
    floats = np.where(np.isnan(floats), answer.missing, np.clip(floats, -_WHOLE, _WHOLE))
    exact = {place: max(-_WHOLE, min(_WHOLE, cell)) for place, cell in exact.items()}
    return opened.rebuild(answer.ints(_totals(floats, exact, geometric_plan(int(size), each))))


@dataclass(frozen=True, slots=True)
class _Answer:
    """What becomes of a noisy number: public post-processing."""

    lower: Fraction | None
    upper: Fraction | None
    integer: bool

    @classmethod
    def of(cls, lower: Any, upper: Any, integer: Any) -> _Answer:
        integer = checked_flag("integer", integer)
        ends = [None if end is None else as_real(end, name) for end, name in ((lower, "lower"), (upper, "upper"))]
        for end, name in zip(ends, ("lower", "upper"), strict=True):
            if end is not None and abs(end) > (_WHOLE if integer else _FARTHEST):
                raise ParameterError.number(name, f"at most {'2**62' if integer else '1e300'} in absolute value")
        if ends[0] is not None and ends[1] is not None and ends[0] > ends[1]:
            raise ParameterError.number("lower", "at most upper")
        answer = cls(ends[0], ends[1], integer)
        if answer.integer and answer.first > answer.last:
            raise ParameterError.no_whole_number()
        return answer

    @property
    def missing(self) -> float:
        """What a missing value counts as."""
        nearest = Fraction(0) if self.lower is None else max(Fraction(0), self.lower)
        return float(nearest if self.upper is None else min(nearest, self.upper))

    @property
    def first(self) -> int:
        """The least whole answer."""
        return -_WHOLE if self.lower is None else math.ceil(self.lower)

    @property
    def last(self) -> int:
        """The greatest whole answer."""
        return _WHOLE if self.upper is None else math.floor(self.upper)

    def ints(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        clamped: NDArray[np.int64] = np.clip(numbers, self.first, self.last).astype(np.int64)
        return clamped

    def floats(self, numbers: NDArray[np.float64]) -> NDArray[Any]:
        if self.integer:
            # As integers only after clamping: 2**62 is a double, and a bound next to it may be none.
            near = np.clip(np.rint(numbers), -float(_WHOLE), float(_WHOLE)).astype(np.int64)
            return self.ints(near)
        if self.lower is not None or self.upper is not None:
            ends = (None if end is None else float(end) for end in (self.lower, self.upper))
            np.clip(numbers, *ends, out=numbers)
        return numbers


def _floats(opened: Opened, plan: Plan, answer: _Answer) -> Any:
    present = np.where(np.isnan(opened.floats), answer.missing, opened.floats)
    return opened.rebuild(answer.floats(_totals(present, opened.exact, plan, scaled=True)))


def _totals(floats: NDArray[np.float64], exact: Any, plan: Plan, *, scaled: bool = False) -> NDArray[Any]:
    """Return noisy steps, as int64 or Python ints; or what they are worth, as floats, if ``scaled``.

    Parameters
    ----------
    floats : ndarray of float64
        Values, none missing.
    exact : mapping of int to int or Fraction
        By place, those that are not what ``floats`` has.
    plan : Plan
        The grid and the noise.
    scaled : bool
        Whether steps are turned into floats.  An int64 and a Python int of the same sum become the same float, the nearest one: which of the two it was does not show.
    """
    sampler, step, inverse = plan.sampler, plan.step, math.ldexp(1.0, -plan.exponent)
    parts: list[NDArray[Any]] = []
    for start in range(0, max(len(floats), 1), _BLOCK):
        noise = sampler.draws(len(floats[start : start + _BLOCK]))
        with np.errstate(all="ignore"):
            steps = floats[start : start + _BLOCK] * inverse
        np.clip(steps, -float(_END), float(_END), out=steps)
        np.rint(steps, out=steps)
        others = {place - start: _step(cell, plan.exponent) for place, cell in exact.items() if start <= place < start + _BLOCK}
        if not others and noise.dtype != object and max(steps.max(initial=0.0), -steps.min(initial=0.0)) < _FITS:
            total: NDArray[Any] = steps.astype(np.int64)
        else:
            total = np.array([others.get(place, int(cell)) for place, cell in enumerate(steps.tolist())], dtype=object)
        total += noise
        parts.append(total.astype(np.float64) * step if scaled else total)
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts)


def _step(cell: int | Fraction, exponent: int) -> int:
    """Return the nearest step of a number that no double holds; Python rounds halves as NumPy does."""
    whole = isinstance(cell, int) and exponent <= 0
    steps = int(cell) << -exponent if whole else round(Fraction(cell) * Fraction(2) ** -exponent)
    return max(-_END, min(_END, steps))
