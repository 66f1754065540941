"""Runs over HTTP: start, list, look."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.serving import API, problem, serving, soon, watching

TEA = {"customer": "Ann"}


async def test_a_run_is_started_runs_and_is_shown(db: str):
    async with serving(db) as served:
        answer = await served.post("/runs", {"definition": "quick", "input": TEA, "labels": {"shop": "north"}})
        assert answer.status_code == 201
        started = answer.json()
        assert (started["namespace"], started["status"]) == ("default", "running")

        shown = await served.ended(started["id"])
        assert shown["run"]["labels"] == {"shop": "north"}
        assert (shown["input"], shown["output"]) == (TEA, "1 on the way")
        assert [node["label"] for node in shown["view"]["nodes"]] == ["reserve", "ship"]
        assert shown["waiting"] == []
        assert shown["seq"] > 1
        assert "retry" not in shown["actions"]
        assert "fork" in shown["actions"]


async def test_the_same_start_again_gives_the_same_run(db: str):
    async with serving(db) as served:
        body = {"definition": "quick", "input": TEA, "id": "tea-1"}
        first, again = await served.post("/runs", body), await served.post("/runs", body)
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json()["id"] == first.json()["id"] == "tea-1"
        await served.ended("tea-1")
        assert (await served.post("/runs", body)).json()["status"] == "completed"


async def test_another_start_with_the_same_id_is_a_conflict(db: str):
    async with serving(db) as served:
        await served.start("quick", TEA, id="tea-1")
        answer = await served.post("/runs", {"definition": "quick", "input": {"customer": "Bob"}, "id": "tea-1"})
        problem(answer, 409, "kernel.run_exists")


async def test_a_deadline_is_a_span_from_now(db: str):
    async with serving(db) as served:
        id = await served.start("order", TEA, deadline_ms=3_600_000)
        run = (await served.get(f"/runs/{id}")).json()["run"]
        assert run["deadline"] - run["created_at"] == pytest.approx(3_600_000, abs=50)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"definition": "nope"}, 404, "CODE_NOT_LOADED"),
        ({"definition": "quick"}, 422, "CODE_INPUT_INVALID"),
        ({"definition": "quick", "input": {"customer": 1}}, 422, "CODE_INPUT_INVALID"),
        ({"definition": "quick", "dialect": "cobol"}, 422, "kernel.no_dialect"),
        ({"definition": {"nodes": []}}, 422, "CODE_NOT_LOADED"),
        ({"definition": "quick", "id": "a/b"}, 422, "http.bad_body"),
        ({"definition": "quick", "id": ""}, 422, "http.bad_body"),
        ({"definition": "quick", "namespace": "UPPER"}, 422, "http.bad_body"),
        ({"definition": "quick", "deadline_ms": 0}, 422, "http.bad_body"),
        ({"definition": "quick", "labels": {"a": 1}}, 422, "http.bad_body"),
        ({"definition": "quick", "colour": "red"}, 422, "http.bad_body"),
        ({}, 422, "http.bad_body"),
        ([], 422, "http.bad_body"),
    ],
)
async def test_a_start_that_can_not_be_is_refused(body: Any, status: int, code: str):
    async with serving() as served:
        problem(await served.client.post(API + "/runs", json=body), status, code)
        assert (await served.get("/runs")).json() == {"runs": []}


async def test_a_misfit_says_where_it_is():
    async with serving() as served:
        answer = await served.post("/runs", {"definition": "quick", "labels": {"a": 1}})
        found = problem(answer, 422, "http.bad_body")
        assert found["errors"] == [
            {"code": "http.bad_body", "pointer": "/labels/-", "message": "Expected `str`, got `int`"}
        ]


async def test_an_unknown_run_is_not_found():
    async with serving() as served:
        for path in ("/runs/x", "/runs/x/events", "/runs/x/timeline", "/runs/x/logs", "/runs/x/diff?with=y"):
            found = problem(await served.get(path), 404, "kernel.no_run")
            assert found["title"] == "there is no run x"


async def test_an_id_that_no_run_can_have_is_not_found():
    async with serving() as served:
        for id in ("%00", "%0A", "a%2Fb", "%FF"):
            answer = await served.get(f"/runs/{id}")
            assert answer.status_code == 404, answer.text


async def test_lists_are_newest_first_and_come_in_pages(db: str):
    async with serving(db) as served:
        made = [await served.start("order", TEA, id=f"o-{number}") for number in range(5)]
        found: list[str] = []
        params: dict[str, Any] = {"limit": 2}
        while True:
            page = (await served.get("/runs", params=params)).json()
            found += [run["id"] for run in page["runs"]]
            if "next" not in page:
                break
            params["cursor"] = page["next"]
        assert sorted(found) == sorted(made)
        assert len(found) == 5


async def test_lists_are_filtered(db: str):
    async with serving(db) as served:
        await served.start("order", TEA, id="waiting", labels={"shop": "north", "day": "1"})
        await served.start("quick", TEA, id="done", labels={"shop": "south"})
        await served.start("failing", id="broken")
        await served.ended("done")
        await served.ended("broken", "failed")

        async def ids(**params: Any) -> set[str]:
            answer = await served.get("/runs", params=params)
            assert answer.status_code == 200, answer.text
            return {run["id"] for run in answer.json()["runs"]}

        assert await ids(status="running") == {"waiting"}
        assert await ids(status="completed,failed") == {"done", "broken"}
        assert await ids(status="blocked") == set()
        assert await ids(definition="quick") == {"done"}
        assert await ids(dialect="code") == {"waiting", "done", "broken"}
        assert await ids(dialect="goals") == set()
        assert await ids(label="shop:north") == {"waiting"}
        assert await ids(label=["shop:north", "day:2"]) == set()
        assert await ids(label=["shop:north", "day:1"]) == {"waiting"}
        assert await ids(q="NORTH") == {"waiting"}
        assert await ids(q="bank says") == {"broken"}
        assert await ids(until="1") == set()
        assert await ids(since="1") == {"waiting", "done", "broken"}
        assert await ids(parent="waiting") == set()
        assert await ids(namespace="elsewhere") == set()


@pytest.mark.parametrize(
    "query",
    [
        "colour=red",
        "limit=0",
        "limit=501",
        "limit=ten",
        "limit=1&limit=2",
        "limit=null",
        "limit=1_0",
        "limit=%D9%A1",
        "status=asleep",
        "status=",
        "label=north",
        "since=-1",
        "since=99999999999999999999",
        "q=%FF",
        "q=%00",
        "namespace=UPPER",
        "&".join(f"label=a{n}:b" for n in range(101)),
    ],
)
async def test_a_query_that_can_not_be_read_is_refused(query: str):
    async with serving() as served:
        problem(await served.get(f"/runs?{query}"), 400, "http.bad_query")


@pytest.mark.parametrize("cursor", ["xyz", "WzEsIDJd", "%C3%A9", "WyJhIiwgMV0"])
async def test_a_cursor_that_is_none_of_ours_is_refused(cursor: str):
    async with serving() as served:
        problem(await served.get(f"/runs?cursor={cursor}"), 422, "http.bad_cursor")


async def test_a_parameter_that_must_be_there_is_asked_for():
    async with serving() as served:
        found = problem(await served.get("/runs/x/diff"), 400, "http.bad_query")
        assert "`with`" in found["title"]


async def test_a_run_is_shown_as_it_was(db: str):
    async with serving(db) as served:
        id = await served.start("quick", TEA)
        await served.ended(id)
        before = (await served.get(f"/runs/{id}", params={"at": 1})).json()
        assert (before["at"], before["view"]["status"], before["view"]["nodes"]) == (1, "running", [])
        problem(await served.get(f"/runs/{id}", params={"at": 99}), 422, "kernel.bad_moment")


async def test_two_runs_are_compared(db: str):
    async with serving(db) as served:
        a, b = await served.start("quick", TEA), await served.start("quick", {"customer": "Bob"})
        await served.ended(a)
        await served.ended(b)
        found = (await served.get(f"/runs/{a}/diff", params={"with": b})).json()
        assert found["input"] == [{"path": "/customer", "kind": "changed", "a": "Ann", "b": "Bob"}]
        assert {node["id"]: node["change"] for node in found["nodes"]} == {"reserve": "changed", "ship": "changed"}
        problem(await served.get(f"/runs/{a}/diff", params={"with": "nope"}), 404, "kernel.no_run")


async def test_a_timeline_has_a_bar_for_each_node(db: str):
    async with serving(db) as served:
        id = await served.start("quick", TEA)
        run = (await served.ended(id))["run"]
        found = (await served.get(f"/runs/{id}/timeline")).json()
        assert [bar["node"] for bar in found["bars"]] == ["reserve", "ship"]
        assert all(len(bar["tries"]) == 1 for bar in found["bars"])
        assert found["now"] >= run["ended_at"]


async def test_what_tasks_said_is_shown_by_page(db: str):
    async with serving(db) as served:
        id = await served.start("quick", TEA)

        async def lines() -> Any:
            return (await served.get(f"/runs/{id}/logs")).json()["lines"]

        (line,) = await soon(lines)
        assert (line["text"], line["node"], line["level"]) == ("reserving for Ann", "reserve", "info")
        assert (await served.get(f"/runs/{id}/logs", params={"after": line["id"]})).json() == {"lines": []}
        assert (await served.get(f"/runs/{id}/logs", params={"node": "ship"})).json() == {"lines": []}


async def test_html_in_names_and_values_comes_back_as_plain_json(db: str):
    evil = "<script>alert(1)</script>"
    async with serving(db) as served:
        id = await served.start("echo", evil, id=f"x {evil}".replace("/", "|"), labels={evil: evil})
        answer = await served.get(f"/runs/{id.replace('<', '%3C')}")
        assert answer.json()["input"] == evil
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"


async def test_the_list_is_live(db: str):
    async with serving(db) as served:
        await served.start("order", TEA, id="old")
        async with watching(served, "/runs", status="running") as stream:
            first = await anext(stream)
            assert (first.event, [run["id"] for run in first.data["runs"]]) == ("snapshot", ["old"])
            await served.start("order", TEA, id="new")
            second = await anext(stream)
            assert (second.event, [run["id"] for run in second.data["runs"]]) == ("changes", ["new"])
            await served.post("/runs/old/cancel")
            third = await anext(stream)
            assert (third.event, third.data) == ("changes", {"runs": [], "gone": ["old"]})


async def test_namespaces_are_apart(db: str):
    async with serving(db) as served:
        await served.start("order", TEA, id="same", namespace="north")
        await served.start("order", TEA, id="same", namespace="south")
        problem(await served.get("/runs/same"), 404, "kernel.no_run")
        for name in ("north", "south"):
            assert (await served.get("/runs/same", params={"namespace": name})).json()["run"]["namespace"] == name
            assert len((await served.get("/runs", params={"namespace": name})).json()["runs"]) == 1
