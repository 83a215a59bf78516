"""Draw the house: which room of the package imports which, read from its source.

It needs the standard library alone::

    python docs/contributing/draw_house.py             # write house.svg beside this file
    python docs/contributing/draw_house.py --check     # exit 1 if house.svg is not what the code says
    python docs/contributing/draw_house.py --edges     # every import between rooms, as text
    python docs/contributing/draw_house.py --circles   # every circle of imports; exit 1 if there is one

A *room* is a folder or a module at the first level of the package.  Every import counts, also those for type checkers and those inside functions.
A room's *floor* is the longest way down from it: a room stands above everything that it imports.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from math import fsum
from pathlib import Path

Graph = dict[str, set[str]]

PICTURE = Path(__file__).with_name("house.svg")
ROOT = Path(__file__).parents[2] / "pandas_dp"

USED_BY_ALL = {"errors", "quantities", "results"}
"""Rooms that nearly every other imports: they are drawn, and the arrows to them are not."""


# What the source says


@dataclass(frozen=True)
class House:
    """What the source of a package says about itself."""

    package: str
    modules: Graph
    """From every module to those that it imports."""
    docstrings: dict[str, str]
    """Of every module."""
    by_name: Graph = field(default_factory=dict)
    """From a module to those that it imports by ``import_module`` and a name in quotes: no arrow shows them."""
    offered: frozenset[str] = frozenset()
    """The rooms that users import, or whose names the package itself offers."""

    def room_of(self, module: str) -> str:
        """Return the room in which a module is: its first name below the package, or the package itself."""
        return [*module.split("."), self.package][1]

    def rooms(self) -> Graph:
        """Return which room imports which."""
        rooms: Graph = {self.room_of(module): set() for module in self.modules}
        for module, imported in self.modules.items():
            room = self.room_of(module)
            rooms[room] |= {self.room_of(name) for name in imported} - {room}
        return rooms

    def size(self, room: str) -> int:
        """Return the number of a room's modules, without the ``__init__`` of a folder that has others."""
        return max(1, sum(self.room_of(module) == room for module in self.modules) - (f"{self.package}.{room}" in self.modules))

    def job(self, room: str) -> str:
        """Return the first sentence of a room's docstring, without markup and without the room's own name before a colon."""
        text = " ".join(self.docstrings[self.package if room == self.package else f"{self.package}.{room}"].split())
        sentence = re.sub(r":\w+:`~?([^`]*)`", r"\1", re.split(r"(?<=\.)\s", text)[0]).replace("`", "").removesuffix(".")
        name, colon, rest = sentence.partition(": ")
        return rest[0].upper() + rest[1:] if colon and name.casefold() == room.casefold() else sentence


def read(root: Path) -> House:
    """Read a package: its modules, what each imports, and what each says of itself."""
    package = root.name
    trees: dict[str, tuple[Path, ast.Module]] = {}
    for path in sorted(root.rglob("*.py")):
        names = [package, *path.relative_to(root).with_suffix("").parts]
        trees[".".join(names[:-1] if names[-1] == "__init__" else names)] = (path, ast.parse(path.read_text(encoding="utf-8")))
    modules: Graph = {}
    by_name: Graph = {}
    for module, (path, tree) in trees.items():
        static, named = _imports(tree, module if path.name == "__init__.py" else module.rpartition(".")[0])
        modules[module] = {_known(name, trees) for name in static} - {module, ""}
        if quoted := {_known(name, trees) for name in named} - {module, ""}:
            by_name[module] = quoted
    house = House(package, modules, {module: ast.get_docstring(tree) or "" for module, (_, tree) in trees.items()}, by_name)
    words = {str(node.value) for node in ast.walk(trees[package][1]) if isinstance(node, ast.Constant)}
    offered = {house.room_of(name) for name in modules[package]} | (words & house.rooms().keys())
    return House(house.package, modules, house.docstrings, by_name, frozenset(offered))


