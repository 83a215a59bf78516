"""What a notebook shows: HTML from public facts, what completion offers, and a bar for long work."""

from __future__ import annotations

import io
import os
import re
import sys
import types
import warnings
from datetime import UTC, datetime
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.formatters import DisplayFormatter
from IPython.core.interactiveshell import InteractiveShell
from ledger_support import folder  # noqa: F401  (a fixture)
from support import protect
from traitlets.config import Config

import pandas_dp
from pandas_dp.accessor.previews import DataFramePreview, SeriesPreview
from pandas_dp.accounting import Accountant
from pandas_dp.accounting import account as accounts
from pandas_dp.display import html as notebook
from pandas_dp.display import progress
from pandas_dp.display.html import Line, Summary, html_of
from pandas_dp.display.progress import steps
from pandas_dp.engines.pandas import PandasSource
from pandas_dp.quantities.budget import Delta, Epsilon
from pandas_dp.testing import unsafe_seeded_noise
from pandas_dp.wire import codec

KEYS = ["north", "south"]


class Page(HTMLParser):
    """Reads HTML strictly: every tag that opens is closed, in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.styles, self.text, self.titles = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append(tag)
        named = dict(attributes)
        assert set(named) <= {"style", "class", "title", "role", "aria-label"}
        self.styles.extend(named[name] for name in ("style",) if name in named)
        self.titles.extend(named[name] for name in ("title", "aria-label") if name in named)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())


def page(thing):
    return Page(thing._repr_html_())


def table(size=6, **options):
    frame = pd.DataFrame({"age": range(30, 30 + size), "ward": (KEYS * size)[:size], "secret_column": 7.0})
    return protect(frame, epsilon=2, **options)


def asked(frame, number=2):
    for _ in range(number):
        frame.dp.count(epsilon="0.1")
    return frame


def things(frame):
    dp = frame.dp
    return [
        dp,
        frame["age"].dp,
        dp.where("age > 40"),
        dp.groupby("ward", keys=KEYS)["age"],
        dp.where("age > 3").groupby("ward"),
        dp.session,
    ]


LINE = Line("2026-01-02 03:04:05", "count()", "ε=0.1", "discrete Laplace", "30", "")


def account(**facts):
    given = {"name": None, "budget": Epsilon(1), "spent": Epsilon("0.25"), "remaining": Epsilon("0.75"), "deltas": (), "note": ""}
    lines = facts.pop("lines", (LINE,))
    return Summary(**{**given, **facts}, lines=lines, charges=len(lines))


# The page


def test_everything_shows_budget_and_ledger():
    """df.dp, a column's, views, group-bys and sessions have HTML that is well formed and says exactly what is left; all but group-bys list the charges."""
    frame = asked(table())
    for thing in things(frame):
        shown = page(thing)
        assert "ε=0.2 spent · ε=1.8 left of ε=2" in shown.words
        assert ("table" in shown.tags) == (type(thing).__name__ != "GroupByDP")
        assert any("width:10.00%" in style for style in shown.styles)
    assert page(frame.dp).text.count("count()") == 2
    assert "df.dp.where('age > 40')" in page(frame.dp.where("age > 40")).words
    assert "df.dp.groupby('ward')" in page(frame.dp.groupby("ward")).words


def test_all_kinds_of_budget():
    """ε, (ε, δ) and ρ show their amounts as they print, and what each charge cost in the currency of the session."""
    frame = pd.DataFrame({"age": range(60), "ward": KEYS * 30})
    approximate = frame.dp.protect(epsilon=1, delta=1e-6)
    approximate.dp.groupby("ward", keys="private", delta=1e-7).size(epsilon="0.1")
    approximate.dp.mean("age", bounds=(0, 60), rho="0.001")
    words = page(approximate.dp).words
    session = approximate.dp.session
    assert f"{session.spent!r} spent · {session.remaining!r} left of ε=1" in words
    assert "δ=1e-06, half of it for private keys: δ=1e-07 spent · δ=4e-07 left" in words
    assert "ε=0.1, δ=1e-07" in words
    assert "ρ=0.001" in words
    concentrated = frame.dp.protect(rho="0.5")
    concentrated.dp.count(rho="0.1")
    concentrated.dp.median("age", bounds=(0, 60), epsilon="0.2")
    words = page(concentrated.dp).words
    assert "ρ=0.105 spent · ρ=0.395 left of ρ=0.5" in words
    assert "ρ=0.005" in words
    assert "ranks" in words
    assert "δ" not in words


