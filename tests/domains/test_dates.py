"""Public date buckets: what pandas makes of data from start to end, found without looking at any."""

from __future__ import annotations

import copy
import datetime as dt
import itertools

import numpy as np
import pandas as pd
import pytest

from pandas_dp.domains.calendar import date_bins
from pandas_dp.domains.dtypes import Kind, kind_of
from pandas_dp.errors import KeysError

UNITS = ["s", "ms", "us", "ns"]
ZONES = [None, "Europe/Berlin", "America/New_York"]
SHORT = ("2024-03-30 05:20", "2024-03-31 18:00")  # over a change of clocks in Berlin
MEDIUM = ("2023-10-27 13:07:11", "2024-04-02")  # over changes in both zones, and a leap day
LONG = ("1967-12-31", "1972-02-29 12:00")  # over two leap days, and the place where the integers change their sign
SUB_MONTH = ["15min", "h", "6h", "7h", "36h", "D", "7D", "B", "3B", "bh", "W", "W-MON", "2W", "SMS", "SME", "WOM-2TUE"]
MONTHS = ["MS", "ME", "2MS", "3ME", "BMS", "BME", "QS", "QE", "QS-FEB", "BQE", "YS", "YE", "YE-JUN", "2YE", "BYE"]
FREQS = {"min": [SHORT]} | {freq: [SHORT, MEDIUM] for freq in SUB_MONTH} | {freq: [MEDIUM, LONG] for freq in MONTHS}


def kind_for(unit="ns", zone=None):
    return kind_of(np.dtype(f"datetime64[{unit}]") if zone is None else pd.DatetimeTZDtype(unit, zone))


def grouper(freq="MS", **options):
    return pd.Grouper(key="x", freq=freq, **options)


def bins(freq, given, unit="ns", zone=None):
    return date_bins("x", kind_for(unit, zone), grouper(freq), given)


def stored(moment, unit, zone=None):
    moment = pd.Timestamp(moment, tz=zone) if zone else pd.Timestamp(moment)
    naive = moment.tz_convert("UTC").tz_localize(None) if zone else moment
    return int(naive.as_unit(unit).asm8.astype(np.int64))


def column(values, unit, zone):
    series = pd.Series(np.asarray(values, dtype=np.int64).view(f"datetime64[{unit}]"))
    return series if zone is None else series.dt.tz_localize("UTC").dt.tz_convert(zone)


def check(freq, given, unit, zone):
    """Compare labels and counts with those of pandas, on data that reach exactly over the range and lie around every edge."""
    labels, edges = bins(freq, given, unit, zone)
    start, end = (stored(moment, unit, zone) for moment in given)
    values = np.concatenate([[start, end], np.linspace(start, end, 500).astype(np.int64), edges - 1, edges, edges + 1])
    values = np.random.default_rng(1).permutation(values[(values >= start) & (values <= end)])
    expected = pd.DataFrame({"x": column(values, unit, zone)}).groupby(grouper(freq)).size()
    pd.testing.assert_index_equal(labels, expected.index)
    assert edges.dtype == np.int64
    assert len(edges) == len(labels) + 1
    assert (np.diff(edges) > 0).all()
    places = np.searchsorted(edges, values, side="right") - 1
    assert np.bincount(places, minlength=len(labels)).tolist() == expected.tolist()


@pytest.mark.parametrize("freq", FREQS)
def test_buckets_are_those_of_pandas(freq):
    """Labels and membership equal pandas' groupby with the same Grouper, on every unit, naive and in time zones, one unit around every edge."""
    for given, unit, zone in itertools.product(FREQS[freq], UNITS, ZONES):
        check(freq, given, unit, zone)


@pytest.mark.parametrize(
    "offset", [pd.offsets.CustomBusinessDay(holidays=["2024-01-01"]), pd.offsets.FY5253(weekday=3)], ids=["holidays", "fiscal"]
)
def test_offsets_that_no_text_names(offset):
    """A frequency may be any offset that pandas groups by."""
    for given, zone in itertools.product([MEDIUM, LONG], ZONES):
        check(offset, given, "us", zone)


@pytest.mark.parametrize(
    ("zone", "given"), [("America/Havana", ("2024-02-01", "2024-12-31")), ("America/Sao_Paulo", ("2018-10-20", "2019-03-10"))]
)
def test_midnights_that_clocks_skip_or_repeat(zone, given):
    """Where a day has no midnight, or two, its bucket begins where pandas has it begin."""
    for freq, unit in itertools.product(["h", "6h", "D", "B", "MS", "ME", "QS"], ["s", "ns"]):
        check(freq, given, unit, zone)


