"""Labels under which an answer can be had again: what makes two questions the same.

A label is looked up by itself and by public parameters alone, never by data.  Were an answer found by what the frame holds, finding one would tell that the frame
had not changed, which nobody paid for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pandas_dp.accounting.state import DIGESTED
from pandas_dp.errors import LabelError, ParameterError, ParameterTypeError
from pandas_dp.noise.entropy import is_private
from pandas_dp.quantities.budget import as_epsilon, as_rho
from pandas_dp.wire.fingerprint import digest_of, plain_text

if TYPE_CHECKING:
    from pandas_dp.release.price import Price
    from pandas_dp.sessions.registry import Protected
    from pandas_dp.statistics.query import Query

__all__ = ["label_of"]

_LONGEST = 500


def label_of(label: object, query: Query, price: Price, protected: Protected, view: str | None) -> tuple[str, dict[str, str]]:
    """Return the label as text, and the question's public parameters by name.

    Parameters
    ----------
    label : str or True
        As the call named it; True for the text of a tracked view and its query.
    query : Query
        In public terms.
    price : Price
        As the call named it.
    protected : Protected
        The frame's declarations.
    view : str or None
        The steps of a tracked view; None for a frame or Series.
    """
    if label is True:
        if not view:
            raise LabelError.no_view()
        text = query.text
    elif isinstance(label, str):
        text = label
    else:
        raise ParameterTypeError.wrong_kind("label", "a string, or True for a tracked view", type(label))
    if not text.strip() or len(text) > _LONGEST:
        raise ParameterError.number("label", f"a text of 1 to {_LONGEST} characters that says what is asked")
    roster, name = protected.roster, protected.handle.rsplit("#", 1)[0]
    protected.core.check_names(name)
    asked = {
        "frame": name,
        "unit": "row" if roster.unit is None else f"{plain_text(roster.unit)}, max_rows={int(roster.max_rows)}",
        "query": query.text,
        "noise": "private" if is_private() else "repeatable, for tests",
        "price": _price(price),
        DIGESTED: digest_of(query),
    }
    return text, asked


def _price(price: Price) -> str:
    """Return the price as it was named: what is charged may depend on what was answered in between."""
    named = {
        "epsilon": None if price.epsilon is None else str(as_epsilon(price.epsilon)),
        "rho": None if price.rho is None else str(as_rho(price.rho)),
        "mechanism": price.mechanism,
        "within": None if price.within is None else f"{plain_text(price.within)} at {float(price.level)!r}",
        "rows": None if price.rows is None else plain_text(price.rows),
    }
    return ", ".join(f"{name}={value}" for name, value in named.items() if value is not None) or "the equal share"
