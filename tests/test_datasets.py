"""The synthetic table: the same everywhere, plausible, and as its model says."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import pandas_dp.datasets
from pandas_dp.datasets import Visits, visits


def test_the_table_never_changes():
    """The same 20 000 rows at every call and on every version: a hash of all values."""
    table = visits()
    digest = hashlib.sha256()
    for column in table:
        values = table[column]
        digest.update(
            values.astype(str).str.cat(sep="|").encode()
            if values.dtype.kind in "OU" or column == "ward"
            else np.asarray(values).astype("<f8" if column == "charge" else "<i8").tobytes()
        )
    assert table.shape == (20_000, 6)
    assert digest.hexdigest()[:16] == "a09893c080cd6e9a"
    assert visits().equals(table)


def test_the_table_satisfies_its_model():
    """The pandera model validates the table, and is one object."""
    Visits.validate(visits())
    assert pandas_dp.datasets.Visits is Visits
    assert "pandera model" in Visits.__doc__


def test_a_patient_is_one_person():
    """Age and smoking belong to the patient; some patients come often, most rarely."""
    table = visits()
    assert (table.groupby("patient_id")[["age", "smoker"]].nunique() == 1).all().all()
    assert 5000 < table.patient_id.nunique() < 6000
    assert table.patient_id.value_counts().max() > 100
    assert 0.005 < table.charge.isna().mean() < 0.03


def test_no_other_names():
    """The module has nothing else that appears on demand."""
    with pytest.raises(AttributeError):
        pandas_dp.datasets.nothing  # noqa: B018
