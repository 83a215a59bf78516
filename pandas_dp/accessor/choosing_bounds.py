"""Help with choosing bounds: usable ones, and the share that a choice would cut off; of frames, views and Series alike.

Asks by the one path of all queries, and reads its answers from what was released; must never see a value.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pandas_dp.accessor.asking import known_of
from pandas_dp.domains.dtypes import kind_of
from pandas_dp.quantities.budget import checked_flag
from pandas_dp.sessions import registry

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pandas_dp.accessor.asking import Answers
    from pandas_dp.domains.dtypes import Kind
    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.release.price import Price
    from pandas_dp.results import PrivateBounds
    from pandas_dp.statistics.query import Query

__all__ = ["share_outside", "usable_bounds"]


def usable_bounds(answers: Answers, column: Hashable, price: Price, *, remember: bool) -> PrivateBounds:
    """Estimate bounds of a column, and let the session remember them if asked to."""
    from pandas_dp.statistics.bounds_finding import bounds_of, bounds_query  # noqa: PLC0415  (loaded for those who use it)

    known = known_of(answers.source)
    if checked_flag("remember", remember):
        registry.check_own(known, column)
    kinds: list[Kind | None] = []

    def build(frame: PublicFrame) -> Query:
        query = bounds_query(frame, column)
        kinds.append(kind_of(frame.dtype(column)))
        return query

    found = bounds_of(answers.released(build, price), kinds[0])
    if remember:
        registry.remember(known, column, tuple(found))
    return found


def share_outside(answers: Answers, column: Hashable, bounds: Any, price: Price) -> Any:
    """Return the share of a column's values that bounds would cut off."""
    from pandas_dp.statistics.bounds_finding import outside_query, outside_share  # noqa: PLC0415  (loaded for those who use it)

    return answers.run(partial(outside_query, column=column, bounds=bounds), price, outside_share)
