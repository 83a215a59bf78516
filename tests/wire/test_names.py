"""Renaming a class or a field in Python changes nothing that is written."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass

import pytest

from pandas_dp.cells.cells import IntGrid
from pandas_dp.statistics.noise_laws import Laplace
from pandas_dp.wire import fingerprint, names
from pandas_dp.wire.codec import decode, encode
from pandas_dp.wire.fingerprint import digest_of


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
