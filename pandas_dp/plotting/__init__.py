"""Pictures of noise, answers and budgets, on matplotlib axes: ``pip install 'pandas_dp[plot]'``.

Everything that is drawn was released or is public, so that a picture costs nothing and may be shown wherever its numbers may; the one
exception, :func:`released_series`, is for data that is public anyway, and refuses protected frames.  ``release.plot()`` and ``session.plot()`` are
the short ways.  Every function takes ``ax=``, draws on a new figure without it, and returns the axes.
"""

from __future__ import annotations

from pandas_dp.plotting.answers import grouped, released_series
from pandas_dp.plotting.budgets import budget, expected_error
from pandas_dp.plotting.noises import noise_density, noise_scale

__all__ = ["budget", "expected_error", "grouped", "noise_density", "noise_scale", "released_series"]
