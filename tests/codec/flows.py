"""Workflows that put a value everywhere that a run keeps values."""

from __future__ import annotations

from typing import Any

from plait import Context, Retry, step_log, workflow


async def greet(name: str) -> str:
    step_log(f"hello {name}")
    return f"hello {name}"


async def refuse(name: str) -> None:
    raise ValueError(f"{name} is not known")


@workflow
async def echo(ctx: Context, input: Any) -> Any:
    return input


@workflow
async def everywhere(ctx: Context, name: str) -> dict[str, Any]:
    """A result, a log line, a large value, a message, a child, and an approval with form and evidence."""
    said = await ctx.step("greet", greet, name)
    large = await ctx.child("large", echo, [name] * 5_000)
    message = await ctx.listen("news")
    verdict = await ctx.approve("boss", by="boss", title=f"may {name}?", evidence={"name": name})
    return {"said": said, "large": len(large), "news": message and message.body, "why": verdict.comment}


@workflow
async def failing(ctx: Context, name: str) -> None:
    await ctx.step("refuse", refuse, name, retry=Retry(max_attempts=1))


@workflow
async def listener(ctx: Context, name: str) -> Any:
    message = await ctx.listen("go")
    return [name, message and message.body]


@workflow
async def parent(ctx: Context, name: str) -> Any:
    return await ctx.child("child", echo, name)
