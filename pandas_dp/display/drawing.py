"""How answers are drawn: points with bars, and matrices, on matplotlib axes in the colours that the axes have.

What is drawn was released, or is a public parameter: this module must never see a frame, a session or a budget.  Colours and sizes come from
matplotlib's settings, so that every style is followed.  The public functions are in :mod:`pandas_dp.plotting`.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from pandas_dp.errors import ExtraMissing, ParameterError, ParameterTypeError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from numpy.typing import NDArray

    from pandas_dp.accounting import Cost

    Floats = NDArray[np.float64]

__all__ = [
    "MARKERS", "Answer", "Numbers", "as_numbers", "axes_for", "chosen", "dated", "draw_answer", "headed", "loaded", "measured", "name_places", "named", "percent", "short",
]  # fmt: skip

MARKERS = "os^DvPX*"
_LONG = {True: 24, False: 30}  # characters of a tick's label, along the x axis and the y axis
_LEVEL_NAMES = 5  # times the size of letters: the width up to which names stay level where not all have room
_TITLE = 64  # characters of a title's line
_CROWD = 40  # points beyond which they are drawn smaller
_THRONG = 200  # points beyond which their bars are drawn faintly
_FAINT = 0.3
_INNER = 6  # keys of the last level that get a colour each
_APART = 20  # times, from where on answers of different kinds share no linear axis
_TEXTS = 6  # columns of a matrix whose cells have room for a text
_SPREAD = 0.6  # of the room between two places, for several points at one
_NOTE = "repeatable noise: not private"
_FLAT = 0.5  # of the usual height, for one number
_LEVEL = 0.95  # of the ± that an answer prints
_UNITS = (("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0), ("milliseconds", 1e-3))


def loaded(module: str) -> Any:
    """Return a module of matplotlib, which is loaded for those who draw alone; raise ``ExtraMissing`` without it."""
    found: Any = None
    with suppress(ImportError):
        found = import_module(module)
    if found is None:
        raise ExtraMissing.plots()
    return found


def axes_for(ax: object, height: float = 1.0) -> Axes:
    """Return the axes to draw on: those given, or of a new figure of the usual size, or of a part of its height.

    Raises
    ------
    ExtraMissing
        Without matplotlib.
    ParameterTypeError
        For what is no ``Axes``.
    """
    plt = loaded("matplotlib.pyplot")
    if ax is None:
        # The layout makes room for labels; that of a given figure is its owner's.
        wide, high = plt.rcParams["figure.figsize"]
        ours: Axes = plt.figure(figsize=(wide, high * height), layout="constrained").add_subplot()
        return ours
    if not isinstance(ax, plt.Axes):
        raise ParameterTypeError.wrong_kind("ax", "a matplotlib Axes", type(ax))
    given: Axes = ax
    return given


@dataclass(frozen=True, slots=True)
class Numbers:
    """Values of any type as floats to draw.

    Attributes
    ----------
    arrays : tuple of ndarray
        One for each that was given.
    unit : str
        Of durations; else empty.
    dates : bool
        Whether they are matplotlib's days since 1970.
    """

    arrays: tuple[Floats, ...]
    unit: str = ""
    dates: bool = False


def as_numbers(*given: Any, parameter: str = "columns") -> Numbers:
    """Return numbers, timestamps or durations, all in one unit, as arrays of floats; missing ones as NaN.

    Raises
    ------
    ParameterError
        Where these are mixed, or for anything else.
    """
    arrays = [pd.Series(one).astype(object).tolist() for one in given]
    kinds = {_kind(value) for array in arrays for value in array} - {""}
    if len(kinds) > 1 or "other" in kinds:
        raise ParameterError.number(parameter, "of numbers, of dates or of durations alone: a picture has one axis for all")
    kind = kinds.pop() if kinds else "number"
    if kind == "date":
        return Numbers(tuple(_floats(array, _days) for array in arrays), dates=True)
    if kind == "duration":
        seconds = [_floats(array, lambda value: pd.Timedelta(value).total_seconds()) for array in arrays]
        largest = max(float(np.nanmax(np.abs(one), initial=0.0)) for one in seconds)
        unit, size = next((one for one in _UNITS if largest >= 2 * one[1]), _UNITS[-1])
        return Numbers(tuple(one / size for one in seconds), unit)
    return Numbers(tuple(_floats(array, float) for array in arrays))


def _floats(values: list[Any], convert: Any) -> Floats:
    return np.array([convert(value) if _kind(value) else math.nan for value in values], dtype=np.float64)


def _days(value: Any) -> float:
    """Return a timestamp as matplotlib counts time, by the clock of its time zone."""
    days: float = loaded("matplotlib.dates").date2num(pd.Timestamp(value).tz_localize(None).to_datetime64())
    return days


def _kind(value: Any) -> str:
    """Return what can share an axis; nothing for missing values."""
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, np.datetime64) or hasattr(value, "utctimetuple"):
        return "date"
    if isinstance(value, np.timedelta64) or hasattr(value, "total_seconds"):
        return "duration"
    return "number" if hasattr(value, "__float__") else "other"


def percent(level: float) -> str:
    """Return a level as it is written."""
    return f"{100 * level:g} %"


def measured(text: str, unit: str) -> str:
    """Return an axis' label with its unit."""
    return f"{text} ({unit})" if unit else text


