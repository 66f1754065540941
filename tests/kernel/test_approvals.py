"""Approvals that several must give: votes, escalations and ends, decided without a loop or a database."""

from typing import Any

import pytest

from plait.kernel import values
from plait.kernel.approval import ApprovalChange, Escalation, Vote
from plait.kernel.approvals import ESCALATE
from plait.kernel.effects import Decision, Finish, RequestApproval, WithdrawApproval
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.inputs import Cancel, Decided, Delegate, Loaded, TimerFired
from plait.kernel.run import Run
from plait.kernel.unit_of_work import UnitOfWork
from tests.kernel.builders import NOW, fresh, give, start, started, types
from tests.kernel.toy import Move, ToyMachine, ask, task

TOKEN = TaskToken("move:0")
LATER = Millis(NOW + 60_000)
CLEO = Escalation(Millis(1_000), ("cleo",))
BOSS = Escalation(Millis(5_000), ("boss",))


def two(*escalations: Escalation, approvers: tuple[str, ...] = ("ada", "bob")) -> Move:
    return ask("board", 2, approvers, escalations)


def vote(by: str, decision: str = "approve", data: Any = None) -> Decided:
    return Decided(TOKEN, decision, by, data=values.encode(data))


def change(draft: UnitOfWork, index: int = 0) -> ApprovalChange:
    found = (draft.write.approvals or [])[index]
    assert isinstance(found, ApprovalChange)
    return found


def refusal(draft: UnitOfWork) -> tuple[int, str]:
    [taken] = draft.write.taken or []
    assert taken.reply is not None
    found = values.decode(taken.reply)
    return found["status"], found["error"]["code"]


def escalated(run: Run, now: int = LATER) -> UnitOfWork:
    return give(run, TimerFired(TaskToken(ESCALATE + TOKEN)), now=now)


# -- one vote --------------------------------------------------------------------------------------------------------


def test_an_approval_that_anyone_may_decide_records_nothing_of_its_own():
    run = fresh()
    draft = give(run, start(ask("boss"), task("a")))
    assert "approval.requested" not in types(draft.events)
    draft = give(run, vote("ann"), now=LATER)
    assert [kind for kind in types(draft.events) if kind.startswith("approval")] == []
    decided = change(draft)
    assert (decided.status, decided.at, decided.by) == ("approved", LATER, "ann")
    assert decided.votes == (Vote("ann", "approve", LATER),)


def test_a_decision_that_nobody_waits_for_changes_no_record():
    run = started(task("a"))
    draft = give(run, Decided(TaskToken("move:9"), "approve", "ann"), key="k")
    assert refusal(draft) == (409, "toy.decided")
    assert not draft.write.approvals


# -- several votes ---------------------------------------------------------------------------------------------------


def test_the_machine_is_told_when_as_many_approved_as_are_required():
    run = started(two(), task("a"))
    draft = give(run, vote("ada"), key="1")
    assert types(draft.events) == ["approval.voted"]
    assert (change(draft).status, len(change(draft).votes or ())) == ("open", 1)
    draft = give(run, vote("bob", data={"limit": 5}), now=LATER, key="2")
    assert types(draft.events) == ["approval.voted", "approval.closed", "move.ended"]
    decided = change(draft)
    assert (decided.status, decided.by, decided.at) == ("approved", "ada, bob", LATER)
    assert bytes(decided.answer) == b'{"limit":5}'
    assert [each.by for each in decided.votes or ()] == ["ada", "bob"]
    assert run.state.approvals == {}


def test_the_first_rejection_decides():
    run = started(two(), task("a"))
    give(run, vote("ada"))
    draft = give(run, vote("bob", "reject"))
    assert (change(draft).status, change(draft).by) == ("rejected", "bob")
    assert types(draft.events)[:2] == ["approval.voted", "approval.closed"]


def test_the_same_vote_twice_is_one():
    run = started(two(), task("a"))
    give(run, vote("ada"))
    draft = give(run, vote("ada"), key="again")
    assert (draft.events, draft.write.approvals) == ([], ())
    assert (draft.write.taken or [])[0].reply is None


def test_a_vote_can_not_be_changed():
    run = started(two(), task("a"))
    give(run, vote("ada"))
    draft = give(run, vote("ada", "reject"), key="k")
    assert refusal(draft) == (409, "kernel.already_voted")
    assert draft.events == []


def test_someone_who_is_not_an_approver_may_not_vote():
    run = started(two(), task("a"))
    assert refusal(give(run, vote("mallory"), key="k")) == (403, "kernel.not_an_approver")


