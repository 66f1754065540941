"""Approvals, links for people without a key, and dead letters."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from plait.server.site import Settings
from tests.server.serving import Served, problem, serving, soon


async def asked(served: Served, **more: Any) -> dict[str, Any]:
    """An approval that a run has just requested."""
    id = await served.start("asking", **more)
    params = {"run": id, **({"namespace": more["namespace"]} if "namespace" in more else {})}

    async def look() -> Any:
        return (await served.get("/approvals", params=params)).json()["approvals"]

    return (await soon(look))[0]


async def test_an_approval_is_listed_shown_and_decided(db: str):
    async with serving(db) as served:
        approval = await asked(served)
        assert (approval["title"], approval["by"], approval["node"]) == ("teapot", "boss", "teapot")
        path = f"/approvals/{quote(approval['id'], safe='')}"
        assert (await served.get(path)).json() == approval

        answer = await served.post(f"{path}/decide", {"decision": "approve", "comment": "buy it"})
        assert answer.json() == {"id": approval["id"], "decision": "approve"}
        assert (await served.ended(approval["run_id"]))["output"] == "buy it"
        assert (await served.get("/approvals")).json() == {"approvals": []}
        assert (await served.post(f"{path}/decide", {"decision": "reject"})).status_code == 409


async def test_an_id_with_a_slash_is_one_part_of_the_path(db: str):
    async with serving(db) as served:
        approval = await asked(served, namespace="north")
        params = {"namespace": "north"}
        path = f"/approvals/{quote(approval['id'], safe='')}"
        assert (await served.get(path, params=params)).json()["id"] == approval["id"]
        problem(await served.get(path), 404, "kernel.no_approval")
        answer = await served.post(f"{path}/decide", {"decision": "reject"}, params=params)
        assert answer.status_code == 200


async def test_an_answer_is_approve_or_reject(db: str):
    async with serving(db) as served:
        approval = await asked(served)
        path = f"/approvals/{quote(approval['id'], safe='')}/decide"
        problem(await served.post(path, {"decision": "maybe"}), 422, "http.bad_body")
        problem(await served.post("/approvals/x/decide", {"decision": "approve"}), 404, "kernel.no_approval")


async def link_of(served: Served, path: str, body: dict[str, Any]) -> str:
    """The path of a link that was made."""
    answer = await served.post(path, body)
    assert answer.status_code == 201, answer.text
    assert answer.json()["url"].startswith(served.url)
    return urlsplit(answer.json()["url"]).path


async def test_a_link_decides_one_approval_once(db: str):
    async with serving(db) as served:
        approval = await asked(served)
        page = await link_of(served, f"/approvals/{quote(approval['id'], safe='')}/link", {"expires_in": 60})
        token = page.removeprefix("/approve/")
        assert (await served.get(f"/links/{token}")).json()["id"] == approval["id"]

        answer = await served.post(f"/links/{token}", {"decision": "approve", "by": "Eve", "comment": "yes"})
        assert answer.json() == {"id": approval["id"], "decision": "approve"}
        assert (await served.ended(approval["run_id"]))["output"] == "yes"
        problem(await served.post(f"/links/{token}", {"decision": "reject"}), 410, "auth.link_used")
        problem(await served.get(f"/links/{token}"), 410, "auth.link_used")


async def test_a_forged_link_is_no_link(db: str):
    async with serving(db) as served:
        approval = await asked(served)
        page = await link_of(served, f"/approvals/{quote(approval['id'], safe='')}/link", {})
        token = page.removeprefix("/approve/")
        for forged in (token[:-2] + "AA", token + "x", "plait1.xyz", "x", token[:20]):
            problem(await served.get(f"/links/{forged}"), 404, "auth.bad_link")
            problem(await served.post(f"/links/{forged}", {"decision": "approve"}), 404, "auth.bad_link")
            problem(await served.client.post(f"/hooks/{forged}"), 404, "auth.bad_link")


async def test_a_hook_sends_its_message_once(db: str):
    async with serving(db) as served:
        id = await served.start("order", {"customer": "Ann"})
        hook = await link_of(served, f"/runs/{id}/hooks", {"message": "go"})
        answers = await asyncio.gather(*(served.client.post(hook, json={"paid": True}) for _ in range(5)))
        assert sorted(answer.status_code for answer in answers) == [200, 410, 410, 410, 410]
        await served.ended(id)
        problem(await served.client.post(hook, json={}), 410, "auth.link_used")


async def test_a_link_has_the_address_that_people_use(db: str):
    async with serving(db, settings=Settings(public_url="https://plait.example.org")) as served:
        id = await served.start("order", {"customer": "Ann"})
        answer = await served.post(f"/runs/{id}/hooks", {"message": "go"})
        assert answer.json()["url"].startswith("https://plait.example.org/hooks/")


async def test_a_link_for_nothing_can_not_be_made(db: str):
    async with serving(db) as served:
        problem(await served.post("/runs/x/hooks", {"message": "go"}), 404, "kernel.no_run")
        problem(await served.post("/approvals/x/link", {}), 404, "kernel.no_approval")
        id = await served.start("order", {"customer": "Ann"})
        problem(await served.post(f"/runs/{id}/hooks", {"message": "go", "expires_in": 0}), 422, "http.bad_body")


async def test_a_dead_letter_is_listed_retried_and_discarded(db: str):
    async with serving(db) as served:
        id = await served.start("failing")
        await served.ended(id, "failed")
        (letter,) = (await served.get("/dlq")).json()["dead_letters"]
        assert (letter["run_id"], letter["status"], letter["attempts"]) == (id, "pending", 1)
        assert "bank says no" in letter["error"]["message"]
        assert (await served.get("/dlq", params={"run": "other"})).json() == {"dead_letters": []}

        path = f"/dlq/{quote(letter['id'], safe='')}"
        assert (await served.post(f"{path}/retry")).json() == {"id": letter["id"], "status": "retried"}
        await served.ended(id, "failed")

        async def pending() -> Any:
            return (await served.get("/dlq")).json()["dead_letters"]

        await soon(pending)  # it failed again
        assert (await served.post(f"{path}/discard")).json()["status"] == "discarded"
        problem(await served.post(f"{path}/discard"), 409, "kernel.dead_letter_settled")
        assert (await served.get("/dlq")).json() == {"dead_letters": []}
        assert len((await served.get("/dlq", params={"status": "discarded"})).json()["dead_letters"]) == 1
        assert len((await served.get("/dlq", params={"status": "all"})).json()["dead_letters"]) == 1


async def test_dead_letters_come_in_pages(db: str):
    async with serving(db) as served:
        for n in range(3):
            await served.ended(await served.start("failing", id=f"f-{n}"), "failed")
        whole = (await served.get("/dlq")).json()
        assert list(whole) == ["dead_letters"]
        first = (await served.get("/dlq", params={"limit": 2})).json()
        assert first["dead_letters"] == whole["dead_letters"][:2]
        rest = (await served.get("/dlq", params={"limit": 2, "cursor": first["next"]})).json()
        assert rest == {"dead_letters": whole["dead_letters"][2:]}


async def test_a_page_of_discarded_dead_letters_is_not_emptied_by_others(db: str):
    async with serving(db) as served:
        for n in range(3):
            await served.ended(await served.start("failing", id=f"f-{n}"), "failed")
        last = (await served.get("/dlq")).json()["dead_letters"][-1]
        await served.post(f"/dlq/{quote(last['id'], safe='')}/discard")

        async def discarded() -> Any:
            return (await served.get("/dlq", params={"status": "discarded", "limit": 1})).json()["dead_letters"]

        assert await soon(discarded) == [{**last, "status": "discarded"}]


async def test_a_dead_letter_is_shown_by_its_id(db: str):
    async with serving(db) as served:
        await served.ended(await served.start("failing"), "failed")
        (letter,) = (await served.get("/dlq")).json()["dead_letters"]
        assert (await served.get(f"/dlq/{quote(letter['id'], safe='')}")).json() == letter


@pytest.mark.parametrize(
    ("params", "status", "code"),
    [
        ({"cursor": "next"}, 422, "http.bad_cursor"),
        ({"limit": 0}, 400, "http.bad_query"),
        ({"limit": 501}, 400, "http.bad_query"),
    ],
)
async def test_no_page_begins_nowhere_or_has_no_bound(params: dict[str, Any], status: int, code: str):
    async with serving() as served:
        problem(await served.get("/dlq", params=params), status, code)


async def test_an_unknown_dead_letter_is_not_found():
    async with serving() as served:
        problem(await served.get("/dlq/x"), 404, "kernel.no_dead_letter")
        problem(await served.post("/dlq/x/retry"), 404, "kernel.no_dead_letter")
        problem(await served.get("/dlq", params={"status": "lost"}), 400, "http.bad_query")
