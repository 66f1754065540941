"""Answers by the code of a run: to queries, and the last values that it published.

A query is answered here, from the log, if the run's code is loaded; otherwise its owner is asked. Owners' answers are
kept like those to messages, so that a repeated query shares one while nothing has happened.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from msgspec import Raw

from plait.kernel import values
from plait.kernel.bundle import AnswersCallers
from plait.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable
from plait.kernel.ids import caller_id
from plait.kernel.inputs import Message
from plait.kernel.kernel import Kernel
from plait.kernel.store import RunRow

from .ask import ask

_SHARED = 60_000
"""Milliseconds for which an owner's answer is shared: it may have other code after that."""


def answering(kernel: Kernel, row: RunRow, what: str) -> AnswersCallers:
    """The dialect of a run; raises if its runs don't answer."""
    bundle = kernel.loader.bundle(row.dialect)
    if isinstance(bundle, AnswersCallers):
        return bundle
    raise InvalidInput(
        "kernel.no_answers",
        f"run {caller_id(row.id)} has no {what}",
        why=f"runs of the {row.dialect} dialect have none",
        fix="look at its view and its events",
    )


async def query(kernel: Kernel, row: RunRow, name: str, argument: Any) -> Any:
    bundle = answering(kernel, row, "queries")
    sent = values.encode(argument, max_bytes=kernel.limits.max_payload)
    values.text("the query's name", name)
    try:
        return values.decode(bundle.query((await kernel.peek(row)).machine, name, sent, kernel.clock.now()))
    except (NotFound, Conflict):
        if row.shard in kernel.leases:
            raise
    return await _ask_owner(kernel, row, name, sent)  # the code here is missing or differs


async def published(kernel: Kernel, row: RunRow, key: str) -> Raw | None:
    bundle = answering(kernel, row, "published values")
    return bundle.published((await kernel.peek(row)).machine, key)


async def _ask_owner(kernel: Kernel, row: RunRow, name: str, argument: Raw) -> Any:
    now = kernel.clock.now()
    head = (await kernel.store.heads([row.id])).get(row.id, 0)
    asked = blake2b(f"{name}\0".encode() + bytes(argument), digest_size=12).hexdigest()
    key = f"~query:{asked}:{head}:{now // _SHARED}"
    answer = await ask(kernel, row.id, Message(key, name, argument, now, True, "query"), key)
    if answer is None:
        raise Unavailable(
            "kernel.no_answer",
            f"nobody answers for run {caller_id(row.id)}",
            why="its code is not loaded here, and no engine that has it runs",
            fix="start an engine with its code, or load the code here",
        )
    return values.decode(answer)
