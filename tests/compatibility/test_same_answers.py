"""The first version's answers, errors, books and use of randomness, question by question."""

from __future__ import annotations

import copy

import pytest
from compatibility.ask import SURFACES, ask_all, counted_noise
from compatibility.canonical import record
from compatibility.frames import people
from compatibility.stored import difference, read

from pandas_dp.testing import unsafe_seeded_noise

RECORDED = read("answers.json")


@pytest.fixture(scope="module")
def answered():
    return ask_all()


@pytest.mark.parametrize("query", RECORDED)
def test_same_answer(query, answered):
    """Asked with the same noise, a query gives the recorded answer, intervals, price, ledger line and error, and asks the source of entropy for as many bytes in as many calls."""
    assert query in answered, f"{query!r} is asked no more"
    found = difference(RECORDED[query], answered[query])
    assert found is None, f"{query!r} is answered otherwise than by the first version: {found}"


def test_same_queries(answered):
    """Every query that is asked is recorded, and no record is left over; every surface has some."""
    assert list(answered) == list(RECORDED)
    assert {name.split(":")[0] for name in RECORDED} == set(SURFACES)
    assert sum("several_quantiles" in one for one in RECORDED.values()) > 20


def test_the_noise_is_the_public_one():
    """What draws the noise here, and counts it, draws what the public context of tests draws."""
    df = people()
    sizes = []
    with counted_noise("seed", sizes):
        counted = df.dp.describe("age", bounds=(0, 90), epsilon=1)
    with unsafe_seeded_noise("seed"):
        public = df.dp.describe("age", bounds=(0, 90), epsilon=1)
    assert record(counted) == record(public)
    assert len(sizes) > 5


ALTERED = {
    "an answer": ("counts: rows", ("answer", "value"), "241"),
    "an end of an interval": ("dtypes: mean charge", ("releases", 0, "interval", 1, "value"), "1.0"),
    "a group": ("groups: mean", ("answer", "values", 2), "7.5"),
    "a label": ("groups: size", ("answer", "index", "values", 0), "'south'"),
    "a price": ("prices: a text, pure", ("releases", 0, "cost", 0), "Epsilon 1/4"),
    "a line of the ledger": ("counts: rows", ("releases", 0, "line", "scale"), "11.0"),
    "an error": ("refusals: no bounds", ("says",), "no bounds"),
    "a draw": ("counts: rows", ("entropy", "calls"), 0),
    "the budget": ("counts: books 1", ("spent",), "Epsilon 0/1"),
}


@pytest.mark.parametrize("altered", ALTERED)
def test_what_was_altered_is_found(altered, answered):
    """A record in which one thing was altered is found, and the place is named."""
    query, place, value = ALTERED[altered]
    other = copy.deepcopy(RECORDED[query])
    inside = other
    for step in place[:-1]:
        inside = inside[step]
    assert inside[place[-1]] != value
    inside[place[-1]] = value
    assert difference(other, answered[query]).startswith("/" + "/".join(map(str, place)) + ": ")
