"""A dialect that nobody here knows: its bundle is all it takes for the API, the page's data and the command line."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Mapping

import pytest

from plait.client import Client
from plait.errors import Conflict, PlaitError
from plait.kernel.bundle import Retell
from plait.server.site import Settings
from tests.kernel.toy import ToyBundle
from tests.server.serving import Served, problem, serving, soon
from tests.support.processes import start

PROGRAM = {"program": [{"kind": "task", "name": "boil"}, {"kind": "count", "amount": 2}]}


async def plait(*args: str, code: int = 0) -> str:
    process = start("plait.cli.main", *args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, _ = await asyncio.to_thread(process.communicate)
    assert process.returncode == code, output
    return output


async def test_its_runs_start_move_and_are_shown(db: str):
    bundle = ToyBundle({"boil": lambda: "hot"})
    async with serving(db, definitions=(bundle,)) as served:
        answer = await served.post("/runs", {"dialect": "toy", "definition": PROGRAM, "id": "tea"})
        assert answer.status_code == 201, answer.text
        for number in (1, 2):
            await served.post("/runs/tea/messages", {"name": "add", "body": 1, "id": f"m-{number}"})
        shown = await served.ended("tea")
        assert shown["output"] == {"counter": 2, "outputs": ["hot", 2]}
        assert [node["kind"] for node in shown["view"]["nodes"]] == ["task", "count"]
        assert "toy" in (await served.get("/me")).json()["dialects"]
        assert [run["id"] for run in (await served.get("/runs?dialect=toy")).json()["runs"]] == ["tea"]


async def test_the_command_line_shows_them(db: str):
    async with serving(db, definitions=(ToyBundle(),)) as served:
        await served.post("/runs", {"dialect": "toy", "definition": PROGRAM, "id": "tea"})
        assert "tea" in await plait("runs", "--db", served.url)
        assert "move:0" in await plait("show", "tea", "--db", served.url)
        assert "count 2" in await plait("why", "tea", "--db", served.url)
        await plait("cancel", "tea", "--db", served.url)
        await served.ended("tea", "cancelled")


async def test_its_log_is_told_in_words_of_its_own(db: str):
    class Telling(ToyBundle):
        @property
        def feeds(self) -> Mapping[str, Retell]:
            return {"ends": lambda event: event if event.type == "run.completed" else None}

    async with serving(db, definitions=(Telling({"boil": lambda: "hot"}),)) as served:
        program = {"program": [{"kind": "task", "name": "boil"}]}
        await served.post("/runs", {"dialect": "toy", "definition": program, "id": "tea"})
        await served.ended("tea")
        page = (await served.get("/runs/tea/events?feed=ends")).json()
        assert [event["type"] for event in page["events"]] == ["run.completed"]
        refused = problem(await served.get("/runs/tea/events?feed=compat"), 404, "runs.no_feed")
        assert refused["fix"] == "their feeds: ends"


async def test_what_it_refuses_is_a_problem(db: str):
    async with serving(db, definitions=(ToyBundle(),)) as served:
        answer = await served.post("/runs", {"dialect": "toy", "definition": {"program": ["unknown"]}})
        problem(answer, 422, "toy.unknown_move")


async def test_its_definitions_are_saved_tagged_and_started_by_name(db: str):
    async with serving(db, definitions=(ToyBundle(),)) as served:
        tea = {"dialect": "toy", "name": "tea", "definition": {"program": [{"kind": "task", "name": "boil"}]}}
        first = await served.post("/definitions", tea)
        assert (first.status_code, first.json()["version"]) == (201, "1")
        assert (await served.post("/definitions", tea)).status_code == 200
        await served.post("/definitions", tea | {"definition": PROGRAM})
        await served.client.put("/api/v1/definitions/tea/tags/prod", json={"version": "1"})
        assert "boil" in (await served.get("/definitions/tea/versions/prod")).json()["source"]
        for body in ({"definition": "tea@prod", "id": "a"}, {"dialect": "toy", "definition": "tea@prod", "id": "b"}):
            assert (await served.post("/runs", body)).status_code == 201
            shown = await served.ended(body["id"])
            assert (shown["output"]["outputs"], shown["run"]["version"]) == (["boil"], "1")
        assert "boil" in await plait("run", "tea@prod", "--db", served.url)
        assert "tea" in await plait("definitions", "--db", served.url)


async def test_a_saved_name_that_is_mistyped_gets_the_same_answer_everywhere(db: str):
    async with serving(db, definitions=(ToyBundle(),)) as served:
        await served.post("/definitions", {"dialect": "toy", "name": "tea", "definition": PROGRAM})
        for asked in ("tee", "tea@3"):
            with pytest.raises(PlaitError) as refused:
                await served.engine.start(asked)
            told = problem(await served.post("/runs", {"definition": asked}), 404, refused.value.code)
            assert told["detail"] == f"{refused.value.what}: {refused.value.why}"
            assert told["fix"] == refused.value.fix
            assert refused.value.what in await plait("run", asked, "--db", served.url, code=2)
        other = await served.post("/runs", {"definition": "tea", "namespace": "acme"})
        assert "tea" not in problem(other, 404, "CODE_NOT_LOADED")["fix"]


async def test_source_and_json_of_other_kinds_are_refused_by_the_dialect(db: str):
    async with serving(db, definitions=(ToyBundle(),)) as served:
        for wrong in ("boil; pour", [1], 5, None):
            answer = await served.post("/definitions", {"dialect": "toy", "name": "tea", "definition": wrong})
            assert answer.status_code == 422, answer.text


WONDERS = {"program": [{"kind": "count", "amount": 1}, {"kind": "answer", "name": '"because"'}]}


async def test_an_answer_that_comes_later_reaches_who_asked(db: str):
    async with serving(db, definitions=(ToyBundle(),)) as served, Client(served.url) as client:
        await served.post("/runs", {"dialect": "toy", "definition": WONDERS, "id": "tea"})
        question = {"name": "wonder", "id": "q", "wait_ms": 1}
        unanswered = await served.post("/runs/tea/messages", question)
        assert (unanswered.status_code, unanswered.json()) == (202, {"id": "q"})
        remote = asyncio.ensure_future((await client.get("tea")).ask("wonder", id="other"))
        printed = asyncio.ensure_future(plait("message", "tea", "wonder", "--wait", "30", "--db", served.url))
        await soon(lambda: wondering(served, 3))
        await served.post("/runs/tea/messages", {"name": "add", "body": 1})
        assert await remote == "because"
        assert "because" in await printed
        await served.ended("tea")
        again = await served.post("/runs/tea/messages", question | {"wait_ms": 30_000})
        assert (again.status_code, again.json()) == (200, {"id": "q", "answered": True, "answer": "because"})


async def wondering(served: Served, number: int) -> bool:
    events = await (await served.engine.get("tea")).events()
    return [event.type for event in events].count("wondered") == number


async def test_a_run_that_ends_without_an_answer_is_a_conflict_everywhere(db: str):
    async with serving(db, definitions=(ToyBundle(),)) as served, Client(served.url) as client:
        await served.post("/runs", {"dialect": "toy", "definition": PROGRAM, "id": "tea"})
        late = await plait("message", "tea", "wonder", "--wait", "0.01", "--db", served.url, code=2)
        assert "has not answered in 0.01 s" in late
        remote = asyncio.ensure_future((await client.get("tea")).ask("wonder"))
        await soon(lambda: wondering(served, 2))
        await served.post("/runs/tea/cancel", {})
        with pytest.raises(Conflict, match="cancelled without an answer"):
            await remote
        answer = await served.post("/runs/tea/messages", {"name": "wonder", "id": "late", "wait_ms": 1000})
        problem(answer, 409, "RUN_FINISHED")
        elsewhere = await served.post("/runs/tea/messages?namespace=acme", {"name": "wonder", "wait_ms": 1000})
        problem(elsewhere, 404, "kernel.no_run")


PATCH = {"operations": [{"kind": "count", "amount": 3}], "base_revision": 1}


async def test_a_patch_names_its_author_and_the_revision_it_was_made_for(db: str):
    async with serving(db, definitions=(ToyBundle(),), settings=Settings(open=False)) as served:
        _, ann = await served.site.auth.keys.create("ann", "editor", "*")
        _, bob = await served.site.auth.keys.create("bob", "editor", "*")
        served.client.headers["authorization"] = f"Bearer {ann}"
        await served.post("/runs", {"dialect": "toy", "definition": PROGRAM, "id": "tea"})
        done = await served.post("/runs/tea/patch", PATCH)
        assert (done.status_code, done.json()) == (200, {"id": "tea", "status": "running", "revision": 2})
        stale = problem(await served.post("/runs/tea/patch", PATCH), 412, "kernel.revision_stale")
        assert stale["title"] == "run tea is at revision 2"
        asked = json.dumps(PATCH["operations"])
        last = await plait("patch", "tea", asked, "--base", "2", "--db", served.url, "--key", bob, "--json")
        assert json.loads(last)["revision"] == 3
        refused = await plait("patch", "tea", asked, "--base", "1", "--db", served.url, "--key", bob, code=2)
        assert "run tea is at revision 3" in refused
        events = (await served.get("/runs/tea/events")).json()["events"]
        patched = [event["data"] for event in events if event["type"] == "run.patched"]
        assert patched == [{"revision": 2, "by": "ann"}, {"revision": 3, "by": "bob"}]
        assert (await served.get("/runs/tea")).json()["view"]["revision"] == 3
        problem(await served.post("/runs/tea/patch?namespace=acme", PATCH), 404, "kernel.no_run")


async def test_operations_that_are_no_list_of_objects_are_refused_by_the_command_line(db: str):
    async with serving(db, definitions=(ToyBundle(),)) as served:
        await served.post("/runs", {"dialect": "toy", "definition": PROGRAM, "id": "tea"})
        for wrong in ("{}", "[1]", "5"):
            assert "list of JSON objects" in await plait("patch", "tea", wrong, "--db", served.url, code=2)
