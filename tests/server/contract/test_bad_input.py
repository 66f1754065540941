"""Input that is proper JSON and still no good: conflicts, replays, forgeries, too much of everything.

What `tests/server/test_bodies.py` and its neighbours have is not repeated here.
"""

from __future__ import annotations

import asyncio
import collections
from typing import Any

import httpx

from plait.kernel.limits import Limits
from tests.server.auth.support import HandClock
from tests.server.serving import API, Served, problem, serving

from .world import make_world

TEA = {"customer": "Ann"}
AT_ONCE = 20


async def at_once(served: Served, path: str, bodies: list[Any]) -> list[httpx.Response]:
    return list(await asyncio.gather(*(served.client.post(path, json=body) for body in bodies)))


def statuses(answers: list[httpx.Response]) -> dict[int, int]:
    return dict(collections.Counter(answer.status_code for answer in answers))


# -- ids ------------------------------------------------------------------------------------------------------------


async def test_of_equal_starts_at_once_one_makes_the_run_and_all_get_it(db: str):
    async with serving(db) as served:
        body = {"definition": "quick", "input": TEA, "id": "same"}
        answers = await at_once(served, f"{API}/runs", [body] * AT_ONCE)
        assert statuses(answers) == {201: 1, 200: AT_ONCE - 1}
        assert {answer.json()["id"] for answer in answers} == {"same"}
        await served.ended("same")
        assert len((await served.get("/runs")).json()["runs"]) == 1


async def test_of_different_starts_with_one_id_at_once_one_wins(db: str):
    async with serving(db) as served:
        bodies = [{"definition": "echo", "input": number, "id": "same"} for number in range(AT_ONCE)]
        answers = await at_once(served, f"{API}/runs", bodies)
        assert statuses(answers) == {201: 1, 409: AT_ONCE - 1}
        winner = next(number for number, answer in enumerate(answers) if answer.status_code == 201)
        assert (await served.ended("same"))["output"] == winner
        for answer in answers:
            if answer.status_code == 409:
                problem(answer, 409, "kernel.run_exists")


NO_IDS: list[Any] = ["", "a/b", "a\nb", "\x7f", "x" * 201, "é" * 201, 5, ["a"], {"a": 1}, True]


async def test_an_id_that_can_not_be_is_refused():
    async with serving() as served:
        for id in NO_IDS:
            found = problem(await served.post("/runs", {"definition": "echo", "id": id}), 422, "http.bad_body")
            assert found["errors"][0]["pointer"] == "/id", id


ODD_IDS = ["..", ".", "%2e%2e", "a b", "ü→✓", "a?b#c", "<b>", "'; drop table runs; --", "🫖", "x" * 200]


async def test_an_odd_id_is_an_id_like_any_other(db: str):
    async with serving(db) as served:
        for id in ODD_IDS:
            assert await served.start("quick", TEA, id=id) == id
            escaped = "".join(f"%{byte:02x}" for byte in id.encode())
            assert (await served.ended(escaped))["run"]["id"] == id
        assert {run["id"] for run in (await served.get("/runs")).json()["runs"]} == set(ODD_IDS)


# -- shapes and sizes -----------------------------------------------------------------------------------------------


BAD_STARTS: list[tuple[str, Any]] = [
    ("definition", None),
    ("definition", 5),
    ("definition", ["order"]),
    ("definition", ""),
    ("dialect", 5),
    ("dialect", "cobol"),
    ("namespace", "No Such"),
    ("namespace", "../x"),
    ("deadline_ms", -1),
    ("deadline_ms", 1.5),
    ("deadline_ms", "soon"),
    ("deadline_ms", 2**53),
    ("labels", []),
    ("labels", {"a": 1}),
    ("labels", {"": "a"}),
    ("labels", {"k" * 201: "a"}),
    ("labels", {"a": "v" * 1001}),
    ("labels", {f"label-{number}": "x" for number in range(10_000)}),
    ("surprise", 1),
]


async def test_a_field_of_the_wrong_kind_starts_nothing():
    async with serving() as served:
        for field, value in BAD_STARTS:
            answer = await served.post("/runs", {"definition": "echo", "input": 1} | {field: value})
            assert answer.status_code == 422, f"{field} {str(value)[:80]}: {answer.text}"
            assert answer.headers["content-type"] == "application/problem+json"
        assert (await served.get("/runs")).json() == {"runs": []}


BAD_WORDS: list[tuple[str, Any]] = [
    ("cancel", {"reason": 5}),
    ("cancel", {"reason": "x" * 10_001}),
    ("cancel", {"compensate": "yes"}),
    ("retry", {"from": ""}),
    ("retry", {"from": ["reserve"]}),
    ("messages", {}),
    ("messages", {"name": ""}),
    ("messages", {"name": "go", "id": "~ours"}),
    ("messages", {"name": "go", "id": 5}),
    ("fork", {"at": 0}),
    ("fork", {"at": -5}),
    ("fork", {"at": 2**60}),
    ("fork", {"at": 99_999}),
    ("fork", {"at": "no such node"}),
    ("fork", {"edits": {"no such node": 1}}),
    ("fork", {"edits": []}),
    ("fork", {"id": "a/b"}),
    ("hooks", {"message": "go", "expires_in": 0}),
    ("hooks", {"message": "go", "expires_in": 10**12}),
    ("hooks", {"message": ""}),
    ("patch", {"operations": []}),
    ("patch", {"operations": [5]}),
]


