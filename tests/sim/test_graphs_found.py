"""The simulation of graphs must notice when their machine is broken: so it is, on purpose."""

import asyncio
from typing import Any

import msgspec
import pytest

from plait.dialects.graph.running.machine import GraphMachine
from plait.testing.sim.graphs.seeds import simulate_graphs

ENOUGH = 60


def first_failure(likely: int) -> str:
    """What the first seed that fails has to say; the likely one is tried before all others."""
    for seed in (*range(likely, ENOUGH), *range(likely)):
        report = asyncio.run(simulate_graphs(seed))
        if report.failure is not None:
            return str(report)
    raise AssertionError(f"{ENOUGH} seeds have not found it")


def test_tasks_that_nobody_begins_again_after_a_crash_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GraphMachine, "pending", lambda self, now, *, recovered: [])
    shown = first_failure(likely=0)
    for part in ("run graph0 ", "trouble:", "log of graph0:", "FAILED: ", "--dialect graph"):
        assert part in shown


def test_compensations_that_are_left_out_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GraphMachine, "compensations", lambda self: [])
    assert "undone as []" in first_failure(likely=11)


def test_a_snapshot_that_leaves_something_out_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GraphMachine, "snapshot", _without_messages(GraphMachine.snapshot))
    assert first_failure(likely=2)


def _without_messages(snapshot: Any) -> Any:
    """Nor what nodes returned."""

    def broken(self: GraphMachine) -> Any:
        whole: dict[str, Any] = msgspec.json.decode(snapshot(self))
        whole.pop("messages", None)
        whole.pop("context", None)
        return msgspec.Raw(msgspec.json.encode(whole))

    return broken
