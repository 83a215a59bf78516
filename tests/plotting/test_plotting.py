"""Pictures: what is drawn is what was released, readable in light and dark, and nothing is spent or shown beyond it."""

from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.container import ErrorbarContainer
from matplotlib.dates import date2num
from support import protect

import pandas_dp
from pandas_dp import plotting
from pandas_dp.noise.gaussian import discrete_gaussian
from pandas_dp.noise.laplace import discrete_laplace
from pandas_dp.testing import unsafe_seeded_noise

mpl.use("Agg")

WARDS = ["north", "south", "east", "west"]
NUMBERS = {name: (0, 10.0**place) for place, name in enumerate("abcdefgh")}
YEAR = ("2024-01-01", "2024-12-31")


@pytest.fixture(autouse=True)
def _closed_figures():
    plt.close("all")  # what a page's example left open
    yield
    plt.close("all")


def people(rows=2000):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "charge": rng.gamma(2, 1500, rows),
            "ward": rng.choice(WARDS, rows),
            "smoker": rng.random(rows) < 0.3,
            "admitted": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 366, rows), unit="D"),
            "stay": pd.to_timedelta(rng.integers(1, 200, rows), unit="h"),
        }
    )
    return frame.assign(**{name: rng.random(rows) * top for name, (_, top) in NUMBERS.items()})


BOUNDS = {"age": (0, 110), "charge": (0, 50_000), "admitted": YEAR, "stay": (pd.Timedelta(0), pd.Timedelta(days=20))}

ASKED = {
    "count": lambda dp: dp.count(epsilon=0.1),
    "mean": lambda dp: dp.mean("age", bounds=(0, 110), epsilon=1),
    "gaussian": lambda dp: dp.mean("age", bounds=(0, 110), rho=0.01),
    "median": lambda dp: dp.median("age", bounds=(0, 110), epsilon=1),
    "date": lambda dp: dp.mean("admitted", bounds=YEAR, epsilon=1),
    "duration": lambda dp: dp.mean("stay", bounds=BOUNDS["stay"], epsilon=1),
    "columns": lambda dp: dp.mean(["age", "charge"], bounds=BOUNDS, epsilon=1),
    "functions": lambda dp: dp.agg({"age": ["mean", "std"], "charge": ["mean"]}, bounds=BOUNDS, epsilon=5),
    "groups": lambda dp: dp.groupby("ward", keys=WARDS).mean("charge", bounds=BOUNDS["charge"], epsilon=1),
    "dates": lambda dp: dp.groupby("ward", keys=WARDS).mean("admitted", bounds=YEAR, epsilon=1),
    "durations": lambda dp: dp.groupby("ward", keys=WARDS).mean("stay", bounds=BOUNDS["stay"], epsilon=1),
    "two keys": lambda dp: dp.groupby(["ward", "smoker"], keys={"ward": WARDS}).mean("charge", bounds=BOUNDS["charge"], epsilon=1),
    "many keys": lambda dp: dp.groupby(["smoker", "age"], keys={"age": range(8)}).size(epsilon=1),
    "group columns": lambda dp: dp.groupby("ward", keys=WARDS).mean(["charge", "age"], bounds=BOUNDS, epsilon=1),
    "group functions": lambda dp: dp.groupby("ward", keys=WARDS).agg({"charge": ["mean", "std"], "age": "mean"}, bounds=BOUNDS, epsilon=1),
    "bins": lambda dp: dp.histogram("age", bins=list(range(0, 111, 10)), epsilon=0.1),
    "months": lambda dp: dp.groupby(pd.Grouper(key="admitted", freq="MS"), keys=YEAR).size(epsilon=0.1),
    "long names": lambda dp: dp.groupby("ward", keys=[*WARDS, "the ward with the longest of all names", "intensive care", "maternity"]).size(epsilon=1),
    "hundreds": lambda dp: dp.groupby("age", keys=range(300)).size(epsilon=1),
    "hundred names": lambda dp: dp.groupby(["ward", "smoker", "age"], keys={"ward": WARDS, "age": range(13)}).size(epsilon=1),
    "corr": lambda dp: dp.corr(["a", "b", "c"], bounds=NUMBERS, epsilon=5),
    "cov": lambda dp: dp.cov(list("abcdef"), bounds=NUMBERS, epsilon=5),
    "large cov": lambda dp: dp.cov(list("abcdefgh"), bounds=NUMBERS, epsilon=5),
}  # fmt: skip


@pytest.fixture(scope="module")
def answers():
    """One protected frame and the releases of every shape, on repeatable noise."""
    frame = protect(people(), delta=1e-6)
    found = {}
    with unsafe_seeded_noise("pictures"):
        for name, ask in ASKED.items():
            ask(frame.dp)
            found[name] = frame.dp.session.releases[-1]
    return frame, found


def spender(count, **budget):
    frame = pd.DataFrame({"x": [1, 2, 3]}).dp.protect(**budget)
    for _ in range(count):
        frame.dp.count(epsilon=0.02)
    return frame.dp.session


