"""Mechanisms for values in hand: what the accessor does for a frame, for whoever has a number, a list, an array, a Series or a DataFrame.

They know no session and no accountant: **nothing is charged anywhere**, and every call spends its ε anew.  They draw from the same exact samplers as ``df.dp``, on a public grid.
This package must never import a session, an engine or an accountant.  Read :mod:`pandas_dp.mechanisms.calibration` when auditing how much noise is added, and why it is enough.
"""

from __future__ import annotations

from pandas_dp.gradients import clip_gradients, privatize_gradients
from pandas_dp.mechanisms.additive import gaussian, geometric, laplace
from pandas_dp.mechanisms.choices import exponential
from pandas_dp.mechanisms.comparison import compare

__all__ = ["clip_gradients", "compare", "exponential", "gaussian", "geometric", "laplace", "privatize_gradients"]
