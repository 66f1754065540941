"""How each stored history of a workflow of steps came about, on decisions alone."""

from __future__ import annotations

from collections.abc import Callable

from plait.dialects.refs.running.events import RefsForked
from plait.kernel.errors import ErrorInfo
from plait.kernel.inputs import Loaded
from tests.dialects.refs.player import Player, call, code, ret, tool, workflow
from tests.dialects.refs.recording.recorder import Recorder

Play = Callable[[], Player]

CONTINUE = {"onError": "continue"}
UNDO = {"action": {"toolName": "UNDO"}, "input": {"id": "@pay.id"}}


def order() -> Player:
    """A delayed start, a preset, a skip, a transform, iterations, a patch, a child, a result that is late, a return."""
    shaped = {"toolName": "PRICE", "transformCode": "export default function(raw) { return raw.cents }"}
    steps = [
        tool("load", {"id": "@input.id", "gone": "@input.nothing"}),
        {"name": "price", "action": shaped, "input": {"of": "@load.lines"}},
        tool("gift", when={"ref": "@load.gift"}),
        code("line", {"x": "@item", "n": "@index"}, forEach={"ref": "@load.lines", "concurrency": 2}),
        call("pack", {"all": "@line", "gift": "@gift"}),
        workflow("ship", {"what": "@pack"}),
        tool("slow", {"x": "@load.id"}),
        ret("end", {"price": "@price", "ship": "@ship.sent"}),
    ]
    player = Player({"steps": steps, "presets": {"pack": {"boxes": 1}}, "start_at_epoch_ms": 5_000})
    player.start({"id": 42})
    player.ring()
    player.finish("load", {"id": 42, "lines": ["a", "b", "c"]})
    player.patch({"op": "add_step", "step": tool("note", {"x": "@line"}, config=CONTINUE)})
    player.finish("price", {"cents": 500})
    player.finish("price~transform", 500)
    for index in range(3):
        player.finish(f"line[{index}]", index)
    player.fail("note", "no paper")
    player.child("ship", output={"sent": True})
    player.finish("slow", "late")
    return player


def resumed() -> Player:
    """Tries, a failure that compensates, a retry of what failed and of what came after it, a bail."""
    steps = [
        tool("pay", compensate=UNDO, config={"maxAttempts": 2}),
        tool("mail", config=CONTINUE),
        tool("ship", {"x": "@pay.id", "m": "@mail"}),
        tool("done", {"x": "@ship"}, bail=True),
    ]
    player = Player(steps).start()
    player.fail("pay", retryable=True)
    player.ring()
    player.finish("pay", {"id": 7})
    player.fail("mail", "mailbox full")
    player.fail("ship", "no van")
    player.finish("compensate:pay/0")
    player.retry("downstream")
    player.finish_all()
    return player


def cancelled() -> Player:
    """A child that fails, and a cancel that compensates."""
    steps = [tool("pay", compensate=UNDO), workflow("kid", {"x": "@pay"}, config=CONTINUE), tool("wait", {"x": "@kid"})]
    player = Player(steps).start()
    player.finish("pay", {"id": 7})
    player.child("kid", "failed", error=ErrorInfo("x", "no"))
    player.cancel(compensate=True)
    player.finish("compensate:pay/0")
    return player


def forked() -> Player:
    """The past of another run, with another step."""
    steps = [tool("a"), tool("b", {"x": "@a.n"}), tool("c", {"x": "@b"})]
    source = Player(steps).start()
    source.finish("a", {"n": 1})
    player = Player(steps)
    player.load(source.log)
    replaced = {"op": "replace_step", "name": "c", "step": tool("c", {"y": "@b"})}
    player.add(RefsForked("source", len(source.events), [replaced]))
    player.give(Loaded("fork"))
    player.finish_all()
    return player


def recorded() -> Player:
    """A recording: calls that wait for each other, one refused, one failed, results that are set, merged input."""
    recorder = Recorder({"user": 7})
    recorder.call("GET_USER", {"id": "@input.user"})
    recorder.call("GET_ORDERS", {"of": "@get_user_1.id"})
    recorder.answer("get_user_1", {"id": 42})
    recorder.answer("get_orders_1", [1, 2])
    recorder.call("NOTE", {"text": "@get_usr_1.id"})
    recorder.call("NOTE", {"text": "mail @octocat"})
    recorder.fail("note_1", "no paper")
    recorder.send("preset", {"stepName": "note_1", "output": "said"})
    recorder.send("preset", {"stepName": "rate", "output": 3, "toolName": "GET_RATE", "input": {"x": "@input.user"}})
    recorder.send("preset", {"stepName": "input", "output": {"city": "Bonn"}})
    recorder.send("stop", {"output": {"orders": "@get_orders_1"}})
    return recorder


def reopened() -> Player:
    """A recording that goes on after its end."""
    recorder = Recorder()
    recorder.done("GET", output=1)
    recorder.send("stop", {})
    recorder.retry()
    recorder.done("GET", output=2)
    recorder.send("stop", {})
    return recorder


RECIPES: dict[str, Play] = {
    "order": order,
    "resumed": resumed,
    "cancelled": cancelled,
    "forked": forked,
    "recorded": recorded,
    "reopened": reopened,
}
