"""Flows through the mount: started, listed, looked for, looked at."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.server.argyll.stage import (
    GREET,
    MOMENT,
    UNSET,
    events,
    http,
    mounted,
    over,
    refused,
    register,
    script,
    start,
    state,
)
from tests.server.argyll.steps import StepServer
from tests.server.serving import soon


async def test_a_flow_is_started_and_the_same_again_is_fine():
    async with mounted() as served:
        await register(served, GREET)
        body = {"id": "My Flow!", "goals": ["Greet"], "init": {"name": ["Ann"]}, "labels": {"team": "tea"}}
        for _ in range(2):
            answer = await served.client.post("/engine/flow", json=body)
            assert (answer.status_code, answer.json()) == (201, {"flow_id": "my-flow", "message": ""})
        other = await served.client.post("/engine/flow", json=body | {"init": {"name": ["Bea"]}})
        refused(other, 409, "goals.run_exists")
        assert (await over(served, "my-flow"))["attributes"]["greeting"][0]["value"] == "Hello, Ann"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"goals": ["nope"], "id": "f"}, 404, "goals.step_not_found"),
        ({"goals": ["greet"], "id": "f"}, 400, "goals.inputs_missing"),
        ({"goals": ["greet"], "id": "f", "init": {"name": []}}, 400, "goals.inputs_missing"),
        ({"goals": [], "id": "f"}, 400, "goals.no_goals"),
        ({"goals": ["greet"], "init": {"name": ["a"]}}, 400, "mount.bad_id"),
        ({"goals": ["greet"], "init": {"name": ["a"]}, "id": "!!"}, 400, "mount.bad_id"),
        ({"goals": ["greet"], "init": {"name": ["a"]}, "id": "x" * 257}, 413, "goals.too_large"),
        ({"goals": ["greet"], "init": {"name": ["a"]}, "id": "f", "labels": {"a": 1}}, 400, "goals.bad_request"),
        ({"goals": ["greet"], "id": "f", "labels": {"api_key": "key:1"}}, 400, "auth.label_is_reserved"),
        (
            {"goals": ["greet"], "init": {"name": ["a"]}, "id": "f", "labels": {str(n): "x" for n in range(33)}},
            413,
            "goals.too_large",
        ),
        ({"goals": ["greet"], "id": "f", "init": {str(n): [n] for n in range(129)}}, 413, "goals.too_large"),
        ({"goals": ["greet"], "id": "f", "init": {"name": ["x" * (1 << 20)]}}, 413, "goals.too_large"),
    ],
)
async def test_a_flow_that_can_not_be_started_is_refused(body: dict[str, Any], status: int, code: str):
    async with mounted() as served:
        await register(served, GREET)
        refused(await served.client.post("/engine/flow", json=body), status, code)
        assert (await served.client.get("/engine/flow")).json() == []


@pytest.mark.parametrize(
    ("init", "given"),
    [([["a", "b"]], ["a", "b"]), ("plain", "plain"), ([None], None), ([{"a": 1}], {"a": 1}), ({"a": 1}, {"a": 1})],
)
async def test_init_is_a_list_of_values_and_anything_else_is_one(init: Any, given: Any):
    async with mounted() as served:
        await register(served, script("echo", ["x"], ["y"], "{:y x}"))
        await start(served, "f", "echo", init={"x": init})
        assert (await over(served, "f"))["attributes"]["y"][0]["value"] == given


async def test_several_values_of_a_name_are_kept_and_the_first_counts():
    async with mounted() as served:
        await register(served, script("echo", ["x"], ["y"], "{:y x}"))
        gathers = script("gather", [], ["z"], "{:z x}")
        gathers["attributes"]["x"] = {"role": "required", "type": "any", "required": {"collect": "some"}}
        await register(served, gathers)
        await start(served, "f", "echo", "gather", init={"x": [1, 2, 3]})
        found = await over(served, "f")
        assert [each["value"] for each in found["attributes"]["x"]] == [1, 2, 3]
        assert found["attributes"]["y"][0]["value"] == 1
        assert found["attributes"]["z"][0]["value"] == [1, 2, 3]
        assert (await events(served, "f"))[0]["data"]["init"] == {"x": [1, 2, 3]}
        again = {"id": "f", "goals": ["echo", "gather"], "init": {"x": [1, 2]}}
        refused(await served.client.post("/engine/flow", json=again), 409, "goals.run_exists")


async def test_the_state_of_a_flow_has_everything_a_client_reads():
    async with mounted() as served, StepServer() as there:
        await register(served, GREET, http("tick", f"{there.url}/sync", ["ticked"]))
        await start(served, "f", "greet", "tick", init={"name": ["Ann"]}, labels={"team": "tea"})
        found = await over(served, "f")
        times = ("created_at", "completed_at", "deactivated_at", "last_updated")
        assert all(re.fullmatch(MOMENT, found[name]) for name in times)
        assert (found["id"], found["status"], found["labels"], found["metadata"]) == (
            "f",
            "completed",
            {"team": "tea"},
            {},
        )
        assert found["plan"]["goals"] == ["greet", "tick"]
        assert set(found["plan"]["steps"]) == {"greet", "tick"}
        [name], [greeting] = found["attributes"]["name"], found["attributes"]["greeting"]
        assert (name["value"], "step" in name) == ("Ann", False)
        assert (greeting["value"], greeting["step"]) == ("Hello, Ann", "greet")
        assert re.fullmatch(MOMENT, greeting["set_at"])
        execution = found["executions"]["greet"]
        assert execution["inputs"] == {"name": "Ann"}
        assert execution["outputs"] == {"greeting": "Hello, Ann"}
        assert isinstance(execution["duration"], int)
        [item] = execution["work_items"].values()
        assert (item["status"], item["retry_count"], item["next_retry_at"]) == ("succeeded", 0, UNSET)
        assert (item["inputs"], item["outputs"]) == ({"name": "Ann"}, {"greeting": "Hello, Ann"})
        assert "null" not in str(found).replace("None", "null")
        assert "error" not in found


async def test_times_that_are_not_set_are_in_the_year_1():
    async with mounted() as served, StepServer() as there:
        await register(served, http("wait", f"{there.url}/silent", ["a"], type="async"), script("next", ["a"], ["b"]))
        await start(served, "f", "next")
        found = await soon(lambda: under_way(served))
        assert (found["status"], found["completed_at"], found["deactivated_at"]) == ("active", UNSET, UNSET)
        pending = found["executions"]["next"]
        assert (pending["status"], pending["started_at"], pending["duration"]) == ("pending", UNSET, 0)
        assert (pending["inputs"], pending["work_items"]) == ({}, {})
        [item] = found["executions"]["wait"]["work_items"].values()
        assert (item["status"], item["completed_at"], item["next_retry_at"]) == ("active", UNSET, UNSET)
        assert (await served.client.get("/engine/flow/f/status")).json() == {"id": "f", "status": "active"}


async def under_way(served: Any) -> Any:
    found = await state(served, "f")
    return found if found["executions"]["wait"]["status"] == "active" else None


async def test_a_failed_flow_says_why():
    async with mounted() as served, StepServer() as there:
        await register(served, http("bad", f"{there.url}/refuse", ["a"]), script("next", ["a"], ["b"]))
        await start(served, "f", "next")
        found = await over(served, "f", "failed")
        assert found["status"] == "failed"
        assert found["error"] == "goal step 'next' cannot complete: required input 'a' unavailable"
        assert found["executions"]["bad"]["error"] == "step returned HTTP error: status 422: not today"
        assert found["executions"]["next"]["unsatisfied"] == ["a"]
        [row] = (await served.client.get("/engine/flow")).json()
        assert (row["status"], row["error"]) == ("failed", found["error"])


async def test_a_cancelled_flow_is_a_failed_one():
    async with mounted() as served, StepServer() as there:
        await register(served, http("wait", f"{there.url}/silent", ["a"], type="async"))
        await start(served, "f", "wait")
        await served.post("/runs/f/cancel", {"reason": "enough"})
        found = await over(served, "f", "failed")
        assert (found["status"], found["error"]) == ("failed", "cancelled: enough")
        [row] = (await served.client.get("/engine/flow")).json()
        assert (row["status"], row["error"]) == ("failed", "cancelled: enough")
        assert [each["type"] for each in await events(served, "f")][-2:] == ["flow_cancelled", "flow_deactivated"]


async def test_a_skipped_step_says_why():
    async with mounted() as served:
        await register(served, GREET | {"predicate": {"language": "ale", "script": "#f"}})
        await start(served, "f", "greet", init={"name": ["Ann"]})
        found = await over(served, "f")
        skipped = found["executions"]["greet"]
        assert (skipped["status"], skipped["error"]) == ("skipped", "predicate returned false")


async def test_children_are_not_listed_but_can_be_looked_at():
    async with mounted() as served:
        child = script("child", ["name"], ["greeting"]) | {"type": "flow", "flow": {"goals": ["greet"]}}
        del child["script"]
        await register(served, GREET, script("top", ["greeting"], ["done"], "{:done greeting}"))
        await served.client.delete("/engine/step/top")
        await register(served, child)
        await start(served, "f", "child", init={"name": ["Ann"]})
        found = await over(served, "f")
        [token] = found["executions"]["child"]["work_items"]
        assert [row["id"] for row in (await served.client.get("/engine/flow")).json()] == ["f"]
        inner = await state(served, f"f:child:{token}")
        assert inner["metadata"] == {
            "parent_flow_id": "f",
            "parent_step_id": "child",
            "parent_work_item_token": token,
        }
        assert "greet" in found["plan"]["children"]["child"]["steps"]


async def test_what_is_no_flow_is_404():
    async with mounted() as served:
        for path in ("nope", "nope/status", "nope/events", "a%2Fb"):
            refused(await served.client.get(f"/engine/flow/{path}"), 404, "mount.no_flow")
        await register(served, GREET)
        await served.post("/runs", {"dialect": "goals", "definition": {"goals": ["greet"]}, "input": {"name": "A"}})
        other = {"dialect": "goals", "definition": "greet", "input": {"name": "A"}, "id": "x", "namespace": "other"}
        await served.engine.catalog.of("other").register(GREET)
        assert (await served.post("/runs", other)).status_code == 201
        refused(await served.client.get("/engine/flow/x"), 404, "mount.no_flow")
        assert len((await served.client.get("/engine/flow")).json()) == 1


async def test_lists_begin_with_active_flows_newest_first():
    async with mounted() as served, StepServer() as there:
        await register(served, GREET, http("wait", f"{there.url}/silent", ["a"], type="async"))
        for id in ("w1", "w2"):
            await start(served, id, "wait")
        for id in ("g1", "g2"):
            await start(served, id, "greet", init={"name": ["Ann"]})
            await over(served, id)
        rows = (await served.client.get("/engine/flow")).json()
        assert [(row["id"], row["status"]) for row in rows] == [
            ("w2", "active"),
            ("w1", "active"),
            ("g2", "completed"),
            ("g1", "completed"),
        ]
        assert all(re.fullmatch(MOMENT, row["timestamp"]) for row in rows)


async def test_flows_are_looked_for_page_by_page():
    async with mounted() as served:
        await register(served, GREET, script("fail", [], ["x"], '(raise "no")'))
        for number in range(5):
            labels = {"team": "tea", "odd": str(number % 2)}
            await start(served, f"t-{number}", "greet", init={"name": ["Ann"]}, labels=labels)
        await start(served, "other", "fail")
        await over(served, "other", "failed")
        for number in range(5):
            await over(served, f"t-{number}")

        async def ask(**body: Any) -> dict[str, Any]:
            answer = await served.client.post("/engine/flow/query", json=body)
            assert answer.status_code == 200, answer.text
            return answer.json()

        def ids(found: dict[str, Any]) -> list[str]:
            assert found["count"] == len(found["flows"])
            return [row["id"] for row in found["flows"]]

        everything = await ask()
        assert ids(everything) == [*(f"t-{number}" for number in range(5)), "other"]
        assert (everything["total"], everything["has_more"], everything["next_cursor"]) == (6, False, "")
        assert ids(await ask(sort="recent_desc"))[:2] == ["other", "t-4"]
        assert ids(await ask(id_prefix="t-", labels={"team": "tea", "odd": "1"})) == ["t-1", "t-3"]
        assert ids(await ask(statuses=["failed"])) == ["other"]
        assert ids(await ask(statuses=["active"])) == []
        for sort, first in (("recent_asc", "t-0"), ("recent_desc", "t-4")):
            seen: list[str] = []
            cursor = ""
            while True:
                page = await ask(id_prefix="t-", limit=2, sort=sort, cursor=cursor)
                assert page["total"] == 5
                seen += ids(page)
                if not page["has_more"]:
                    break
                cursor = page["next_cursor"]
            assert seen[0] == first
            assert sorted(seen) == [f"t-{number}" for number in range(5)]


@pytest.mark.parametrize(
    "body",
    [
        {"limit": -1},
        {"limit": 1001},
        {"limit": "2"},
        {"sort": "oldest"},
        {"statuses": ["running"]},
        {"statuses": "active"},
        {"labels": {"a": 1}},
        {"labels": {"": "tea"}},
        {"id_prefix": "My Flow!"},
        {"id_prefix": "-t"},
        {"id_prefix": 5},
        {"cursor": "nonsense"},
        {"cursor": "e30="},
    ],
)
async def test_a_query_that_makes_no_sense_is_400(body: dict[str, Any]):
    async with mounted() as served:
        refused(await served.client.post("/engine/flow/query", json=body), 400, "mount.bad_query")
