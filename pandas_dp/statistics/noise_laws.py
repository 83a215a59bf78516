"""The noise on the cells of a release, as far as it is public: how far it reaches, alone and in weighted sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pandas_dp.noise.laplace import discrete_laplace
from pandas_dp.statistics.tail_bounds import mix_half_width

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

__all__ = ["Exponential", "Gaussian", "Laplace", "Noise"]


class Noise(Protocol):
    """Independent integer noise of one distribution on every cell."""

    @property
    def size(self) -> float:
        """Its scale, or standard deviation."""

    @property
    def mechanism(self) -> str:
        """What it is called in the ledger."""

    def half_width(self, level: float) -> int:
        """Return the quantile of its absolute value."""

    def mix(self, weights: Sequence[float], level: float) -> float:
        """Return a quantile of the absolute value of a weighted sum: never too small."""


@dataclass(frozen=True, slots=True)
class Laplace:
    """Discrete Laplace noise of scale ``sensitivity / epsilon``."""

    scale: Fraction

    @property
    def size(self) -> float:
        """Its scale."""
        return float(self.scale)

    @property
    def mechanism(self) -> str:
        """What it is called in the ledger."""
        return "discrete Laplace"

    def half_width(self, level: float) -> int:
        """Return the quantile of its absolute value, exactly."""
        return discrete_laplace(self.scale).half_width(level)

    def mix(self, weights: Sequence[float], level: float) -> float:
        """Return a quantile of a weighted sum of up to three."""
        return mix_half_width(weights, self.scale, level)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Discrete Gaussian noise of variance ``sensitivity**2 / (2 * rho)``."""

    variance: Fraction

    @property
    def size(self) -> float:
        """Its standard deviation."""
        return math.sqrt(self.variance)

    @property
    def mechanism(self) -> str:
        """What it is called in the ledger."""
        return "discrete Gaussian"

    def half_width(self, level: float) -> int:
        """Return the quantile of its absolute value."""
        from pandas_dp.noise.gaussian import discrete_gaussian  # noqa: PLC0415  (for those who use it)

        return discrete_gaussian(self.variance).half_width(level)

    def mix(self, weights: Sequence[float], level: float) -> float:
        """Return a quantile of a weighted sum: a Gaussian again, but for at most half a step of every weight."""
        length = math.sqrt(math.fsum(weight * weight for weight in weights))
        return length * self.half_width(level) + math.fsum(map(abs, weights)) if length else 0.0


@dataclass(frozen=True, slots=True)
class Exponential:
    """No noise on cells, but a choice among points by the exponential mechanism, for ``epsilon`` and units of ``records`` rows."""

    epsilon: Fraction
    records: int

    @property
    def size(self) -> float:
        """Its scale, in ranks."""
        return float(2 * self.records / self.epsilon)

    @property
    def mechanism(self) -> str:
        """What it is called in the ledger."""
        return "exponential"

    def half_width(self, level: float) -> int:
        """Not known: there are no cells."""
        raise NotImplementedError

    def mix(self, weights: Sequence[float], level: float) -> float:
        """Not known: there are no cells."""
        raise NotImplementedError
