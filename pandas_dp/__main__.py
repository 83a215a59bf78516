"""``python -m pandas_dp``: a tour on synthetic visits, or private statistics of a CSV file."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

import pandas as pd

import pandas_dp
from pandas_dp.datasets import visits
from pandas_dp.errors import BudgetExhausted, DPError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")  # ε and ± on consoles that default to something else
    typed = sys.argv[1:] if arguments is None else list(arguments)
    if typed[:1] == ["ledger"]:
        from pandas_dp.cli import audit as auditing  # noqa: PLC0415  (loaded for those who use it)

        return auditing.main(typed[1:])
    parser = _parser()
    options = parser.parse_args(typed)
    if options.file is None:
        if options.asked:
            parser.error("--count, --sum and --mean need a file")
        _tour()
        return 0
    if options.epsilon is None:
        parser.error("--epsilon is required with a file: the budget for all answers together")
    return _report(options)


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


def _report(options: argparse.Namespace) -> int:
    """Answer the questions about a file."""
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
            answer = getattr(pandas_dp.dp(frame), statistic)(column, **named)
            print(f"{statistic}({column or ''}) = {answer!r}   ({answer.epsilon!r})")
    except DPError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(f"spent {frame.dp.session.spent!r} of {frame.dp.session.budget!r}; ± is the 95 % margin of the noise")
    return 0


def _tour() -> None:
    """Show the main things on the embedded, synthetic table."""

    def step(code: str, result: object) -> None:
        print(f">>> {code}\n{result!r}")

    print(f"pandas_dp {pandas_dp.__version__}: a tour on 20 000 synthetic hospital visits (nobody's data)\n")
    from pandas_dp.datasets import Visits  # noqa: PLC0415  (imports pandera)

    print(">>> table = visits().dp.protect(epsilon=1.0, schema=Visits)")
    table = pandas_dp.dp(visits()).protect(epsilon=1.0, schema=Visits)
    step("table.dp.count(epsilon=0.1)", table.dp.count(epsilon=0.1))
    step('table.dp.sum("charge", epsilon=0.2)   # bounds from the schema', table.dp.sum("charge", epsilon=0.2))
    step('table.dp.mean("age", epsilon=0.1)', table.dp.mean("age", epsilon=0.1))
    older = table.query("age >= 65")
    step(
        'table.query("age >= 65").dp.mean("charge", epsilon=0.2)   # the accountant follows the chain',
        pandas_dp.dp(older).mean("charge", epsilon=0.2),
    )
    step(
        'table["age"].dp.mean(bounds=(18, 90), epsilon=0.1)   # a Series, narrower bounds',
        pandas_dp.dp(table["age"]).mean(bounds=(18, 90), epsilon=0.1),
    )
    step("table.dp.session.remaining", table.dp.session.remaining)
    print('>>> table.dp.session.ledger[["query", "epsilon", "margin"]]')
    print(table.dp.session.ledger[["query", "epsilon", "margin"]].to_string())
    print("\n>>> table.dp.count(epsilon=0.5)   # more than is left")
    try:
        table.dp.count(epsilon=0.5)
    except BudgetExhausted as refusal:
        print(f"{type(refusal).__name__}: {refusal}")


if __name__ == "__main__":  # pragma: no branch
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)
