"""Workflows that the tests of this folder watch."""

from __future__ import annotations

import logging
import threading
from typing import Any

import structlog

from plait import Context, Retry, step, workflow

log = logging.getLogger("shop")

ONCE = Retry(max_attempts=1)
TWICE = Retry(max_attempts=2, first=0.0)


@step
async def speak(text: str) -> str:
    log.info("async says %s", text)
    return text


@step
def speak_in_a_thread(text: str) -> str:
    assert threading.current_thread() is not threading.main_thread()
    log.warning("thread says %s", text)
    return text


@step
async def speak_by_structlog(text: str) -> str:
    structlog.get_logger("shop").info("structlog says", text=text, password="hunter2")
    return text


@workflow
async def chatty(ctx: Context, text: str) -> str:
    await ctx.step("one", speak, text)
    await ctx.step("two", speak_in_a_thread, text)
    return await ctx.step("three", speak_by_structlog, text)


@workflow
async def echo(ctx: Context, input: Any) -> Any:
    return input


@step
async def refuse() -> None:
    raise ValueError("card refused")


@workflow
async def failing(ctx: Context) -> None:
    await ctx.step("pay", refuse, retry=TWICE)


@workflow
async def asking(ctx: Context) -> None:
    await ctx.approve("manager", by="boss")


@workflow
async def family(ctx: Context, depth: int) -> int:
    await ctx.step("one", speak, str(depth))
    if depth:
        await ctx.child("kid", family, depth - 1, id=f"kid-{depth}")
    return depth
