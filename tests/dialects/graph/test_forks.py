"""Forks in the middle of a decision, read into memory before they are told that they are forks: what had only been
reached begins as it would have, and nothing goes on that somebody or something holds back."""

from __future__ import annotations

from typing import Any

import pytest

from plait.dialects.graph.running.events import GraphForked
from plait.dialects.graph.running.forking import is_one
from plait.dialects.graph.running.wall_time import WALL
from plait.kernel import values
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.kernel.inputs import ChildFinished, Loaded
from tests.dialects.graph.drawing import branch, drawn, rule, task
from tests.dialects.graph.player import Player

GATED = {"requires_approval": True}
CHILD = {"id": "B", "type": "run", "config": {"dialect": "code", "definition": "ship"}}


def forked(last: str, node: dict[str, Any], **more: Any) -> Player:
    """`A > B`, forked at the last event of a type when `A` was done."""
    drawing = drawn("A > B", node, **more)
    player = Player(drawing)
    player.start({"n": 1})
    player.finish("A")
    return fork_of(player, drawing, last)


def fork_of(player: Player, drawing: dict[str, Any], last: str) -> Player:
    rows = [{"at": row["at"], "events": [event]} for row in player.log for event in row["events"]]
    place = max(place for place, row in enumerate(rows, start=1) if row["events"][0]["type"] == last)
    fork = Player(drawing)
    fork.now = player.now
    fork.load(rows[:place])
    fork.add(GraphForked("run", place, {}, []))
    fork.crash()
    return fork


def told(fork: Player) -> Player:
    fork.give(Loaded("fork"), "~fork")
    return fork


@pytest.mark.parametrize("node", [task("B", capabilities=GATED), CHILD | {"capabilities": GATED}])
def test_a_node_that_requires_approval_is_not_begun_without_it(node: dict[str, Any]) -> None:
    fork = forked("node.emitted", node)
    for player in (fork, told(fork)):
        assert not player.tasks
        assert not player.children
        assert len(player.of("approval.created")) == 1
    fork.decide("B")
    assert len(fork.tasks) + len(fork.children) == 1


def test_a_token_that_a_throttle_holds_back_waits_in_the_fork_too() -> None:
    fork = told(forked("node.emitted", task("B"), limits={"backpressure": {"throttle": {"tokens_per_s": 0.1}}}))
    assert not fork.tasks
    assert len(fork.of("token.throttled")) == 1
    fork.ring()
    fork.finish("B")
    assert fork.status == "completed"


def test_a_child_that_nobody_waits_for_is_not_waited_for_in_the_fork() -> None:
    fork = told(forked("node.emitted", CHILD | {"config": {**CHILD["config"], "wait": False}}))
    assert len(fork.children) == 1
    assert fork.status == "completed"


def test_a_child_whose_output_is_being_judged_does_not_run_again() -> None:
    condition = {"type": "python_sandbox", "code": "def evaluate(output, context):\n    return True"}
    drawing = drawn("B > C", CHILD | {"branch": branch(rule(condition, "C"))})
    player = Player(drawing)
    player.start({"n": 1})
    [child] = player.children.values()
    player.give(ChildFinished(child.token, child.run_id, "completed", values.encode({"sent": True}), None))
    fork = told(fork_of(player, drawing, "node.executed"))
    assert not fork.children
    assert len(fork.tasks) == 1


def test_a_fork_has_the_wall_time_of_a_run_again() -> None:
    fork = told(forked("node.emitted", task("B"), limits={"max_wall_time_s": 60}))
    assert fork.timers[WALL] == fork.now + 60_000


def test_a_failure_and_its_dead_letter_are_one() -> None:
    failed, dead = (Recorded(1, Millis(0), type, {}) for type in ("node.failed", "token.dead_lettered"))
    assert is_one(failed, dead)
