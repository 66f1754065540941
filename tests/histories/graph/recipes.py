"""How each stored history of a graph's run came about, on decisions alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from plait.dialects.graph.bundle import GraphBundle
from plait.dialects.graph.definition.namespace_policy import NamespacePolicy
from plait.dialects.graph.definition.pins import Pins, pinned
from plait.dialects.graph.running.events import GraphForked
from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.inputs import Cancel, ChildFinished, Loaded, Message, Patch, Resume, TaskResult
from plait.kernel.task_inputs import ROUTE
from tests.dialects.graph.drawing import branch, drawn, human, rule, task
from tests.dialects.graph.player import Player

Play = Callable[[], Player]


def order() -> Player:
    """Fan-out, a join with a dead path, a rule that can't be judged, a loop, a person, a patch, a wait."""
    check = task(
        "check", branch=branch(rule("output.nothing > 1", "gift"), rule("output.big", "ask"), default=["pack"])
    )
    pack = task("pack", loop={"condition": "!output.done", "max_iterations": 3})
    wait = {"id": "paid", "type": "wait", "config": {"message": "paid", "timeout_s": 60}}
    nodes = (check, pack, wait, human("ask", approvers=["boss"], rejection_path=["sorry"]), task("gift"), task("sorry"))
    player = Player(drawn("load > check price, ask > pack, gift > pack, pack price > bill > paid", *nodes))
    player.start({"id": 42})
    player.finish("load", {"lines": 2})
    player.finish("check", {"big": True})
    player.give(Patch([{"op": "remove", "path": "/nodes/load"}], "ann"), "bad")
    note = [
        {"op": "add", "path": "/nodes/-", "value": task("note")},
        {"op": "add", "path": "/edges/-", "value": {"from": "bill", "to": "note"}},
    ]
    player.give(Patch(note, "ann"), "good")
    player.finish("price", {"cents": 500})
    player.decide("ask", "approve", by="boss", comment="go on")
    player.finish("pack", {"done": False})
    player.finish("pack", {"done": True})
    player.finish("bill", {"number": 7})
    player.give(Message("m1", "paid", values.encode({"by": "card"})), "m1")
    player.finish("note")
    return player


def letters() -> Player:
    """Retries, dead letters: one retried, one discarded; a child that fails once; a run that is reopened."""
    child = {"id": "ship", "type": "run", "config": {"definition": "ship"}, "retry": {"max_attempts": 2}}
    player = Player(drawn("A > B C ship", child))
    player.start()
    player.finish("A", {"n": 1})
    player.finish("B", error="not now", retryable=True)
    player.finish("C", error="never")
    finish_child(player, "failed", "no van")
    player.ring()
    player.ring()
    finish_child(player, "completed")
    player.finish("B", error="broken")
    player.give(Resume("settle", token=player.open_letter("C"), verdict="discard"), "discard")
    player.give(Resume("retry"), "retry")
    player.finish("B", {"fine": True})
    return player


def finish_child(player: Player, status: Any, error: str = "") -> None:
    child = list(player.children.values())[-1]
    told = ErrorInfo("x", error) if error else None
    player.give(ChildFinished(child.token, child.run_id, status, values.encode({"sent": True}), told))


def judged() -> Player:
    """A condition in Python, a handler that answers later, a throttle, and a limit that ends the run."""
    code = {"type": "python_sandbox", "code": "def evaluate(output, context):\n    return True"}
    far = task("far", config={"url": "http://far"}, branch=branch(rule(code, "near")))
    limits = {"max_hops": 2, "backpressure": {"throttle": {"tokens_per_s": 1}}}
    near = {"id": "near", "type": "http", "config": {"url": "http://near"}}
    player = Player(drawn("near > end", far, near, limits=limits), bundle=GraphBundle())
    player.start({"n": 1})
    opened = player.open("far")
    player.tasks.clear()
    player.give(TaskResult(opened.task.token, 1, later=True))
    player.give(TaskResult(opened.task.token, 1, values.encode({"n": 2})), "callback")
    player.end(next(iter(player.tasks.values())), {"value": True})
    player.ring()
    player.end(next(iter(player.tasks.values())), {"n": 3})
    return player


def denied() -> Player:
    """A policy of the namespace, and a person who is not asked any more when the run is cancelled."""
    policy = msgspec.convert({"rules": [{"effect": "deny", "condition": "to_node == 'C'"}]}, NamespacePolicy)
    player = Player(pinned(drawn("A > B C, H", human("H")), Pins(policy=policy)))
    player.start()
    player.finish("A")
    player.give(Cancel("enough"), "cancel")
    return player


def migrated() -> Player:
    """From one version to the next, and a message that comes early."""
    step = {"id": "M", "type": "migration", "config": {"from_version": "1.0", "to_version": "2.0"}}
    wait = {"id": "W", "type": "wait", "config": {"message": "go"}}
    player = Player(drawn("M > W", step, wait))
    player.start({"n": 1})
    player.give(Message("m1", "go", values.encode(1)), "m1")
    new = {**drawn("M > W > E", step, wait), "version": "2.0"}
    player.finish("M", {"definition": new, "payload": {"n": 2}})
    player.finish("E")
    return player


def forked() -> Player:
    """The past of another run, with another output."""
    source = Player(drawn("A > B > C"))
    source.start()
    source.finish("A", {"n": 1})
    source.finish("B", {"n": 2})
    player = Player(drawn("A > B > C"))
    player.load(source.log)
    player.add(GraphForked("source", 5, {"B": {"n": 9}}, []))
    player.give(Loaded("fork"))
    player.finish("C", {"n": 10})
    return player


def routed() -> Player:
    """An agent that chooses what it may not, and then what it may; and patches the run."""
    node = {
        "id": "agent",
        "type": "agent",
        "agent_config": {"model": "m", "available_tools": ["patch_workflow"]},
        "branch": {"type": "agent_driven", "available_next_nodes": ["sales", "gift"], "default": []},
        "retry": {"max_attempts": 2},
    }
    player = Player(drawn("sales, gift", node))
    player.start({"company": "x"})
    player.finish("agent", {ROUTE: {"output": 1, "next_nodes": ["secret", "gift"]}})
    player.ring()
    note = [
        {"op": "add", "path": "/nodes/-", "value": task("note")},
        {"op": "add", "path": "/edges/-", "value": {"from": "gift", "to": "note"}},
    ]
    player.give(Patch(note, "agent agent", agent="agent"), "patch")
    player.finish("agent", {ROUTE: {"output": 2, "next_nodes": ["gift"], "reasoning": "kind"}})
    player.finish("gift", {"sent": True})
    player.finish("note")
    return player


RECIPES: dict[str, Play] = {
    "order": order,
    "letters": letters,
    "judged": judged,
    "denied": denied,
    "migrated": migrated,
    "forked": forked,
    "routed": routed,
}
