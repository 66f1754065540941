"""Nodes that wait for a time or a message, and nodes that are runs."""

from __future__ import annotations

from typing import Any

from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.inputs import ChildFinished, Message
from tests.dialects.graph.drawing import drawn
from tests.dialects.graph.player import Player


def waiting(**config: Any) -> Player:
    player = Player(drawn("A > W > B", {"id": "W", "type": "wait", "config": config}))
    player.start()
    return player


def send(player: Player, name: str, body: Any = None) -> None:
    player.give(Message(f"m{len(player.events)}", name, values.encode(body)), f"m{len(player.events)}")


def test_a_node_waits_for_seconds_and_passes_its_payload_on() -> None:
    player = waiting(seconds=5)
    player.finish("A", {"n": 1})
    assert player.of("wait.started")[0]["until"] == player.now + 5_000
    player.crash()
    player.ring()
    assert bytes(player.open("B").task.input.payload) == b'{"n":1}'


def test_a_node_waits_until_a_time() -> None:
    player = waiting(until="2030-01-01T00:00:00Z")
    player.finish("A")
    assert list(player.timers.values()) == [1893456000000]


def test_a_message_is_the_output_of_who_waits_for_it() -> None:
    player = waiting(message="paid", timeout_s=60)
    player.finish("A")
    assert player.machine.waiting({})[0].text.startswith("message `paid`")
    send(player, "paid", {"by": "card"})
    assert bytes(player.open("B").task.input.payload) == b'{"by":"card"}'
    assert not player.timers


def test_a_message_that_comes_early_is_kept() -> None:
    player = waiting(message="paid")
    send(player, "paid", 1)
    send(player, "paid", 2)
    player.crash()
    player.finish("A")
    assert bytes(player.open("B").task.input.payload) == b"1"
    assert player.machine.backlog() == 1


def test_a_message_that_does_not_come_times_out() -> None:
    player = waiting(message="paid", timeout_s=60)
    player.finish("A")
    player.ring()
    assert bytes(player.open("B").task.input.payload) == b'{"timed_out":true}'


def test_a_message_that_no_node_waits_for_is_refused() -> None:
    player = waiting(message="paid")
    send(player, "payed")
    assert b"graph.unknown_message" in bytes(player.replies[-1].reply or b"")


def child(**config: Any) -> Player:
    node = {"id": "R", "type": "run", "config": {"dialect": "code", "definition": "ship", **config}}
    player = Player(drawn("A > R > B", node))
    player.start()
    player.finish("A", {"n": 1})
    return player


def finished(player: Player, status: Any, output: Any = None, error: str = "") -> None:
    [started] = player.children.values()
    told = ErrorInfo("x", error) if error else None
    player.give(ChildFinished(started.token, started.run_id, status, values.encode(output), told))


def test_a_child_gets_the_payload_and_gives_its_output() -> None:
    player = child()
    [started] = player.children.values()
    assert (started.dialect, started.definition, bytes(started.input)) == ("code", "ship", b'{"n":1}')
    assert player.machine.waiting({})[0].kind == "child"
    finished(player, "completed", {"sent": True})
    assert bytes(player.open("B").task.input.payload) == b'{"sent":true}'


def test_a_child_that_is_not_waited_for_gives_its_id() -> None:
    player = child(wait=False, input={"to": "$payload.n"})
    [started] = player.children.values()
    assert bytes(started.input) == b'{"to":1}'
    assert b"run_id" in bytes(player.open("B").task.input.payload)


def test_a_child_that_fails_is_a_dead_letter() -> None:
    player = child()
    finished(player, "failed", error="no stock")
    assert player.status == "failed"
    assert "no stock" in player.error.message
