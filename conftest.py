"""Examples in README and docs draw repeatable noise, so that what they show is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from _pytest.doctest import DoctestItem

from pandas_dp.testing import unsafe_seeded_noise

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _repeatable_examples(request: pytest.FixtureRequest) -> Iterator[None]:
    if isinstance(request.node, DoctestItem):
        with unsafe_seeded_noise("examples"):
            yield
    else:
        yield
