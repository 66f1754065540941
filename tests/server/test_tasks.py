"""The worker's protocol over HTTP: what it is answered, above all to what is wrong."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from plait import Context, step, workflow
from plait.api.task import QueueTask, TaskLine
from plait.client import Client
from plait.kernel import values
from plait.kernel.ids import RunId
from plait.server.site import Settings
from tests.engine.test_claims_given_back import Held
from tests.server.serving import Served, problem, serving, soon

KEYS = Settings(open=False)
TOMORROW = {"for": "time", "due": 4_000_000_000_000}


@step(queue="gpu", max_attempts=2)
async def render(page: int) -> str:
    raise AssertionError("the server must not do this")


@workflow
async def book(ctx: Context, page: int) -> str:
    return await ctx.step("render", render, page)


@asynccontextmanager
async def printing(settings: Settings | None = None) -> AsyncGenerator[Served]:
    async with serving("memory:", settings=settings or Settings()) as served:
        served.engine.code.registry.add(book)
        yield served


@pytest.fixture(params=["memory", "postgres"])
def database(request: pytest.FixtureRequest) -> str:
    """Each has texts and numbers of its own that it can't take."""
    return "memory:" if request.param == "memory" else request.getfixturevalue("ready_postgres_url")


async def claim(served: Served, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    body = {"worker": "w1", "queues": ["gpu"], "limit": 10, **more}
    return await served.post("/tasks/claim", body, headers=headers or {})


async def one(served: Served, **more: Any) -> dict[str, Any]:
    answer = await claim(served, **more)
    assert answer.status_code == 200, answer.text
    [task] = answer.json()["tasks"]
    return task


async def key(served: Served, role: str = "worker", queues: list[str] | None = None) -> dict[str, str]:
    _, text = await served.site.auth.keys.create("w", role, queues=queues)
    return {"Authorization": f"Bearer {text}"}


async def test_a_task_is_claimed_renewed_and_completed():
    async with printing() as served:
        id = await served.start("book", 7)
        task = await one(served)
        assert task["input"] == {"handler": "render", "arguments": [7]}
        beat = await served.post("/tasks/heartbeat", {"id": task["id"], "progress": {"line": 3}})
        assert beat.json() == {"id": task["id"], "cancelled": False}
        done = await served.post("/tasks/complete", {"id": task["id"], "output": "page 7"})
        assert done.json() == {"id": task["id"], "status": "completed"}
        assert (await served.ended(id))["output"] == "page 7"


async def test_a_failure_is_tried_again_and_a_final_one_is_not():
    async with printing() as served:
        id = await served.start("book", 7)
        task = await one(served)
        await served.post("/tasks/fail", {"id": task["id"], "error": {"message": "no paper", "type": "app:Jam"}})
        again = await one(served, wait_ms=10_000)
        assert again["attempt"] == 2
        body = {"id": again["id"], "error": {"message": "no ink"}, "retryable": False}
        assert (await served.post("/tasks/fail", body)).json()["status"] == "failed"
        assert (await served.ended(id, "failed"))["run"]["error"]["message"] == "no ink"


async def test_a_released_task_goes_to_the_next():
    async with printing() as served:
        await served.start("book", 7)
        task = await one(served)
        assert (await served.post("/tasks/release", {"id": task["id"]})).json()["status"] == "released"
        again = await one(served, worker="w2")
        assert again["attempt"] == 1
        problem(await served.post("/tasks/release", {"id": task["id"]}), 409, "task.lease_lost")
        problem(await served.post("/tasks/heartbeat", {"id": task["id"]}), 409, "task.lease_lost")
        problem(await served.post("/tasks/complete", {"id": task["id"]}), 409, "task.lease_lost")


async def test_several_results_are_answered_one_by_one():
    async with printing() as served:
        await served.start("book", 1)
        await served.start("book", 2)
        tasks = (await claim(served)).json()["tasks"]
        results = [
            {"id": tasks[0]["id"], "output": "page 1"},
            {"id": tasks[1]["id"], "error": {"message": "no paper"}},
            {"id": "nonsense", "output": 1},
        ]
        answer = (await served.post("/tasks/report", {"results": results})).json()["results"]
        assert [each["status"] for each in answer] == ["completed", "failed", "refused"]
        assert (answer[2]["http_status"], answer[2]["code"]) == (404, "task.unknown")


async def test_a_cancelled_task_is_told_by_the_heartbeat_and_its_result_is_late():
    async with printing() as served:
        id = await served.start("book", 7)
        task = await one(served)
        await served.post(f"/runs/{id}/cancel", {})
        assert (await served.post("/tasks/heartbeat", {"id": task["id"]})).json()["cancelled"]
        problem(await served.post("/tasks/complete", {"id": task["id"], "output": "x"}), 409, "task.settled")

        async def late() -> bool:
            events = (await served.get(f"/runs/{id}/events")).json()["events"]
            return any(event["type"] == "task.late" for event in events)

        assert await soon(late)


async def test_a_claim_waits_for_a_task_and_no_longer_than_it_should():
    async with printing() as served:
        waiting = asyncio.ensure_future(claim(served, wait_ms=30_000))
        await asyncio.sleep(0)
        await served.start("book", 7)
        assert len((await waiting).json()["tasks"]) == 1
        assert (await claim(served, wait_ms=1)).json()["tasks"] == []


async def test_a_worker_that_hangs_up_while_it_waits_gets_nothing():
    async with printing() as served:
        async with httpx.AsyncClient(base_url=served.url) as other:
            body = {"worker": "gone", "queues": ["gpu"], "wait_ms": 30_000}
            with pytest.raises(httpx.ReadTimeout):
                await other.post("/api/v1/tasks/claim", json=body, timeout=0.2)

        async def nobody_waits() -> bool:
            return served.site.in_flight == 0

        assert await soon(nobody_waits)
        await served.start("book", 7)
        assert (await one(served))["attempt"] == 1


async def test_a_server_that_stops_lets_waiting_workers_go():
    async with printing() as served:
        waiting = asyncio.ensure_future(claim(served, wait_ms=30_000))

        async def waits() -> bool:
            return served.site.in_flight == 1

        assert await soon(waits)
        served.site.stopping.set()
        assert (await waiting).json()["tasks"] == []


@pytest.mark.parametrize("why", ["hangs up", "key revoked", "server stops"])
async def test_a_worker_that_is_gone_just_when_it_gets_a_task_leaves_it_to_others_at_once(
    monkeypatch: pytest.MonkeyPatch, why: str
):
    async with printing(KEYS) as served:
        queues = served.engine.queues
        held, ask = Held(served.engine.kernel.store.queues.claim), queues.claim

        async def until_given_up(*args: Any, **options: Any) -> list[QueueTask]:
            asking = asyncio.ensure_future(ask(*args, **options))
            try:
                return await asyncio.shield(asking)
            except asyncio.CancelledError:
                held.answer.set()
                asking.cancel()
                await asyncio.wait({asking})
                raise

        await served.engine.start(book, 7)
        mine = await key(served)
        with monkeypatch.context() as patch:
            patch.setattr(served.engine.kernel.store.queues, "claim", held)
            patch.setattr(queues, "claim", until_given_up)
            claiming = asyncio.ensure_future(claim(served, mine, wait_ms=30_000))
            await held.done.wait()
        if why == "hangs up":
            claiming.cancel()
        elif why == "key revoked":
            [listed] = await served.site.auth.keys.list()
            await served.site.auth.keys.revoke(listed.id)
        else:
            served.site.stopping.set()
        await asyncio.wait({claiming})
        [again] = await queues.claim("w2", ["gpu"], wait_ms=10_000)
        assert again.attempt == 1


async def test_a_heartbeat_may_bring_lines_and_leave_the_progress_as_it_is():
    async with printing() as served:
        await served.engine.start(book, 7, id="b")
        task = await one(served)
        await served.post("/tasks/heartbeat", {"id": task["id"], "progress": {"line": 3}})
        async with Client(served.url) as client:
            said = [TaskLine(text="the paper is damp", level="warning")]
            assert await client.queues.heartbeat(task["id"], lines=said)
        await served.engine.kernel.task_logs.flush()
        [line] = (await served.get("/runs/b/logs")).json()["lines"]
        assert (line["node"], line["level"], line["text"]) == (task["node"], "warning", "the paper is damp")
        [held] = await served.engine.kernel.store.queues.held(RunId("b"))
        assert values.decode(held.task.progress) == {"line": 3}


async def test_who_has_no_claim_can_not_write_into_the_logs_of_a_run():
    async with printing() as served:
        await served.engine.start(book, 7, id="b")
        task = await one(served)
        await served.post("/tasks/release", {"id": task["id"]})
        body = {"id": task["id"], "lines": [{"text": "it was me"}]}
        problem(await served.post("/tasks/heartbeat", body), 409, "task.lease_lost")
        await served.engine.kernel.task_logs.flush()
        assert (await served.get("/runs/b/logs")).json()["lines"] == []


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("verb", "more"), [("keep", {"index": 0, "entry": 1}), ("suspend", {"wait": TOMORROW})])
async def test_only_an_agent_keeps_a_journal_and_is_suspended(verb: str, more: dict[str, Any]):
    async with printing() as served:
        id = await served.start("book", 7)
        task = await one(served)
        refused = problem(await served.post(f"/tasks/{verb}", {"id": task["id"], **more}), 422, "task.bad_entry")
        assert refused["title"] == "a task of the kind `step` has no journal, and can't be suspended"
        await served.post("/tasks/complete", {"id": task["id"], "output": "page 7"})
        assert (await served.ended(id))["output"] == "page 7"


