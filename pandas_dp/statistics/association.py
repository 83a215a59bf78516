"""Covariances and correlations of several columns, read from one release of noisy cells.

Post-processing of the totals of a :class:`pandas_dp.engines.gram.Design`: it never sees a value, a budget or randomness, and may not fail whatever the noise was.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.statistics.tails import mix_half_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pandas_dp.domain import Domain
    from pandas_dp.engines.gram import Design

    Floats = NDArray[np.float64]

__all__ = ["CorrelationEstimate", "CovarianceEstimate", "many_half_width"]

_FAR = 2**300  # noisy totals and scales beyond are cut, so that no double overflows
_LEAST = 0.5  # noisy records below which there is nothing to read
_ROUNDS = 3
_SUREST = 1e-12  # the least chance to miss that is told from none
_SIDE = 0.05  # of the chance to miss, for each parameter that an entry's interval needs bounds of
_MAIN = 0.8
_OUTWARD = 1e-9
_ITERATIONS = 100
_TERMS = 1 << 13
_BETWEEN = np.arange(1, 33) / 33


@dataclass(frozen=True, slots=True)
class CovarianceEstimate:
    """The matrix of covariances of clamped values, over the rows that have a value in every column.

    Attributes
    ----------
    noisy : tuple of int
        The totals of the design's cells.
    design : Design
        What they are.
    scale : Fraction
        Of the noise on each.
    domains : tuple of Domain
        The columns' bounds.
    ddof : int
        The divisor is ``n - ddof``.
    """

    noisy: tuple[int, ...]
    design: Design
    scale: Fraction
    domains: tuple[Domain, ...]
    ddof: int = 1

    @property
    def value(self) -> Floats:
        """The matrix: finite, symmetric, positive semidefinite to rounding, no entry larger than bounded values can have it."""
        noisy = _Moments.of(self.noisy, self.design, self.scale)
        return self._decode(_semidefinite(noisy.covariance() * self._factor(noisy.n), self.ddof + 1.0))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return the ends of the intervals, each of which covers the exact entry with at least ``level``.

        Notes
        -----
        For the true means ``p`` and covariance ``c`` the sum of ``(u_i - p_i) * (u_j - p_j) - c``, as read from the cells, is pure noise (Fieller's method).
        Bounds of the means and of ``n`` are found in the same way with a small part of ``1 - level`` each, and the widest noise that they leave is taken:
        all of them miss with at most ``1 - level`` together.

        References
        ----------
        .. [1] E. C. Fieller. Some problems in interval estimation. J. R. Stat. Soc. B 16, 1954.
        """
        noisy = _Moments.of(self.noisy, self.design, self.scale)
        miss = max(1 - level, _SUREST)
        side, size = 1 - _SIDE * miss, len(self.design.tops)
        most = self.ddof + 1.0
        reach = noisy.reach(noisy.rows[0], side)
        factors = self._factor(noisy.n + reach), self._factor(noisy.n - reach)
        means = [noisy.mean(i, side) for i in range(size)]
        lower, upper = np.zeros((2, size, size))
        for i in range(size):
            for j in range(i, size):
                found = noisy.about(i, j, means, 1 - _MAIN * miss)
                ends = [end * factor for end in (found.low, found.high) for factor in factors]
                lower[i, j] = lower[j, i] = max(min(ends), 0.0 if i == j else -most)
                upper[i, j] = upper[j, i] = min(max(ends), most)
        value = self.value
        return np.minimum(self._decode(lower), value), np.maximum(self._decode(upper), value)

    def half_width(self, level: float) -> Floats:
        """Return the distances from the estimates to the farther ends of their intervals."""
        return _farther(self.value, *self.interval(level))

    def _factor(self, count: float) -> float:
        """Return ``n / (n - ddof)``, with as many records as that needs at least."""
        count = max(count, self.ddof + 1.0)
        return count / (count - self.ddof)

    def _decode(self, matrix: Floats) -> Floats:
        halves = np.array([float((high - low) / 2) for low, high in (domain.ends() for domain in self.domains)])
        largest = sys.float_info.max
        with np.errstate(all="ignore"):
            squares = np.clip(np.outer(halves, halves), 0.0, largest)
            decoded: Floats = np.clip(matrix * squares, -largest, largest)
        return decoded


