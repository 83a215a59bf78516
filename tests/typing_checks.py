"""Types as users see them: checked by mypy, run by nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

import pandas as pd

import pandas_dp

if TYPE_CHECKING:
    from pandas_dp.accessor import DPFrame

raw = pd.DataFrame({"age": [34, 51]})
visits = pandas_dp.dp(raw).protect(epsilon=1.0)
assert_type(pandas_dp.dp(raw), pandas_dp.DataFrameDP)
assert_type(pandas_dp.dp(raw["age"]), pandas_dp.SeriesDP)
count = visits.dp.count(epsilon=0.1)
assert_type(count, pandas_dp.NoisyInt)
assert_type(count.epsilon, pandas_dp.Epsilon)
assert_type(visits.dp.session, pandas_dp.Session)
assert_type(visits.dp.session.remaining, pandas_dp.Epsilon | pandas_dp.Rho)
assert_type(visits.dp.session.ledger, pd.DataFrame)
assert_type(visits.dp.preview.count(epsilon=0.1), pandas_dp.Preview)
total: int = count + 1
typed: DPFrame = visits
older = visits[visits["age"] >= 65]
pandas_dp.dp(older).mean("age", bounds=(0, 110), epsilon=0.1)
pandas_dp.dp(visits["age"]).mean(bounds=(18, 90), epsilon=0.1)
shared = pandas_dp.Session(epsilon=1, ledger="visits.dp.sqlite").protect(raw)
assert_type(shared.dp.count(epsilon=0.1, label="n"), pandas_dp.NoisyInt)
