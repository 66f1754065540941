"""The task book: which attempt a task is in, and what a result means for it."""

import pytest

from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import TaskRetryScheduled
from plait.kernel.ids import Ids, Millis, TaskToken
from plait.kernel.inputs import TaskResult
from plait.kernel.retry import ONCE, Retry
from plait.kernel.task import Policy, Task
from plait.kernel.tasks import Again, Final, Late, OpenTask, TaskBook
from tests.kernel.builders import NOW, done, failed

PAY = TaskToken("pay")
THRICE = Retry(max_attempts=3, backoff="fixed", first=2.0)
ERROR = ErrorInfo("task.failed", "no luck")


def attempt_of(opened: OpenTask | None) -> int | None:
    return None if opened is None else opened.attempt


def pay(retry: Retry = THRICE) -> Task:
    return Task(PAY, "step `pay`", "toy", None, Policy(retry), "key")


def judge(book: TaskBook, result: TaskResult, now: int = NOW) -> Late | Again | Final:
    return book.judge(result, Millis(now), Ids(seed=1))


def scheduled(attempt: int, due: int) -> TaskRetryScheduled:
    return TaskRetryScheduled(PAY, attempt, Millis(due), ERROR, values.encode({"page": attempt}))


def opened(retry: Retry = THRICE) -> TaskBook:
    book = TaskBook()
    assert attempt_of(book.open(pay(retry), NOW)) == 1
    return book


def test_a_new_task_starts_with_its_first_attempt():
    book = opened()
    assert PAY in book
    assert book.running == 1


def test_a_task_that_is_open_is_not_opened_again():
    book = opened()
    assert book.open(pay(), NOW) is None
    assert book.running == 1


def test_a_first_success_is_final():
    verdict = judge(opened(), done("pay"))
    assert isinstance(verdict, Final)
    assert not verdict.exhausted


def test_a_result_for_a_task_nobody_opened_is_late():
    assert isinstance(judge(TaskBook(), done("pay")), Late)


@pytest.mark.parametrize("attempt", [0, 2, 7])
def test_a_result_of_another_attempt_is_late(attempt: int):
    assert isinstance(judge(opened(), done("pay", attempt=attempt)), Late)


def test_a_failure_is_tried_again_after_the_policys_wait():
    verdict = judge(opened(), failed("pay"))
    assert isinstance(verdict, Again)
    assert (verdict.event.attempt, verdict.event.due) == (1, NOW + 2_000)


def test_what_the_attempt_reported_last_goes_with_the_retry():
    result = TaskResult(PAY, 1, error=ERROR, progress=values.encode(7))
    verdict = judge(opened(), result)
    assert isinstance(verdict, Again)
    assert verdict.event.progress == values.encode(7)


def test_the_last_failure_is_final_and_the_task_exhausted():
    verdict = judge(opened(ONCE), failed("pay"))
    assert isinstance(verdict, Final)
    assert verdict.exhausted


def test_an_error_that_must_not_be_tried_again_is_final_but_not_exhausted():
    verdict = judge(opened(), failed("pay", retryable=False))
    assert isinstance(verdict, Final)
    assert not verdict.exhausted


def test_jitter_is_drawn_from_the_ids():
    retry = Retry(backoff="fixed", first=10, jitter=1.0)
    verdict = judge(opened(retry), failed("pay"))
    assert isinstance(verdict, Again)
    assert NOW < verdict.event.due < NOW + 10_000


def test_a_task_that_waits_for_a_retry_is_not_running():
    book = opened()
    book.evolve(scheduled(1, NOW + 2_000))
    assert book.running == 0
    assert PAY in book


def test_while_a_task_waits_for_its_retry_no_result_counts():
    book = opened()
    book.evolve(scheduled(1, NOW + 2_000))
    assert isinstance(judge(book, done("pay", attempt=1)), Late)
    assert isinstance(judge(book, done("pay", attempt=2)), Late)


def test_the_retry_starts_the_next_attempt_once():
    book = opened()
    book.evolve(scheduled(1, NOW + 2_000))
    again = book.retry(PAY)
    assert again is not None
    assert again.attempt == 2
    assert book.running == 1
    assert book.retry(PAY) is None


def test_a_retry_of_a_task_that_was_revoked_starts_nothing():
    book = opened()
    book.evolve(scheduled(1, NOW + 2_000))
    book.close(PAY)
    assert book.retry(PAY) is None
    assert book.running == 0


