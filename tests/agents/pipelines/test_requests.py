"""`http_request` against a real server, through the real guarded client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from plait import Engine, graph
from plait.agents import PipelineError, pipeline
from plait.agents.auth_profiles import AuthProfile
from plait.egress import EgressSettings

OPEN = EgressSettings(open_addresses=("127.0.0.1/32",))


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer("")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _answer(self, body: str) -> None:
        status = int(self.path.split("?")[0].rpartition("/")[2] or 200)
        told = json.dumps({"path": self.path, "body": body, "auth": self.headers.get("Authorization")})
        content = {204: "", 201: "no JSON", 206: json.dumps([{"a": 1, "b": 2}] * 60_000)}.get(status, told)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


async def _get(url: str, **parameters: Any) -> Any:
    profiles = {"shop": {"Authorization": "Bearer s3cret"}}
    step = {"step": "http_request", "url": url, **parameters}
    return await pipeline([step], egress=OPEN, auth_profiles=profiles)


async def test_parameters_are_the_query_of_a_get_and_lists_repeat_the_name(address: str) -> None:
    found = await _get(f"{address}/200", params={"q": "a b", "tag": ["x", "y"], "n": 1})
    assert found["path"] == "/200?q=a+b&tag=x&tag=y&n=1"


async def test_parameters_are_the_body_of_a_post(address: str) -> None:
    found = await _get(f"{address}/200", method="POST", params={"a": [1]}, auth_profile="shop")
    assert (json.loads(found["body"]), found["auth"]) == ({"a": [1]}, "Bearer s3cret")


async def test_an_empty_answer_is_null(address: str) -> None:
    assert await _get(f"{address}/204") is None


@pytest.mark.parametrize(
    ("status", "told", "retryable"),
    [(404, "answered 404", False), (503, "answered 503", True), (201, "what is not JSON", False)],
)
async def test_an_answer_that_is_none_fails_its_step(address: str, status: int, told: str, retryable: bool) -> None:
    with pytest.raises(PipelineError, match=told) as caught:
        await _get(f"{address}/{status}")
    assert caught.value.retryable == retryable


async def test_private_addresses_are_refused_unless_the_operator_opens_them(address: str) -> None:
    with pytest.raises(PipelineError, match="step 1"):
        await pipeline([{"step": "http_request", "url": f"{address}/200"}])


async def test_an_unknown_profile_is_refused_before_anything_is_sent(address: str) -> None:
    with pytest.raises(Exception, match="there is no auth profile `bank`"):
        await _get(f"{address}/200", auth_profile="bank")


async def test_a_profile_with_hosts_goes_to_no_other(address: str) -> None:
    step = {"step": "http_request", "url": f"{address}/200", "auth_profile": "crm"}
    here, elsewhere = ({"crm": AuthProfile({"Authorization": "s"}, [host])} for host in ("127.0.0.1", "crm.example"))
    assert (await pipeline([step], egress=OPEN, auth_profiles=here))["auth"] == "s"
    with pytest.raises(PipelineError, match=r"auth profile `crm` is not for 127\.0\.0\.1"):
        await pipeline([step], egress=OPEN, auth_profiles=elsewhere)


async def test_a_table_may_have_as_many_values_as_rows_are_allowed(address: str) -> None:
    assert len(await _get(f"{address}/206")) == 60_000


async def test_a_node_that_computes_may_name_a_profile_of_the_engine(address: str) -> None:
    step = {"step": "http_request", "url": address, "auth_profile": "crm"}
    node = {"id": "ask", "type": "transform", "config": {"pipeline": [step]}}
    profiles = {"crm": {"headers": {"Authorization": "Bearer 7"}, "hosts": ["127.0.0.1"]}}
    async with Engine("memory:", egress=OPEN, auth_profiles=profiles) as engine:
        found = await (await engine.start(graph({"nodes": [node]}))).result()
    assert found["ask"]["auth"] == "Bearer 7"
