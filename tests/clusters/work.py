"""Functions that run on the clusters of these tests, which import this module in their own workers."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from plait import Context, handler, heartbeat, step, step_info, step_log, workflow
from plait.catalog import python_step
from plait.clusters.names import ClusterName


class Overdrawn(Exception):
    def __init__(self, cents: int) -> None:
        super().__init__(f"{cents} cents are missing")
        self.cents = cents


def wait_for(file: str) -> None:
    """Until a test lets it go on; it beats, so that it can be told that nobody waits any more."""
    while not Path(file).exists():
        heartbeat()
        time.sleep(0.02)


@step(timeout=60)
def who() -> dict[str, Any]:
    info = step_info()
    step_log("I say so")
    return {"pid": os.getpid(), "run": info.run_id, "key": info.idempotency_key, "attempt": info.attempt}


@step(timeout=60)
async def large(size: int) -> str:
    return "x" * size


@step(max_attempts=1, timeout=60)
def overdraw() -> None:
    raise Overdrawn(7)


@step(max_attempts=2, heartbeat_timeout=60, timeout=60)
def halting() -> Any:
    if step_info().attempt == 1:
        heartbeat({"half": True})
        raise ValueError("again")
    return step_info().last_progress


@step(timeout=120, max_attempts=1)
def gated(folder: str) -> str:
    """Notes each of its starts in `started`, and waits for `gate`."""
    with open(f"{folder}/started", "a") as file:
        file.write(f"{os.getpid()} {step_info().idempotency_key}\n")
    try:
        wait_for(f"{folder}/gate")
    except BaseException:
        Path(f"{folder}/stopped").touch()
        raise
    return "through"


@workflow
async def tour(ctx: Context, on: ClusterName) -> dict[str, Any]:
    """All that a cluster must be able to do, in one run."""
    found = await ctx.step("who", who, on=on)
    text = await ctx.step("large", large, 3_000_000, on=on)
    progress = await ctx.step("halting", halting, on=on)
    try:
        await ctx.step("overdraw", overdraw, on=on)
    except Exception as error:
        missing = getattr(getattr(error, "last_error", error), "cents", None)
    else:
        missing = None
    return {"who": found, "large": len(text), "progress": progress, "missing": missing}


@workflow
async def through_the_gate(ctx: Context, given: dict[str, Any]) -> str:
    return await ctx.step("gated", gated, given["folder"], on=given["on"])


class Doubled(NamedTuple):
    doubled: int
    pid: int


@python_step(on="dask")
def double(amount: int) -> Doubled:
    """Doubles."""
    return Doubled(amount * 2, os.getpid())


@handler("cluster.triple", on="dask")
def triple(payload: dict[str, Any], ctx: Any) -> dict[str, Any]:
    return {"tripled": payload["amount"] * 3, "node": ctx.node_id, "key": ctx.idempotency_key, "pid": os.getpid()}


@step(on="dask", queue="heavy", timeout=60)
def queued() -> int:
    return os.getpid()


@workflow
async def by_queue(ctx: Context) -> int:
    return await ctx.step("queued", queued)
