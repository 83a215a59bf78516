"""What is declared of a frame, as texts that a ledger file records and compares.  Of public facts alone."""

from __future__ import annotations

from typing import Any

from pandas_dp.wire.fingerprint import digest_of, plain_text

__all__ = ["declared_of"]

_FEW = 10


def declared_of(facts: Any, **parameters: object) -> dict[str, str]:
    """Return what is declared of a frame, as texts that can be recorded and compared."""
    columns = {f"column {plain_text(name)}": _facts(one) for name, one in facts.items()}
    return {**{name: plain_text(value) for name, value in parameters.items() if value is not None}, **columns}


def _facts(facts: Any) -> str:
    parts = [] if facts.bounds is None else [f"bounds ({plain_text(facts.bounds[0])}, {plain_text(facts.bounds[1])})"]
    if facts.keys is not None:
        few = [plain_text(key) for key in facts.keys[:_FEW]]
        more = f", ... {len(facts.keys)} in all" if len(facts.keys) > len(few) else ""
        parts.append(f"keys {', '.join(few)}{more} [{digest_of(facts.keys)}]")
    return "; ".join([*parts, "nullable" if facts.nullable else "not nullable"])
