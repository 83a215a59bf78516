"""``python -m pandas_dp data.csv``: counts, sums and means of a CSV file under one budget.  Must never quote the file in a message."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

import pandas as pd

import pandas_dp
from pandas_dp.errors import DPError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["answer", "parsed"]


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return what was typed, or leave with what is wrong about it; without a file there is nothing to ask."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.file is None and options.asked:
        parser.error("--count, --sum and --mean need a file")
    if options.file is not None and options.epsilon is None:
        parser.error("--epsilon is required with a file: the budget for all answers together")
    return options


def answer(options: argparse.Namespace) -> int:
    """Answer the questions about a file; return the exit code."""
    asked = options.asked or [("count", None, None)]
    problem = None
    table = pd.DataFrame()
    try:
        table = pd.read_csv(options.file)
    except (OSError, ValueError):
        # The parser's message may quote the file.
        problem = f"{options.file} could not be read as a CSV file with a header line."
    if problem is not None:
        print(problem, file=sys.stderr)
        return 2
    try:
        frame = pandas_dp.dp(table).protect(epsilon=options.epsilon, unit=options.unit, max_rows=options.max_rows, queries=len(asked))
        for statistic, column, bounds in asked:
            named = {} if statistic == "count" else {"bounds": bounds}
            found = getattr(pandas_dp.dp(frame), statistic)(column, **named)
            print(f"{statistic}({column or ''}) = {found!r}   ({found.epsilon!r})")
    except DPError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(f"spent {frame.dp.session.spent!r} of {frame.dp.session.budget!r}; ± is the 95 % margin of the noise")
    return 0


class _Ask(argparse.Action):
    """Collects --count, --sum, --mean in order; --bounds belongs to the one before it."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        asked = list(namespace.asked)
        if option == "--bounds":
            if not asked or asked[-1][0] == "count":
                parser.error("--bounds LOWER UPPER follows the --sum or --mean it belongs to")
            asked[-1] = (*asked[-1][:2], _pair(parser, values))
        else:
            asked.append(((option or "").lstrip("-"), values, None))
        namespace.asked = asked


def _pair(parser: argparse.ArgumentParser, texts: Sequence[str]) -> tuple[Any, Any]:
    try:
        return tuple(int(text) if text.lstrip("+-").isdigit() else float(text) for text in texts)  # type: ignore[return-value]
    except ValueError:
        parser.error("--bounds takes two numbers, the lower one first")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pandas_dp",
        description="Differentially private counts, sums and means. Without arguments: a tour on a synthetic table.",
        epilog="Example: python -m pandas_dp data.csv --epsilon 1 --mean age --bounds 0 110. "
        "The budget is shared equally by the questions. Each row is taken to be one person unless --unit says otherwise. Asking "
        "again, in another run, is a new budget: add them up. A session that was kept in a file: python -m pandas_dp ledger FILE.",
    )
    parser.add_argument("file", nargs="?", help="a CSV file with a header line")
    parser.add_argument("--epsilon", help="the budget for all questions together, such as 1 or 0.5")
    parser.add_argument("--unit", help="the column that identifies a person, with --max-rows")
    parser.add_argument("--max-rows", type=int, help="how many rows of one person count")
    parser.add_argument("--count", action=_Ask, nargs="?", metavar="COLUMN", help="count rows, or a column's present values")
    parser.add_argument("--sum", action=_Ask, metavar="COLUMN", help="sum a column")
    parser.add_argument("--mean", action=_Ask, metavar="COLUMN", help="average a column")
    parser.add_argument("--bounds", action=_Ask, nargs=2, metavar=("LOWER", "UPPER"), help="bounds of the --sum or --mean before it")
    parser.set_defaults(asked=[])
    return parser
