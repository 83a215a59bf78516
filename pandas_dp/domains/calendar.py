"""Public date buckets: the groups of ``groupby(pd.Grouper(key=..., freq=...), keys=(start, end))``.

The buckets come from the frequency and from a range of dates that the analyst gives, and are those that pandas makes of data which reach exactly from start
to end.  This module must never read a value: pandas takes the first and last bucket from the data, and that would tell the earliest and the latest date.

The range is public and inclusive at both ends.  An end given as a date alone, such as ``"2024-12-31"``, is its midnight, as everywhere in pandas_dp.  The
first bucket is the one that contains the start, the last one that which contains the end, and both are whole: a value before the start but inside the first
bucket counts in it, as one after the end but inside the last bucket does.
"""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from pandas_dp.errors import KeysError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from pandas_dp.domains.dtypes import Kind

__all__ = ["date_bins"]

_MOST = 10_000_000
_PER_UNIT = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}  # nanoseconds
_OPTIONS = (
    "closed",
    "label",
    "convention",
    "origin",
    "offset",
    "dropna",
    "sort",
    "axis",
    "kind",
    "how",
    "fill_method",
    "limit",
    "group_keys",
)


def date_bins(column: Hashable, kind: Kind | None, grouper: pd.Grouper, given: Any) -> tuple[pd.DatetimeIndex, NDArray[np.int64]]:
    """Find the buckets of a column of dates between two public dates.

    Parameters
    ----------
    column : Hashable
        The column's name, which becomes that of the labels.
    kind : Kind or None
        What the column holds, by its dtype: the unit and the time zone of its dates.
    grouper : Grouper
        With ``key`` and ``freq``, and nothing else.
    given : pair
        The first and the last date.  Without a time zone they are in the column's.

    Returns
    -------
    labels : DatetimeIndex
        The labels of the buckets, as pandas has them.
    edges : ndarray
        One more than there are labels, ascending, as integers of the column's unit: bucket ``i`` holds ``edges[i] <= value < edges[i + 1]``.

    Raises
    ------
    KeysError
        If the column holds no dates, the grouper has further options, or the range is unusable.
    """
    freq = _frequency(column, kind, grouper)
    if kind is None or kind.name != "datetime":
        raise KeysError.unusable(column, "are buckets of dates, and the column holds none: group by its values or take a histogram")
    if not isinstance(given, (tuple, list)) or len(given) != 2:  # noqa: PLR2004
        raise KeysError.unusable(column, "are buckets of a public range of dates: give its ends, keys=(start, end)")
    start, end = (_stored(column, kind, moment) for moment in given)
    if start > end:
        raise KeysError.unusable(column, "are a range that is reversed: keys=(start, end), with the earlier date first")
    _check_number(column, kind, freq, start, end)
    made: tuple[pd.DatetimeIndex, NDArray[np.int64]] | None = None
    with suppress(Exception):  # pandas raises many kinds, and some quote a date
        made = _buckets(column, kind, freq, start, end)
    if made is None:
        raise KeysError.unusable(
            column,
            f"cannot be made of this range and frequency: an edge of a bucket is beyond what the column's unit ({kind.unit}) holds, or is a time "
            "that a change of clocks skips or repeats. Choose other ends or another freq=",
        )
    if len(made[0]) > _MOST:
        raise KeysError.unusable(column, _TOO_MANY)
    return made


_TOO_MANY = f"make more than {_MOST:,} buckets: give a shorter range or a coarser freq="


def _frequency(column: Hashable, kind: Kind | None, grouper: pd.Grouper) -> Any:
    """Return the frequency of a Grouper that has a key, a frequency, and pandas' defaults."""
    options: Any = grouper
    if options.level is not None:
        raise KeysError.unusable(column, "are those of a column: give the Grouper key= in place of level=")
    if options.key is None:
        raise KeysError.unusable(column, "are those of a column: give the Grouper key=, the column's name")
    freq = options.freq
    if freq is None:
        raise KeysError.unusable(column, "are buckets of dates: give the Grouper freq=, such as freq='MS', or group by the column's name")
    # What the defaults are depends on the frequency and on pandas' version, so ask pandas.
    default: Any = pd.Grouper(key=options.key, freq=freq)
    for name in _OPTIONS:
        if getattr(options, name, None) != getattr(default, name, None):
            raise KeysError.unusable(column, f"are buckets as pandas makes them by default: leave {name}= out of the Grouper")
    if freq.n < 1:
        raise KeysError.unusable(column, "need a freq= that goes forward")
    if _is_span(freq) and kind is not None and freq.nanos % _PER_UNIT.get(kind.unit, 1):
        raise KeysError.unusable(column, f"need a freq= that is a whole number of the column's unit ({kind.unit})")
    return freq