async def test_a_worker_needs_a_key_of_the_role_worker():
    async with printing(KEYS) as served:
        problem(await claim(served), 401, "auth.no_key")
        problem(await claim(served, {"Authorization": "Bearer plait_nonsense"}), 401, "auth.bad_key")
        problem(await claim(served, await key(served, "operator")), 403, "auth.forbidden")
        assert (await claim(served, await key(served))).status_code == 200
        problem(await served.get("/runs", headers=await key(served)), 403, "auth.forbidden")


async def test_a_worker_serves_the_queues_of_its_key_only():
    async with printing(KEYS) as served:
        await served.engine.start(book, 7, id="b")
        theirs, ours = await key(served, queues=["cpu"]), await key(served, queues=["gpu", "tpu"])
        found = problem(await claim(served, theirs), 403, "task.foreign_queue")
        assert "the key is for cpu" in found["detail"]
        problem(await claim(served, ours, queues=["gpu", "cpu"]), 403, "task.foreign_queue")
        [task] = (await claim(served, ours)).json()["tasks"]
        await served.engine.queues.release(task["id"])
        body = {"id": task["id"], "output": "forged"}
        problem(await served.post("/tasks/complete", body, headers=theirs), 404, "task.unknown")
        problem(await served.post("/tasks/complete", body, headers=ours), 409, "task.lease_lost")


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        ("heartbeat", {"progress": "forged", "lines": [{"text": "forged"}]}),
        ("complete", {"output": "forged"}),
        ("fail", {"error": {"message": "forged"}}),
        ("suspend", {"wait": TOMORROW}),
        ("release", {}),
    ],
)
async def test_the_id_of_a_claim_is_of_no_use_to_a_key_for_another_queue(verb: str, more: dict[str, Any]):
    async with printing(KEYS) as served:
        run = await served.engine.start(book, 7)
        theirs, ours = await key(served, queues=["cpu"]), await key(served, queues=["gpu"])
        [task] = (await claim(served, ours)).json()["tasks"]
        problem(await served.post(f"/tasks/{verb}", {"id": task["id"], **more}, headers=theirs), 404, "task.unknown")
        one_of_many = {"results": [{"id": task["id"], "output": "forged"}]}
        [told] = (await served.post("/tasks/report", one_of_many, headers=theirs)).json()["results"]
        assert (told["status"], told["code"]) == ("refused", "task.unknown")
        await served.post("/tasks/complete", {"id": task["id"], "output": "page 7"}, headers=ours)
        assert await run.result() == "page 7"