def test_long_ledgers_are_cut():
    """The last ten charges are shown, with how many more there are; no charge, no table; long texts end, and are whole in a title."""
    frame = table()
    assert "Nothing was asked yet." in page(frame.dp).words
    asked(frame, 10)
    assert "earlier" not in page(frame.dp).words
    asked(frame, 3)
    shown = page(frame.dp)
    assert shown.tags.count("tr") == 11
    assert "and 3 earlier: session.ledger has all 13" in shown.words
    long = "count(" + "x" * 500 + ")"
    shown = Page(html_of(account(lines=(Line("", long, "", "", "", ""),))))
    assert long in shown.titles
    assert long not in shown.words
    assert len(max(shown.text, key=len)) == 160


def test_what_was_typed_is_escaped():
    """Names, labels, expressions, column names and notes are text: no tag, attribute, control or direction character comes of them."""
    bad = "<script>alert(1)</script>\"'&<img src=x onerror=y>\u202e\n$x$"
    expected = "<script>alert(1)</script>\"'&<img src=x onerror=y>\\u202e\\n$x$"
    shown = Page(html_of(account(name=bad, note=bad, lines=(Line(bad, bad * 4, bad, bad, bad, bad),)), bad))
    assert not {"script", "img"} & set(shown.tags)
    assert shown.words.count(expected) >= 8
    assert all("\n" not in title and "\u202e" not in title for title in shown.titles)
    frame = protect(pd.DataFrame({"<b>": [1, 2]}), epsilon=1, name=None)
    frame.dp.count("<b>", epsilon="0.1", label="</td><script>")
    for thing in (frame.dp, frame.dp.session, frame.dp.groupby("<b>"), frame.dp.where("`<b>` > 1")):
        assert not {"script", "b>"} & set(page(thing).tags)
    assert "</td><script>" in page(frame.dp).words


def test_formulas_are_left_alone():
    """What may hold dollars stands where the notebook's typesetting of formulas does not look: in code, within a box that it ignores."""
    html = html_of(account(name="$a$", lines=(Line("", "$b$", "", "", "", "$c$"),)), "$d$")
    assert html.startswith('<div class="tex2jax_ignore mathjax_ignore"')
    assert len(re.findall(r"<code[^>]*>\$[abcd]\$</code>", html)) == 4


def test_colours_are_the_notebook_s():
    """No style names a colour but the inherited, the current one and none: it is readable on light and on dark; and nothing is loaded from elsewhere."""
    html = html_of(account(note="x", deltas=(Delta("1e-6"), Delta(0), Delta("5e-7"))), "y")
    properties = [part.split(":") for style in Page(html).styles for part in style.split(";") if part]
    for name, value in properties:
        if "color" in name or "background" in name or "border" in name:
            assert re.fullmatch(r"inherit|transparent|currentColor|collapse|1px solid currentColor|[\d.]+em", value), (name, value)
    assert not re.search(r"#[0-9a-f]{3}|rgb|hsl|url|http|<style|<link|<script|<svg", html)


def test_it_is_a_function_of_the_ledger(monkeypatch):
    """For two data sets of other values, sizes and missing values whose ledgers are the same, the text is the same, byte for byte."""
    now = datetime(2026, 1, 2, tzinfo=UTC)
    monkeypatch.setattr(accounts, "datetime", types.SimpleNamespace(now=lambda _: now))
    seen = set()
    for frame in (pd.DataFrame({"age": [1.0] * 500, "ward": "north"}), pd.DataFrame({"age": [np.nan, 99.0], "ward": KEYS}), pd.DataFrame({"age": [0.5], "ward": "south"})[:0]):  # fmt: skip
        protected = protect(frame, epsilon=5)
        protected.dp.count(epsilon="0.1", label="n")
        protected.dp.sum("age", bounds=(0, 100), epsilon="0.1")
        protected.dp.median("age", bounds=(0, 100), epsilon="0.1")
        protected.dp.where("age > 40").count(epsilon="0.1")
        protected.dp.groupby("ward", keys=KEYS).mean("age", bounds=(0, 100), epsilon="0.1")
        seen.add("".join(thing._repr_html_() for thing in things(protected)))
    assert len(seen) == 1


