"""Covariances and correlations of several columns, read from one release of noisy cells.

Post-processing of the totals of a :class:`pandas_dp.cells.second_moments.Design`: it never sees a value, a budget or randomness, and may not fail whatever the noise was.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pandas_dp.statistics.noisy_moments import NoisyMoments

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from pandas_dp.cells.second_moments import Design
    from pandas_dp.domains.domain import Domain

    Floats = NDArray[np.float64]

__all__ = ["CorrelationEstimate", "CovarianceEstimate"]

_SUREST = 1e-12  # the least chance to miss that is told from none
_SIDE = 0.05  # of the chance to miss, for each parameter that an entry's interval needs bounds of
_MAIN = 0.8
_ITERATIONS = 100


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
        noisy = NoisyMoments.of(self.noisy, self.design, self.scale)
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
        noisy = NoisyMoments.of(self.noisy, self.design, self.scale)
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
        covariance = NoisyMoments.of(self.noisy, self.design, self.scale).covariance()
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
        noisy = NoisyMoments.of(self.noisy, self.design, self.scale)
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
