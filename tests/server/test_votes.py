"""Approvals that several people must give, on a server with keys: who may vote, what is kept, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from plait.api.caller import Role
from plait.server.auth import AuthOptions
from plait.server.site import Settings
from tests.server.serving import Served, problem, serving, soon


@asynccontextmanager
async def guarded(db: str = "memory:") -> AsyncGenerator[Served]:
    async with serving(db, settings=Settings(open=False), options=AuthOptions(wrong_keys=100_000)) as served:
        yield served


class Desk:
    """People with keys of their own."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self._keys: dict[str, str] = {}

    async def key(self, name: str, role: Role = "approver", namespace: str = "*") -> None:
        self._keys[name] = (await self.served.site.auth.keys.create(name, role, namespace))[1]

    async def get(self, name: str, path: str, **params: Any) -> httpx.Response:
        return await self.served.get(path, headers=self._headers(name), params=params)

    async def post(self, name: str, path: str, body: Any = None, **params: Any) -> httpx.Response:
        return await self.served.post(path, body or {}, headers=self._headers(name), params=params)

    async def asked(self, id: str, definition: str = "board", *, input: Any = None, **more: Any) -> str:
        """The path of the approval that a new run requests."""
        await self.post("root", "/runs", {"definition": definition, "id": id, "input": input, **more})
        params = {"run": id, **more}

        async def look() -> Any:
            return (await self.get("root", "/approvals", **params)).json()["approvals"]

        [approval] = await soon(look)
        return f"/approvals/{quote(approval['id'], safe='')}"

    def _headers(self, name: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self._keys[name]}"}


@asynccontextmanager
async def opened(db: str) -> AsyncGenerator[Desk]:
    async with guarded(db) as served:
        found = Desk(served)
        await found.key("root", "admin")
        for name in ("ada", "bob", "mallory"):
            await found.key(name)
        yield found


