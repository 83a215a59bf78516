"""Quantiles, median, minimum, maximum, interquartile range: chosen by the exponential mechanism among the points of a column's grid.

What the noise of a count is to its value, ranks are to a quantile: how many rows away the answer may be is public; how far that is in the column's unit is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pandas_dp.cells.cells import top_of
from pandas_dp.errors import ParameterError
from pandas_dp.noise.quantiles import extreme_rank, rank_error
from pandas_dp.quantities.budget import as_fraction
from pandas_dp.results import Ranks
from pandas_dp.statistics.basic import bounded
from pandas_dp.statistics.query import OrderChoice, Part

if TYPE_CHECKING:
    from pandas_dp.domains.domain import Domain
    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.statistics.noise_laws import Exponential
    from pandas_dp.statistics.query import Query

__all__ = [
    "EXTREMES",
    "QUARTERS",
    "as_quantiles",
    "extreme_part",
    "iqr_estimator",
    "ordered",
    "quantile_choice",
    "quantile_estimator",
]

EXTREMES = ("min", "max")
QUARTERS = {"25%": Fraction(1, 4), "50%": Fraction(1, 2), "75%": Fraction(3, 4), "median": Fraction(1, 2)}


@dataclass(frozen=True, slots=True)
class OrderEstimate:
    """One or two points of the grid that were chosen by rank: a quantile, or the distance of two."""

    heights: tuple[int, ...]
    estimator: PointEstimator
    noise: Exponential

    @property
    def wide(self) -> bool:
        """Whether the point might not fit an int64."""
        return self.estimator.domain.huge

    @property
    def value(self) -> Any:
        """The point in the column's type; always inside the bounds."""
        return self.estimator.decode(self.heights)

    def half_width(self, level: float) -> Any:
        """Return the ± in ranks."""
        return self.estimator.ranks(self.noise, level)

    def interval(self, level: float) -> tuple[Any, Any]:  # noqa: ARG002  (what is known without more data is the same at every level)
        """Return the bounds: what values the rows nearby have is private."""
        return self.estimator.bounds()

    def shown(self, level: float = 0.95) -> str:
        """Return the answer with its ± in ranks."""
        value = self.value
        number = f"{value:.6g}" if isinstance(value, float) else f"{value}"
        return f"{number} (± {self.half_width(level)})"


@dataclass(frozen=True, slots=True)
class PointEstimator:
    """How an answer is read from chosen points: the one at ``place``, or the distance between two."""

    domain: Domain
    choice: OrderChoice
    place: int
    other: int | None = None

    def finish(self, noisy: list[int], noise: Exponential) -> OrderEstimate:
        """Return the estimate."""
        places = (self.place,) if self.other is None else (self.place, self.other)
        return OrderEstimate(tuple(noisy[place] for place in places), self, noise)

    def values(self, noisy: list[Any]) -> Any:
        """Return the answers of many groups."""
        columns = [noisy[self.place]] if self.other is None else [noisy[self.place], noisy[self.other]]
        answers = [self.decode(tuple(map(int, heights))) for heights in zip(*columns, strict=True)]
        return self.domain.collect_points(answers, span=self.other is not None, whole=self.choice.extreme is not None)

    def decode(self, heights: tuple[int, ...]) -> Any:
        """Turn points into the column's type."""
        if len(heights) == 1:
            return self.domain.decode_height(heights[0], whole=self.choice.extreme is not None)
        return self.domain.decode_span(max(heights[0] - heights[1], 0))

    def bounds(self) -> tuple[Any, Any]:
        """Return the smallest and the largest answer."""
        top = top_of(self.domain.grid)
        return (self.decode((0,)), self.decode((top,))) if self.other is None else (self.decode((0, 0)), self.decode((top, 0)))

    def ranks(self, noise: Exponential, level: float) -> Ranks:
        """Return how many rows the answer may be away; of an extreme, how many are beyond it on average and more."""
        top = top_of(self.domain.grid)
        if self.choice.extreme is not None:
            return Ranks(2 * extreme_rank(top, noise.epsilon, noise.records))
        quantiles = self.choice.quantiles
        each = level if self.other is None else (1 + level) / 2
        return Ranks(
            max(
                rank_error(top, len(set(quantiles)), quantiles[place], noise.epsilon, noise.records, level=min(each, _MOST_SURE))
                for place in (self.place, self.other)
                if place is not None
            )
        )

    def answer_scale(self, noise: Exponential) -> float:
        """Return the scale of the choice, in ranks."""
        return float(2 * noise.records / noise.epsilon)

    def half_width_before(self, noise: Exponential, level: float, rows: int | None) -> Ranks:  # noqa: ARG002  (one signature for all)
        """Return the ± in ranks, which depends on nothing private."""
        return self.ranks(noise, level)


Height = PointEstimator  # what pickles of the first version call it

_MOST_SURE = 1 - 2.0**-36


def quantile_choice(domain: Domain, quantiles: tuple[Fraction, ...]) -> OrderChoice:
    """Return the choice of quantiles together."""
    return OrderChoice(domain.column, domain.grid, quantiles, None)


def extreme_part(domain: Domain, extreme: str) -> Part:
    """Return the part that chooses the minimum or the maximum."""
    choice = OrderChoice(domain.column, domain.grid, (), extreme)
    return Part(choice, (PointEstimator(domain, choice, 0),))


def quantile_estimator(domain: Domain, choice: OrderChoice, quantile: Fraction) -> PointEstimator:
    """Return the estimator of one of the quantiles that were chosen together."""
    return PointEstimator(domain, choice, choice.quantiles.index(quantile))


def iqr_estimator(domain: Domain, choice: OrderChoice) -> PointEstimator:
    """Return the estimator of the distance between the quartiles."""
    return PointEstimator(domain, choice, choice.quantiles.index(QUARTERS["75%"]), choice.quantiles.index(QUARTERS["25%"]))


def as_quantiles(q: object) -> tuple[tuple[Fraction, ...], bool]:
    """Return quantiles exactly as typed, and whether one alone was meant."""
    given = list(q) if isinstance(q, (list, tuple)) else [q]
    found = []
    for one in given:
        zero = isinstance(one, (int, float)) and not isinstance(one, bool) and one == 0
        number = Fraction(0) if zero else as_fraction(one, "q")
        if not 0 <= number <= 1 or number.denominator > _FINEST:
            raise ParameterError.number("q", "between 0 and 1, with at most six decimals")
        found.append(number)
    if not found:
        raise ParameterError.number("q", "a number between 0 and 1, or a list of at least one")
    return tuple(found), not isinstance(q, (list, tuple))


_FINEST = 10**6


def ordered(frame: PublicFrame, name: str, column: Any, bounds: Any, quantiles: tuple[Fraction, ...] = ()) -> Query:
    """Ask for one quantile, an extreme or the interquartile range of one column or of several."""

    def build(domain: Domain) -> Part:
        if name in EXTREMES:
            return extreme_part(domain, name)
        choice = quantile_choice(domain, (QUARTERS["25%"], QUARTERS["75%"]) if name == "iqr" else quantiles)
        return Part(choice, (iqr_estimator(domain, choice) if name == "iqr" else quantile_estimator(domain, choice, quantiles[0]),))

    return bounded(name, build, frame, column, bounds, more=f"; {float(quantiles[0])}" if name == "quantile" else "")