@dataclass(frozen=True, slots=True)
class CorrelationEstimate:
    """The matrix of correlations of clamped values, over the rows that have a value in every column.

    Attributes
    ----------
    noisy, design, scale
        As in :class:`CovarianceEstimate`.
    """

    noisy: tuple[int, ...]
    design: Design
    scale: Fraction

    @property
    def value(self) -> Floats:
        """A correlation matrix: symmetric, of ones on the diagonal, positive semidefinite to rounding."""
        covariance = _Moments.of(self.noisy, self.design, self.scale).covariance()
        spread = np.sqrt(np.diag(covariance))
        product = np.outer(spread, spread)
        ratio = np.divide(covariance, product, out=np.zeros_like(covariance), where=product > 0)
        return _nearest_correlation(np.clip(ratio, -1.0, 1.0))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return the ends of the intervals, each of which covers the exact entry with at least ``level``.

        Notes
        -----
        As for covariances: with true means, variances ``v`` and correlation ``r``, the sum of ``x_i*x_j/sqrt(v_i*v_j) - r/2 * (x_i**2/v_i + x_j**2/v_j)``, where ``x = u - p``,
        is pure noise.  Where a variance cannot be told from 0 the interval is the whole range.
        """
        noisy = _Moments.of(self.noisy, self.design, self.scale)
        miss = max(1 - level, _SUREST)
        side, size = 1 - _SIDE * miss, len(self.design.tops)
        means = [noisy.mean(i, side) for i in range(size)]
        spreads = [noisy.about(i, i, means, side) for i in range(size)]
        lower, upper = np.eye(size), np.eye(size)
        for i in range(size):
            for j in range(i + 1, size):
                found = noisy.related(i, j, means, spreads, 1 - _MAIN * miss)
                lower[i, j] = lower[j, i] = found.low
                upper[i, j] = upper[j, i] = found.high
        value = self.value
        return np.minimum(lower, value), np.maximum(upper, value)

    def half_width(self, level: float) -> Floats:
        """Return the distances from the estimates to the farther ends of their intervals."""
        return _farther(self.value, *self.interval(level))


@dataclass(frozen=True, slots=True)
class _Ball:
    """Numbers, or arrays of them, that lie within ``radius`` of ``middle``."""

    middle: Any
    radius: Any = 0.0

    @classmethod
    def between(cls, low: float, high: float) -> _Ball:
        return cls((low + high) / 2, abs(high - low) / 2)

    @property
    def low(self) -> Any:
        return self.middle - self.radius

    @property
    def high(self) -> Any:
        return self.middle + self.radius

    @property
    def largest(self) -> Any:
        return abs(self.middle) + self.radius

    def __add__(self, other: _Ball) -> _Ball:
        return _Ball(self.middle + other.middle, self.radius + other.radius)

    def __sub__(self, other: _Ball) -> _Ball:
        return _Ball(self.middle - other.middle, self.radius + other.radius)

    def __mul__(self, other: _Ball) -> _Ball:
        return _Ball(self.middle * other.middle, abs(self.middle) * other.radius + self.radius * other.largest)

    def meet(self, low: float, high: float) -> _Ball:
        """Return what lies in both, or this if nothing does: then something has missed that counts as a miss already."""
        slack = _OUTWARD * (1 + abs(self.middle))
        low, high = max(self.low, low - slack), min(self.high, high + slack)
        return _Ball.between(low, high) if low <= high else self


_RANGE = _Ball(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class _Moments:
    """Noisy ``n``, sums of ``u_i`` and of ``u_i * u_j``, and what part of each cell's noise is in them.

    Every method that returns a ball does so for a level: it covers the true parameter if the noise of its own pivot, and the balls it is given, hold.
    """

    rows: Floats
    found: Floats
    scale: Fraction
    grain: int

    @classmethod
    def of(cls, noisy: Sequence[int], design: Design, scale: Fraction) -> _Moments:
        grain = design.reach**2
        cells = np.array([max(min(cell, _FAR * grain), -_FAR * grain) / grain for cell in noisy])
        rows = design.moments()
        return cls(rows, rows @ cells, min(scale, Fraction(_FAR * grain)), grain)

    @property
    def n(self) -> float:
        return float(self.found[0])

    @property
    def size(self) -> int:
        return round((math.sqrt(8 * len(self.found) + 1) - 3) / 2)

    def place(self, i: int, j: int) -> int:
        """Return where the sum of ``u_i * u_j`` stands."""
        i, j = min(i, j), max(i, j)
        return 1 + self.size + i * self.size - i * (i - 1) // 2 + j - i

    def reach(self, weights: Floats, level: float) -> float:
        return many_half_width(weights, self.scale, level) / self.grain

    def covariance(self) -> Floats:
        """Return the matrix in units of half the bounds' width, divided by ``n``, each entry in its range."""
        size = self.size
        if self.n < _LEAST:
            return np.eye(size) / 2
        means = np.clip(self.found[1 : 1 + size] / self.n, -1.0, 1.0)
        second = np.array([[self.found[self.place(i, j)] for j in range(size)] for i in range(size)])
        covariance: Floats = np.clip(np.clip(second / self.n, -1.0, 1.0) - np.outer(means, means), -1.0, 1.0)
        np.fill_diagonal(covariance, np.maximum(np.diag(covariance), 0.0))
        return covariance

    def centre(self, i: int) -> float:
        return float(self.found[1 + i]) / self.n

    def product(self, i: int, j: int) -> float:
        return float(self.found[self.place(i, j)]) / self.n - self.centre(i) * self.centre(j)

    def mean(self, i: int, level: float) -> _Ball:
        """Return where the mean of a column is."""
        ball = _RANGE
        if self.n < _LEAST:
            return ball
        for _ in range(_ROUNDS):
            weights = _Ball(self.rows[1 + i]) - ball * _Ball(self.rows[0])
            reach = self.reach(weights.largest, level) / self.n
            ball = ball.meet(self.centre(i) - reach, self.centre(i) + reach)
        return ball

    def _centred(self, i: int, j: int, means: Sequence[_Ball]) -> _Ball:
        """Return what part of each cell's noise is in the sum of ``(u_i - p_i) * (u_j - p_j)``."""
        rows = [_Ball(row) for row in (self.rows[self.place(i, j)], self.rows[1 + i], self.rows[1 + j], self.rows[0])]
        return rows[0] - means[j] * rows[1] - means[i] * rows[2] + means[i] * means[j] * rows[3]

    def _about(self, i: int, j: int, means: Sequence[_Ball]) -> _Ball:
        """Return the noisy mean of ``(u_i - p_i) * (u_j - p_j)``."""
        off = [(_Ball(self.centre(place)) - means[place]).largest for place in (i, j)]
        low = 0.0 if i == j else -off[0] * off[1]
        return _Ball.between(self.product(i, j) + low, self.product(i, j) + off[0] * off[1])

    def about(self, i: int, j: int, means: Sequence[_Ball], level: float) -> _Ball:
        """Return where a covariance is, with divisor ``n``."""
        ball = _Ball(0.5, 0.5) if i == j else _RANGE
        if self.n < _LEAST:
            return ball
        weights, seen = self._centred(i, j, means), self._about(i, j, means)
        for _ in range(_ROUNDS):
            reach = self.reach((weights - ball * _Ball(self.rows[0])).largest, level) / self.n
            ball = ball.meet(seen.low - reach, seen.high + reach)
        return ball

    def related(self, i: int, j: int, means: Sequence[_Ball], spreads: Sequence[_Ball], level: float) -> _Ball:
        """Return where a correlation is."""
        ball = _RANGE
        if self.n < _LEAST or min(spreads[i].low, spreads[j].low, self.product(i, i), self.product(j, j)) <= 0:
            return ball
        roots = [_Ball.between(math.sqrt(spreads[place].low), math.sqrt(spreads[place].high)) for place in (i, j)]
        squares = [self._about(place, place, means) for place in (i, j)]
        whole = _inverse(roots[0] * roots[1]) * self._centred(i, j, means)
        parts = reduce(_Ball.__add__, [_inverse(spreads[place]) * self._centred(place, place, means) for place in (i, j)])
        # At the true r the noisy mean `seen / (root * root) - r * (square / spread + square / spread) / 2` is pure noise.
        half = sum(square.low / spreads[place].high for square, place in zip(squares, (i, j), strict=True)) / 2
        seen = self._about(i, j, means)
        ratios = [math.sqrt(squares[0].low / squares[1].high), math.sqrt(squares[0].high / squares[1].low)]
        uneven = [ratios[0] * roots[1].low / roots[0].high, ratios[1] * roots[1].high / roots[0].low]
        wholes = [math.sqrt(squares[0].low * squares[1].low), math.sqrt(squares[0].high * squares[1].high)]
        shares = [1.0, *(2 / (ratio + 1 / ratio) for ratio in uneven)]
        ends = [end * share / size for end in (seen.low, seen.high) for share in shares for size in wholes]
        for _ in range(_ROUNDS):
            reach = self.reach((whole - ball * _Ball(0.5) * parts).largest, level) / (self.n * half)
            ball = ball.meet(min(ends) - reach, max(ends) + reach)
        return ball