async def test_two_keys_approve_together(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        first = await desk.post("ada", f"{path}/decide", {"decision": "approve", "comment": "fine"})
        assert first.json() == {"id": "b-1:budget", "decision": "approve", "remaining": 1}
        shown = (await desk.get("ada", path)).json()
        assert (shown["status"], shown["required"], shown["approvers"]) == ("open", 2, ["ada", "bob"])
        assert [(vote["by"], vote["decision"], vote["comment"]) for vote in shown["votes"]] == [
            ("ada", "approve", "fine")
        ]

        last = await desk.post("bob", f"{path}/decide", {"decision": "approve", "data": {"limit": 5}})
        assert last.json() == {"id": "b-1:budget", "decision": "approve"}
        shown = (await desk.get("ada", path)).json()
        assert (shown["status"], shown["decided_by"], shown["answer"]) == ("approved", "ada, bob", {"limit": 5})
        assert shown["decided_at"] >= shown["asked_at"]


async def test_a_second_vote_of_one_key_changes_nothing(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        for _ in range(2):
            answer = await desk.post("ada", f"{path}/decide", {"decision": "approve"})
            assert answer.json()["remaining"] == 1
        problem(await desk.post("ada", f"{path}/decide", {"decision": "reject"}), 409, "kernel.already_voted")
        assert len((await desk.get("ada", path)).json()["votes"]) == 1


async def test_who_is_not_an_approver_is_refused(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        refused = problem(
            await desk.post("mallory", f"{path}/decide", {"decision": "approve"}), 403, "kernel.not_an_approver"
        )
        assert "ada, bob" in refused["detail"]
        assert "votes" not in (await desk.get("ada", path)).json()


async def test_nobody_votes_in_the_name_of_another(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        body = {"decision": "approve", "by": "ada"}
        problem(await desk.post("mallory", f"{path}/decide", body), 403, "auth.votes_by_key")
        assert (await desk.post("ada", f"{path}/decide", body)).status_code == 200


async def test_a_vote_is_handed_on_and_the_audit_log_says_so(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        given = await desk.post("ada", f"{path}/delegate", {"to": "mallory", "comment": "on leave"})
        assert given.json()["approvers"] == ["mallory", "bob"]
        [made] = (await desk.get("bob", path)).json()["delegations"]
        assert (made["by"], made["to"], made["comment"]) == ("ada", "mallory", "on leave")
        late = problem(await desk.post("ada", f"{path}/decide", {"decision": "approve"}), 403, "kernel.not_an_approver")
        assert "handed to mallory" in late["detail"]
        assert (await desk.post("mallory", f"{path}/decide", {"decision": "approve"})).status_code == 200
        await desk.post("bob", f"{path}/decide", {"decision": "approve"})
        assert (await desk.get("ada", path)).json()["decided_by"] == "mallory, bob"
        log = (await desk.get("root", "/audit")).json()["entries"]
        assert ("ada", "approvals.delegate") in [(each["who"], each["action"]) for each in log]


async def test_only_an_administrator_hands_on_the_vote_of_another(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        body = {"by": "ada", "to": "mallory"}
        problem(await desk.post("mallory", f"{path}/delegate", body), 403, "auth.votes_by_key")
        problem(await desk.post("mallory", f"{path}/delegate", {"to": "eve"}), 403, "kernel.not_an_approver")
        assert (await desk.post("root", f"{path}/delegate", body)).json()["approvers"] == ["mallory", "bob"]
        assert (await desk.post("ada", f"{path}/delegate", {"to": ""})).status_code in (400, 422)
        problem(await desk.post("bob", f"{path}/delegate", {"to": "mallory"}), 409, "kernel.has_a_vote")


async def test_a_decision_about_other_evidence_is_refused(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-2", "shown", input={"sum": 5})
        shown = (await desk.get("ada", path)).json()
        assert len(shown["evidence_hash"]) == 64
        vote = {"decision": "approve", "evidence_hash": "0" * 64}
        problem(await desk.post("ada", f"{path}/decide", vote), 409, "kernel.other_evidence")
        await desk.post("ada", f"{path}/decide", {"decision": "approve", "evidence_hash": shown["evidence_hash"]})
        decided = (await desk.get("ada", path)).json()
        assert [vote["evidence_hash"] for vote in decided["votes"]] == [shown["evidence_hash"]]


async def test_a_decision_on_a_decided_one_says_who_decided(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        await desk.post("bob", f"{path}/decide", {"decision": "reject"})
        late = problem(
            await desk.post("ada", f"{path}/decide", {"decision": "approve"}), 409, "kernel.approval_decided"
        )
        assert "was rejected by bob at 20" in late["detail"]
        problem(await desk.post("root", f"{path}/link", {"by": "ada"}), 409, "kernel.approval_decided")


async def test_a_cancelled_run_withdraws_its_approval(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        await desk.post("root", "/runs/b-1/cancel")
        late = problem(
            await desk.post("ada", f"{path}/decide", {"decision": "approve"}), 409, "kernel.approval_decided"
        )
        assert "was withdrawn" in late["detail"]
        assert (await desk.get("ada", path)).json()["status"] == "withdrawn"


async def test_another_namespace_sees_and_decides_nothing(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1", namespace="north")
        await desk.key("south", "admin", "south")
        for answer in (
            await desk.get("south", path),
            await desk.post("south", f"{path}/decide", {"decision": "approve"}),
            await desk.post("south", f"{path}/link", {"by": "ada"}),
            await desk.get("ada", path),
        ):
            problem(answer, 404, "kernel.no_approval")
        assert (await desk.get("south", "/approvals", status="all")).json() == {"approvals": []}
        assert (await desk.get("ada", path, namespace="north")).status_code == 200


# -- lists -----------------------------------------------------------------------------------------------------------


async def test_they_are_listed_by_status_and_in_pages(db: str):
    async with opened(db) as desk:
        for number in range(5):
            path = await desk.asked(f"b-{number}")
            if number < 4:
                await desk.post("ada", f"{path}/decide", {"decision": "reject"})

        async def ids(**params: Any) -> list[str]:
            found = (await desk.get("ada", "/approvals", **params)).json()
            return [each["run_id"] for each in found["approvals"]]

        assert await ids() == ["b-4"]
        assert await ids(status="rejected") == ["b-3", "b-2", "b-1", "b-0"]
        assert await ids(status="approved") == []
        assert await ids(status="all") == ["b-4", "b-3", "b-2", "b-1", "b-0"]
        assert await ids(run="b-2") == []
        assert await ids(run="b-2", status="all") == ["b-2"]
        page = (await desk.get("ada", "/approvals", status="all", limit=3)).json()
        rest = (await desk.get("ada", "/approvals", status="all", limit=3, cursor=page["next"])).json()
        assert [each["run_id"] for each in rest["approvals"]] == ["b-1", "b-0"]
        assert "next" not in rest


async def test_a_list_that_can_not_be_is_refused(db: str):
    async with opened(db) as desk:
        problem(await desk.get("ada", "/approvals", status="perhaps"), 400, "http.bad_query")
        problem(await desk.get("ada", "/approvals", limit=0), 400, "http.bad_query")
        problem(await desk.get("ada", "/approvals", cursor="x"), 422, "http.bad_cursor")


# -- links -----------------------------------------------------------------------------------------------------------


async def link(desk: Desk, path: str, by: str) -> str:
    answer = await desk.post("root", f"{path}/link", {"by": by})
    assert answer.status_code == 201, answer.text
    return urlsplit(answer.json()["url"]).path.removeprefix("/approve/")


async def test_a_link_is_the_vote_of_the_person_it_was_made_for(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        token = await link(desk, path, "bob")
        assert (await desk.served.get(f"/links/{token}")).json()["voter"] == "bob"
        answer = await desk.served.post(f"/links/{token}", {"decision": "approve", "by": "ada"})
        assert answer.json() == {"id": "b-1:budget", "decision": "approve", "remaining": 1}
        assert [vote["by"] for vote in (await desk.get("ada", path)).json()["votes"]] == ["bob"]
        problem(await desk.served.post(f"/links/{token}", {"decision": "approve"}), 410, "auth.link_used")
        await desk.post("ada", f"{path}/decide", {"decision": "approve"})
        assert (await desk.get("ada", path)).json()["status"] == "approved"


async def test_links_used_at_once_count_each_once(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        tokens = [await link(desk, path, name) for name in ("ada", "bob")]
        uses = [desk.served.post(f"/links/{token}", {"decision": "approve"}) for token in tokens * 3]
        answers = await asyncio.gather(*uses)
        assert sorted({answer.status_code for answer in answers} - {200}) in ([], [409], [410], [409, 410])
        shown = (await desk.get("ada", path)).json()
        assert (shown["status"], sorted(vote["by"] for vote in shown["votes"])) == ("approved", ["ada", "bob"])


async def test_a_link_to_one_that_was_decided_meanwhile_shows_by_whom(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        token = await link(desk, path, "bob")
        await desk.post("ada", f"{path}/decide", {"decision": "reject"})
        shown = (await desk.served.get(f"/links/{token}")).json()
        assert (shown["status"], shown["decided_by"]) == ("rejected", "ada")
        problem(await desk.served.post(f"/links/{token}", {"decision": "approve"}), 409, "kernel.approval_decided")


async def test_whose_vote_a_link_is_must_be_said_and_allowed(db: str):
    async with opened(db) as desk:
        path = await desk.asked("b-1")
        problem(await desk.post("root", f"{path}/link", {}), 422, "links.whose_vote")
        problem(await desk.post("root", f"{path}/link", {"by": "mallory"}), 403, "kernel.not_an_approver")
        problem(await desk.post("bob", f"{path}/link", {"by": "ada"}), 403, "links.not_your_vote")
        assert (await desk.post("bob", f"{path}/link", {"by": "bob"})).status_code == 201


# -- a server without keys -------------------------------------------------------------------------------------------


async def test_on_an_open_server_people_say_who_they_are(db: str):
    async with serving(db) as served:
        id = await served.start("board", id="b-1")
        await served.waits(id, "approval")
        path = "/approvals/b-1%3Abudget/decide"
        problem(await served.post(path, {"decision": "approve"}), 403, "kernel.not_an_approver")
        for name in ("ada", "bob"):
            assert (await served.post(path, {"decision": "approve", "by": name})).status_code == 200
        assert (await served.ended(id))["output"] == "ada, bob"
