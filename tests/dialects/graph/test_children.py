"""Nodes that are runs: a child that fails is a failed attempt."""

from __future__ import annotations

from typing import Any

from plait.kernel import values
from plait.kernel.effects import StartChild
from plait.kernel.errors import ErrorInfo
from plait.kernel.inputs import Cancel, ChildFinished, Resume
from tests.dialects.graph.drawing import drawn
from tests.dialects.graph.player import Player

TWICE = {"max_attempts": 2, "backoff_ms": 1_000}


def child(retry: dict[str, Any] | None = None, **config: Any) -> Player:
    node = {"id": "R", "type": "run", "config": {"dialect": "code", "definition": "ship", **config}}
    player = Player(drawn("A > R > B", node | ({"retry": retry} if retry else {})))
    player.start()
    player.finish("A", {"n": 1})
    return player


def started(player: Player) -> StartChild:
    """The last."""
    return list(player.children.values())[-1]


def finished(player: Player, status: Any, output: Any = None, error: str = "", child: StartChild | None = None) -> None:
    child = child or started(player)
    told = ErrorInfo("x", error) if error else None
    player.give(ChildFinished(child.token, child.run_id, status, values.encode(output), told))


def payload_of_b(player: Player) -> bytes:
    return bytes(player.open("B").task.input.payload)


def test_a_child_gets_the_payload_and_gives_its_output() -> None:
    player = child()
    assert (started(player).dialect, started(player).definition) == ("code", "ship")
    assert bytes(started(player).input) == b'{"n":1}'
    assert player.machine.waiting({})[0].kind == "child"
    finished(player, "completed", {"sent": True})
    assert payload_of_b(player) == b'{"sent":true}'


def test_a_child_that_is_not_waited_for_gives_its_id() -> None:
    player = child(wait=False, input={"to": "$payload.n"})
    assert bytes(started(player).input) == b'{"to":1}'
    assert b"run_id" in payload_of_b(player)


def test_a_child_that_fails_is_tried_again_as_another_run() -> None:
    player = child(TWICE)
    first = started(player)
    finished(player, "failed", error="no stock")
    assert player.status == "running"
    [waits] = player.machine.waiting(player.run.state.tasks.facts())
    assert waits.text.startswith("retry 2 of 2 of `R` at")
    assert "no stock" in waits.text
    player.crash()
    player.ring()
    again = started(player)
    assert again.run_id == f"{first.run_id}.2"
    assert again.input == first.input
    finished(player, "completed", {"sent": True})
    assert payload_of_b(player) == b'{"sent":true}'
    assert player.of("node.consumed")[-1]["attempt"] == 2


def test_a_child_that_fails_as_often_as_allowed_is_a_dead_letter() -> None:
    player = child(TWICE)
    player.twice = True
    finished(player, "failed", error="no stock")
    player.ring()
    finished(player, "failed", error="still none")
    assert player.status == "failed"
    assert "still none" in player.error.message
    [letter] = player.letters.values()
    assert (letter.label, letter.attempts) == ("R", 2)


def test_a_dead_child_that_is_retried_has_fresh_attempts_and_new_ids() -> None:
    player = child({"max_attempts": 1})
    first = started(player)
    finished(player, "failed", error="no stock")
    player.give(Resume("retry"), "retry")
    again = started(player)
    assert again.run_id not in (first.run_id, f"{first.run_id}.2")
    finished(player, "completed", 7)
    assert payload_of_b(player) == b"7"


def test_a_late_report_of_an_earlier_child_changes_nothing() -> None:
    player = child(TWICE)
    first = started(player)
    finished(player, "failed", error="no stock")
    player.ring()
    before = player.types
    finished(player, "failed", error="no stock", child=first)
    finished(player, "completed", 1, child=first)
    assert player.types == before


def test_a_child_that_somebody_retries_by_hand_ends_the_wait_for_another() -> None:
    player = child(TWICE)
    finished(player, "failed", error="no stock")
    finished(player, "completed", 3)
    assert payload_of_b(player) == b"3"
    assert not player.timers


def test_a_child_that_was_cancelled_or_refused_is_not_tried_again() -> None:
    for status in ("cancelled", "refused"):
        player = child(TWICE)
        finished(player, status, error="nobody wants it")
        assert player.status == "failed"
        assert "nobody wants it" in player.error.message


def test_a_run_that_is_cancelled_between_two_children_ends_at_once() -> None:
    player = child(TWICE)
    finished(player, "failed", error="no stock")
    player.give(Cancel("enough"), "cancel")
    assert player.status == "cancelled"
    assert not player.timers


def test_the_end_of_a_child_of_a_cancelled_run_is_nobodys_dead_letter() -> None:
    player = child()
    player.give(Cancel("enough"), "cancel")
    finished(player, "cancelled", error="its parent ended")
    assert player.types[-1] == "run.cancelled"
    assert not player.letters