def short(query: str) -> str:
    """Return a query's text without bounds, at a length that there is room for."""
    text = re.sub(r" in \[[^\[\]]*\]", "", query)
    return text if len(text) <= _TITLE else text[: _TITLE - 1] + "…"


def headed(ax: Axes, title: str, *, private: bool) -> None:
    """Set the title; under it, that answers are not private where their noise can be repeated."""
    size = "medium" if len(title) <= _TITLE * 2 // 3 else "small"
    ax.set_title(title if private else f"{title}\n{_NOTE}", fontsize=size)


def dated(axis: Axis) -> None:
    """Let an axis show its numbers as dates."""
    dates = loaded("matplotlib.dates")
    axis.axis_date()
    locator = dates.AutoDateLocator()
    axis.set_major_locator(locator)
    axis.set_major_formatter(dates.ConciseDateFormatter(locator))


def name_places(axis: Axis, labels: Sequence[object]) -> None:
    """Name the places 0, 1, 2, ... of an axis: slanted or only every second, third, ... where there is no room for all."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    ax, count = axis.axes, max(1, len(labels))
    across = axis is ax.xaxis
    texts = [text if len(text) <= _LONG[across] else text[: _LONG[across] - 1] + "…" for text in map(str, labels)]
    size = axis.get_tick_params().get("labelsize", rcParams["xtick.labelsize" if across else "ytick.labelsize"])
    size = FontProperties(size=size).get_size_in_points()
    box = ax.get_window_extent()
    room = (box.width if across else box.height) * 72 / ax.figure.dpi / count  # in points, as sizes of letters are
    wide = (0.6 * max(map(len, texts), default=1) + 1) * size if across else 1.2 * size
    step, slanted_step = _round_up(wide / room), _round_up(1.4 * size / room)
    # Numbers and other short names are read more easily level, if some are left out.
    slanted = across and step > 1 and (slanted_step == 1 or wide > _LEVEL_NAMES * size)
    step = slanted_step if slanted else step
    axis.set_ticks(range(0, count, step) if texts else [], texts[::step])
    if slanted:
        for label in axis.get_ticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
    (ax.set_xlim if across else ax.set_ylim)(-0.6, count - 0.4)


def _round_up(number: float) -> int:
    """Return the least of 1, 2, 5, 10, 20, 50, ... that is not less."""
    ten = 1
    while 10 * ten <= number:
        ten *= 10
    return next(step * ten for step in (1, 2, 5, 10) if step * ten >= number)


def chosen(value: Any, columns: Any) -> tuple[Any, ...]:
    """Return which columns of an answer to draw: all, or those asked for.

    Raises
    ------
    ParameterError
        For columns that the answer does not have, or none.
    """
    there = list(value.columns if isinstance(value, pd.DataFrame) else value.index)
    if columns is None:
        return tuple(range(len(there)))
    wanted = [columns] if isinstance(columns, (str, tuple)) or not hasattr(columns, "__iter__") else list(columns)
    found = [[place for place, name in enumerate(there) if one in (name, _first(name))] for one in wanted]
    if not found or not all(found):
        raise ParameterError.choice("columns", dict.fromkeys(named(name) for name in there))
    return tuple(dict.fromkeys(chain.from_iterable(found)))


def _first(name: Any) -> Any:
    return name[0] if isinstance(name, tuple) else name


def named(name: Hashable) -> str:
    """Return how a column is called in a legend."""
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


class Answer(Protocol):
    """What is drawn of an answer: a release."""

    @property
    def query(self) -> str:
        """Its text."""

    @property
    def cost(self) -> Cost:
        """What was charged."""

    @property
    def columns(self) -> tuple[Hashable, ...] | None:
        """The columns; None for a scalar, or one column by group."""

    @property
    def square(self) -> bool:
        """Whether it is a matrix."""

    @property
    def private(self) -> bool:
        """Whether its noise is."""

    @property
    def value(self) -> Any:
        """The answer."""

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return its interval."""

    def half_width(self, level: float) -> Any:
        """Return its ±."""


