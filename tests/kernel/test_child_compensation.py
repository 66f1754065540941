"""Compensation of children, for every dialect: here the smallest one."""

from typing import Any, Literal

import pytest

from plait.kernel import values
from plait.kernel.decide import Run
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.inputs import Cancel, ChildFinished, CompensateChild, Loaded, Resume
from plait.kernel.unit_of_work import UnitOfWork
from tests.kernel.builders import advance, done, failed, fresh, give, info, start, started, tokens, types
from tests.kernel.toy import ToyMachine, child, count, task

MUM, KID = RunId("run"), RunId("kid")


def inbox(unit: UnitOfWork) -> list[tuple[str, Any]]:
    return [(row.run_id, values.decode(row.body)) for row in unit.write.inbox]


def parent() -> Run:
    """It has paid, had a child, and shipped; and waits."""
    run = fresh(ToyMachine(info()))
    advance(run, start(task("pay", undo="refund"), child(id=KID), task("ship", undo="fetch"), count(1)))
    advance(run, done("move:0", "paid"))
    advance(run, ChildFinished(TaskToken("move:1"), KID, "completed", compensable=True))
    advance(run, done("move:2", "shipped"))
    return run


def kid(*more: Any) -> Run:
    run = started(task("book", undo="unbook"), *more, run_id=KID, parent=MUM, parent_token=TaskToken("move:1"))
    advance(run, done("move:0", "booked"))
    return run


def asks() -> CompensateChild:
    return CompensateChild(MUM, TaskToken(f"~child:{KID}"), 9)


def test_a_child_says_whether_it_can_be_compensated():
    run = started(task("book", undo="unbook"), run_id=KID, parent=MUM, parent_token=TaskToken("move:1"))
    [(_, report)] = inbox(advance(run, done("move:0", "booked")))
    assert report["compensable"]
    run = started(task("look"), run_id=KID, parent=MUM, parent_token=TaskToken("move:1"))
    [(_, report)] = inbox(advance(run, done("move:0", "seen")))
    assert "compensable" not in report


def test_a_child_is_compensated_between_what_came_before_and_after_it():
    run = parent()
    assert tokens(give(run, Cancel("enough", compensate=True))) == ["undo:2"]
    [(target, request)] = inbox(advance(run, done("undo:2")))
    assert (target, request["kind"], request["parent"]) == (KID, "compensate_child", MUM)
    unit = give(run, ChildFinished(TaskToken("move:1"), KID, "completed"))
    assert tokens(unit) == ["undo:0"]
    assert advance(run, done("undo:0")).ended
    assert run.state.status == "cancelled"


def test_a_child_is_asked_once_however_often_its_parent_is_loaded():
    run = parent()
    give(run, Cancel("enough", compensate=True))
    advance(run, done("undo:2"))
    assert inbox(give(run, Loaded("wake"))) == []


def test_an_open_child_is_cancelled_with_compensation_when_its_parent_is():
    for compensate in (False, True):
        run = started(child(id=KID))
        [(target, request)] = inbox(give(run, Cancel("enough", compensate=compensate)))
        assert (target, request["kind"], request.get("compensate", False)) == (KID, "cancel", compensate)


def test_an_ended_child_compensates_and_reports_its_end_again():
    run = kid()
    assert run.state.status == "completed"
    unit = give(run, asks())
    assert (types(unit.events), tokens(unit)) == (["run.reopened", "rollback.started"], ["undo:0"])
    [(target, report)] = inbox(advance(run, done("undo:0")))
    assert (target, report["status"], report.get("compensable")) == (MUM, "completed", None)


def test_a_child_with_nothing_left_to_compensate_says_so_and_stays_as_it_is():
    run = kid()
    give(run, asks())
    advance(run, done("undo:0"))
    unit = give(run, asks())
    assert unit.events == []
    [(target, report)] = inbox(unit)
    assert (target, report["kind"], report["run_id"]) == (MUM, "child_finished", KID)


def test_the_child_of_another_is_left_alone():
    run = kid()
    unit = give(run, CompensateChild(RunId("stranger"), TaskToken(f"~child:{KID}"), 9))
    assert unit.events == []
    assert [target for target, _ in inbox(unit)] == ["stranger"]


