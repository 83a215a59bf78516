"""Pictures of answers: by group with their intervals, and, of public data alone, beside the exact numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pandas_dp.display.drawing import as_numbers, axes_for, dated, draw_answer, headed, measured, name_places, percent, short
from pandas_dp.errors import ParameterError, ParameterTypeError, boundary
from pandas_dp.results import Release, check_level
from pandas_dp.sessions import registry

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["grouped", "released_series"]

_FEW = 60  # points that get a marker each


def grouped(release: Release, *, level: float = 0.95, columns: object = None, ax: Axes | None = None) -> Axes:
    """Draw the answers of a grouped query as points with their intervals.

    Parameters
    ----------
    release : Release
        Of a grouped query, such as ``df.dp.session.releases[-1]``.
    level : float
        Of the intervals.
    columns : column or list of columns, optional
        Which to draw; by default all, side by side in colours.
    ax : matplotlib Axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        For an answer that is not grouped, columns that it does not have, or columns of different kinds, which share no axis.
    ExtraMissing
        Without matplotlib.

    Privacy
    -------
    Post-processing of what was released: nothing is read or charged.

    Notes
    -----
    The last of several keys is shown in colours if it has at most six values.  Groups by calendar are on an axis of dates.  Where there is no room for the names of all groups, every
    second, third, ... is named.  Several columns of very different sizes are drawn on a logarithmic axis.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import pandas as pd, pandas_dp
    >>> from pandas_dp.plotting import grouped
    >>> df = pd.DataFrame({"ward": ["north", "south"] * 500, "age": range(1000)}).dp.protect(epsilon=1)
    >>> _ = df.dp.groupby("ward", keys=["north", "south"]).size(epsilon=0.5)
    >>> ax = grouped(df.dp.session.releases[-1])
    >>> ax.get_xlabel(), [label.get_text() for label in ax.get_xticklabels()]
    ('ward', ['north', 'south'])
    """
    _check_release(release, "release")
    check_level(level)
    if release.index is None:
        raise ParameterError.number("release", "of a grouped query, such as df.dp.groupby(...).mean(...); release.plot() draws any answer")
    return draw_answer(release, ax, level, columns)


@boundary
def released_series(
    original: pd.Series[Any],
    released: Release | pd.Series[Any],
    *,
    interval: tuple[pd.Series[Any], pd.Series[Any]] | None = None,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw exact numbers beside the released ones, with the interval as a band: for teaching, on public or made-up data.

    The picture shows ``original`` as it is.  **Never draw the data of people in it**: whoever sees the picture sees their exact numbers.

    Parameters
    ----------
    original : Series
        The exact numbers, of data that is public or made up, with the labels of the released ones.
    released : Release or Series
        The answers: a release of one column by group, or its numbers.
    interval : tuple of (lower, upper) Series
        The band of a released Series; a Release has its own.
    level : float
        Of the interval of a Release.
    ax : matplotlib Axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        If ``original`` belongs to a protected frame, if it shares no label with the answers, and for an interval that is missing or too much.
    ExtraMissing
        Without matplotlib.

    Privacy
    -------
    None for ``original``, which is shown exactly, whatever the neighbouring relation.  A protected frame is known by the handle that it carries.  An aggregate of it may have lost the handle, and is then recognised by nobody but you.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import pandas as pd
    >>> from pandas_dp.plotting import released_series
    >>> made_up = pd.Series([10.0, 12.0, 11.0], index=[2022, 2023, 2024])
    >>> noisy = made_up + [0.5, -1.0, 0.0]
    >>> ax = released_series(made_up, noisy, interval=(noisy - 2, noisy + 2))
    >>> [line.get_label() for line in ax.get_lines()]
    ['original', 'released']
    """
    if not isinstance(original, pd.Series):
        raise ParameterTypeError.wrong_kind("original", "a pandas Series", type(original))
    if registry.find(original) is not None:
        raise ParameterError.raw_data("original")
    if isinstance(released, Release):
        value, low, high = _of_release(released, interval, level)
        label, title, private = f"{percent(level)} interval", f"{short(released.query)}, {released.cost.named!r}", released.private
    else:
        value, low, high = _of_series(released, interval)
        label, title, private = "interval", "", True
    if not (original.index.is_unique and value.index.is_unique and original.index.isin(value.index).any()):
        raise ParameterError.number("original", "a Series with one value for each label of the released answers")
    days = isinstance(value.index, pd.DatetimeIndex)
    value = value.sort_index() if days else value
    numbers = as_numbers(original.reindex(value.index), value, low.reindex(value.index), high.reindex(value.index), parameter="original")
    ax = axes_for(ax)
    plain = pd.api.types.is_any_real_numeric_dtype(value.index) and value.index.is_monotonic_increasing
    x = as_numbers(value.index).arrays[0] if days or plain else np.arange(len(value), dtype=np.float64)
    exact, noisy, lower, upper = numbers.arrays
    ax.plot(x, exact, "--", label="original", zorder=2.2)
    (line,) = ax.plot(x, noisy, "o-" if len(x) <= _FEW else "-", markersize=4, label="released")
    ax.fill_between(x, lower, upper, color=line.get_color(), alpha=0.25, linewidth=0, label=label)
    if days:
        dated(ax.xaxis)
    elif not plain:
        name_places(ax.xaxis, [", ".join(map(str, one)) if isinstance(one, tuple) else one for one in value.index])
    if numbers.dates:
        dated(ax.yaxis)
    ax.set_xlabel(", ".join(str(name) for name in value.index.names if name is not None))
    ax.set_ylabel(measured("value" if value.name is None else str(value.name), numbers.unit))
    headed(ax, title, private=private)
    ax.legend()
    return ax


def _check_release(release: object, parameter: str) -> None:
    if not isinstance(release, Release):
        raise ParameterTypeError.wrong_kind(parameter, "a Release, such as df.dp.session.releases[-1]", type(release))


def _of_release(released: Release, interval: object, level: float) -> tuple[pd.Series[Any], pd.Series[Any], pd.Series[Any]]:
    check_level(level)
    if interval is not None:
        raise ParameterError.number("interval", "left out: a Release has its own, at level=")
    value, ends = released.value, released.interval(level)
    if released.square or not isinstance(value, (pd.Series, pd.DataFrame)) or (isinstance(value, pd.DataFrame) and value.shape[1] != 1):
        raise ParameterError.number("released", "a Release with one column of answers, or a Series and its interval=")
    low, high = ends
    return (value, low, high) if isinstance(value, pd.Series) else (value.iloc[:, 0], low.iloc[:, 0], high.iloc[:, 0])


def _of_series(released: object, interval: Any) -> tuple[pd.Series[Any], pd.Series[Any], pd.Series[Any]]:
    if not isinstance(released, pd.Series):
        raise ParameterTypeError.wrong_kind("released", "a Release or a Series", type(released))
    if registry.find(released) is not None:
        raise ParameterError.raw_data("released")
    if not isinstance(interval, (tuple, list)) or len(interval) != 2 or not all(isinstance(end, pd.Series) for end in interval):  # noqa: PLR2004
        raise ParameterError.number(
            "interval", "a pair (lower, upper) of Series: a Series of answers does not know how far off they may be"
        )
    if any(registry.find(end) is not None for end in interval):
        raise ParameterError.raw_data("interval")
    if not all(end.index.is_unique for end in interval):
        raise ParameterError.number("interval", "a pair of Series with one value for each label of the released answers")
    return released, interval[0], interval[1]