def test_no_value_is_shown():
    """Neither data, answers, row labels, private keys nor columns that nobody asked about are in it: marked ones are not found."""
    frame = pd.DataFrame(
        {"age": 31337.0, "ward": "sentinel_ward", "secret_column": "sentinel_cell"}, index=[f"sentinel_{i}" for i in range(77)]
    )
    protected = frame.dp.protect(epsilon=20, delta=1e-3)
    with unsafe_seeded_noise(1):
        answers = [
            protected.dp.count(epsilon=6),
            protected.dp.mean("age", bounds=(0, 40000), epsilon=6),
            protected.dp.groupby("ward", keys="private").size(epsilon=6),
        ]
    assert answers[2].index[0] == "sentinel_ward"
    for thing in things(protected):
        html = thing._repr_html_()
        assert "sentinel" not in html
        assert "secret_column" not in html
        assert not re.search(r"31337|\b7[678]\b", html)
        assert repr(answers[1]) not in html
    assert "not private" in page(protected.dp).words  # repeatable noise says so


def test_the_margin_is_that_of_the_answer():
    """The ± is the answer's own: whole for counts, as it prints for a mean, a duration for dates, empty where there are several."""
    frame = protect(pd.DataFrame({"age": range(100), "day": pd.date_range("2026-01-01", periods=100)}), epsilon=9)
    answers = [frame.dp.count(epsilon=1), frame.dp.mean("age", bounds=(0, 100), epsilon=1)]
    frame.dp.mean("day", bounds=("2026-01-01", "2026-12-31"), epsilon=1)
    duration = str(frame.dp.session.releases[-1].half_width())
    frame.dp.agg({"age": ["mean", "std"]}, bounds={"age": (0, 100)}, epsilon=1)
    margins = [line.margin for line in notebook.summary_of(frame.dp.session._core).lines]
    assert margins == [*(repr(answer).split("± ")[1] for answer in answers), duration, ""]


# What cannot be shown


def test_sentences_instead_of_errors():
    """Without a session, with rows of two, closed: a short sentence; a closed session still shows its account."""
    bare = pd.DataFrame({"age": [1], "ward": ["north"]})
    for thing in (bare.dp, bare["age"].dp, bare.dp.groupby("ward")):
        assert page(thing).words.endswith(
            "This frame is not protected: it carries no handle of a session of this process. "
            "Call df.dp.protect(epsilon=...) once, on the original frame, and derive from what it returns."
        )
        assert repr(thing)
    one, other = table().reset_index(), table()[["age"]].rename(columns={"age": "other"}).reset_index()
    joined = one.join(other)
    assert "two protected frames" in page(joined.dp).words
    closed = asked(table())
    closed.dp.session.close()
    for thing in (closed.dp.session, closed.dp, closed["age"].dp):
        words = page(thing).words
        assert "This session was closed and answers no more." in words
        assert "ε=1.8 left" in words
        assert "count()" in words


def test_a_fork_says_so():
    """In a forked process the session's page says whose it is, and shows the account as it was."""
    frame = asked(table())
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover  (another process)
        try:
            os.write(write, frame.dp._repr_html_().encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read, "rb") as pipe:
        words = Page(pipe.read().decode()).words
    assert "this is another one (a fork)." in words
    assert "ε=0.2 spent" in words


