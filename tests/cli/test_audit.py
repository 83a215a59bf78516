"""``python -m pandas_dp ledger``: what the person who audits reads."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ledger_support import folder, frame, small, unprivileged  # noqa: F401  (fixtures)

from pandas_dp import Session
from pandas_dp.__main__ import main
from pandas_dp.accounting.opening import resume
from pandas_dp.sessions.registry import kept_sessions, named_sessions


@pytest.fixture
def path(folder):  # noqa: F811
    yield folder / "visits.dp.sqlite"
    named_sessions.pop("small", None)
    kept_sessions.clear()


def test_the_audit(path, capsys):
    """The command prints the account and each charge; verifies; exports CSV and JSON with the same numbers; and says what is wrong with a damaged file."""
    small(path)
    Session.open(path).amend(epsilon=2, reason="board")
    assert main(["ledger", str(path)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("session 'small': ε=1.7 of ε=2 left; ε=0.3 spent")
    assert "mean('x' in [0, 40])" in told
    assert "mean x" in told
    assert "amend: ε=1 to ε=2 (board)" in told
    assert main(["ledger", str(path), "--verify"]) == 0
    assert "whole: 3 charges, 3 answers" in capsys.readouterr().out
    assert main(["ledger", str(path), "--export", "json"]) == 0
    exported = json.loads(capsys.readouterr().out)
    assert exported["remaining"] == "1.7"
    assert [charge["epsilon"] for charge in exported["charges"]] == ["0.1", "0.1", "0.1", "0"]
    assert main(["ledger", str(path), "--export", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("number,time,frame,query,epsilon")
    assert len(lines) == 5
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert main(["ledger", str(path)]) == 1
    assert "LedgerDamaged" in capsys.readouterr().err


def test_the_audit_of_what_others_may_only_read(path, capsys):
    """A ledger in a folder that cannot be written is audited without a trace."""
    small(path)
    before = sorted(path.parent.iterdir())
    assert main(["ledger", str(path), "--verify"]) == 0
    assert sorted(path.parent.iterdir()) == before
    capsys.readouterr()
    done = unprivileged("audit", path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.parent.iterdir()) == before


@pytest.mark.parametrize("label", ["=1+1", "  +1", "\t-1", "@x", "\uff1d1", "\uff0d1"])
def test_a_spreadsheet_takes_no_label_for_a_formula(path, capsys, label):
    """Texts that begin like a formula are quoted in the CSV export, after blanks and in full width, too."""
    df = frame().dp.protect(epsilon=1, name="small", ledger=path)
    df.dp.count(epsilon=0.1, label=label)
    main(["ledger", str(path), "--export", "csv"])
    row = next(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert row["label"].startswith("'")


def test_a_terminal_takes_no_label_for_a_command(path, capsys):
    """Control characters, directions of writing and halves of characters are printed as escapes, in the table, its title and the CSV export; JSON escapes them itself."""
    label = "\x1b[2Ka\u202eb\x07c\ud83d\x9b31m"
    session = Session(1, name="visits\x1b[1m", ledger=path)
    session.protect(frame(), name="f\x1b").dp.count(epsilon=0.1, label=label)
    for options in ([], ["--export", "csv"], ["--export", "json"]):
        assert main(["ledger", str(path), *options]) == 0
        told = capsys.readouterr().out
        assert told.replace("\n", "").isprintable()
        if options[1:] == ["json"]:
            assert json.loads(told)["charges"][0]["label"] == label
        else:
            assert "\\x1b[2Ka\\u202eb" in told


def test_the_audit_while_others_write(path):
    """A ledger that a process keeps writing is read whole each time by an auditor."""
    code = "import sys, pandas_dp, pandas as pd\nfrom ledger_support import frame\ndf = frame().dp.protect(epsilon=100, ledger=sys.argv[1])\nprint(flush=True)\nwhile True: df.dp.count(epsilon=0.01)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, env=environment) as writer:
        writer.stdout.readline()
        seen, deadline = [0], time.monotonic() + 60
        while len(set(seen)) < 10 and time.monotonic() < deadline:
            account = resume(path, writable=False)
            seen.append(len(account.entries))
        writer.kill()
    assert seen == sorted(seen)
    assert len(set(seen)) == 10, "the writer went on meanwhile"


def test_an_unanswered_charge_is_told(path, capsys, monkeypatch):
    """A charge whose process was killed before it answered stands, and the audit says so."""
    df = small(path)
    account = df.dp.session._core.account
    entry = account.entries[0]
    account.charge(entry.cost, frame="", query="count()", mechanism="discrete Laplace", scale=1.0, margin=3.0, private=True)
    main(["ledger", str(path)])
    assert "not answered" in capsys.readouterr().out.splitlines()[-1]
