"""How far one person can move a count, a sum or a mean: the ``sensitivity=`` of :mod:`pandas_dp.mechanisms`.

Decided by public bounds and by who counts as a neighbour, never by the data: a maximum or a range taken from the values is itself a private number, and the noise
that it sets tells it.  The formulas are those of :mod:`pandas_dp.cells.cells`.  This module must never see a value.

Two relations are in use, and a sensitivity of one is wrong under the other:

* ``"add-remove"``: neighbours differ by one person who is there or not.  The number of people is private.  This is the relation of ``df.dp``.
* ``"replace-one"``: neighbours have the same, public number of people, one of whom has other values.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

from pandas_dp.cells.cells import IntGrid, l1_sensitivity, present, replacement_sensitivity, signed_sum
from pandas_dp.errors import ParameterError, ParameterTypeError
from pandas_dp.quantities.budget import as_real, checked_count

__all__ = ["count", "mean", "sum"]

Neighbours = Literal["add-remove", "replace-one"]
_RELATIONS = ("add-remove", "replace-one")
_PAIR = 2


def count(*, neighbours: Neighbours = "add-remove") -> int:
    """Return the sensitivity of a number of people: 1.

    Parameters
    ----------
    neighbours : {"add-remove", "replace-one"}
        Who counts as a neighbour.

    Returns
    -------
    int
        1 under both relations: of those who have some property, one more or less.  (The number of *all* people is public under ``"replace-one"``, and needs no noise.)
        For a histogram, "replace-one" moves two bins by 1 each: its L1 sensitivity is 2.

    Raises
    ------
    ParameterError
        For another relation.

    Examples
    --------
    >>> count(), count(neighbours="replace-one")
    (1, 1)
    """
    _relation(neighbours)
    return l1_sensitivity(present(None)) if neighbours == "add-remove" else replacement_sensitivity(present(None))


def sum(bounds: Any, *, neighbours: Neighbours = "add-remove") -> int | Fraction:  # noqa: A001  (it is what it is called)
    """Return the sensitivity of a sum of values clamped to ``bounds``: the larger absolute bound, or the width.

    Parameters
    ----------
    bounds : (number, number)
        Public bounds ``(L, U)``, ``L < U``, to which **every value is clamped before it is added** (``x.clip(L, U)``).  Floats mean what they print.
    neighbours : {"add-remove", "replace-one"}
        Who counts as a neighbour.

    Returns
    -------
    int or Fraction
        Exact, in the units of the values.  ``"add-remove"``: ``max(|L|, |U|)`` [1]_.  ``"replace-one"``: ``U - L``; valid where every person has a value.  A missing value that
        contributes nothing counts as a 0, so give bounds that include 0 if there may be any.

    Raises
    ------
    ParameterError
        For bounds that are not two finite numbers, the lower one first, and for another relation.

    References
    ----------
    .. [1] C. Dwork, A. Roth. The algorithmic foundations of differential privacy. 2014, definition 3.1.

    Examples
    --------
    >>> sum((18, 65)), sum((18, 65), neighbours="replace-one")
    (65, 47)
    >>> sum((-1, 1)), sum((-1, 1), neighbours="replace-one")  # not what the first says, under the second
    (1, 2)
    """
    _relation(neighbours)
    lower, upper = _ends(bounds)
    common = math.lcm(lower.denominator, upper.denominator)
    cells = signed_sum(None, IntGrid(int(lower * common), int(upper * common)))
    return _plain(Fraction(l1_sensitivity(cells) if neighbours == "add-remove" else replacement_sensitivity(cells), common))


def mean(bounds: Any, n: Any, *, neighbours: Neighbours = "replace-one") -> int | Fraction:
    """Return the sensitivity of a mean of ``n`` values clamped to ``bounds``: ``(U - L) / n``, for a public ``n`` only.

    Parameters
    ----------
    bounds : (number, number)
        As for :func:`sum`.
    n : int
        The **public** number of people, at least 1, each of whom has a value.
    neighbours : {"replace-one", "add-remove"}
        Who counts as a neighbour.  Under ``"add-remove"`` this is an error: the number of people is private then, and what one of them moves the mean by depends on it.  Noise scaled with the
        private ``n`` tells ``n``, and the loss is unbounded.  ``df.dp.mean`` releases two noisy totals instead, whose ratio is post-processing.

    Returns
    -------
    int or Fraction
        Exact, in the units of the values.

    Raises
    ------
    ParameterError
        For bounds as for :func:`sum`, an ``n`` that is no whole number of at least 1, and under ``"add-remove"``.

    Examples
    --------
    >>> mean((18, 65), n=1000)
    Fraction(47, 1000)
    >>> mean((18, 65), n=1000, neighbours="add-remove")
    Traceback (most recent call last):
        ...
    pandas_dp.errors.ParameterError: the mean has no sensitivity when a person may be added or removed: ...
    """
    _relation(neighbours)
    if neighbours == "add-remove":
        raise ParameterError.mean_needs_n()
    people = checked_count("n", n)
    return _plain(Fraction(sum(bounds, neighbours=neighbours)) / people)


def _relation(neighbours: object) -> None:
    if neighbours not in _RELATIONS:
        raise ParameterError.choice("neighbours", _RELATIONS)


def _ends(bounds: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(bounds, (tuple, list)):
        raise ParameterTypeError.wrong_kind("bounds", "a pair (lower, upper)", type(bounds))
    if len(bounds) != _PAIR:
        raise ParameterError.number("bounds", "a pair (lower, upper)")
    lower, upper = (as_real(end, "bounds") for end in bounds)
    if lower >= upper:
        raise ParameterError.number("bounds", "a pair (lower, upper) with the lower one first, and not equal")
    return lower, upper


def _plain(number: Fraction) -> int | Fraction:
    return int(number) if number.denominator == 1 else number
