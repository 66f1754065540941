"""How each stored history of AFL came about, on decisions alone."""

from __future__ import annotations

from collections.abc import Callable

from plait.dialects.afl.handlers import Registration
from plait.kernel.ids import TaskToken
from plait.kernel.inputs import Loaded
from tests.dialects.afl.player import Player

Play = Callable[[], Player]

SOURCE = """
namespace h {
    schema Pair { v: Long }
    event facet Ask(x: Json) => (n: Long, note: String = "none")
    event facet Undo(x: Json, result: Json)
    facet Mark(by: String) => (m: Long) andThen { q = Ask(x = $.by) yield Mark(m = q.n) }
    facet Scripted(x: Long) => (y: Long) script { result["y"] = 1 }
    workflow All(items: [Long]) => (n: Long, all: [Long], why: String) andThen {
        p = Pair(v = 1)
        s = Scripted(x = p.v)
        a = Ask(x = s.y) with Mark(by = "me") as mark
        f = Ask(x = a.n) catch { yield All(why = $.error) }
        sys.log(seen = a.n)
        yield All(n = a.n)
    } andThen foreach i in $.items { e = Ask(x = i) yield All(all = [e.n]) }
    andThen when { case $.items[9] > 1 => { } case _ => { w = Ask(x = 9) } }
    workflow Fails() => (n: Long) andThen { a = Ask(x = 1) b = Ask(x = a.n) yield Fails(n = b.n) }
    workflow Breaks() andThen { b = Scripted(x = 1) }
}
"""


def everything() -> Player:
    """A schema, a script, a mixin, a catch, a loop, a case, a warning, partial returns, and answers of both kinds."""
    player = Player(SOURCE, "h.All").start(items=[1, 2], extra=1)
    player.finish("script:s", {"y": 5})
    player.message("StepUpdate", {"step_id": player.step("[0]#2/e").id, "returns": {"note": "half"}})
    player.finish("[0]#2/e", {"n": 1})
    player.step_continue("[1]#2/e", n=2)
    player.step_continue("[1]#2/e", n=3)
    player.finish("w#2#3", {"n": 4})
    player.finish("a/mark/q", {"n": 7})
    player.finish("a", {"n": 8})
    player.fail("f", "no")
    return player


def retried() -> Player:
    """A failure, a retry, and another end."""
    player = Player(SOURCE, "h.Fails").start()
    player.finish("a", {"n": 2})
    player.fail("b", "not yet")
    player.retry()
    player.finish("b", {"n": 3})
    return player


def undone() -> Player:
    """A cancel that compensates, and withdraws what is open."""
    handlers = {"Ask": Registration("Ask", print, compensate="h.Undo")}
    player = Player(SOURCE, "h.Fails", handlers=handlers).start()
    player.finish("a", {"n": 2})
    player.cancel(compensate=True)
    player.finish("compensate:a")
    return player


def broken() -> Player:
    """A script that fails."""
    player = Player(SOURCE, "h.Breaks").start()
    player.fail("script:b", "line 1: no")
    return player


def forked() -> Player:
    """A fork that answers what was open."""
    player = Player(SOURCE, "h.Fails").start()
    plan = player.bundle.fork(player.machine, None, {"results": {"a": {"n": 5}}})
    player.add(plan.event)
    player.tasks.pop(TaskToken(player.token("a")))
    player.give(Loaded("fork"))
    player.finish("b", {"n": 6})
    return player


RECIPES: dict[str, Play] = {
    "everything": everything,
    "retried": retried,
    "undone": undone,
    "broken": broken,
    "forked": forked,
}
