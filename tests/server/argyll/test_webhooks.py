"""Webhooks: reports of work that a step server took on."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from plait.server.site import Settings
from tests.server.argyll.stage import MOUNTED, Json, events, http, mounted, over, refused, register, start
from tests.server.argyll.steps import StepServer
from tests.server.serving import Served, soon

PROBLEM = {"content-type": "application/problem+json"}


async def waiting(served: Served, there: StepServer, id: str = "f") -> str:
    """The webhook of a flow whose step server took the work and stays silent."""
    await register(served, http("wait", f"{there.url}/silent", ["done"], type="async"))
    await start(served, id, "wait")

    async def called() -> Any:
        accepted = [each for each in await events(served, id) if each["type"] == "work_accepted"]
        return there.calls[-1]["headers"]["argyll-webhook-url"] if accepted else None

    return await soon(called)


def acknowledged(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.content) == (200, b""), answer.text


async def test_a_report_ends_the_work_and_is_acknowledged_with_nothing():
    async with mounted() as served, StepServer() as there:
        url = await waiting(served, there)
        acknowledged(await served.client.post(url, json={"done": [1, 2], "more": True}))
        found = await over(served, "f")
        assert found["attributes"]["done"] == [
            {"value": [1, 2], "step": "wait", "set_at": found["attributes"]["done"][0]["set_at"]}
        ]


async def test_a_problem_fails_the_work_in_its_own_words():
    for body, words in (
        ({"title": "Gone", "detail": "out of tea"}, "out of tea"),
        ({"title": "Gone"}, "Gone"),
        ({}, "the step server reported a failure"),
    ):
        async with mounted() as served, StepServer() as there:
            url = await waiting(served, there)
            acknowledged(await served.client.post(url, json=body, headers=PROBLEM))
            assert (await over(served, "f", "failed"))["error"] == f"goal step 'wait' failed: {words}"


async def test_repeats_and_late_reports_are_acknowledged_and_change_nothing():
    async with mounted() as served, StepServer() as there:
        url = await waiting(served, there)
        for _ in range(2):
            acknowledged(await served.client.post(url, json={"done": 1}))
        found = await over(served, "f")
        acknowledged(await served.client.post(url, json={"done": 1}))
        acknowledged(await served.client.post(url, json={"done": 2}))
        acknowledged(await served.client.post(url, json={"detail": "no"}, headers=PROBLEM))

        async def late() -> Any:
            told = [each["data"] for each in await events(served, "f") if each["type"] == "late_result"]
            return told if len(told) == 2 else None

        first, second = await soon(late)  # the same report three times is one
        assert (first["outputs"], second["error"]) == ({"done": 2}, "no")
        again = await over(served, "f")
        assert again["attributes"] == found["attributes"]
        assert again["status"] == "completed"


async def test_the_same_report_counts_again_after_the_flow_was_taken_up_again():
    async with mounted() as served, StepServer() as there:
        url = await waiting(served, there)
        for _ in range(2):
            acknowledged(await served.client.post(url, json={"detail": "no tea"}, headers=PROBLEM))
        await over(served, "f", "failed")
        calls = len(there.calls)
        assert (await served.post("/runs/f/retry", {})).status_code == 200

        async def called_again() -> bool:
            return len(there.calls) > calls

        await soon(called_again)
        assert there.calls[-1]["headers"]["argyll-webhook-url"] == url
        acknowledged(await served.client.post(url, json={"detail": "no tea"}, headers=PROBLEM))
        await over(served, "f", "failed")
        told = [each["type"] for each in await events(served, "f")]
        assert told.count("flow_failed") == 2


async def test_an_address_is_signed_and_nothing_else_is_taken():
    async with mounted() as served, StepServer() as there:
        url = await waiting(served, there)
        other = await waiting(served, there, "g")
        parts = urlsplit(url)
        assert f"{parts.scheme}://{parts.netloc}" == served.url
        [signature] = parse_qs(parts.query)["signature"]
        path = parts.path
        for bad in (
            path,
            f"{path}?signature=",
            f"{path}?signature={signature[:-1]}x",
            f"{path}?signature=%C3%A9",
            f"{path}?signature={parse_qs(urlsplit(other).query)['signature'][0]}",
            f"{path}?signature={signature}&namespace=other",
            f"{path.replace('/wait/', '/other/')}?signature={signature}",
            f"{path.replace('/f/', '/h/')}?signature={signature}",
            f"{path[:-1]}?signature={signature}",
        ):
            refused(await served.client.post(bad, json={"done": 1}), 400, "goals.unknown_work")
        assert [each["type"] for each in await events(served, "f")][-1] == "work_accepted"


async def audited(served: Served, namespace: str = "*") -> list[tuple[Any, ...]]:
    entries = (await served.site.auth.audit.page(namespace)).entries
    return [(each.who, each.target, each.outcome, each.code) for each in entries if each.action == "webhook.report"]


async def test_reports_and_forgeries_are_in_the_audit_trail():
    async with mounted() as served, StepServer() as there:
        url = await waiting(served, there)
        parts = urlsplit(url)
        token = parts.path.rpartition("/")[2]
        forged = f"{parts.path}?signature=forged&namespace=north"
        refused(await served.client.post(forged, json={"done": 1}), 400, "goals.unknown_work")
        refused(await served.client.post(url, content=b"[1]"), 400, "http.bad_body")
        acknowledged(await served.client.post(url, json={"done": 1}))
        acknowledged(await served.client.post(url, json={"done": 1}))
        assert await audited(served) == [
            ("step server", "f/wait", "ok", None),
            ("step server", "f/wait", "ok", None),
            ("step server", "f/wait", "refused", "http.bad_body"),
            ("step server", "f/wait", "refused", "goals.unknown_work"),
        ]
        assert await audited(served, "north") == []  # a stranger does not fill the trail of others
        trail = (await served.get("/audit")).text
        assert token not in trail
        assert "127.0.0.1" in trail


async def test_a_flood_of_forgeries_does_not_fill_the_audit_trail():
    async with mounted() as served:
        for number in range(150):
            await served.client.post(f"/webhook/f/wait/{number}", json={})
        assert 90 <= len(await audited(served)) <= 110


async def test_in_development_an_address_needs_no_signature():
    settings = Settings(argyll="local", unsigned_webhooks=True)
    async with mounted(settings=settings) as served, StepServer() as there:
        path = urlsplit(await waiting(served, there)).path
        for bad in (
            "/webhook/nope/wait/t",
            "/webhook/f/wait/nope",
            path.replace("/wait/", "/other/"),
            "/webhook/a%2Fb/c/d",
        ):
            refused(await served.client.post(bad, json={"done": 1}), 400, "goals.unknown_work")
        acknowledged(await served.client.post(path, json={"done": 1}))
        await over(served, "f")


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"null", b"5", b'{"a":1,"a":2}'])
async def test_what_is_no_object_is_400(body: bytes):
    async with mounted() as served, StepServer() as there:
        url = await waiting(served, there)
        assert (await served.client.post(url, content=body)).status_code == 400
        acknowledged(await served.client.post(url, json={}))
        assert "done" not in (await over(served, "f"))["attributes"]


async def test_a_report_over_the_limit_is_413_and_one_below_it_is_taken():
    async with mounted() as served, StepServer() as there:
        url = await waiting(served, there)
        refused(await served.client.post(url, json={"done": "x" * (1 << 20)}), 413, "http.body_too_large")
        acknowledged(await served.client.post(url, json={"done": "x" * ((1 << 20) - 100)}))
        assert len((await over(served, "f"))["attributes"]["done"][0]["value"]) == (1 << 20) - 100


async def test_the_public_address_and_the_namespace_are_in_it():
    settings = Settings(public_url="https://tea.example", open=False)
    async with mounted(settings=settings) as served, StepServer() as there:
        from plait.server.argyll.webhooks import WebhookUrls

        served.engine.executors.callbacks = WebhookUrls(served.site.auth.secret, settings.public_url)
        catalog = served.engine.catalog.of("north")
        await catalog.register(http("wait", f"{there.url}/silent", ["done"], type="async"))
        asked = {"dialect": "goals", "definition": "wait", "id": "f 1", "namespace": "north"}
        _, key = await served.site.auth.keys.create("root", "admin", "*")
        headers = {"authorization": f"Bearer {key}"}
        assert (await served.post("/runs", asked, headers=headers)).status_code == 201

        async def called() -> Any:
            return there.calls and there.calls[-1]["headers"]["argyll-webhook-url"]

        url = await soon(called)
        assert url.startswith("https://tea.example/webhook/f%201/wait/")
        path = url.removeprefix("https://tea.example")
        refused(await served.client.post(path.replace("namespace=north&", ""), json={}), 400, "goals.unknown_work")
        acknowledged(await served.client.post(path, json={"done": 1}))
        found = await soon(lambda: ended(served, headers))
        assert found["output"] == {"done": 1}
        assert await audited(served, "north") == [("step server", "f 1/wait", "ok", None)]


async def ended(served: Served, headers: dict[str, str]) -> Json | None:
    found = (await served.get("/runs/f%201", params={"namespace": "north"}, headers=headers)).json()
    return found if found["run"]["status"] == "completed" else None


async def test_a_report_survives_a_crash_of_the_server(db: str):
    async with StepServer() as there:
        async with mounted(db) as served:
            url = await waiting(served, there)
            acknowledged(await served.client.post(url, json={"done": "kept"}))
            await served.engine.kernel.crash()
        async with mounted(db, settings=MOUNTED) as served:
            assert (await over(served, "f"))["attributes"]["done"][0]["value"] == "kept"
            acknowledged(
                await served.client.post(urlsplit(url)._replace(scheme="", netloc="").geturl(), json={"done": 2})
            )
