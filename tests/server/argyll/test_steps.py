"""Steps through the mount."""

from __future__ import annotations

from typing import Any

import pytest

from plait.catalog import python_step
from tests.server.argyll.stage import GREET, http, mounted, refused, register, script


async def test_a_step_is_registered_once_and_the_same_again_is_fine():
    async with mounted() as served:
        for _ in range(2):
            answer = await served.client.post("/engine/step", json=GREET)
            assert answer.status_code == 201
            assert answer.json()["message"] == "Step registered"
            assert answer.json()["step"]["id"] == "greet"
        other = await served.client.post("/engine/step", json=GREET | {"name": "Other"})
        assert refused(other, 409, "goals.step_exists") == "step 'greet' exists and differs in name; use update"
        assert (await served.client.get("/engine/catalog/events")).json()["count"] == 1


async def test_steps_are_listed_shown_updated_and_taken_out():
    async with mounted() as served:
        await register(served, GREET, script("b"))
        listed = (await served.client.get("/engine/step")).json()
        assert (listed["count"], [step["id"] for step in listed["steps"]]) == (2, ["b", "greet"])
        answer = await served.client.put("/engine/step/greet", json=GREET | {"name": "Other"})
        assert (answer.status_code, answer.json()["message"]) == (200, "Step updated")
        assert answer.json()["step"]["name"] == "Other"
        assert (await served.client.get("/engine/step/greet")).json() == answer.json()["step"]
        gone = await served.client.delete("/engine/step/greet")
        assert (gone.status_code, gone.json()) == (200, {"message": "Step unregistered"})
        assert (await served.client.get("/engine/step")).json()["count"] == 1


async def test_a_step_that_is_not_there_is_404():
    async with mounted() as served:
        await register(served, script("greeting"))
        words = refused(await served.client.get("/engine/step/greetin"), 404, "goals.step_not_found")
        assert words == "step 'greetin' is not in the catalog; nearest: 'greeting'"
        refused(await served.client.put("/engine/step/greet", json=GREET), 404, "goals.step_not_found")
        refused(await served.client.delete("/engine/step/greet"), 404, "goals.step_not_found")


async def test_ids_in_bodies_are_cleaned():
    async with mounted() as served:
        answer = await served.client.post("/engine/step", json=GREET | {"id": "-Say Hello, World!-"})
        assert answer.json()["step"]["id"] == "say-hello-world"
        flow = script("flow") | {"type": "flow", "flow": {"goals": ["Say Hello World"]}}
        del flow["script"]
        assert (await served.client.post("/engine/step", json=flow)).json()["step"]["flow"] == {
            "goals": ["say-hello-world"]
        }
        for id in ("", "!!!", "---", None, 5):
            refused(await served.client.post("/engine/step", json=GREET | {"id": id}), 400, "mount.bad_id")


async def test_an_update_is_for_the_step_in_its_path():
    async with mounted() as served:
        await register(served, GREET)
        answer = await served.client.put("/engine/step/other", json=GREET)
        assert refused(answer, 400, "mount.bad_id").startswith("the step's id is 'greet', but the path says 'other'")
        assert (await served.client.put("/engine/step/greet", json=GREET | {"id": "Greet!"})).status_code == 200


BAD: list[tuple[Any, str]] = [
    (GREET | {"type": "scrip"}, "goals.step_invalid"),
    (GREET | {"http": {"endpoint": "http://x.org"}}, "goals.step_invalid"),
    (script("a", ["x"], ["y"], "(foo x)"), "goals.script_invalid"),
    ({"id": "a"}, "goals.step_invalid"),
    (http("a", "plait:greet"), "goals.step_invalid"),
    (http("a", "http://x.org") | {"http": {"url": "plait:greet"}}, "goals.step_invalid"),
    (script("a", ["greeting"], ["name"]), "goals.cycle"),
    (script("a") | {"attributes": {"name": {"role": "output", "type": "number"}}}, "goals.type_conflict"),
]