def test_days_are_days_of_the_calendar():
    """In a time zone the day on which the clocks change has 23 or 25 hours; of a column without one, all have 24."""
    for zone, hours in ((None, [24, 24]), ("Europe/Berlin", [23, 25]), ("America/New_York", [24, 24])):
        for day, length in zip(["2024-03-31", "2024-10-27"], hours, strict=True):
            _, edges = bins("D", (day, day), "s", zone)
            assert np.diff(edges).tolist() == [length * 3600]


def test_leap_years():
    """February has 29 days in 2024 and 2000, 28 in 2023 and 1900, labelled by its first or last day."""
    for year, days in ((2024, 29), (2000, 29), (2023, 28), (1900, 28)):
        for freq, day in (("MS", 1), ("ME", days)):
            labels, edges = bins(freq, (f"{year}-02-10", f"{year}-02-20"), "s")
            assert labels.tolist() == [pd.Timestamp(year, 2, day)]
            assert edges.tolist() == [stored(f"{year}-02-01", "s"), stored(f"{year}-03-01", "s")]


@pytest.mark.parametrize("freq", ["MS", "ME"])
def test_the_year_of_the_guide(freq):
    """A year by months is twelve buckets from its first instant to its last: one unit further on either side falls into none."""
    for unit in UNITS:
        labels, edges = bins(freq, ("2024-01-01", "2024-12-31"), unit)
        assert len(labels) == 12
        assert labels.name == "x"
        assert edges[[0, -1]].tolist() == [stored("2024-01-01", unit), stored("2025-01-01", unit)]


def test_first_and_last_bucket_are_whole():
    """The first bucket contains the start and the last one the end, and both are whole, so values out of the range may count in them."""
    labels, edges = bins("MS", ("2024-01-15", "2024-02-10"))
    assert labels.tolist() == [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-02-01")]
    assert edges[[0, -1]].tolist() == [stored("2024-01-01", "ns"), stored("2024-03-01", "ns")]
    labels, _ = bins("W", ("2024-01-07", "2024-01-08"))  # a Sunday and a Monday
    assert labels.tolist() == [pd.Timestamp("2024-01-07"), pd.Timestamp("2024-01-14")]
    labels, _ = bins("B", ("2024-01-06", "2024-01-07"))  # a weekend counts with the Friday before it
    assert labels.tolist() == [pd.Timestamp("2024-01-05")]


def test_a_date_is_its_midnight():
    """An end without a time of day is its midnight, so the last bucket of an hourly range is the first hour of that day."""
    labels, _ = bins("h", ("2024-01-01", "2024-01-02"))
    assert len(labels) == 25
    assert labels[-1] == pd.Timestamp("2024-01-02")
    labels, _ = bins("h", ("2024-01-01", "2024-01-02 23:59:59.999999999"), "s")
    assert len(labels) == 48


@pytest.mark.parametrize("given", [(dt.date(2024, 1, 1), dt.datetime(2024, 3, 5)), [np.datetime64("2024-01"), pd.Timestamp("2024-03-31")]])  # noqa: DTZ001
def test_ends_of_every_kind(given):
    """Ends may be texts, dates, Timestamps or datetime64, as a tuple or a list."""
    labels, edges = bins("MS", given)
    expected = bins("MS", ("2024-01-01", "2024-03-01"))
    pd.testing.assert_index_equal(labels, expected[0])
    assert edges.tolist() == expected[1].tolist()


def test_ends_in_time_zones():
    """For a column with a time zone, ends without one are in the column's, and ends with one are the instants they are."""
    _, edges = bins("D", ("2024-06-01", "2024-06-02"), "s", "Europe/Berlin")
    assert edges[0] == stored("2024-05-31 22:00", "s")
    _, same = bins("D", ("2024-05-31T22:00Z", pd.Timestamp("2024-06-01 18:00", tz="America/New_York")), "s", "Europe/Berlin")
    assert edges.tolist() == same.tolist()
    _, twice = bins("h", ("2024-10-27 02:30+02:00", "2024-10-27 02:30+01:00"), "s", "Europe/Berlin")
    assert np.diff(twice).tolist() == [3600, 3600]


def test_columns_of_arrow():
    """A column of Arrow's timestamps has the same buckets as one of NumPy's."""
    import pyarrow as pa

    for zone in (None, "Europe/Berlin"):
        labels, edges = date_bins("x", kind_of(pd.ArrowDtype(pa.timestamp("us", tz=zone))), grouper("W"), MEDIUM)
        expected = bins("W", MEDIUM, "us", zone)
        pd.testing.assert_index_equal(labels, expected[0])
        assert edges.tolist() == expected[1].tolist()


def test_any_name_of_a_column():
    """The labels are named by the column, whatever hashable that is."""
    for name in ("x", ("a", "b"), 7, None):
        labels, _ = date_bins(name, kind_for(), pd.Grouper(key="x", freq="MS"), ("2024-01-01", "2024-02-01"))
        assert labels.name == name


def refused(match, freq="MS", given=("2024-01-01", "2024-12-31"), unit="ns", zone=None):
    with pytest.raises(KeysError, match=match) as caught:
        date_bins("x", kind_for(unit, zone), freq if isinstance(freq, pd.Grouper) else grouper(freq), given)
    assert str(caught.value).startswith("keys for 'x' ")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("closed", "right"),
        ("label", "right"),
        ("convention", "start"),
        ("origin", "epoch"),
        ("origin", "end_day"),
        ("origin", pd.Timestamp("2024-01-01")),
        ("offset", "1h"),
        ("dropna", False),
        ("group_keys", True),
    ],
)
def test_other_options_are_refused(name, value):
    """A Grouper with an option other than pandas' default is refused, and the error says which to leave out."""
    refused(r"leave \w+= out of the Grouper", grouper("D", **{name: value}))