def pictures(answers):
    """Return every kind of picture, as functions that draw it."""
    frame, found = answers
    made_up = pd.Series(1.0, index=found["months"].value.index, name="visits")
    planned = spender(1, epsilon=1)
    preview = pd.DataFrame({"x": [1]}).dp.protect(epsilon=0.3).dp.preview
    drawn = {f"release, {name}": release.plot for name, release in found.items()}
    return drawn | {
        "density": partial(plotting.noise_density, [0.1, 0.5, 1]),
        "probabilities": partial(plotting.noise_density, [0.5, 1], mechanism=["laplace", "gaussian"], discrete=True),
        "scale": partial(plotting.noise_scale, {"count": 1, "sum of ages": 110}),
        "grouped": partial(plotting.grouped, found["groups"]),
        "series": partial(plotting.released_series, made_up, found["months"]),
        "series by ward": partial(plotting.released_series, pd.Series(3000.0, index=WARDS), found["groups"]),
        "budget": planned.plot,
        "budget, twenty": spender(20, epsilon=1).plot,
        "budget, many": spender(40, epsilon=1, delta=1e-6).plot,
        "budget, none": spender(0, rho=1).plot,
        "error": partial(plotting.expected_error, preview.sum("x", bounds=(0, 1), epsilon=[0.1, 1])),
        "errors": partial(plotting.expected_error, partial(frame.dp.preview.mean, ["age", "charge"], bounds=BOUNDS, rows=1000)),
        "error, duration": partial(
            plotting.expected_error, frame.dp.preview.mean("stay", bounds=BOUNDS["stay"], epsilon=[0.1, 1], rows=100)
        ),
    }


def bars(ax):
    """Return (x, points, lower, upper) of each series of points with bars."""
    found = []
    for container in ax.containers:
        if isinstance(container, ErrorbarContainer):
            line, _, (segments,) = container
            ends = np.array([segment[:, 1] for segment in segments.get_segments()])
            found.append((line.get_xdata(), line.get_ydata(), ends[:, 0], ends[:, 1]))
    return found


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


# What every picture keeps to


def test_every_picture_returns_its_axes(answers):
    """Given axes are drawn on and returned, and no figure is made; without them there is one new figure each."""
    for draw in pictures(answers).values():
        _, ax = plt.subplots()
        assert draw(ax=ax) is ax
        assert len(plt.get_fignums()) == 1
        own = draw()
        assert own is not ax
        assert len(plt.get_fignums()) == 2
        plt.close("all")


def drawn_labels(axis):
    """Return the labels of an axis' ticks, small ones too, that lie on it."""
    ends = axis.get_view_interval()
    labels = axis.get_ticklabels(which="both")
    place = 0 if axis is axis.axes.xaxis else 1
    return [label for label in labels if label.get_text() and min(ends) <= label.get_unitless_position()[place] <= max(ends)]


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_every_picture_is_readable(answers, style):
    """At notebook size, light and dark: no text is cut off or small, tick labels do not touch each other, and lines and texts are told from their ground."""
    for name, draw in pictures(answers).items():
        with plt.style.context(style), plt.rc_context({"figure.figsize": (6.4, 4), "figure.dpi": 100}):
            ax = draw()
            ax.figure.canvas.draw()
            across, upward = drawn_labels(ax.xaxis), drawn_labels(ax.yaxis)
            legend = [] if ax.get_legend() is None else ax.get_legend().get_texts()
            for text in [*across, *upward, *legend, *ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label]:
                if not text.get_text():
                    continue
                box, page = text.get_window_extent(), ax.figure.bbox
                assert min(box.x0, box.y0, page.x1 - box.x1, page.y1 - box.y1) >= -1, (name, text)
                assert text.get_fontsize() >= 8, (name, text)
            boxes = sorted((label.get_window_extent() for label in across if label.get_rotation() == 0), key=lambda box: box.x0)
            for left, right in pairwise(boxes):
                assert left.x1 <= right.x0 + 1, name
            for below, above in pairwise(sorted((label.get_window_extent() for label in upward), key=lambda box: box.y0)):
                assert below.y1 <= above.y0 + 2, name
            for colour in [ax.title.get_color(), ax.xaxis.label.get_color(), *(line.get_color() for line in ax.get_lines())]:
                assert np.abs(np.subtract(to_rgb(colour), to_rgb(ax.get_facecolor()))).max() > 0.3, name
        plt.close("all")


def test_no_colour_is_named():
    """The sources name no colour: text, lines and grounds follow the style (but for the map of a matrix, whose texts choose among the style's own)."""
    root = Path(pandas_dp.__file__).parent
    for path in (root / "plotting").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"black|white|color=[\"']|[\"'](k|w|C\d|tab:\w+|#[0-9a-fA-F]{3,6})[\"']", text), path


def test_pictures_cost_nothing(answers):
    """Drawing charges nothing and releases nothing, and draws the same twice."""
    frame, _ = answers
    before = len(frame.dp.session.ledger), len(frame.dp.session.releases), frame.dp.session.spent
    for draw in pictures(answers).values():
        first, second = draw(), draw()
        assert first.get_title() == second.get_title()
        for one, other in zip(first.get_lines(), second.get_lines(), strict=True):
            np.testing.assert_array_equal(one.get_ydata(), other.get_ydata())
        plt.close("all")
    assert (len(frame.dp.session.ledger), len(frame.dp.session.releases), frame.dp.session.spent) == before