async def test_the_queues_of_a_key_are_for_workers_and_have_names():
    async with printing() as served:
        wrong = {"name": "k", "role": "viewer", "queues": ["gpu"]}
        problem(await served.post("/keys", wrong), 422, "auth.bad_queues")
        problem(await served.post("/keys", {"name": "k", "role": "worker", "queues": ["a b"]}), 422, "http.bad_body")
        made = await served.post("/keys", {"name": "k", "role": "worker", "queues": ["gpu"]})
        assert made.json()["queues"] == ["gpu"]


async def test_tasks_of_another_namespace_are_unknown():
    async with printing() as served:
        await served.start("book", 7)
        task = await one(served)
        north = {"namespace": "north"}
        body = {"id": task["id"], "output": 1}
        problem(await served.post("/tasks/complete", body, params=north), 404, "task.unknown")
        assert (await served.post("/tasks/claim", {"worker": "w", "queues": ["gpu"]}, params=north)).json() == {
            "tasks": [],
            "protocol": 1,
        }


async def test_a_protocol_that_is_too_new_is_refused_with_the_version_to_use():
    async with printing() as served:
        found = problem(await claim(served, protocol=2), 422, "task.protocol_too_new")
        assert "versions up to 1" in found["why"]
        problem(await claim(served, protocol=0), 422, "http.bad_body")
        newer = {"protocol": 2, "capabilities": ["gzip"]}  # what only that version has is not what is wrong
        problem(await claim(served, **newer), 422, "task.protocol_too_new")


