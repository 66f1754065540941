"""The dialect's own tests, played by an embedded run: for every operation that it offers, nothing is different."""

import importlib
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from .stage import Moment, hosting

_MODULES = (
    "delivery_order",
    "endings",
    "join",
    "losing_listeners",
    "loop",
    "messages",
    "misuse",
    "race",
    "retry_after_failure",
    "rollback",
    "sleep",
    "steps",
    "stubborn_code",
    "values",
    "versions",
    "worked_example",
)
_LOG_OR_ENGINE = (".history(", "Limits(", ".bundle", ".worker", "._log", "same_log", ".clock.set(")
"""A test that uses one of these looks into the log, which an embedded run has not, or at an engine."""
_COUNTS = {
    "a_closed_step_of_a_loser_with_a_handler_is_undone",
    "a_failed_race_and_a_failed_loop_are_opened_again",
    "a_failure_of_the_code_itself_goes_on_with_better_code",
    "a_failure_that_was_handled_stays_handled_on_a_retry",
    "a_handler_gets_what_was_done_and_why_it_is_undone",
    "a_handler_may_be_a_plain_function_in_a_thread",
    "a_join_waits_for_the_others_after_a_failure",
    "a_named_handler_can_belong_to_a_step",
    "a_retry_survives_a_restart_with_its_time_and_count",
    "a_step_made_inside_a_function_counts_as_inline",
    "a_step_without_a_result_is_run_again_after_a_crash",
    "a_thread_that_takes_too_long_is_given_up_and_its_late_result_ignored",
    "a_timeout_may_be_retried",
    "a_trimmed_step_with_a_named_handler_leaves_its_record",
    "a_type_whose_constructor_fails_blocks_instead_of_harming_the_engine",
    "an_async_step_that_takes_too_long_is_cancelled_and_not_retried",
    "an_uncaught_failure_cancels_what_is_open_before_it_undoes",
    "inline_handlers_are_found_again_after_a_restart_in_the_middle",
    "misuse_in_a_step_is_not_tried_again",
    "none_is_a_value",
    "only_some_iterations_may_have_inline_handlers",
    "options_are_taken_from_the_call_then_the_step_then_the_workflow",
    "progress_survives_a_restart",
    "removed_can_give_an_inline_handler_again",
    "the_idempotency_key_is_equal_on_all_attempts_and_after_a_crash",
    "what_was_open_when_it_failed_is_started_again",
}
"""They count how often a step or a handler runs, or what time it takes: one whose result was not written runs again."""
_LONG = {"a_long_loop_keeps_a_short_history", "many_results_in_a_row_are_not_spinning"}
"""Hundreds of batches, all alike."""


def cases() -> Iterator[Any]:
    for name in _MODULES:
        module = importlib.import_module(f"tests.dialects.code.test_{name}")
        for label, test in vars(module).items():
            if not label.startswith("test_") or not inspect.iscoroutinefunction(test):
                continue
            text = inspect.getsource(test)
            marked = [mark.name for mark in getattr(test, "pytestmark", ())]
            if inspect.signature(test).parameters or "deciding()" not in text or marked:
                continue
            if label == "test_named_handlers_need_no_workflow_code":
                continue  # an embedded run always has its code
            if not any(word in text for word in _LOG_OR_ENGINE):
                yield pytest.param(module, test, id=f"{name}-{label.removeprefix('test_')}")


def crashing_cases() -> list[Any]:
    return [case for case in cases() if str(case.id).partition("-")[2] not in _COUNTS | _LONG]


async def play(module: Any, test: Callable[[], Any], stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "deciding", stage)
    for name in ("ledger", "broken"):  # what the module's own fixture does
        getattr(module, name, set[str]()).clear()
    await test()


@pytest.mark.parametrize(("module", "test"), list(cases()))
async def test_it_is_the_same(module: Any, test: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    await play(module, test, hosting, monkeypatch)


@pytest.mark.parametrize("failing", ["before", "after"])
@pytest.mark.parametrize(("module", "test"), crashing_cases())
async def test_it_is_the_same_when_the_driver_fails_at_every_batch(
    module: Any, test: Callable[[], Any], failing: Moment, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(module, test, partial(hosting, failing=failing), monkeypatch)


def test_the_suite_is_no_small_one() -> None:
    assert len(list(cases())) > 100
    assert len(crashing_cases()) > 90
