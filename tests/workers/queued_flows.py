"""Steps on a queue, and workflows that want them: loaded by engines and by workers."""

import asyncio
import threading
import time
from typing import Any, TypedDict

from plait import Context, Retry, heartbeat, step, step_info, step_log, workflow
from plait.catalog import python_step

started: asyncio.Event | None = None
"""Set by a step that then waits to be stopped."""
stopped: asyncio.Event | None = None


class Refused(Exception):
    pass


@step(queue="gpu")
async def double(n: int) -> int:
    return 2 * n


@step(queue="gpu")
def blocking(n: int) -> str:
    time.sleep(0)
    info = step_info()
    return f"{info.path} {info.attempt} {info.idempotency_key} {n}"


@step(queue="gpu", retry=Retry(max_attempts=5, never=(Refused,)))
async def refused() -> None:
    raise Refused("not this one")


def _break() -> None:
    lost = ValueError("the page is lost")
    lost.add_note("page 7")
    try:
        raise KeyError("page")
    except KeyError as error:
        raise ExceptionGroup("two things", [lost, Refused("no ink")]) from error


@step(max_attempts=1)
def breaking_here() -> None:
    _break()


@step(queue="gpu", max_attempts=1)
def breaking() -> None:
    _break()


@workflow
async def catching(ctx: Context, place: str) -> list[str]:
    """What a step raised, as its caller gets it."""
    try:
        await ctx.step("break", breaking_here if place == "here" else breaking)
    except Exception as error:
        group = error.__cause__
        assert isinstance(group, ExceptionGroup)
        notes = [note for part in group.exceptions for note in getattr(part, "__notes__", ())]
        return [*map(repr, group.exceptions), *notes, repr(group.__cause__)]
    return []


@step(queue="gpu", timeout=0.05)
async def slow() -> None:
    await asyncio.Event().wait()


@step(queue="gpu", timeout=None)
async def endless() -> None:
    assert started is not None
    heartbeat({"page": 3})
    started.set()
    try:
        await asyncio.Event().wait()
    finally:
        if stopped is not None:
            stopped.set()


@step(queue="gpu")
async def chatty(lines: int) -> int:
    for number in range(lines):
        step_log(f"page {number}", level="warning" if number else "info")
    return lines


@step(queue="gpu")
def chatty_thread() -> None:
    step_log("from a thread")


@step(queue="gpu", timeout=None)
async def chatty_and_endless() -> None:
    step_log("still here")
    await asyncio.Event().wait()


@workflow
async def talk(ctx: Context, lines: int) -> None:
    await ctx.step("chatty", chatty, lines)
    await ctx.step("thread", chatty_thread)


@workflow
async def talk_on(ctx: Context) -> None:
    await ctx.step("on", chatty_and_endless)


@step(queue="gpu")
async def unserializable() -> Any:
    return object()


@step(queue="gpu")
async def large() -> str:
    return "x" * 50_000


@step(queue="gpu", timeout=None)
def stubborn(path: str) -> None:
    with open(path, "w") as begun:
        begun.write("begun")
    threading.Event().wait()


@workflow
async def insist(ctx: Context, path: str) -> None:
    await ctx.step("stubborn", stubborn, path)


@workflow
async def calls(ctx: Context, what: str) -> Any:
    return await ctx.step(what, STEPS[what], *ARGUMENTS.get(what, ()))


STEPS: dict[str, Any] = {each.name: each for each in (double, blocking, refused, slow, endless, unserializable, large)}
ARGUMENTS: dict[str, tuple[Any, ...]] = {"double": (21,), "blocking": (7,)}


@python_step(queue="gpu")
def shout(text: str) -> str:
    """Says it loudly."""
    return text.upper()


undone: list[str] = []


def unbook(input: dict[str, Any], output: dict[str, Any]) -> None:
    undone.append(input["text"])


class Room(TypedDict):
    room: int


class Receipt(TypedDict):
    receipt: str


@python_step(queue="gpu", compensate=unbook)
def book_room(text: str) -> Room:
    """Books a room."""
    return {"room": 7}


@python_step(configure=lambda made: made.no_retries())
def pay_room(room: int) -> Receipt:
    """Pays for the room, which never works."""
    raise Refused("no money")


looked_up: list[str] = []


class Rate(TypedDict):
    rate: int


@python_step(queue="gpu", configure=lambda made: made.memoizable().no_retries())
def look_up(country: str) -> Rate:
    """Looks up a rate, which stays the same; not that of nowhere."""
    looked_up.append(country)
    if country == "nowhere":
        raise Refused("no such country")
    return {"rate": len(country)}