async def test_an_unknown_kind_is_refused_with_those_there_are():
    async with printing() as served:
        found = problem(await claim(served, kinds=["magic"]), 422, "task.unknown_kind")
        assert "step" in found["fix"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"worker": "w"},
        {"worker": "w", "queues": []},
        {"worker": "", "queues": ["gpu"]},
        {"worker": "w", "queues": ["a b"]},
        {"worker": "w", "queues": ["gpu"], "limit": 0},
        {"worker": "w", "queues": ["gpu"], "lease_ms": 1},
        {"worker": "w", "queues": ["gpu"], "wait_ms": 10**9},
        {"worker": "w", "queues": ["gpu"], "now": "2026-01-01T00:00:00Z"},
    ],
)
async def test_a_claim_that_misses_something_says_what(body: dict[str, Any]):
    async with printing() as served:
        problem(await served.post("/tasks/claim", body), 422, "http.bad_body")


@pytest.mark.parametrize("id", ["x", "W10", "WyJhIiwiYiJd", "💥", "../../runs", "A" * 10_000])
@pytest.mark.parametrize("verb", ["heartbeat", "complete", "release"])
async def test_an_id_that_no_claim_gave_is_unknown(id: str, verb: str):
    async with printing() as served:
        problem(await served.post(f"/tasks/{verb}", {"id": id}), 404, "task.unknown")


CHANGES: list[tuple[int, Any]] = [
    *((place, value) for place in (0, 1) for value in ("another", "", "a\0b", "x" * 9_000)),  # the run, and its task
    *((2, number) for number in (-(2**63), -1, 0, 3, 5, 2**63 - 1, 2**63, 2**80, "4")),  # the event that opened it
    *((3, number) for number in (-1, 0, 2, 2**31 - 1, 2**31, 2**80, None)),  # the attempt
    (4, "a\0b"),  # the claim
]


@pytest.mark.parametrize("verb", ["heartbeat", "complete", "fail", "suspend", "release"])
async def test_an_id_that_was_changed_is_unknown_and_the_task_stays_with_its_worker(database: str, verb: str):
    more = {"complete": {"output": "forged"}, "fail": {"error": {"message": "forged"}}, "suspend": {"wait": TOMORROW}}
    async with serving(database) as served:
        served.engine.code.registry.add(book)
        id = await served.start("book", 7)
        task = await one(served)
        for place, value in CHANGES:
            parts = json.loads(base64.urlsafe_b64decode(task["id"] + "=="))
            parts[place] = value
            forged = base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")
            problem(await served.post(f"/tasks/{verb}", {"id": forged, **more.get(verb, {})}), 404, "task.unknown")
        await served.post("/tasks/complete", {"id": task["id"], "output": "page 7"})
        assert (await served.ended(id))["output"] == "page 7"


async def test_an_old_attempt_changes_nothing():
    async with printing() as served:
        id = await served.start("book", 7)
        old = await one(served)
        await served.post("/tasks/fail", {"id": old["id"], "error": {"message": "no paper"}})
        new = await one(served, wait_ms=10_000)
        problem(await served.post("/tasks/complete", {"id": old["id"], "output": "old"}), 409, "task.lease_lost")
        await served.post("/tasks/complete", {"id": new["id"], "output": "new"})
        assert (await served.ended(id))["output"] == "new"


async def test_a_result_that_is_too_large_or_not_json_leaves_the_task_claimed():
    async with printing(Settings(max_body=100_000)) as served:
        id = await served.start("book", 7)
        task = await one(served)
        problem(
            await served.post("/tasks/complete", {"id": task["id"], "output": "x" * 200_000}),
            413,
            "http.body_too_large",
        )
        raw = f'{{"id": "{task["id"]}", "output": NaN}}'.encode()
        headers = {"content-type": "application/json"}
        problem(await served.post("/tasks/complete", content=raw, headers=headers), 400, "http.malformed_json")
        problem(await served.post("/tasks/complete", content=b"page 7", headers=headers), 400, "http.malformed_json")
        assert not (await served.post("/tasks/heartbeat", {"id": task["id"]})).json()["cancelled"]
        await served.post("/tasks/complete", {"id": task["id"], "output": "page 7"})
        assert (await served.ended(id))["output"] == "page 7"


async def test_success_is_not_audited_and_a_refusal_is():
    async with printing(KEYS) as served:
        await claim(served, await key(served))
        await claim(served, await key(served, queues=["cpu"]))
        admin = await key(served, "admin")
        entries = (await served.get("/audit", headers=admin)).json()["entries"]
        assert [(each["action"], each["outcome"]) for each in entries if each["action"].startswith("tasks")] == [
            ("tasks.claim", "refused")
        ]
