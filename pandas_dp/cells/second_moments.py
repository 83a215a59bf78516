"""The cells of a matrix of second moments, and what a record can move them by: the part of :mod:`pandas_dp.cells.cells` that is about several columns.

Public arithmetic on bounds.  This module reads no values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from pandas_dp.cells.cells import Grid

__all__ = ["Design", "l1_bound", "shift_of", "tops_of"]

_BITS = 31
_FINE = 20  # bits by which cells are finer than the widest column's steps: rounding costs a millionth
_FEW = {2: (3, 4, 0, 8), 3: (3, 4, -1, 16), 4: (4, 6, -1, 36), 5: (5, 8, -2, 78)}  # the integers a, b, c, e of a design


def shift_of(grid: Grid) -> int:
    """Return by how many bits heights are shortened so that they stay below ``2**31``: a public number, of the bounds alone."""
    return max(0, (grid.last - grid.first).bit_length() - _BITS)


def tops_of(grids: Sequence[Grid]) -> tuple[int, ...]:
    """Return the largest height of each column, after it is shortened."""
    return tuple((grid.last - grid.first) >> shift_of(grid) for grid in grids)


@lru_cache(maxsize=64)
def _forms(columns: int) -> NDArray[np.int64]:
    """Return the cells, one row each, as integer coefficients of ``1, u_i, u_i * u_j (i <= j)``."""
    pairs = [(i, j) for i in range(columns) for j in range(i, columns)]
    diagonal = [1 + columns + place for place, (i, j) in enumerate(pairs) if i == j]
    size = 1 + columns + len(pairs)
    rows: list[NDArray[np.int64]] = []
    if columns in _FEW:
        square, linear, extra, rest = _FEW[columns]
        for code in range(1 << columns):
            signs = np.array([1 - 2 * (code >> place & 1) for place in range(columns)])
            products = [2 * square * signs[i] * signs[j] if i < j else square + extra for i, j in pairs]
            rows.append(np.array([0, *(linear * signs), *products]))
    else:
        rest = 4 * columns + 1
        worth = np.array([0] + [6] * columns + [8 * (i < j) for i, j in pairs])
        rows.extend(np.diag(worth)[worth > 0])
        rows.append(np.bincount(diagonal, np.full(columns, 2), size).astype(np.int64))
    for place in diagonal:
        row = np.zeros(size, dtype=np.int64)
        row[0], row[place] = rest, -rest
        rows.append(row)
    return np.array(rows, dtype=np.int64)


def l1_bound(columns: int) -> int:
    """Return the largest sum of absolute cells of one record, for ``u`` in the box from -1 to 1.

    Notes
    -----
    The cells are closed under permutations and changes of sign of the ``u_i``, so let ``1 >= u_1 >= ... >= u_d >= 0``.  Then ``u`` is a mean, with weights
    ``u_k - u_(k+1)``, of the corners ``v_k`` of which the first ``k`` coordinates are 1 and the rest 0.  A quadratic ``q`` at a mean of corners
    is the mean of its polar form ``q(v, w)`` over pairs of corners [1]_, so that ``sum(abs(q(u)))`` is at most the mean, hence the largest, of
    ``sum(abs(q(v, w)))``: finitely many integers.  The bound is attained at ``u = (1, ..., 1)``, where a value lies at a bound in each column.

    References
    ----------
    .. [1] L. Ramshaw. Blossoms are polar forms. Computer Aided Geometric Design 6, 1989, sections 2 and 4.
    """
    corners = np.tril(np.ones((columns + 1, columns), dtype=np.int64), -1)
    twice = [
        [2, *(v + w), *(v[i] * w[j] + v[j] * w[i] for i in range(columns) for j in range(i, columns))]
        for place, v in enumerate(corners)
        for w in corners[place:]
    ]
    worst = int(np.abs(np.array(twice) @ _forms(columns).T).sum(axis=1).max())
    return (worst + 1) // 2


@dataclass(frozen=True, slots=True)
class Design:
    """Which cells are released for a matrix of covariances, and what a record can move them by.

    With ``u_i = 2 * height_i / top_i - 1`` in the box from -1 to 1, up to five columns have, for each of the ``2**d`` vectors of signs ``s`` and with
    ``z = sum(s_i * u_i)``, the cell ``a*z**2 + b*z + c*sum(u_i**2)``, and for each column ``e * (1 - u_i**2)``.  More columns have ``8*u_i*u_j``,
    ``6*u_i``, ``2*sum(u_i**2)`` and ``(4*d+1) * (1 - u_i**2)``.  The integers are such that covariances and correlations err little, each cell getting the whole ε.

    Attributes
    ----------
    tops : tuple of int
        The largest height of each column, positive.
    """

    tops: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(_forms(len(self.tops)))

    @property
    def factors(self) -> tuple[int, ...]:
        """By what ``2 * height - top`` is multiplied in each column, so that all columns reach about equally far."""
        return tuple((max(self.tops) << _FINE) // top for top in self.tops)

    @property
    def reach(self) -> int:
        """How far from 0 a column's multiplied height is at most."""
        return max(factor * top for factor, top in zip(self.factors, self.tops, strict=True))

    @property
    def sensitivity(self) -> int:
        """By how much adding or removing one record can move the totals, summed over the cells.

        Notes
        -----
        The cells are those of :func:`l1_bound` at ``factor * (2 * height - top) / reach``, which lies in the box, times ``reach**2``.
        A unit of several records moves them by as many times more.
        """
        return l1_bound(len(self.tops)) * self.reach**2

    def totals(self, n: int, sums: Sequence[int], products: Mapping[tuple[int, int], int]) -> list[int]:
        """Return the exact totals of the cells, from what :func:`gram` returns."""
        tops, factors, places = self.tops, self.factors, range(len(self.tops))
        moments = [n * self.reach**2, *(factors[i] * (2 * sums[i] - tops[i] * n) * self.reach for i in places)]
        for i in places:
            for j in places[i:]:
                centred = 4 * products[i, j] - 2 * tops[i] * sums[j] - 2 * tops[j] * sums[i] + tops[i] * tops[j] * n
                moments.append(factors[i] * factors[j] * centred)
        return [sum(worth * moment for worth, moment in zip(row, moments, strict=True) if worth) for row in _forms(len(tops)).tolist()]

    def moments(self) -> NDArray[np.float64]:
        """Return the matrix that makes estimates of ``n``, ``sum(u_i)`` and ``sum(u_i * u_j)`` of cells divided by ``reach**2``: least squares."""
        width = [1.0, *(self.reach / (factor * top) for factor, top in zip(self.factors, self.tops, strict=True))]
        columns = range(1, len(width))
        worths = [*width, *(width[i] * width[j] for i in columns for j in columns[i - 1 :])]
        inverse: NDArray[np.float64] = np.linalg.pinv(_forms(len(self.tops)).astype(np.float64)) * np.array(worths)[:, None]
        return inverse
