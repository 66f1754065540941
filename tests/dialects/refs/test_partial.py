"""Completed, but not all of it: lists of runs say so, until a retry has repaired it."""

from __future__ import annotations

from pathlib import Path

from plait import CriticalError, Engine, refs, step
from plait.kernel.store import RunFilter, RunRow

tried: list[int] = []


@step(name="flaky")
async def flaky() -> int:
    tried.append(1)
    if len(tried) == 1:
        raise CriticalError("not yet")
    return 7


def definition(**config: object) -> dict[str, object]:
    return {"steps": [{"name": "a", "action": {"function": "flaky"}, "config": config}]}


async def row(engine: Engine, id: str) -> RunRow:
    (found,) = [each for each in await engine.runs(RunFilter()) if each.id.endswith(id)]
    return found


async def test_a_list_says_that_a_run_completed_in_part_until_a_retry_completes_it(tmp_path: Path) -> None:
    tried.clear()
    db = f"sqlite:///{tmp_path / 'plait.db'}"
    async with Engine(db, definitions=[flaky]) as engine:
        run = await engine.start(refs(definition(onError="continue")), id="r-1")
        assert await run.result() is None
        found = await row(engine, "r-1")
        assert found.past is not None
        assert (found.status, found.past.partial) == ("completed", True)
    async with Engine(db, definitions=[flaky]) as engine:
        assert (await row(engine, "r-1")).past == found.past
        run = await engine.get("r-1")
        await run.retry()
        assert await run.result() == 7
        again = (await row(engine, "r-1")).past
        assert again is not None
        assert (again.partial, again.reopened) == (False, 1)
        await (await engine.start(refs(definition()), id="r-2")).result()
        assert (await row(engine, "r-2")).past is None
