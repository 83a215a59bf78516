"""What the queries say of their parameters and errors: literal text in every docstring, the same wherever the same is meant."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict

import pytest

import pandas_dp
from pandas_dp.accessor.previews import DataFramePreview, GroupPreview, SeriesPreview

ASKED = (pandas_dp.DataFrameDP, pandas_dp.ViewDP, pandas_dp.SeriesDP, pandas_dp.GroupByDP)
PREVIEWS = {DataFramePreview: pandas_dp.DataFrameDP, SeriesPreview: pandas_dp.SeriesDP, GroupPreview: pandas_dp.GroupByDP}

AS_FOR = re.compile(r"As for ``(?:df\.dp\.)?(\w+)``(?:\.|; (.+))")
AS_THERE = re.compile(r"as ``DataFrame\.dp\.(\w+)`` with this column")

PARAMETERS = {
    "bounds": {
        "May be left out where the schema declares them, and only narrow those. Never read off the data.",
        "The choice.",
    },
    "column": {
        "The column.",
        "A column of numbers.",
        "Count its non-missing values instead of rows. Any dtype.",
        "One column, several, or by default all that have bounds.",
        "One column for several quantiles.",
        "By default the selected one.",
        "By default the selected ones, or all that have bounds, except those grouped by.",
        "By default the selected ones. With one selected, the first argument is ``q``, as in pandas.",
    },
    "columns": {"Their names.", "By default all that have bounds."},
    "ddof": {"The divisor is ``n - ddof``, as in pandas."},
    "delta": {
        (
            "With private keys: what the answer may spend of the session's δ; by default, of the half that is for keys, its share among the planned "
            "``queries``, or a tenth."
        ),
        (
            'A budget of (ε, δ)-differential privacy: for Gaussian noise, for many small queries, and for ``groupby(keys="private")``. Far below one '
            "over the number of units, such as ``1e-6``."
        ),
    },
    "epsilon": {
        "What this answer may spend.",
        "What this answer may spend; divided equally if there are several columns.",
        "What this answer may spend; divided equally among the *columns*, whatever the number of functions.",
        "What this answer may spend, for all groups together.",
        "What this answer may spend, for all groups and columns together.",
        "What this answer may spend, for all groups together; divided equally among several columns.",
        "What this answer may spend, for all groups together; divided equally among the *columns*, whatever the number of functions.",
        "The budget, taken exactly as typed: ``0.1`` is 1/10.",
    },
    "**price": {
        (
            "``rho``, ``mechanism``, or ``within`` with ``level`` and ``rows``, other ways to name the price, and ``label``: "
            "see :class:`pandas_dp.release.price.PriceOptions`."
        )
    },
    "rho, mechanism, within, level, rows, label": {
        "Other ways to name the price, and a name of the answer: see :class:`pandas_dp.release.price.PriceOptions`."
    },
    "**named": {
        'Named aggregations, ``average=("charge", "mean")``, instead of ``func``.',
        'Named aggregations instead of ``func``; of a selected column, ``average="mean"``.',
    },
    "per_unit": {
        "Clamp the total of each unit's rows (of the ``max_rows`` that count), for one column. ``bounds`` are then not needed.",
        "Clamp the total that each unit's rows have in each group, instead of the rows.",
    },
    "q": {"Between 0 and 1, taken exactly as typed.", "Between 0 and 1, taken exactly as typed; 0.5 by default."},
    "unique": {"Count units, each once, that have such a row.", "Count units, each once in every group where it has such a row."},
}
"""Every wording of a parameter that several methods document, but for references to another method.  One word more in one method is a drift."""

ERRORS = {
    "BoundsError": {"Without bounds, or for reversed, equal, infinite, unrepresentable bounds, or wider ones than the schema's."},
    "UnsupportedDtype": {"For text, categories and the like.", "For text, categories, dates (which cannot be added up) and the like."},
    "BudgetExhausted": {"If more is asked than is left; nothing is spent."},
    "NotProtected": {"If the frame belongs to no session of this process."},
    "NotProtected, LineageError": {"If the frame, or its rows, cannot be traced to a protected one."},
    "ColumnError, ParameterError": {"For a wrong column or ε."},
    "ExpressionError": {
        "If the text is outside the grammar, naming the part; or no condition.",
        "If a text is outside the grammar, naming the part.",
    },
}
"""The same of errors."""


def methods(owner):
    """The public methods and properties of a class, as functions."""
    for name in dir(owner):
        if not name.startswith("_"):
            found = inspect.getattr_static(owner, name)
            yield name, found.fget if isinstance(found, property) else found


def paragraphs(text, section):
    """Names and text of each entry of a section; of parameters without their types."""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\w[^\n]*\n-+$|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^(\S[^\n]*)\n((?:    [^\n]*\n?|\n)*)", found[1], flags=re.MULTILINE) if found else []
    return [(head.split(" : ")[0].strip(), " ".join(body.split())) for head, body in entries]


def documented():
    """Owner, name, signature's parameters and docstring of every public method of what can be asked."""
    for owner in ASKED:
        for name, method in methods(owner):
            yield owner, name, inspect.signature(method).parameters, inspect.getdoc(method)


