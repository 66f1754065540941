"""What a node does that can't count: an output that misfits its type, a migration that does not fit the run, and dead
letters of a run that can't go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plait import CriticalError, Engine, Handle, graph, handler
from plait.errors import Conflict, RunFailed
from tests.dialects.graph.drawing import drawn, human, task

tries = {"count": 0}


@handler
async def plain(payload: Any) -> Any:
    return {"n": 1}


@handler
async def wordy(payload: Any) -> Any:
    tries["count"] += 1
    return {"n": "one"}


@handler
async def declined(payload: Any) -> Any:
    raise CriticalError("card declined")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/plait.db"


def opened(url: str) -> Engine:
    return Engine(url, definitions=[plain, wordy, declined])


def calls(id: str, handler: str = "plain", **more: Any) -> dict[str, Any]:
    return task(id, config={"handler": handler}, **more)


async def failure(engine: Engine, definition: dict[str, Any] | str) -> str:
    """The code of the node's error, once the run has failed with it."""
    run = await engine.start(graph(definition), {})
    with pytest.raises(RunFailed):
        await run.result()
    [failed] = [event.data for event in await run.events() if event.type == "node.failed"]
    return failed["error"]["code"]


async def first(run: Handle[Any], type: str) -> dict[str, Any]:
    """Waits for an event of that type."""
    async for page in run.follow():
        for event in page:
            if event.type == type:
                return event.data
    raise AssertionError(f"no {type}")


async def test_an_output_that_misfits_its_type_is_not_tried_again_and_goes_nowhere(url: str) -> None:
    number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tries["count"] = 0
    async with opened(url) as engine:
        await engine.node_types.register({"type_name": "counter", "version": "v1", "output_schema": number})
        node = {"id": "A", "type": "counter", "config": {"handler": "wordy"}}
        assert await failure(engine, drawn("A > B", node, calls("B"))) == "graph.output_invalid"
        assert tries["count"] == 1


def migration(**config: Any) -> dict[str, Any]:
    return {"id": "M", "type": "migration", "config": {"from_version": "1.0", "to_version": "v1.1", **config}}


@pytest.mark.parametrize(
    ("config", "new"),
    [
        ({"from_version": "0.9"}, "A > M > B"),
        ({"resume_at": "Z"}, "A > M > B"),
        ({}, "A > N > B"),
        ({}, "A > M > B"),
    ],
    ids=["the run is at another version", "no node to resume at", "the node itself is gone", "a token has no place"],
)
async def test_a_migration_that_does_not_fit_fails_its_node_and_leaves_the_graph(
    url: str, config: dict[str, Any], new: str, request: pytest.FixtureRequest
) -> None:
    stray = "a token has no place" in request.node.name
    old_shape = "A > M > B, A > H" if stray else "A > M > B"
    people = [human("H", timeout_hours=None)] if stray else []
    old = drawn(old_shape, calls("A"), migration(**config), calls("B"), *people)
    made = {**drawn(new, calls("A"), *([migration(**config)] if "M" in new else [calls("N")]), calls("B"))}
    async with opened(url) as engine:
        await engine.definitions.save("graph", "moves", old)
        await engine.definitions.save("graph", "moves", {**made, "version": "2.0"})
        run = await engine.start(graph("moves@v1.0"), {})
        failed = await first(run, "node.failed")
        assert failed["error"]["code"] == "graph.migration_conflict"
        assert (await run.view()).revision == 1
        assert "run.migrated" not in [event.type for event in await run.events()]


async def test_a_dead_letter_of_a_run_that_was_cancelled_is_not_retried(url: str) -> None:
    definition = {**drawn("A", calls("A", "declined")), "on_failure": "hold"}
    async with opened(url) as engine:
        run = await engine.start(graph(definition), {})
        await first(run, "token.dead_lettered")
        await run.cancel("never mind")
        [letter] = await engine.dlq.list(all=True)
        with pytest.raises(Conflict) as refused:
            await engine.dlq.retry(letter.id)
        assert refused.value.code == "graph.run_not_retryable"