def test_defaults_that_are_spelled_out():
    """An option given as pandas' default for that frequency is the same as none."""
    for freq, side in (("MS", "left"), ("ME", "right")):
        labels, _ = date_bins("x", kind_for(), grouper(freq, closed=side, label=side, sort=True), ("2024-01-01", "2024-12-31"))
        pd.testing.assert_index_equal(labels, bins(freq, ("2024-01-01", "2024-12-31"))[0])


def test_axis_is_refused():
    """A Grouper of columns is refused, by us where pandas (before 3) still makes one."""
    if pd.__version__.startswith("2."):
        refused(r"leave axis= out of the Grouper", grouper("D", axis=1))
    else:
        with pytest.raises(TypeError, match="axis"):
            grouper("D", axis=1)


def test_groupers_without_key_or_frequency():
    """A Grouper needs key= and freq=, and takes no level=."""
    refused(r"give the Grouper key=, the column's name", pd.Grouper(freq="MS"))
    refused(r"give the Grouper freq=, such as freq='MS'", pd.Grouper(key="x"))
    refused(r"key= in place of level=", pd.Grouper(level=0, freq="MS"))
    refused(r"key= in place of level=", pd.Grouper(key="x", level=0, freq="MS"))


@pytest.mark.parametrize("given", [None, "2024-01-01", "ab", 5, (), ("2024-01-01",), ("2024-01-01",) * 3, {"2024-01-01", "2024-12-31"}])
def test_ranges_that_are_no_pair(given):
    """A range that is no pair is refused, and the error says how to give one."""
    refused(r"give its ends, keys=\(start, end\)", given=given)


def test_a_list_of_labels_is_no_range():
    """Dates in an Index or an array are no range, even if they are two."""
    refused(r"keys=\(start, end\)", given=pd.to_datetime(["2024-01-01", "2024-12-31"]))


@pytest.mark.parametrize(
    "bad", [None, pd.NaT, np.datetime64("NaT"), "NaT", "", "soon", 2024, 20240101.0, True, pd.Timedelta(1), ["2024-01-01"], b"2024"]
)
def test_ends_that_are_no_dates(bad):
    """An end that is no date, or missing, is refused on either side."""
    refused(r"whose ends must be dates", given=(bad, "2024-12-31"))
    refused(r"whose ends must be dates", given=("2024-01-01", bad))


def test_ends_that_do_not_fit_the_column():
    """Reversed ends, ends with a time zone for a column without, and local times that do not exist once are refused."""
    refused(r"reversed", given=("2024-01-02", "2024-01-01"))
    refused(r"have a time zone, which the column has not", given=("2024-01-01", "2024-01-02T00:00Z"))
    refused(r"no one place in the column's time zone.*give its offset", given=("2024-03-31 02:30", "2024-05-01"), zone="Europe/Berlin")
    refused(r"no one place in the column's time zone.*give its offset", given=("2024-01-01", "2024-10-27 02:30"), zone="Europe/Berlin")


