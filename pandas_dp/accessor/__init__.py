"""The ``.dp`` accessors: every public query, its signature and its documentation.

One file for each shape of what is asked; each has what answers (:mod:`~pandas_dp.accessor.asking`) and puts it the questions of :mod:`~pandas_dp.accessor.questions`.
Nothing is computed here but free post-processing of what was released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas_dp.accessor.frames import DPFrame as DPFrame
    from pandas_dp.accessor.series import DPSeries as DPSeries