def test_a_child_that_runs_again_is_cancelled_and_compensated():
    run = kid(count(1))
    assert tokens(give(run, asks())) == ["undo:0"]
    advance(run, done("undo:0"))
    assert run.state.status == "cancelled"


def test_a_child_that_failed_to_compensate_is_a_dead_letter_of_its_parent():
    run = kid()
    give(run, asks())
    [(_, report)] = inbox(advance(run, failed("undo:0", text="no")))
    assert report["compensation_failed"]
    run = parent()
    give(run, Cancel("enough", compensate=True))
    advance(run, done("undo:2"))
    unit = give(run, ChildFinished(TaskToken("move:1"), KID, "completed", compensable=True, compensation_failed=True))
    [letter] = unit.write.dead_letters
    assert (letter.label, letter.error.code) == ("compensation of child run kid", "kernel.child_not_compensated")


def test_a_child_that_only_says_that_it_has_more_to_compensate_is_waited_for():
    run = parent()
    give(run, Cancel("enough", compensate=True))
    advance(run, done("undo:2"))
    late = give(run, ChildFinished(TaskToken("move:1"), KID, "completed", compensable=True))
    assert types(late.events) == ["child.compensable"]
    assert tokens(give(run, ChildFinished(TaskToken("move:1"), KID, "completed"))) == ["undo:0"]


def test_a_child_cancelled_before_its_parent_failed_is_compensated_though_it_says_so_late():
    run = started(task("pay"))
    advance(run, failed("move:0", text="no"))
    unit = give(run, ChildFinished(TaskToken("move:9"), KID, "cancelled", compensable=True))
    assert types(unit.events) == ["child.compensable", "run.reopened", "rollback.started", "rollback.step"]
    assert [target for target, _ in inbox(unit)] == [KID]
    assert give(run, ChildFinished(TaskToken("move:9"), KID, "cancelled")).ended
    assert run.state.status == "failed"


def test_a_child_that_completed_before_its_parent_failed_is_compensated_though_it_says_so_late():
    """As one does that hears only now of a child of its own."""
    run = started(task("pay"))
    advance(run, failed("move:0", text="no"))
    unit = give(run, ChildFinished(TaskToken("move:9"), KID, "completed", compensable=True))
    assert types(unit.events) == ["child.compensable", "run.reopened", "rollback.started", "rollback.step"]
    assert [target for target, _ in inbox(unit)] == [KID]
    assert give(run, ChildFinished(TaskToken("move:9"), KID, "completed")).ended
    assert run.state.status == "failed"


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_a_parent_that_failed_and_undoes_nothing_leaves_a_late_child_alone(
    monkeypatch: pytest.MonkeyPatch, status: Literal["completed", "cancelled"]
):
    monkeypatch.setattr(ToyMachine, "compensates_failures", False)
    run = started(task("pay", undo="refund"), task("ship"))
    advance(run, done("move:0"))
    advance(run, failed("move:1", text="no"))
    unit = give(run, ChildFinished(TaskToken("move:9"), KID, status, compensable=True))
    assert types(unit.events) == ["child.compensable"]
    assert run.state.status == "failed"


def test_a_parent_that_has_completed_tells_its_own_parent_what_its_child_says_late():
    run = started(run_id=KID, parent=MUM, parent_token=TaskToken("move:1"))
    unit = give(run, ChildFinished(TaskToken("move:9"), RunId("grandchild"), "cancelled", compensable=True))
    [(target, report)] = inbox(unit)
    assert (target, report["run_id"], report["compensable"]) == (MUM, KID, True)


def test_what_a_child_says_after_its_parent_was_undone_on_request_is_undone_too():
    run = fresh(ToyMachine(info()))
    advance(run, start(task("pay", undo="refund"), child(id=KID)))
    advance(run, done("move:0", "paid"))
    advance(run, ChildFinished(TaskToken("move:1"), KID, "completed"))
    assert run.state.status == "completed"
    give(run, Resume("compensate"))
    assert advance(run, done("undo:0")).ended
    unit = give(run, ChildFinished(TaskToken("move:1"), KID, "completed", compensable=True))
    assert types(unit.events) == ["child.compensable", "run.reopened", "rollback.started", "rollback.step"]
    [(target, request)] = inbox(unit)
    assert (target, request["kind"]) == (KID, "compensate_child")
    assert give(run, ChildFinished(TaskToken("move:1"), KID, "completed")).ended
