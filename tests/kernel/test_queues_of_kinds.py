"""Tasks of a kind that the engine has a queue for, and that name none."""

import pytest

from plait.kernel.ids import Millis, TaskToken
from plait.kernel.task import Policy, Task
from plait.kernel.tasks import Opening, TaskBook

NOW = Millis(1_000)


def task(kind: str = "agent", queue: str | None = None) -> Task:
    return Task(TaskToken("t"), "task", kind, None, Policy(), "key", queue=queue)


@pytest.mark.parametrize(
    ("asked", "placed"),
    [
        (task(), "agent"),
        (task(queue="gpu"), "gpu"),  # its own counts
        (task("http"), None),
    ],
)
def test_a_task_goes_to_its_own_queue_or_that_of_its_kind(asked: Task, placed: str | None):
    tasks = TaskBook()
    tasks.queues = {"agent": "agent"}
    opened = tasks.open(asked, NOW)
    assert opened is not None
    assert opened.task.queue == placed


def test_one_that_is_on_a_queue_stays_there_when_its_kind_has_none_any_more():
    tasks = TaskBook()
    tasks.queued(Opening(TaskToken("t"), 2, 1, queue="agent"))
    assert tasks.open(task(), NOW) is None, "its row is there"
    found = tasks.get(TaskToken("t"))
    assert found is not None
    assert (found.task.queue, found.opening) == ("agent", 2)
    assert [each.queue for each in tasks.openings()] == ["agent"], "a snapshot knows it"


def test_one_that_is_tried_again_on_request_of_its_machine_goes_there_again():
    tasks = TaskBook()
    tasks.queues = {"agent": "agent"}
    tasks.take_back(task(), 1)
    found = tasks.get(TaskToken("t"))
    assert found is not None
    assert found.task.queue == "agent"
    assert tasks.running == 0
