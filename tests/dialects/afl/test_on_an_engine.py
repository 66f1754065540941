"""AFL on a real engine: handlers, scripts, prompts, telemetry, versions, and a program that changes under live runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plait import Engine, afl
from plait.dialects.afl.bundle import AflBundle
from plait.dialects.afl.running.state import AflStart
from plait.dialects.afl.running.versions import check_readable, readable
from plait.dialects.afl.telemetry import Telemetry
from plait.errors import Conflict, InvalidInput, NotFound, RunFailed
from plait.kernel.values import encode
from plait.testing import ScriptedModel

SOURCE = """
namespace t {
    event facet Ask(x: Long) => (n: Long)
    event facet Guess(place: String) => (text: String) prompt { system "Be brief" template "How many in {place}?" }
    facet Twice(x: Long) => (y: Long) script {
        import math
        result["y"] = math.floor(params["x"] * 2)
    }
    facet Bad(x: Long) script { import os }
    workflow Asks(x: Long = 1) => (n: Long) andThen { q = Ask(x = $.x) yield Asks(n = q.n) }
    workflow Scripted() => (y: Long) andThen { t = Twice(x = 21) yield Scripted(y = t.y) }
    workflow BadScript() andThen { b = Bad(x = 1) }
    workflow Guesses() => (text: String) andThen { g = Guess(place = "Bonn") yield Guesses(text = g.text) }
}
"""


async def waiting(engine: Engine, run: str) -> str:
    """The step that waits for an answer."""
    async with asyncio.timeout(20):
        while True:
            found = [each for each in await engine.afl.events(run) if each.state == "event.Created"]
            if found:
                return found[0].step_id
            await asyncio.sleep(0.005)


async def test_a_script_runs_in_the_sandbox_and_may_import_what_it_should():
    async with Engine("memory:") as engine:
        assert await (await engine.start(afl(SOURCE, "Scripted"))).result() == {"y": 42}
        with pytest.raises(RunFailed, match="`os` can't be imported"):
            await (await engine.start(afl(SOURCE, "BadScript"))).result()


async def test_a_prompt_is_answered_by_the_model_that_is_declared():
    model = ScriptedModel({"t.Guess": [{"text": "many"}, {"output": {"text": "many"}}]})
    async with Engine("memory:", definitions=[afl(SOURCE, "Guesses")], models={"m": model}) as engine:
        assert await (await engine.start(afl(SOURCE, "Guesses"))).result() == {"text": "many"}
    beginning = model.requests[0].messages
    assert beginning[1].content == "Be brief"
    assert beginning[2].content.endswith("How many in Bonn?")


async def test_a_handler_stores_partial_returns_and_keeps_its_key():
    async with Engine("memory:") as engine:
        keys: list[str] = []

        @engine.afl.handler("Ask")
        async def ask(payload: dict[str, Any], ctx: Any) -> dict[str, Any]:
            keys.append(ctx.idempotency_key)
            await ctx.update(note="half")
            return {"n": payload["x"] + 1}

        handle = await engine.start(afl(SOURCE, "Asks"), {"x": 4})
        assert await handle.result() == {"n": 5}
        [event] = await engine.afl.events(handle.id)
        assert keys == [f"{handle.id}/{event.event_id}"]


async def test_partial_returns_are_there_though_the_handler_answers_at_once():
    async with Engine("memory:") as engine:

        @engine.afl.handler("Ask")
        async def ask(payload: dict[str, Any], ctx: Any) -> dict[str, Any]:
            await ctx.update(note="half")
            return {"n": payload["x"]}

        handle = await engine.start(afl(SOURCE, "Asks"), {"x": 4})
        assert await handle.result() == {"n": 4}
        [event] = await engine.afl.events(handle.id)
        assert (await engine.afl.step(handle.id, event.step_id)).returns == {"note": "half", "n": 4}


async def test_an_exception_of_a_handler_is_caught_by_the_name_of_its_class():
    source = """namespace t {
        event facet Ask(x: Long) => (n: Long)
        workflow W() => (why: String) andThen {
            q = Ask(x = 1) catch { yield W(why = q.error_type ++ ": " ++ $.error) }
        }
    }"""

    def ask(payload: dict[str, Any]) -> None:
        raise LookupError("no map")

    async with Engine("memory:") as engine:
        engine.afl.handler("Ask", ask)
        assert await (await engine.start(afl(source), {})).result() == {"why": "LookupError: no map"}


async def test_a_program_that_changes_leaves_live_runs_as_they_started():
    async with Engine("memory:") as engine:
        old = await engine.start(afl(SOURCE, "Asks"), {"x": 1})
        step = await waiting(engine, old.id)
        changed = SOURCE.replace("yield Asks(n = q.n)", "yield Asks(n = q.n * 100)")
        new = await engine.start(afl(changed, "Asks"), {"x": 1})
        for handle, id in ((old, step), (new, await waiting(engine, new.id))):
            await handle.message("StepContinue", {"step_id": id, "result": {"n": 2}})
        assert (await old.result(), await new.result()) == ({"n": 2}, {"n": 200})


@pytest.mark.parametrize("ending", ["completed", "cancelled"])
async def test_a_step_continue_to_a_run_that_has_ended_is_recorded_and_no_error(ending: str):
    async with Engine("memory:") as engine:
        handle = await engine.start(afl(SOURCE, "Asks"), {"x": 1})
        step = await waiting(engine, handle.id)
        answer = {"step_id": step, "result": {"n": 2}}
        if ending == "completed":
            await handle.message("StepContinue", answer)
            assert await handle.result() == {"n": 2}
        else:
            await handle.cancel()
        await handle.message("StepContinue", {"step_id": step, "result": {"n": 3}}, id="late")
        async with asyncio.timeout(20):
            while (last := (await handle.events())[-1]).type != "afl.continue.ignored":  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        assert (last.data["reason"], last.data["message"]) == ("the run has ended", "late")
        assert await handle.status() == ending
        assert (await engine.afl.step(handle.id, step)).returns == ({"n": 2} if ending == "completed" else {})


async def test_telemetry_changes_nothing_and_a_failing_sink_is_counted():
    logs: list[list[tuple[str, Any]]] = []
    told: list[Telemetry] = []

    def broken(record: Telemetry) -> None:
        raise RuntimeError("no disk")

    for sinks in ((), (told.append, broken)):
        async with Engine("memory:") as engine:
            for sink in sinks:
                engine.afl.telemetry(sink)
            engine.afl.handler("Ask", lambda payload: {"n": payload["x"]})
            handle = await engine.start(afl(SOURCE, "Asks"), {"x": 3}, id="same")
            await handle.result()
            logs.append([(event.type, event.data.get("to")) for event in await handle.events()])
            await engine.afl.close_telemetry()
            dropped = 0 if not sinks else engine.afl.dropped
    assert logs[0] == logs[1]
    assert dropped == len(told) > 0
    kinds = {each.eventType for each in told}
    assert {"workflow.start", "iteration.start", "iteration.end", "state.transition", "event.published"} <= kinds
    assert {"workflow.paused", "workflow.complete", "event.state", "step.created"} <= kinds


@pytest.mark.parametrize(
    ("stored", "own", "fits"),
    [("1.0", "1.0", True), ("1.0.9", "1.0.0", True), ("1.1", "1.0", False), ("2.0", "1.0", False), ("x", "1.0", False)],
)
def test_the_same_major_and_no_newer_minor_can_be_read(stored: str, own: str, fits: bool):
    assert readable(stored, own) is fits


def test_a_run_of_a_newer_runtime_is_refused_with_what_it_needs():
    with pytest.raises(Conflict, match=r"needs AFL runtime 2\.0"):
        check_readable(AflStart("t.W", "", encode({}), runtime_version="2.0"))


async def test_bad_starts_are_refused_with_a_code():
    async with Engine("memory:") as engine:
        with pytest.raises(NotFound, match="AFL_UNKNOWN_WORKFLOW"):
            await engine.start(afl(SOURCE, "Asky"), {})
        with pytest.raises(InvalidInput, match="AFL_INPUT"):
            await engine.start(afl(SOURCE, "Asks"), {"x": "one"})
        with pytest.raises(InvalidInput, match="AFL_COMPILE"):
            await engine.start(afl("namespace t { workflow W() andThen { s = Nope() } }"), {})


def test_without_a_sink_the_dialect_closes_at_once() -> None:
    """Not in a thread: an engine on virtual time would not wait for it."""
    with pytest.raises(StopIteration):
        AflBundle().close().send(None)
