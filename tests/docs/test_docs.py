"""The pages: complete, true and run.  Nothing here needs what builds the site."""

from __future__ import annotations

import ast
import contextvars
import importlib
import inspect
import re
from fractions import Fraction
from pathlib import Path

import pytest

import pandas_dp
from pandas_dp.sessions import registry

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
RUN_BY_PYTEST = [ROOT / "README.md", ROOT / "docs"]  # testpaths
PUBLIC_MODULES = {
    "composition",
    "datasets",
    "plotting",
    "testing",
    *(name for name in pandas_dp.__all__ if inspect.ismodule(getattr(pandas_dp, name))),
}

FENCE = re.compile(r"^( *)(`{3,}|~{3,}|:{3,})([^\n`]*)\n(.*?)^\1\2 *$", flags=re.MULTILINE | re.DOTALL)
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n((?::[^\n]*\n)*)(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


# The reference


def members(owner):
    """The public members of a class that the built-in classes do not have, but for errors: their classmethods are their wording."""
    if issubclass(owner, (BaseException, Fraction)):
        return []
    inherited = {name for base in owner.__mro__ if base.__module__ == "builtins" for name in vars(base)}
    return sorted(name for name in dir(owner) if not name.startswith("_") and name not in inherited)


def public_names():
    """Every name that a user may use."""
    names = set(pandas_dp.__all__) - PUBLIC_MODULES - {"__version__"}
    for name in ("DataFrameDP", "SeriesDP", "GroupByDP", "ViewDP", "Session", "Release", "Preview", "NoisyInt", "NoisyFloat"):
        names |= {f"{name}.{member}" for member in members(getattr(pandas_dp, name))}
    for previews in ("DataFramePreview", "SeriesPreview"):
        names |= {f"{previews}.{member}" for member in members(getattr(importlib.import_module("pandas_dp.accessor.previews"), previews))}
    for module in PUBLIC_MODULES:
        names |= {f"{module}.{name}" for name in importlib.import_module(f"pandas_dp.{module}").__all__}
    return names


def documented_names(text):
    """The names that the pages of the reference show: one by one, as a list of members, as a whole module, or among the attributes of a class."""
    names = set(re.findall(r"^\.\. auto\w+:: (?:pandas_dp\.)?([\w.]+)(?:\(.*\))?$", text, flags=re.MULTILINE))
    names |= {
        name
        for block in re.findall(r"^\.\. autosummary::\n(.*?)(?=^\S|\Z)", text, flags=re.MULTILINE | re.DOTALL)
        for name in block.split()
    }
    for owner, listed in re.findall(r"^\.\. autoclass:: (\w+)\n   :members: (.+)$", text, flags=re.MULTILINE):
        names |= {f"{owner}.{name.strip()}" for name in listed.split(",")}
    for module in PUBLIC_MODULES & set(re.findall(r"^\.\. automodule:: pandas_dp\.(\w+)\n   :members:$", text, flags=re.MULTILINE)):
        names |= {f"{module}.{name}" for name in importlib.import_module(f"pandas_dp.{module}").__all__}
    for owner in names & {"Release", "Preview"}:
        attributes = re.search(
            r"^Attributes\n-+\n(.*?)(?=^\w[^\n]*\n-+$|\Z)", inspect.getdoc(getattr(pandas_dp, owner)), flags=re.MULTILINE | re.DOTALL
        )
        names = names | {f"{owner}.{name}" for name in re.findall(r"^(\w+) : ", attributes[1], flags=re.MULTILINE)}
    return names


def test_the_reference_has_every_public_name():
    """Every public name, method, property and attribute stands in the reference; and the check knows what does not."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs/reference").glob("*.md")))
    found = documented_names(text)
    assert not public_names() - found
    without = text.replace("DataFrameDP.clamping_rate", "").replace("automodule:: pandas_dp.composition", "")
    assert {"DataFrameDP.clamping_rate", "composition.optimal"} <= public_names() - documented_names(without)


# Code on the pages


def cells(page):
    """Line and source of every code cell of a page."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start(2)), found[2]) for found in CELL.finditer(text)]


def run(page):
    """Run the cells in order, in one namespace, and show what the last expression of each gives, as a notebook does."""
    namespace = {"__name__": "__main__"}
    try:
        for line, source in cells(page):
            tree = ast.increment_lineno(ast.parse(source), line)
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, str(page), "exec"), namespace)  # noqa: S102  (our own pages)
            if last is not None:
                shown = eval(compile(ast.Expression(last.value), str(page), "eval"), namespace)  # noqa: S307
                assert isinstance(getattr(shown, "_repr_html_", shown.__repr__)(), str)
    finally:
        namespace["repeatable"].__exit__(None, None, None)  # which the first cell of every page enters


@pytest.mark.parametrize("page", [page for page in PAGES if cells(page)], ids=name_of)
def test_tutorials_run(page, monkeypatch):
    """The cells of every tutorial run in order, without Jupyter and without a warning, and what its hidden cells assert of the numbers in the text is true."""
    monkeypatch.setattr(registry, "named_sessions", {})
    contextvars.copy_context().run(run, page)


def idle(text, *, by_pytest):
    """The blocks of Python on a page that nothing runs."""
    blocks = [(found[3].strip(), found[4]) for found in FENCE.finditer(text)]
    return [
        body
        for info, body in blocks
        if info.split(" ")[0] in {"python", "py", "python3", "pycon", "ipython", "{code-block} python"}
        and not (by_pytest and ">>> " in body)
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_runs(page):
    """No page shows Python that neither pytest's doctests nor the test above run."""
    by_pytest = any(page == place or place in page.parents for place in RUN_BY_PYTEST)
    assert not idle(page.read_text(encoding="utf-8"), by_pytest=by_pytest)


def test_idle_blocks_are_found():
    """The check above sees a block without a prompt, and one with a prompt on a page that pytest does not read."""
    plain, prompted = "```python\nx = 1\n```\n", "```python\n>>> x = 1\n```\n"
    assert idle(plain, by_pytest=True)
    assert idle(prompted, by_pytest=False)
    assert not idle(prompted + "```bash\npytest\n```\n", by_pytest=True)


# Links and sources


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    """Every relative link of a page is a file, from where the page stands on a code host."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    assert [target for target in LINK.findall(text) if not (page.parent / target).exists()] == []


def cited():
    """First author, or first words, and year of every source that a docstring cites."""
    for module in sorted((ROOT / "pandas_dp").rglob("*.py")):
        for entry in re.findall(
            r"^ *\.\. \[\w+\] (.*?)(?=\n *\.\. \[|\n *\n|\n *\"\"\")", module.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
        ):
            one = " ".join(entry.split())
            author = re.match(r"(?:[A-Z]\.[- ]?)+ ?(\w+)", one)
            year = re.search(r"\b(?:19|20)\d\d\b", one)
            yield author[1] if author else " ".join(one.split()[:3]).rstrip(".,"), year[0] if year else ""


def test_the_bibliography_has_every_source():
    """What a docstring cites is in the bibliography, by first author and year."""
    entries = re.findall(r"^- (.*)$", (ROOT / "docs/bibliography.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    sources = set(cited())
    assert len(sources) > 20
    assert not {(author, year) for author, year in sources if not any(author in entry and year in entry for entry in entries)}
