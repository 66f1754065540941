"""What people read first of a failure, folded from the error as it is stored."""

from plait.kernel.cause import cause_of
from plait.kernel.errors import ErrorInfo

DECLINED = ErrorInfo("task.failed", "the card was declined", ops=["pay"], label="Take the payment")


def child(run_id: str, cause: ErrorInfo, at: str) -> ErrorInfo:
    return ErrorInfo("child.failed", "wrapped", kind="child", attrs={"run_id": run_id}, cause=cause, ops=[at], label=at)


def test_the_operation_that_failed_is_named_before_the_reason():
    found = cause_of(DECLINED)
    assert found.text == "Take the payment failed: the card was declined"
    assert (found.node, found.run) == ("pay", None)


def test_attempts_that_were_used_up_are_counted_and_their_wrapping_is_left_out():
    error = ErrorInfo(
        "step.exhausted",
        "step `pay` failed after 3 attempts: no answer",
        kind="exhausted",
        attrs={"step": "pay", "attempts": 3},
        cause=ErrorInfo("task.failed", "no answer"),
        ops=["pay"],
        label="pay",
    )
    assert cause_of(error).text == "pay failed after 3 attempts: no answer"


def test_nested_children_are_folded_to_the_innermost():
    found = cause_of(child("middle", child("inner", DECLINED, "settle"), "buy"))
    assert found.text == "Take the payment failed: the card was declined"
    assert (found.node, found.run, found.run_node) == ("buy", "inner", "pay")


def test_of_branches_the_first_that_failed_by_itself_is_told():
    cancelled = ErrorInfo("kernel.cancelled", "cancelled", kind="cancelled")
    error = ErrorInfo("join.failed", "join `all`", kind="join", parts={"a": cancelled, "b": DECLINED}, ops=["all"])
    found = cause_of(error)
    assert (found.text, found.node) == ("Take the payment failed: the card was declined", "pay")


def test_an_exception_that_a_step_caused_gives_way_to_that_step():
    assert cause_of(ErrorInfo("task.failed", "no order", cause=DECLINED)).node == "pay"


def test_the_cause_of_a_steps_own_exception_stays_inside():
    error = ErrorInfo("task.failed", "bad order", ops=["read"], label="read", cause=ErrorInfo("task.failed", "'id'"))
    assert cause_of(error).text == "read failed: bad order"


def test_a_run_that_failed_by_itself_is_told_by_its_message():
    found = cause_of(ErrorInfo("task.failed", "the order is empty"))
    assert (found.text, found.label, found.node) == ("the order is empty", "", None)


def test_an_error_of_an_older_release_names_the_operation_by_its_path():
    assert cause_of(ErrorInfo("task.failed", "no van", ops=["items/~1/ship"])).label == "items/~1/ship"
