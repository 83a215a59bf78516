"""The base of every error, and the error for what nobody foresaw.  No error may hold a value, a label or a count of the data."""

from __future__ import annotations

from typing import Self

__all__ = ["ComputationFailed", "DPError", "LargeBudgetWarning"]


class LargeBudgetWarning(UserWarning):
    """A budget so large that it promises little; depends on the number asked for and nothing else."""


class DPError(Exception):
    """The base of every error raised by pandas_dp.  Holds no data."""

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self._facts = facts
        for name, value in facts.items():
            setattr(self, name, value)

    def __str__(self) -> str:
        """Return the message plainly (``KeyError`` would quote it)."""
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the attributes, so that errors cross process boundaries whole."""
        return _rebuild, (type(self), self.message, self._facts)


def _rebuild(kind: type[DPError], message: str, facts: dict[str, object]) -> DPError:
    return kind(message, **facts)


class ComputationFailed(DPError, RuntimeError):
    """Something failed that should not.  The cause is withheld: it could quote data."""

    @classmethod
    def unexpected(cls) -> Self:
        return cls(
            "this failed in an unforeseen way. The cause is withheld because it may quote data; df.dp.session.ledger shows whether "
            "anything was charged. Check the arguments, and report a reproduction on made-up data.",
            query="",
        )

    @classmethod
    def after_charge(cls, query: str) -> Self:
        return cls(
            f"{query} was charged, and computing it failed. The cause is withheld because it may quote data, and the "
            "charge stands because a free failure would tell something. Check memory and the pandas installation, and "
            "report a reproduction on made-up data.",
            query=query,
        )
