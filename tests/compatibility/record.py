"""Write the records that later versions are held to: ``python tests/compatibility/record.py``.

They were written by the first version, under pandas 2.2.0 and NumPy 1.26, the oldest that are supported, and are not to be written anew: what a later version says otherwise is what the tests
are there to find.  Where an answer has to change on purpose, ``--answers PATTERN`` writes anew those answers alone whose names, or ``several_quantiles`` of whose records, the pattern matches.
"""

from __future__ import annotations

import argparse
import pickle
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from compatibility import ledgers, pickles, stored
from compatibility.ask import ask_all
from compatibility.questions import SESSIONS


def write_answers(pattern=None):
    """Write the answers to all questions; or anew those that a pattern matches."""
    found = ask_all()
    if pattern is not None:
        before, chosen = stored.read("answers.json"), re.compile(pattern)
        several = chosen.fullmatch("several_quantiles") is not None
        found = {
            name: one if name not in before or chosen.search(name) or (several and "several_quantiles" in one) else before[name]
            for name, one in found.items()
        }
    stored.write("answers.json", found)


def write_ledgers():
    """Write a ledger file of each kind of session, what it says, and what is asked under each label; and a session that was pickled."""
    said, digests, sessions = {}, {}, {}
    for kind in SESSIONS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ledger.sqlite"
            session = ledgers.begun(kind, path)
            said[kind] = {**ledgers.content(session), "asked": ledgers.asked_again(kind, session)}
            digests |= {f"{kind}: {name}": one for name, one in ledgers.digests(path).items()}
            sessions[kind] = pickle.dumps(session, protocol=0).decode("ascii").replace(str(path.resolve()), pickles.PLACE)
            (stored.HERE / f"{kind}.sqlite").write_bytes(path.read_bytes())
    stored.write("ledgers.json", {f"{kind}: {name}": one for kind, parts in said.items() for name, one in parts.items()})
    stored.write("digests.json", digests)
    stored.write("sessions.json", sessions)


def write_pickles():
    """Write pickled answers, and what each of them says."""
    kept = {name: one for name, one in pickles.made().items() if pickles.portable(one)}
    stored.write("pickles.json", {name: {"pickle": pickles.packed(one), "says": pickles.said(one)} for name, one in kept.items()})


def main():
    """Write all records, or some answers anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", metavar="PATTERN", help="write anew the answers that this matches, and nothing else")
    asked = parser.parse_args()
    stored.HERE.mkdir(exist_ok=True)
    write_answers(asked.answers)
    if asked.answers is None:
        write_ledgers()
        write_pickles()


if __name__ == "__main__":
    main()
