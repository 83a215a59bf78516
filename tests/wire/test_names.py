"""Renaming a class or a field in Python changes nothing that is written."""

from __future__ import annotations

import importlib
import json
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import pytest

import pandas_dp
from pandas_dp.cells.cells import IntGrid
from pandas_dp.statistics.noise_laws import Laplace
from pandas_dp.wire import fingerprint, names
from pandas_dp.wire.codec import decode, encode
from pandas_dp.wire.fingerprint import digest_of
from pandas_dp.wire.former_paths import FORMER

RECORDS = Path(__file__).parents[1] / "compatibility" / "records"


@dataclass(frozen=True, slots=True)
class Renamed:
    """A stand-in for ``IntGrid`` under another name, whose fields have other names, too."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A stand-in for a class of questions."""

    column: str
    asked: int


@pytest.fixture
def renamed(monkeypatch):
    """The table as it would be after the change: one line for the class, and one for its field."""
    place = f"{__name__}:Renamed"
    first, second = (field.name for field in fields(IntGrid))
    monkeypatch.setitem(names.CLASSES, "IntGrid", place)
    monkeypatch.setitem(names._by_place, place, "IntGrid")
    monkeypatch.setitem(names.FIELDS, "IntGrid", {"least": first, "most": second})


def test_a_renamed_class_is_written_as_before(monkeypatch, renamed):
    """A class and a field under other names in Python have the JSON and the digest that they had, and are read back."""
    del renamed
    now, data = Renamed(0, 9), encode(Renamed(0, 9))
    digest = digest_of(now)
    monkeypatch.undo()
    before = IntGrid(0, 9)
    assert is_dataclass(before)
    assert data == encode(before)
    assert digest == digest_of(before)
    assert decode(data) == before


def test_a_renamed_class_is_read(renamed):
    """What was written before is read as the class of today."""
    del renamed
    first, second = names.FIELDS["IntGrid"].values()
    assert decode({"$": "IntGrid", "v": {first: 0, second: 9}}) == Renamed(0, 9)


def test_only_listed_classes_are_built():
    """A class of questions, or any other, is never built from a file; a class without a line cannot be written."""
    for name in (*names.QUESTIONS, "Renamed", "os"):
        with pytest.raises(KeyError):
            decode({"$": name, "v": {}})
    with pytest.raises(TypeError, match="a ledger cannot hold a Renamed"):
        encode(Renamed(0, 9))
    with pytest.raises((KeyError, IndexError)):
        decode({"$": "other", "v": 0})


def test_a_field_that_follows_is_known_by_its_written_name(monkeypatch):
    """A renamed field that a digest leaves out is still left out, and one that it counts still counts."""
    monkeypatch.setitem(names._by_place, f"{__name__}:Choice", "Choice")
    without = digest_of(Choice("age", 1))
    assert without != digest_of(Choice("age", 2))
    monkeypatch.setitem(names.FIELDS, "Choice", {"asked": "grid"})
    assert "grid" in fingerprint._FOLLOWS
    assert digest_of(Choice("age", 1)) == digest_of(Choice("age", 2))


def test_means_may_stand_for_fields(monkeypatch):
    """A class that says by ``means()`` which fields it stands for has the digest of a dataclass that has them."""
    monkeypatch.setitem(names._by_place, f"{__name__}:Choice", "Choice")

    class Split:
        def means(self):
            return {"column": "age", "asked": 1}

    monkeypatch.setitem(names._by_place, f"{Split.__module__}:{Split.__qualname__}", "Choice")
    assert digest_of(Split()) == digest_of(Choice("age", 1))


def test_noise_is_written_by_its_fields():
    """An encoded class holds its written name and its fields, and nothing else."""
    data = encode(Laplace(5))
    assert data["$"] == "Laplace"
    assert set(data["v"]) == {field.name for field in fields(Laplace)}


def test_former_modules_give_what_the_table_says():
    """Each former module has the names of the table, which are the classes of today, and no others; no other module is served."""
    for module, table in FORMER.items():
        sys.modules.pop(module, None)
        served = importlib.import_module(module)
        assert {name for name in vars(served) if not name.startswith("__")} == set(table)
        for name, place in table.items():
            where, called = place.split(":")
            assert getattr(served, name) is getattr(importlib.import_module(where), called)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("pandas_dp.nothing")
    assert sum(type(finder).__name__ == "_FormerModules" for finder in sys.meta_path) == 1
    importlib.reload(pandas_dp)
    assert sum(type(finder).__name__ == "_FormerModules" for finder in sys.meta_path) == 1


def written(data):
    """All names of classes with their fields in an encoded answer."""
    if isinstance(data, list):
        return {one for part in data for one in written(part)}
    if not isinstance(data, dict):
        return set()
    own = {(data["$"], tuple(data["v"]))} if data.get("$") in names.CLASSES else set()
    return own | {one for part in data.values() for one in written(part)}


def test_the_wire_names_are_those_of_the_first_version():
    """Every class of answers is written under the name and with the fields of the first version, byte for byte; its files have all of them."""
    answers = []
    for path in sorted(RECORDS.glob("*.sqlite")):
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            bodies = connection.execute("SELECT body FROM records WHERE kind = 'answer' ORDER BY number")
            answers += [json.loads(text)["release"] for (text,) in bodies]
    assert {name for name, _ in written(answers)} == set(names.CLASSES)
    for body in answers:
        assert encode(decode(body)) == body


def test_the_table_is_true():
    """Each written name leads to a class, and back."""
    for table in (names.CLASSES, names.QUESTIONS):
        for name, place in table.items():
            module, called = place.split(":")
            assert names.name_of(getattr(importlib.import_module(module), called)) == name
    assert not set(names.CLASSES) & set(names.QUESTIONS)