async def test_what_a_run_can_not_be_told_changes_nothing(db: str):
    async with serving(db) as served:
        id = await served.start("order", TEA)
        before = await served.waits(id, "message")
        for verb, body in BAD_WORDS:
            answer = await served.post(f"/runs/{id}/{verb}", body)
            assert answer.status_code in (404, 409, 422), f"{verb} {body}: {answer.text}"
            assert answer.json()["code"]
        assert (await served.get(f"/runs/{id}")).json() == before
        assert len((await served.get("/runs")).json()["runs"]) == 1


async def test_messages_beyond_what_a_run_takes_are_told_to_come_later(db: str):
    """Those that were taken are kept."""
    async with serving(db, limits=Limits(max_queued_messages=20)) as served:
        id = await served.start("asking")
        await served.waits(id, "approval")
        taken = 0
        while (answer := await served.post(f"/runs/{id}/messages", {"name": "noise"})).status_code == 200:
            taken += 1
            assert taken < 200
        problem(answer, 429, "kernel.queue_full")
        assert answer.headers["retry-after"]
        assert taken >= 20
        log = (await served.get(f"/runs/{id}/events")).json()["events"]
        assert sum("noise" in str(event["data"]) for event in log) == taken


# -- links ----------------------------------------------------------------------------------------------------------


async def test_a_hook_called_many_times_at_once_delivers_once(db: str):
    async with serving(db) as served:
        world = await make_world(served.site, "default")
        answers = await at_once(served, f"/hooks/{world.hook}", [{"paid": True}] * AT_ONCE)
        assert statuses(answers) == {200: 1, 410: AT_ONCE - 1}
        await served.ended(world.running)
        log = (await served.get(f"/runs/{world.running}/events")).json()["events"]
        assert sum("paid" in str(event["data"]) for event in log) == 1


async def test_a_link_answered_by_many_at_once_is_answered_once(db: str):
    async with serving(db) as served:
        world = await make_world(served.site, "default")
        bodies = [{"decision": "approve", "comment": f"number {number}"} for number in range(AT_ONCE)]
        answers = await at_once(served, f"{API}/links/{world.link}", bodies)
        found = statuses(answers)
        assert found.pop(200) == 1
        assert set(found) <= {409, 410, 404}
        winner = next(number for number, answer in enumerate(answers) if answer.status_code == 200)
        assert (await served.ended("default-asking"))["output"] == f"number {winner}"


async def test_a_link_is_good_for_what_it_was_made_for_only(db: str):
    async with serving(db) as served:
        world = await make_world(served.site, "default")
        decision = {"decision": "approve"}
        problem(await served.post(f"/links/{world.hook}", decision), 404, "auth.bad_link")
        problem(await served.client.post(f"/hooks/{world.link}", json={}), 404, "auth.bad_link")
        for token in (world.link[:-1], world.link + "A", world.link.swapcase(), "A" * 5000, "%00", world.link[::-1]):
            answer = await served.get(f"/links/{token}")
            assert answer.status_code == 404, answer.text
        assert (await served.get(f"/links/{world.link}")).json()["id"] == world.approval


async def test_links_end_with_their_time():
    clock = HandClock()
    async with serving(clock=clock) as served:
        world = await make_world(served.site, "default")
        clock.forward(86_401)
        problem(await served.get(f"/links/{world.link}"), 410, "auth.link_expired")
        problem(await served.post(f"/links/{world.link}", {"decision": "approve"}), 410, "auth.link_expired")
        problem(await served.client.post(f"/hooks/{world.hook}", json={}), 410, "auth.link_expired")


async def test_a_bad_answer_does_not_use_a_link_up(db: str):
    async with serving(db) as served:
        world = await make_world(served.site, "default")
        for body in ({}, {"decision": "perhaps"}, {"decision": "approve", "comment": "x" * 10_001}, [], "approve"):
            assert (await served.client.post(f"{API}/links/{world.link}", json=body)).status_code == 422
        malformed = await served.client.post(
            f"{API}/links/{world.link}", content=b'{"decision"', headers={"content-type": "application/json"}
        )
        problem(malformed, 400, "http.malformed_json")
        assert (await served.post(f"/links/{world.link}", {"decision": "reject"})).status_code == 200


# -- what was decided -----------------------------------------------------------------------------------------------


async def test_of_decisions_at_once_one_counts(db: str):
    async with serving(db) as served:
        world = await make_world(served.site, "default")
        id = world.approval.replace("/", "%2F")
        bodies = [{"decision": "approve", "comment": f"number {number}"} for number in range(AT_ONCE)]
        answers = await at_once(served, f"{API}/approvals/{id}/decide", bodies)
        found = statuses(answers)
        assert found.pop(200) == 1
        assert set(found) <= {409, 404}
        winner = next(number for number, answer in enumerate(answers) if answer.status_code == 200)
        assert (await served.ended("default-asking"))["output"] == f"number {winner}"


async def test_of_settlings_of_a_dead_letter_at_once_one_counts(db: str):
    async with serving(db) as served:
        world = await make_world(served.site, "default")
        id = world.letter.replace("/", "%2F")
        answers = await at_once(served, f"{API}/dlq/{id}/discard", [{}] * AT_ONCE)
        assert statuses(answers)[200] >= 1
        assert set(statuses(answers)) <= {200, 404, 409}
        letters = (await served.get("/dlq", params={"status": "all"})).json()["dead_letters"]
        assert [letter["status"] for letter in letters] == ["discarded"]