def test_repeatable_noise_is_told():
    """Under the title of an answer, a series and a budget on repeatable noise it says that they are not private; else nothing does."""
    frame = pd.DataFrame({"x": [1, 2, 3]}).dp.protect(epsilon=1)
    note = "repeatable noise: not private"

    def titles():
        frame.dp.groupby("x", keys=[1, 2]).size(epsilon=0.1)
        release = frame.dp.session.releases[-1]
        shown = [release.plot(), plotting.grouped(release), plotting.released_series(pd.Series([1, 1], index=[1, 2]), release)]
        return [ax.get_title() for ax in [*shown, frame.dp.session.plot()]]

    assert not any(note in title for title in titles())
    with unsafe_seeded_noise(1):
        assert all(title.endswith("\n" + note) for title in titles())
    assert titles()[-1].endswith(note)  # one such entry is enough for the session


def test_matplotlib_is_loaded_for_those_who_draw():
    """Importing pandas_dp.plotting loads no matplotlib; without it, every picture ends in ExtraMissing, an ImportError that names the extra."""
    code = """
import sys
import pandas as pd, pandas_dp
from pandas_dp import plotting
print(any(name.split('.')[0] == 'matplotlib' for name in sys.modules))
sys.modules['matplotlib'] = None
frame = pd.DataFrame({'x': [1, 2]}).dp.protect(epsilon=9)
frame.dp.mean('x', bounds=(0, 9), epsilon=1); frame.dp.groupby('x', keys=[1]).size(epsilon=1)
one, groups = frame.dp.session.releases
day = pd.Series(pd.Timestamp('2024-01-01'), index=[1])
for draw in (one.plot, groups.plot, frame.dp.session.plot, lambda: plotting.grouped(groups), lambda: plotting.noise_density(1), lambda: plotting.noise_scale(1),
             lambda: plotting.released_series(day, day, interval=(day, day)), lambda: plotting.expected_error(frame.dp.preview.count(epsilon=[1]))):
    try:
        draw()
    except pandas_dp.ExtraMissing as error:
        print(isinstance(error, ImportError), error.package, error.extra, error)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    told = "True matplotlib plot pictures need matplotlib: pip install 'pandas_dp[plot]'."
    assert done.stdout.splitlines() == ["False", *[told] * 8]


def test_a_missing_account_is_a_missing_extra():
    """AccountingMissing is an ExtraMissing with its own figure, and pickles whole."""
    import pickle

    error = pickle.loads(pickle.dumps(pandas_dp.AccountingMissing.not_installed(None)))
    assert isinstance(error, pandas_dp.ExtraMissing)
    assert (error.package, error.extra, error.concentrated) == ("dp-accounting", "accounting", None)


# Noise


@pytest.mark.parametrize("sensitivity", [1, 7, 0.5])
def test_densities(sensitivity):
    """A density peaks at 0 with ε/(2Δ), or ε/(Δ√(2π)), falls by e (or √e) within a scale, holds one, and is called by its ε."""
    ax = plotting.noise_density(["1/4", 1], sensitivity=sensitivity, mechanism=["laplace", "gaussian"])
    assert [line.get_label() for line in ax.get_lines()] == ["ε=0.25, Laplace", "ε=0.25, Gaussian", "ε=1, Laplace", "ε=1, Gaussian"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [line.get_label() for line in ax.get_lines()]
    assert ax.get_lines()[0].get_color() == ax.get_lines()[1].get_color() != ax.get_lines()[2].get_color()
    for line, epsilon in zip(ax.get_lines(), (0.25, 0.25, 1, 1), strict=True):
        x, y, scale = line.get_xdata(), line.get_ydata(), sensitivity / epsilon
        gaussian = "Gauss" in line.get_label()
        assert y[len(y) // 2] == y.max() == pytest.approx(1 / (scale * (np.sqrt(2 * np.pi) if gaussian else 2)))
        assert np.interp(scale, x, y) == pytest.approx(y.max() * np.exp(-0.5 if gaussian else -1), rel=0.02)
        inside = 1 - np.exp(-x[-1] / scale) if not gaussian else 1
        assert np.sum((y[1:] + y[:-1]) / 2 * np.diff(x)) == pytest.approx(inside, abs=2e-3)
    assert ax.get_ylim()[0] == 0
    assert "units of the answer" in ax.get_xlabel()


@pytest.mark.parametrize("scale", ["1/10", "1/2", 1, 3, 50])
def test_probabilities_are_the_samplers(scale):
    """On integers the curves are the laws of the samplers: their tails agree beyond 0, 1, 2 and one scale."""
    epsilon = 1 / Fraction(scale)
    for mechanism, law in (("laplace", discrete_laplace(1 / epsilon)), ("gaussian", discrete_gaussian(1 / epsilon**2))):
        ax = plotting.noise_density(epsilon, mechanism=mechanism, discrete=True)
        (line,) = ax.get_lines()
        k, p = line.get_xdata(), line.get_ydata()
        if mechanism == "gaussian":
            for bound in (0, 1, 2, int(Fraction(scale))):
                assert 1 - p[np.abs(k) <= bound].sum() == pytest.approx(law.tail(bound), abs=1e-9)
        else:
            q = np.exp(-float(epsilon))
            assert p == pytest.approx((1 - q) / (1 + q) * q ** np.abs(k))
            width = law.half_width(0.5)
            assert p[np.abs(k) <= width].sum() >= 0.5 - 1e-12
            assert p[np.abs(k) < width].sum() <= 0.5 + 1e-12
        assert k.tolist() == list(range(int(k[0]), int(k[-1]) + 1))
        plt.close("all")


def test_wide_noise_is_drawn_at_some_integers():
    """A scale of a billion is drawn at some of its integers, not at all of them."""
    (line,) = plotting.noise_density("1e-9", discrete=True).get_lines()
    assert len(line.get_xdata()) < 2000
    assert line.get_xdata()[-1] >= 4e9
    assert set(np.mod(line.get_xdata(), 1)) == {0}


def test_scales():
    """A line of the scale is Δ/ε at each ε, on logarithmic axes, over the range that was asked for, under its name."""
    ax = plotting.noise_scale({"count": 1, "sum": 110}, epsilon=(0.1, 10))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    for line, width in zip(ax.get_lines(), (1, 110), strict=True):
        assert line.get_xdata() * line.get_ydata() == pytest.approx(width)
        assert (line.get_xdata()[0], line.get_xdata()[-1]) == pytest.approx((0.1, 10))
    assert [line.get_label() for line in ax.get_lines()] == ["count", "sum"]
    assert [line.get_label() for line in plotting.noise_scale([1, "1/2"]).get_lines()] == ["sensitivity 1", "sensitivity 0.5"]
    assert plotting.noise_scale(np.float64(3), mechanism="gaussian").get_ylabel().startswith("standard deviation")


# Answers


def test_a_number_is_a_point_on_its_interval(answers):
    """A scalar answer is drawn at its value, with a bar over its interval at the level, and its own text at 95 %."""
    _, found = answers
    for name in ("count", "mean", "gaussian", "median"):
        for level in (0.5, 0.95):
            ax = found[name].plot(level=level)
            line, _, (segments,) = ax.containers[0]
            assert line.get_xdata()[0] == float(found[name].value)
            assert segments.get_segments()[0][:, 0] == pytest.approx([float(end) for end in found[name].interval(level)])
            assert f"{100 * level:g} %" in ax.get_xlabel()
            assert [text.get_text() for text in ax.texts] == ([repr(found[name].value)] if level == 0.95 else [])
    assert found["gaussian"].plot().get_title().startswith("mean('age'), ρ=0.01")


def test_dates_and_durations_have_axes_of_their_own(answers):
    """A date is drawn at its day on an axis of dates; a duration in a unit that the label names."""
    _, found = answers
    ax = found["date"].plot()
    assert ax.containers[0][0].get_xdata()[0] == pytest.approx(date2num(found["date"].value.to_datetime64()))
    assert ax.texts[0].get_text() == f"{found['date'].value} ± {found['date'].half_width()}"
    assert isinstance(ax.xaxis.get_major_formatter(), mpl.dates.ConciseDateFormatter)
    ax = found["duration"].plot()
    assert ax.containers[0][0].get_xdata()[0] == pytest.approx(found["duration"].value / pd.Timedelta(days=1))
    assert ax.get_xlabel().endswith("(days)")
    ((_, points, lower, upper),) = bars(found["dates"].plot())
    for drawn, exact in zip((points, lower, upper), (found["dates"].value, *found["dates"].interval()), strict=True):
        assert drawn == pytest.approx(date2num(exact.to_numpy()))
    assert found["durations"].plot().get_ylabel().endswith("(days)")


@pytest.mark.parametrize("name", ["groups", "bins", "months", "hundreds"])
def test_groups_are_points_on_their_intervals(answers, name):
    """Grouped answers are drawn in their order, each at its value with a bar over its interval, and called by their keys."""
    _, found = answers
    release = found[name]
    for level in (0.5, 0.99):
        ((x, points, lower, upper),) = bars(plotting.grouped(release, level=level))
        assert points == pytest.approx(release.value.to_numpy(float))
        assert lower == pytest.approx(release.interval(level)[0].to_numpy(float))
        assert upper == pytest.approx(release.interval(level)[1].to_numpy(float))
        if name == "months":
            assert x == pytest.approx(date2num(release.index.to_numpy()))
        else:
            assert x.tolist() == list(range(len(release.index)))
    ax = plotting.grouped(release)
    assert ax.get_xlabel() == release.index.name
    assert ax.get_legend() is None
    if name in {"groups", "bins"}:
        assert ticks(ax.xaxis) == [str(key) for key in release.index]
    if name == "hundreds":
        assert ticks(ax.xaxis) == [str(key) for key in range(0, 300, int(ticks(ax.xaxis)[1]))]
        assert 5 <= len(ticks(ax.xaxis)) <= 30
        (faint,) = {bar.get_alpha() for bar in ax.containers[0][2]}
        assert faint < 1


def test_bars_have_caps(answers):
    """Every bar of few groups ends in two caps."""
    (container,) = plotting.grouped(answers[1]["groups"]).containers
    assert len(container[1]) == 2
    assert all(len(cap.get_ydata()) == 4 and cap.get_markersize() > 0 for cap in container[1])


def test_the_last_of_several_keys_is_in_colours(answers):
    """Two keys: the first along the axis, the second as series beside each other, with a legend under its name; a last key of many values is named in full."""
    _, found = answers
    release = found["two keys"]
    ax = plotting.grouped(release)
    assert ticks(ax.xaxis) == WARDS
    assert (ax.get_xlabel(), ax.get_legend().get_title().get_text()) == ("ward", "smoker")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["False", "True"]
    for smoker, (x, points, lower, upper) in zip([False, True], bars(ax), strict=True):
        each = release.value.xs(smoker, level="smoker")
        assert points == pytest.approx(each.loc[WARDS].to_numpy())
        assert lower == pytest.approx(release.interval()[0].xs(smoker, level="smoker").to_numpy())
        assert upper == pytest.approx(release.interval()[1].xs(smoker, level="smoker").to_numpy())
        assert np.round(x).tolist() == [0, 1, 2, 3]
        assert (x - np.round(x) > 0).all() == smoker
    assert 10 <= len(ticks(plotting.grouped(found["hundred names"]).xaxis)) <= 40
    ax = plotting.grouped(found["many keys"])
    assert ticks(ax.xaxis)[:2] == ["False, 0", "False, 1"]
    assert ax.get_xlabel() == "smoker, age"
    assert len(bars(ax)) == 1


def test_several_columns(answers):
    """Several columns are series with a legend, or places of an axis; those of very different sizes are on a logarithmic axis; columns= chooses."""
    _, found = answers
    release = found["group columns"]
    ax = plotting.grouped(release)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["charge", "age"]
    for (_, points, _, _), column in zip(bars(ax), ("charge", "age"), strict=True):
        assert points == pytest.approx(release.value[column].to_numpy())
    assert ax.get_yscale() == "log"
    one = plotting.grouped(release, columns="age")
    assert len(bars(one)) == 1
    assert one.get_yscale() == "linear"
    assert bars(one)[0][1] == pytest.approx(release.value["age"].to_numpy())
    pairs = found["group functions"]
    assert [text.get_text() for text in plotting.grouped(pairs).get_legend().get_texts()] == ["charge mean", "charge std", "age mean"]
    assert len(bars(plotting.grouped(pairs, columns=["charge"]))) == 2
    assert bars(plotting.grouped(pairs, columns=[("age", "mean")]))[0][1] == pytest.approx(pairs.value["age", "mean"].to_numpy())
    ((_, points, _, _),) = bars(found["columns"].plot())
    assert points == pytest.approx(found["columns"].value.to_numpy())
    assert ticks(found["columns"].plot().xaxis) == ["age", "charge"]
    assert ticks(found["columns"].plot(columns=["charge"]).xaxis) == ["charge"]
    assert ticks(found["functions"].plot().xaxis) == ["mean", "std"]


def test_a_matrix_is_a_heat_map_around_zero(answers):
    """A matrix is drawn as it is, the same colours above and below 0, with numbers and ± where there is room, in whichever of the style's colours is told from its cell."""
    _, found = answers
    release = found["corr"]
    for style in ("default", "dark_background"):
        with plt.style.context(style):
            ax = release.plot()
            (image,) = ax.get_images()
            assert np.asarray(image.get_array()) == pytest.approx(release.value.to_numpy())
            assert image.get_clim() == (-1, 1)
            assert (ticks(ax.xaxis), ticks(ax.yaxis)) == (["a", "b", "c"], ["a", "b", "c"])
            assert ax.get_ylim() == (2.5, -0.5)
            assert len(ax.texts) == 9
            assert ax.texts[1].get_text() == f"{release.value.iloc[0, 1]:.3g}\n±{release.half_width().iloc[0, 1]:.2g}"
            for text in ax.texts:
                column, row = text.get_position()
                ground = image.cmap(image.norm(release.value.iloc[row, column]))[:3]
                assert abs(np.dot(np.array(to_rgb(text.get_color())) - ground, (0.299, 0.587, 0.114))) > 0.35
    assert len(release.plot(columns=["a", "b"]).texts) == 4
    wide = found["large cov"].plot()
    assert (len(wide.texts), len(ticks(wide.xaxis))) == (0, 8)
    (image,) = wide.get_images()
    assert image.norm(0) == pytest.approx(0.5)


