"""The contract of engines, as a check: plans over frames that are cut into partitions, against the pandas engine on the whole frame.

For ``pandas_dp.testing``.  The frames are made up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.cells.cells import FloatGrid, IntGrid, OneEach, top_of
from pandas_dp.domains.keysets import Bins, KeyList, KeySet, PrivateKeys
from pandas_dp.engines.contract import Contribution, Gram, Occurring, Ranks, ReadPlan, Sums
from pandas_dp.engines.pandas import PandasSource
from pandas_dp.expressions.parse import Column, parse
from pandas_dp.expressions.steps import Step
from pandas_dp.lineage.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from pandas_dp.cells.cells import Grid
    from pandas_dp.engines.contract import Read, Reader, Source

    SourceOf = Callable[[list[pd.DataFrame], Contribution], Source]

__all__ = ["SALT", "Case", "cases", "check"]

_CUTS = (1, 3, 7)
SALT = bytes(range(32))
"""A key that is no secret."""


@dataclass(frozen=True, slots=True)
class Case:
    """A frame and a plan to read it by.

    Attributes
    ----------
    mixed : bool
        Whether partitions may hold the same numbers in other dtypes.
    summed : bool
        Whether it is left to the engine which groups of a unit count, so that only the sums over all groups are compared.
    """

    name: str
    frame: pd.DataFrame
    plan: ReadPlan
    mixed: bool = False
    summed: bool = False


class Hostile:
    """A cell that raises, with a value in the text, whatever is done with it."""

    def _refuse(self, *_: object) -> Any:
        msg = "secret 4711"
        raise ValueError(msg)

    __float__ = __int__ = __bool__ = __repr__ = __str__ = __eq__ = __lt__ = __index__ = __len__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def check(source_of: SourceOf) -> list[str]:
    """Raise ``AssertionError`` for the first plan that the engine reads otherwise than the pandas engine; return the names of those that it refuses."""
    refused = []
    for case in cases():
        expected = list(_rounds(case, PandasSource(case.frame, _roster(case.frame, case.plan.contribution)).open(case.plan, SALT)))
        for partitions in _cuts(case):
            source = source_of(partitions, case.plan.contribution)
            if source.unsupported(case.plan) is not None:
                refused.append(case.name)
                break
            where = f"{case.name!r}, {len(partitions)} partitions"
            found = _rounds(case, source.open(case.plan, SALT), where)
            for name, wanted in expected:
                got_name, got = next(found)
                if got_name != name or got != wanted or _kinds(got) != _kinds(wanted):
                    msg = f"engine differs from the contract in case {where}: {name}"
                    raise AssertionError(msg)
    return refused


def _kinds(thing: Any) -> Any:
    """Return the types of what a round returned: a total that is a float is none."""
    return [_kinds(one) for one in thing] if isinstance(thing, (list, tuple)) else type(thing)


def _rounds(case: Case, reader: Reader, where: str = "of the pandas engine") -> Iterator[tuple[str, Any]]:
    """Ask all rounds of a plan; return what each says, by name, in Python's own types."""

    def needed(name: str, found: Any) -> Any:
        if found is None:
            msg = f"engine differs from the contract in case {where}: {name} could not be read"
            raise AssertionError(msg)
        return found

    plan = case.plan
    groups: int | None = len(plan.keys) if isinstance(plan.keys, KeySet) else None
    if isinstance(plan.keys, PrivateKeys):
        units = needed("candidates", reader.candidates())
        yield "candidates", units.tolist()
        which = np.arange(len(units))[::2]
        index = needed("show", reader.show(which))
        yield "show", [index.tolist(), str(index.dtype), list(index.names)]
        groups = len(index)
    if any(isinstance(read, Sums) for read in plan.reads):
        found = [[_plain(one, groups) for one in sums] for sums in needed("sums", reader.sums())]
        yield "sums", [[sum(one) for one in sums] for sums in found] if case.summed else found
    for read in plan.reads:
        if isinstance(read, Gram):
            count, sums, products = needed("gram", reader.gram(read))
            yield "gram", [count, list(sums), sorted(map(list, products)), [products[key] for key in sorted(products)]]
        elif isinstance(read, Occurring):
            yield "occurring", needed("occurring", reader.occurring(read))
        elif isinstance(read, Ranks):
            for group in [None] if groups is None else range(groups):
                yield f"ranks of group {group}", list(_ranks(needed("ranks", reader.ranks(read, group)), top_of(read.grid)))


def _plain(total: Any, groups: int | None) -> Any:
    """Return one total, or one for each group, as Python's integers; what is neither as it is."""
    if groups is None:
        return total
    values = np.asarray(total)
    return [int(one) if isinstance(one, int) else one for one in values.tolist()] if values.shape == (groups,) else total


