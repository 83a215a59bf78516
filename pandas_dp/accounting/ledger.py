"""What a query costs, and the line of the ledger that says so."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pandas_dp.quantities.budget import Delta, Epsilon, Rho

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

__all__ = ["NO_DELTA", "Cost", "Entry"]

NO_DELTA = Delta(0)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one query costs, in every currency in which it can be told.

    Attributes
    ----------
    epsilon : Epsilon
        What it is called; of a Gaussian, the ε of a Laplace mechanism of the same ρ, rounded up.
    delta : Delta
        Of the selection of private keys; else 0.
    told : Rho or None
        Zero-concentrated differential privacy, but for ``delta``; None for the ε²/2 of any ε-differentially private mechanism.
    pure : bool
        Whether it is ``epsilon``-differentially private (but for ``delta``): not so for a Gaussian.
    """

    epsilon: Epsilon
    delta: Delta
    told: Rho | None
    pure: bool = True

    @property
    def rho(self) -> Rho:
        """Zero-concentrated differential privacy, but for ``delta``."""
        return Rho(Fraction(self.epsilon) ** 2 / 2) if self.told is None else self.told

    @property
    def named(self) -> Epsilon | Rho:
        """The amount that says it best."""
        return self.epsilon if self.pure else self.rho

    @classmethod
    def laplace(cls, epsilon: Epsilon, delta: Delta = NO_DELTA) -> Cost:
        """Return the cost of an ε-differentially private mechanism: ρ is ε²/2 [1]_.

        References
        ----------
        .. [1] M. Bun, T. Steinke. Concentrated differential privacy: simplifications, extensions, and lower bounds. TCC 2016, proposition 1.4; with δ, definition 8.1.
        """
        return cls(epsilon, delta, None)

    @classmethod
    def selection(cls, epsilon: Epsilon) -> Cost:
        """Return the cost of an exponential mechanism: ρ is ε²/8 [1]_.

        References
        ----------
        .. [1] M. Cesar, R. Rogers. Bounding, concentrating, and truncating: unifying privacy loss composition for data analytics. ALT 2021, lemma 3.2.
        """
        return cls(epsilon, NO_DELTA, Rho(Fraction(epsilon) ** 2 / 8))

    @classmethod
    def gaussian(cls, rho: Rho, epsilon: Epsilon) -> Cost:
        """Return the cost of a discrete Gaussian of variance ``sensitivity**2 / (2*rho)`` [1]_.

        References
        ----------
        .. [1] C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020, theorem 4.
        """
        return cls(epsilon, NO_DELTA, rho, pure=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger: a charge, written before any data was read.

    Attributes
    ----------
    number : int
        1, 2, 3, ... within the session.
    time : datetime
        UTC.
    frame : str
        The handle of the protected frame.
    query : str
        The query's text; names and parameters are public.
    cost : Cost
        What was charged.
    mechanism : str
        For example ``"discrete Laplace"``.
    scale : float
        The largest noise scale, in the units of the answer.
    margin : float
        Half width of the 95 % interval where it is known before the answer, else NaN.
    private : bool
        False for answers drawn with ``pandas_dp.testing``'s repeatable noise.
    label : str or None
        Under which the answer can be had again.
    asked : mapping of str to str, or None
        With a label: the public parameters of the question, to tell it from others.
    """

    number: int
    time: datetime
    frame: str
    query: str
    cost: Cost
    mechanism: str
    scale: float
    margin: float
    private: bool
    label: str | None = None
    asked: Mapping[str, str] | None = None

    @property
    def epsilon(self) -> Epsilon:
        """What was charged of ε."""
        return self.cost.epsilon

    @property
    def delta(self) -> Delta:
        """What was charged of δ."""
        return self.cost.delta