# Exact numbers beside released ones


def test_series_beside_each_other(answers):
    """The exact numbers are drawn at the labels of the answers, whatever their order, and the band is the interval at the level."""
    _, found = answers
    release = found["groups"]
    original = pd.Series({"west": 4.0, "nowhere": 9.0, "north": 1.0, "south": 2.0, "east": 3.0})
    ax = plotting.released_series(original, release, level=0.8)
    exact, noisy = ax.get_lines()
    assert exact.get_ydata().tolist() == [1, 2, 3, 4]
    assert noisy.get_ydata() == pytest.approx(release.value.to_numpy())
    low, high = (end.to_numpy() for end in release.interval(0.8))
    corners = {(round(float(x), 6), round(float(y), 6)) for x, y in ax.collections[0].get_paths()[0].vertices}
    assert {(float(k), round(float(end[k]), 6)) for k in range(4) for end in (low, high)} <= corners
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["original", "released", "80 % interval"]
    assert ticks(ax.xaxis) == WARDS
    months = plotting.released_series(pd.Series(5, index=found["months"].index), found["months"])
    assert months.get_lines()[1].get_xdata() == pytest.approx(date2num(found["months"].index.to_numpy()))
    days = pd.Series([2.0, 1.0], index=pd.to_datetime(["2024-02-01", "2024-01-01"]))
    assert plotting.released_series(days, days, interval=(days - 1, days + 1)).get_lines()[1].get_ydata().tolist() == [1, 2]
    when = plotting.released_series(pd.Series(pd.Timestamp("2024-07-01"), index=WARDS), found["dates"])
    assert when.get_lines()[0].get_ydata() == pytest.approx(date2num(np.datetime64("2024-07-01")))
    assert isinstance(when.yaxis.get_major_formatter(), mpl.dates.ConciseDateFormatter)
    years = pd.Series([1.0, 3.0, 2.0], index=pd.Index([2020, 2021, 2024], name="year"), name="rate")
    ax = plotting.released_series(years, years + 1, interval=(years, years + 2))
    assert ax.get_lines()[0].get_xdata().tolist() == [2020, 2021, 2024]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("year", "rate")