def _ranks(order: Any, top: int) -> Iterator[Any]:
    """Ask an order of everything that a choice by rank may ask."""
    size = int(order.size)
    yield size
    order.prepare([(-3, 2), (size // 2 - 2, size // 2 + 2), (size - 1, size + 5)])
    for start, stop in ((0, min(2, size)), (size // 3, min(size // 3 + 5, size)), (0, size), (size, size)):
        heights, edges = order.runs(start, stop)
        yield [[int(height) for height in heights], [int(edge) for edge in edges]]
    for height in (0, 1, top // 2, top):
        yield [int(count) for count in order.below(height)]


def _roster(frame: pd.DataFrame, contribution: Contribution) -> Roster:
    return Roster(frame, "", contribution.unit, contribution.max_rows)


def _cuts(case: Case) -> Iterator[list[pd.DataFrame]]:
    """Cut a frame into partitions, an empty one among them; where that is allowed, in several dtypes."""
    for parts in _CUTS:
        chunks = [case.frame.iloc[chunk] for chunk in np.array_split(np.arange(len(case.frame)), parts)]
        yield chunks if parts == 1 else [*chunks[:1], case.frame.iloc[:0], *chunks[1:]]
        if case.mixed and parts > 1:
            yield [chunk.astype({"x": dtype}) for chunk, dtype in zip(chunks, ["float64", "object", "Int64"] * parts, strict=False)]


def cases() -> list[Case]:
    """Return frames and plans: dtypes and grids, keys, steps of views, units, order, moments, private keys, hostile cells."""
    return [*_columns(), *_grouped(), *_stepped(), *_bounded(), *_several(), *_private(), *_hostile()]


def _columns() -> Iterator[Case]:
    nan, inf = float("nan"), float("inf")
    edge = [nan, inf, -inf, 0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 0.1, 0.5, 1.0, 1 / 3, 2.0**52, 1e16, 1.0, -1e16]
    many = [((k * 7919) % 1000) / 7 - 20 for k in range(140_000)]
    ints = [-(2**63), 2**63 - 1, -1, 0, 1, 17, 2**53 + 1, -(2**53) - 1]
    columns: list[tuple[str, list[Any], Any, list[Grid]]] = [
        ("edges", edge * 3, "float64", [FloatGrid.between(0.0, 1.0), FloatGrid.between(-1e16, 1e16), FloatGrid.between(-0.3, 0.7)]),
        ("far from zero", [2.0**52 + k for k in range(9)], "float64", [FloatGrid.between(2.0**52, 2.0**52 + 1)]),
        ("tiny bounds", [0.0, 1e-270, 3e-271, nan], "float64", [FloatGrid.between(0.0, 1e-270)]),
        ("more than one block", many, "float64", [FloatGrid.between(-3.25, 100.5)]),
        ("single precision", [0.1] * 1000 + [nan, 3e38], "float32", [FloatGrid.between(0.0, 1.0)]),
        ("integers", ints, "int64", [IntGrid(-(2**63), 2**63 - 1), IntGrid(0, 100)]),
        ("unsigned", [2**64 - 1, 0, 5], "uint64", [IntGrid(0, 2**64 - 1)]),
        ("small integers", [-128, 127, 0], "int8", [IntGrid(-128, 127)]),
        ("booleans", [True, False, True], "bool", [IntGrid(0, 1)]),
        ("nullable", [1, None, 3], "Int64", [IntGrid(0, 10), FloatGrid.between(0.0, 2.5)]),
        ("no rows", [], "float64", [FloatGrid.between(0.0, 1.0)]),
    ]  # fmt: skip
    for name, values, dtype, grids in columns:
        frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype)})
        reads: list[Read] = [Sums(None, None, everything=True), Sums("x", None)]
        reads += [Sums("x", grid, squares=True) for grid in grids]
        reads += [Ranks("x", grid) for grid in grids] if len(values) < len(many) else []
        yield Case(name, frame, ReadPlan(tuple(reads)), mixed=name == "small integers")


def _table(rows: int = 60) -> pd.DataFrame:
    """Return a frame in which all rows of a unit hold the same values, so that it does not matter which of them count."""
    units = np.arange(rows) * 7 % 13
    return pd.DataFrame(
        {
            "u": units,
            "x": units * 5 % 11 - 2,
            "y": np.where(units == 3, np.nan, units / 7),  # noqa: PLR2004  (a unit without a value)
            "k": units % 4,
            "t": pd.Series(["abcde"[unit % 5] for unit in units.tolist()], dtype=object),
        }
    )


def _keys(column: str, values: tuple[Any, ...], other: Any = None) -> KeySet:
    part = KeyList(column, values, values, other)
    return KeySet((part,), pd.Index(part.labels, name=column))


_X, _Y = IntGrid(0, 8), FloatGrid.between(0.0, 1.5)
_SUMS: tuple[Read, ...] = (Sums(None, None, everything=True), Sums("x", None), Sums("x", _X, squares=True), Sums("y", _Y))


def _grouped() -> Iterator[Case]:
    reads = (*_SUMS, Ranks("x", _X))
    yield Case("keys", _table(), ReadPlan(reads, keys=_keys("k", (2, 0, 1))), mixed=True)
    yield Case("text keys, and another", _table(), ReadPlan(reads, keys=_keys("t", ("c", "a", "z"), other="rest")))
    both = KeySet((*_keys("k", (0, 1, 2)).parts, *_keys("t", ("a", "b")).parts), pd.MultiIndex.from_product([(0, 1, 2), ("a", "b")]))
    yield Case("two keys", _table(), ReadPlan(reads, keys=both))
    edges = np.array([0.0, 0.5, 1.0, 1.5])
    bins = KeySet((Bins("y", pd.IntervalIndex.from_breaks(edges), edges, right=True),), pd.IntervalIndex.from_breaks(edges))
    yield Case("bins", _table(), ReadPlan(reads, keys=bins))
    yield Case("keys that occur", _table(), ReadPlan((Occurring(_keys("t", ("a", "e", "z"))),)))


def _stepped() -> Iterator[Case]:
    columns: dict[Hashable, Column] = {
        "x": Column("int", (0, 8), None),
        "y": Column("float", (0, 2), None),
        "t": Column("text", None, None),
    }
    steps = (
        Step(condition=parse("x >= 1 and t in ['a', 'b', 'c']", columns)),
        Step(assigned=(("z", parse("where(isna(y), 0, y * 2 + x)", columns)),)),
    )
    z = FloatGrid.between(0.0, 9.0)
    yield Case("steps of a view", _table(), ReadPlan((*_SUMS, Sums("z", z), Ranks("z", z)), steps))
    yield Case("steps, keys and units", _table(), ReadPlan((*_SUMS, Sums("z", z)), steps, Contribution("u", 2), _keys("k", (0, 1))))


def _bounded() -> Iterator[Case]:
    for rows in (1, 2, 5, 50):
        yield Case(f"units of {rows} rows", _table(), ReadPlan((*_SUMS, Ranks("y", _Y)), contribution=Contribution("u", rows)))
    two = Contribution("u", 2)
    missing = _table().astype({"u": "float64"})
    missing.loc[::9, "u"] = np.nan
    yield Case("rows without a unit", missing, ReadPlan(_SUMS, contribution=two))
    keys = _keys("k", (0, 1, 2, 3))
    yield Case("units in groups", _table(), ReadPlan(_SUMS, contribution=two, keys=keys))
    count, total = (Sums(None, None, everything=True),), (Sums("total", IntGrid(-3, 9)),)
    yield Case("one record each", _table(), ReadPlan(count, contribution=two, records=OneEach(None, None)))
    yield Case("one record each with a value", _table(), ReadPlan(count, contribution=two, records=OneEach("y", None)))
    yield Case("totals of units", _table(), ReadPlan(total, contribution=two, records=OneEach("x", IntGrid(-4, 6))))
    yield Case("totals of units in groups", _table(), ReadPlan(total, contribution=two, keys=keys, records=OneEach("x", IntGrid(-4, 6))))
    twice = pd.concat([_table().assign(k=0), _table().assign(k=1)], ignore_index=True)
    one_group = Contribution("u", 100, 1)
    yield Case("one group each", twice, ReadPlan(_SUMS, contribution=one_group, keys=_keys("k", (0, 1))), summed=True)


def _several() -> Iterator[Case]:
    yield Case("second moments", _table(), ReadPlan((Gram(("x", "y"), (_X, _Y)),)), mixed=True)
    yield Case("second moments of units", _table(), ReadPlan((Gram(("x", "y"), (_X, _Y)),), contribution=Contribution("u", 3)))


def _private() -> Iterator[Case]:
    for column, dtype in (("t", np.dtype(object)), ("k", np.dtype(np.int64))):
        yield Case(f"private keys {column!r}", _table(), ReadPlan(_SUMS, keys=PrivateKeys((column,), (dtype,), None)))
    pair = PrivateKeys(("t", "k"), (np.dtype(object), np.dtype(np.int64)), None)
    yield Case("private keys of units", _table(), ReadPlan((*_SUMS, Ranks("x", _X)), contribution=Contribution("u", 2), keys=pair))


def _hostile() -> Iterator[Case]:
    frame = _table()
    cells: list[Any] = frame["x"].tolist()
    cells[5], cells[11] = Hostile(), "text"
    frame["x"] = pd.Series(cells, dtype=object)
    yield Case("cells that raise", frame, ReadPlan((Sums(None, None, everything=True), Sums("x", _X, squares=True), Ranks("x", _X))))
    keys: list[Any] = frame["t"].tolist()
    keys[7] = Hostile()
    yield Case(
        "keys that raise",
        frame.assign(t=pd.Series(keys, dtype=object)),
        ReadPlan((Sums(None, None, everything=True),), keys=_keys("t", ("a", "b"))),
    )
