"""Seeds, each a calm and a stormy simulation of the real kernel. A failure shows how to replay it.

`make test-long` tries a thousand.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from plait.testing.sim.scenario import draw
from plait.testing.sim.search import SIMULATIONS, Found, Tried
from plait.testing.sim.seeds import Endings, simulate, trial
from tests.support.effort import examples

SEEDS = examples(100)
AT_ONCE = 10


@pytest.mark.chance
@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_every_promise_is_kept_whatever_happens(first: int):
    for seed in range(first, first + AT_ONCE):
        report = asyncio.run(simulate(seed))
        assert report.failure is None, str(report)


def test_the_same_seed_gives_the_same_logs_in_every_process():
    def begin(hash_seed: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "plait.testing.sim", "--seeds", "12", "--json"]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)

    found = [json.loads(process.communicate()[0]) for process in [begin("1"), begin("2")]]
    assert found[0]["digest"] == found[1]["digest"]
    assert not found[0]["failed"]


def test_the_command_replays_a_seed_and_shows_its_plan_and_its_log():
    command = [sys.executable, "-m", "plait.testing.sim", "--seed", "7"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.startswith("seed 7: ")
    assert "log of root0:" in shown
    assert "run.started" in shown


def test_the_last_line_says_how_many_promises_were_broken():
    command = [sys.executable, "-m", "plait.testing.sim", "--first", "3", "--seeds", "21", "--jobs", "2"]
    shown = subprocess.run([*command, "--dialect", "goals"], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1].startswith("21 seeds of goals: 0 broken promises (")


def test_an_error_outside_all_promises_is_reported_with_its_place():
    async def perform(*_: object) -> Endings:
        raise KeyError("where am I?")

    report = str(asyncio.run(trial(draw(1), perform, "code")))
    assert "FAILED: KeyError: 'where am I?'" in report
    assert "in perform" in report


def test_a_search_that_was_stopped_says_where_to_go_on():
    tried = [Tried(dialect, seed, 1, 1, 0, "") for seed in (5, 6, 8) for dialect in SIMULATIONS]
    found = Found([*tried, Tried("code", 7, 1, 1, 0, "")])
    assert found.resume_at(range(5, 10), list(SIMULATIONS)) == 7
    assert found.resume_at(range(5, 10), ["code"]) == 9


@pytest.mark.parametrize("whom", ["the command", "its process group"])
def test_a_search_that_is_stopped_says_what_it_has_done_and_what_is_left(whom: str):
    command = [sys.executable, "-m", "plait.testing.sim", "--seeds", "1000000", "--dialect", "graph", "--jobs", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        (os.kill if whom == "the command" else os.killpg)(process.pid, signal.SIGTERM)
        said = process.stdout.read().splitlines()
    assert process.returncode == 130
    rest_of_them = r"the rest: make sim FIRST=(\d+) SEEDS=(\d+) DIALECT=graph"
    assert re.fullmatch(rf"\d+ seeds of graph: 0 broken; {rest_of_them}\n", first)
    left = re.fullmatch(f"stopped; {rest_of_them}", said[-2])
    assert left is not None
    assert sum(map(int, left.groups())) == 1_000_000
    assert re.match(r"\d+ seeds of graph: 0 broken promises \(", said[-1])
