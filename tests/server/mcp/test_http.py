"""`/mcp`, asked by the SDK's own client: tools of every dialect, with the rights of whoever calls."""

import asyncio

import httpx
import mcp_types
import pytest

from plait import Engine
from plait.server.site import Settings
from tests.server.mcp.clients import over_http
from tests.server.serving import problem, serving, soon

_ACCEPT = "application/json, text/event-stream"
_STEPS = [
    {"name": "double", "action": {"code": "export default ({ n }) => n * 2"}, "input": {"n": "@input.n"}},
    {"name": "done", "action": {"return": True}, "input": {"doubled": "@double"}},
]


async def test_runs_of_every_dialect_are_started_awaited_approved_and_read(db: str) -> None:
    async with serving(db) as served, over_http(f"{served.url}/mcp") as call:
        started = await call("RUN_START", definition="quick", input={"customer": "ada"}, wait=True)
        assert (started["run"]["status"], started["output"]) == ("completed", "1 on the way")
        asked = await call("RUN_START", definition="asking", id="q-1")
        assert asked["id"] == "q-1"
        waiting = asyncio.ensure_future(call("RUN_WAIT", id="q-1"))
        (approval,) = await soon(lambda: _approvals(call))
        await call("APPROVAL_DECIDE", id=approval["id"], decision="approve", comment="yes", by="boss")
        assert (await waiting)["output"] == "yes"
        assert [run["id"] for run in (await call("RUN_LIST", definition="asking"))["runs"]] == ["q-1"]
        assert (await call("RUN_GET", id="q-1"))["run"]["status"] == "completed"
        assert {each["name"] for each in (await call("DEFINITION_LIST"))["definitions"]} >= {"quick", "asking"}


async def test_workflows_are_saved_started_changed_and_deleted(db: str) -> None:
    async with serving(db) as served, over_http(f"{served.url}/mcp") as call:
        schema = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
        data = {"title": "Double it!", "steps": _STEPS, "input_schema": schema}
        created = (await call("COLLECTION_WORKFLOW_CREATE", data=data))["item"]
        assert (created["id"], created["title"], len(created["steps"])) == ("double-it", "Double it!", 2)
        listed = await call("COLLECTION_WORKFLOW_LIST")
        assert (listed["totalCount"], listed["hasMore"]) == (1, False)
        assert "steps" not in listed["items"][0]
        assert "START_WORKFLOW_DOUBLE_IT" in await call.names()
        done = await call("START_WORKFLOW_DOUBLE_IT", input={"n": 21}, wait=True)
        assert (done["status"], done["output"]) == ("success", {"doubled": 42})
        item = (await call("COLLECTION_WORKFLOW_EXECUTION_GET", id=done["execution_id"]))["item"]
        assert item["status"] == "success"
        assert [step["name"] for step in item["completed_steps"]["success"]] == ["double", "done"]
        result = await call(
            "COLLECTION_WORKFLOW_EXECUTION_GET_STEP_RESULT", executionId=done["execution_id"], stepId="double"
        )
        assert result == {"output": 42}
        await call("COLLECTION_WORKFLOW_UPDATE", id="double-it", data={"title": "Twice", "input_schema": None})
        changed = (await call("COLLECTION_WORKFLOW_GET", id="double-it"))["item"]
        assert (changed["title"], "input_schema" in changed) == ("Twice", False)
        snapshot = await call("WORKFLOW_EXECUTION_GET_WORKFLOW", executionId=done["execution_id"])
        assert snapshot["title"] == "Double it!"
        assert {"START_WORKFLOW_TWICE"} == {name for name in await call.names() if name.startswith("START_")}
        await call("COLLECTION_WORKFLOW_DELETE", id="double-it")
        assert (await call("COLLECTION_WORKFLOW_GET", id="double-it")) == {"item": None}
        assert (await call("COLLECTION_WORKFLOW_LIST"))["totalCount"] == 0
        assert not any(name.startswith("START_") for name in await call.names())
        executions = await call("COLLECTION_WORKFLOW_EXECUTION_LIST", status="success")
        assert [each["id"] for each in executions["items"]] == [done["execution_id"]]
        assert (await call.fails("RUN_START", definition="double-it", input={"n": 1}))["status"] == 404
        missing = await call.fails("COLLECTION_WORKFLOW_EXECUTION_CREATE", workflow_collection_id="double-it")
        assert missing["status"] in (404, 422)
        await call("COLLECTION_WORKFLOW_CREATE", data=data | {"id": "double-it"})
        again = await call("COLLECTION_WORKFLOW_EXECUTION_CREATE", workflow_collection_id="double-it", input={"n": 1})
        assert again["item"]["id"]


