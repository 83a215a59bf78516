"""``agg``: several statistics of several columns in one charge.

The functions asked of one column share one release of cells: the fewest kinds of cells that all of them can be read from.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pandas_dp.cells.cells import mass, mean_cells, present, signed_sum, spread_cells
from pandas_dp.errors import AggregationError, ParameterError
from pandas_dp.statistics.basic import bounded
from pandas_dp.statistics.estimates import GroupEstimate
from pandas_dp.statistics.estimators import Count, Mean, Spread, Sum
from pandas_dp.statistics.order import EXTREMES, QUARTERS, extreme_part, iqr_estimator, quantile_choice, quantile_estimator
from pandas_dp.statistics.query import CellTotals, Part, Query

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from pandas_dp.cells.cells import Cell
    from pandas_dp.domains.domain import Domain
    from pandas_dp.domains.public_frame import PublicFrame
    from pandas_dp.statistics.estimators import Estimator

__all__ = ["DESCRIBED", "FUNCTIONS", "aggregate", "column_parts", "describe", "quantiles", "spread"]

FUNCTIONS = ("count", "sum", "mean", "var", "std", "median", "min", "max", "iqr")
DESCRIBED = ("count", "mean", "std", "min", "25%", "50%", "75%", "max")
_CELLS = ("count", "sum", "mean", "var", "std")
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
    """Return one part for each column, where each answer stands among their estimators, and the text."""
    columns = list(dict.fromkeys(column for column, _, _ in asked))
    parts: list[Part] = []
    texts = []
    places: list[tuple[Any, str]] = []
    for column in columns:
        functions = list(dict.fromkeys(function for name, function, _ in asked if name == column))
        given = bounds.get(column) if isinstance(bounds, dict) else bounds
        own, read, domain = column_parts(frame, column, functions, given)
        parts.extend(own)
        places.extend((column, function) for function in read)
        within = "" if domain is None else f" in [{domain.bounds[0]}, {domain.bounds[1]}]"
        texts.append(f"{frame.shown(column, typed=typed)}{within}: {', '.join(functions)}")
    order = tuple(places.index((column, function)) for column, function, _ in asked)
    return tuple(parts), order, "; ".join(texts)


def column_parts(
    frame: PublicFrame, column: Hashable, functions: list[str], bounds: Any, ddof: int = 1
) -> tuple[list[Part], list[str], Domain | None]:
    """Return the fewest parts that all functions of a column can be read from, the functions in the order of their estimators, and the domain.

    The column's share of the price is divided equally among its parts: cells; quantiles chosen together; either extreme.
    """
    if not frame.is_series:
        frame.check(column)
    domains = {function: frame.domain(_asked_as(function), column, bounds) for function in functions if function != "count"}
    domain = next(iter(domains.values()), None)
    from_cells = [function for function in functions if function in _CELLS]
    quantiles = [function for function in functions if function in QUARTERS or function == "iqr"]
    extremes = [function for function in functions if function in EXTREMES]
    parts: list[Part] = []
    if from_cells:
        parts.append(_cells_part(column, domains.get(next((f for f in from_cells if f != "count"), "")), from_cells, ddof))
    if quantiles and domain is not None:
        parts.append(_quantiles_part(domain, quantiles))
    if domain is not None:
        parts.extend(extreme_part(domain, extreme) for extreme in extremes)
    return [replace(part, weight=Fraction(1, len(parts))) for part in parts], [*from_cells, *quantiles, *extremes], domain


def _asked_as(function: str) -> str:
    return {"25%": "quantile", "50%": "quantile", "75%": "quantile"}.get(function, function)


def _cells_part(column: Hashable, domain: Domain | None, functions: list[str], ddof: int) -> Part:
    if domain is None:
        return Part(CellTotals(present(column)), (Count(),))
    if functions == ["sum"]:
        return Part(CellTotals(signed_sum(column, domain.grid)), (Sum(domain),))
    spread = not {"var", "std"}.isdisjoint(functions)
    cells: tuple[Cell, ...] = (spread_cells if spread else mean_cells)(column, domain.grid)
    return Part(CellTotals(cells), tuple(_estimator(function, domain, cells, ddof) for function in functions))


def _quantiles_part(domain: Domain, functions: list[str]) -> Part:
    wanted = sorted({q for f in functions for q in ((QUARTERS["25%"], QUARTERS["75%"]) if f == "iqr" else (QUARTERS[f],))})
    choice = quantile_choice(domain, tuple(wanted))
    return Part(
        choice, tuple(iqr_estimator(domain, choice) if f == "iqr" else quantile_estimator(domain, choice, QUARTERS[f]) for f in functions)
    )


def _estimator(function: str, domain: Domain, cells: tuple[Cell, ...], ddof: int) -> Estimator:
    weight = mass(cells)
    if function == "count":
        return Count(weight, len(cells))
    if function == "sum":
        return Sum.shared(domain, cells)
    if function == "mean":
        return Mean(domain, weight, _MIDDLE if len(cells) == len(_MIDDLE) else (1.0, 0.0))
    return Spread(domain, weight, ddof, root=function == "std")


def spread(frame: PublicFrame, name: str, column: Any, bounds: Any, ddof: Any) -> Query:
    """Ask for the variance or standard deviation of one column or of several."""
    if isinstance(ddof, bool) or not isinstance(ddof, int) or not 0 <= ddof <= _MOST_DDOF:
        raise ParameterError.number("ddof", "a whole number from 0")

    def build(domain: Domain) -> Part:
        cells = spread_cells(domain.column, domain.grid)
        return Part(CellTotals(cells), (_estimator(name, domain, cells, ddof),))

    return bounded(name, build, frame, column, bounds)


_MOST_DDOF = 1000


def describe(frame: PublicFrame, column: Any, bounds: Any) -> Query:
    """Ask for pandas' ``describe``: count, mean, std, min, quartiles and max of every column."""
    single = frame.is_series or (column is not None and not isinstance(column, list))
    if isinstance(column, list):
        frame.check_list(column)
    elif not frame.is_series and column is not None:
        frame.check(column)
    columns = (
        [frame.series if frame.is_series else column] if single else column if column is not None else _all(frame, ["std", "min"], bounds)
    )
    asked: Asked = [(name, function, function) for name in columns for function in DESCRIBED]
    if not asked:
        raise AggregationError.nothing(FUNCTIONS)
    parts, order, text = _parts(frame, asked, bounds, typed=column is not None or single or isinstance(bounds, dict))
    labels = tuple(function for _, function, _ in asked) if single else tuple(name for name, _, _ in asked)
    functions = None if single else tuple(function for _, function, _ in asked)
    return Query(f"describe({text.replace(': ' + ', '.join(DESCRIBED), '')})", parts, labels, functions, order=order, settle=_ends_outside)


