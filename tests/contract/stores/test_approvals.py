"""Approvals: listed while they are open, and kept with their votes when they are not."""

import pytest
from msgspec import Raw
from msgspec.structs import replace

from plait.kernel.approval import (
    Approval,
    ApprovalChange,
    ApprovalFilter,
    ApprovalStatus,
    Delegation,
    Escalation,
    Vote,
)
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.store import Store
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import NOW, approval, must, open_approvals, own_all

LATER = Millis(NOW + 60_000)


def closed(token: str = "approve", status: ApprovalStatus = "approved", by: str = "ann") -> ApprovalChange:
    vote = Vote(by, "approve", LATER, "fine", Raw(b'{"limit":5}'))
    return ApprovalChange(status, LATER, TaskToken(token), by, vote.data, (vote,))


async def listed(store: Store, status: ApprovalStatus | None, **more: object) -> list[str]:
    found = await store.approvals(ApprovalFilter(**{"namespace": "default", "status": status, **more}))  # type: ignore[arg-type]
    return [each.id for each in found]


async def test_open_approvals_are_listed_oldest_first(backend: Backend):
    rows = [
        approval("b", "ask", title="Ship it? 🚢", deadline=Millis(NOW + 9), asked_at=Millis(NOW + 1)),
        approval("a", "ask", namespace="acme", asked_at=Millis(NOW + 2)),
        approval("a", "too", asked_at=Millis(NOW + 2)),
    ]
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("a", approvals=rows[1:]), owner.write("b", approvals=rows[:1]))
        assert await open_approvals(store) == [rows[0], rows[2]]
        assert await open_approvals(store, "acme") == [rows[1]]
        assert await open_approvals(store, run_id="a") == rows[1:]
        assert await open_approvals(store, run_id="none") == []


