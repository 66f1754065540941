"""The step catalog, plans and runs towards goals, through the API."""

from __future__ import annotations

from typing import Any

import pytest

from plait.server.site import Settings
from tests.server.serving import Served, problem, serving

Steps = dict[str, Any]


def script(id: str, needs: list[str], gives: list[str], ale: str = "{}", **more: Any) -> Steps:
    needed = {name: {"role": "required", "type": "any"} for name in needs}
    given = {name: {"role": "output", "type": "any"} for name in gives}
    body = {"language": "ale", "script": ale}
    return {"id": id, "name": id.title(), "type": "script", "attributes": needed | given, "script": body, **more}


PICK = script("pick", [], ["leaf"], '{:leaf "green"}', labels={"team": "tea"})
BREW = script("brew", ["leaf", "water"], ["tea"], '{:tea (str leaf " tea")}', labels={"team": "tea", "hot": "yes"})


async def save(served: Served, step: Any, mode: str | None = None, **options: Any) -> Any:
    body = {"dialect": "goals", "definition": step} | ({} if mode is None else {"mode": mode})
    return await served.post("/definitions", body, **options)


async def test_a_step_is_registered_updated_and_taken_out():
    async with serving() as served:
        answer = await save(served, BREW)
        assert answer.status_code == 201
        assert answer.json()["step"]["work_config"]["max_retries"] == 10
        assert (await save(served, BREW)).status_code == 200  # the same again
        renamed = BREW | {"name": "Brew well"}
        problem(await save(served, renamed), 409, "goals.step_exists")
        assert (await save(served, renamed, "update")).status_code == 200
        assert (await served.get("/catalog/brew")).json()["step"]["name"] == "Brew well"
        assert (await save(served, PICK, "upsert")).status_code == 201
        assert (await save(served, PICK | {"name": "Pluck"}, "upsert")).status_code == 200

        removed = await served.client.delete("/api/v1/catalog/pick")
        assert removed.json() == {"orphans": {"leaf": ["brew"]}, "flows": []}
        problem(await served.get("/catalog/pick"), 404, "goals.step_not_found")
        problem(await served.client.delete("/api/v1/catalog/pick"), 404, "goals.step_not_found")
        problem(await save(served, PICK, "update"), 404, "goals.step_not_found")


async def test_a_list_of_steps_is_saved_all_or_none():
    async with serving() as served:
        answer = await save(served, [PICK, BREW])
        assert answer.status_code == 201
        assert [step["id"] for step in answer.json()["steps"]] == ["pick", "brew"]
        assert (await save(served, [PICK, BREW])).status_code == 200
        bad = problem(
            await save(served, [script("new", [], ["x"]), PICK | {"type": "scrip"}]), 422, "goals.step_invalid"
        )
        assert [flaw["pointer"] for flaw in bad["errors"]] == ["/definition/1/type"]
        unknown = script("newer", [], ["y"], "(foo)")
        bad = problem(await save(served, [script("new", [], ["x"]), unknown]), 422, "goals.script_invalid")
        assert [flaw["pointer"] for flaw in bad["errors"]] == ["/definition"]
        problem(await save(served, [script("new", [], ["x"]), PICK | {"name": "Other"}]), 409, "goals.step_exists")
        problem(await save(served, [script("new", [], ["x"])], "update"), 404, "goals.step_not_found")
        assert [step["id"] for step in (await served.get("/catalog")).json()["steps"]] == ["brew", "pick"]
        assert (await save(served, [])).json() == {"steps": []}


async def test_the_catalog_shows_steps_names_and_health():
    async with serving() as served:
        empty = (await served.get("/catalog")).json()
        assert empty == {"steps": [], "attributes": {}, "health": {}, "last_updated": 0, "sequence": 0}
        for step in (BREW, PICK):
            await save(served, step)
        found = (await served.get("/catalog")).json()
        assert [step["id"] for step in found["steps"]] == ["brew", "pick"]
        assert found["attributes"]["leaf"] == {"providers": ["pick"], "consumers": ["brew"]}
        assert set(found["health"]) == {"brew", "pick"}
        assert found["sequence"] == 2
        assert found["last_updated"] > 0
        hot = await served.get("/catalog", params=[("label", "team:tea"), ("label", "hot:yes")])
        assert [step["id"] for step in hot.json()["steps"]] == ["brew"]
        assert (await served.get("/catalog/brew")).json()["health"]["status"] in ("unknown", "healthy")


