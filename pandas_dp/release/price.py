"""The price of a query, as a call names it: by ε, by ρ, by the ± it shall have, or by the session's equal share.  Decides nothing and charges nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from pandas_dp.errors import CallError, ParameterError
from pandas_dp.results import check_level

__all__ = ["LEVEL", "Price", "PriceOptions"]

LEVEL = 0.95
_MOST_ROWS = 10**15


class PriceOptions(TypedDict, total=False):
    """How else than by ``epsilon`` an answer's price can be named.

    Attributes
    ----------
    rho : number
        What the answer may spend of zero-concentrated differential privacy, in a session that has δ or ρ; by the Gaussian mechanism unless ``mechanism`` says otherwise.
    mechanism : {"laplace", "gaussian"}
        The noise; Gaussian in a session that has δ or ρ.
    within : number
        The ± that the answer shall have; the smallest ε that gives it is charged.
    level : float
        The confidence of that ±; 0.95 if it is left out.
    rows : int
        Your own idea of the number of rows, where that ± depends on it (means, spreads); by default the count that this very frame or view released last; by group, of the smallest group.
    label : str or True
        A name of the answer.  Asked again under it, with the same parameters, the recorded answer is returned and nothing is spent, whatever the data; with other
        parameters it is an error.  True takes the expressions of a tracked view.
    """

    rho: object
    mechanism: str | None
    within: Any
    level: float
    rows: object
    label: str | bool | None


@dataclass(slots=True)
class Price:
    """The price of a query as the call named it."""

    epsilon: object = None
    rho: object = None
    mechanism: str | None = None
    within: Any = None
    level: float = LEVEL
    rows: int | None = None
    label: object = None

    @classmethod
    def of(cls, epsilon: object, options: PriceOptions) -> Price:
        """Return the price that a call named, or raise for an option that there is not."""
        if not options and epsilon is not None:
            return cls(epsilon)
        for name in options:
            if name not in PriceOptions.__annotations__:
                raise CallError.no_such(name, ("epsilon", *PriceOptions.__annotations__))
        return cls.named(epsilon, **options)

    @classmethod
    def named(
        cls,
        epsilon: object,
        rho: object = None,
        mechanism: str | None = None,
        within: Any = None,
        level: float = LEVEL,
        *,
        rows: object = None,
        label: object = None,
    ) -> Price:
        """Return the price that a call named in full."""
        price = cls(epsilon, rho, mechanism, within, level, None if rows is None else _checked_rows(rows), label)
        check_level(price.level)
        named = [value for value in (price.epsilon, price.rho, price.within) if value is not None]
        if len(named) > 1:
            raise ParameterError.one_price()
        return price


def _checked_rows(rows: object) -> int:
    number: int | None = None
    try:
        number = int(rows)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not 1 <= number <= _MOST_ROWS:
        raise ParameterError.number("rows", f"a number of rows between 1 and {_MOST_ROWS:,}")
    return number
