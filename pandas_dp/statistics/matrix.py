"""``cov`` and ``corr``: a matrix of several columns from one release of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pandas_dp.cells.second_moments import Design, tops_of
from pandas_dp.errors import ParameterError
from pandas_dp.statistics.association import CorrelationEstimate, CovarianceEstimate
from pandas_dp.statistics.query import Part, Query, SecondMoments

if TYPE_CHECKING:
    from pandas_dp.domains.domain import Domain
    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.statistics.noise_laws import Laplace

__all__ = ["matrix"]

_MOST = 24  # columns, of which the cells are a quadratic number


@dataclass(frozen=True, slots=True)
class _Matrix:
    """How a matrix is read from the noisy cells."""

    domains: tuple[Domain, ...]
    design: Design
    ddof: int
    correlation: bool

    def finish(self, noisy: list[int], noise: Laplace) -> Any:
        """Return the estimate."""
        if self.correlation:
            return CorrelationEstimate(tuple(noisy), self.design, noise.scale)
        return CovarianceEstimate(tuple(noisy), self.design, noise.scale, self.domains, self.ddof)

    def values(self, noisy: list[Any]) -> Any:
        """Not by group."""
        raise NotImplementedError

    def answer_scale(self, noise: Laplace) -> float:
        """Return the scale of one cell's noise, in records."""
        return float(noise.scale / self.design.reach**2)

    def half_width_before(self, noise: Laplace, level: float, rows: int | None) -> Any:
        """Return the largest ± of the matrix, for columns spread evenly over their bounds; None without ``rows``."""
        if rows is None:
            return None
        tops, size = self.design.tops, len(self.design.tops)
        sums = [rows * top // 2 for top in tops]
        products = {
            (i, j): rows * (tops[i] * tops[i] // 3 if i == j else tops[i] * tops[j] // 4) for i in range(size) for j in range(i, size)
        }
        estimate = self.finish(self.design.totals(rows, sums, products), noise)
        return float(estimate.half_width(level).max())


def matrix(frame: PublicFrame, name: str, columns: Any, bounds: Any, ddof: Any = 1) -> Query:
    """Ask for the covariances or correlations of several columns."""
    if columns is not None and not isinstance(columns, list):
        columns = [columns]
    if isinstance(ddof, bool) or not isinstance(ddof, int) or not 0 <= ddof <= _MOST_DDOF:
        raise ParameterError.number("ddof", "a whole number from 0")
    domains = tuple(frame.domains("var" if name == "cov" else "corr", columns, bounds)[0])
    if len({domain.column for domain in domains}) != len(domains) or len(domains) > _MOST:
        raise ParameterError.number("columns", f"a list of at most {_MOST} columns, each of them once")
    design = Design(tops_of([domain.grid for domain in domains]))
    names = tuple(domain.column for domain in domains)
    estimator = _Matrix(domains, design, ddof, correlation=name == "corr")
    part = Part(SecondMoments(names, tuple(domain.grid for domain in domains), design), (estimator,))
    typed = columns is not None or isinstance(bounds, dict)
    arguments = ", ".join(f"{frame.shown(d.column, typed=typed)} in [{d.bounds[0]}, {d.bounds[1]}]" for d in domains)
    return Query(f"{name}({arguments})", (part,), names, square=True)


_MOST_DDOF = 1000
