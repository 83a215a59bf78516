"""Labels: what is asked under one is told from another question by each of its public parameters."""

from __future__ import annotations

import pandas as pd
import pytest

from pandas_dp import LabelError, Session
from pandas_dp.testing import unsafe_seeded_noise

FRAME = pd.DataFrame({"who": [1, 1, 2, 3], "other": [1, 2, 2, 3], "x": [1, 2, 3, 4]})
BY_WHO = {"unit": "who", "max_rows": 2}
PAIRS = {
    "rows, units": ("unit", ({}, {}), (BY_WHO, {})),
    "units": ("unit", (BY_WHO, {}), ({"unit": "other", "max_rows": 2}, {})),
    "rows of a unit": ("unit", (BY_WHO, {}), ({"unit": "who", "max_rows": 3}, {})),
    "epsilon": ("price", ({}, {}), ({}, {"epsilon": 0.2})),
    "mechanism": ("price", ({}, {"mechanism": "laplace"}), ({}, {"mechanism": "gaussian"})),
    "rho": ("price", ({}, {"epsilon": None, "rho": 0.1}), ({}, {"epsilon": None, "rho": 0.2})),
    "within": ("price", ({}, {"epsilon": None, "within": 30}), ({}, {"epsilon": None, "within": 40})),
    "level": ("price", ({}, {"epsilon": None, "within": 30}), ({}, {"epsilon": None, "within": 30, "level": 0.9})),
    "bounds": ("bounds and keys", ({}, {"bounds": (0, 5)}), ({}, {"bounds": (0, 6)})),
}


def ask(session, how, what):
    """Return a sum of what is protected so, asked for in this way under the label."""
    frame = session.protect(FRAME, name="t", **how)
    return frame.dp.sum("x", **({"epsilon": 0.1, "bounds": (0, 5), "label": "s"} | what))


@pytest.mark.parametrize(("key", "one", "other"), PAIRS.values(), ids=PAIRS)
def test_each_parameter_tells_questions_apart(key, one, other):
    """Asked again under its label a question costs nothing; with one parameter changed it is refused, which names what differs, and costs nothing either.

    It would catch a parameter that is left out of what a label stands for: an answer would be returned for one that has another price, unit or bounds.
    """
    for first, second in ((one, other), (other, one)):
        session = Session(10, delta=1e-6)
        answer = ask(session, *first)
        spent = session.spent
        assert ask(session, *first) == answer
        with pytest.raises(LabelError, match=rf"\b{key}: "):
            ask(session, *second)
        assert session.spent == spent
        assert len(session.ledger) == 1


def test_repeatable_noise_is_another_question():
    """An answer with repeatable noise, which anybody can subtract, is not returned for a private one; nor the other way round."""
    session = Session(10, delta=1e-6)
    with unsafe_seeded_noise("tests"):
        ask(session, {}, {})
    with pytest.raises(LabelError, match=r"\bnoise: repeatable"):
        ask(session, {}, {})
