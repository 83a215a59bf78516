"""The house: its picture and its page say what the code says, and imports go down only."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/contributing/architecture.md"


def loaded():
    """The script that draws, which is in no package."""
    path = ROOT / "docs/contributing/draw_house.py"
    spec = importlib.util.spec_from_file_location("draw_house", path)
    script = importlib.util.module_from_spec(spec)
    sys.modules["draw_house"] = script
    spec.loader.exec_module(script)
    return script


script = loaded()


@pytest.fixture(scope="module")
def house():
    """What the source of the package says."""
    return script.read(ROOT / "pandas_dp")


def made_up(root, **sources):
    """A package of one module for each source."""
    package = root / "made_up"
    for name, source in {"__init__": '"""Made up."""\n', **sources}.items():
        path = package / f"{name.replace('__in__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return script.read(package)


# Imports go down only


def test_no_module_imports_itself_in_the_end(house):
    """No circle of imports between modules: those for type checkers and those inside functions count."""
    assert script.circles(house.modules) == []


def test_no_room_imports_itself_in_the_end(house):
    """No circle of imports between rooms, so that each has a floor below all that import it."""
    assert script.circles(house.rooms()) == []


@pytest.mark.parametrize(
    "back",
    [
        "from made_up import upper\n",
        "import made_up.upper\n",
        "from . import upper\n",
        "from .upper import NAME\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made_up.upper import NAME\n",
        "def later():\n    from made_up.upper import NAME\n    return NAME\n",
        "class Box:\n    def later(self):\n        import made_up.upper as other\n        return other\n",
    ],
    ids=[
        "from the package",
        "by its name",
        "relative",
        "relative, of a module",
        "for type checkers",
        "inside a function",
        "inside a method",
    ],
)
def test_a_circle_is_found(tmp_path, back):
    """Two made-up modules that import each other are a circle, in whichever way the lower one imports the upper; without that there is none."""
    upper = "from made_up.lower import WORD\nNAME = WORD\n"
    assert script.circles(made_up(tmp_path / "with", upper=upper, lower=back).modules) == [["made_up.lower", "made_up.upper"]]
    assert script.circles(made_up(tmp_path / "without", upper=upper, lower="WORD = 1\n").modules) == []


def test_a_circle_of_rooms_is_found(tmp_path):
    """Rooms that import each other through different modules are a circle of rooms, where no two modules are one."""
    house = made_up(
        tmp_path,
        one__in____init__="",
        one__in__first="from made_up.two.first import WORD\n",
        one__in__second="NAME = 1\n",
        two__in____init__="",
        two__in__first="WORD = 1\n",
        two__in__second="from ..one import second\n",
    )
    assert script.circles(house.modules) == []
    assert script.circles(house.rooms()) == [["one", "two"]]


def test_a_name_in_quotes_is_listed_apart(tmp_path):
    """What a module imports by a name in quotes is listed, and is no arrow."""
    house = made_up(tmp_path, one="from importlib import import_module\nimport_module('made_up.two')\n", two="")
    assert house.by_name == {"made_up.one": {"made_up.two"}}
    assert house.modules["made_up.one"] == set()
    assert "by name: made_up.one -> made_up.two" in script.edges(house)


# The picture


def test_the_picture_is_what_the_code_says(house):
    """The picture in the tree is the one that the script draws; if it is not, run ``python docs/contributing/draw_house.py``."""
    assert script.PICTURE.read_text(encoding="utf-8") == script.draw(house)


def test_the_picture_changes_with_an_import(tmp_path):
    """One import more, and the picture is another."""
    sources = {"upper": '"""Upper."""\n', "lower": '"""Lower."""\n'}
    before = script.draw(made_up(tmp_path / "before", **sources))
    after = script.draw(made_up(tmp_path / "after", **{**sources, "upper": '"""Upper."""\nimport made_up.lower\n'}))
    assert before != after
    assert after.count('class="arrow"') == before.count('class="arrow"') + 1


def test_every_room_is_drawn_below_those_that_import_it(house):
    """Every room has a box, no box leaves the picture or lies on another, and every room is lower than all that import it."""
    picture = ET.fromstring(script.draw(house))  # noqa: S314  (drawn just now)
    space = "{http://www.w3.org/2000/svg}"
    boxes = {}
    for group in picture.iter(f"{space}g"):
        box = group.find(f"{space}rect").attrib
        boxes[group.find(f"{space}text").text] = [float(box[name]) for name in ("x", "y", "width", "height")]
    assert set(boxes) == set(house.rooms())
    for name, (x, y, width, height) in boxes.items():
        assert 0 < x < x + width < float(picture.attrib["width"])
        assert 0 < y < y + height < float(picture.attrib["height"])
        for left, top, wide, high in (box for other, box in boxes.items() if other != name):
            assert x >= left + wide or left >= x + width or y >= top + high or top >= y + height
    assert [(room, other) for room, below in house.rooms().items() for other in below if boxes[room][1] >= boxes[other][1]] == []


def test_arrows_beside_a_longer_way_are_left_out():
    """The reduction keeps every way, and no arrow beside a longer one."""
    graph = {"a": {"b", "c", "d"}, "b": {"d"}, "c": {"d"}, "d": set()}
    assert script.reduced(graph) == {"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}
    assert script.floors(graph) == {"a": 2, "b": 1, "c": 1, "d": 0}


# The page


def rooms_of(text):
    """The rooms of the page's table: the name, the job and what it may not do."""
    table = re.search(r"^\| room \|.*?\n\n", text, flags=re.MULTILINE | re.DOTALL)[0]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.strip().splitlines()[2:]]
    return {name.strip("` /"): rest for name, *rest in rows}


def test_the_page_has_the_rooms_that_exist(house):
    """The table on the page has exactly the rooms that exist, each with a job and one thing that it may not do."""
    rooms = rooms_of(PAGE.read_text(encoding="utf-8"))
    assert set(rooms) == set(house.rooms())
    for name, cells in rooms.items():
        assert len(cells) == 2, name
        assert all(cells), name
        assert re.fullmatch(r"[^.]+\.", cells[1].replace("*.py", "").replace("`", "")), name


def modules_named(text):
    """The files that a page names by their path in the package, as ``room/module.py``."""
    return set(re.findall(r"`(?:pandas_dp/)?(\w+/\w+\.py)`", text))


def test_the_page_names_modules_that_exist():
    """Every file that the page names by room and module exists."""
    named = modules_named(PAGE.read_text(encoding="utf-8"))
    assert len(named) > 3
    assert sorted(name for name in named if not (ROOT / "pandas_dp" / name).exists()) == []
    assert modules_named("in `release/nowhere.py`, see `pandas_dp/cells/cells.py`") == {"release/nowhere.py", "cells/cells.py"}


def test_every_test_room_is_a_room(house):
    """The folders of tests are named as the rooms are, but for promises and compatibility, which are about all of them, pages, mutations and benchmarks."""
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and not path.name.startswith(("_", "."))}
    assert folders - {"promises", "compatibility", "docs", "mutation", "benchmarks"} <= set(house.rooms())
