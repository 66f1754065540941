"""Tasks on queues in the task book: which opening counts, and what a lost worker does to the count of tries."""

import pytest

from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import TaskQueued, TaskRetryScheduled, TokenRejected
from plait.kernel.ids import Ids, Millis, TaskToken
from plait.kernel.inputs import TaskResult
from plait.kernel.retry import Retry
from plait.kernel.state import RunState
from plait.kernel.task import Policy, Task
from plait.kernel.tasks import Again, Final, Late, Opening, TaskBook
from tests.kernel.builders import NOW

PAY = TaskToken("pay")
ERROR = ErrorInfo("task.failed", "no luck")
TWICE = Retry(max_attempts=2, backoff="fixed", first=2.0)


def pay() -> Task:
    return Task(PAY, "step `pay`", "step", None, Policy(TWICE), "key", queue="gpu")


def queued(opening: int = 4, attempt: int = 1, lost: int = 0) -> TaskBook:
    """A task that is open, with a row."""
    book = TaskBook()
    book.open(pay(), NOW)
    book.queued(Opening(PAY, opening, attempt, lost))
    return book


def judge(book: TaskBook, result: TaskResult) -> Late | Again | Final:
    return book.judge(result, NOW, Ids(seed=1))


def test_a_task_on_a_queue_is_not_under_way_in_this_process():
    book = TaskBook()
    assert book.open(pay(), NOW) is not None
    assert book.running == 0
    book.close(PAY)
    assert book.running == 0


def test_the_result_of_its_opening_is_final():
    assert isinstance(judge(queued(), TaskResult(PAY, 1, opening=4)), Final)


@pytest.mark.parametrize(("attempt", "opening"), [(1, 3), (1, 5), (1, 0), (1, -1), (2, 4)])
def test_a_result_of_another_opening_is_late(attempt: int, opening: int):
    assert isinstance(judge(queued(), TaskResult(PAY, attempt, opening=opening)), Late)


def test_while_it_waits_for_a_retry_no_opening_counts():
    book = queued()
    book.evolve(TaskRetryScheduled(PAY, 1, NOW, ERROR))
    assert not book.is_queued(PAY)
    assert isinstance(judge(book, TaskResult(PAY, 2, opening=4)), Late)


def test_attempts_that_were_lost_are_not_tries():
    verdict = judge(queued(attempt=4, lost=3), TaskResult(PAY, 4, error=ERROR, opening=4))
    assert isinstance(verdict, Again), "the first try of two"
    assert verdict.event.due == NOW + 2_000
    verdict = judge(queued(attempt=5, lost=3), TaskResult(PAY, 5, error=ERROR, opening=4))
    assert isinstance(verdict, Final)
    assert verdict.exhausted


def test_after_a_load_a_task_with_a_row_is_under_way_and_not_begun_again():
    book = TaskBook()
    book.queued(Opening(PAY, 4, 1))
    assert book.open(pay(), NOW) is None
    assert book.is_in(PAY, 1, 4)


def test_after_a_load_a_retry_that_is_due_is_begun_once_and_keeps_what_was_lost():
    book = TaskBook()
    book.queued(Opening(PAY, 4, 3, 2))
    book.evolve(TaskRetryScheduled(PAY, 3, NOW, ERROR))
    opened = book.open(pay(), NOW)
    assert opened is not None
    assert (opened.attempt, opened.lost, opened.opening) == (4, 2, 0)


def test_after_a_load_a_retry_that_was_begun_is_under_way():
    book = TaskBook()
    book.queued(Opening(PAY, 4, 1))
    book.evolve(TaskRetryScheduled(PAY, 1, NOW, ERROR))
    book.queued(Opening(PAY, 6, 2))
    assert book.open(pay(), NOW) is None
    assert book.is_in(PAY, 2, 6)


def test_a_retry_that_is_not_due_waits():
    book = TaskBook()
    book.queued(Opening(PAY, 4, 1))
    book.evolve(TaskRetryScheduled(PAY, 1, Millis(NOW + 1), ERROR))
    assert book.open(pay(), NOW) is None
    found = book.get(PAY)
    assert found is not None
    assert found.retry_at == NOW + 1


def test_a_copy_of_a_run_has_no_rows():
    book = queued()
    book.queued(Opening(TaskToken("other"), 5, 1))
    book.enqueue_again()
    assert PAY not in book
    assert book.unopened == []


def test_a_settled_past_is_forgotten():
    book = TaskBook()
    book.queued(Opening(PAY, 4, 1))
    book.forget_past()
    opened = book.open(pay(), NOW)
    assert opened is not None
    assert opened.attempt == 1


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("failed", [False, True])
def test_a_snapshot_keeps_openings_and_what_was_lost(opened: bool, failed: bool):
    state = RunState()
    state.seq = 7
    if opened:
        state.tasks.open(pay(), NOW)
    state.evolve(TaskQueued(PAY, 3, "gpu", lost=2))
    if failed:
        state.evolve(TaskRetryScheduled(PAY, 3, Millis(NOW + 5), ERROR))
    restored = RunState()
    restored.restore(values.decode(values.plain(state.dump()), type(state.dump())), 9, NOW)
    restored.tasks.open(pay(), NOW)
    found = restored.tasks.get(PAY)
    assert found is not None
    assert (found.lost, found.attempt, found.opening) == ((2, 4, 0) if failed else (2, 3, 7))


def test_a_snapshot_keeps_how_often_a_task_was_rejected():
    state = RunState()
    state.evolve(TokenRejected("forged", PAY, "pay", 2))
    other = RunState()
    other.restore(state.dump(), 7, NOW)
    assert other.tasks.rejections == {PAY: 2}
    other.tasks.close(PAY)
    assert other.tasks.rejections == {}
