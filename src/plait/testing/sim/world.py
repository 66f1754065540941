"""The world outside the engine: the effects of steps, and a ledger that no crash can revert.

Steps, and the workflow that follows a plan, are plain module functions: named rollback handlers are
found by import. They act on the world of the running simulation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from plait.dialects.code.definition import step
from plait.dialects.code.errors import CriticalError
from plait.dialects.code.steps import StepInfo, Undo, heartbeat, step_info
from plait.testing.clock import VirtualClock

from .plan import FOREVER, Work


class FlakyError(Exception):
    """Bad luck; the next attempt may succeed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One attempt of one step, or of its rollback."""

    run_id: str
    path: str
    attempt: int
    key: str
    at: float
    undo: bool = False


@dataclass
class World:
    clock: VirtualClock
    witness: Callable[[StepInfo], Awaitable[None]]
    """Called as each attempt begins; raises if it must not."""
    ledger: list[Entry] = field(default_factory=list[Entry])
    repaired: set[str] = field(default_factory=set[str])
    """Runs whose broken step succeeds now."""
    complaints: list[str] = field(default_factory=list[str])

    current: ClassVar[World]

    async def note(self, *, undo: bool = False) -> StepInfo:
        info = step_info()
        self.ledger.append(
            Entry(info.run_id, info.path, info.attempt, info.idempotency_key, self.clock.monotonic(), undo)
        )
        if not undo:
            await self.witness(info)
        return info


@step
async def work(job: Work) -> dict[str, Any]:
    """The work of every step of a plan."""
    world = World.current
    info = await world.note()
    if job.takes:
        await world.clock.sleep(job.takes)
    match job.ends:
        case "well":
            pass
        case "critical":
            raise CriticalError(f"{job.name} can't be done")
        case "exhausted":
            raise FlakyError(f"{job.name} failed again")
        case "timeout":
            await world.clock.sleep(FOREVER)
        case "silent":
            if info.attempt == 1:
                heartbeat({"half": job.name})
                await world.clock.sleep(FOREVER)
            return {"done": job.name, "before": info.last_progress}
        case "broken":
            if info.run_id not in world.repaired:
                raise FlakyError(f"{job.name} is broken")
    if info.attempt <= job.fails:
        raise FlakyError(f"{job.name} failed in attempt {info.attempt}")
    return {"done": job.name, "key": info.path, "padding": "x" * job.size}


@step
async def undo_work(undo: Undo) -> None:
    await World.current.note(undo=True)


@step(max_attempts=3)
async def undo_work_with_luck(undo: Undo) -> None:
    info = await World.current.note(undo=True)
    if info.attempt < 2:
        raise FlakyError("not undone yet")