def drifted(docs, section, wordings):
    """The entries whose wording is not in the table, of names that the table has or that methods word differently; references aside."""
    entries = [(f"{owner.__name__}.{name}", *entry) for owner, name, _, text in docs for entry in paragraphs(text, section)]
    entries = [(place, names, text) for place, names, text in entries if not AS_FOR.fullmatch(text)]
    said = defaultdict(set)
    for _, names, text in entries:
        said[names].add(text)
    return [
        (place, names, text)
        for place, names, text in entries
        if (names in wordings or len(said[names]) > 1) and text not in wordings.get(names, ())
    ]


@pytest.mark.parametrize(("section", "wordings"), [("Parameters", PARAMETERS), ("Raises", ERRORS)])
def test_equal_parameters_and_errors_say_the_same(section, wordings):
    """What several methods document is worded as the table has it, and the table has no wording that is gone; one changed word is found."""
    docs = list(documented())
    assert drifted(docs, section, wordings) == []
    said = {(names, text) for _, _, _, doc in docs for names, text in paragraphs(doc, section)}
    assert {(names, text) for names, texts in wordings.items() for text in texts} <= said
    for names, texts in wordings.items():
        for text in texts:
            # the twin: a word is added to this very wording, in one method
            place = next(i for i, (*_, doc) in enumerate(docs) if (names, text) in paragraphs(doc, section))
            owner, name, parameters, doc = docs[place]
            first = text.split()[0]
            entry = re.search(rf"^{re.escape(names)}(?: : [^\n]*)?\n    ", doc, flags=re.MULTILINE)
            assert doc[entry.end() :].startswith(first)
            twin = f"{doc[: entry.end()]}Well: {doc[entry.end() :]}"
            assert drifted([*docs[:place], (owner, name, parameters, twin), *docs[place + 1 :]], section, wordings)


def names_of(heads):
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def test_documented_parameters_are_those_of_the_signature():
    """Where a docstring has parameters, it has all of the signature's, each once, and no others."""
    checked = 0
    for owner, name, parameters, text in documented():
        heads = [head for head, _ in paragraphs(text, "Parameters")]
        if heads:
            checked += 1
            assert sorted(names_of(heads)) == sorted(set(parameters) - {"self"}), f"{owner.__name__}.{name}"
    assert checked > 40


def test_references_lead_to_a_text():
    """A reference, as for another method, leads at last to a method that documents the parameter or error itself."""
    texts = {(owner, name): text for owner, name, _, text in documented()}

    def resolved(owner, name, section, wanted, seen=()):
        assert (owner, name) in texts, (owner, name)
        assert (owner, name) not in seen, f"{name} refers to itself"
        for head, text in paragraphs(texts[owner, name], section):
            if wanted in names_of([head]):
                reference = AS_FOR.match(text)
                if reference is None:
                    return True
                there = pandas_dp.DataFrameDP if "df.dp." in text or (owner, reference[1]) not in texts else owner
                return resolved(there, reference[1], section, wanted, (*seen, (owner, name)))
        return False

    followed = 0
    for (owner, name), text in texts.items():
        for section in ("Parameters", "Raises"):
            for head, body in paragraphs(text, section):
                if AS_FOR.match(body):
                    for wanted in names_of([head]):
                        followed += 1
                        assert resolved(owner, name, section, wanted), f"{owner.__name__}.{name}: {wanted}"
    assert followed > 30


def test_a_series_refers_to_the_same_query_of_a_frame():
    """A query of a Series says "as" the query of that name; a preview is one of its query, with the same parameters, and returns a Preview."""
    for name, method in methods(pandas_dp.SeriesDP):
        if name not in {"session", "preview"}:
            assert AS_THERE.search(inspect.getdoc(method))[1] == name
    for previews, asked in PREVIEWS.items():
        for name, method in methods(previews):
            signature, queried = inspect.signature(method), inspect.signature(getattr(asked, name))
            if (previews, name) not in {(DataFramePreview, "groupby"), (DataFramePreview, "cov"), (DataFramePreview, "corr")}:
                assert list(signature.parameters.values()) == list(queried.parameters.values())
            assert list(signature.parameters) == list(queried.parameters)
            assert signature.return_annotation == ("GroupPreview" if name == "groupby" else "Preview")
            assert name == "groupby" or inspect.getdoc(method).startswith(f"Preview ``{name}``")


def test_one_word_for_one_thing():
    """What is protected is a unit, whoever it stands for; its values stand on steps of a grid."""
    for owner, name, _, text in documented():
        assert not re.search(r"\b(people|persons?'|heights?)\b", text), f"{owner.__name__}.{name}"
