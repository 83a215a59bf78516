"""The exponential mechanism for candidates and scores in hand.  Not charged anywhere; no score may raise, warn or show."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.errors import ParameterError, ParameterTypeError, boundary
from pandas_dp.mechanisms.calibration import Plan, laplace_plan
from pandas_dp.mechanisms.containers import open_values
from pandas_dp.noise.choice import choose
from pandas_dp.quantities.budget import as_epsilon
from pandas_dp.quantities.directed import as_size

if TYPE_CHECKING:
    from pandas_dp.mechanisms.containers import Opened

__all__ = ["exponential", "score_distances"]

_END = 2**200  # the grid of scores ends so many steps from zero


@boundary
def exponential(candidates: Any, scores: Any, sensitivity: Any, epsilon: Any) -> Any:
    """Choose a candidate, the likelier the higher its score.  Not charged anywhere.

    A mechanism for values in hand that knows no session.  For answers that are no numbers (which category, which model), or where noise on a number would spoil it.

    Parameters
    ----------
    candidates : list, tuple, ndarray, Index or Series
        What may be chosen.  **Public**: not a list of what occurs in the data.
    scores : list, tuple, ndarray or Series of numbers
        Private, one for each candidate, in the same order (a Series' index is not looked at).  A missing score counts as 0, an infinite one as the end of a grid.
    sensitivity : number
        How far one person can move **any single score**, from 1e-100 to 1e100: the largest of the absolute differences, not their sum.
    epsilon : number
        ε, in nats.

    Returns
    -------
    object
        One of the candidates.

    Raises
    ------
    ParameterError
        If there are no candidates, or not as many scores; for a sensitivity or an ε out of range.
    UnsupportedDtype
        For scores of texts, dates or objects.

    Privacy
    -------
    ε-differentially private: ``P(candidate) ∝ exp(epsilon * score / (2 * sensitivity))`` [1]_, exactly, for scores on a grid of at most ``2**-30`` sensitivities; the 2 is there because
    one person may move one score up and all others down.  Neither floating-point weights nor rounded probabilities take part [2]_.

    Accuracy
    --------
    With ``m`` candidates, the chosen score is within ``2 * sensitivity / epsilon * (ln(m) + t)`` of the best one, but for a probability of ``exp(-t)`` [3]_: for 10 candidates, sensitivity 1 and
    ε = 1 within 10.6 in 95 % of cases.

    References
    ----------
    .. [1] F. McSherry, K. Talwar. Mechanism design via differential privacy. FOCS 2007.
    .. [2] C. Ilvento. Implementing the exponential mechanism with base-2 differential privacy. CCS 2020.
    .. [3] C. Dwork, A. Roth. The algorithmic foundations of differential privacy. 2014, theorem 3.10 and corollary 3.12.

    Examples
    --------
    >>> from pandas_dp.testing import unsafe_seeded_noise
    >>> with unsafe_seeded_noise(1):
    ...     exponential(["north", "south", "west"], scores=[300, 280, 90], sensitivity=1, epsilon=1)
    'north'
    """
    size, each = as_size(sensitivity, "sensitivity"), Fraction(as_epsilon(epsilon))
    if isinstance(candidates, (str, bytes)) or not isinstance(candidates, (list, tuple, np.ndarray, pd.Index, pd.Series)):
        raise ParameterTypeError.wrong_kind("candidates", "a list, a tuple, an array, an Index or a Series", type(candidates))
    if len(candidates) == 0:
        raise ParameterError.number("candidates", "at least one")
    opened = open_values(scores, "exponential")
    if not opened.several or isinstance(scores, pd.DataFrame) or (isinstance(scores, np.ndarray) and scores.ndim != 1):
        raise ParameterTypeError.wrong_kind("scores", "a list, a tuple, an array or a Series of numbers", type(scores))
    if len(opened.floats) != len(candidates):
        raise ParameterError.lengths("scores", "candidates")
    distances, rate = score_distances(opened, size, each)
    place = choose(distances, rate)
    return candidates.iloc[place] if isinstance(candidates, pd.Series) else candidates[place]


def score_distances(opened: Opened, sensitivity: Fraction, epsilon: Fraction) -> tuple[list[int], Fraction]:
    """Return distances from the top in steps of a public grid, and the rate at which a step makes a candidate less likely.

    A score moves by at most ``floor(Δ/g) + 1`` steps, and one more is taken for scores that had been rounded to doubles: that is what the plan of a single value says.
    """
    plan = laplace_plan(sensitivity, max(epsilon, Fraction(1)), 1)
    floats = np.where(np.isnan(opened.floats), 0.0, opened.floats)
    with np.errstate(all="ignore"):
        steps = floats * 2.0**-plan.exponent
    np.clip(steps, -float(_END), float(_END), out=steps)
    distances = [-int(step) for step in np.rint(steps).tolist()]
    for place, cell in opened.exact.items():
        distances[place] = -max(-_END, min(_END, round(Fraction(cell) * Fraction(2) ** -plan.exponent)))
    return distances, epsilon / (2 * plan.sensitivity)


def choice_plan(sensitivity: Fraction, epsilon: Fraction) -> Plan:
    """Return the law of a number chosen from a fine grid, scored by its distance: that of Laplace noise of twice the scale."""
    return laplace_plan(sensitivity, epsilon / 2, 1)
