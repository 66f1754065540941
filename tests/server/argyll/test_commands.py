"""Argyll's clients and `plait serve` and `plait dev` as processes."""

from __future__ import annotations

import signal
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from plait.cli.egress import egress_of
from plait.egress import EgressSettings
from plait.errors import InvalidInput
from plait.server.auth import refuse_open_mount
from tests.server.argyll.argyll import ArgyllClient
from tests.server.argyll.stage import http
from tests.server.argyll.steps import StepServer
from tests.server.serving import soon
from tests.server.test_commands import FLOWS, output, refused, running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(FLOWS)
    return tmp_path


async def test_dev_serves_argyll_and_steps_on_this_machine(folder: Path):
    async with (
        StepServer() as there,
        running(folder, "dev", "shop.py") as (_, url),
        httpx.AsyncClient(base_url=url) as http_client,
    ):
        client = ArgyllClient(http_client)
        await client.register(http("work", f"{there.url}/async", ["done"], type="async"))
        await client.register(http("quiet", f"{there.url}/silent", ["quiet"], type="async"))
        await client.start("f", ["work"], {})

        async def done() -> bool:
            return await client.status("f") == "completed"

        await soon(done)
        assert await there.reported(1) == [(200, b"")]
        await client.start("g", ["quiet"], {})

        async def called() -> bool:
            return there.calls[-1]["path"] == "/silent"

        await soon(called)
        webhook = urlsplit(there.calls[-1]["headers"]["argyll-webhook-url"])
        unsigned = await http_client.post(webhook.path, json={"quiet": 1})
        assert unsigned.status_code == 200


async def test_serve_is_silent_to_argylls_clients_unless_told(folder: Path):
    async with running(folder, "serve", "shop.py") as (_, url), httpx.AsyncClient(base_url=url) as client:
        assert (await client.get("/engine/step")).status_code == 404
        assert (await client.get("/health")).json()["status"] == "healthy"
    async with running(folder, "serve", "shop.py", "--argyll") as (_, url), httpx.AsyncClient(base_url=url) as client:
        assert (await client.get("/engine/step")).json() == {"steps": [], "count": 0}
        assert (await client.get("/api/v1/catalog")).status_code == 401


async def test_serve_closes_private_addresses_and_signs_webhooks_over_restarts(folder: Path):
    async with StepServer() as there:
        closed = http("work", f"{there.url}/silent", ["done"], type="async")
        async with running(folder, "serve", "shop.py", "--argyll") as (_, url), httpx.AsyncClient(base_url=url) as one:
            client = ArgyllClient(one)
            await client.register(closed)
            await client.start("f", ["work"], {})

            async def failed() -> bool:
                return await client.status("f") == "failed"

            await soon(failed)
            assert "step call failed" in (await client.state("f"))["error"]
            assert there.calls == []
        async with (
            running(folder, "serve", "shop.py", "--argyll", PLAIT_EGRESS_PRIVATE="1") as (process, url),
            httpx.AsyncClient(base_url=url) as two,
        ):
            client = ArgyllClient(two)
            await client.start("g", ["work"], {})

            async def called() -> bool:
                return bool(there.calls)

            await soon(called)
            webhook = urlsplit(there.calls[-1]["headers"]["argyll-webhook-url"])
            assert f"{webhook.scheme}://{webhook.netloc}" == url
            assert (await two.post(webhook.path, json={"done": 1})).status_code == 400
            process.send_signal(signal.SIGTERM)
            await output(process)
        public = ("--public-url", "http://tea.example")
        async with (
            running(folder, "serve", "shop.py", "--argyll", *public, PLAIT_EGRESS_PRIVATE="1") as (_, url),
            httpx.AsyncClient(base_url=url) as three,
        ):
            client = ArgyllClient(three)

            async def called_again() -> bool:
                return len(there.calls) == 2

            await soon(called_again)  # accepted work is asked for again, at an address that is good at once
            again = there.calls[-1]["headers"]["argyll-webhook-url"]
            assert again.startswith("http://tea.example/webhook/g/work/")
            assert urlsplit(again).query == webhook.query  # the secret is the same one
            assert (await three.post(f"{webhook.path}?{webhook.query}", json={"done": 1})).status_code == 200

            async def done() -> bool:
                return await client.status("g") == "completed"

            await soon(done)


async def test_argylls_clients_are_not_served_to_the_world_by_accident(folder: Path):
    words = await refused(folder, "serve", "shop.py", "--argyll", "--host", "0.0.0.0")
    assert "auth.open_mount" in words
    assert "--argyll-open" in words


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_on_this_machine_argyll_may_be_spoken(host: str):
    refuse_open_mount(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "", "192.168.1.4", "plait.example"])
def test_elsewhere_it_has_to_be_said_twice(host: str):
    with pytest.raises(InvalidInput) as refusal:
        refuse_open_mount(host)
    assert refusal.value.code == "auth.open_mount"


def test_egress_is_what_the_environment_says():
    assert egress_of({}) == EgressSettings()
    assert egress_of({}, private=True).private
    assert not egress_of({"PLAIT_EGRESS_PRIVATE": "0"}, private=True).private
    found = egress_of(
        {
            "PLAIT_EGRESS_PRIVATE": "yes",
            "PLAIT_EGRESS_ALLOW": "api.example.com, *.example.org",
            "PLAIT_EGRESS_DENY": "bad.example.org,",
            "PLAIT_EGRESS_OPEN": "10.1.2.0/24",
        }
    )
    assert found == EgressSettings(
        private=True,
        allow_hosts=("api.example.com", "*.example.org"),
        deny_hosts=("bad.example.org",),
        open_addresses=("10.1.2.0/24",),
    )
    with pytest.raises(InvalidInput, match="PLAIT_EGRESS_PRIVATE"):
        egress_of({"PLAIT_EGRESS_PRIVATE": "maybe"})
