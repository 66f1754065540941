"""Agents over HTTP: what they are given, what they may do, and what is refused and on record."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from plait import afl
from plait.kernel.ids import RunId
from plait.server.site import Settings
from tests.server.serving import Served, problem, serving, soon

SOURCE = """
namespace geo {
    event facet Count(place: String) => (count: Long, note: String)
    event facet Guess(place: String) => (text: String) prompt { template "How many live in {place}?" }
    workflow Two() => (n: Long) andThen {
        a = Count(place = "Bonn")
        b = Count(place = "Köln")
        yield Two(n = a.count + b.count)
    }
    workflow Asks() => (text: String) andThen { g = Guess(place = "Bonn") yield Asks(text = g.text) }
}
namespace mail {
    event facet Send(to: String) => (id: String)
    workflow Notify() => (id: String) andThen { s = Send(to = "ann") yield Notify(id = s.id) }
}
"""


@asynccontextmanager
async def working(*workflows: str) -> AsyncGenerator[tuple[Served, list[str]]]:
    async with serving("memory:", settings=Settings(open=False)) as served:
        runs = [(await served.engine.start(afl(SOURCE, name), {})).id for name in workflows]
        yield served, runs


async def key(served: Served, role: str = "agent", facets: list[str] | None = None) -> dict[str, str]:
    _, text = await served.site.auth.keys.create("agent-1", role, facets=facets)
    return {"Authorization": f"Bearer {text}"}


async def claim(served: Served, headers: dict[str, str], **more: Any) -> list[dict[str, Any]]:
    answer = await served.post("/afl/tasks/claim", {"agent": "a1", "wait_ms": 5_000, **more}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["tasks"]


async def send(
    served: Served, headers: dict[str, str], method: str, task: str, verb: str, **body: Any
) -> httpx.Response:
    url = f"/api/v1/afl/tasks/{task}/{verb}"
    return await served.client.request(method, url, json=body, headers=headers)


async def ended(served: Served, run: str) -> Any:
    return await served.engine.kernel.outcome(RunId(run))


async def refusals(served: Served) -> list[tuple[str, str | None]]:
    page = await served.site.auth.audit.page()
    return [(entry.action, entry.code) for entry in page.entries if entry.outcome == "refused"]


async def test_an_agent_claims_reads_updates_and_completes_its_events():
    async with working("geo.Two") as (served, [run]):
        agent = await key(served, facets=["geo.*"])
        [first, second] = await claim(served, agent, max=2, facets=["geo.*"])
        assert (first["event_type"], first["payload"], first["attempt"]) == ("geo.Count", {"place": "Bonn"}, 1)
        beat = await send(served, agent, "POST", first["id"], "heartbeat", lease_token=first["lease_token"])
        assert beat.json()["lease_until"] > 0
        stored = await send(
            served, agent, "PATCH", first["id"], "step", lease_token=first["lease_token"], returns={"note": "half"}
        )
        assert stored.json() == {"applied": True}
        shown = await served.client.get(
            f"/api/v1/afl/tasks/{first['id']}/step", params={"lease_token": first["lease_token"]}, headers=agent
        )
        assert shown.json()["attributes"] == {"params": {"place": "Bonn"}, "returns": {"note": "half"}}
        for task, count in ((first, 3), (second, 4)):
            done = await send(
                served, agent, "POST", task["id"], "complete", lease_token=task["lease_token"], result={"count": count}
            )
            assert done.json() == {"applied": True}
        assert await (await served.engine.get(run)).result() == {"n": 7}


async def test_an_answer_that_comes_twice_is_not_applied():
    async with working("mail.Notify") as (served, [run]):
        agent = await key(served)
        [task] = await claim(served, agent)
        body = {"lease_token": task["lease_token"], "result": {"id": "m1"}}
        assert (await send(served, agent, "POST", task["id"], "complete", **body)).json() == {"applied": True}
        assert await (await served.engine.get(run)).result() == {"id": "m1"}
        again = await send(served, agent, "POST", task["id"], "complete", **{**body, "result": {"id": "m2"}})
        assert (again.status_code, again.json()) == (200, {"applied": False})
        failed = await send(
            served, agent, "POST", task["id"], "fail", lease_token=task["lease_token"], error={"message": "no"}
        )
        assert failed.json() == {"applied": False}
        assert await (await served.engine.get(run)).result() == {"id": "m1"}


async def test_a_failure_that_is_final_fails_the_step_in_the_words_of_the_agent():
    async with working("mail.Notify") as (served, [run]):
        agent = await key(served)
        [task] = await claim(served, agent)
        error = {"type": "AddressError", "message": "no such person", "retryable": False}
        await send(served, agent, "POST", task["id"], "fail", lease_token=task["lease_token"], error=error)
        found = (await ended(served, run)).error
        assert found is not None
        assert (found.code, found.type, found.message) == ("AFL_EVENT_FAILED", "AddressError", "no such person")


async def test_an_agent_that_touches_another_step_is_refused_and_on_record():
    async with working("geo.Two") as (served, _):
        agent = await key(served)
        [first, second] = await claim(served, agent, max=2)
        for method, verb, more in (
            ("POST", "complete", {"result": {"count": 1}}),
            ("POST", "fail", {"error": {"message": "no"}}),
            ("PATCH", "step", {"returns": {"count": 1}}),
            ("POST", "heartbeat", {}),
        ):
            answer = await send(served, agent, method, second["id"], verb, lease_token=first["lease_token"], **more)
            problem(answer, 403, "AFL_FORBIDDEN")
        peeked = await served.client.get(
            f"/api/v1/afl/tasks/{second['id']}/step", params={"lease_token": first["lease_token"]}, headers=agent
        )
        problem(peeked, 403, "AFL_FORBIDDEN")
        codes = [code for _, code in await refusals(served)]
        assert codes == ["AFL_FORBIDDEN"] * 5


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/runs", {"dialect": "afl", "definition": {"source": SOURCE}, "input": {}}),
        ("POST", "/definitions", {"dialect": "afl", "name": "x", "definition": {"source": SOURCE}}),
        ("POST", "/runs/RUN/messages", {"name": "StepContinue", "body": {"step_id": "x"}}),
        ("POST", "/runs/RUN/cancel", {}),
        ("POST", "/afl/compile", {"source": SOURCE}),
        ("POST", "/tasks/claim", {"worker": "w", "queues": ["afl:geo.Count"]}),
        ("GET", "/afl/runs/RUN/steps", None),
        ("GET", "/runs", None),
        ("GET", "/me", None),
    ],
)
async def test_every_other_route_is_closed_to_agents_and_the_attempt_is_on_record(method: str, path: str, body: Any):
    async with working("geo.Two") as (served, [run]):
        agent = await key(served)
        url = "/api/v1" + path.replace("RUN", run)
        answer = await served.client.request(method, url, json=body, headers=agent)
        problem(answer, 403, "AFL_FORBIDDEN")
        assert [code for _, code in await refusals(served)] == ["AFL_FORBIDDEN"]


async def test_an_agent_gets_only_events_of_its_facets():
    async with working("geo.Two", "mail.Notify") as (served, _):
        agent = await key(served, facets=["mail.*"])
        assert [task["event_type"] for task in await claim(served, agent, max=10)] == ["mail.Send"]
        answer = await served.post("/afl/tasks/claim", {"agent": "a1", "facets": ["geo.Count"]}, headers=agent)
        problem(answer, 403, "AFL_FORBIDDEN")


async def test_a_lease_of_another_facet_is_of_no_use_to_an_agent():
    async with working("geo.Two", "mail.Notify") as (served, [run, _]):
        [task, *_] = await claim(served, await key(served), facets=["geo.Count"])
        agent = await key(served, facets=["mail.*"])
        for method, verb, more in (
            ("POST", "heartbeat", {}),
            ("PATCH", "step", {"returns": {"count": 1}}),
            ("POST", "fail", {"error": {"message": "no"}}),
            ("POST", "complete", {"result": {"count": 1}}),
        ):
            answer = await send(served, agent, method, task["id"], verb, lease_token=task["lease_token"], **more)
            problem(answer, 403, "AFL_FORBIDDEN")
        row = await served.engine.kernel.store.run(RunId(run))
        assert row is not None
        assert row.status == "running"


async def test_a_prompt_is_filled_in_for_the_agent():
    async with working("geo.Asks") as (served, _):
        [task] = await claim(served, await key(served))
        assert task["prompt"] == "How many live in Bonn?"


async def test_a_lease_that_is_lost_is_told():
    async with working("mail.Notify") as (served, [run]):
        agent = await key(served)
        [task] = await claim(served, agent)
        await (await served.engine.get(run)).cancel()
        await ended(served, run)
        answer = await send(served, agent, "POST", task["id"], "heartbeat", lease_token=task["lease_token"])
        problem(answer, 409, "AFL_LEASE_LOST")


async def test_unreadable_tokens_are_answered_like_unknown_ones():
    async with working("mail.Notify") as (served, _):
        agent = await key(served)
        answer = await send(served, agent, "POST", "x", "complete", lease_token="!!", result={})
        problem(answer, 404, "task.unknown")


async def test_steps_events_and_handlers_are_shown_and_registered():
    async with working("mail.Notify") as (served, [run]):
        admin = await key(served, "admin")
        steps = (await served.client.get(f"/api/v1/afl/runs/{run}/steps", headers=admin)).json()["steps"]
        waiting = [each for each in steps if each["state"] == "state.EventTransmit"]
        assert [each["facet_name"] for each in waiting] == ["mail.Send"]
        [event] = (await served.client.get(f"/api/v1/afl/runs/{run}/events", headers=admin)).json()["events"]
        assert (event["state"], event["payload"]) == ("event.Created", {"to": "ann"})
        body = {"facet": "mail.Send", "kind": "queue", "queue": "letters"}
        assert (await served.post("/afl/handlers", body, headers=admin)).status_code == 200
        found = (await served.client.get("/api/v1/afl/handlers", headers=admin)).json()["handlers"]
        assert [(each["facet"], each["queue"]) for each in found] == [("mail.Send", "letters")]
        bad = await served.post("/afl/handlers", {"facet": "x", "kind": "http", "url": "ftp://x"}, headers=admin)
        problem(bad, 422, "AFL_HANDLER")
        gone = await served.client.delete("/api/v1/afl/handlers/mail.Send", headers=admin)
        assert gone.status_code == 204
        problem(await served.client.delete("/api/v1/afl/handlers/mail.Send", headers=admin), 404, "AFL_NO_HANDLER")


async def test_an_agent_whose_key_is_revoked_while_it_waits_gets_no_event():
    async with working() as (served, _):
        made, text = await served.site.auth.keys.create("agent-1", "agent")
        headers = {"Authorization": f"Bearer {text}"}
        body = {"agent": "a1", "wait_ms": 20_000}
        waiting = asyncio.ensure_future(served.post("/afl/tasks/claim", body, headers=headers))
        await soon(lambda: _under_way(served))
        await served.site.auth.keys.revoke(made.id)
        async with asyncio.timeout(10):
            problem(await waiting, 401, "auth.bad_key")


async def _under_way(served: Served) -> bool:
    return served.site.in_flight > 0
