"""The simulation of goals runs must notice when their machine is broken: so it is, on purpose."""

import asyncio
from typing import Any

import pytest

from plait.dialects.goals.running import decision_builder, machine, recovery, results
from plait.dialects.goals.running.flow import Flow, Slots
from plait.dialects.goals.running.machine import GoalsMachine
from plait.testing.sim.flows.seeds import simulate_flows

ENOUGH = 250


def first_failure(likely: int) -> str:
    """What the first seed that fails has to say; the likely one is tried before all others."""
    for seed in (*range(likely, ENOUGH), *range(likely)):
        report = asyncio.run(simulate_flows(seed))
        if report.failure is not None:
            return str(report)
    raise AssertionError(f"{ENOUGH} seeds have not found it")


def test_a_failure_shows_the_catalog_the_trouble_the_log_and_how_to_replay_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GoalsMachine, "pending", lambda self, now, *, recovered: [])
    shown = first_failure(likely=1)
    assert shown.startswith("seed ")
    parts = ("run flow0 ", "trouble:", "log of flow0:", "FAILED: BrokenPromise: not all runs ended", "--dialect goals")
    for part in parts:
        assert part in shown


def test_items_that_are_begun_twice_after_a_crash_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Slots, "called_up", _only_live(Slots.called_up))
    assert first_failure(likely=5)


def test_a_webhook_that_counts_twice_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(results, "_answer", _whatever_came_before)
    assert "ended twice" in first_failure(likely=2)


def test_compensations_that_are_left_out_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GoalsMachine, "compensations", lambda self: [])
    assert first_failure(likely=2)


def test_a_snapshot_that_leaves_something_out_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GoalsMachine, "snapshot", _without_times(GoalsMachine.snapshot))
    assert first_failure(likely=100)


def test_predicates_that_nobody_asks_again_after_a_crash_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recovery, "prepare_task", _lost)
    assert first_failure(likely=1)


def test_results_of_a_run_that_was_cut_short_that_count_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Flow, "takes_results", property(lambda self: True))
    assert first_failure(likely=1)


def test_work_that_is_done_again_under_the_key_of_what_was_undone_is_found(monkeypatch: pytest.MonkeyPatch):
    made = decision_builder.item_token
    monkeypatch.setattr(decision_builder, "item_token", lambda *parts: made(*parts[:4]))  # whatever was begun anew
    assert first_failure(likely=1)


def _only_live(called_up: Any) -> Any:
    """As if folding did not know who has begun."""
    return lambda self, token: None if len(self.idle) != 1 else called_up(self, token)


def _whatever_came_before(turn: Any, plan: Any, token: str, item: Any, outputs: Any) -> None:
    machine.answered(turn, plan, token, outputs)


def _without_times(snapshot: Any) -> Any:
    def broken(self: GoalsMachine) -> Any:
        state = self.flow.state
        kept, state.finished = state.finished, []
        try:
            return snapshot(self)
        finally:
            state.finished = kept

    return broken


def _lost(turn: Any, plan: Any) -> Any:
    raise RuntimeError("nobody asks")
