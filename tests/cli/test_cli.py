"""``python -m pandas_dp``: the tour and a user's own file, in real processes."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest

from pandas_dp.datasets import visits


def run(*arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "pandas_dp", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "data.csv"
    visits().to_csv(path, index=False)
    return path


def test_the_tour_shows_the_main_things_and_ends_with_a_refusal():
    """Without arguments: protects, counts, sums, averages, filters, shows what is left, and is refused at the end."""
    text = run().stdout
    for shown in (
        "synthetic",
        "protect(epsilon=1.0, schema=Visits)",
        "dp.count(",
        'dp.sum("charge"',
        'dp.mean("age"',
        'query("age >= 65")',
        "remaining\nε=0.3",
        " ± ",
    ):
        assert shown in text
    assert text.rstrip().split("\n")[-1].startswith("BudgetExhausted: count() asks for ε=0.5, but ε=0.3")


def test_a_file(data):
    """The example of the README: a mean of a user's own file, near the truth, with its ± and what was spent."""
    text = run(data, "--epsilon", "1", "--mean", "age", "--bounds", "0", "110").stdout
    first, last = text.splitlines()
    assert first.startswith("mean(age) = ")
    assert abs(float(first.split()[2]) - visits().age.mean()) < 1
    assert last == "spent ε=1 of ε=1; ± is the 95 % margin of the noise"


def test_several_questions_share_the_budget(data):
    """Each question gets an equal share, in the order given; bounds belong to the question before them; units limit rows."""
    text = run(
        data,
        "--epsilon",
        "0.9",
        "--count",
        "--sum",
        "charge",
        "--bounds",
        "0",
        "5e4",
        "--count",
        "charge",
        "--unit",
        "patient_id",
        "--max-rows",
        "3",
    ).stdout
    assert [line.split(" = ")[0] for line in text.splitlines()[:3]] == ["count()", "sum(charge)", "count(charge)"]
    assert text.count("(ε=0.3)") == 3
    assert run(data, "--epsilon", "1").stdout.startswith("count() = ")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--epsilon", "1", "--mean", "age"], 1, "BoundsError: column 'age' has no bounds"),
        (["--epsilon", "-1", "--count"], 1, "ParameterError: epsilon must be"),
        (["--epsilon", "1", "--mean", "nobody", "--bounds", "0", "1"], 1, "ColumnError: this frame has no column 'nobody'"),
        (["--epsilon", "1", "--mean", "ward", "--bounds", "0", "1"], 1, "UnsupportedDtype: mean of column 'ward'"),
        (["--epsilon", "1", "--mean", "age", "--bounds", "9", "1"], 1, "reversed"),
        (["--epsilon", "1", "--unit", "patient_id"], 1, "go together"),
        (["--mean", "age", "--bounds", "0", "110"], 2, "--epsilon is required"),
        (["--epsilon", "1", "--bounds", "0", "110"], 2, "follows the --sum or --mean"),
        (["--epsilon", "1", "--mean", "age", "--bounds", "a", "b"], 2, "two numbers"),
    ],
)
def test_mistakes_are_told_in_a_line(data, arguments, code, says):
    """Mistakes end with a message and an exit code, without a traceback."""
    done = run(data, *arguments, code=code)
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_files_that_are_none(tmp_path):
    """A file that is missing, empty or no CSV is told without quoting it; questions without a file are told, too."""
    broken = tmp_path / "broken.csv"
    broken.write_text('a,b\n1,2\nSECRET-42,2,3,4\n"')
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    for path in (broken, empty, tmp_path / "nowhere.csv", tmp_path):
        done = run(path, "--epsilon", "1", "--count", code=2)
        assert "could not be read" in done.stderr
        assert "SECRET" not in done.stderr
    assert "need a file" in run("--count", code=2).stderr


def test_help_explains_itself():
    """--help has the example."""
    assert "--mean age --bounds 0 110" in " ".join(run("--help").stdout.split())


def test_main_can_be_called(capsys, data):
    """The same in this process, twice, as a coverage of the function: it returns the exit code."""
    from pandas_dp.__main__ import main

    assert main([]) == 0
    assert main([str(data), "--epsilon", "1", "--mean", "age", "--bounds", "0", "110"]) == 0
    assert main([str(data), "--epsilon", "1", "--mean", "age"]) == 1
    assert main([str(data) + "x", "--epsilon", "1", "--count"]) == 2
    for wrong in (
        [str(data)],
        ["--count"],
        [str(data), "--bounds", "0", "1"],
        [str(data), "--epsilon", "1", "--sum", "age", "--bounds", "x", "1"],
    ):
        with pytest.raises(SystemExit):
            main(wrong)
    assert "spent" in capsys.readouterr().out
    assert isinstance(visits(), pd.DataFrame)
