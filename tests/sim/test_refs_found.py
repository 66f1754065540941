"""The simulation of `refs` must notice when their machine is broken: so it is, on purpose."""

import asyncio
from typing import Any

import msgspec
import pytest

from plait.dialects.refs.running import machine, resuming, tasks
from plait.dialects.refs.running.machine import RefsMachine
from plait.testing.sim.refs.seeds import simulate_refs

ENOUGH = 60


def first_failure(likely: int) -> str:
    """What the first seed that fails has to say; the likely one is tried before all others."""
    for seed in (*range(likely, ENOUGH), *range(likely)):
        report = asyncio.run(simulate_refs(seed))
        if report.failure is not None:
            return str(report)
    raise AssertionError(f"{ENOUGH} seeds have not found it")


def test_tasks_that_nobody_begins_again_after_a_crash_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(RefsMachine, "pending", lambda self, now, *, recovered: [])
    shown = first_failure(likely=0)
    for part in ("run refs0 ", "trouble:", "log of refs0:", "FAILED: ", "--dialect refs"):
        assert part in shown


def test_compensations_that_are_left_out_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(RefsMachine, "compensations", lambda self: [])
    assert "without undoing" in first_failure(likely=0)


def test_compensations_in_the_order_of_the_work_are_found(monkeypatch: pytest.MonkeyPatch):
    whole = machine.compensations
    monkeypatch.setattr(machine, "compensations", lambda builder: whole(builder)[::-1])
    assert "newest first" in first_failure(likely=0)


def test_a_snapshot_that_leaves_something_out_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(RefsMachine, "snapshot", _without_loops(RefsMachine.snapshot))
    assert first_failure(likely=0)


def test_a_key_that_changes_with_each_attempt_is_found(monkeypatch: pytest.MonkeyPatch):
    made: list[str] = []

    def another(builder: Any, id: str, generation: int) -> str:
        made.append(id)
        return f"{builder.context.info.run_id}/{id}/{len(made)}"

    monkeypatch.setattr(tasks, "idempotency_key", another)
    assert "several keys" in first_failure(likely=0)


def test_a_retry_that_forgets_what_was_undone_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resuming, "_again", lambda work: work.status == "failed")
    assert "undone and not done again" in first_failure(likely=42)


def _without_loops(snapshot: Any) -> Any:
    def broken(self: RefsMachine) -> Any:
        whole: dict[str, Any] = msgspec.json.decode(snapshot(self))
        whole.pop("loops", None)
        whole.pop("done", None)
        return msgspec.Raw(msgspec.json.encode(whole))

    return broken
