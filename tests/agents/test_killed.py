"""A process with an agent is killed with SIGKILL at every turn and at every tool call: before the call goes out, and
after it came back but before that was recorded. A file is the ledger outside."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from plait import Engine
from tests.support import processes

CALLS = 8
"""Four replies of the model, a pipeline, and three charges."""
JOURNAL = ["begun", "replied", "tool", "replied", "tool", "tool", "replied", "tool", "replied", "ended"]


def lives(folder: Path, *points: int) -> tuple[str, Counter[str]]:
    """Runs the program until each point, and then to its end: what it says, and what was done in the world."""
    ledger, url = folder / "ledger", f"sqlite:///{folder}/plait.db"
    ledger.touch()
    for point in points:
        with processes.start("tests.agents.killed_program", url, str(ledger), str(point)) as process:
            assert process.wait() == -signal.SIGKILL, "it was killed at its point"
    done = processes.run("tests.agents.killed_program", url, str(ledger), "0")
    assert done.returncode == 0, done.stderr
    return done.stdout, Counter(ledger.read_text().split())


async def recorded(folder: Path) -> list[str]:
    """The kinds of entries of the journal."""
    async with Engine(f"sqlite:///{folder}/plait.db", work=False) as engine:
        events = await (await engine.get("run")).events()
    return [event.data["entry"]["entry"] for event in events if event.type == "task.journaled"]


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Counter[str]]:
    return lives(tmp_path_factory.mktemp("unharmed"))


def test_the_program_makes_each_of_its_calls_once(unharmed: tuple[str, Counter[str]]):
    said, calls = unharmed
    assert json.loads(said) == {"paid": 21}
    assert len(calls) == CALLS
    assert set(calls.values()) == {1}


async def test_killed_before_each_call_nothing_is_done_twice(tmp_path: Path, unharmed: tuple[str, Counter[str]]):
    """A life makes and records the call that the one before was killed at, and is killed at the next one."""
    output, calls = lives(tmp_path, 1, *[3] * (CALLS - 1))
    assert (output, calls) == unharmed
    assert await recorded(tmp_path) == JOURNAL


async def test_killed_after_each_call_only_what_was_not_recorded_is_done_again_and_with_the_same_key(
    tmp_path: Path, unharmed: tuple[str, Counter[str]]
):
    output, calls = lives(tmp_path, 2, *[4] * (CALLS - 1))
    wanted = unharmed[1]
    assert output == unharmed[0]
    assert calls == wanted + wanted, "each of them twice: it was killed with each of them once"
    assert await recorded(tmp_path) == JOURNAL
