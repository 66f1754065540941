"""A desk for each test: a folder, a module of workflows with a name of its own, a database."""

import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.cli.support import Desk, ServedDesk, server_on

_numbers = count(1)

WORKFLOWS = """\
from pathlib import Path

from plait import Context, Loop, Retry, Undo, step, step_log, workflow

QUICK = Retry(max_attempts=2, first=0.001)


def fail_while(name: str) -> str:
    if Path(name).exists():
        raise ValueError(f"{name} is in the way")
    return "passed"


@step(retry=QUICK)
def gate() -> str:
    return fail_while("closed")


@step(retry=QUICK)
def put_back(undo: Undo) -> None:
    fail_while("stuck")
    Path("undone").write_text(undo.step)


@workflow
async def hello(ctx: Context, name: str) -> str:
    return await ctx.step("greet", lambda: f"hello {name}", returns=str)


@workflow
async def nothing(ctx: Context) -> None:
    return None


@workflow
async def gated(ctx: Context) -> str:
    await ctx.step("before", lambda: 1)
    return await ctx.step("gate", gate)


@workflow
async def waits(ctx: Context) -> dict:
    await ctx.step("before", lambda: {"n": 1})
    message = await ctx.listen("go")
    return {"got": message.body}


@workflow
async def cart(ctx: Context) -> list:
    items = []

    async def add(ctx: Context, item: str) -> int:
        items.append(item)
        return len(items)

    def must_be_short(item: str) -> None:
        if len(item) > 9:
            raise ValueError(f"{item} is too long")

    ctx.on_update("add", add, must_be_short)
    ctx.on_query("items", lambda: items)
    await ctx.listen("pay")
    return items


def chat() -> None:
    step_log("I begin")
    step_log("this is odd", "warning")


@workflow
async def talks(ctx: Context) -> None:
    await ctx.step("chat", chat)
    await ctx.step("more", lambda: step_log("and more"))


@workflow
async def talks_later(ctx: Context) -> None:
    await ctx.step("chat", chat)
    await ctx.listen("go")
    await ctx.step("more", lambda: step_log("and more"))


@workflow
async def asks(ctx: Context) -> dict:
    verdict = await ctx.approve("ok", by="boss")
    return {"approved": verdict.approved, "by": verdict.by, "comment": verdict.comment}


@workflow
async def asks_how_much(ctx: Context) -> int:
    verdict = await ctx.approve("budget", form={"type": "integer", "maximum": 900}, evidence={"asked": 700})
    return verdict.data


@workflow
async def asks_twice(ctx: Context) -> None:
    await ctx.join("both", a=lambda c: c.approve("first"), b=lambda c: c.approve("second"))


@workflow
async def asks_the_board(ctx: Context) -> str:
    return (await ctx.approve("budget", required=2, approvers=["ada", "bob"])).by


@workflow
async def careful(ctx: Context) -> None:
    await ctx.step("take", lambda: 1, rollback=put_back)
    await ctx.listen("go")


@workflow
async def sums(ctx: Context, upto: int) -> int:
    async def add(c: Context, state: list[int]):
        i, total = state
        total = await c.step("add", lambda: total + i, returns=int)
        return Loop.continue_([i + 1, total]) if i < upto else Loop.break_(total)

    return await ctx.loop("rounds", add, state=[1, 0], returns=int)
"""


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.delenv("PLAIT_DB", raising=False)
    monkeypatch.delenv("PLAIT_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    path, modules = list(sys.path), set(sys.modules)
    desk = Desk(tmp_path, f"shop_{next(_numbers)}")
    desk.write(WORKFLOWS)
    if getattr(request, "param", "database") == "server":
        monkeypatch.chdir(tmp_path)  # where the steps of the server's runs look for their files
        with server_on(desk) as url:
            monkeypatch.setenv("PLAIT_DB", url)
            yield ServedDesk(desk.folder, desk.module, url)
    else:
        yield desk
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith(("shop_", "examples")):
            del sys.modules[name]
