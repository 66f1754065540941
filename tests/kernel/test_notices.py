"""Who is told of an approval: opened, repeated and dropped as tasks of the kernel's own."""

from collections.abc import Sequence

import pytest

from plait.kernel.approval import Escalation
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.inputs import Cancel, Decided, Delegate, Loaded, Resume, TaskResult, TimerFired
from plait.kernel.notice import Notice
from plait.kernel.run import Run
from plait.kernel.unit_of_work import UnitOfWork
from tests.kernel.builders import NOW, done, failed, fresh, give, start, types
from tests.kernel.toy import Move, ask, task

TOKEN = TaskToken("move:0")
FIRST, SECOND = TaskToken("~notice:move:0:1"), TaskToken("~notice:move:0:2")


def mails(approvers: Sequence[str], service: str) -> list[Notice]:
    return [Notice("mail", f"{name}@example.com", name) for name in approvers]


def asking(move: Move | None = None) -> tuple[Run, UnitOfWork]:
    run = fresh(notify=mails)
    return run, give(run, start(move or ask("board", 2, ("ada", "bob")), task("a")))


def opened(draft: UnitOfWork) -> list[str]:
    return [each.task.token for each in draft.tasks]


def test_every_approver_is_told_when_the_approval_is_requested():
    _, draft = asking()
    assert types(draft.events)[-2:] == ["approval.requested", "approval.notified"]
    assert opened(draft) == [FIRST, SECOND]


def test_where_nobody_is_to_be_told_nothing_is_recorded():
    run = fresh()
    draft = give(run, start(ask("board", 2, ("ada", "bob")), task("a")))
    assert ("approval.notified" in types(draft.events), draft.tasks) == (False, [])


def test_the_machine_hears_nothing_of_a_notice():
    run, _ = asking()
    assert types(give(run, done(FIRST)).events) == ["approval.notice"]
    assert types(give(run, failed(SECOND, retryable=False)).events) == ["task.dead_lettered", "approval.notice"]
    assert run.state.status == "running"


def test_a_notice_that_fails_is_tried_again_and_then_a_dead_letter_that_a_person_retries():
    run, _ = asking()
    for attempt in range(1, 12):
        give(run, failed(FIRST, attempt))
        assert opened(give(run, TimerFired(TaskToken(f"~retry:{FIRST}")))) == [FIRST]
    assert [letter.token for letter in give(run, failed(FIRST, 12)).write.dead_letters] == [FIRST]
    again = give(run, Resume("settle", token=FIRST, verdict="retry"))
    assert (opened(again), [each.status for each in again.write.settled]) == ([FIRST], ["retried"])
    assert types(give(run, done(FIRST)).events) == ["approval.notice"]


def test_what_was_not_sent_is_sent_after_a_load_and_what_was_is_not():
    run = fresh(notify=mails)
    events = [*give(run, start(ask("board", 2, ("ada", "bob")), task("a"))).events]
    events += give(run, done(FIRST)).events
    copy = fresh(notify=mails)
    for event in events:
        copy.fold(event, NOW)
    draft = give(copy, Loaded("recover"))
    assert (opened(draft), types(draft.events)) == ([SECOND], [])


def test_a_snapshot_keeps_them():
    run, _ = asking()
    give(run, done(FIRST))
    copy = fresh(notify=mails)
    copy.state.restore(run.state.dump(), run.state.seq, run.state.at)
    assert list(copy.state.notices[TOKEN].pending) == [SECOND]
    assert list(copy.state.notices[TOKEN].all) == [FIRST, SECOND]


@pytest.mark.parametrize("approvers", [(), ("ada", "bob")])
def test_a_decision_drops_what_was_not_sent(approvers: tuple[str, ...]):
    def everyone(names: Sequence[str], service: str) -> list[Notice]:
        return [Notice("webhook", "https://example.com", name) for name in names or ("",)]

    run = fresh(notify=everyone)
    give(run, start(ask("board", 1, approvers), task("a")))
    draft = give(run, Decided(TOKEN, "approve", "ada"))
    assert "approval.closed" in types(draft.events)
    assert FIRST in (draft.revoked or ())
    assert (run.state.notices, FIRST in run.state.tasks) == ({}, False)


def test_people_who_come_later_are_told_too():
    run, _ = asking(ask("board", 2, ("ada", "bob"), (Escalation(Millis(1_000), ("cleo",)),)))
    draft = give(run, TimerFired(TaskToken(f"~escalate:{TOKEN}")))
    assert opened(draft) == ["~notice:move:0:3"]
    draft = give(run, Delegate(TOKEN, "ada", "dan"))
    assert opened(draft) == ["~notice:move:0:4"]


def test_a_fork_tells_people_of_its_own_approval():
    run, _ = asking()
    give(run, done(FIRST))
    give(run, done(SECOND))
    run.state.tasks.forget_past()
    assert opened(give(run, Loaded("fork"))) == ["~notice:move:0:3", "~notice:move:0:4"]


def test_a_cancelled_run_tells_nobody():
    run, _ = asking()
    draft = give(run, Cancel())
    assert {FIRST, SECOND} <= set(draft.revoked or ())
    assert run.state.notices == {}
    assert types(give(run, TaskResult(FIRST, 1)).events) == ["task.late"]
