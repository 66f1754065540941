"""Nodes that wait for a time or a message."""

from __future__ import annotations

from typing import Any

from plait.kernel import values
from plait.kernel.inputs import Message
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