def draw_answer(release: Answer, ax: object, level: float, columns: Any = None) -> Axes:
    """Draw an answer of any shape; the public ways to it are ``Release.plot`` and ``pandas_dp.plotting.grouped``."""
    low, high = release.interval(level)
    value = release.value
    if release.columns is None and columns is not None:
        raise ParameterError.number("columns", "left out: this answer has one column")
    if release.square:
        picked = list(chosen(value, columns))
        axes = axes_for(ax)
        _draw_matrix(axes, value.iloc[picked, picked], release.half_width(level).iloc[picked, picked], level)
    elif not isinstance(value, (pd.Series, pd.DataFrame)):
        numbers = as_numbers([value], [low], [high])
        axes = axes_for(ax, height=_FLAT)
        # A number prints its ± at 95 % by itself; a date does not.
        text = f"{value} ± {release.half_width(level)}" if numbers.dates or numbers.unit else repr(value) if level == _LEVEL else ""
        _draw_one(axes, numbers, level, text)
    else:
        if release.columns is not None:
            picked = list(chosen(value, columns))
            value, low, high = (one.iloc[:, picked] if isinstance(one, pd.DataFrame) else one.iloc[picked] for one in (value, low, high))
        axes = _draw_points(ax, value, low, high, level, several=release.columns is not None)
    headed(axes, f"{short(release.query)}, {release.cost.named!r}", private=release.private)
    return axes


def _draw_one(ax: Axes, numbers: Numbers, level: float, text: str) -> None:
    """Draw one number: a point on a lying bar."""
    value, low, high = (float(one[0]) for one in numbers.arrays)
    ax.errorbar([value], [0.0], xerr=[[max(value - low, 0.0)], [max(high - value, 0.0)]], fmt="o", capsize=6)
    if text:
        ax.annotate(text, (value, 0.0), xytext=(0, 14), textcoords="offset points", ha="center")
    ax.set_ylim(-1, 1)
    ax.set_yticks([])
    ax.margins(x=0.25)
    if numbers.dates:
        dated(ax.xaxis)
    ax.set_xlabel(measured(f"answer with its {percent(level)} interval", numbers.unit))


def _draw_points(ax: object, value: Any, low: Any, high: Any, level: float, *, several: bool) -> Axes:
    """Draw a Series as points with bars, or the columns of a DataFrame side by side."""
    value, low, high = (_unfolded(one) for one in (value, low, high))
    columns = (
        [[one] for one in (value, low, high)]
        if isinstance(value, pd.Series)
        else [[one.iloc[:, k] for k in range(one.shape[1])] for one in (value, low, high)]
    )
    names = [""] if isinstance(value, pd.Series) else [named(name) for name in value.columns]
    numbers = as_numbers(*columns[0], *columns[1], *columns[2])
    axes = axes_for(ax)
    count, index = len(names), value.index
    at, pace = _places(axes, index, several=several and isinstance(value, pd.Series))
    crowded = count * len(index) > _CROWD
    for place, name in enumerate(names):
        points, lower, upper = numbers.arrays[place::count]
        offset = (place - (count - 1) / 2) * _SPREAD / count * pace
        # The ends of an interval are on either side of the answer: what is cut off here is rounding.
        drawn = axes.errorbar(
            at + offset, points, yerr=np.fmax([points - lower, upper - points], 0.0), fmt=MARKERS[place % len(MARKERS)],
            markersize=3 if crowded else 5, capsize=1.5 if crowded else 3, linewidth=1 if crowded else None, label=name,
        )  # fmt: skip
        if count * len(index) > _THRONG:
            for bar in chain(drawn[1], drawn[2]):
                bar.set_alpha(_FAINT)  # the points stay visible
    if count > 1:
        # Beside the axes, where no bar is; in a figure that was given there may be no room.
        beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if ax is None else {}
        axes.legend(title=value.columns.name if isinstance(value.columns.name, str) else None, **beside)
    if numbers.dates:
        dated(axes.yaxis)
    elif several:
        _spread_out(axes, np.concatenate(numbers.arrays))
    axes.set_ylabel(measured(f"answer with its {percent(level)} interval", numbers.unit))
    return axes


