"""A process with an agent is killed at each of its calls; its standard output is the ledger outside."""

import subprocess
import sys
from pathlib import Path


def one_life(url: str, *, calls: int | None) -> list[str]:
    """What the program says until it ends, or is killed with its next `calls`-th call."""
    command = [sys.executable, "-m", "tests.agents.killed_program", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said: list[str] = []
        for line in process.stdout:
            said.append(line.strip())
            if calls is not None and sum(each.startswith("call") for each in said) == calls:
                process.kill()
                break
        return said


def test_killed_at_every_call_no_call_with_a_recorded_result_is_made_again(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/plait.db"
    lives = [one_life(url, calls=2) for _ in range(4)]
    lives.append(one_life(url, calls=None))
    assert lives[-1][-1] == "output 21"
    known: set[str] = set()
    for life in lives:
        known |= {line.partition(" ")[2] for line in life if line.startswith("known")}
        made = [line.partition(" ")[2] for line in life if line.startswith("call")]
        assert known.isdisjoint(made), (known, made)
    assert len(known) >= 4, "it got further with each life"
