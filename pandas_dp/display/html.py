"""What a notebook shows of a session: how much of the budget is gone, and for what.

HTML from public facts: amounts, the texts of queries, released ±.  No frame reaches this module, and it reads no answer but for its ±.  Everything that somebody typed is escaped, also
from the notebook's typesetting of formulas, and colours are the notebook's own.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from pandas_dp.display.numbers import plus_minus
from pandas_dp.errors import DPError, NotProtected, SessionClosed
from pandas_dp.errors.wording import visible
from pandas_dp.quantities.budget import Rho

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pandas_dp.accounting import Accountant, Entry
    from pandas_dp.quantities.budget import Amount

__all__ = ["Line", "Summary", "Told", "html_of", "shown", "summary_of"]

_LINES = 10
_LONGEST = 160  # characters of a text in the table
_LONGEST_TITLE = 2000

# The class names keep MathJax away from what is between dollars.
_BOX = '<div class="tex2jax_ignore mathjax_ignore" style="line-height:1.5;overflow-x:auto">'
_CODE = '<code style="background:transparent;color:inherit;padding:0;overflow-wrap:anywhere">'
_BAR = "max-width:24em;height:0.7em;margin:0.35em 0;border:1px solid currentColor;border-radius:0.4em;overflow:hidden"
_TABLE = "margin:0.6em 0 0 0;border-collapse:collapse;table-layout:auto;color:inherit"
_CELL = "text-align:left;vertical-align:top;padding:0.15em 1em 0.15em 0;color:inherit;background:transparent;"
_RULE = "border-bottom:1px solid currentColor;"


@dataclass(frozen=True, slots=True)
class Line:
    """One charge, as text."""

    time: str
    query: str
    cost: str
    mechanism: str
    margin: str
    label: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What there is to show of a session.

    Attributes
    ----------
    name : str or None
        The session's.
    budget, spent, remaining : Amount
        In one unit.
    deltas : tuple of Amount
        The whole δ, what was spent and what is left of the half for private keys; empty without δ.
    note : str
        Why it answers no more, if it does not.
    lines : tuple of Line
        The last charges, oldest first.
    charges : int
        How many there are in all.
    """

    name: str | None
    budget: Amount
    spent: Amount
    remaining: Amount
    deltas: tuple[Amount, ...]
    note: str
    lines: tuple[Line, ...]
    charges: int


class Released(Protocol):
    """What is told of an answer: its ±, where it is one number."""

    number: int
    columns: tuple[Hashable, ...] | None
    index: Any

    def half_width(self) -> Any:
        """Return the ± at 95 %."""


class Told(Protocol):
    """What is told of: a session, as the modules of this package know it."""

    @property
    def account(self) -> Accountant:
        """What was charged."""

    @property
    def name(self) -> str | None:
        """Its name."""

    def answers(self) -> Sequence[Any]:
        """Return the releases that can be read."""


def shown(find: Callable[[], Told], heading: str = "", *, lines: int = _LINES) -> str:
    """Return the HTML of a session, or a sentence that says why there is none to show.

    Parameters
    ----------
    find : callable
        Returns the session, or raises what it raises without one.
    heading : str
        The text of what it is about, if that is not the session itself.
    lines : int
        How many of the last charges to show.
    """
    try:
        return html_of(summary_of(find(), lines), heading, table=lines > 0)
    except DPError as error:  # its text holds no data
        return f"{_BOX}{_headed(heading)}<div>{_text(_sentence(error))}</div></div>"


def summary_of(session: Told, lines: int = _LINES) -> Summary:
    """Gather what there is to show of a session; raises ``LedgerError`` if its file cannot be read."""
    account, note = session.account, ""
    try:
        account.check_open()
    except SessionClosed as closed:
        note = _sentence(closed)
    entries = account.entries
    last = entries[len(entries) - lines :] if len(entries) > lines else entries
    releases: dict[int, Released] = {}
    with suppress(DPError):  # answers that another version of the package wrote
        releases = {release.number: release for release in session.answers()} if last else {}
    concentrated = isinstance(account.budget, Rho)
    return Summary(
        session.name,
        account.budget,
        account.spent,
        account.remaining,
        (account.delta, account.spent_delta, account.remaining_delta) if account.delta else (),
        note,
        tuple(_line(entry, releases.get(entry.number), concentrated=concentrated) for entry in last),
        len(entries),
    )