def test_a_damaged_ledger_is_a_sentence(folder):  # noqa: F811
    """A ledger file that cannot be read any more, or is gone, is said in a sentence, whoever shows it; a good one is shown with what other processes charged."""
    path = folder / "visits.dp.sqlite"
    frame = asked(table(ledger=path))
    pandas_dp.Session.open(path).protect(pd.DataFrame({"x": [1]})).dp.count(epsilon="0.5")
    assert "ε=0.7 spent" in page(frame.dp).words
    good = path.read_bytes()
    for damage in (lambda: path.write_bytes(b"rubbish" * 999), path.unlink):
        damage()
        for thing in things(frame):
            shown = page(thing)
            assert "table" not in shown.tags
            assert str(path) in shown.words
    path.write_bytes(good)


def test_answers_of_another_version(folder, monkeypatch):  # noqa: F811
    """Answers in a ledger file that this version cannot read leave their ± to what was known before; the account is shown."""
    path = folder / "visits.dp.sqlite"
    asked(table(ledger=path))
    session = pandas_dp.Session.open(path)
    assert len(session.releases) == 2
    session = pandas_dp.Session.open(path)
    monkeypatch.setattr(codec, "decode", lambda *_: None)
    assert session.releases == ()
    assert [line.margin for line in notebook.summary_of(session._core).lines] == ["30", "30"]


def test_amendments_cost_nothing(folder):  # noqa: F811
    """An amended budget is a line of the ledger, without a cost."""
    frame = asked(table(ledger=folder / "visits.dp.sqlite"))
    frame.dp.session.amend(epsilon=3, reason="<i>the board</i>")
    line = notebook.summary_of(frame.dp.session._core).lines[-1]
    assert (line.cost, line.margin, line.mechanism) == ("", "", "amendment")
    assert "(<i>the board</i>)" in page(frame.dp).words


# IPython


def displayed(thing):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        formatter = DisplayFormatter()
        formatter.active_types = formatter.format_types
        return formatter.format(thing)[0]


def test_what_ipython_displays():
    """Of .dp, sessions, views and group-bys it takes the HTML; of a scalar answer nothing but the number with its ±; previews and releases their one line."""
    frame = asked(table())
    for thing in things(frame):
        assert displayed(thing) == {"text/plain": repr(thing), "text/html": thing._repr_html_()}
    for answer in (frame.dp.count(epsilon="0.1"), frame.dp.mean("age", bounds=(0, 110), epsilon="0.1")):
        assert displayed(answer) == {"text/plain": repr(answer)}
        assert " ± " in repr(answer)
    for line in (frame.dp.session.releases[-1], frame.dp.preview.count(epsilon="0.1")):
        assert displayed(line) == {"text/plain": repr(line)}


PUBLIC = {
    "Session": "adopt allocate amend budget close delta ledger name odometer open plot protect releases remaining remaining_delta replay spent "
    "spent_delta split",
    "GroupByDP": "agg count describe iqr max mean median min quantile size std sum var",
    "SeriesDP": "agg bounds clamping_rate count describe iqr max mean median min mode nunique preview quantile session std sum value_counts var",
}
FRAMES = f"{PUBLIC['SeriesDP']} assign corr cov crosstab groupby histogram nlargest select where"
PUBLIC |= {"ViewDP": FRAMES, "DataFrameDP": f"{FRAMES} protect"}


def listed(names):
    return {name for name in names if not name.startswith("_")}


def test_tab_lists():
    """dir() of instances and of their classes holds what users call and nothing else."""
    for thing in things(table()):
        for names in (dir(thing), dir(type(thing))):
            assert listed(names) == set(PUBLIC[type(thing).__name__].split())
    for kind in (DataFramePreview, SeriesPreview):
        assert {"count", "mean", "quantile"} <= listed(dir(kind)) <= set(FRAMES.split())