def test_raw_data_of_a_protected_frame_are_refused(answers):
    """What carries the handle of a protected frame is not drawn, as original, as released or as interval, and the error holds no value of it."""
    frame, found = answers
    named = protect(people().rename_axis("row"))
    release = found["groups"]
    plain = pd.Series([1.0, 2.0], index=[0, 1])
    raw = [
        frame["charge"], frame["charge"].head(2), frame["charge"] * 2, frame.query("age > 50")["age"], frame["age"].map(float), frame.reset_index()["age"],
        frame["age"].sort_values(), named["age"], named["age"] + 1,
    ]  # fmt: skip
    for series in raw[:5] + raw[6:]:
        for call in (
            lambda one: plotting.released_series(one, release),
            lambda one: plotting.released_series(plain, one, interval=(plain, plain)),
            lambda one: plotting.released_series(plain, plain, interval=(plain, one)),
        ):
            with pytest.raises(pandas_dp.ParameterError, match="belongs to a protected frame") as caught:
                call(series)
            assert caught.value.parameter in {"original", "released", "interval"}
            assert not re.search(r"\d", str(caught.value))
    assert plt.get_fignums() == []
    unprotected = people()
    assert plotting.released_series(unprotected.groupby("ward")["charge"].mean(), release).get_lines()


