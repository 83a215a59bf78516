"""What releases really drew: every sampler that was made and every draw, the exact totals that came from the engine, and the noisy ones that estimators got.

A recorder changes nothing: the noise is the noise that users get.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pandas_dp.cells.second_moments import Design
from pandas_dp.engines.pandas import _Reader
from pandas_dp.noise import quantiles
from pandas_dp.noise.laplace import DiscreteLaplace
from pandas_dp.release import noisy, path
from pandas_dp.statistics.noise_laws import Gaussian, Laplace
from pandas_dp.statistics.query import Query

__all__ = ["Choice", "Recorded", "Sampled", "recorded"]


@dataclass
class Sampled:
    """A sampler that a release made: the law of the sampler itself, and what it drew, ints or arrays, in order."""

    law: Laplace | Gaussian
    keys: bool
    """Whether it was made to find the keys that show."""
    draws: list[Any] = field(default_factory=list)


@dataclass
class Choice:
    """A choice by rank: what each call was told of ε and of a unit's records, and the points that it chose."""

    calls: list[tuple[Any, int, list[int]]] = field(default_factory=list)


@dataclass
class Recorded:
    """One release, or one that was planned and refused."""

    plan: Any
    drawn: list[Sampled | Choice] = field(default_factory=list)
    exact: list[Any] = field(default_factory=list)
    """Of every cell of all parts, in order."""
    design: list[list[int]] = field(default_factory=list)
    """The same of matrices."""
    candidates: Any = None
    compared: Any = None
    """The noisy numbers of units of all candidates, as they were compared with the threshold."""
    threshold: int | None = None
    estimates: list[Any] = field(default_factory=list)
    """As estimators made them, in the order of parts."""
    query: Any = None
    index: Any = None
    """The groups of the answer."""

    @property
    def samplers(self):
        """Those of parts."""
        return [one for one in self.drawn if isinstance(one, Sampled) and not one.keys]

    @property
    def choices(self):
        """Those of parts."""
        return [one for one in self.drawn if isinstance(one, Choice)]

    @property
    def selection(self):
        """The sampler that was made to find keys."""
        return [one for one in self.drawn if isinstance(one, Sampled) and one.keys]


class _Proxy:
    def __init__(self, sampler, record):
        self._sampler = sampler
        self._record = record

    def draw(self):
        drawn = self._sampler.draw()
        self._record.draws.append(drawn)
        return drawn

    def draws(self, count):
        drawn = self._sampler.draws(count)
        self._record.draws.append(np.array(drawn, copy=True))
        return drawn


@contextmanager
def recorded(monkeypatch):
    """Record all releases: yields a list that grows by one with each that is planned."""
    seen: list[Recorded] = []
    sampler_of, plan_of, totals, shown, chosen = noisy.sampler_of, path.plan_of, path.totals, path._shown, path.chosen
    add, measure, of_design, candidates, ordered = path.add, path._measure, Design.totals, _Reader.candidates, Query.ordered

    def sampler(noise, *, keys):
        made = sampler_of(noise)
        law = Laplace(made.scale) if isinstance(made, DiscreteLaplace) else Gaussian(made.variance)
        record = Sampled(law, keys)
        seen[-1].drawn.append(record)
        return _Proxy(made, record)

    def planned(*arguments):
        plan = plan_of(*arguments)
        seen.append(Recorded(plan))
        return plan

    def exactly(cells, sums, places):
        found = totals(cells, sums, places)
        seen[-1].exact.extend(found)
        return found

    def exactly_designed(design, *arguments):
        found = of_design(design, *arguments)
        seen[-1].design.append(list(found))
        return found

    def counted(reader):
        seen[-1].candidates = candidates(reader)
        return seen[-1].candidates

    def compared(exact, noise):
        seen[-1].compared = add(exact, noise)
        return seen[-1].compared

    def selected(reader, selection):
        seen[-1].threshold = selection.threshold
        return shown(reader, selection)

    def choosing(*arguments, **options):
        seen[-1].drawn.append(Choice())
        return chosen(*arguments, **options)

    def called(original, *, epsilon, extreme):
        def choose(*arguments, **options):
            points = original(*arguments, **options)
            seen[-1].drawn[-1].calls.append((arguments[epsilon], arguments[epsilon + 1], [points] if extreme else list(points)))
            return points

        return choose

    def in_order(query, found):
        seen[-1].query, seen[-1].estimates = query, list(found)
        return ordered(query, found)

    def measured(*arguments):
        found = measure(*arguments)
        seen[-1].index = found[1]
        return found

    with monkeypatch.context() as patch:
        patch.setattr(noisy, "sampler_of", lambda noise: sampler(noise, keys=False))
        patch.setattr(path, "sampler_of", lambda noise: sampler(noise, keys=True))
        patch.setattr(path, "plan_of", planned)
        patch.setattr(path, "totals", exactly)
        patch.setattr(Design, "totals", exactly_designed)
        patch.setattr(_Reader, "candidates", counted)
        patch.setattr(path, "_shown", selected)
        patch.setattr(path, "add", compared)
        patch.setattr(path, "_measure", measured)
        patch.setattr(path, "chosen", choosing)
        patch.setattr(quantiles, "private_quantiles", called(quantiles.private_quantiles, epsilon=3, extreme=False))
        patch.setattr(quantiles, "private_extreme", called(quantiles.private_extreme, epsilon=2, extreme=True))
        patch.setattr(Query, "ordered", in_order)
        yield seen