def _unfolded(value: Any) -> Any:
    """Return an answer by several keys with its last key across, where that has few values."""
    if not isinstance(value, pd.Series) or not isinstance(value.index, pd.MultiIndex):
        return value
    across = value.index.get_level_values(-1).unique()
    if not 1 < len(across) <= _INNER:
        return value
    down = value.index.droplevel(-1).unique()
    table: pd.DataFrame = value.astype(object).unstack().reindex(index=down, columns=across)  # noqa: PD010  (of one level, by its place)
    return table


def _places(ax: Axes, index: pd.Index[Any], *, several: bool) -> tuple[Floats, float]:
    """Name the places of an index on the x axis; return them, and how far apart they are."""
    names = [str(name) for name in index.names if isinstance(name, str)]
    ax.set_xlabel(", ".join(names))
    if isinstance(index, pd.DatetimeIndex) and not several:
        dated(ax.xaxis)
        at = as_numbers(index).arrays[0]
        gaps = np.diff(np.sort(at))
        return at, float(gaps.min()) if len(gaps) else 1.0
    name_places(ax.xaxis, [", ".join(map(str, label)) if isinstance(label, tuple) else label for label in index])
    return np.arange(len(index), dtype=np.float64), 1.0


def _spread_out(ax: Axes, values: Floats) -> None:
    """Take a logarithmic axis where answers of different kinds would be flat on a linear one."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    if len(sizes) == 0 or sizes.max() <= _APART * sizes.min():
        return
    if np.nanmin(values) > 0:
        ax.set_yscale("log")
    else:
        ax.set_yscale("symlog", linthresh=10.0 ** math.floor(math.log10(sizes.min())))


def _draw_matrix(ax: Axes, values: pd.DataFrame, half: pd.DataFrame, level: float) -> None:
    """Draw a matrix as a heat map around 0, with its numbers where there is room."""
    from matplotlib import colormaps, rcParams
    from matplotlib.colors import Normalize, SymLogNorm, to_rgb

    table, margins = values.to_numpy(np.float64), half.to_numpy(np.float64)
    sizes = np.abs(table[np.isfinite(table) & (table != 0)])
    most = float(sizes.max(initial=0.0)) or 1.0
    apart = len(sizes) > 0 and most > _APART * sizes.min()
    # Correlations are told from 1; covariances of columns of any size by their order of magnitude.
    norm = (
        SymLogNorm(linthresh=float(sizes.min()), vmin=-most, vmax=most)
        if apart and most > 1
        else Normalize(-max(most, 1.0), max(most, 1.0))
    )
    image = ax.imshow(table, cmap="RdBu_r", norm=norm, aspect="auto")
    bar = ax.figure.colorbar(image, ax=ax)
    if isinstance(norm, SymLogNorm):
        # Few ticks, which do not touch each other.
        tens = math.floor(math.log10(most)), math.ceil(math.log10(norm.linthresh))
        ends = [10.0 ** tens[0], 10.0 ** ((tens[0] + tens[1]) // 2)] if tens[0] - tens[1] > 1 else [10.0 ** tens[0]]
        bar.minorticks_off()
        bar.set_ticks([*(-end for end in ends), 0.0, *ends])
    names = [named(name) for name in values.columns]
    for axis in (ax.xaxis, ax.yaxis):
        name_places(axis, names)
        (ax.set_xlim if axis is ax.xaxis else ax.set_ylim)(*((-0.5, len(names) - 0.5) if axis is ax.xaxis else (len(names) - 0.5, -0.5)))
    if len(names) > _TEXTS:
        return
    ax.set_xlabel(f"answer ± at {percent(level)}")
    pens = [rcParams["text.color"], rcParams["axes.facecolor"]]
    for row, column in np.ndindex(table.shape):
        ground = _light(colormaps["RdBu_r"](norm(table[row, column]))[:3])
        pen = max(pens, key=lambda one: abs(_light(to_rgb(one)) - ground))
        text = f"{table[row, column]:.3g}\n±{margins[row, column]:.2g}"
        ax.text(column, row, text, ha="center", va="center", color=pen, fontsize="small")


def _light(colour: Sequence[float]) -> float:
    """Return how light a colour is to the eye, from 0 to 1: the luma of ITU-R BT.601-7, section 2.5.1."""
    return float(np.dot(colour, (0.299, 0.587, 0.114)))