def _is_span(freq: Any) -> bool:
    """Return whether a frequency is a fixed span of time, such as an hour; a day is none, as clocks change."""
    return isinstance(freq, pd.offsets.Tick) and not isinstance(freq, pd.offsets.Day)


def _stored(column: Hashable, kind: Kind, given: Any) -> int:
    """Return an end of the range as the column stores it: since 1970 in its unit, and in UTC if it has a time zone."""
    moment: Any = pd.NaT
    if isinstance(given, (str, dt.date, np.datetime64)):
        with suppress(Exception):  # pandas raises many kinds
            moment = pd.Timestamp(given)
    if moment is pd.NaT:
        raise KeysError.unusable(column, "are a range whose ends must be dates, such as keys=('2024-01-01', '2024-12-31')")
    if kind.tz is None and moment.tzinfo is not None:
        raise KeysError.unusable(column, "are a range whose ends have a time zone, which the column has not: give them without")
    if kind.tz is not None and moment.tzinfo is None:
        naive, moment = moment, None
        with suppress(Exception):  # as above
            moment = naive.tz_localize(kind.tz)
    if moment is None:
        raise KeysError.unusable(
            column, "are a range with an end that has no one place in the column's time zone, as where clocks change: give its offset, too"
        )
    stored: int | None = None
    with suppress(Exception):  # as above
        utc = moment if kind.tz is None else moment.tz_convert("UTC").tz_localize(None)
        stored = int(utc.as_unit(kind.unit).asm8.astype(np.int64))  # rounded down, so in the same bucket
    if stored is None:
        raise KeysError.unusable(column, f"are a range with an end beyond what the column's unit ({kind.unit}) holds: give nearer ends")
    return stored


def _check_number(column: Hashable, kind: Kind, freq: Any, start: int, end: int) -> None:
    """Refuse before pandas lays out an index that is far too long."""
    many = False
    if _is_span(freq):
        many = (end - start) * _PER_UNIT[kind.unit] // freq.nanos > _MOST
    else:
        with suppress(Exception):  # a step past the end of the calendar is past that of the range, too
            first, last = (moment.as_unit("s") for moment in _moments(column, kind, start, end).tz_localize(None))
            many = first + freq * _MOST <= last
    if many:
        raise KeysError.unusable(column, _TOO_MANY)


def _moments(column: Hashable, kind: Kind, start: int, end: int) -> pd.DatetimeIndex:
    """Return the ends of the range as the values of such a column."""
    moments = pd.DatetimeIndex(np.array([start, end], dtype=f"datetime64[{kind.unit}]"), name=column)
    return moments if kind.tz is None else moments.tz_localize("UTC").tz_convert(kind.tz)


def _buckets(column: Hashable, kind: Kind, freq: Any, start: int, end: int) -> tuple[pd.DatetimeIndex, NDArray[np.int64]] | None:
    """Return labels and edges, or None where the two do not fit each other."""
    labels: Any = pd.Series(0, index=_moments(column, kind, start, end)).resample(freq).size().index
    unit, size, default = cast("Any", kind.unit), len(labels) + 1, cast("Any", pd.Grouper(freq=freq))
    last = default.closed == "right"  # weeks, and the ends of months, quarters and years: labelled by their last day
    # Fixed spans are steps of real time; all others are steps on the calendar, which then are looked up in the time zone.
    clock = "UTC" if _is_span(freq) else kind.tz
    walls = labels if kind.tz is None else labels.tz_convert(clock).tz_localize(None)
    points: Any = (
        pd.date_range(end=walls[-1], periods=size, freq=freq, unit=unit)
        if last
        else pd.date_range(start=walls[0], periods=size, freq=freq, unit=unit)
    )
    if kind.tz is not None:  # as pandas does where the clocks skip or repeat a midnight
        earlier = np.ones(size, dtype=np.bool_)
        points = points.tz_localize(clock, ambiguous=earlier, nonexistent="shift_forward").tz_convert(kind.tz)
    edges = points.asi8
    if last:
        # The whole day of the label belongs to its bucket: up to the last unit before the next midnight by the clock.
        days = points.tz_localize(None) + np.timedelta64(1, "D") - np.timedelta64(1, unit)
        edges = days.tz_localize(kind.tz).asi8 + 1
    agreed = np.array_equal(points.asi8[1:] if last else points.asi8[:-1], labels.asi8) and bool((edges[1:] > edges[:-1]).all())
    return (labels, edges) if agreed and edges[0] <= start and end < edges[-1] else None