def html_of(account: Summary, heading: str = "", *, table: bool = True) -> str:
    """Return the HTML of an account: a bar, the amounts, and the last charges."""
    part = min(float(Fraction(account.spent) / Fraction(account.budget)), 1.0)
    title = "Privacy budget" + (f" of {_CODE}{_text(account.name)}</code>" if account.name else "")
    pieces = [
        f"{_BOX}{_headed(heading)}<div><b>{title}</b></div>",
        f'<div role="img" aria-label="{part:.0%} spent" style="{_BAR}">',
        f'<div style="width:{100 * part:.2f}%;height:100%;background:currentColor;opacity:0.6"></div></div>',
        f'<div style="overflow-wrap:anywhere">{_text(repr(account.spent))} spent · <b>{_text(repr(account.remaining))} left</b> of {_text(repr(account.budget))}</div>',
    ]
    if account.deltas:
        whole, spent, left = (_text(repr(delta)) for delta in account.deltas)
        pieces.append(f"<div>{whole}, half of it for private keys: {spent} spent · {left} left</div>")
    if account.note:
        pieces.append(f"<div><b>{_text(account.note)}</b></div>")
    if table:
        pieces.append(_ledger(account))
    return "".join(pieces) + "</div>"


def _ledger(account: Summary) -> str:
    if not account.lines:
        return "<div>Nothing was asked yet.</div>"
    rows = [(line.time, line.query, line.cost, line.mechanism, line.margin, line.label) for line in account.lines]
    width = 6 if any(line.label for line in account.lines) else 5
    head = "".join(f'<th style="{_CELL}{_RULE}">{name}</th>' for name in ("time (UTC)", "query", "cost", "mechanism", "±", "label")[:width])
    body = "".join(f"<tr>{''.join(_cell(text, code=place in {1, 5}) for place, text in enumerate(row[:width]))}</tr>" for row in rows)
    earlier = account.charges - len(account.lines)
    more = f"<div>and {earlier} earlier: {_CODE}session.ledger</code> has all {account.charges}</div>" if earlier else ""
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'


def _cell(text: str, *, code: bool) -> str:
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    whole = "" if short == text else f' title="{_text(text[:_LONGEST_TITLE])}"'
    inside = f"{_CODE}{_text(short)}</code>" if code and text else _text(short)
    return f'<td style="{_CELL}{"min-width:9em;" if code else "white-space:nowrap;"}"{whole}>{inside}</td>'


def _line(entry: Entry, release: Released | None, *, concentrated: bool) -> Line:
    cost = entry.cost
    amounts = [cost.rho if concentrated else cost.named, *([cost.delta] if cost.delta else [])]
    mechanism = entry.mechanism if entry.private else f"{entry.mechanism}; repeatable noise, not private"
    return Line(
        f"{entry.time:%Y-%m-%d %H:%M:%S}",
        entry.query,
        ", ".join(map(repr, amounts)) if cost.epsilon or cost.delta else "",
        mechanism,
        _margin(entry, release),
        entry.label or "",
    )


def _margin(entry: Entry, release: Released | None) -> str:
    """Return the ± at 95 %, where it is one: that of the answer, or what was known of it before."""
    margin: Any = entry.margin
    if release is not None and release.columns is None and release.index is None:
        margin = release.half_width()
    if type(margin) not in {int, float}:
        return str(margin)  # a duration, or ranks
    if margin != margin:  # noqa: PLR0124  (NaN)
        return ""
    return plus_minus(int(margin) if margin == int(margin) else 0.0, margin).rsplit("± ", 1)[1]


def _headed(heading: str) -> str:
    return f"<div>{_CODE}{_text(heading)}</code></div>" if heading else ""


def _sentence(error: DPError) -> str:
    """Return the first sentence of an error; of a frame that is not protected the second, too, which says what to do."""
    first = ". ".join(str(error).split(". ")[: 2 if isinstance(error, NotProtected) else 1]).removesuffix(".")
    return first[:1].upper() + first[1:] + "."


def _text(value: object) -> str:
    """Return a text as HTML that shows it, with what does not print written out."""
    return escape(visible(str(value)), quote=True)