async def test_a_run_under_way_goes_on_when_its_workflow_is_deleted(db: str) -> None:
    steps = [
        {"name": "ask", "action": {"workflow": "asking"}},
        {"name": "done", "action": {"return": True}, "input": {"said": "@ask"}},
    ]
    async with serving(db) as served, over_http(f"{served.url}/mcp") as call:
        await call("COLLECTION_WORKFLOW_CREATE", data={"title": "Ask", "steps": steps})
        started = await call("START_WORKFLOW_ASK")
        (approval,) = await soon(lambda: _approvals(call))
        await call("COLLECTION_WORKFLOW_DELETE", id="ask")
        await call("APPROVAL_DECIDE", id=approval["id"], decision="approve", comment="yes", by="boss")
        assert (await call("RUN_WAIT", id=started["execution_id"]))["output"] == {"said": "yes"}


async def test_to_create_a_workflow_never_changes_another(db: str) -> None:
    async with serving(db) as served, over_http(f"{served.url}/mcp") as call:
        ids = [
            (await call("COLLECTION_WORKFLOW_CREATE", data={"title": title, "steps": _STEPS}))["item"]["id"]
            for title in ("Double it!", "Double it?", "double IT")
        ]
        assert ids == ["double-it", "double-it-2", "double-it-3"]
        data = {"id": "double-it", "title": "Mine", "steps": []}
        assert (await call.fails("COLLECTION_WORKFLOW_CREATE", data=data))["code"] == "definition.exists"
        assert (await call("COLLECTION_WORKFLOW_GET", id="double-it"))["item"]["title"] == "Double it!"
        slugs = sorted(name for name in await call.names() if name.startswith("START_WORKFLOW_"))
        assert len(slugs) == 3
        assert all(name.startswith("START_WORKFLOW_DOUBLE_IT_") for name in slugs)


async def test_an_update_keeps_every_field_that_it_does_not_name(db: str) -> None:
    async with serving(db) as served, over_http(f"{served.url}/mcp") as call:
        more = {"servers": ["crm"], "presets": {"double": 4}, "description": "Twice as much"}
        await call("COLLECTION_WORKFLOW_CREATE", data={"title": "Double", "steps": _STEPS, **more})
        assert await call("COLLECTION_WORKFLOW_UPDATE", id="double", data={"title": "Two"}) == {"success": True}
        item = (await call("COLLECTION_WORKFLOW_GET", id="double"))["item"]
        assert {key: item.get(key) for key in ("title", *more)} == {"title": "Two", **more}
        await call("COLLECTION_WORKFLOW_UPDATE", id="double", data={"presets": None, "virtual_mcp_id": None})
        item = (await call("COLLECTION_WORKFLOW_GET", id="double"))["item"]
        assert (item["title"], item["steps"], sorted(more.keys() & item)) == ("Two", _STEPS, ["description"])


async def test_what_can_not_be_done_says_why(db: str) -> None:
    async with serving(db) as served, over_http(f"{served.url}/mcp") as call:
        bad = await call.fails("COLLECTION_WORKFLOW_CREATE", data={"title": "x", "steps": [{"name": "a b"}]})
        assert bad["status"] == 422
        assert any("pointer" in str(flaw) or "/steps" in str(flaw) for flaw in bad["errors"])
        assert (await call.fails("RUN_GET", id="nope"))["status"] == 404
        assert (await call.fails("CANCEL_EXECUTION", executionId="nope"))["status"] == 404
        assert (await call.fails("NO_SUCH_TOOL"))["code"] == "mcp.unknown_tool"
        assert (await call.fails("RUN_GET"))["code"] == "mcp.bad_arguments"
        assert await call("COLLECTION_WORKFLOW_EXECUTION_GET", id="nope") == {"item": None}
        assert (await call("COLLECTION_WORKFLOW_UPDATE", id="nope", data={}))["success"] is False


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_new_workflow_is_announced_and_a_long_call_reports_and_can_be_cancelled(db: str, mode: str) -> None:
    heard: list[object] = []

    async def hear(message: object) -> None:
        heard.append(message)

    async with serving(db) as served, over_http(f"{served.url}/mcp", mode=mode, message_handler=hear) as call:
        await call("RUN_START", definition="asking", id="slow")
        waiting = asyncio.ensure_future(call("RUN_WAIT", id="slow"))
        await soon(lambda: _true(bool(call.progress)))
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert (await call("RUN_GET", id="slow"))["run"]["status"] == "running"
        limited = await call("RUN_WAIT", id="slow", timeoutMs=50)
        assert limited["run"]["status"] == "running"
        await call("COLLECTION_WORKFLOW_CREATE", data={"title": "New one", "steps": _STEPS})
        if mode == "legacy":
            await soon(lambda: _true(any(isinstance(each, mcp_types.ToolListChangedNotification) for each in heard)))


def _announced(heard: list[object]) -> int:
    return sum(isinstance(each, mcp_types.ToolListChangedNotification) for each in heard)