def test_the_documentation_warns():
    """released_series says in its documentation for which data alone it is."""
    text = plotting.released_series.__doc__
    assert "public or made-up data" in text
    assert "Never draw the data of people" in text


# Budgets


@pytest.mark.parametrize("budget", [{"epsilon": 2}, {"rho": 1}, {"epsilon": 2, "delta": 1e-6}], ids=str)
@pytest.mark.parametrize("count", [1, 20, 45])
def test_budgets_add_up(budget, count):
    """Bars, or steps, go from nothing to what was spent, each from where the last one ended, and the limit is the budget."""
    session = spender(count, **budget)
    if count == 20 and "epsilon" not in budget:
        session.close()  # a closed session is drawn, too
    ax = session.plot()
    spent = float(session.spent)
    if count <= 20:
        left = np.array([bar.get_x() for bar in ax.patches])
        right = left + [bar.get_width() for bar in ax.patches]
        assert left == pytest.approx([0, *right[:-1]])
        assert right[-1] == pytest.approx(spent)
        assert (right > left).all()
        assert len(ticks(ax.yaxis)) == count
        assert set(ticks(ax.yaxis)) == {"count()"}
        assert ax.yaxis_inverted()
        (line,) = ax.get_lines()
        assert line.get_xdata() == [float(session.budget)] * 2
        assert ax.get_xlim()[1] > float(session.budget)
    else:
        step, line = ax.get_lines()
        assert step.get_drawstyle() == "steps-post"
        assert (step.get_ydata()[0], step.get_ydata()[-1]) == pytest.approx((0, spent))
        assert (np.diff(step.get_ydata()) > 0).all()
        assert len(step.get_ydata()) == count + 1
        assert line.get_ydata() == [float(session.budget)] * 2
    assert [text.get_text() for text in ax.texts] == [f"budget {session.budget!r}"]
    label = ax.get_xlabel() if count <= 20 else ax.get_ylabel()
    assert label == ("spent (ρ)" if "rho" in budget else "spent (ε, at δ=1e-06)" if "delta" in budget else "spent (ε)")


def test_queries_are_told_apart():
    """A bar is as wide as what its query cost and stands at its text; the title says how much of the budget is gone."""
    frame = pd.DataFrame({"age": [1, 2, 3]}).dp.protect(epsilon=1, name="pictured")
    frame.dp.count(epsilon=0.1)
    frame.dp.mean("age", bounds=(0, 110), epsilon=0.25)
    frame.dp.groupby("age", keys=[1, 2]).sum("age", bounds=(0, 110), epsilon=0.5)
    ax = frame.dp.session.plot()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.1, 0.25, 0.5])
    assert ticks(ax.yaxis) == ["count()", "mean('age')", "groupby('age').sum('age')"]
    assert ax.get_title() == "pictured: ε=0.85 of ε=1 spent"


