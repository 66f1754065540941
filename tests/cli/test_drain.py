"""`plait drain`: how many runs a version has left, and an exit code that says when there are none."""

import asyncio

from plait import Context, Engine, workflow
from tests.cli.support import Desk


@workflow(version="v1")
async def order(ctx: Context) -> None:
    await ctx.listen("go")


def test_the_exit_code_says_whether_runs_are_left(desk: Desk):
    async def start() -> None:
        async with Engine(desk.db, definitions=[order]) as engine:
            await engine.start(order, id="one", namespace="acme")

    asyncio.run(start())
    left = desk.plait("drain", "--version", "order@v1", "--json")
    assert (left.code, left.json["left"]) == (1, 1)
    assert "order@v1: 1 run left" in desk.plait("drain").out


def test_a_version_is_drained_counted_and_let_go_again(desk: Desk):
    desk.run("hello", "--input", '"Ada"')
    drained = desk.plait("drain", "--version", "hello@v9", "--json")
    assert (drained.code, drained.json) == (0, {"version": "hello@v9", "draining": True, "left": 0})
    assert desk.plait("drain", "--json").json == [{"version": "hello@v9", "left": 0}]
    assert "hello@v9: no runs left" in desk.plait("drain", "--version", "hello@v9", "--wait").out
    assert "new runs start on hello@v9 again" in desk.plait("drain", "--version", "hello@v9", "--undo").out
    assert "no version is being drained" in desk.plait("drain").out


def test_what_is_no_version_is_refused(desk: Desk):
    desk.run("hello", "--input", '"Ada"')
    assert desk.plait("drain", "--version", "hello", "--json").problem["code"] == "engine.no_version"
    assert desk.plait("drain", "--wait", "--json").problem["code"] == "cli.usage"
