"""The base of every error, the error for what nobody foresaw, and the boundary that lets errors out without the data."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["ComputationFailed", "DPError", "LargeBudgetWarning", "boundary"]


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


def boundary(method: Callable[P, R]) -> Callable[P, R]:
    """Let an error out without its stack, whose frames hold the data that debuggers and rich tracebacks print.

    Every public method that touches a frame is wrapped in it.  Errors of this module pass; an interrupt passes, stripped; what nobody
    foresaw may quote data and becomes ``ComputationFailed``.  A call with wrong arguments fails before any frame of ours exists, and is told what it may have.
    """
    from pandas_dp.errors.calls import misused  # noqa: PLC0415  (which has this module's errors)

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True  # by pytest, which then shows the line that asked
        error: BaseException
        try:
            return method(*args, **kwargs)
        except (DPError, LargeBudgetWarning, KeyboardInterrupt, SystemExit) as raised:
            error = raised
        except Exception as raised:  # noqa: BLE001
            ours = raised.__traceback__ is not None and raised.__traceback__.tb_next is not None
            wrong = misused(method, args, kwargs) if isinstance(raised, TypeError) else None
            error = wrong or (ComputationFailed.unexpected() if ours else raised)
        error.__cause__ = error.__context__ = None
        del args, kwargs  # even what was passed in may be a column of the data
        raise error.with_traceback(None)

    return call
