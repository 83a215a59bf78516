"""Examples in README and docs draw repeatable noise and know no named session, so that what they show can be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from _pytest.doctest import DoctestItem

from pandas_dp.sessions import registry
from pandas_dp.testing import unsafe_seeded_noise

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _repeatable_examples(request: pytest.FixtureRequest) -> Iterator[None]:
    if isinstance(request.node, DoctestItem):
        others = dict(registry.named_sessions)
        registry.named_sessions.clear()
        with unsafe_seeded_noise("examples"):
            yield
        registry.named_sessions.clear()
        registry.named_sessions.update(others)
    else:
        yield


@pytest.fixture
def one_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all sessions one salt, so that two of them choose the same rows of a unit where nothing but their content orders these."""
    monkeypatch.setattr("pandas_dp.sessions.core.fresh_secret", lambda: bytes(32))
