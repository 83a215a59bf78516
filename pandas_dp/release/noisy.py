"""Noise on exact totals, in integers.

Exact totals come in and noisy ones go out: nothing else is done with them between.  What comes out is held in int64 where every noisy total fits, else in Python's integers, so that how
it is held tells nothing but the noisy totals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.display.progress import steps
from pandas_dp.errors import ComputationFailed
from pandas_dp.noise.laplace import discrete_laplace
from pandas_dp.statistics.noise_laws import Laplace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pandas_dp.cells.cells import Cell
    from pandas_dp.cells.ranks import Order
    from pandas_dp.statistics.noise_laws import Exponential, Gaussian
    from pandas_dp.statistics.query import OrderChoice

__all__ = ["add", "chosen", "narrow", "noisy", "sampler_of", "totals"]

_WIDE = 2**62


def totals(cells: Sequence[Cell], sums: Sequence[tuple[Any, Any, Any]], places: Sequence[int]) -> list[Any]:
    """Return the exact total of every cell: a public combination of the sums at its place."""
    return [cell.of(*sums[place]) for cell, place in zip(cells, places, strict=True)]


def sampler_of(noise: Laplace | Gaussian) -> Any:
    """Return the sampler of a noise."""
    if isinstance(noise, Laplace):
        return discrete_laplace(noise.scale)
    from pandas_dp.noise.gaussian import discrete_gaussian  # noqa: PLC0415  (for those who use it)

    return discrete_gaussian(noise.variance)


def noisy(exact: Sequence[Any], noise: Laplace | Gaussian, groups: int | None) -> list[Any]:
    """Add noise to every total, or to every total of every group."""
    sampler = sampler_of(noise)
    return [total + sampler.draw() if groups is None else add(total, sampler.draws(groups)) for total in exact]


def chosen(
    choice: OrderChoice, noise: Exponential, top: int, ranks: Callable[[int | None], Order | None], groups: int | None, *, public: bool
) -> list[Any]:
    """Choose points by rank: ints, or arrays with a place for each group, whose number is public or not yet."""
    from pandas_dp.noise.quantiles import private_extreme, private_quantiles  # noqa: PLC0415  (as above)

    def points(order: Order | None) -> list[int]:
        if order is None:
            raise ComputationFailed.after_charge("")  # reading failed
        if choice.extreme is not None:
            return [private_extreme(order, top, noise.epsilon, noise.records, largest=choice.extreme == "max")]
        return private_quantiles(order, top, choice.quantiles, noise.epsilon, noise.records)

    if groups is None:
        return points(ranks(None))
    found = [points(ranks(group)) for group in steps(range(groups), groups if public else None)]
    return [np.array(column, dtype=object) for column in zip(*found, strict=True)] or [np.empty(0, dtype=object)] * max(
        1, len(choice.quantiles)
    )


def add(exact: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """Add noise to totals."""
    kind = np.int64 if _reach(exact) + _reach(noise) < _WIDE else np.object_
    total: NDArray[Any] = exact.astype(kind) + noise.astype(kind)
    return narrow(total)


def narrow(noisy: NDArray[Any]) -> NDArray[Any]:
    """Hold noisy totals in int64 where they fit, whatever they were the sums of."""
    return noisy.astype(np.int64 if _reach(noisy) < _WIDE else np.object_, copy=False)


def _reach(totals: NDArray[Any]) -> int:
    """Return how far from zero any is: in Python's integers, which have room for the negative end of int64."""
    return max(int(totals.max(initial=0)), -int(totals.min(initial=0)))
