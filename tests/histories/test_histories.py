"""Every history that an older Plait wrote must be read by this one: folded, fitted to its code, and gone on with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from plait.dialects.code.events import CodeEvent, Kind
from plait.dialects.code.machine import CodeMachine
from plait.kernel.events import KernelEvent
from plait.kernel.ids import Epoch, Millis, RunId, caller_id
from plait.kernel.loader import recorded
from plait.testing import History, Sim, SimRun, sim

from .flows import DEFINITIONS, World, models
from .recipes import RECIPES
from .record import play
from .stored import Stored, stored

HISTORIES = stored()
each_history = pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.name)

NOT_TO_BE_FORKED = {
    "stuck-in-rollback",  # settled by hand
    "forked",  # with an edit
    "past-its-deadline",  # which a fork does not have
    "countersigned",  # in which the votes that were given before do not count
    "delegated",  # to somebody who is asked in the original alone
    "advised",  # by a person who is asked in the original alone
    "tallied",  # by updates, which come between messages
    "chatting",  # with a child, which starts anew and waits to be told again
}
MENDED = {"retried", "rewound", "forked"}
"""Those in which a step succeeds only since something was mended."""


@asynccontextmanager
async def with_history(history: Stored, at: Millis = Millis(0)) -> AsyncIterator[Sim]:
    World.mended = history.name in MENDED
    async with sim(DEFINITIONS, models=models()) as s:
        s.clock.set(max(s.clock.time, datetime.fromtimestamp(at / 1000, UTC)))
        await history.put(s.store)
        yield s


def run_id(history: Stored) -> RunId:
    return RunId(history.id)


def test_there_is_a_history_for_every_recipe_and_every_event():
    assert {history.name for history in HISTORIES} == set(RECIPES)
    tags = {event.__struct_config__.tag for event in (*get_args(KernelEvent), *get_args(CodeEvent))}
    tags.remove("run.patched")  # code can't be patched
    assert {event for history in HISTORIES for event in history.types()} == tags
    opened = [e for history in HISTORIES for e in history.events if e["type"] == "op.opened"]
    # What is removed is never recorded, and updates have events of their own
    assert {event["kind"] for event in opened} == set(get_args(Kind)) - {"removed", "update"}


@each_history
async def test_it_folds_to_the_state_that_was_stored(history: Stored):
    async with with_history(history) as s:
        row = await s.store.run(run_id(history))
        assert row is not None
        run = await s.engine.kernel.loader.load(row, Epoch(0))
        assert run.state.status == history.row["status"]
        assert run.state.seq == len(history.events)
        assert (await _view(s, history)).status == history.row["status"]


@each_history
async def test_it_is_sound(history: Stored):
    async with with_history(history) as s:
        events = History(await recorded(s.store, run_id(history)))
        events.assert_recorded_once()
        events.assert_not_early()


@each_history
async def test_its_code_fits_every_moment_of_it(history: Stored):
    async with with_history(history) as s:
        row = await s.store.run(run_id(history))
        assert row is not None
        for part in history.log:
            upto = part["seq"] + len(part["events"]) - 1
            run = await s.engine.kernel.loader.load(row, Epoch(0), upto)
            assert isinstance(run.machine, CodeMachine)
            assert run.machine.check(part["at"]) is None, f"after event {upto}"


@each_history
async def test_it_goes_on_from_every_moment_to_the_same_end(history: Stored):
    ends = [event for event in history.events if event["type"] in ("run.completed", "run.failed", "run.cancelled")]
    if len(ends) > 1 or history.name in NOT_TO_BE_FORKED:
        pytest.skip("a fork would not go the same way")
    for upto, at in _moments(history):
        async with with_history(history, at) as s:
            handle = await s.engine.get(caller_id(run_id(history)), history.row["namespace"])
            fork = await handle.fork(upto, id="fork")
            run = SimRun(s, fork.id, history.row["namespace"])
            await _redo(s, run, history, upto)
            before = SimRun(s, handle.id, history.row["namespace"])
            assert await _ending(s, run) == await _ending(s, before), f"from event {upto} on"


@pytest.mark.parametrize("name", sorted(RECIPES))
async def test_todays_plait_would_write_what_it_can_read(name: str):
    """A recipe still ends alike; what it writes on the way may have changed."""
    today = await play(name)
    [before] = [history for history in HISTORIES if history.name == name]
    assert today.row["status"] == before.row["status"]
    assert today.events[-1].get("output") == before.events[-1].get("output")


def _moments(history: Stored) -> list[tuple[int, Millis]]:
    """After each decision, as long as the run goes on and rolls nothing back: the last event, and the time."""
    moments: list[tuple[int, Millis]] = []
    for part in history.log:
        if any(event["type"] in ("rollback.started", "run.cancelled", "run.failed") for event in part["events"]):
            break
        moments.append((part["seq"] + len(part["events"]) - 1, Millis(part["at"])))
    return moments[:-1] if history.row["status"] == "completed" else moments


async def _redo(s: Sim, run: SimRun, history: Stored, upto: int) -> None:
    """What came from outside after that moment comes again: messages, decisions, results of workers, the cancel."""
    past, future = history.events[:upto], history.events[upto:]
    taken = {id for event in past for id in event.get("messages") or ()}
    for event in history.events:
        if event["type"] == "message.queued" and event["id"] not in taken:
            await run.message(event["name"], event["body"])
    asked = {event["at"] for event in history.events if event.get("kind") == "approval"}
    for event in future:
        if event["type"] == "op.closed" and event["at"] in asked:
            await _decide(s, run, event)
    queued = {event["token"]: event["queue"] for event in history.events if event["type"] == "task.queued"}
    for event in future:
        if event["type"] == "op.closed" and event["at"] in queued:
            await s.settle()
            [task] = await s.engine.queues.claim("worker", [queued[event["at"]]])
            await s.engine.queues.complete(task.id, event["output"])
    if history.row["status"] == "cancelled":
        await s.settle()
        await run.cancel("enough", compensate="rollback.started" in history.types())


async def _decide(s: Sim, run: SimRun, event: dict[str, Any]) -> None:
    async def is_asked() -> bool:
        return any(approval.run_id == run.id for approval in await s.engine.approvals.list())

    await s.skip_until(is_asked)
    await s.engine.approvals.decide(f"{run.id}:{event['at']}", event["output"]["decision"], by="boss", comment="fine")


async def _ending(s: Sim, run: SimRun) -> tuple[str, Any]:
    await s.skip_until(run.ended)
    row = await run.row()
    assert row.blocked is None
    outputs = (await run.history()).of("run.completed")
    return row.status, outputs[-1].get("output") if outputs else row.error


async def _view(s: Sim, history: Stored) -> Any:
    handle = await s.engine.get(caller_id(run_id(history)), history.row["namespace"])
    return await handle.view()