@pytest.mark.parametrize("jedi", [True, False])
def test_completion_in_ipython(jedi, monkeypatch, tmp_path):
    """IPython's completer offers the same, on df.dp and what it returns; nothing is read or charged by it."""

    def never(*_, **__):
        raise AssertionError

    frame = asked(table())
    before = frame.dp.session.spent
    monkeypatch.setattr(PandasSource, "open", never)
    monkeypatch.setattr(Accountant, "charge", never)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    quiet = Config()
    quiet.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=quiet)
    try:
        shell.user_ns.update(df=frame, dp=frame.dp, session=frame.dp.session, groups=frame.dp.groupby("ward", keys=KEYS))
        shell.Completer.use_jedi = jedi
        places = {"df.dp.": "DataFrameDP", "df.age.dp.": "SeriesDP", "dp.": "DataFrameDP", "session.": "Session", "groups.": "GroupByDP"}
        if jedi:
            places |= {"df.dp.session.": "Session", "df.dp.groupby('ward').": "GroupByDP", "df.dp.where('age > 1').": "ViewDP"}
        for text, kind in places.items():
            with provisionalcompleter():
                found = {completion.text.lstrip(".") for completion in shell.Completer.completions(text, len(text))}
            assert found == set(PUBLIC[kind].split()), text
    finally:
        InteractiveShell.clear_instance()
    assert frame.dp.session.spent == before


# Long work


class Terminal(io.StringIO):
    def isatty(self):
        return True


def kernel():
    """A standard error like that of a notebook's kernel."""
    return type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()


def look(monkeypatch, stream):
    """Take the place of standard error, for bars alone."""
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=stream))


@pytest.fixture
def bars(monkeypatch):
    """Take tqdm's place, and write down which bars there were: their totals, their parameters, and how far they went."""
    seen = []

    class Bar:
        def __init__(self, **parameters):
            self.parameters, self.done, self.closed = parameters, 0, False
            seen.append(self)

        @classmethod
        def set_lock(cls, lock):
            cls.lock = lock

        def update(self):
            self.done += 1

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm.std", types.SimpleNamespace(tqdm=Bar))
    look(monkeypatch, Terminal())
    return seen


def totals_of(bars):
    assert all(bar.closed and bar.done == bar.parameters["total"] for bar in bars)
    return [bar.parameters["total"] for bar in bars]


def test_a_bar_is_modest(bars):
    """It appears after two seconds on standard error, leaves nothing, shows no times, starts no thread; below the threshold tqdm is not touched."""
    assert list(steps(range(1000), 1000)) == list(range(1000))
    assert isinstance(steps(range(9), 9), range)
    assert not bars
    assert list(steps(range(1001), 1001)) == list(range(1001))
    assert totals_of(bars) == [1001]
    parameters = bars[0].parameters
    assert (parameters["delay"], parameters["leave"], parameters["file"]) == (2, False, progress.sys.stderr)
    assert not re.search("elapsed|remaining|rate", parameters["bar_format"])
    assert type(bars[0]).monitor_interval == 0


def test_no_bar_where_nobody_looks(bars, monkeypatch):
    """Not in a pipe, not without a standard error, not without tqdm, not inside another bar; in a notebook there is one."""
    for stream in (io.StringIO(), None):
        look(monkeypatch, stream)
        assert len(list(steps(range(2000), 2000))) == 2000
    assert not bars
    look(monkeypatch, kernel())
    for _ in steps(range(1500), 1500):
        list(steps(range(1200), 1200))
        break
    assert [bar.parameters["total"] for bar in bars] == [1500]
    assert bars[0].closed
    list(steps(range(1300), 1300))
    assert [bar.parameters["total"] for bar in bars] == [1500, 1300]
    monkeypatch.setitem(sys.modules, "tqdm.std", None)
    assert len(list(steps(range(2000), 2000))) == 2000
    assert len(bars) == 2


def test_a_broken_bar_breaks_nothing(bars, monkeypatch):
    """Whatever tqdm raises, the work goes on: after the charge nothing may fail for such a reason."""

    def fails(*_, **__):
        raise OSError

    bar = type(progress._bar(1)).__mro__[1]
    for method in ("close", "update", "__init__"):
        monkeypatch.setattr(bar, method, fails)
        assert len(list(steps(range(2000), 2000))) == 2000


