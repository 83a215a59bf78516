"""The only door to randomness.

Every random bit of the project comes through :func:`random_bytes`: from the operating system's
cryptographic source, directly or through OpenSSL's generator, which is seeded from it, reseeds
itself after a fork and is about fifteen times faster in bulk.  Nothing is pooled here, so there is
nothing to share between threads or to drop at a fork, and no public function takes a seed.
``pandas_dp.testing`` may inject a repeatable source for one context; while it is in force
:func:`is_private` says so, and the ledger records it.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["fresh_secret", "fresh_token", "injected", "is_private", "random_bytes"]

_BULK = 4096
_source: ContextVar[Callable[[int], bytes] | None] = ContextVar("pandas_dp_noise_source", default=None)


def random_bytes(count: int) -> bytes:
    """Return ``count`` uniformly random bytes from a cryptographic source."""
    source = _source.get()
    if source is not None:
        return source(count)
    if count < _BULK:
        return os.urandom(count)
    return _bulk_bytes(count)


def _bulk_bytes(count: int) -> bytes:
    try:
        import ssl  # noqa: PLC0415  (4 ms that most sessions never need)
    except ImportError:  # pragma: no cover  (a Python built without OpenSSL)
        return os.urandom(count)
    return ssl.RAND_bytes(count)


def fresh_token() -> str:
    """Return eight random hexadecimal digits for a name; no secret, and never from an injected source, so that names stay unique."""
    return os.urandom(4).hex()


def fresh_secret() -> bytes:
    """Return a key for hashes, never from an injected source."""
    return os.urandom(32)


def is_private() -> bool:
    """Whether noise drawn now is secret: false while a test's repeatable source is injected."""
    return _source.get() is None


@contextmanager
def injected(source: Callable[[int], bytes]) -> Iterator[None]:
    """Draw from ``source`` in this context only; for :mod:`pandas_dp.testing`."""
    token = _source.set(source)
    try:
        yield
    finally:
        _source.reset(token)