@pytest.mark.parametrize(
    ("step", "status", "code", "pointer"),
    [
        (BREW | {"type": "scrip"}, 422, "goals.step_invalid", "/definition/type"),
        (script("x", ["a"], ["b"], "(foo a)"), 422, "goals.script_invalid", "/definition/script/script"),
        (BREW | {"name": "x" * 600_000}, 413, "goals.too_large", None),
        ("no step", 422, "goals.step_invalid", "/definition"),
        (script("x", ["tea"], ["water"]), 422, "goals.cycle", None),
        (
            script("x", [], []) | {"attributes": {"leaf": {"role": "output", "type": "number"}}},
            422,
            "goals.type_conflict",
            "/definition/attributes/leaf/type",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("goals.") else "",
)
async def test_what_is_wrong_with_a_step_is_said_at_its_place(step: Any, status: int, code: str, pointer: str | None):
    async with serving() as served:
        typed = {
            "leaf": {"role": "required", "type": "string"},
            "water": {"role": "required"},
            "tea": {"role": "output"},
        }
        assert (await save(served, BREW | {"attributes": typed})).status_code == 201
        found = problem(await save(served, step), status, code)
        places = [each["pointer"] for each in found.get("errors", [])]
        assert places[:1] == ([] if pointer is None else [pointer])
        assert (await served.get("/catalog")).json()["sequence"] == 1


async def test_a_plan_shows_its_gaps_and_a_start_refuses_them():
    async with serving() as served:
        for step in (PICK, BREW):
            await save(served, step)
        asked = {"dialect": "goals", "definition": {"goals": ["brew"]}}
        gaps = (await served.post("/plan", asked)).json()
        assert (gaps["valid"], gaps["definition"], gaps["plan"]["required"]) == (False, "brew", ["water"])
        whole = (await served.post("/plan", asked | {"input": {"water": 1}})).json()
        assert (whole["valid"], whole["plan"]["required"], whole["input"]) == (True, [], {"water": 1})
        assert set(whole["plan"]["steps"]) == {"brew", "pick"}
        assert whole["plan"]["attributes"]["leaf"] == {"providers": ["pick"], "consumers": ["brew"]}
        satisfied = (await served.post("/plan", asked | {"input": {"water": 1, "leaf": "black"}})).json()
        assert satisfied["plan"]["excluded"] == {"missing": {}, "satisfied": {"pick": ["leaf"]}, "blocked": {}}
        assert (await served.get("/runs")).json() == {"runs": []}
        problem(await served.post("/runs", asked), 422, "goals.inputs_missing")


async def test_a_run_reaches_its_goal():
    async with serving() as served:
        for step in (PICK, BREW):
            await save(served, step)
        asked = {"dialect": "goals", "definition": {"goals": ["brew"]}, "input": {"water": 1}, "id": "tea-1"}
        assert (await served.post("/runs", asked)).status_code == 201
        done = await served.ended("tea-1")
        assert done["output"] == {"tea": "green tea"}
        assert [node["id"] for node in done["view"]["nodes"]] == ["init", "brew", "pick"]
        assert done["view"]["details"]["plan_diff"]["winners"] == {"leaf": "pick", "tea": "brew"}
        assert (await served.post("/runs", asked)).status_code == 200
        problem(await served.post("/runs", asked | {"input": {"water": 2}}), 409, "goals.run_exists")
        named = {"dialect": "goals", "definition": "pick", "id": "tea-2"}
        assert (await served.post("/runs", named)).status_code == 201


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({"definition": {"goals": ["brwe"]}}, 404, "goals.step_not_found"),
        ({"definition": {"goals": []}}, 422, "goals.no_goals"),
        ({"definition": {}}, 422, "goals.no_goals"),
        ({"definition": {"goals": "brew"}}, 422, "goals.bad_request"),
        ({"definition": {"goals": [1]}}, 422, "goals.bad_request"),
        ({"definition": {"goals": ["brew"], "init": {}}}, 422, "goals.bad_request"),
        ({"definition": {"goals": ["brew"]}, "input": [1]}, 422, "goals.bad_request"),
        ({"definition": {"goals": [f"g{n}" for n in range(65)]}}, 413, "goals.too_large"),
        ({"definition": {"goals": ["brew"]}, "input": {f"n{n}": n for n in range(129)}}, 413, "goals.too_large"),
        ({"definition": {"goals": ["brew"]}, "input": {"x": "x" * (1 << 20)}}, 413, "goals.too_large"),
    ],
)
async def test_plans_and_starts_refuse_the_same(asked: dict[str, Any], status: int, code: str):
    async with serving() as served:
        await save(served, BREW)
        for path in ("/plan", "/runs"):
            problem(await served.post(path, {"dialect": "goals", **asked}), status, code)


async def test_each_namespace_has_a_catalog_of_its_own():
    async with serving(settings=Settings(open=False)) as served:
        keys = {
            name: {"authorization": f"Bearer {(await served.site.auth.keys.create(name, 'editor', name))[1]}"}
            for name in ("north", "south")
        }
        assert (await save(served, PICK, headers=keys["north"])).status_code == 201
        assert (await served.get("/catalog", headers=keys["south"])).json()["steps"] == []
        problem(await served.get("/catalog/pick", headers=keys["south"]), 404, "goals.step_not_found")
        asked = {"dialect": "goals", "definition": {"goals": ["pick"]}, "id": "tea"}
        problem(await served.post("/runs", asked, headers=keys["south"]), 404, "goals.step_not_found")
        assert (await served.post("/runs", asked, headers=keys["north"])).json()["namespace"] == "north"
        assert (await save(served, PICK | {"name": "Other"}, headers=keys["south"])).status_code == 201