def test_where_anyone_may_vote_nobody_votes_without_a_name():
    run = started(two(approvers=()), task("a"))
    assert refusal(give(run, vote(""), key="k")) == (422, "kernel.anonymous_vote")
    give(run, vote("x"))
    assert change(give(run, vote("y"))).status == "approved"


def test_all_votes_of_one_round_count_in_their_order():
    run = started(two(), task("a"))
    draft = give(run, vote("ada"), vote("bob"), vote("bob", "reject"), key="k")
    assert change(draft, 1).status == "approved"
    assert refusal_of_last(draft) == "toy.decided"


def refusal_of_last(draft: UnitOfWork) -> str:
    reply = (draft.write.taken or [])[-1].reply
    assert reply is not None
    return values.decode(reply)["error"]["code"]


# -- escalation ------------------------------------------------------------------------------------------------------


def test_an_escalation_adds_people_and_leaves_it_open():
    run = fresh()
    draft = give(run, start(two(CLEO, BOSS), task("a")))
    assert [(timer.token, timer.due) for timer in draft.write.timers] == [(ESCALATE + TOKEN, NOW + 1_000)]
    draft = escalated(run)
    assert types(draft.events) == ["approval.escalated"]
    assert (change(draft).status, change(draft).approvers, change(draft).level) == ("open", ("ada", "bob", "cleo"), 1)
    assert [timer.due for timer in draft.write.timers] == [LATER + 5_000]
    draft = escalated(run, LATER + 5_000)
    assert change(draft).approvers == ("ada", "bob", "cleo", "boss")
    assert not draft.write.timers
    give(run, vote("cleo"))
    assert change(give(run, vote("boss"))).status == "approved"


def test_an_escalation_that_comes_after_the_decision_changes_nothing():
    run = started(two(CLEO), task("a"))
    give(run, vote("ada"))
    draft = give(run, vote("bob"))
    assert ESCALATE + TOKEN in draft.write.cleared
    draft = escalated(run)
    assert (draft.events, draft.write.approvals) == ([], ())


def test_where_anyone_may_decide_an_escalation_keeps_nobody_out():
    run = started(ask("board", 1, (), (CLEO,)), task("a"))
    assert change(escalated(run)).approvers == ()
    assert change(give(run, vote("someone"))).status == "approved"


def test_a_timer_that_fires_twice_escalates_once_a_level():
    run = started(two(CLEO), task("a"))
    escalated(run)
    assert escalated(run).events == []


# -- ends ------------------------------------------------------------------------------------------------------------


def test_a_run_that_is_cancelled_withdraws_what_is_open():
    run = started(two(CLEO), task("a"))
    give(run, vote("ada"))
    draft = give(run, Cancel("enough"))
    assert (draft.write.approvals or [])[-1] == ApprovalChange("withdrawn", draft.at)
    assert draft.write.clear_all
    assert run.state.approvals == {}


def test_a_decision_that_ends_its_run_is_not_withdrawn_by_the_end():
    run = started(ask("boss"))
    draft = give(run, vote("ann"), Loaded("wake"))
    assert run.state.status == "completed"
    assert [each.status for each in draft.write.approvals] == ["approved", "withdrawn"]


def test_what_is_requested_and_withdrawn_in_one_decision_is_not_open():
    class Hasty(ToyMachine):
        def decide(self, input: Any, now: Millis) -> Decision:
            return Decision(effects=[RequestApproval(TOKEN, "May I?", required=2), WithdrawApproval(TOKEN)])

    run = fresh(Hasty(fresh().info))
    draft = give(run, start())
    assert [each.status for each in draft.write.approvals] == ["open", "withdrawn"]
    assert run.state.approvals == {}
    assert types(draft.events) == ["run.started", "approval.requested", "approval.closed"]


@pytest.mark.parametrize("required", [1, 2])
def test_a_run_that_has_ended_asks_nobody(required: int):
    class Talkative(ToyMachine):
        def decide(self, input: Any, now: Millis) -> Decision:
            return Decision(effects=[Finish("completed"), RequestApproval(TOKEN, "May I?", required=required)])

    run = fresh(Talkative(fresh().info))
    draft = give(run, start())
    assert run.state.status == "completed"
    assert not draft.write.approvals