def test_the_unit_is_not_overflowed():
    """Ends, and edges of buckets, have to be dates that the column's unit holds."""
    far = ("2024-01-01", "2300-01-01")
    refused(r"an end beyond what the column's unit \(ns\) holds", given=far)
    labels, _ = bins("YS", far, "us")
    assert len(labels) == 277
    for zone in (None, "Europe/Berlin"):
        for freq in ("YS", "YE", "D", "W", "36h"):
            refused(r"an edge of a bucket is beyond", freq, ("2262-04-01", "2262-04-11 20:00"), zone=zone)
        for freq in ("YS", "YE", "W", "QE"):
            refused(r"an edge of a bucket is beyond", freq, ("1677-09-22", "1677-12-31"), zone=zone)


def test_too_many_buckets(monkeypatch):
    """More than ten million buckets are refused before pandas makes any."""
    monkeypatch.setattr(pd, "date_range", None)
    monkeypatch.setattr(pd.Series, "resample", None)
    message = r"more than 10,000,000 buckets: give a shorter range or a coarser freq="
    for zone in (None, "Europe/Berlin"):
        for freq in ("min", "7s", "ns"):
            refused(message, freq, ("1990-01-01", "2024-01-01"), zone=zone)
    refused(message, "bh", ("1500-01-01", "9000-01-01"), "s")
    refused(message, "D", (np.datetime64("-30000-01-01"), np.datetime64("30000-01-01")), "s")


def test_the_limit_is_exact(monkeypatch):
    """As many buckets as the limit are made, and one more is refused."""
    monkeypatch.setattr("pandas_dp.domains.calendar._MOST", 48)
    for freq, end, further in (
        ("h", "2024-01-02 23:59", "2024-01-03"),
        ("D", "2024-02-17", "2024-02-18"),
        ("MS", "2027-12-31", "2028-01-01"),
    ):
        for zone in (None, "Europe/Berlin"):
            assert len(bins(freq, ("2024-01-01", end), "ns", zone)[0]) == 48
            refused(r"buckets: give a shorter range", freq, ("2024-01-01", further), zone=zone)


@pytest.mark.parametrize(("freq", "unit"), [("ms", "s"), ("1500ms", "s"), ("us", "ms"), ("ns", "us")])
def test_frequencies_finer_than_the_unit(freq, unit):
    """A frequency has to be a whole number of the column's unit."""
    refused(rf"whole number of the column's unit \({unit}\)", freq, ("2024-01-01", "2024-01-01 00:00:05"), unit)


@pytest.mark.parametrize(
    "freq", ["-1D", "-2h", "-1MS", pd.offsets.MonthBegin(0), pd.offsets.Hour(0)], ids=["D", "h", "MS", "no month", "no hour"]
)
def test_frequencies_that_stand_still(freq):
    """A frequency that goes backward, or does not move, is refused."""
    refused(r"goes forward", freq)


def test_where_pandas_has_no_buckets():
    """Where pandas fails on such a range, as at an edge that the clocks repeat or on a day that a country left out, the error is ours."""
    refused(r"that a change of clocks skips or repeats", "W-SAT", ("2019-01-01", "2019-03-01"), zone="America/Sao_Paulo")
    refused(r"that a change of clocks skips or repeats", "D", ("2011-12-25", "2012-01-05"), zone="Pacific/Apia")


def test_columns_that_hold_no_dates():
    """Numbers, durations and texts have no date buckets."""
    for kind in (None, Kind("int"), Kind("object"), kind_of(np.dtype("timedelta64[ns]"))):
        with pytest.raises(KeysError, match="the column holds none"):
            date_bins("x", kind, grouper("MS"), ("2024-01-01", "2024-12-31"))


def test_groupers_are_left_alone():
    """The Grouper is as it was, so pandas can use it afterwards; and one that pandas has used serves as well."""
    frame = pd.DataFrame({"x": pd.to_datetime(["2024-03-05", "2024-01-01", "2024-12-31"])})
    for freq in ("MS", "W", "7h", "D"):
        fresh, used = grouper(freq), grouper(freq)
        before = copy.deepcopy(vars(fresh))
        labels, edges = date_bins("x", kind_of(frame["x"].dtype), fresh, ("2024-01-01", "2024-12-31"))
        assert vars(fresh) == before
        pd.testing.assert_index_equal(frame.groupby(fresh).size().index, labels)
        frame.groupby(used).size()
        again = date_bins("x", kind_of(frame["x"].dtype), used, ("2024-01-01", "2024-12-31"))
        pd.testing.assert_index_equal(again[0], labels)
        assert again[1].tolist() == edges.tolist()
