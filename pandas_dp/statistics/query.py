"""What a query is made of, in public terms: parts that are released together, and the estimators that read answers from them.

Knows no data, budget or noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pandas_dp.cells.cells import Cell, Grid, OneEach
    from pandas_dp.cells.second_moments import Design
    from pandas_dp.domains.keysets import KeySet, PrivateKeys
    from pandas_dp.statistics.estimators import Estimator

__all__ = ["CellTotals", "OrderChoice", "Part", "Query", "Released", "SecondMoments"]


@dataclass(slots=True)
class CellTotals:
    """The totals of cells of one column, each with noise.

    Attributes
    ----------
    cells : tuple of Cell
        Released together.
    row_limit : int or None
        Where a cell adds up what rows were summed to: how much one row is at most.
    """

    cells: tuple[Cell, ...]
    row_limit: int | None = None


@dataclass(slots=True)
class OrderChoice:
    """Points of a column's grid that are chosen by rank: quantiles together, or one extreme."""

    column: Hashable
    grid: Grid
    quantiles: tuple[Fraction, ...]
    extreme: str | None


@dataclass(slots=True)
class SecondMoments:
    """The cells of a matrix of second moments of several columns, over the rows that have a value in each, with noise."""

    columns: tuple[Hashable, ...]
    grids: tuple[Grid, ...]
    design: Design


Released = CellTotals | OrderChoice | SecondMoments


@dataclass(slots=True)
class Part:
    """What is released with one share of the query's price, and what is read from it.

    Attributes
    ----------
    released : CellTotals, OrderChoice or SecondMoments
        What noise is added to, or what is chosen.
    estimators : tuple of Estimator
        The answers.
    weight : Fraction
        Its share of the price, among those of all parts.
    """

    released: Released
    estimators: tuple[Estimator, ...]
    weight: Fraction = Fraction(1)

    def means(self) -> dict[str, Any]:
        """Return what counts for the question that is asked, under the names of the wire."""
        cells = self.released.cells if isinstance(self.released, CellTotals) else ()
        order = self.released if isinstance(self.released, OrderChoice) else None
        return {"cells": cells, "readings": self.estimators, "weight": self.weight, "order": order}


@dataclass(slots=True)
class Query:
    """What is asked, in public terms.

    Attributes
    ----------
    text : str
        For the ledger.
    parts : tuple of Part
        One per column or more; the query's price is divided among them, for they are about the same units.
    labels : tuple of Hashable or None
        One for each estimator, in order: the index of a Series answer; None for a scalar answer.
    functions : tuple of str or None
        A second label for each estimator where the answer is a table of functions and columns.
    keys : KeySet, PrivateKeys or None
        The groups of a grouped answer.
    order : tuple of int or None
        Where the answers stand among the estimators of all parts; None for their own order.
    distinct : KeySet or None
        If what is counted are the keys that occur.
    square : bool
        Whether the answer is a matrix of columns by columns.
    one_each : OneEach or None
        If rows are first made into one record for each unit and group.
    max_groups : int or None
        How many groups a unit reaches, if that is bounded.
    name : Hashable or None
        What a grouped answer is called.
    settle : callable or None
        Post-processing of the estimates, in the order of the answer.
    """

    text: str
    parts: tuple[Part, ...]
    labels: tuple[Hashable, ...] | None = None
    functions: tuple[str, ...] | None = None
    keys: KeySet | PrivateKeys | None = None
    order: tuple[int, ...] | None = None
    distinct: KeySet | None = None
    square: bool = False
    one_each: OneEach | None = None
    max_groups: int | None = None
    name: Hashable | None = None
    settle: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None

    @property
    def counts_rows(self) -> bool:
        """Whether the answer is a count of records alone."""
        released = self.parts[0].released
        return len(self.parts) == 1 and isinstance(released, CellTotals) and len(released.cells) == 1 and released.cells[0].everything

    def ordered(self, answers: Sequence[Any]) -> tuple[Any, ...]:
        """Return one thing for each estimator in the order of the answer."""
        return tuple(answers if self.order is None else (answers[place] for place in self.order))