def test_a_session_in_a_file_is_drawn_with_its_amendments(tmp_path):
    """What other processes charged is drawn, too, an amendment is a row without a bar, and the limit is the amended one."""
    session = pandas_dp.Session(epsilon=1, ledger=tmp_path / "ledger")
    frame = session.protect(pd.DataFrame({"x": [1, 2, 3]}))
    frame.dp.count(epsilon=0.75)
    session.amend(epsilon=3, reason="more people")
    frame.dp.count(epsilon=1.5)
    again = pandas_dp.Session.open(tmp_path / "ledger")
    for one in (session, again):
        ax = one.plot()
        assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.75, 0, 1.5])
        assert ticks(ax.yaxis)[1].startswith("amend: ε=1 to ε=3")
        assert ax.get_lines()[0].get_xdata() == [3.0, 3.0]


def test_nothing_spent_is_a_picture_too():
    """A session without queries is drawn with its axis, its limit and a word."""
    ax = spender(0, epsilon=1).plot()
    assert (len(ax.patches), ax.get_ylabel(), ax.get_xlabel()) == (0, "no query yet", "spent (ε)")
    assert ax.get_title() == "ε=0 of ε=1 spent"
    assert ax.get_xlim()[1] > 1


# Plans


def test_errors_against_prices():
    """The ± of a planned query is drawn against its price in order of price, filled where it fits the budget and hollow where not."""
    preview = pd.DataFrame({"x": [1]}).dp.protect(epsilon="1/2").dp.preview
    table = preview.sum("x", bounds=(0, 10), epsilon=[1, 0.1, 0.5, 2])
    ax = plotting.expected_error(table)
    line, hollow = ax.get_lines()
    assert line.get_xdata().tolist() == [0.1, 0.5, 1, 2]
    assert line.get_ydata().tolist() == table["half_width"].sort_index().tolist()
    assert line.get_markevery() == [0, 1]
    assert np.isfinite(hollow.get_ydata()).tolist() == [False, False, True, True]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["fits the budget", "more than is left"]
    none_fit = plotting.expected_error(table[~table["fits"]])
    assert [text.get_text() for text in none_fit.get_legend().get_texts()] == ["more than is left"]
    all_fit = plotting.expected_error(table[table["fits"]])
    assert [text.get_text() for text in all_fit.get_legend().get_texts()] == ["fits the budget"]


def test_plans_of_several_columns_and_by_call():
    """Several columns are lines under their names; a callable is asked for a table at the prices given, or at usual ones; ρ is called ρ."""
    frame = protect(people(50))
    ask = partial(frame.dp.preview.mean, ["age", "charge"], bounds=BOUNDS, rows=100)
    ax = plotting.expected_error(ask, epsilon=[0.1, 1])
    table = ask(epsilon=[0.1, 1])
    lines = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    assert [line.get_label() for line in lines] == ["age", "charge"]
    for line in lines:
        assert line.get_ydata().tolist() == table[line.get_label()].tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["age", "charge", "fits the budget"]
    assert len(plotting.expected_error(ask).get_lines()[0].get_xdata()) == 10
    assert plotting.expected_error(ask, columns="charge").get_lines()[0].get_label() == "charge"
    stay = frame.dp.preview.mean("stay", bounds=BOUNDS["stay"], epsilon=[1, 10], rows=100)
    ax = plotting.expected_error(stay)
    assert ax.get_ylabel() == "expected error (± hours)"
    assert ax.get_lines()[0].get_ydata() == pytest.approx((stay["half_width"] / pd.Timedelta(hours=1)).to_numpy())
    concentrated = pd.DataFrame({"x": [1]}).dp.protect(rho=1).dp.preview.count(epsilon=[0.1, 1])
    assert plotting.expected_error(concentrated).get_xlabel() == "price (ρ)"


def test_an_error_of_nothing_has_no_place():
    """An error of 0 is left out of a logarithmic axis; where all are 0 the axis is linear."""
    preview = protect(pd.DataFrame({"x": [1]})).dp.preview
    some = plotting.expected_error(preview.count(epsilon=[0.1, 1000]))
    assert np.isnan(some.get_lines()[0].get_ydata()).tolist() == [False, True]
    assert plotting.expected_error(preview.count(epsilon=[500, 1000])).get_yscale() == "linear"


# Mistakes