async def test_a_workflow_that_somebody_else_saves_or_deletes_is_announced_in_its_namespace_alone(db: str) -> None:
    heard: dict[str, list[object]] = {"default": [], "other": []}

    def hearing(namespace: str) -> object:
        async def hear(message: object) -> None:
            heard[namespace].append(message)

        return hear

    def client(namespace: str) -> object:
        url = f"{served.url}/mcp?namespace={namespace}"
        return over_http(url, mode="legacy", message_handler=hearing(namespace))

    async with serving(db) as served, client("default") as mine, client("other") as theirs:  # type: ignore[attr-defined]
        await mine.names()
        await theirs.names()
        saved = {"dialect": "refs", "name": "double", "definition": {"title": "Double", "steps": _STEPS}}
        assert (await served.client.post("/api/v1/definitions", json=saved)).status_code == 201
        await soon(lambda: _true(_announced(heard["default"]) == 1))
        assert "START_WORKFLOW_DOUBLE" in await mine.names()
        assert (await served.client.delete("/api/v1/definitions/double")).status_code == 200
        await soon(lambda: _true(_announced(heard["default"]) == 2))
        await theirs.names()
        assert _announced(heard["other"]) == 0


async def test_a_client_that_listens_hears_of_workflows_that_another_process_saves(db: str) -> None:
    async with (
        serving(db) as served,
        over_http(f"{served.url}/mcp") as call,
        call.client.listen(tools_list_changed=True) as events,
    ):
        async with Engine(db, work=False) as other:
            await other.definitions.save("refs", "double", {"title": "Double", "steps": _STEPS})
        async with asyncio.timeout(30):
            await anext(aiter(events))
        assert "START_WORKFLOW_DOUBLE" in await call.names()


async def test_a_key_decides_what_is_seen_and_done(db: str) -> None:
    async with serving(db, settings=Settings(open=False)) as served:
        refused = await served.client.post("/mcp", json={})
        assert (refused.status_code, refused.json()["code"]) == (401, "auth.no_key")
        _, viewer = await served.site.auth.keys.create("eve", "viewer", "default")
        _, other = await served.site.auth.keys.create("bob", "admin", "other")
        async with over_http(f"{served.url}/mcp", viewer) as call:
            assert (await call("RUN_LIST"))["runs"] == []
            assert (await call.fails("RUN_START", definition="quick", input={"customer": "ada"}))["status"] == 403
        async with over_http(f"{served.url}/mcp", other) as call:
            await call("RUN_START", definition="asking", id="theirs")
        async with over_http(f"{served.url}/mcp", viewer) as call:
            assert (await call.fails("RUN_GET", id="theirs"))["status"] == 404


async def test_a_session_is_only_for_the_key_that_opened_it(db: str) -> None:
    async with serving(db, settings=Settings(open=False)) as served, httpx.AsyncClient() as http:
        keys = [(await served.site.auth.keys.create(name, "viewer", "default"))[1] for name in ("ada", "eve")]
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        first, second = ({"authorization": f"Bearer {key}", "accept": _ACCEPT} for key in keys)
        opened = await http.post(f"{served.url}/mcp", json=opening, headers=first)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        mine = await http.post(f"{served.url}/mcp", json=listing, headers=first | session)
        assert mine.status_code == 200
        foreign = await http.post(f"{served.url}/mcp", json=listing, headers=second | session)
        assert (foreign.status_code, foreign.json()["code"]) == (404, "mcp.unknown_session")


async def test_a_page_of_another_site_is_refused(db: str) -> None:
    async with serving(db) as served, httpx.AsyncClient() as http:
        foreign = await http.post(f"{served.url}/mcp", json={}, headers={"origin": "https://evil.example"})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "http.foreign_origin")
        rebound = await http.post(f"{served.url}/mcp", json={}, headers={"host": "evil.example"})
        assert (rebound.status_code, rebound.json()["code"]) == (403, "http.foreign_host")


async def _approvals(call: object) -> object:
    return (await call("APPROVAL_LIST"))["approvals"]  # type: ignore[operator]


async def _true(found: bool) -> bool:
    return found


async def test_a_stream_ends_when_its_key_is_revoked(db: str) -> None:
    async with serving(db, settings=Settings(open=False)) as served:
        key, text = await served.site.auth.keys.create("ann", "operator", "*")
        headers = {"authorization": f"Bearer {text}", "accept": _ACCEPT}
        client = {"name": "x", "version": "1"}
        asked = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client}
        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}
        opened = await served.client.post("/mcp", json=begin, headers=headers)
        headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        async with asyncio.timeout(10), served.client.stream("GET", "/mcp", headers=headers) as stream:
            assert stream.status_code == 200
            await served.site.auth.keys.revoke(key.id)
            assert [line async for line in stream.aiter_lines()] == []
        assert (await served.client.get("/mcp", headers=headers)).status_code == 401


@pytest.mark.parametrize("value", ["{}", "null"])
async def test_megabytes_of_tiny_values_are_refused_before_they_are_read_on_the_loop(value: str) -> None:
    async with serving() as served:
        many = f"[{','.join([value] * 200_000)}]"
        body = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"arguments": {many}}}}}'
        headers = {"accept": _ACCEPT, "content-type": "application/json"}
        problem(await served.client.post("/mcp", content=body, headers=headers), 413, "value.too_many")
        large = b'"' + b"x" * served.site.settings.max_body + b'"'
        problem(await served.client.post("/mcp", content=large, headers=headers), 413, "http.body_too_large")
