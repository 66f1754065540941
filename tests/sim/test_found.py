"""A simulation that finds nothing proves nothing: so here the engine is broken on purpose, and must be found out."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from plait.dialects.code.history import History
from plait.kernel.dispatcher import Dispatcher
from plait.kernel.ids import Millis
from plait.kernel.takeover import Takeover
from plait.kernel.tasks import TaskBook
from plait.stores.memory import MemoryStore
from plait.stores.sqlite import run_queues
from plait.testing.sim.seeds import simulate

ENOUGH = 100


def first_failure(likely: int = 0) -> str:
    """What the first seed that fails has to say; the likely one is tried before all others."""
    for seed in (*range(likely, ENOUGH), *range(likely)):
        report = asyncio.run(simulate(seed))
        if report.failure is not None:
            return str(report)
    raise AssertionError(f"{ENOUGH} seeds have not found it")


def test_a_failure_shows_the_plan_the_trouble_the_log_and_how_to_replay_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Takeover, "_take_up", _nothing)
    shown = first_failure(likely=2)
    assert shown.startswith("seed ")
    for part in ("run root0 ", "trouble:", "log of root0:", "FAILED: BrokenPromise: not all runs ended", "replay: "):
        assert part in shown


def test_a_write_whose_answer_was_lost_and_is_forgotten_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Dispatcher, "_look_again", lambda dispatcher, run_id: None)
    assert "not all runs ended" in first_failure(likely=76)


def test_the_result_of_an_older_attempt_that_counts_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(TaskBook, "completes", _whatever_the_attempt(TaskBook.completes))
    assert "ends differently" in first_failure(likely=26)


def test_runs_that_pass_the_limit_of_their_queue_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run_queues, "limits_on", lambda db, namespace, queue: {})
    assert "at most 1 may have a slot" in first_failure(likely=34)


def test_a_timer_that_fires_early_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(MemoryStore, "due", _a_bit_early(MemoryStore.due))
    assert "before its time" in first_failure(likely=0)


def test_a_snapshot_that_leaves_something_out_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(History, "snapshot", _without_messages(History.snapshot))
    assert first_failure(likely=38)


async def _nothing(*args: Any) -> None: ...


def _whatever_the_attempt(completes: Callable[..., bool]) -> Callable[..., bool]:
    def broken(book: TaskBook, result: Any) -> bool:
        current = book.get(result.token)
        if current is not None and current.retry_at is None:
            result = msgspec.structs.replace(result, attempt=current.attempt)
        return completes(book, result)

    return broken


def _a_bit_early(due: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def broken(store: MemoryStore, shards: Any, now: Millis, limit: int) -> Any:
        return await due(store, shards, Millis(now + 1500), limit)

    return broken


def _without_messages(snapshot: Callable[[History], Any]) -> Callable[[History], Any]:
    def broken(history: History) -> Any:
        kept, history.queue = history.queue, type(history.queue)()
        try:
            return snapshot(history)
        finally:
            history.queue = kept

    return broken
