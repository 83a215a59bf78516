"""The contract of engines: kept by the pandas engine and by the one that the documentation builds, and broken engines are caught."""

from __future__ import annotations

import doctest
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pandas_dp.engines.conformance import SALT, Hostile, cases
from pandas_dp.engines.contract import Contribution, Sums, contained
from pandas_dp.engines.pandas import PandasSource
from pandas_dp.lineage.roster import Roster
from pandas_dp.testing import check_engine

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "add-an-engine.md"


def joined(partitions, contribution):
    """The pandas engine's source of the partitions, one after the other."""
    frame = pd.concat(partitions, ignore_index=True) if len(partitions) > 1 else partitions[0].reset_index(drop=True)
    return PandasSource(frame, Roster(frame, "", contribution.unit, contribution.max_rows))


def test_the_pandas_engine_conforms():
    """The pandas engine reads partitions one after the other as it reads the whole frame, in whatever dtypes they are, and refuses no plan."""
    assert check_engine(joined) == []


def page_engine():
    """What the page defines before it asks for the check."""
    examples = doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8"))
    namespace = {}
    for example in examples:
        if example.source.startswith(("import ", "from ", "def ", "class ")):
            exec(compile(example.source, str(PAGE), "exec"), namespace)  # noqa: S102  (the page is ours)
            if example.source.startswith("def source_of"):
                break
    return namespace


def test_plain_python_conforms_to_the_contract():
    """An engine in plain Python, which shares no reading code with ours, gives the same integers, and says which plan it cannot read."""
    assert check_engine(page_engine()["source_of"]) == ["one group each"]


class Faulty:
    """A reader with one fault."""

    def __init__(self, reader, **rounds):
        self.reader = reader
        for name, made in rounds.items():
            setattr(self, name, lambda *arguments, made=made, name=name: made(getattr(reader, name)(*arguments)))

    def __getattr__(self, name):  # noqa: D105
        return getattr(self.reader, name)


def read_as(**changes):
    """An engine that reads another plan than it was given."""
    return lambda source, plan: source.open(plan._replace(**{name: change(plan) for name, change in changes.items()}), SALT)


def sums(change):
    return lambda source, plan: Faulty(source.open(plan, SALT), sums=change)


def cut_runs(order):
    whole = order.runs
    order.runs = lambda start, stop: tuple(one[: max(1, len(one) - 1)] for one in whole(start, stop))
    return order


def off_by_one_below(order):
    whole = order.below
    order.below = lambda height: (whole(height)[0], whole(height)[1] + 1)
    return order


FAULTS = {
    "off by one": sums(lambda found: [*found[:-1], (found[-1][0], found[-1][1] + 1, found[-1][2])]),
    "floats": sums(lambda found: [tuple(one if hasattr(one, "shape") else float(one) for one in read) for read in found]),
    "no squares": sums(lambda found: [(count, total, 0 * count) for count, total, _ in found]),
    "nothing": sums(lambda _: None),
    "takes no steps": read_as(steps=lambda _: ()),
    "ignores the groups": read_as(keys=lambda plan: plan.keys if not hasattr(plan.keys, "parts") else replace(plan.keys, chosen=np.arange(len(plan.keys))[::-1])),
    "one row more of each unit": read_as(contribution=lambda plan: plan.contribution._replace(max_rows=plan.contribution.max_rows + 1)),
    "one group more of each unit": read_as(contribution=lambda plan: plan.contribution._replace(max_groups=plan.contribution.max_groups and 2)),
    "rows for records": read_as(records=lambda _: None),
    "cut runs": lambda source, plan: Faulty(source.open(plan, SALT), ranks=cut_runs),
    "one more below": lambda source, plan: Faulty(source.open(plan, SALT), ranks=off_by_one_below),
    "products": lambda source, plan: Faulty(source.open(plan, SALT), gram=lambda found: (found[0], found[1], {key: total + 1 for key, total in found[2].items()})),
    "no key occurs": lambda source, plan: Faulty(source.open(plan, SALT), occurring=lambda _: 0),
    "candidates by frequency": lambda source, plan: Faulty(source.open(plan, SALT), candidates=lambda found: np.sort(found)[::-1]),
    "candidates by row": lambda source, plan: Faulty(source.open(plan, SALT), candidates=lambda found: found + 1),
    "keys of another kind": lambda source, plan: Faulty(source.open(plan, SALT), show=lambda index: index.astype("category")),
}  # fmt: skip


class Changed:
    """A source whose reader is made by a fault."""

    def __init__(self, source, fault):
        self.source, self.fault = source, fault

    def unsupported(self, plan):
        return None

    def open(self, plan, salt):
        return self.fault(self.source, plan)


@pytest.mark.parametrize("fault", FAULTS)
def test_broken_engines_are_caught(fault):
    """The twin: an engine with one fault in one round differs from the contract."""
    with pytest.raises(AssertionError, match="differs from the contract in case"):
        check_engine(lambda partitions, contribution: Changed(joined(partitions, contribution), FAULTS[fault]))


def test_bounding_each_partition_for_itself_is_caught():
    """The twin: an engine that lets max_rows rows of a unit count in each partition is caught by a plan with units, and by nothing before."""

    def bounded(partitions, contribution):
        if contribution.unit is None:
            return joined(partitions, contribution)
        kept = [part[part.groupby(contribution.unit).cumcount() < contribution.max_rows] for part in partitions]
        return joined(kept, Contribution(contribution.unit, 10**6))

    class Unbounded(Changed):
        def open(self, plan, salt):
            return self.source.open(plan._replace(contribution=plan.contribution._replace(max_rows=10**6)), salt)

    with pytest.raises(AssertionError, match="units"):
        check_engine(lambda partitions, contribution: Unbounded(bounded(partitions, contribution), None))


def test_an_engine_that_raises_is_caught():
    """The twin: a round that lets an exception out, with a value in its text, is no round of the contract; contained, it returns None."""

    class Raising:
        def sums(self):
            raise ValueError("secret 4711")

        @contained
        def gram(self, _):
            raise ValueError("secret 4711")

    with pytest.raises(ValueError, match="secret"):
        check_engine(lambda partitions, contribution: Changed(joined(partitions, contribution), lambda *_: Raising()))
    assert Raising().gram(None) is None


def test_hostile_cells_raise_whatever_is_done_with_them():
    """The cases are as hard as they say: a hostile cell raises when it is converted, compared, printed or asked for its length."""
    for use in (float, int, bool, str, repr, len, hash, lambda cell: cell == 1, lambda cell: cell < 1):
        with pytest.raises((ValueError, TypeError)):
            use(Hostile())


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_plans_can_be_sent(case):
    """A plan is frozen and comes back from pickling as it was: the same reads, steps that evaluate the same, the same groups."""
    again = pickle.loads(pickle.dumps(case.plan))
    assert again.steps == case.plan.steps
    assert repr(again._replace(steps=())) == repr(case.plan._replace(steps=()))
    with pytest.raises(AttributeError):
        again.reads = ()
    readers = [joined([case.frame], plan.contribution).open(plan, SALT) for plan in (case.plan, again)]
    if any(isinstance(read, Sums) for read in case.plan.reads) and not hasattr(case.plan.keys, "dtypes"):
        one, other = (repr(reader.sums()) for reader in readers)
        assert one == other


def test_the_page_says_which_rounds_there_are():
    """The page's list of rounds is the contract's."""
    from pandas_dp.engines.contract import Reader

    rounds = [name for name in vars(Reader) if not name.startswith("_")]
    assert all(re.search(rf"`{name}`", PAGE.read_text(encoding="utf-8")) for name in rounds)