@pytest.mark.parametrize(("step", "code"), BAD)
async def test_a_bad_step_is_400_in_the_mounts_words(step: dict[str, Any], code: str):
    async with mounted() as served:
        typed = {"name": {"role": "required", "type": "string"}, "greeting": {"role": "output", "type": "string"}}
        await register(served, GREET | {"attributes": typed})
        words = refused(await served.client.post("/engine/step", json=step), 400, code)
        assert "; " in words  # what is wrong, and what to do
        assert (await served.client.get("/engine/step")).json()["count"] == 1


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b'{"a":1,"a":2}', b'{"a":NaN}', b"\xff"])
async def test_what_is_no_object_is_400(body: bytes):
    async with mounted() as served:
        for path in ("/engine/step", "/engine/plan", "/engine/flow", "/engine/flow/query"):
            assert (await served.client.post(path, content=body)).status_code == 400


async def test_a_step_that_is_too_large_is_413():
    async with mounted() as served:
        refused(await served.client.post("/engine/step", json=GREET | {"name": "x" * 600_000}), 413, "goals.too_large")
        refused(await served.client.post("/engine/step", content=b"x" * (5 << 20)), 413, "http.body_too_large")


async def test_both_shapes_aliases_and_fields_of_the_future_are_taken():
    async with mounted() as served:
        flat = http("flat", "http://x.org/a") | {
            "attributes": {"greeting": {"role": "optional", "type": "string", "default": '"Hello!"'}},
            "http": {"url": "http://x.org/a", "timeout": 30000},
            "work_config": {"max_retries": 2, "backoff": 7, "backoff_type": "fixed"},
            "tomorrow": True,
        }
        found = (await served.client.post("/engine/step", json=flat)).json()["step"]
        nested = {"role": "optional", "type": "string", "optional": {"default": '"Hello!"'}}
        assert found["attributes"] == {"greeting": nested}
        assert (found["http"]["endpoint"], found["http"]["timeout"]) == ("http://x.org/a", 30000)
        assert found["work_config"]["init_backoff"] == 7
        assert "tomorrow" not in found
        again = flat | {"attributes": {"greeting": nested}}
        assert (await served.client.post("/engine/step", json=again)).status_code == 201  # it is the same step
        empty = script("empty") | {"attributes": {}}
        assert (await served.client.post("/engine/step", json=empty)).json()["step"]["attributes"] == {}


async def test_a_constant_is_taken_as_the_python_client_writes_it():
    async with mounted() as served:
        step = script("a") | {"attributes": {"tone": {"role": "const", "type": "string", "default": '"warm"'}}}
        found = (await served.client.post("/engine/step", json=step)).json()["step"]
        assert found["attributes"] == {"tone": {"role": "const", "type": "string", "const": {"value": '"warm"'}}}


@python_step(id="add")
async def add(a: int, b: int) -> int:
    return a + b


async def test_our_own_types_look_like_sync_steps():
    async with mounted(definitions=(add,)) as served:
        child = {"id": "child", "name": "Child", "type": "run", "run": {"dialect": "code", "definition": "x"}}
        await served.engine.catalog.register(child)
        for id, kind in (("add", "python"), ("child", "run")):
            found = (await served.client.get(f"/engine/step/{id}")).json()
            assert (found["type"], found["plait_type"]) == ("sync", kind)
            assert found["http"]["endpoint"] == f"plait:{id}"
            assert kind not in found
            assert None not in found.values()
            refused(await served.client.put(f"/engine/step/{id}", json=found), 400, "goals.step_invalid")


async def test_the_first_backoff_is_read_under_both_of_its_names():
    """The Python client knows `backoff`, the Go client `init_backoff`; what was shown can be sent back."""
    async with mounted() as served:
        await register(served, http("a", "http://127.0.0.1:9/", ["x"], work_config={"backoff": 250}))
        found = (await served.client.get("/engine/step/a")).json()
        assert (found["work_config"]["backoff"], found["work_config"]["init_backoff"]) == (250, 250)
        assert (await served.client.put("/engine/step/a", json=found)).status_code == 200