def _ends_outside(estimates: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the estimates of ``describe`` with no minimum above a quartile and no maximum below one: free, and never farther off.

    The ± of an extreme says how many rows may be beyond it, and beyond a point farther out there are not more.
    """
    settled = list(estimates)
    low, high = DESCRIBED.index("min"), DESCRIBED.index("max")
    for first in range(0, len(settled), len(DESCRIBED)):
        quartiles = [_heights(settled[first + place]) for place in range(low + 1, high)]
        for place, outer in ((low, np.minimum), (high, np.maximum)):
            estimate = settled[first + place]
            heights = outer.reduce([_heights(estimate), *quartiles])
            settled[first + place] = (
                replace(estimate, noisy=(heights,), value=estimate.estimator.values([heights]))
                if isinstance(estimate, GroupEstimate)
                else replace(estimate, heights=(int(heights),))
            )
    return tuple(settled)


def _heights(estimate: Any) -> Any:
    """Return the point of the grid that was chosen, or those of all groups."""
    return estimate.noisy[estimate.estimator.place] if isinstance(estimate, GroupEstimate) else np.array(estimate.heights[0], dtype=object)


def quantiles(frame: PublicFrame, column: Any, bounds: Any, quantiles: tuple[Fraction, ...]) -> Query:
    """Ask for several quantiles of one column or of several, chosen together in each."""
    domains, single = frame.domains("quantile", column, bounds)
    parts = []
    for domain in domains:
        choice = quantile_choice(domain, tuple(sorted(set(quantiles))))
        parts.append(Part(choice, tuple(quantile_estimator(domain, choice, quantile) for quantile in quantiles)))
    typed = column is not None or frame.is_series or isinstance(bounds, dict)
    shown = [float(quantile) for quantile in quantiles]
    arguments = ", ".join(f"{frame.shown(d.column, typed=typed)} in [{d.bounds[0]}, {d.bounds[1]}]" for d in domains)
    labels = tuple(shown) if single else tuple(domain.column for domain in domains for _ in shown)
    functions: Any = None if single else tuple(shown) * len(domains)
    return Query(f"quantile({arguments}; {', '.join(map(str, shown))})", tuple(parts), labels, functions)
