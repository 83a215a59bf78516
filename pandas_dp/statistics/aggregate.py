"""``agg``: several statistics of several columns in one charge.

The functions asked of one column share one release of cells: the fewest kinds of cells that all of them can be read from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pandas_dp.cells import mass, mean_cells, present, signed_sum, spread_cells
from pandas_dp.errors import AggregationError
from pandas_dp.statistics.readings import Count, Mean, Part, Query, Spread, Sum

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from pandas_dp.cells import Cell
    from pandas_dp.domain import Domain
    from pandas_dp.public import PublicFrame
    from pandas_dp.statistics.readings import Reading

__all__ = ["FUNCTIONS", "aggregate", "column_part"]

FUNCTIONS = ("count", "sum", "mean", "var", "std")
_MIDDLE = (1.0, 0.5, 0.0)

Asked = list[tuple[Any, str, str]]
"""Column, function, and the name of the answer, in the order of the answer."""


def aggregate(
    frame: PublicFrame, func: Any, named: Mapping[str, Any], bounds: Any, selected: Any = None, *, grouped: bool = False
) -> Query:
    """Build the query of ``agg``.

    Parameters
    ----------
    frame : PublicFrame
        Columns, dtypes and declarations.
    func : str, list, dict or None
        As pandas' ``agg``.
    named : dict
        Named aggregations: name to ``(column, function)``, or to a function where one column is meant.
    bounds : pair, dict or None
        As for ``mean``.
    selected : Hashable, list or None
        The columns that a group-by selected.
    grouped : bool
        Whether the answer has groups as rows.

    Raises
    ------
    AggregationError
        If a function is unknown or asked twice, or the form is not one of pandas'.
    """
    labels: list[Any] | None
    functions: tuple[str, ...] | None = None
    one = frame.series if frame.is_series else None if isinstance(selected, list) else selected
    single = frame.is_series or one is not None
    if named and func is not None:
        raise AggregationError.both_forms()
    if named:
        asked = [_named(name, spec, one, single=single) for name, spec in named.items()]
        labels = [name for _, _, name in asked]
        if not single and not grouped:
            labels, functions = [column for column, _, _ in asked], tuple(labels)
    elif isinstance(func, dict):
        if single:
            raise AggregationError.dict_for_one()
        asked = [(column, function, function) for column, spec in func.items() for function in _functions(spec)]
        several = any(isinstance(spec, list) for spec in func.values())
        labels, functions = [column for column, _, _ in asked], tuple(f for _, f, _ in asked) if several else None
    else:
        wanted = _functions(func)
        columns = [one] if single else selected if isinstance(selected, list) else _all(frame, wanted, bounds)
        asked = [(column, function, function) for column in columns for function in wanted]
        if single:
            labels = wanted if isinstance(func, list) else None
        else:
            labels, functions = [column for column, _, _ in asked], tuple(f for _, f, _ in asked) if isinstance(func, list) else None
    if not asked:
        raise AggregationError.nothing(FUNCTIONS)
    typed = func is None or isinstance(func, dict) or isinstance(bounds, dict) or single or isinstance(selected, list)
    parts, order, text = _parts(frame, asked, bounds, typed=typed)
    return Query(f"agg({text})", parts, None if labels is None else tuple(labels), functions, order=order)


def _functions(spec: Any) -> list[str]:
    """Return the functions that a spec means."""
    names = spec if isinstance(spec, list) else [spec]
    for name in names:
        if not isinstance(name, str) or name not in FUNCTIONS:
            raise AggregationError.unknown(name, FUNCTIONS)
    if len(set(names)) != len(names):
        raise AggregationError.repeated()
    return names


def _named(name: str, spec: Any, one: Hashable, *, single: bool) -> tuple[Any, str, str]:
    """Return column, function and name of a named aggregation."""
    if single and isinstance(spec, str):
        return one, _functions(spec)[0], name
    if single or not isinstance(spec, tuple) or len(spec) != 2:  # noqa: PLR2004
        raise AggregationError.not_named(name, single=single)
    column, function = spec
    return column, _functions(function)[0], name


def _all(frame: PublicFrame, functions: list[str], bounds: Any) -> list[Hashable]:
    """Return the columns for which all functions make sense: those with bounds."""
    needing = [function for function in functions if function != "count"] or ["mean"]
    chosen = [[domain.column for domain in frame.domains(function, None, bounds)[0]] for function in needing]
    return [column for column in chosen[0] if all(column in columns for columns in chosen[1:])]


def _parts(frame: PublicFrame, asked: Asked, bounds: Any, *, typed: bool) -> tuple[tuple[Part, ...], tuple[int, ...], str]:
    """Return one part for each column, where each answer stands among their readings, and the text."""
    columns = list(dict.fromkeys(column for column, _, _ in asked))
    parts, texts = [], []
    places: list[tuple[Any, str]] = []
    for column in columns:
        functions = list(dict.fromkeys(function for name, function, _ in asked if name == column))
        given = bounds.get(column) if isinstance(bounds, dict) else bounds
        part, domain = column_part(frame, column, functions, given)
        parts.append(part)
        places.extend((column, function) for function in functions)
        within = "" if domain is None else f" in [{domain.bounds[0]}, {domain.bounds[1]}]"
        texts.append(f"{frame.shown(column, typed=typed)}{within}: {', '.join(functions)}")
    order = tuple(places.index((column, function)) for column, function, _ in asked)
    return tuple(parts), order, "; ".join(texts)


def column_part(frame: PublicFrame, column: Hashable, functions: list[str], bounds: Any, ddof: int = 1) -> tuple[Part, Domain | None]:
    """Return the cells that all functions of a column can be read from, and the readings."""
    if functions == ["count"]:
        if not frame.is_series:
            frame.check(column)
        return Part(present(column), (Count(),)), None
    domains = [frame.domain(function, column, bounds) for function in functions if function != "count"]
    domain = domains[0]
    if functions == ["sum"]:
        return Part(signed_sum(column, domain.grid), (Sum(domain),)), domain
    spread = not {"var", "std"}.isdisjoint(functions)
    cells: tuple[Cell, ...] = (spread_cells if spread else mean_cells)(column, domain.grid)
    return Part(cells, tuple(_reading(function, domain, cells, ddof) for function in functions)), domain


def _reading(function: str, domain: Domain, cells: tuple[Cell, ...], ddof: int) -> Reading:
    weight = mass(cells)
    if function == "count":
        return Count(weight, len(cells))
    if function == "sum":
        return Sum.shared(domain, cells)
    if function == "mean":
        return Mean(domain, weight, _MIDDLE if len(cells) == len(_MIDDLE) else (1.0, 0.0))
    return Spread(domain, weight, ddof, root=function == "std")
