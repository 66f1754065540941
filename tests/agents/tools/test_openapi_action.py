"""`openapi_action` through the real guarded client: documents and servers that try to lead it elsewhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from plait.agents.auth_profiles import AuthProfile, read_auth_profiles
from plait.agents.tools.openapi.action import OpenapiAction
from plait.agents.tools.tool import ToolFault
from plait.agents.tools.toolbox import argument_flaws
from plait.egress import Egress, EgressSettings, Headers, Request, Response
from plait.kernel.errors import InvalidInput
from plait.testing import VirtualClock

from .building import use

HOME = "https://api.example.com/openapi.json"
TOKEN = "crm-token-0123456789"
PROFILES = {"crm": AuthProfile({"Authorization": f"Bearer {TOKEN}"}, ["api.example.com", "*.crm.example"])}
ID = {"name": "id", "in": "path", "schema": {"type": "string"}}
PAGE = {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1}}
CUSTOMER = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def document(**changed: Any) -> dict[str, Any]:
    body = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Customer"}}}}
    paths = {
        "/customers/{id}": {"get": {"operationId": "getCustomer", "parameters": [ID, PAGE]}},
        "/customers": {"post": {"operationId": "addCustomer", "requestBody": body}},
    }
    made = {"openapi": "3.1.0", "paths": paths, "components": {"schemas": {"Customer": CUSTOMER}}}
    return made | {"servers": [{"url": "https://api.example.com/v1"}]} | changed


def answer(body: Any, status: int = 200) -> Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(
        status=status,
        headers=Headers(()),
        body=raw,
        url="",
        address="",
        redirects=0,
        bytes_sent=0,
        bytes_received=0,
        ms=0,
    )


class World:
    """Serves the document; the API behind it answers as it was told."""

    def __init__(self, document: Any, api: Any = None, status: int = 200) -> None:
        self._document = document
        self._api = answer({"ok": True} if api is None else api, status)
        self.requests: list[Request] = []

    async def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        return answer(self._document) if request.url == HOME else self._api

    def call(self, operation: str = "getCustomer", params: Any = None, **more: Any) -> Any:
        action = OpenapiAction(self, VirtualClock(), PROFILES)
        given = {"openapi_url": HOME, "operation_id": operation, "params": {"id": "7"} if params is None else params}
        return asyncio.run(action.call(given | more, use()))

    def fault(self, *args: Any, **more: Any) -> str:
        with pytest.raises(ToolFault) as refused:
            self.call(*args, **more)
        assert TOKEN not in str(refused.value)
        assert len(str(refused.value)) < 2_500
        return str(refused.value)


# -- what it does ------------------------------------------------------------------------------------------------------


def test_an_operation_is_called_as_its_document_says() -> None:
    world = World(document(), {"name": "Ada"})
    assert world.call(params={"id": "a/b", "page": 2}) == {"status": 200, "body": {"name": "Ada"}}
    sent = world.requests[1]
    assert (sent.method, sent.url) == ("GET", "https://api.example.com/v1/customers/a%2Fb?page=2")
    assert sent.idempotency_key == "x1/1/0"


def test_a_body_is_checked_and_sent() -> None:
    world = World(document())
    world.call("addCustomer", {"body": {"name": "Ada"}})
    assert (world.requests[1].method, world.requests[1].json) == ("POST", {"name": "Ada"})


def test_credentials_are_added_outside_the_model_and_hidden_where_they_are_echoed() -> None:
    world = World(document(), {"you_sent": f"Bearer {TOKEN}"})
    assert world.call(auth_profile="crm")["body"] == {"you_sent": "[secret]"}
    assert world.requests[1].headers["authorization"] == f"Bearer {TOKEN}"
    assert "authorization" not in {name.lower() for name in world.requests[0].headers}, "the document needs none"


def test_a_document_is_kept_for_an_hour() -> None:
    async def scenario() -> None:
        clock, world = VirtualClock(), World(document())
        action = OpenapiAction(world, clock, {})
        given = {"openapi_url": HOME, "operation_id": "getCustomer", "params": {"id": "7"}}
        for _ in range(3):
            await action.call(given, use())
        assert [request.url for request in world.requests].count(HOME) == 1
        await clock.advance(3_601)
        await action.call(given, use())
        assert [request.url for request in world.requests].count(HOME) == 2

    asyncio.run(scenario())


def test_the_operations_server_counts_before_the_documents() -> None:
    changed = document()
    changed["paths"]["/customers/{id}"]["get"]["servers"] = [{"url": "/v2"}]
    world = World(changed)
    world.call()
    assert world.requests[1].url == "https://api.example.com/v2/customers/7"


# -- what it refuses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "params", "told"),
    [
        ("getCustomer", {}, "`id` is required"),
        ("getCustomer", {"id": 7}, "`id`"),
        ("getCustomer", {"id": "7", "page": 0}, "`page`"),
        ("getCustomer", {"id": "7", "page": "2"}, "`page`"),
        ("getCustomer", {"id": "7", "admin": True}, "unknown parameter `admin`"),
        ("getCustomer", {"id": "7", "body": {}}, "unknown parameter `body`"),
        ("addCustomer", {}, "`body` is required"),
        ("addCustomer", {"body": {}}, "`body`"),
        ("addCustomer", {"body": {"name": 1}}, "`body`"),
        ("deleteEverything", {}, "no operation `deleteEverything`"),
        ("getCustomer", {"id": ".."}, "can't be '..'"),
        ("getCustomer", {"id": "."}, "can't be '.'"),
        ("getCustomer", {"id": ""}, "can't be ''"),
    ],
)
def test_parameters_that_do_not_fit_go_back_to_the_model(operation: str, params: Any, told: str) -> None:
    world = World(document())
    assert told in world.fault(operation, params)
    assert len(world.requests) == 1, "the API was not called"


@pytest.mark.parametrize(
    "id", ["../admin", "..%2fadmin", "a?x=1", "a#b", "a\r\nHost: evil", "//evil.example", "%00", "日本"]
)
def test_a_part_of_the_address_stays_one(id: str) -> None:
    world = World(document())
    world.call(params={"id": id})
    path = world.requests[1].url.removeprefix("https://api.example.com/v1/customers/")
    assert not set(path) & set("/?#\r\n ")


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"{",
        b"openapi: 3.0.0",
        b"[]",
        b"null",
        b'{"openapi": "2.0"}',
        b'{"swagger": "2.0"}',
        b'{"openapi": "3.0.0"}',
        b'{"openapi": "3.0.0", "paths": []}',
        b'{"openapi": "3.0.0", "paths": {"/x": 7}}',
        b'{"openapi": "3.0.0", "paths": {"/x": {"get": "getCustomer"}}}',
        b'{"openapi": "3.0.0", "openapi": "3.0.0"}',
        b"[" * 200 + b"]" * 200,
        b'{"a":' * 200 + b"1" + b"}" * 200,
        b"\xff\xfe",
        b'{"openapi": "3.0.0", "x": NaN}',
    ],
)
def test_a_malformed_document_goes_back_to_the_model(bad: bytes) -> None:
    world = World(bad)
    world.fault()
    assert len(world.requests) == 1


def with_schema(schema: Any, **components: Any) -> dict[str, Any]:
    parameters = [{"name": "id", "in": "path", "schema": schema}]
    paths = {"/customers/{id}": {"get": {"operationId": "getCustomer", "parameters": parameters}}}
    return document(paths=paths, components={"schemas": components})


def _bomb(levels: int) -> dict[str, Any]:
    """Each refers twice to the next."""
    parts = {f"s{n}": {"allOf": [{"$ref": f"#/components/schemas/s{n + 1}"}] * 2} for n in range(levels)}
    return with_schema({"$ref": "#/components/schemas/s0"}, **parts, **{f"s{levels}": {"type": "string"}})


@pytest.mark.parametrize(
    "hostile",
    [
        with_schema({"$ref": "http://127.0.0.1/schema.json"}),
        with_schema({"$ref": "file:///etc/passwd"}),
        with_schema({"$ref": "other.json#/x"}),
        with_schema({"$ref": "#/components/schemas/none"}),
        with_schema({"type": "string", "pattern": "(?<=x)y"}),
        with_schema({"type": "string", "pattern": "("}),
        with_schema({"type": 7}),
        with_schema({"enum": ["x" * 1_000] * 300}),
        _bomb(40),
        document(paths={"/c/{other}": {"get": {"operationId": "getCustomer", "parameters": [ID]}}}),
        document(
            paths={"/c": {"get": {"operationId": "getCustomer", "parameters": [{"$ref": "#/x"}]}}}, x={"$ref": "#/x"}
        ),
        document(paths={"/c": {"post": {"operationId": "getCustomer", "requestBody": {"content": {"text/xml": {}}}}}}),
    ],
)
def test_a_hostile_document_goes_back_to_the_model_at_once(hostile: Any) -> None:
    world = World(hostile)
    world.fault()
    assert len(world.requests) == 1


def test_an_endless_pattern_is_matched_in_linear_time() -> None:
    world = World(with_schema({"type": "string", "pattern": "^(a+)+$"}))
    world.fault(params={"id": "a" * 5_000 + "b"})


@pytest.mark.parametrize(
    "server",
    [
        "file:///etc/passwd",
        "ftp://api.example.com",
        "gopher://x",
        "javascript:1",
        "https://x.example/?a=1",
        "http://[::1",
        "data:text/plain,x",
        "http://api.example.com",
        "https://x.example/#f",
    ],
)
def test_a_server_address_that_can_not_be_used_is_refused(server: str) -> None:
    world = World(document(servers=[{"url": server}]))
    world.fault()
    assert len(world.requests) == 1


@pytest.mark.parametrize(
    "server",
    [
        "https://evil.example",
        "https://api.example.com.evil.example",
        "https://evilapi.example.com",
        "https://crm.example",
        "https://api.example.com@evil.example",
        "https://10.0.0.1",
        "https://api.example.com.:8443@evil.example",
    ],
)
def test_credentials_go_to_the_hosts_that_the_operator_named_and_nowhere_else(server: str) -> None:
    world = World(document(servers=[{"url": server}]))
    world.fault(auth_profile="crm")
    assert len(world.requests) == 1


@pytest.mark.parametrize("profile", ["none", "CRM", "crm ", "../crm", "", "__proto__"])
def test_an_unknown_profile_is_refused(profile: str) -> None:
    assert "auth profile" in World(document()).fault(auth_profile=profile)


def test_a_profile_without_hosts_is_not_sent_to_an_address_that_a_model_chose() -> None:
    async def scenario() -> None:
        action = OpenapiAction(
            World(document()), VirtualClock(), read_auth_profiles({"old": {"X-Key": "s3cret-value"}})
        )
        given = {"openapi_url": HOME, "operation_id": "getCustomer", "params": {"id": "7"}, "auth_profile": "old"}
        with pytest.raises(ToolFault, match="not for"):
            await action.call(given, use())

    asyncio.run(scenario())


@pytest.mark.parametrize("name", ["Authorization", "authorization", "Cookie", "Host", "Proxy-Authorization"])
def test_a_header_that_is_not_the_models_is_no_parameter(name: str) -> None:
    parameters = [ID, {"name": name, "in": "header", "schema": {"type": "string"}}]
    world = World(document(paths={"/c/{id}": {"get": {"operationId": "getCustomer", "parameters": parameters}}}))
    assert "unknown parameter" in world.fault(params={"id": "7", name: "x"})


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 429, 500, 503])
def test_an_error_of_the_api_goes_to_the_model_without_secrets(status: int) -> None:
    told = World(document(), {"detail": f"bad token {TOKEN}", "rest": "x" * 5_000}, status).fault(auth_profile="crm")
    assert f"answered {status}" in told
    assert "[secret]" in told


@pytest.mark.parametrize("body", [b"plain text", b"{broken", b"\xff\xfe\x00", b"", b"<html>"])
def test_an_answer_that_is_no_json_is_text(body: bytes) -> None:
    assert isinstance(World(document(), body).call()["body"], str | None)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"openapi_url": HOME},
        {"openapi_url": 7, "operation_id": "x"},
        {"openapi_url": "", "operation_id": "x"},
        {"openapi_url": HOME, "operation_id": "x", "params": []},
        {"openapi_url": HOME, "operation_id": "x", "headers": {}},
        {"openapi_url": "x" * 3_000, "operation_id": "x"},
        {"openapi_url": HOME, "operation_id": "x", "auth_profile": {}},
    ],
)
def test_arguments_of_another_shape_are_refused_before_the_call(arguments: dict[str, Any]) -> None:
    assert argument_flaws(OpenapiAction.parameters, arguments)


def test_a_bad_profile_is_refused_without_showing_it() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_auth_profiles({"crm": {"headers": {"Authorization": 7}, "hosts": "x", "token": TOKEN}})
    assert TOKEN not in refused.value.text
    assert TOKEN not in repr(PROFILES)


# -- the guard ---------------------------------------------------------------------------------------------------------

CLOSED = [
    "http://127.0.0.1/", "http://127.1/", "http://0x7f000001/", "http://2130706433/", "http://017700000001/",
    "http://localhost/", "http://LOCALHOST./", "http://0.0.0.0/", "http://[::1]/", "http://[::]/",
    "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/", "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/", "http://[fe80::1]/", "http://[fd00::1]/", "http://[fc00::1]/", "http://[ff02::1]/",
    "http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1/", "http://100.64.0.1/", "http://169.254.169.254/latest/",
    "http://[::ffff:169.254.169.254]/", "http://192.0.2.1/", "http://224.0.0.1/", "http://240.0.0.1/", "http://255.255.255.255/",
    "file:///etc/passwd", "ftp://example.com/", "gopher://127.0.0.1/", "dict://127.0.0.1/", "data:text/plain,{}",
    "//127.0.0.1/", "http:/127.0.0.1/", "http:///etc", "http://user@127.0.0.1/", "http://example.com@127.0.0.1/",
    "http://127.0.0.1\\@example.com/", "http://example.com\t/", "http://exa mple.com/", "http://example.com\r\nX: 1/",
    "http://１２７.０.０.１/", "http://127。0。0。1/", "http://[::1%25lo]/", "http://private.example/", "http://mixed.example/",
    "http://rebound.example/",
]  # fmt: skip


_NAMES = {
    "localhost": ["127.0.0.1"],
    "private.example": ["10.1.2.3"],
    "mixed.example": ["93.184.216.34", "127.0.0.1"],
    "rebound.example": ["::ffff:10.0.0.1"],
}


async def _resolve(host: str, port: int) -> list[str]:
    """Names that are not known resolve to nothing."""
    return _NAMES.get(host, [])


async def _guarded(url: str, serve: Callable[[Request], Response | None]) -> str:
    async with Egress(EgressSettings(), resolver=_resolve) as egress:

        async def send(request: Request) -> Response:
            return serve(request) or await egress.send(request)

        action = OpenapiAction(send, VirtualClock(), PROFILES)
        with pytest.raises(ToolFault) as refused:
            await action.call({"openapi_url": url, "operation_id": "getCustomer", "params": {"id": "7"}}, use())
        return str(refused.value)


@pytest.mark.parametrize("url", CLOSED)
def test_a_document_is_not_fetched_from_a_closed_address(url: str) -> None:
    assert "can't be read" in asyncio.run(_guarded(url, lambda request: None))


@pytest.mark.parametrize("server", CLOSED)
def test_an_api_is_not_called_at_a_closed_address(server: str) -> None:
    described = document(servers=[{"url": server}])
    home = HOME.replace("https", "http")  # or its servers had to be https
    told = asyncio.run(_guarded(home, lambda request: answer(described) if request.url == home else None))
    assert "can't be" in told or "failed" in told
