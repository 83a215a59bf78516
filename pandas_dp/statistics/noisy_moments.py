"""Noisy moments of several columns, as balls: a centre and how far the truth may be from it, with a given probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.statistics.weighted_sums import many_half_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pandas_dp.cells.second_moments import Design

    Floats = NDArray[np.float64]

__all__ = ["NoisyMoments"]

_FAR = 2**300  # noisy totals and scales beyond are cut, so that no double overflows
_LEAST = 0.5  # noisy records below which there is nothing to read
_ROUNDS = 3
_OUTWARD = 1e-9


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
class NoisyMoments:
    """Noisy ``n``, sums of ``u_i`` and of ``u_i * u_j``, and what part of each cell's noise is in them.

    Every method that returns a ball does so for a level: it covers the true parameter if the noise of its own pivot, and the balls it is given, hold.
    """

    rows: Floats
    found: Floats
    scale: Fraction
    grain: int

    @classmethod
    def of(cls, noisy: Sequence[int], design: Design, scale: Fraction) -> NoisyMoments:
        """Read the moments from noisy totals."""
        grain = design.reach**2
        cells = np.array([max(min(cell, _FAR * grain), -_FAR * grain) / grain for cell in noisy])
        rows = design.moments()
        return cls(rows, rows @ cells, min(scale, Fraction(_FAR * grain)), grain)

    @property
    def n(self) -> float:
        """The noisy number of records."""
        return float(self.found[0])

    @property
    def size(self) -> int:
        """How many columns there are."""
        return round((math.sqrt(8 * len(self.found) + 1) - 3) / 2)

    def place(self, i: int, j: int) -> int:
        """Return where the sum of ``u_i * u_j`` stands."""
        i, j = min(i, j), max(i, j)
        return 1 + self.size + i * self.size - i * (i - 1) // 2 + j - i

    def reach(self, weights: Floats, level: float) -> float:
        """Return a quantile of the noise of a weighted sum of cells, in records."""
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
        """Return the mean of a column, as it is read."""
        return float(self.found[1 + i]) / self.n

    def product(self, i: int, j: int) -> float:
        """Return the covariance of two columns, as it is read."""
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
