"""Messages of an embedded run, appended from outside: each under a key of its own, behind all earlier ones.

A key-value store has no append, so a sender reads what is there and writes the next key. As that takes two calls,
users of the same driver take turns. Coordinating several processes is up to the host, as for everything else of a run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from plait.dialects.code.message_queue import QueuedMessage
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import Busy, Conflict, InvalidInput
from plait.kernel.ids import Ids, RunId
from plait.kernel.inputs import Message
from plait.kernel.limits import Limits

from .driver import Driver, KeyValue
from .entries import message_of
from .keys import MESSAGES, index_of, pack
from .mirror import Mirror

_PREFIX = pack(MESSAGES)
_MOST = Limits().max_queued_messages
_turns: dict[int, _Turn] = {}


class _Turn:
    """The lock of a driver's senders; dropped when unused, because a lock belongs to one event loop."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


@asynccontextmanager
async def appending(driver: Driver) -> AsyncGenerator[None]:
    """Takes turns with all others that append through this driver."""
    turn = _turns.setdefault(id(driver), _Turn())
    turn.users += 1
    try:
        async with turn.lock:
            yield
    finally:
        turn.users -= 1
        if not turn.users:
            del _turns[id(driver)]


def new_message(name: str, body: Any, id: str | None, ids: Ids, clock: Clock) -> Message:
    if not values.text("the message's name", name):
        raise InvalidInput("value.bad_text", "the message has no name", fix="name what the run listens for")
    key = ids.key() if id is None else values.text("the message's id", id, max_length=200)
    return Message(key, name, values.encode(body, max_bytes=Limits().max_payload), clock.now())


async def append(driver: Driver, message: Message, last: int) -> KeyValue:
    """Stores a message behind all waiting ones, and behind index `last`, the highest known: one that was taken may
    return to its old place."""
    present = [index_of(key) for key, _ in await driver.list(_PREFIX)]
    if len(present) >= _MOST:
        raise Busy("kernel.queue_full", f"{_MOST:,} messages wait for this run", fix="send again later")
    key = pack(MESSAGES, max([last, *present]) + 1)
    value = message_of(QueuedMessage(message.id, message.name, message.body, message.sent_at))
    await driver.set(key, value)
    return key, value


async def append_for_later(driver: Driver, run_id: RunId, workflow_id: str, message: Message) -> None:
    """Stores a message for the next pass, as none is running."""
    async with appending(driver):
        mirror = Mirror(run_id)
        mirror.load(await driver.list(b""))
        if mirror.knows(message.id):
            return  # sent again, perhaps because the answer was lost
        status = mirror.state.status
        if status != "running":
            raise Conflict("RUN_FINISHED", f"run {workflow_id} has {status}", why="an ended run takes no messages")
        await append(driver, message, mirror.last_message)
