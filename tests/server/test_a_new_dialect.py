"""A dialect that nobody here knows: its bundle is all it takes for the API, the page's data and the command line."""

from __future__ import annotations

import asyncio
import sys

from tests.kernel.toy import ToyBundle
from tests.server.serving import problem, serving

PROGRAM = {"program": [{"kind": "task", "name": "boil"}, {"kind": "count", "amount": 2}]}


async def plait(*args: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "plait.cli.main", *args, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    return output.decode()


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


async def test_what_it_refuses_is_a_problem(db: str):
    async with serving(db, definitions=(ToyBundle(),)) as served:
        answer = await served.post("/runs", {"dialect": "toy", "definition": {"program": ["unknown"]}})
        problem(answer, 422, "toy.unknown_move")
