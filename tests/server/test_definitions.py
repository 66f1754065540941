"""Definitions, their versions and tags, and plans."""

from __future__ import annotations

from plait import Context, workflow
from tests.server import flows
from tests.server.serving import problem, serving


@workflow(name="greet", version="1")
async def greet_1(ctx: Context, who: str) -> str:
    """Says hello."""
    return f"hello {who}"


@workflow(name="greet", version="2")
async def greet_2(ctx: Context, who: str) -> str:
    """Says good day."""
    return f"good day {who}"


GREETINGS = (flows, greet_1, greet_2)


async def test_definitions_are_listed_with_what_they_take(db: str):
    async with serving(db) as served:
        found = (await served.get("/definitions")).json()["definitions"]
        assert [each["name"] for each in found] == sorted(each["name"] for each in found)
        order = next(each for each in found if each["name"] == "order")
        assert (order["dialect"], order["loaded"]) == ("code", True)
        assert order["doc"] == "Reserves, waits for a word, ships."
        assert "customer" in str(order["input_schema"])
        assert (await served.get("/definitions", params={"dialect": "goals"})).json() == {"definitions": []}
        assert (await served.get("/definitions/order")).json()["name"] == "order"
        problem(await served.get("/definitions/nope"), 404, "definitions.unknown")


async def test_versions_have_their_source(db: str):
    async with serving(db, definitions=GREETINGS) as served:
        found = (await served.get("/definitions/greet/versions/1")).json()
        assert (found["version"], found["loaded"]) == ("1", True)
        assert "hello" in found["source"]
        problem(await served.get("/definitions/greet/versions/9"), 404, "definitions.no_version")
        problem(await served.get("/definitions/nope/versions/1"), 404, "definitions.unknown")


async def test_a_tag_is_put_moved_started_and_taken_away(db: str):
    async with serving(db, definitions=GREETINGS) as served:
        tag = "/api/v1/definitions/greet/tags/live"
        assert (await served.client.put(tag, json={"version": "1"})).json()["tags"] == {"live": "1"}
        old = await served.start("greet@live", "Ann")
        assert (await served.client.put(tag, json={"version": "2"})).json()["tags"] == {"live": "2"}
        new = await served.start("greet@live", "Ann")
        assert (await served.ended(old))["output"] == "hello Ann"
        assert (await served.ended(new))["output"] == "good day Ann"
        assert (await served.client.delete(tag)).json()["tags"] == {}
        problem(await served.client.delete(tag), 404, "definitions.no_tag")
        problem(await served.client.put(tag, json={"version": "9"}), 404, "definitions.no_version")


async def test_code_is_not_saved_through_the_api():
    async with serving() as served:
        body = {"dialect": "code", "definition": "async def f(ctx): ..."}
        problem(await served.post("/definitions", body), 422, "definitions.not_saved_here")
        problem(await served.post("/definitions", body | {"dialect": "cobol"}), 422, "kernel.no_dialect")


async def test_a_plan_starts_nothing():
    async with serving() as served:
        answer = await served.post("/plan", {"definition": "order", "input": {"customer": "Ann"}})
        found = answer.json()
        assert (found["valid"], found["definition"], found["input"]) == (True, "order", {"customer": "Ann"})
        assert found["notes"]
        assert (await served.get("/runs")).json() == {"runs": []}
        problem(await served.post("/plan", {"definition": "order", "input": {}}), 422, "CODE_INPUT_INVALID")
        problem(await served.post("/plan", {"definition": "nope"}), 404, "CODE_NOT_LOADED")
