"""The waist between a release and the data: a read plan of public facts goes to an engine, exact integers come back.

A release knows nothing of frames: it opens a *source* with a :class:`ReadPlan` after the charge, and asks the *reader* that comes back in rounds.  What a round is given
is public, or was released before; what it returns are exact integers, the same on every engine, partitioning and row order, or None where reading failed.  Codes of keys that
do not show, labels of units and values stay behind the reader.

An engine is one module with a class that has the methods of :class:`Source`, and one that has those of :class:`Reader`.  It knows no budget and no noise, and nothing that
depends on a value may raise, warn or log.  ``pandas_dp.testing.check_engine`` holds an engine to this contract.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import pandas as pd
    from numpy.typing import NDArray

    from pandas_dp.cells.cells import Grid, OneEach
    from pandas_dp.cells.ranks import Order
    from pandas_dp.domains.keysets import KeySet, PrivateKeys
    from pandas_dp.expressions.steps import Step

__all__ = ["Contribution", "Gram", "Occurring", "Ranks", "Read", "ReadPlan", "Reader", "Source", "Sums", "contained"]


class Contribution(NamedTuple):
    """Contribution bounding, as it was declared: which engine reads does not change whom a row counts for.

    Attributes
    ----------
    unit : Hashable or None
        The column or index level that identifies the privacy unit; None if each row is one.
    max_rows : int
        How many rows of one unit count: the kept rows are the sum over units of ``min(rows, max_rows)``.
    max_groups : int or None
        How many groups of one unit count, if that is bounded.
    """

    unit: Hashable | None = None
    max_rows: int = 1
    max_groups: int | None = None


class Sums(NamedTuple):
    """The number of records with a value in a column, the sum of their steps, and that of the squares of their steps.

    Attributes
    ----------
    column : Hashable or None
        The column; of the records that a plan makes of rows, see :attr:`ReadPlan.records`, the one that they have.
    grid : Grid or None
        How values become steps; None where only their number is asked for.
    squares : bool
        Whether squares are.
    everything : bool
        All records, whatever their values.
    """

    column: Hashable | None
    grid: Grid | None
    squares: bool = False
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Gram:
    """Of the records with a value in every column: their number, the sums of their heights, and of the products of two heights.

    The height of a value is ``(step - grid.first) >> shift_of(grid)``: see :func:`pandas_dp.cells.second_moments.shift_of`.
    """

    columns: tuple[Hashable, ...]
    grids: tuple[Grid, ...]


@dataclass(frozen=True, slots=True)
class Ranks:
    """The records with a value in a column, in the order of their heights ``step - grid.first``."""

    column: Hashable | None
    grid: Grid


@dataclass(frozen=True, slots=True)
class Occurring:
    """How many of the declared keys a record has."""

    keys: KeySet


Read = Sums | Gram | Ranks | Occurring


class ReadPlan(NamedTuple):
    """What is read, in public terms.  Frozen, and can be pickled: it may be sent to where the data are.

    Attributes
    ----------
    reads : tuple of Read
        What the rounds ask for.
    steps : tuple of Step
        The steps of a tracked view, taken before anything else.
    contribution : Contribution
        Which rows count.
    keys : KeySet, PrivateKeys or None
        The groups of all reads but :class:`Occurring`.
    records : OneEach or None
        If rows are first made into one record for each unit, and group; None if each row is a record.
    """

    reads: tuple[Read, ...]
    steps: tuple[Step, ...] = ()
    contribution: Contribution = Contribution()
    keys: KeySet | PrivateKeys | None = None
    records: OneEach | None = None


class Reader(Protocol):
    """A plan that was opened: its rounds, each of which returns None where reading failed, and raises for nothing that it finds."""

    def candidates(self) -> NDArray[Any] | None:
        """Return for each key that occurs, in ascending order, its number of units: of private keys, before any other round.

        ``max_groups`` bounds the groups of a unit over all candidates, and so for the rounds that follow.
        """

    def show(self, which: NDArray[Any]) -> pd.Index[Any] | None:
        """Return the index of the candidates at these places, which are the groups from now on."""

    def sums(self) -> list[tuple[Any, Any, Any]] | None:
        """Return for each :class:`Sums`, in the order of the plan, number, sum and sum of squares: ints, or arrays with one for each group."""

    def gram(self, read: Gram) -> tuple[int, list[int], dict[tuple[int, int], int]] | None:
        """Return number, sums, and for the places ``i <= j`` of two columns the sum of products."""

    def occurring(self, read: Occurring) -> int | None:
        """Return the number of keys."""

    def ranks(self, read: Ranks, group: int | None) -> Order | None:
        """Return the ranks of all records, or of those of one group."""


class Source(Protocol):
    """What a query is asked of, as its engine holds it.  Public facts alone before it is opened; a :class:`pandas_dp.domains.public_frame.Described`."""

    is_series: bool
    series: Hashable

    @property
    def columns(self) -> pd.Index[Any]:
        """The names of the columns."""

    def dtype(self, column: Hashable) -> Any:
        """Return the dtype of a column."""

    def unsupported(self, plan: ReadPlan) -> str | None:
        """Return why the engine cannot read a plan, as the end of a sentence; None if it can."""

    def open(self, plan: ReadPlan, salt: bytes) -> Reader:
        """Return the reader of a plan.  Runs after the charge; reads when the first round is asked for.

        The salt is a secret of the session, beside the plan and never in it: where nothing else orders the rows of a unit, a hash of their content with it does.
        """


Answer = TypeVar("Answer")


def contained(method: Callable[..., Answer]) -> Callable[..., Answer | None]:
    """Return a round of a reader that returns None instead of raising: the text of an exception may quote data."""

    @wraps(method)
    def contain(*arguments: Any) -> Answer | None:
        try:
            return method(*arguments)
        except Exception:  # noqa: BLE001  (whatever an engine's own library raises)
            return None

    return contain
