"""Change the package in one place, and see whether a test notices.

A mutant is a small change that would do harm: a dropped check, a wrong sign, a scale that is too small.  Each is a table in ``mutants/<room>.toml``:

* ``id``, of the room and a number;
* ``file``, of the package;
* ``old`` and ``new``, the source before and after, the first of which stands in the file exactly once;
* ``breaks``, in one clause;
* ``tests``, of which one has to fail, fastest first;
* ``telling = true`` for those that are run with every change;
* ``survives``, if no test can or need notice, with the kind (``equal``, ``speed`` or ``wording``) and the reason: it is not run;
* ``needs``, the subject of a test that does not exist yet: it is not run, either.

Usage::

    python tests/mutation/run.py                     # all
    python tests/mutation/run.py --telling           # those that say most, in less than a minute
    python tests/mutation/run.py --room noise
    python tests/mutation/run.py --mutant noise-7
    python tests/mutation/run.py --find noise-7 tests/noise tests/mechanisms    # which of these tests kill it?

A mutant is applied to a copy of the package in a temporary folder, never to the tree, and is dead if a test fails.  What cannot be imported, a test that cannot be collected and tests that fail
without any change prove nothing, and are errors.  A mutant that runs out of time is dead, and is counted apart.

Mutation tools make their own mutants, by the ten thousand, and run a whole suite for each.  Here both sides are chosen: what would do harm, and which test has to say so.  That takes a list and
the few lines below.  pytest, pandas and what else tests need is imported once; a forked child puts the mutated copy first on the path, imports it and runs the mutant's tests, so that nothing of
one mutant is left for the next.
"""

from __future__ import annotations

import argparse
import compileall
import gc
import importlib
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = "pandas_dp"
LIMIT = 120.0  # seconds for the tests of one mutant
DEAD, SURVIVED, LATE, INVALID = "died", "survived", "out of time", "invalid"
_UNUSABLE = 70  # the child's exit code if the mutant cannot be imported
_OPTIONS = (
    *("-x", "-q", "--tb=short", "-p", "no:cacheprovider"),
    "--assert=plain",  # whether one fails is enough, and rewriting takes longer than most tests
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of modules that were imported before
)
_COMMON = ("hypothesis", "pandas", "pandera.pandas", "scipy.stats")  # what many tests import, and the package does not change