def _imports(tree: ast.Module, inside: str) -> tuple[set[str], set[str]]:
    """Return the names that a module imports, wherever it does so, and those that it imports by a name in quotes."""
    static: set[str] = set()
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            static |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = inside.split(".")[: inside.count(".") + 2 - node.level] if node.level else []
            static |= {".".join([*above, *([node.module] if node.module else []), alias.name]) for alias in node.names}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", None))
            named |= {str(node.args[0].value)} if called == "import_module" else set()
    return static, named


def _known(name: str, modules: dict[str, tuple[Path, ast.Module]]) -> str:
    """Return the module that a dotted name is, or is in; the empty string for one of another package."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


# Graphs


def circles(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components of a graph that have more than one member: whoever is in one imports itself in the end."""
    return [part for part in components(graph) if len(part) > 1]


def components(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components of a graph, each sorted, those first that import no other (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        for following in sorted(graph[node]):
            if following not in number:
                visit(following)
                low[node] = min(low[node], low[following])
            elif following in stack:
                low[node] = min(low[node], number[following])
        if low[node] == number[node]:
            start = stack.index(node)
            found.append(sorted(stack[start:]))
            del stack[start:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def floors(graph: Graph) -> dict[str, int]:
    """Return the longest way down from every node; those of a circle share a floor."""
    floor: dict[str, int] = {}
    for part in components(graph):
        below = {name for node in part for name in graph[node]} - set(part)
        floor |= dict.fromkeys(part, 1 + max((floor[name] for name in below), default=-1))
    return floor


def reduced(graph: Graph) -> Graph:
    """Return the arrows without which some way would be lost: no arrow beside a longer way, and none within a circle."""
    part_of = {node: index for index, part in enumerate(components(graph)) for node in part}
    ways: dict[int, set[int]] = {}
    for part in components(graph):  # from the bottom up: what is below is known
        own = part_of[part[0]]
        below = {part_of[name] for node in part for name in graph[node]} - {own}
        ways[own] = below.union(*(ways[index] for index in below))
    result: Graph = {node: set() for node in graph}
    for node, imported in graph.items():
        below = {part_of[name] for other in graph if part_of[other] == part_of[node] for name in graph[other]} - {part_of[node]}
        longer: set[int] = set().union(*(ways[index] for index in below))
        result[node] = {name for name in imported if part_of[name] in below - longer}
    return result


# The picture

WIDTH = 1000
EDGE = 22  # left and right of the boxes
LANE = 14  # the width of an arrow that passes a floor
SPACE = 16  # between two boxes of a floor
GAP = (38, 66)  # the least and greatest height between two floors
TOP = 70
BOX = (196, 280)  # the least and greatest width
LINE = 17  # from a line of text to the next
TEXT = 13  # the size of letters
PADDING = 11

KEY = "Green: what users import.  Dashed: used by nearly all, so without arrows.  An arrow beside a longer way is left out."
STYLE = """
    .paper { fill: #ffffff; }
    text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; fill: #3b4654; }
    .title { font-size: 19px; font-weight: 600; fill: #17202b; }
    .small { font-size: 13px; }
    .room { fill: #f4f7fa; stroke: #9fb0c3; stroke-width: 1.2; }
    .offered .room { fill: #e9f3f0; stroke: #2f8f78; }
    .shared .room { stroke-dasharray: 4 3; fill: none; }
    .circle .room { stroke: #c0392b; stroke-width: 2; }
    .name { font-size: 16px; font-weight: 650; fill: #17202b; }
    .offered .name { fill: #14705b; }
    .job { font-size: 13px; }
    .size { font-size: 11.5px; fill: #6d7a89; text-anchor: end; }
    .shared .job { fill: #6d7a89; }
    .arrow { fill: none; stroke: #7b8da1; stroke-width: 1.35; }
    .head { fill: #7b8da1; stroke: none; }
    .warning { fill: #c0392b; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #14181d; }
      text { fill: #b9c4d0; }
      .title, .name { fill: #f0f4f8; }
      .room { fill: #1f262e; stroke: #566577; }
      .offered .room { fill: #17302b; stroke: #3fae93; }
      .shared .room { fill: none; }
      .circle .room { stroke: #ff7b6b; }
      .offered .name { fill: #6fd6bd; }
      .size, .shared .job { fill: #8794a3; }
      .arrow { stroke: #74869a; }
      .head { fill: #74869a; }
      .warning { fill: #ff7b6b; }
    }
"""


@dataclass
class Place:
    """Where a box, or an arrow that passes a floor, stands."""

    width: float
    x: float = 0.0
    """Its middle."""
    above: list[str] = field(default_factory=list)
    below: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """The text of a box; none for an arrow that passes."""


def draw(house: House) -> str:
    """Return the picture, as SVG."""
    rooms = house.rooms()
    arrows = reduced({room: imported - USED_BY_ALL for room, imported in rooms.items()})
    floor = _raised(rooms, arrows)
    layers: list[list[str]] = [sorted(room for room in rooms if floor[room] == number) for number in range(max(floor.values()) + 1)]
    places = {room: Place(0.0) for room in rooms}
    ways = [_way(room, other, floor, layers, places) for room in sorted(rooms) for other in sorted(arrows[room])]
    for layer in layers:
        boxes = [name for name in layer if name in rooms]
        free = WIDTH - 2 * EDGE - LANE * (len(layer) - len(boxes)) - SPACE * len(layer)
        for name in boxes:
            places[name].width = min(BOX[1], free / len(boxes))
            places[name].lines = balanced(house.job(name), places[name].width - 2 * PADDING)
    _order(layers, places)
    _spread(layers, places)
    return _svg(house, layers, places, ways)


def _raised(rooms: Graph, arrows: Graph) -> dict[str, int]:
    """Return the floor on which each room is drawn: its own, or a higher one below all that import it, so that arrows are short and floors not crowded."""
    floor = floors(rooms)
    fixed = {room for part in circles(rooms) for room in part} | {room for room in rooms if room in USED_BY_ALL}
    importers: Graph = {room: {other for other in rooms if room in rooms[other]} for room in rooms}
    highest = max(floor.values())

    def cost(drawn: dict[str, int]) -> float:
        total = float(sum(drawn[room] - drawn[other] for room in rooms for other in arrows[room]))
        for number in range(highest + 1):
            boxes = sum(drawn[room] == number for room in rooms)
            lanes = sum(drawn[room] > number > drawn[other] for room in rooms for other in arrows[room])
            total += 0.2 * max(0, boxes * (BOX[0] + SPACE) + lanes * (LANE + SPACE / 3) - (WIDTH - 2 * EDGE))
        return total

    better = True
    while better:
        better = False
        for room in sorted(rooms.keys() - fixed):
            least = 1 + max((floor[other] for other in rooms[room]), default=-1)
            most = min((floor[other] for other in importers[room]), default=highest + 1) - 1
            cheapest, highest_of_them = min((cost({**floor, room: number}), -number) for number in range(least, most + 1))
            better = better or cheapest < cost(floor)
            floor[room] = -highest_of_them
    return floor


def _way(room: str, other: str, floor: dict[str, int], layers: list[list[str]], places: dict[str, Place]) -> list[str]:
    """Lead an arrow down from a room to another: return the room, the places where it passes a floor, and the other."""
    way = [room]
    for number in range(floor[room] - 1, floor[other], -1):
        name = f"{room} > {other} @ {number:02}"
        places[name] = Place(LANE)
        layers[number].append(name)
        way.append(name)
    way.append(other)
    for upper, lower in pairwise(way):
        places[upper].below.append(lower)
        places[lower].above.append(upper)
    return way


def _order(layers: list[list[str]], places: dict[str, Place]) -> None:
    """Order each floor so that few arrows cross: every place near the middle of its neighbours, up and down the house in turn, and the best kept."""
    best, fewest = [list(layer) for layer in layers], crossings(layers, places)
    for sweep in range(60):
        upwards = bool(sweep % 2)
        for layer in layers if upwards else reversed(layers):
            at = {name: index / max(1, len(row)) for row in layers for index, name in enumerate(row)}
            wanted = {}
            for name in layer:
                near = places[name].below if upwards else places[name].above
                wanted[name] = fsum(at[other] for other in near) / len(near) if near else at[name]
            layer.sort(key=lambda name: (not (places[name].above or places[name].below), wanted[name], name))
        _swap(layers, places)
        if (count := crossings(layers, places)) < fewest:
            best, fewest = [list(layer) for layer in layers], count
    for layer, good in zip(layers, best, strict=True):
        layer[:] = good


def _swap(layers: list[list[str]], places: dict[str, Place]) -> None:
    """Swap neighbours of a floor wherever that saves a crossing."""
    for layer in layers:
        for index in range(len(layer) - 1):
            before = crossings(layers, places)
            layer[index], layer[index + 1] = layer[index + 1], layer[index]
            if crossings(layers, places) >= before:
                layer[index], layer[index + 1] = layer[index + 1], layer[index]


def crossings(layers: list[list[str]], places: dict[str, Place]) -> int:
    """Return how many pairs of arrows cross between two floors."""
    at = {name: index for layer in layers for index, name in enumerate(layer)}
    count = 0
    for layer in layers:
        pairs = sorted((at[name], at[other]) for name in layer for other in places[name].below)
        count += sum(first[0] < second[0] and first[1] > second[1] for index, first in enumerate(pairs) for second in pairs[index + 1 :])
    return count


def _spread(layers: list[list[str]], places: dict[str, Place]) -> None:
    """Give every place its x: as near to the middle of its neighbours as its floor's order and widths allow."""
    for layer in layers:
        _align(layer, places, [WIDTH / 2] * len(layer), [1] * len(layer))
    for sweep in range(40):
        for layer in layers if sweep % 2 else reversed(layers):
            wanted, pull = [], []
            for name in layer:
                near = places[name].above + places[name].below
                pulls = [
                    1 if places[name].lines or places[other].lines else 8 for other in near
                ]  # an arrow that passes floors goes straight
                at = [places[other].x * weight for other, weight in zip(near, pulls, strict=True)]
                wanted.append(fsum(at) / sum(pulls) if near else WIDTH - EDGE - places[name].width / 2)
                pull.append(sum(pulls) or 1)
            _align(layer, places, wanted, pull)


def _align(layer: list[str], places: dict[str, Place], wanted: list[float], pull: list[int]) -> None:
    """Put a floor as near as can be to where it is wanted, in the sense of least squares, in its order and without overlap."""
    offsets, total = [], 0.0
    for index, name in enumerate(layer):
        if index:
            previous = places[layer[index - 1]]
            total += (previous.width + places[name].width) / 2 + SPACE * (1.0 if previous.lines or places[name].lines else 0.3)
        offsets.append(total)
    blocks: list[tuple[float, int, int]] = []  # the mean of each run that is pushed together, its weight and its length
    for want, offset, weight in zip(wanted, offsets, pull, strict=True):
        blocks.append((want - offset, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (mean, heavy, long), (other, light, short) = blocks.pop(), blocks.pop()
            blocks.append(((mean * heavy + other * light) / (heavy + light), heavy + light, long + short))
    starts = [mean for mean, _, run in blocks for _ in range(run)]
    least = EDGE + places[layer[0]].width / 2
    most = WIDTH - EDGE - places[layer[-1]].width / 2 - offsets[-1]
    for name, start, offset in zip(layer, starts, offsets, strict=True):
        places[name].x = min(max(start, least), max(most, least)) + offset


def balanced(text: str, width: float) -> list[str]:
    """Break a text into as few lines as fit a width, of about the same length."""
    lines = wrapped(text, width)
    while len(narrower := wrapped(text, width := width - 4)) == len(lines) and width > BOX[0] / 2:
        lines = narrower
    return lines


def wrapped(text: str, width: float) -> list[str]:
    """Break a text into lines of at most a width, by the widths of letters in a wide typeface."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and length(longer) * TEXT > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def length(text: str) -> float:
    """Return about how long a text is, in multiples of its letters' size."""
    tenths = (3 if letter in "ijlI.,:;'|! " else 4 if letter in "frt()[]-/`" else 9 if letter in "mwMW—@" else 6 for letter in text)
    return sum(tenths) / 10


def _svg(house: House, layers: list[list[str]], places: dict[str, Place], ways: list[list[str]]) -> str:
    """Write the picture down."""
    rooms = house.rooms()
    number = {name: index for index, layer in enumerate(layers) for name in layer}
    tall = [38 + LINE * max(len(places[name].lines) for name in layer) for layer in layers]
    gaps = [min(GAP[1], GAP[0] + 2.5 * sum(len(places[name].above) for name in layer)) for layer in layers]
    tops, y = [0.0] * len(layers), float(TOP)
    for index in range(len(layers) - 1, -1, -1):
        tops[index] = y
        y += tall[index] + (gaps[index - 1] if index else EDGE)
    in_circle = {room for part in circles(rooms) for room in part}
    height = round(y + (LINE if in_circle else 0))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" aria-labelledby="t d">',
        f'  <title id="t">The rooms of {house.package}</title>',
        f'  <desc id="d">{escape(_told(rooms, house))}</desc>',
        f"  <style>{STYLE}  </style>",
        f'  <rect class="paper" width="{WIDTH}" height="{height}" rx="10"/>',
        f'  <text class="title" x="{EDGE}" y="33">The rooms of {house.package}: each imports from below, and never from above</text>',
        f'  <text class="small" x="{EDGE}" y="54">{KEY}</text>',
    ]
    for way in ways:
        out.extend(_arrow(way, number, tops, tall, places))
    for layer, top, high in zip(reversed(layers), reversed(tops), reversed(tall), strict=True):
        for name in layer:
            if name in rooms:
                kinds = {"offered": name in house.offered or name.startswith(("__", house.package)), "shared": name in USED_BY_ALL}
                kinds["circle"] = name in in_circle
                out.extend(_box(name, house.size(name), places[name], (top, high), [kind for kind, holds in kinds.items() if holds]))
    if in_circle:
        told = "; ".join(", ".join(part) for part in circles(rooms))
        out.append(
            f'  <text class="small warning" x="{EDGE}" y="{height - 18}">Red: these import each other in a circle: {escape(told)}.</text>'
        )
    return "\n".join([*out, "</svg>", ""])


def _told(rooms: Graph, house: House) -> str:
    """Say the picture in words, from top to bottom."""
    floor = floors(rooms)
    return " ".join(f"{room}: {house.job(room)}." for room in sorted(rooms, key=lambda room: (-floor[room], room)))


def _box(name: str, size: int, place: Place, span: tuple[float, float], kinds: list[str]) -> list[str]:
    """Return a room, as SVG."""
    left, top = place.x - place.width / 2, span[0]
    count = f"{size} module{'s' * (size > 1)}"
    if length(name) * 17.5 + length(count) * 11.5 > place.width - 2.5 * PADDING:
        count = str(size)
    return [
        f'  <g class="{" ".join(["box", *kinds])}">',
        f'    <rect class="room" x="{left:.1f}" y="{top:.1f}" width="{place.width:.1f}" height="{span[1]:.1f}" rx="6"/>',
        f'    <text class="name" x="{left + PADDING:.1f}" y="{top + 22:.1f}">{escape(name)}</text>',
        f'    <text class="size" x="{left + place.width - PADDING:.1f}" y="{top + 21:.1f}">{count}</text>',
        *(
            f'    <text class="job" x="{left + PADDING:.1f}" y="{top + 42 + LINE * index:.1f}">{escape(line)}</text>'
            for index, line in enumerate(place.lines)
        ),
        "  </g>",
    ]


def _arrow(way: list[str], number: dict[str, int], tops: list[float], tall: list[int], places: dict[str, Place]) -> list[str]:
    """Return an arrow, as SVG: straight down where it passes a floor, and in a curve from floor to floor."""
    x = _port(way[0], way[1], places, below=True)
    y = tops[number[way[0]]] + tall[number[way[0]]]
    path = [f"M {x:.1f} {y:.1f}"]
    for previous, name in pairwise(way):
        last = name == way[-1]
        aim = _port(name, previous, places, below=False) if last else places[name].x
        top = tops[number[name]] - (6 if last else 0)
        bend = 0.6 * (top - y)
        path.append(f"C {x:.1f} {y + bend:.1f} {aim:.1f} {top - bend:.1f} {aim:.1f} {top:.1f}")
        x, y = aim, top
        if not last:
            y = tops[number[name]] + tall[number[name]]
            path.append(f"V {y:.1f}")
    return [
        f'  <path class="arrow" d="{" ".join(path)}"/>',
        f'  <path class="head" d="M {x - 4:.1f} {y - 2:.1f} L {x + 4:.1f} {y - 2:.1f} L {x:.1f} {y + 5.5:.1f} Z"/>',
    ]


def _port(name: str, other: str, places: dict[str, Place], *, below: bool) -> float:
    """Return where an arrow leaves or meets a box: beside each other, in the order of where they go."""
    place = places[name]
    near = sorted(place.below if below else place.above, key=lambda neighbour: (places[neighbour].x, neighbour))
    step = min(34.0, 0.8 * place.width / len(near))
    return place.x + step * (near.index(other) - (len(near) - 1) / 2)


# The command


def edges(house: House) -> list[str]:
    """Return every import between two rooms, as lines of text, and those by a name in quotes."""
    lines = []
    for room, imported in sorted(house.rooms().items()):
        for other in sorted(imported):
            pairs = [
                f"{module.removeprefix(house.package + '.')} -> {name.removeprefix(house.package + '.')}"
                for module, names in house.modules.items()
                for name in sorted(names)
                if (house.room_of(module), house.room_of(name)) == (room, other)
            ]
            lines.append(f"{room} -> {other}: {', '.join(pairs)}")
    lines.extend(f"by name: {module} -> {', '.join(sorted(names))}" for module, names in sorted(house.by_name.items()))
    return lines


def main(arguments: list[str]) -> int:
    """Draw, check or list; return the exit code."""
    parser = argparse.ArgumentParser(description="Draw which room of the package imports which.")
    parser.add_argument("--check", action="store_true", help="exit 1 if the picture is not what the code says")
    parser.add_argument("--edges", action="store_true", help="list every import between rooms")
    parser.add_argument("--circles", action="store_true", help="list circles of imports; exit 1 if there is one")
    asked = parser.parse_args(arguments)
    house = read(ROOT)
    if asked.edges:
        print("\n".join(edges(house)))
        return 0
    if asked.circles:
        found = {"modules": circles(house.modules), "rooms": circles(house.rooms())}
        for kind, parts in found.items():
            for part in parts:
                print(f"{len(part)} {kind} in a circle: {', '.join(part)}")
        return int(any(found.values()))
    picture = draw(house)
    if asked.check:
        known = PICTURE.read_text(encoding="utf-8") if PICTURE.exists() else ""
        if known != picture:
            print(f"{PICTURE.name} is not what the code says; draw it again: python docs/contributing/{Path(__file__).name}")
        return int(known != picture)
    PICTURE.write_text(picture, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
