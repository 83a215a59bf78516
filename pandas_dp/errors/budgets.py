"""Errors about budgets and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pandas_dp.errors.base import DPError
from pandas_dp.errors.wording import UNCHARGED

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BudgetExhausted", "SessionClosed", "SessionConflict"]


class BudgetExhausted(DPError, RuntimeError):
    """A query asks for more than is left.  Nothing was computed and nothing was spent.

    Attributes
    ----------
    requested, remaining, budget : Epsilon
        What the query asked for, what is left, and what the session began with.
    query : str
        The text of the query.
    """

    requested: object
    remaining: object
    budget: object
    query: str

    @classmethod
    def refuse(cls, query: str, requested: object, remaining: object, budget: object, of: str = "this session's") -> Self:
        advice = f"Ask for at most {remaining!r}, reuse" if remaining else "Reuse"
        return cls(
            f"{query} asks for {requested!r}, but {remaining!r} of {of} {budget!r} is left. {UNCHARGED} "
            f"{advice} an answer from df.dp.session.releases, or ask the data's owner.",
            query=query,
            requested=requested,
            remaining=remaining,
            budget=budget,
        )


class SessionClosed(DPError, RuntimeError):
    """The session answers no more queries."""

    @classmethod
    def closed(cls, path: str | None) -> Self:
        after = (
            "a new budget, under another name, is the data owner's decision."
            if path is None
            else f"protect(ledger=...) continues the account in {path} with what is left."
        )
        return cls(f"this session was closed and answers no more. {UNCHARGED} Its ledger and releases can still be read; {after}")

    @classmethod
    def forked(cls) -> Self:
        return cls(
            f"this session belongs to the process that opened it, and this is another one (a fork). {UNCHARGED} "
            "Ask in the parent process: a copy of the budget in each worker would not be one budget."
        )


class SessionConflict(DPError, ValueError):
    """A named session exists with other parameters, or two ways to name a budget were mixed."""

    @classmethod
    def differs(cls, name: str, differences: Sequence[str]) -> Self:
        return cls(
            f"session {name!r} exists in this process with other parameters ({'; '.join(differences)}). "
            "Use the same parameters to continue it, or another name.",
            name=name,
            differences=tuple(differences),
        )

    @classmethod
    def recorded(cls, path: str, differences: Sequence[str]) -> Self:
        return cls(
            f"the ledger {path} was written with other parameters ({'; '.join(differences)}). Use the same parameters to continue it. To raise its "
            "budget, its owner calls pandas_dp.Session.open(path).amend(...); another study has another file.",
            path=path,
            differences=tuple(differences),
        )

    @classmethod
    def redeclared(cls, path: str, name: str, differences: Sequence[str]) -> Self:
        return cls(
            f"frame {name!r} was protected under the ledger {path} with other declarations ({'; '.join(differences)}). Use the same ones to "
            "continue, or give another frame another name=.",
            path=path,
            name=name,
            differences=tuple(differences),
        )

    @classmethod
    def no_ledger(cls, asked: str) -> Self:
        return cls(f"{asked} is for sessions that are kept in a file: protect(..., ledger='visits.dp.sqlite'). This one is in memory.")

    @classmethod
    def mixed(cls, parameters: str) -> Self:
        return cls(f"protect(session=...) takes its budget from that session: leave out {parameters}, or leave out session=.")

    @classmethod
    def interrupted(cls) -> Self:
        return cls(
            "a signal's handler asked while a query of this session was being charged. Nothing was charged for it: ask outside of handlers, "
            "or in another thread."
        )

    @classmethod
    def not_picklable(cls) -> Self:
        return cls(
            "a session cannot be pickled: a copy would be a second budget. Pickle the frame; it finds its session again in this process."
        )
