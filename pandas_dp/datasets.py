"""A synthetic table to try things on.

Nobody's data: every value is computed from its position by integer arithmetic, so the table is the same on every platform and version,
and no random generator is involved.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandera.pandas import DataFrameModel

    Visits: type[DataFrameModel]

__all__ = ["Visits", "visits"]

ROWS = 20_000
PATIENTS = 6_000
SMOKERS_PERCENT = 22
MISSING_PER_MILLE = 15
WARDS = ("north", "south", "east", "west")


def visits() -> pd.DataFrame:
    """Return 20 000 synthetic hospital visits of about 6 000 patients.

    Returns
    -------
    DataFrame
        One row per visit: ``patient_id`` (int), ``age`` (int, 0 to 110), ``ward`` (str: north, south, east or west), ``smoker`` (bool),
        ``charge`` (float, 0 to 50 000, some missing) and ``admitted`` (datetime64, days of 2024).  A patient has the same age and smoking
        habit at every visit.  The table is made up, and the same at every call.

    Examples
    --------
    >>> from pandas_dp.datasets import visits
    >>> table = visits()
    >>> table.shape
    (20000, 6)
    >>> table.columns.tolist()
    ['patient_id', 'age', 'ward', 'smoker', 'charge', 'admitted']
    """
    row = np.arange(ROWS, dtype=np.uint64)
    # Squaring a uniform number favours low ids: some patients come often, many once.
    patient = (_uniform(row, 1, 10_000) ** 2 * PATIENTS // 10_000**2).astype(np.int64)
    person = patient.astype(np.uint64)
    age = np.clip((_uniform(person, 2, 60) + _uniform(person, 3, 50) + _uniform(person, 4, 20) - 10), 0, 110)
    smoker = _uniform(person, 5, 100) < SMOKERS_PERCENT
    ward = np.array(WARDS, dtype=object)[np.searchsorted([38, 67, 88], _uniform(row, 6, 100), side="right")]
    cents = 9_000 + _uniform(row, 7, 1_000) ** 2 * _uniform(row, 8, 9) // 8 + age * 2_500 + 60_000 * smoker
    charge = np.where(_uniform(row, 9, 1_000) < MISSING_PER_MILLE, np.nan, np.minimum(cents / 100, 50_000.0))
    admitted = np.datetime64("2024-01-01", "s") + _uniform(row, 10, 366) * np.timedelta64(86_400, "s")
    return pd.DataFrame(
        {"patient_id": 100_000 + patient, "age": age, "ward": ward, "smoker": smoker, "charge": charge, "admitted": admitted}
    )


def _uniform(position: NDArray[np.uint64], stream: int, below: int) -> NDArray[np.int64]:
    """Return well-mixed integers below ``below``: the finaliser of SplitMix64 applied to the position."""
    z = (position + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(stream * 0xD1B54A32D192ED03 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) % np.uint64(below)).astype(np.int64)


@lru_cache(maxsize=1)
def _visits_model() -> Any:
    import pandera.pandas as pa

    fields: dict[str, tuple[type, Any]] = {
        "patient_id": (int, pa.Field(ge=100_000, lt=100_000 + PATIENTS)),
        "age": (int, pa.Field(ge=0, le=110)),
        "ward": (str, pa.Field(isin=list(WARDS))),
        "smoker": (bool, pa.Field()),
        "charge": (float, pa.Field(ge=0, le=50_000, nullable=True)),
    }
    namespace: dict[str, Any] = {name: field for name, (_, field) in fields.items()}
    namespace["__annotations__"] = {name: kind for name, (kind, _) in fields.items()}
    namespace["__module__"] = __name__
    namespace["__doc__"] = "The pandera model of :func:`visits`: where its bounds and keys are declared."
    return type("Visits", (pa.DataFrameModel,), namespace)


def __getattr__(name: str) -> Any:
    # Building the model imports pandera: only for those who ask for it.
    if name == "Visits":
        return _visits_model()
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
