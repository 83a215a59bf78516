"""Processes for the tests of ledger files: some are killed at every step of a query, some race for one budget.

Run as ``python ledger_driver.py kills|race|worker ...``; prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pandas as pd

import pandas_dp
from pandas_dp.accounting import sqlite
from pandas_dp.release import path as release

EPSILON = "1/1000"


def frame():
    return pd.DataFrame({"x": range(50)})


def opened(path, budget):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a large budget
        return frame().dp.protect(epsilon=budget, name="kills", ledger=path)


class Counting:
    """A connection that kills its process before its k-th statement, or after."""

    def __init__(self, connection, bomb):
        self._connection = connection
        self._bomb = bomb

    def __getattr__(self, name):  # noqa: D105
        return getattr(self._connection, name)

    def __setattr__(self, name, value):  # noqa: D105
        object.__setattr__(self, name, value) if name.startswith("_") else setattr(self._connection, name, value)

    def execute(self, *arguments):
        self._bomb.step()
        found = self._connection.execute(*arguments)
        self._bomb.step()
        return found


class Bomb:
    """Counts steps down, and kills."""

    def __init__(self, steps):
        self.steps = steps

    def step(self):
        self.steps -= 1
        if self.steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def child(protected, out, steps, queries):
    """Ask queries, telling the pipe of each question and each answer, until killed."""
    bomb = Bomb(steps)
    connect, measure = sqlite._connect, release._measure

    def measured(*arguments):
        bomb.step()
        found = measure(*arguments)
        bomb.step()
        return found

    sqlite._connect = lambda path, *, writable: Counting(connect(path, writable=writable), bomb)
    release._measure = measured
    for _ in range(queries):
        os.write(out, b"?")
        protected.dp.count(epsilon=EPSILON)
        os.write(out, b"!")
    os._exit(0)


def kills(path, points, randomly):
    """Kill a forked child at each point, and others after a random time; count what was asked, charged and answered."""
    protected = opened(path, 1000)
    protected.dp.count(epsilon=EPSILON)
    asked = answered = killed = 1
    killed = 0
    wrong = []
    chance = random.Random(1)
    for place in range(points + randomly):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            try:
                child(protected, writing, place + 1 if place < points else 10**9, 2 if place < points else 50)
            finally:
                os._exit(1)
        os.close(writing)
        if place >= points:
            time.sleep(chance.uniform(0.0, 0.03))
            os.kill(pid, signal.SIGKILL)
        told = b""
        while chunk := os.read(reading, 4096):
            told += chunk
        os.close(reading)
        _, status = os.waitpid(pid, 0)
        killed += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        asked += told.count(b"?")
        answered += told.count(b"!")
        records, _ = sqlite.LedgerFile(Path(path)).read()
        charged = sum(record.kind == "charge" for record in records)
        recorded = sum(record.kind == "answer" for record in records)
        if not answered <= recorded <= charged <= asked:
            wrong.append((place, asked, charged, recorded, answered))
    entries = len(protected.dp.session._core.account.entries)
    protected.dp.count(epsilon=EPSILON)
    spent = str(protected.dp.session.spent)
    found = {"killed": killed, "asked": asked, "charged": charged, "recorded": recorded, "answered": answered, "wrong": wrong}
    print(json.dumps({**found, "entries": entries, "spent": spent}))


def work(protected, rounds):
    accepted = 0
    for _ in range(rounds):
        try:
            protected.dp.count(epsilon=EPSILON)
            accepted += 1
        except pandas_dp.BudgetExhausted:
            pass
    return accepted


def race(path, budget, rounds):
    """Let four forked and four new processes race; print how many charges each had accepted."""
    protected = opened(path, budget)
    others = [
        subprocess.Popen([sys.executable, __file__, "worker", path, budget, str(rounds)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    pipes = []
    for _ in range(4):
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.close(reading)
            os.write(writing, str(work(protected, rounds)).encode())
            os._exit(0)
        os.close(writing)
        pipes.append(reading)
    accepted = [int(process.communicate()[0]) for process in others]
    for reading in pipes:
        accepted.append(int(os.read(reading, 100)))
        os.wait()
    session = protected.dp.session
    print(
        json.dumps(
            {
                "accepted": accepted,
                "entries": [entry.number for entry in session._core.account.entries],
                "answers": len(session.releases),
                "remaining": str(session.remaining),
            }
        )
    )


if __name__ == "__main__":
    what, path, *rest = sys.argv[1:]
    if what == "kills":
        kills(path, int(rest[0]), int(rest[1]))
    elif what == "race":
        race(path, rest[0], int(rest[1]))
    else:
        print(work(opened(path, rest[0]), int(rest[1])))
