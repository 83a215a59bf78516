"""``python -m pandas_dp ledger FILE``: the account in a ledger file, for the person who audits.  Reads, and never writes."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pandas_dp.accounting.opening import as_path, resume
from pandas_dp.errors import DPError
from pandas_dp.errors.wording import visible
from pandas_dp.quantities.budget import Rho

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas_dp.accounting import Accountant, Entry

__all__ = ["main"]

_COLUMNS = ("number", "time", "frame", "query", "epsilon", "delta", "rho", "mechanism", "scale", "margin", "private", "label", "answered")
_WIDEST = 60


def main(arguments: Sequence[str]) -> int:
    """Run the command; return the exit code: 0, 1 if the file cannot be trusted or read, 2 for wrong arguments."""
    parser = argparse.ArgumentParser(
        prog="python -m pandas_dp ledger",
        description="Print the account in a ledger file: its budget, what is left, and each charge. The whole file is checked first.",
    )
    parser.add_argument("file", help="the ledger file, such as visits.dp.sqlite")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--verify", action="store_true", help="check the file, and say only whether it is whole")
    chosen.add_argument("--export", choices=("csv", "json"), help="write all charges in this format")
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # a stream of another kind
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    problem: str | None = None
    try:
        account = resume(as_path(options.file), writable=False)
        entries, answered = account.entries, set(account.answers)
    except DPError as error:
        problem = f"{type(error).__name__}: {error}"
    if problem is not None:
        print(problem, file=sys.stderr)
        return 1
    if options.verify:
        print(f"whole: {sum(bool(entry.epsilon) for entry in entries)} charges, {len(answered)} answers, every record under its seal.")
    elif options.export == "csv":
        writer = csv.DictWriter(sys.stdout, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _safe(value) for name, value in _row(entry, answered).items()} for entry in entries)
    elif options.export == "json":
        charges = [_row(entry, answered) for entry in entries]
        json.dump(
            {"session": account.opening, "budget": str(account.budget), "remaining": str(account.remaining), "charges": charges},
            sys.stdout,
            indent=2,
        )
        print()
    else:
        print(_account(account))
        print(_table(entries, answered, concentrated=account.unit is Rho))
    return 0


def _account(account: Accountant) -> str:
    named = account.opening["name"]
    name = f" {visible(repr(named))}" if named else ""
    delta = f", {account.delta!r} ({account.spent_delta!r} spent on keys)" if account.delta else ""
    return f"session{name}: {account.remaining!r} of {account.budget!r} left{delta}; {account.spent!r} spent"


def _row(entry: Entry, answered: set[int]) -> dict[str, Any]:
    return {
        "number": entry.number,
        "time": entry.time.isoformat(),
        "frame": entry.frame,
        "query": entry.query,
        "epsilon": str(entry.epsilon),
        "delta": str(entry.delta),
        "rho": str(entry.cost.rho),
        "mechanism": entry.mechanism,
        "scale": entry.scale,
        "margin": None if entry.margin != entry.margin else entry.margin,
        "private": entry.private,
        "label": entry.label,
        "answered": entry.number in answered,
    }


def _safe(value: Any) -> Any:
    """Return a text that no spreadsheet takes for a formula, and no terminal for a command."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if unicodedata.normalize("NFKC", value).lstrip()[:1] in {"=", "+", "-", "@"} else text


def _table(entries: Sequence[Entry], answered: set[int], *, concentrated: bool) -> str:
    lines: list[tuple[str, ...]] = [("", "time (UTC)", "spent", "query", "mechanism", "label", "")]
    for entry in entries:
        marks = [
            "" if entry.number in answered or not entry.epsilon else "not answered",
            "" if entry.private else "repeatable noise: not private",
        ]
        spent = "" if not entry.epsilon else repr(entry.cost.rho if concentrated else entry.cost.named)
        if entry.delta:
            spent += f", {entry.delta!r}"
        cells = (str(entry.number), f"{entry.time:%Y-%m-%d %H:%M:%S}", spent, entry.query, entry.mechanism, entry.label or "")
        lines.append((*map(_short, cells), "; ".join(filter(None, marks))))
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)


def _short(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= _WIDEST else line[: _WIDEST - 3] + "..."
