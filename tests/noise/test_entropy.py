"""The door to randomness: where bytes come from, and how a test's source is confined."""

from __future__ import annotations

import inspect
import threading

import pandas as pd
import pytest

import pandas_dp
from pandas_dp import testing
from pandas_dp.noise import entropy as noise
from pandas_dp.testing import unsafe_seeded_noise


@pytest.mark.parametrize("count", [0, 1, 16, 4095, 4096, 100_000])
def test_length(count):
    """As many bytes as asked for, from both sources, and not all alike."""
    assert len(noise.random_bytes(count)) == count
    if count >= 16:
        assert noise.random_bytes(count) != noise.random_bytes(count)


def test_injection_is_confined_to_context_and_thread():
    """A repeatable source ends with its context and never reaches another thread."""
    seen = []
    with unsafe_seeded_noise(1):
        inside = noise.random_bytes(8)
        assert not noise.is_private()
        thread = threading.Thread(target=lambda: seen.append((noise.is_private(), noise.random_bytes(8))))
        thread.start()
        thread.join()
    assert noise.is_private()
    assert seen[0][0]
    assert seen[0][1] != inside
    with unsafe_seeded_noise(1):
        assert noise.random_bytes(8) == inside


def test_injection_ends_on_error():
    """An error inside the context does not leave the source behind."""
    with pytest.raises(ZeroDivisionError), unsafe_seeded_noise(1):
        1 / 0  # noqa: B018
    assert noise.is_private()


def test_seeded_answers_are_marked():
    """The ledger and the release say which answers were not private."""
    df = pd.DataFrame({"x": [1]}).dp.protect(epsilon=1)
    with unsafe_seeded_noise("a test"):
        answer = df.dp.count(epsilon=0.1)
    df.dp.count(epsilon=0.1)
    assert df.dp.session.ledger["private"].tolist() == [False, True]
    assert not answer.release.private
    assert "not private" in repr(answer.release)


def test_no_public_parameter_reaches_the_generator():
    """Nothing public takes a seed, a random state or a generator, except the function whose name says "unsafe"."""
    callables = [getattr(pandas_dp, name) for name in pandas_dp.__all__ if callable(getattr(pandas_dp, name))]
    members = [member for item in callables for _, member in inspect.getmembers(item, callable)] + callables
    for item in [*members, *(getattr(testing, name) for name in testing.__all__ if "unsafe" not in name)]:
        try:
            parameters = inspect.signature(item).parameters
        except (TypeError, ValueError):
            continue
        assert not {"seed", "random_state", "rng", "generator"} & set(parameters)