def test_a_late_result_of_the_first_attempt_does_not_end_the_second():
    book = opened()
    book.evolve(scheduled(1, NOW))
    book.retry(PAY)
    assert isinstance(judge(book, done("pay", attempt=1)), Late)
    assert isinstance(judge(book, done("pay", attempt=2)), Final)


def test_closing_says_whether_the_task_was_open():
    book = opened()
    assert book.close(PAY)
    assert not book.close(PAY)
    assert book.running == 0


# -- after a crash ---------------------------------------------------------------------------------------------------


def test_after_a_crash_a_task_goes_on_with_the_attempt_it_was_in():
    book = TaskBook()
    book.evolve(scheduled(1, NOW - 1_000))
    assert attempt_of(book.open(pay(), NOW)) == 2
    found = book.get(PAY)
    assert found is not None
    assert found.progress == values.encode({"page": 1})
    assert book.running == 1


def test_after_a_crash_a_retry_that_is_not_due_yet_is_waited_for():
    book = TaskBook()
    book.evolve(scheduled(2, NOW + 500))
    assert book.open(pay(), NOW) is None
    found = book.get(PAY)
    assert found is not None
    assert (found.attempt, found.retry_at) == (3, NOW + 500)
    assert book.running == 0


def test_a_dead_letter_gives_the_task_fresh_attempts():
    book = TaskBook()
    book.evolve(scheduled(2, NOW))
    book.close(PAY)
    assert attempt_of(book.open(pay(), NOW)) == 1


def test_a_run_that_is_reopened_gives_its_tasks_fresh_attempts():
    """The log keeps failed attempts; that a later one ended the task for good is the dialect's event."""
    book = TaskBook()
    book.evolve(scheduled(1, NOW))
    book.forget_past()
    assert attempt_of(book.open(pay(), NOW)) == 1


def test_a_snapshot_keeps_attempts_that_wait_and_attempts_under_way():
    for now_running in (False, True):
        book = opened()
        book.evolve(scheduled(1, NOW + 2_000))
        if now_running:
            book.retry(PAY)
        again = TaskBook()
        for event in book.dump():
            again.evolve(event)
        assert attempt_of(again.open(pay(), NOW)) == (2 if now_running else None)
        found = again.get(PAY)
        assert found is not None
        assert (found.attempt, found.error, found.progress) == (2, ERROR, values.encode({"page": 1}))


def test_a_first_attempt_needs_no_place_in_a_snapshot():
    assert opened().dump() == []


def test_a_snapshot_of_a_snapshot_is_the_same():
    book = TaskBook()
    book.evolve(scheduled(1, NOW + 2_000))
    assert book.dump() == [scheduled(1, NOW + 2_000)]


# -- what people see -------------------------------------------------------------------------------------------------


def test_facts_tell_a_running_task_from_one_that_waits():
    book = opened()
    facts = book.facts()[PAY]
    assert (facts.attempt, facts.max_attempts, facts.running, facts.retry_at) == (1, 3, True, None)
    book.evolve(scheduled(1, NOW + 2_000))
    facts = book.facts()[PAY]
    assert (facts.attempt, facts.running, facts.retry_at, facts.error) == (2, False, NOW + 2_000, ERROR)


def test_a_run_that_is_only_read_knows_which_retries_are_to_come():
    book = TaskBook()
    book.evolve(scheduled(1, NOW + 2_000))
    facts = book.facts()[PAY]
    assert (facts.attempt, facts.running, facts.retry_at) == (2, False, NOW + 2_000)


def test_what_others_have_accepted_is_under_way_but_not_here():
    book = opened()
    assert book.completes(TaskResult(PAY, 1, later=True))
    book.await_result(pay(), 1)
    book.await_result(pay(), 1)
    assert (PAY in book, book.running) == (True, 0)
    assert book.completes(done("pay"))
    assert book.running == 0


def test_what_others_report_as_failed_is_tried_again_here():
    book = TaskBook()
    book.await_result(pay(), 1)
    verdict = judge(book, failed("pay"))
    assert isinstance(verdict, Again)
    book.evolve(verdict.event)
    again = book.retry(PAY)
    assert again is not None
    assert (again.attempt, again.here, book.running) == (2, True, 1)