@pytest.mark.parametrize("size", [0, 3, 50])
def test_bars_show_public_numbers(bars, size):
    """Bars of a query have totals that are declared: groups, columns. They are the same whatever the data, and few groups or columns have none."""
    keys = list(range(1200))
    frame = protect(pd.DataFrame({"g": np.arange(size) % 7, **{f"c{i}": np.arange(size) * 1.0 for i in range(12)}}))
    bounds = {f"c{i}": (0, 9) for i in range(12)}
    frame.dp.median("c0", bounds=(0, 9), epsilon=1)
    frame.dp.groupby("g", keys=keys[:20]).median("c0", bounds=(0, 9), epsilon=1)
    frame.dp.mean(["c0", "c1", "c2"], bounds=bounds, epsilon=1)
    assert not bars
    frame.dp.groupby("g", keys=keys).median("c0", bounds=(0, 9), epsilon=1)
    assert totals_of(bars) == [1200]
    del bars[:]
    frame.dp.groupby("g", keys=keys).size(epsilon=1)
    assert not bars  # one vector of noise
    frame.dp.session.releases[-1].half_width()
    frame.dp.session.releases[-1].interval()
    assert totals_of(bars) == [1200, 1200]
    del bars[:]
    frame.dp.mean(bounds=bounds, epsilon=1)
    assert totals_of(bars) == [12, 12]  # columns that are read, and that get noise
    del bars[:]
    frame.dp.groupby("g", keys=keys).median(list(bounds), bounds=bounds, epsilon=1)
    assert totals_of(bars) == [12]  # one at a time


def test_private_keys_have_no_bar(bars):
    """The number of groups with private keys is private before the release: no bar shows it, however many there are; after the release it is public."""
    groups = np.repeat(np.arange(1100), 3)
    frame = pd.DataFrame({"g": groups, "x": 1.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pandas_dp.LargeBudgetWarning)
        frame = frame.dp.protect(epsilon=100_000, delta=0.5)
    answer = frame.dp.groupby("g", keys="private", delta=0.2).median("x", bounds=(0, 9), epsilon=1000)
    assert len(answer) == 1100
    assert not bars
    frame.dp.session.releases[-1].half_width()
    assert totals_of(bars) == [1100]


def test_answers_do_not_depend_on_bars(bars, monkeypatch):
    """With the same noise the answers are the same with a bar and without."""
    keys = list(range(1001))
    answers = []
    for stream in (Terminal(), None):
        look(monkeypatch, stream)
        frame = protect(pd.DataFrame({"g": np.arange(50), "x": np.arange(50.0)}))
        with unsafe_seeded_noise(5):
            answers.append(frame.dp.groupby("g", keys=keys).median("x", bounds=(0, 50), epsilon=1))
    assert len(bars) == 1
    pd.testing.assert_series_equal(*answers)


def test_tqdm_itself(monkeypatch):
    """The real tqdm takes what it is given, writes nothing of quick work, shows a bar of long work, and leaves no thread."""
    import threading

    stream = Terminal()
    look(monkeypatch, stream)
    before = threading.active_count()
    assert sum(steps(range(1500), 1500)) == sum(range(1500))
    assert stream.getvalue() == ""
    monkeypatch.setattr(progress, "_DELAY", 0)
    assert sum(steps(range(1500), 1500)) == sum(range(1500))
    assert "pandas_dp:" in stream.getvalue()
    assert "it/s" not in stream.getvalue()
    assert threading.active_count() == before


def test_in_a_notebook_nothing_is_left(monkeypatch):
    """In a kernel the real tqdm's lines replace one another in one output, which is empty in the end; nothing goes to the stream that is saved."""
    outputs = []

    class Handle:
        def display(self, line, *, raw):
            outputs.append([line["text/plain"]])

        def update(self, line, *, raw):
            outputs[-1].append(line["text/plain"])

    stream = kernel()
    look(monkeypatch, stream)
    monkeypatch.setattr("IPython.display.DisplayHandle", Handle)
    assert sum(steps(range(1500), 1500)) == sum(range(1500))
    assert not outputs
    monkeypatch.setattr(progress, "_DELAY", 0)
    assert sum(steps(range(1500), 1500)) == sum(range(1500))
    assert len(outputs) == 1
    assert outputs[0][0].startswith("pandas_dp:   0%|")
    assert outputs[0][0].endswith("| 0/1500")
    assert outputs[0][-1] == ""
    assert not stream.getvalue()