class Stale(Exception):
    """The source of a mutant does not stand in its file exactly once."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change, and the tests that have to notice it."""

    id: str
    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...] = ()
    telling: bool = False
    survives: str = ""
    needs: str = ""

    @property
    def runs(self) -> bool:
        """Whether a test has to kill it today."""
        return not self.survives and not self.needs

    @property
    def module(self) -> str:
        """The name of the module that is changed."""
        return ".".join((PACKAGE, *Path(self.file).with_suffix("").parts)).removesuffix(".__init__")

    def applied(self, text: str) -> str:
        """Return the changed source, or raise ``Stale``."""
        if (count := text.count(self.old)) != 1 or self.old == self.new:
            msg = f"{self.id}: the old source stands {count} times in {self.file}, or is not changed"
            raise Stale(msg)
        return text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant."""

    what: str
    seconds: float
    by: str = ""
    """The test that failed, or the end of what was printed."""


def all_mutants(folder: Path = HERE / "mutants") -> list[Mutant]:
    """Return the list, in the order of rooms."""
    found = [
        Mutant(**{**table, "tests": tuple(table.get("tests", ()))})
        for file in sorted(folder.glob("*.toml"))
        for table in tomllib.loads(file.read_text(encoding="utf-8"))["mutants"]
    ]
    twice = [name for name, count in Counter(mutant.id for mutant in found).items() if count > 1]
    if twice:
        msg = f"two mutants of one id: {', '.join(twice)}"
        raise ValueError(msg)
    return found


class Copy:
    """A compiled copy of the package, in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.chmod(0o755)  # some tests start processes of another user
        shutil.copytree(ROOT / PACKAGE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(folder / PACKAGE, quiet=2)

    @contextmanager
    def changed(self, mutant: Mutant | None) -> Iterator[None]:
        """Change a file and, whatever happens, change it back; None for no change."""
        if mutant is None:
            yield
            return
        file = self.folder / PACKAGE / mutant.file
        compiled = Path(importlib.util.cache_from_source(str(file)))
        before, code = file.read_text(encoding="utf-8"), compiled.read_bytes()
        after, times = mutant.applied(before), file.stat()
        # Compiled code is known by time and size, which the mutant may share with what it was made from.
        compiled.unlink()
        try:
            file.write_text(after, encoding="utf-8")
            yield
        finally:
            file.write_text(before, encoding="utf-8")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
            compiled.write_bytes(code)


@contextmanager
def copied() -> Iterator[Copy]:
    """Make a copy of the package in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="mutants.") as folder:
        yield Copy(Path(folder))


class _First:
    """Writes down which test failed first."""

    def __init__(self, note: Path) -> None:
        self.note = note

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.note.exists():
            self.note.write_text(report.nodeid, encoding="utf-8")


def run(copy: Copy, mutant: Mutant | None, tests: Sequence[str], limit: float = LIMIT, plugins: Sequence[object] = ()) -> Outcome:
    """Run tests on the copy, with a mutant or as it is, in a child of this process."""
    if PACKAGE in sys.modules:
        msg = f"{PACKAGE} is imported here: a child would not see the change"
        raise RuntimeError(msg)
    note, printed, scratch = (copy.folder / name for name in ("failed", "printed", "scratch"))
    note.unlink(missing_ok=True)
    scratch.mkdir(exist_ok=True)
    start = time.monotonic()
    with copy.changed(mutant):
        child = os.fork()
        if child == 0:
            _in_child(copy.folder, mutant, tests, (_First(note), *plugins), printed)
        code = _waited(child, start + limit)
    seconds = time.monotonic() - start
    shutil.rmtree(scratch, ignore_errors=True)
    if code is None:
        return Outcome(LATE, seconds)
    if code == 1:
        return Outcome(DEAD, seconds, note.read_text(encoding="utf-8") if note.exists() else "")
    if code == 0:
        return Outcome(SURVIVED, seconds)
    return Outcome(INVALID, seconds, printed.read_text(encoding="utf-8", errors="replace")[-2000:])


def _in_child(folder: Path, mutant: Mutant | None, tests: Sequence[str], plugins: Sequence[object], printed: Path) -> None:
    """Import the mutant and run its tests; never return."""
    code = _UNUSABLE
    try:
        os.setsid()
        with printed.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.chdir(ROOT)
        sys.dont_write_bytecode = True
        # Processes that tests start, temporary files and examples that Hypothesis keeps: all of the mutant, none in the tree.
        os.environ |= {
            "PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH")))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # none is needed, and one may shuffle tests
            "PYTEST_DEBUG_TEMPROOT": str(folder / "scratch"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "scratch"),
        }
        sys.path[:0] = [str(folder)]
        for name in (PACKAGE, mutant.module if mutant else PACKAGE):
            imported = importlib.import_module(name)
            if not str(imported.__file__).startswith(str(folder)):
                msg = f"{name} was imported from elsewhere"
                raise ImportError(msg)  # noqa: TRY301  (whatever is wrong is printed, and the child ends)
        code = int(_pytest().main([*tests, *_OPTIONS], plugins=[*plugins]))
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _pytest() -> Any:
    import pytest

    return pytest


def _waited(child: int, end: float) -> int | None:
    """Return the exit code of a child; None if it had to be stopped.  Whatever it has started ends with it."""
    code = None
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            break
        if time.monotonic() > end:
            break
        time.sleep(0.01)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if code is None:
        os.waitpid(child, 0)
    return code


def prepare() -> None:
    """Import once what every child needs, and nothing of the package."""
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != HERE]
    _pytest()
    for name in _COMMON:
        importlib.import_module(name)
    import hypothesis

    # The same examples each time; and a failing one is enough, it need not be the smallest.
    hypothesis.settings.register_profile(
        "mutants", derandomize=True, database=None, phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate)
    )
    hypothesis.settings.load_profile("mutants")
    gc.collect()
    gc.freeze()  # pytest collects garbage when it ends, and need not look at what was there before


def run_all(mutants: Sequence[Mutant], say: Any = print) -> int:
    """Run mutants one after the other, a line for each; return 0 only if all die."""
    prepare()
    counts: Counter[str] = Counter()
    with copied() as copy:
        tests = list(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
        unchanged = run(copy, None, tests, limit=LIMIT + 10 * len(tests)) if tests else Outcome(SURVIVED, 0.0)
        if unchanged.what != SURVIVED:
            say(f"without any change: {unchanged.what}, {unchanged.by}")
            return 2
        for mutant in mutants:
            try:
                outcome = run(copy, mutant, mutant.tests) if mutant.tests else Outcome(SURVIVED, 0.0, "no test is named")
            except Stale as stale:
                outcome = Outcome(INVALID, 0.0, str(stale))
            counts[outcome.what] += 1
            say(f"{mutant.id:16} {outcome.what:11} {outcome.seconds:5.1f} s  {mutant.breaks}  [{outcome.by}]")
    died = counts[DEAD] + counts[LATE]
    late = f" ({counts[LATE]} of them out of time)" if counts[LATE] else ""
    invalid = f", {counts[INVALID]} invalid" if counts[INVALID] else ""
    say(f"{len(mutants)} mutants, {died} died{late}, {counts[SURVIVED]} survived{invalid}")
    return 0 if died == len(mutants) else 1


def find(mutant: Mutant, tests: Sequence[str], say: Any = print) -> int:
    """Say which test kills a mutant: of those that are given, or of its room's."""
    prepare()
    room = mutant.file.split("/")[0].removesuffix(".py")
    with copied() as copy:
        outcome = run(copy, mutant, tests or [f"tests/{room}"], limit=10 * LIMIT)
    say(f"{mutant.id}: {outcome.what} in {outcome.seconds:.1f} s  {outcome.by}")
    return 0 if outcome.what == DEAD else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Change the package in one place, and see whether a test notices.")
    parser.add_argument("--telling", action="store_true", help="those that say most")
    parser.add_argument("--room", help="those of a room, as noise")
    parser.add_argument("--mutant", nargs="+", default=[], help="those of these ids, set aside or not")
    parser.add_argument("--find", nargs="+", metavar=("ID", "TESTS"), help="which of these tests, or the room's, kill a mutant?")
    asked = parser.parse_args(arguments)
    mutants = all_mutants()
    if asked.find or asked.mutant:
        unknown = {*(asked.mutant or asked.find[:1])} - {mutant.id for mutant in mutants}
        if unknown:
            parser.error(f"no such mutant: {', '.join(sorted(unknown))}")
    if asked.find:
        return find(next(mutant for mutant in mutants if mutant.id == asked.find[0]), asked.find[1:])
    chosen = [
        mutant
        for mutant in mutants
        if (mutant.id in asked.mutant if asked.mutant else mutant.runs)
        and (mutant.telling or not asked.telling)
        and (not asked.room or mutant.file.split("/")[0].removesuffix(".py") == asked.room)
    ]
    start = time.monotonic()
    code = run_all(chosen, lambda line: print(line, flush=True))
    aside = [mutant for mutant in mutants if not mutant.runs]
    if not (asked.telling or asked.room or asked.mutant):
        print(
            f"{len(aside)} more are listed and not run: {dict(Counter((m.survives or 'needs: ' + m.needs).split(':')[0] for m in aside))}"
        )
    print(f"{time.monotonic() - start:.0f} s")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