def _inverse(ball: _Ball) -> _Ball:
    """Return the inverse of positive numbers."""
    return _Ball.between(1 / ball.high, 1 / ball.low)


def _positive(matrix: Floats) -> Floats:
    """Return the nearest symmetric matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= 0:
        return matrix
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    nearest: Floats = (clipped + clipped.T) / 2
    return nearest


def _semidefinite(matrix: Floats, most: float) -> Floats:
    """Return the nearest covariance matrix, which no estimate of one is nearer to, and shrink what has too large a diagonal."""
    nearest = _positive(matrix)
    shrink = np.sqrt(most / np.maximum(np.diag(nearest), most))
    shrunk: Floats = nearest * np.outer(shrink, shrink)
    np.fill_diagonal(shrunk, np.clip(np.diag(shrunk), 0.0, most))
    return shrunk


def _nearest_correlation(matrix: Floats) -> Floats:
    """Return the nearest correlation matrix, by alternating projections, and at last exactly one.

    References
    ----------
    .. [1] N. J. Higham. Computing the nearest correlation matrix. IMA J. Numer. Anal. 22, 2002, algorithm 3.3.
    """
    nearest = matrix.copy()
    np.fill_diagonal(nearest, 1.0)
    change = np.zeros_like(nearest)
    for _ in range(_ITERATIONS):
        before = nearest - change
        inside = _positive(before)
        if inside is before and not change.any():
            break
        change = inside - before
        nearest = inside.copy()
        np.fill_diagonal(nearest, 1.0)
    nearest = _positive(nearest)
    spread = np.sqrt(np.maximum(np.diag(nearest), 1.0))
    correlation: Floats = np.clip(nearest / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def _farther(value: Floats, lower: Floats, upper: Floats) -> Floats:
    farther: Floats = np.maximum(upper - value, value - lower)
    return farther


def many_half_width(weights: Sequence[float] | Floats, scale: Fraction, level: float) -> float:
    """Return a ``level`` quantile of ``abs(sum(weight * noise))`` for any number of independent discrete Laplace noises of one scale.

    Parameters
    ----------
    weights : sequence of float
        Of the noises; larger ones make it larger [2]_.
    scale : Fraction
        Of each.
    level : float
        Between 0 and 1.

    Notes
    -----
    It may be too large, never too small.  With the characteristic function ``f(t) = 1 / prod(1 + (w*t)**2)`` of continuous Laplace noises, Poisson's summation formula
    gives ``P(abs(X) <= x) + r = d*x/pi + 2/pi * sum(f(k*d) * sin(k*d*x) / k)`` with ``0 <= r <= P(abs(X) > 2*pi/d - x)`` [1]_.  That, and the sum's rest, are made
    small and subtracted; a start, and what is left where the sum would be long, is Chernoff's bound ``2 * exp(-t*x) / prod(1 - (w*t)**2)``.
    Discrete noise adds at most the sum of the weights, as in :func:`pandas_dp.statistics.tails.mix_half_width`, which serves up to three weights.

    References
    ----------
    .. [1] J. Abate, W. Whitt. The Fourier-series method for inverting transforms of probability distributions. Queueing Systems 10, 1992, section 5.
    .. [2] Z. W. Birnbaum. On random variables with comparable peakedness. Ann. Math. Statist. 19, 1948.
    """
    sizes = np.abs(np.asarray(weights, dtype=np.float64))
    largest = float(sizes.max(initial=0.0))
    if np.count_nonzero(sizes) <= 3 or not math.isfinite(largest):  # noqa: PLR2004
        return mix_half_width(sizes[sizes > 0].tolist(), scale, level) if math.isfinite(largest) else math.inf
    return (_continuous(sizes / largest, 1 - level) * float(scale) + float(sizes.sum()) / largest) * largest


def _continuous(sizes: Floats, alpha: float) -> float:
    """Return the same for continuous noises of scale 1, whose largest weight is 1."""
    high = _chernoff(sizes, alpha)
    spacing = 2 * math.pi / (high + _chernoff(sizes, alpha / 10**6))
    terms = 16
    while _rest(sizes, terms * spacing) > alpha / 10**4:
        terms *= 2
        if terms > _TERMS:
            return high
    k = np.arange(1, terms + 1)
    parts = np.exp(-np.log1p(np.square(np.outer(k * spacing, sizes))).sum(axis=1)) / k
    level = 1 - alpha + alpha / 10**6 + alpha / 10**4 + 1e-12
    low = 0.0
    for _ in range(30):
        middle = (low + high) / 2
        inside = spacing * middle / math.pi + 2 / math.pi * float(np.dot(parts, np.sin(k * (spacing * middle))))
        low, high = (low, middle) if inside >= level else (middle, high)
    return high


def _chernoff(sizes: Floats, alpha: float) -> float:
    """Return the least ``(log(2/alpha) - sum(log(1 - (w*t)**2))) / t`` over some ``t``; each is a bound."""
    low, high = 0.0, 1.0
    best = math.inf
    for _ in range(3):
        t = low + (high - low) * _BETWEEN
        bounds = (math.log(2 / alpha) - np.log1p(-np.square(np.outer(t, sizes))).sum(axis=1)) / t
        place = int(np.argmin(bounds))
        best = min(best, float(bounds[place]))
        low, high = t[place - 1] if place else low, t[place + 1] if place + 1 < len(t) else high
    return best


def _rest(sizes: Floats, t: float) -> float:
    """Return a bound of ``2/pi`` times the sum of ``f(k*d) / k`` over ``k*d > t``: there ``f`` falls as ``t**-2``, times ``1 + t**-2`` at most."""
    return math.exp(-float(np.log1p(np.square(sizes * t)).sum())) * (1 + 1 / t**2) / math.pi
