"""The simulation of AFL must notice when its machine is broken: so it is, on purpose."""

import asyncio
from typing import Any

import msgspec
import pytest

from plait.dialects.afl.executors import EventContext
from plait.dialects.afl.running import machine, reopening, results
from plait.dialects.afl.running.machine import AflMachine
from plait.dialects.afl.running.results import STEP_UPDATE
from plait.engine.engine import Engine
from plait.kernel import values
from plait.kernel.ids import RunId
from plait.kernel.inputs import Message
from plait.testing.sim.afl.seeds import simulate_afl

ENOUGH = 60


def first_failure(likely: int) -> str:
    """What the first seed that fails has to say; the likely one is tried before all others."""
    for seed in (*range(likely, ENOUGH), *range(likely)):
        report = asyncio.run(simulate_afl(seed))
        if report.failure is not None:
            return str(report)
    raise AssertionError(f"{ENOUGH} seeds have not found it")


def test_events_that_nobody_carries_out_again_after_a_crash_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(AflMachine, "pending", lambda self, now, *, recovered: [])
    shown = first_failure(likely=0)
    for part in ("run afl0 ", "trouble:", "log of afl0:", "FAILED: ", "--dialect afl"):
        assert part in shown


def test_compensations_that_are_left_out_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(AflMachine, "compensations", lambda self: [])
    assert "and undone as []" in first_failure(likely=0)


def test_compensations_in_the_order_of_the_work_are_found(monkeypatch: pytest.MonkeyPatch):
    whole = machine.compensations
    monkeypatch.setattr(machine, "compensations", lambda run, run_id: whole(run, run_id)[::-1])
    assert "and undone as [" in first_failure(likely=0)


def test_a_snapshot_that_leaves_something_out_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(AflMachine, "snapshot", _without_completed_events(AflMachine.snapshot))
    assert first_failure(likely=0)


def test_an_answer_that_wins_though_it_is_the_second_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(results, "_not_waiting", lambda it, node, given: "" if node is not None else "no step")
    assert first_failure(likely=0)


def test_a_retry_that_reopens_nothing_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reopening, "reopen_step", lambda record, to: None)
    assert first_failure(likely=0)


def test_partial_returns_that_the_answer_overtakes_are_found(monkeypatch: pytest.MonkeyPatch):
    async def tell(engine: Engine, run_id: RunId, name: str, body: object) -> None:
        """Durable when this returns, and no more than that."""
        key = engine.kernel.ids.key()
        await engine.kernel.send(run_id, Message(key, name, values.encode(body), engine.kernel.clock.now()), key)

    async def update(context: Any, **returns: Any) -> None:
        host = context._tell.__self__
        await tell(host, context._attempt.run_id, STEP_UPDATE, {"step_id": context.step_id, "returns": returns})

    monkeypatch.setattr(EventContext, "update", update)
    assert "ends differently" in first_failure(likely=0)


def _without_completed_events(snapshot: Any) -> Any:
    def broken(self: AflMachine) -> Any:
        whole: dict[str, Any] = msgspec.json.decode(snapshot(self))
        whole.pop("done", None)
        return msgspec.Raw(msgspec.json.encode(whole))

    return broken
