"""Which mechanism for what: one table, of public parameters alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pandas as pd

from pandas_dp.errors import boundary
from pandas_dp.mechanisms.calibration import Plan, gaussian_plan, geometric_plan, laplace_plan
from pandas_dp.mechanisms.choices import choice_plan
from pandas_dp.quantities.budget import as_delta, as_epsilon, checked_count
from pandas_dp.quantities.directed import as_size

__all__ = ["compare"]

_LEVEL = 0.95


@boundary
def compare(sensitivity: Any = 1, epsilon: Any = 1, delta: Any = 1e-6, *, answers: int = 1) -> pd.DataFrame:
    """Compare the mechanisms at equal ε: what they promise, how much noise they add, and when to use which.

    Parameters
    ----------
    sensitivity : number
        How far one person can move **each** answer, from 1e-100 to 1e100.
    epsilon : number
        ε, in nats, of all answers together.
    delta : number
        δ of the Gaussian mechanism.
    answers : int
        How many numbers are released together, each of which one person can move by the sensitivity: their L1 sensitivity is ``answers * sensitivity`` and their L2
        sensitivity ``sqrt(answers) * sensitivity``.

    Returns
    -------
    DataFrame
        A row for each mechanism.  ``deviation`` is the standard deviation of the noise on one answer and ``within 95 %`` the least half width that has 95 % of it, in the units of the answer: of the very noise
        that is drawn, computed and not sampled.  Of the exponential mechanism it is that of a number chosen from a fine grid and scored by its distance from the truth, whose error is that of Laplace
        noise of twice the scale; several answers share the ε.  The geometric row has the sensitivity rounded up to a whole number.

    Raises
    ------
    ParameterError
        For parameters out of range.

    Examples
    --------
    >>> compare(sensitivity=1, epsilon=1, delta=1e-6)[["guarantee", "deviation", "within 95 %"]].round(2)
                    guarantee  deviation  within 95 %
    mechanism
    Laplace               ε=1       1.41         3.00
    geometric             ε=1       1.36         3.00
    Gaussian     ε=1, δ=1e-06       4.22         8.28
    exponential           ε=1       2.83         5.99
    >>> compare(answers=100)["deviation"].round(1)
    mechanism
    Laplace        141.4
    geometric      141.4
    Gaussian        42.2
    exponential    282.8
    Name: deviation, dtype: float64
    """
    size, each, promise = as_size(sensitivity, "sensitivity"), as_epsilon(epsilon), as_delta(delta)
    count = checked_count("answers", answers)
    exact = Fraction(each)
    pure = f"ε={each}"
    rows: list[tuple[str, Plan, str, str, str]] = [
        (
            "Laplace",
            laplace_plan(size * count, exact, count),
            pure,
            "exponential: 95 % to 99.99 % is a factor of 3.1",
            "one or few numbers; a promise without δ",
        ),
        (
            "geometric",
            geometric_plan(math.ceil(size) * count, exact),
            pure,
            "exponential, on whole numbers",
            "counts: whole answers, and never more noise than Laplace",
        ),
        (
            "Gaussian",
            gaussian_plan(_root(size * size * count), exact, Fraction(promise), count),
            f"{pure}, δ={float(promise):g}",
            "Gaussian: 95 % to 99.99 % is a factor of 2.0",
            "many numbers at once, or many releases that are added up as ρ",
        ),
        (
            "exponential",
            choice_plan(size * count, exact),
            pure,
            "exponential in the score",
            "choices: which category, which candidate, which quantile",
        ),
    ]
    return pd.DataFrame(
        {
            "guarantee": [row[2] for row in rows],
            "deviation": [row[1].deviation for row in rows],
            "within 95 %": [row[1].half_width(_LEVEL) for row in rows],
            "tails": [row[3] for row in rows],
            "use it for": [row[4] for row in rows],
        },
        index=pd.Index([row[0] for row in rows], name="mechanism"),
    )


def _root(square: Fraction) -> Fraction:
    """Return a square root, rounded up by at most one part in ``2**60``."""
    scaled = square.numerator * square.denominator << 256
    return Fraction(math.isqrt(scaled) + 1, square.denominator << 128)
