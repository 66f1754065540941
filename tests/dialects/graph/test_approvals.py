"""People decide: approve, reject, too late, twice, and not at all."""

from __future__ import annotations

from typing import Any

import pytest

from plait.kernel.inputs import Cancel, Decided
from tests.dialects.graph.drawing import drawn, human, task
from tests.dialects.graph.player import Player

HOUR = 3_600_000


def asking(rejection_path: list[str] | None = None, **config: Any) -> Player:
    ends = "no" if rejection_path else ""
    player = Player(drawn(f"A > boss > yes, {ends}", human("boss", rejection_path, **config)))
    player.start()
    player.finish("A", {"amount": 5})
    return player


def test_an_approval_goes_on_with_the_payload_and_the_decision() -> None:
    player = asking()
    player.decide("boss", comment="fine")
    [decided] = player.of("approval.decided")
    assert decided["decision"] == "approve"
    assert decided["decided_by"] == "ann"
    assert decided["next_nodes"] == ["yes"]
    output = decided["output"]
    assert {name: output[name] for name in ("amount", "approved", "comments")} == {
        "amount": 5,
        "approved": True,
        "comments": "fine",
    }
    assert bytes(player.open("yes").task.input.payload).startswith(b'{"amount":5')


def test_the_decision_is_bound_to_what_was_shown_by_its_hash() -> None:
    player = asking()
    player.decide("boss")
    [created], [decided] = player.of("approval.created"), player.of("approval.decided")
    assert created["evidence_hash"] == decided["evidence_hash"] != ""


def test_a_rejection_takes_its_path() -> None:
    player = asking(["no"])
    player.decide("boss", "reject")
    assert player.open("no")
    assert player.of("node.emitted")[-1]["via"] == "rejected"


def test_a_rejection_without_a_path_ends_it() -> None:
    player = asking()
    player.decide("boss", "reject")
    assert player.status == "completed"
    assert player.output["boss"]["approved"] is False


def test_a_rejection_may_fail_the_run() -> None:
    player = asking(on_reject="fail")
    player.decide("boss", "reject")
    assert player.status == "failed"
    assert player.error.code == "graph.rejected"


def test_a_time_out_counts_as_a_rejection_by_the_system() -> None:
    player = asking(["no"], timeout_hours=2)
    assert list(player.timers.values()) == [player.now + 2 * HOUR]
    player.ring()
    [decided] = player.of("approval.decided")
    assert (decided["decision"], decided["decided_by"]) == ("timeout", "system")
    assert player.open("no")


@pytest.mark.parametrize("policy", ["auto_approve", "auto_approve_after_timeout"])
def test_a_time_out_may_approve(policy: str) -> None:
    player = asking(timeout_hours=1, escalation_policy=policy)
    player.ring()
    assert player.of("approval.decided")[0]["decision"] == "approve"
    assert player.open("yes")


def test_others_are_asked_before_it_times_out() -> None:
    policy = {"escalate_to": ["cfo"], "timeout_hours": 3, "then": "auto_approve"}
    player = asking(timeout_hours=1, approvers=["boss"], escalation_policy=policy)
    player.ring()
    [escalated] = player.of("approval.escalated")
    assert escalated["to"] == ["cfo"]
    player.ring()
    assert player.of("approval.decided")[0]["decision"] == "approve"


def test_a_second_decision_is_refused_and_changes_nothing() -> None:
    player = asking()
    token = next(iter(player.approvals))
    player.decide("boss")
    before = player.types
    player.give(Decided(token, "reject", "bob"), "late")
    assert player.types == before
    assert b"graph.approval_decided" in bytes(player.replies[-1].reply)


def test_approvals_of_a_cancelled_run_are_cancelled() -> None:
    player = asking()
    player.give(Cancel("enough"), "cancel")
    assert player.of("approval.cancelled")
    assert player.status == "cancelled"


def test_several_approvals_are_open_at_once() -> None:
    player = Player(drawn("A > p q > end", human("p"), human("q")))
    player.start()
    player.finish("A")
    assert len(player.approvals) == 2
    player.decide("q")
    assert not player.of("join.fired")
    player.decide("p")
    player.finish("end")
    assert player.status == "completed"


def test_a_join_does_not_wait_for_an_approval_that_was_rejected() -> None:
    player = Player(drawn("A > p q > end", human("p"), task("q")))
    player.start()
    player.finish("A")
    player.finish("q")
    player.decide("p", "reject")
    assert player.of("join.fired")[0]["dead"] == ["p"]


def test_a_node_that_requires_approval_waits_with_its_token_counted() -> None:
    player = Player(drawn("A > pay", task("pay", capabilities={"requires_approval": True})))
    player.start()
    player.finish("A")
    assert not player.tasks
    assert player.machine.run.state.counter == 1
    assert player.machine.waiting({})[0].kind == "approval"
    player.decide("pay")
    player.finish("pay")
    assert player.status == "completed"


def test_a_node_that_is_not_approved_fails() -> None:
    player = Player(drawn("A > pay", task("pay", capabilities={"requires_approval": True})))
    player.start()
    player.finish("A")
    player.decide("pay", "reject")
    assert player.of("node.failed")[0]["error"]["code"] == "graph.rejected"


def test_an_approval_survives_a_crash() -> None:
    player = asking(["no"], timeout_hours=2)
    player.crash()
    player.decide("boss")
    assert player.open("yes")
    assert not player.timers


def test_the_waiting_text_says_who_and_until_when() -> None:
    player = asking(timeout_hours=1, approvers=["boss", "cfo"])
    [reason] = player.machine.waiting({})
    assert reason.text == "approval `boss` by boss, cfo until 1970-01-01 01:00:01 UTC"
