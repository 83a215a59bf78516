"""``python -m pandas_dp``: the main things, shown on a synthetic table.  Nobody's data."""

from __future__ import annotations

import pandas_dp
from pandas_dp.datasets import visits
from pandas_dp.errors import BudgetExhausted

__all__ = ["show"]


def show() -> None:
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
