"""The boundary that lets errors out without their stack.  No frame that holds data may be reached from what a caller catches."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from pandas_dp.errors.base import ComputationFailed, DPError, LargeBudgetWarning
from pandas_dp.errors.calls import misused

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["boundary"]


def boundary(method: Callable[P, R]) -> Callable[P, R]:
    """Let an error out without its stack, whose frames hold the data that debuggers and rich tracebacks print.

    Every public method that touches a frame is wrapped in it.  Errors of this package pass; an interrupt passes, stripped; what nobody
    foresaw may quote data and becomes ``ComputationFailed``.  A call with wrong arguments fails before any frame of ours exists, and is told what it may have.
    """

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
