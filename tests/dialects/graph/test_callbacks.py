"""Handlers at an address that answer 202, and report their result later."""

from __future__ import annotations

from typing import Any

from plait.dialects.graph.bundle import GraphBundle
from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import TaskToken
from plait.kernel.inputs import Cancel, TaskResult
from tests.dialects.graph.drawing import drawn, task
from tests.dialects.graph.player import Player


def accepted(**more: Any) -> Player:
    """A run whose node `A` has been accepted."""
    node = task("A", config={"url": "http://a/$payload"}, **more)
    player = Player(drawn("A > B", node, {"id": "B", "type": "wait", "config": {"seconds": 9}}), bundle=GraphBundle())
    player.start({"n": 1})
    accept(player)
    return player


def accept(player: Player) -> None:
    opened = player.open("A")
    player.tasks.clear()
    player.give(TaskResult(opened.task.token, opened.attempt, later=True))


def report(player: Player, attempt: int = 1, output: Any = None, error: str = "", *, retryable: bool = True) -> None:
    token = TaskToken(player.of("node.accepted")[0]["token_id"])
    told = ErrorInfo("task.failed", error) if error else None
    result = TaskResult(token, attempt, values.encode(output), told, retryable)
    player.give(result, f"callback:{token}:{attempt}")


def test_what_was_accepted_waits_for_its_result_with_its_token_counted() -> None:
    player = accepted()
    assert player.types == ["run.started", "node.accepted"]
    assert player.machine.run.state.counter == 1
    [reason] = player.machine.waiting(player.run.state.tasks.facts())
    assert (reason.kind, reason.text.partition(" until")[0]) == ("callback", "callback for `A`")
    assert player.run.state.tasks.running == 0
    assert player.machine.nodes({})[0][0].status == "waiting"


def test_a_reported_result_is_the_output_also_after_a_crash() -> None:
    player = accepted()
    player.crash()
    assert not player.tasks
    report(player, output={"done": True})
    assert player.of("node.consumed")[0]["output"] == {"done": True}
    assert [each for each in player.timers if each.startswith("~callback")] == []


def test_a_report_that_comes_twice_changes_nothing_the_second_time() -> None:
    player = accepted()
    report(player, output=1)
    before = player.machine.run.state.counter
    report(player, output=2)
    assert player.types.count("node.consumed") == 1
    assert player.machine.run.state.counter == before
    assert player.of("task.late")[0]["output"] == 2


def test_a_reported_failure_is_a_failed_attempt_and_the_next_one_is_asked_again() -> None:
    player = accepted()
    report(player, error="out of paper")
    assert player.of("task.retry_scheduled")[0]["error"]["message"] == "out of paper"
    player.crash()
    player.ring()
    opened = player.open("A")
    assert opened.attempt == 2
    accept(player)
    report(player, attempt=1, output="of the first attempt")
    assert "node.consumed" not in player.types
    report(player, attempt=2, output="right")
    assert player.of("node.consumed")[0]["attempt"] == 2


def test_a_failure_that_is_not_retryable_is_a_dead_letter() -> None:
    player = accepted()
    report(player, error="never", retryable=False)
    assert player.status == "failed"
    assert player.of("token.dead_lettered")


def test_a_result_that_does_not_come_in_time_fails_the_attempt_and_comes_late() -> None:
    player = accepted(limits={"deadline_s": 60}, retry={"max_attempts": 1})
    player.ring()
    assert player.status == "failed"
    assert "within 60 s" in player.error.message
    report(player, output=1)
    assert player.of("task.late")


def test_without_a_deadline_it_is_waited_for_as_long_as_it_takes() -> None:
    player = accepted(limits={"deadline_s": None})
    assert not player.timers


def test_a_result_that_is_quicker_than_the_202_counts() -> None:
    node = task("A", config={"url": "http://a"})
    player = Player(drawn("A", node), bundle=GraphBundle())
    player.start()
    opened = player.open("A")
    player.give(TaskResult(opened.task.token, 1, values.encode(5)), "callback")
    player.give(TaskResult(opened.task.token, 1, later=True))
    assert player.output == {"A": 5}
    assert "task.late" not in player.types


def test_a_cancelled_run_records_what_is_reported_late() -> None:
    player = accepted()
    player.give(Cancel("enough"), "cancel")
    report(player, output=1)
    assert player.types[-2:] == ["run.cancelled", "task.late"]