def wrong_calls(answers):
    frame, found = answers
    groups, plain = found["groups"], pd.Series([1.0, 2.0])
    pair = (plain, plain)
    mixed = protect(people(10))
    mixed.dp.mean(["age", "admitted"], bounds=BOUNDS, epsilon=1)
    table = frame.dp.preview.count(epsilon=[1, 2])
    wrong, kind = pandas_dp.ParameterError, pandas_dp.ParameterTypeError
    return [
        (kind, "ax", lambda: groups.plot(ax=plt)), (kind, "ax", lambda: plotting.noise_scale(1, ax="ax")), (kind, "ax", lambda: frame.dp.session.plot(ax=1)),
        (wrong, "epsilon", lambda: plotting.noise_density([])), (wrong, "epsilon", lambda: plotting.noise_density(-1)), (kind, "epsilon", lambda: plotting.noise_density(None)),
        (kind, "epsilon", lambda: plotting.noise_density({0.1: 1})), (wrong, "sensitivity", lambda: plotting.noise_density(1, sensitivity=0)),
        (wrong, "sensitivity", lambda: plotting.noise_density(1, sensitivity=float("inf"))), (kind, "sensitivity", lambda: plotting.noise_density(1, sensitivity=[1])),
        (wrong, "mechanism", lambda: plotting.noise_density(1, mechanism="normal")), (wrong, "mechanism", lambda: plotting.noise_density(1, mechanism=[])),
        (kind, "mechanism", lambda: plotting.noise_density(1, mechanism=3)), (kind, "discrete", lambda: plotting.noise_density(1, discrete="yes")),
        (wrong, "sensitivities", lambda: plotting.noise_scale([])), (wrong, "sensitivities", lambda: plotting.noise_scale({})), (wrong, "sensitivities", lambda: plotting.noise_scale([1, -1])),
        (wrong, "epsilon", lambda: plotting.noise_scale(1, epsilon=(1, 0.1))), (wrong, "epsilon", lambda: plotting.noise_scale(1, epsilon=1)),
        (wrong, "mechanism", lambda: plotting.noise_scale(1, mechanism=["laplace"])),
        (kind, "release", lambda: plotting.grouped(groups.value)), (wrong, "release", lambda: plotting.grouped(found["count"])), (wrong, "level", lambda: plotting.grouped(groups, level=95)),
        (wrong, "level", lambda: groups.plot(level=0)), (wrong, "level", lambda: found["count"].plot(level="0.95")), (wrong, "columns", lambda: groups.plot(columns="charge")),
        (wrong, "columns", lambda: found["group columns"].plot(columns="nobody")), (wrong, "columns", lambda: found["columns"].plot(columns=[])),
        (wrong, "columns", lambda: found["corr"].plot(columns=["a", "z"])), (wrong, "columns", lambda: mixed.dp.session.releases[-1].plot()),
        (kind, "original", lambda: plotting.released_series([1, 2], groups)), (kind, "released", lambda: plotting.released_series(plain, [1, 2])),
        (wrong, "interval", lambda: plotting.released_series(plain, plain)), (wrong, "interval", lambda: plotting.released_series(plain, plain, interval=plain)),
        (wrong, "interval", lambda: plotting.released_series(plain, groups, interval=pair)), (wrong, "released", lambda: plotting.released_series(plain, found["count"])),
        (wrong, "released", lambda: plotting.released_series(plain, found["group columns"])), (wrong, "original", lambda: plotting.released_series(plain, groups)),
        (wrong, "original", lambda: plotting.released_series(pd.Series(["a", "b"]), plain, interval=pair)), (wrong, "level", lambda: plotting.released_series(plain, groups, level=2)),
        (wrong, "original", lambda: plotting.released_series(pd.Series([1.0, 2.0], index=[0, 0]), plain, interval=pair)),
        (wrong, "interval", lambda: plotting.released_series(plain, plain, interval=(plain, pd.Series([1.0, 2.0], index=[0, 0])))),
        (kind, "session", lambda: plotting.budget(frame)), (kind, "session", lambda: plotting.budget(None)),
        (kind, "planned", lambda: plotting.expected_error(frame.dp.preview.count(epsilon=1))), (kind, "planned", lambda: plotting.expected_error(lambda epsilon: 1)),
        (wrong, "planned", lambda: plotting.expected_error(people(3))), (wrong, "planned", lambda: plotting.expected_error(table.iloc[:0])),
        (wrong, "epsilon", lambda: plotting.expected_error(table, epsilon=[1])), (wrong, "epsilon", lambda: plotting.expected_error(lambda epsilon: table, epsilon=[])),
        (wrong, "columns", lambda: plotting.expected_error(table, columns="age")),
    ]  # fmt: skip


def test_mistakes_are_typed_and_leave_no_figure(answers):
    """Wrong levels, types, empty lists and columns end in an error of ours that names the parameter, and leave no figure behind."""
    for number, (kind, parameter, call) in enumerate(wrong_calls(answers)):
        with pytest.raises(kind) as caught:
            call()
        assert caught.value.parameter == parameter, (number, caught.value)
        assert plt.get_fignums() == [], (number, parameter)


def test_columns_that_share_no_axis_can_be_drawn_alone(answers):
    """An answer of numbers and dates is refused as a whole and drawn by column."""
    frame = protect(people(10))
    frame.dp.mean(["age", "admitted"], bounds=BOUNDS, epsilon=1)
    release = frame.dp.session.releases[-1]
    assert isinstance(release.plot(columns="admitted").yaxis.get_major_formatter(), mpl.dates.ConciseDateFormatter)
    assert bars(release.plot(columns="age"))[0][1] == pytest.approx([release.value["age"]])