def test_one_that_expired_says_so():
    class Late(ToyMachine):
        def decide(self, input: Any, now: Millis) -> Decision:
            if isinstance(input, TimerFired):
                return Decision(effects=[WithdrawApproval(TOKEN, "expired")])
            return Decision(effects=[RequestApproval(TOKEN, "May I?", approvers=("ada",))])

    run = fresh(Late(fresh().info))
    give(run, start())
    draft = give(run, TimerFired(TOKEN), now=LATER)
    assert change(draft) == ApprovalChange("expired", LATER, TOKEN)
    assert types(draft.events) == ["approval.closed"]


# -- delegation ------------------------------------------------------------------------------------------------------


def delegate(by: str, to: str) -> Delegate:
    return Delegate(TOKEN, by, to, "on leave")


def test_a_vote_that_is_handed_on_is_the_delegates():
    run = started(two(), task("a"))
    draft = give(run, delegate("ada", "dan"), now=LATER)
    assert types(draft.events) == ["approval.delegated"]
    assert change(draft).approvers == ("dan", "bob")
    [made] = change(draft).delegations or [None]
    assert made is not None
    assert (made.by, made.to, made.at, made.comment) == ("ada", "dan", LATER, "on leave")
    assert refusal(give(run, vote("ada"), key="1")) == (403, "kernel.not_an_approver")
    give(run, vote("dan"))
    assert types(give(run, vote("bob")).events)[-1] == "move.ended"


def test_a_delegate_may_hand_it_back():
    run = started(two(), task("a"))
    give(run, delegate("ada", "dan"))
    give(run, delegate("dan", "ada"))
    assert run.state.approvals[TOKEN].approvers == ("ada", "bob")
    assert types(give(run, vote("ada")).events) == ["approval.voted"]


def test_the_same_delegation_twice_is_one():
    run = started(two(), task("a"))
    give(run, delegate("ada", "dan"))
    assert give(run, delegate("ada", "dan")).events == []


def test_an_escalation_gives_no_second_vote_to_who_handed_one_on():
    run = started(two(CLEO, approvers=("ada", "cleo")), task("a"))
    give(run, delegate("cleo", "dan"))
    escalated(run)
    assert run.state.approvals[TOKEN].approvers == ("ada", "dan")


@pytest.mark.parametrize(
    ("by", "to", "code"),
    [
        pytest.param("eve", "dan", (403, "kernel.not_an_approver"), id="who has no vote"),
        pytest.param("ada", "bob", (409, "kernel.has_a_vote"), id="to who has one"),
        pytest.param("bob", "dan", (409, "kernel.already_voted"), id="who has voted"),
    ],
)
def test_a_vote_that_one_has_not_can_not_be_handed_on(by: str, to: str, code: tuple[int, str]):
    run = started(two(), task("a"))
    give(run, vote("bob"))
    draft = give(run, delegate(by, to), key="1")
    assert (refusal(draft), draft.events) == (code, [])


def test_where_anyone_may_decide_there_is_nothing_to_hand_on():
    run = started(ask("boss"), task("a"))
    assert refusal(give(run, delegate("ada", "dan"), key="1")) == (409, "kernel.nothing_to_delegate")


def test_a_vote_keeps_the_hash_of_the_evidence():
    run = started(two(), task("a"))
    draft = give(run, Decided(TOKEN, "approve", "ada", evidence_hash="e3b0"))
    assert [each.evidence_hash for each in change(draft).votes or ()] == ["e3b0"]


# -- the second time -------------------------------------------------------------------------------------------------


def test_what_is_under_way_is_not_requested_again_when_the_run_is_loaded():
    run = started(two(CLEO), task("a"))
    give(run, vote("ada"))
    draft = give(run, Loaded("recover"))
    assert (draft.events, draft.write.approvals, draft.write.timers) == ([], (), ())
    assert len(run.state.approvals[TOKEN].votes) == 1


@pytest.mark.parametrize("snapshot", [False, True])
def test_votes_and_escalations_are_read_back_from_the_log(snapshot: bool):
    run = fresh()
    events = [*give(run, start(two(CLEO, BOSS), task("a"))).events]
    events += give(run, vote("ada")).events
    events += escalated(run).events
    events += give(run, delegate("bob", "dan")).events
    copy = fresh()
    if snapshot:
        copy.state.restore(run.state.dump(), run.state.seq, run.state.at)
    else:
        for event in events:
            copy.fold(event, NOW)
    known = copy.state.approvals[TOKEN]
    assert (known.required, known.level, known.approvers) == (2, 1, ("ada", "dan", "cleo"))
    assert [(each.by, each.to) for each in known.delegations] == [("bob", "dan")]
    assert [each.by for each in known.votes] == ["ada"]
