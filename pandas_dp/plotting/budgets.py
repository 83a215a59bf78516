"""Pictures of budgets: what was spent on which query, and how far off a planned answer would be for its price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.display.drawing import MARKERS, as_numbers, axes_for, chosen, named
from pandas_dp.display.spending import draw_spending
from pandas_dp.errors import ParameterError, ParameterTypeError
from pandas_dp.plotting.noises import as_epsilons
from pandas_dp.sessions.core import core_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from pandas_dp.sessions.session import Session

__all__ = ["budget", "expected_error"]

_GRID = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", 1, 2, 5, 10)


def budget(session: Session[Any], *, ax: Axes | None = None) -> Axes:
    """Draw what a session has spent, query by query, and where its budget ends.

    Parameters
    ----------
    session : Session
        ``df.dp.session``.
    ax : matplotlib Axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterTypeError
        For what is no session.
    ExtraMissing
        Without matplotlib.

    Privacy
    -------
    The ledger is public: texts, parameters and prices of queries.  Nothing is read or charged.

    Notes
    -----
    Up to 20 queries are bars, from what had been spent before to what had been spent after; more are one rising line.  With δ, a bar is by how much a query moved
    ``session.spent``, which is less than its ε where the concentrated account is the tighter one.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import pandas as pd, pandas_dp
    >>> from pandas_dp.plotting import budget
    >>> df = pd.DataFrame({"age": range(100)}).dp.protect(epsilon=1)
    >>> _ = df.dp.count(epsilon=0.25), df.dp.count(epsilon=0.5)
    >>> ax = budget(df.dp.session)
    >>> [float(bar.get_width()) for bar in ax.patches], ax.get_xlabel()
    ([0.25, 0.5], 'spent (ε)')
    """
    core = core_of(session)
    if core is None:
        raise ParameterTypeError.wrong_kind("session", "a pandas_dp.Session, such as df.dp.session", type(session))
    return draw_spending(core.account, core.name, ax)


def expected_error(
    planned: pd.DataFrame | Callable[..., Any], *, epsilon: object = None, columns: object = None, ax: Axes | None = None
) -> Axes:
    """Draw how far off the answer of a planned query may be, against its price.

    Parameters
    ----------
    planned : DataFrame or callable
        What ``df.dp.preview.mean("age", epsilon=[0.1, 1], rows=1000)`` returned, or a callable that returns such a table for ``epsilon=``, such as
        ``functools.partial(df.dp.preview.mean, "age", rows=1000)``.
    epsilon : list of numbers, optional
        For a callable: the prices to ask about, by default from 0.01 to 10.
    columns : column or list of columns, optional
        Which to draw; by default all.
    ax : matplotlib Axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        For what is no table of previews, an empty one, columns that it does not have, or columns of different kinds, which share no axis.
    ExtraMissing
        Without matplotlib.

    Privacy
    -------
    Public parameters and released counts alone: nothing is read or charged.

    Notes
    -----
    A price that still fits the budget is a filled point, one that does not a hollow one.  Both axes are logarithmic; an error of 0 has no place on
    them.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import pandas as pd, pandas_dp
    >>> from pandas_dp.plotting import expected_error
    >>> df = pd.DataFrame({"age": range(100)}).dp.protect(epsilon=1)
    >>> ax = expected_error(df.dp.preview.sum("age", bounds=(0, 110), epsilon=[0.1, 1, 10]))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('price (ε)', 'expected error (±)')
    """
    if callable(planned) and not isinstance(planned, type):
        table = planned(epsilon=as_epsilons(_GRID if epsilon is None else epsilon))
    elif epsilon is not None:
        raise ParameterError.number("epsilon", "left out: the table has its prices; a callable is asked about those of epsilon=")
    else:
        table = planned
    if not isinstance(table, pd.DataFrame):
        raise ParameterTypeError.wrong_kind(
            "planned", "a table of df.dp.preview for a list of epsilon=, or a callable that returns one", type(table)
        )
    if not {"remaining", "fits"} <= set(table.columns) or not len(table) or table.index.name not in _PRICES:
        raise ParameterError.number(
            "planned", "a table of df.dp.preview for a list of epsilon=, such as df.dp.preview.mean('age', epsilon=[0.1, 1])"
        )
    errors = table.drop(columns=["remaining", "fits"]).sort_index()
    errors = errors.iloc[:, list(chosen(errors, columns))]
    numbers = as_numbers(*(errors.iloc[:, place] for place in range(errors.shape[1])), parameter="planned")
    x, fits = errors.index.to_numpy(np.float64), table["fits"].sort_index().to_numpy(bool)
    ax = axes_for(ax)
    for place, (name, error) in enumerate(zip(errors.columns, numbers.arrays, strict=True)):
        shape = MARKERS[place % len(MARKERS)]
        (line,) = ax.plot(x, np.where(error > 0, error, np.nan), shape + "-", markevery=fits.nonzero()[0].tolist(), label=named(name))
        hollow = np.where((error > 0) & ~fits, error, np.nan)
        ax.plot(x, hollow, shape, color=line.get_color(), markerfacecolor=ax.get_facecolor(), label="_")
    ax.set_xscale("log")
    if any((error > 0).any() for error in numbers.arrays):
        ax.set_yscale("log")
    ax.set_xlabel(f"price ({_PRICES[table.index.name]})")
    ax.set_ylabel(f"expected error (±{f' {numbers.unit}' if numbers.unit else ''})")
    _explain(ax, several=errors.shape[1] > 1, fits=fits)
    return ax


_PRICES = {"epsilon": "ε", "rho": "ρ"}


def _explain(ax: Axes, *, several: bool, fits: NDArray[np.bool_]) -> None:
    """Add a legend of columns, where there are several, and of what fits the budget."""
    from matplotlib.lines import Line2D

    colour = ax.xaxis.label.get_color()
    handles: list[Any] = list(ax.get_legend_handles_labels()[0]) if several else []
    if fits.any():
        handles.append(Line2D([], [], color=colour, marker="o", linestyle="", label="fits the budget"))
    if not fits.all():
        handles.append(
            Line2D([], [], color=colour, marker="o", linestyle="", markerfacecolor=ax.get_facecolor(), label="more than is left")
        )
    ax.legend(handles=handles)