async def test_a_decided_approval_stays_with_who_decided_what_and_when(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", approvals=[approval("run", "a"), approval("run", "b")]))
        await must(store, owner.write("other", approvals=[approval("other", "a")]))
        await must(store, owner.write("run", approvals=[closed("a"), closed("never asked")]))
        assert [row.id for row in await open_approvals(store)] == ["other:a", "run:b"]
        change = closed("a")
        assert await store.approval("run:a") == replace(
            approval("run", "a"),
            status="approved",
            decided_at=LATER,
            decided_by="ann",
            answer=change.answer,
            votes=change.votes,
        )
        assert await store.approval("none") is None
        assert (await store.census()).approvals == 2


async def test_an_approval_asked_twice_is_one(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", approvals=[approval("run"), approval("run", title="again")]))
        await must(store, owner.write("run", approvals=[approval("run", title="and again")]))
        assert await open_approvals(store) == [approval("run")]


async def test_a_request_that_comes_again_after_the_decision_is_a_new_record(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", approvals=[approval("run")]))
        await must(store, owner.write("run", approvals=[closed(), approval("run", asked_at=LATER)]))
        await must(store, owner.write("run", approvals=[closed(status="rejected"), approval("run", asked_at=LATER)]))
        found = await store.approvals(ApprovalFilter(namespace="default", run_id=RunId("run"), status=None))
        assert [(each.id, each.status) for each in found] == [
            ("run:approve", "approved"),
            ("run:approve~2", "rejected"),
            ("run:approve~3", "open"),
        ]


async def test_an_id_that_another_run_has_is_not_taken_from_it(backend: Backend):
    """`a` with the token `b:c`, and `a:b` with the token `c`; and one that is called like a second request."""
    rows = [approval("a", "b:c"), approval("a:b", "c"), approval("a", "b:c~2")]
    async with opened(backend) as store:
        owner = await own_all(store)
        for row in rows:
            await must(store, owner.write(row.run_id, approvals=[row]))
        found = await open_approvals(store)
        assert {(each.run_id, each.token) for each in found} == {(row.run_id, row.token) for row in rows}
        assert len({each.id for each in found}) == 3


async def test_two_runs_that_want_one_id_in_one_commit_both_get_an_approval(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        rows = [approval("a", "b:c"), approval("a:b", "c")]
        await must(store, *(owner.write(row.run_id, approvals=[row]) for row in rows))
        assert {each.run_id for each in await open_approvals(store)} == {"a", "a:b"}


async def test_changes_are_written_in_their_order(backend: Backend):
    """Closed and asked again; asked and closed; asked, and then all are withdrawn."""
    withdrawn = ApprovalChange("withdrawn", LATER)
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("one", approvals=[approval("one")]))
        await must(
            store,
            owner.write("one", approvals=[closed(), approval("one")]),
            owner.write("two", approvals=[approval("two"), closed()]),
            owner.write("three", approvals=[approval("three"), withdrawn, approval("three", "late")]),
        )
        assert {each.id for each in await open_approvals(store)} == {"one:approve~2", "three:late"}
        assert await listed(store, "approved") == ["two:approve", "one:approve"]
        assert await listed(store, "withdrawn") == ["three:approve"]


async def test_withdrawing_all_of_a_run_leaves_others_and_decided_ones_alone(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", approvals=[approval("run", "a"), approval("run", "b"), closed("a")]))
        await must(store, owner.write("other", approvals=[approval("other")]))
        await must(store, owner.write("run", clear_all=True, approvals=[ApprovalChange("withdrawn", LATER)]))
        assert [row.id for row in await open_approvals(store)] == ["other:approve"]
        assert await listed(store, None, run_id=RunId("run")) == ["run:a", "run:b"]
        found = await store.approval("run:b")
        assert found is not None
        assert (found.status, found.decided_at, found.decided_by) == ("withdrawn", LATER, "")


async def test_a_vote_and_an_escalation_leave_it_open(backend: Backend):
    asked = approval(
        "run", required=2, approvers=("ann", "bob"), escalations=(Escalation(Millis(5), ("cleo",)),), level=0
    )
    votes = (Vote("ann", "approve", LATER),)
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", approvals=[asked]))
        await must(store, owner.write("run", approvals=[ApprovalChange("open", LATER, asked.token, votes=votes)]))
        more = ApprovalChange("open", LATER, asked.token, approvers=("ann", "bob", "cleo"), level=1)
        await must(store, owner.write("run", approvals=[more]))
        assert await open_approvals(store) == [replace(asked, votes=votes, approvers=("ann", "bob", "cleo"), level=1)]


async def test_delegations_are_kept(backend: Backend):
    asked = approval("run", required=2, approvers=("ann", "bob"))
    made = (Delegation("ann", "dan", LATER, "on leave 🏖"),)
    votes = (Vote("bob", "approve", LATER, "", Raw(b"null"), "e3b0"),)
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", approvals=[asked]))
        change = ApprovalChange("open", LATER, asked.token, approvers=("dan", "bob"), delegations=made)
        await must(store, owner.write("run", approvals=[change]))
        await must(store, owner.write("run", approvals=[ApprovalChange("open", LATER, asked.token, votes=votes)]))
        expected = replace(asked, approvers=("dan", "bob"), delegations=made, votes=votes)
        assert await open_approvals(store) == [expected]
        assert await store.approval(asked.id) == expected


async def test_pages_follow_each_other_without_gap_or_repetition(backend: Backend):
    rows = [approval(f"run-{n:02}", asked_at=Millis(NOW + n // 3)) for n in range(10)]
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, *(owner.write(row.run_id, approvals=[row]) for row in rows))
        assert await paged(store, "open") == [row.id for row in rows]
        await must(store, *(owner.write(row.run_id, approvals=[closed()]) for row in rows))
        assert await paged(store, "open") == []
        assert await paged(store, "approved") == [row.id for row in reversed(rows)]
        assert await paged(store, None) == [row.id for row in reversed(rows)]


async def paged(store: Store, status: ApprovalStatus | None) -> list[str]:
    found: list[Approval] = []
    after: tuple[Millis, str] | None = None
    while page := await store.approvals(ApprovalFilter(namespace="default", status=status, after=after, limit=4)):
        found += page
        after = page[-1].asked_at, page[-1].id
    return [each.id for each in found]


@pytest.mark.parametrize("status", ["approved", "rejected", "expired", "withdrawn"])
async def test_they_are_listed_by_status(backend: Backend, status: ApprovalStatus):
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", approvals=[approval("run"), approval("run", "b"), closed("b", status)]))
        assert await listed(store, status) == ["run:b"]
        assert await listed(store, "open") == ["run:approve"]
        assert await listed(store, None, namespace="acme") == []


async def test_an_approval_brings_its_form_and_evidence(backend: Backend):
    asked = approval("run", form=Raw(b'{"type":"object"}'), evidence=Raw(b'{"total":"12 \xe2\x82\xac"}'))
    async with opened(backend) as store:
        owner = await own_all(store)
        await must(store, owner.write("run", approvals=[asked]))
        [found] = await open_approvals(store)
        assert (bytes(found.form), bytes(found.evidence)) == (bytes(asked.form), bytes(asked.evidence))
