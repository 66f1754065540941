"""What a Python step may know of the call it is in, and say; and init with several values."""

from typing import TypedDict

from plait import Engine, goals, heartbeat, step_info, step_log
from plait.catalog import catalog_step, python_step
from plait.dialects.goals.definition import Goals


class Said(TypedDict):
    said: list[object]


async def test_a_python_step_knows_its_run_its_attempt_and_its_key_and_can_log():
    seen: list[object] = []

    @python_step(configure=lambda step: step.retries(1, first=0.001))
    def talk() -> Said:
        info = step_info()
        seen.append((info.path, info.attempt, info.idempotency_key, info.last_progress))
        step_log(f"attempt {info.attempt}")
        heartbeat({"half": True})
        if info.attempt == 1:
            raise ConnectionError("not yet")
        return {"said": [info.run_id]}

    async with Engine("memory:", definitions=[talk]) as engine:
        handle = await engine.start(goals("talk"), id="r1")
        assert await handle.result() == {"said": ["r1"]}
        token = (await handle.view()).nodes[1].token
    assert seen == [("talk", 1, token, None), ("talk", 2, token, {"half": True})]


async def test_lines_of_a_step_are_kept_with_it():
    @python_step
    async def talk() -> None:
        step_log("hello")

    async with Engine("memory:", definitions=[talk]) as engine:
        handle = await engine.start(goals("talk"))
        await handle.result()
        await engine.kernel.task_logs.drain()
        assert [(line.node, line.text) for line in await handle.logs()] == [("talk", "hello")]


async def test_init_may_have_several_values_of_a_name():
    tally = catalog_step("tally").required("x", int, collect="some").output("sum", int).ale("{:sum (apply + x)}")
    async with Engine("memory:", definitions=[tally]) as engine:
        handle = await engine.start(Goals(("tally",), {"x": [2, 3]}), {"x": 1}, id="r")
        assert await handle.result() == {"sum": 6}
        assert (await engine.start(Goals(("tally",), {"x": [2, 3]}), {"x": 1}, id="r")).created is False
