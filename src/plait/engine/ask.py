"""Sends a run an input that its owner may refuse, or a message that it answers, perhaps much later."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.callers import Outcome
from plait.kernel.errors import (
    Busy,
    Conflict,
    Damaged,
    ErrorInfo,
    Flaw,
    Forbidden,
    InvalidInput,
    NotFound,
    PlaitError,
    Stale,
)
from plait.kernel.ids import RunId, caller_id
from plait.kernel.inputs import AnyInput, Message
from plait.kernel.kernel import Kernel
from plait.kernel.replies import REFUSAL
from plait.kernel.store import Taken
from plait.kernel.view import RunStatus

_PATIENCE = 5.0
"""Seconds to wait for the answer of an owner in another process; the input itself is durable before that."""


class _Refusal(msgspec.Struct):
    error: ErrorInfo
    status: int = 409
    flaws: list[Flaw] = []


async def ask(
    kernel: Kernel, run_id: RunId, input: AnyInput, key: str | None = None, *, queued: bool = False
) -> Raw | None:
    """Sends the owner an input and raises its refusal. None if no engine answers: the input is taken when one runs. A
    key that was used before returns the first answer. `queued`: the run may wait on a queue."""
    key = key or kernel.ids.key()
    await kernel.send(run_id, input, key, queued=queued)
    replying = kernel.reply(run_id, key)
    try:
        taken = await (
            replying if kernel.owns(run_id) and not kernel.leases.mixed else asyncio.wait_for(replying, _PATIENCE)
        )
    except TimeoutError:
        return None
    if (refusal := refusal_of(taken)) is not None:
        raise refusal
    return None if taken.reply is None else Raw(taken.reply)


async def ask_owner(kernel: Kernel, run_id: RunId, whose: str, input: AnyInput, key: str | None = None) -> Raw | None:
    """Like `ask`, for a run known only from another row: a missing one would never answer."""
    if await kernel.store.run(run_id) is None:
        raise Damaged(f"the row of {whose} is damaged", f"its run {caller_id(run_id)} is not there")
    return await ask(kernel, run_id, input, key)


async def ask_message(
    kernel: Kernel, run_id: RunId, message: Message, wait: float | None = None, *, queued: bool = False
) -> Any:
    """Sends a message, and waits for the answer while the run continues, or for `wait` seconds once it is durable."""
    await kernel.send(run_id, message, message.id, queued=queued)
    replying = asyncio.ensure_future(kernel.reply(run_id, message.id))
    ending = asyncio.ensure_future(kernel.outcome(run_id))
    try:
        done, _ = await asyncio.wait((replying, ending), timeout=wait, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            raise TimeoutError
        if replying.done():
            return answer_of(replying.result())
        return await _last_answer(kernel, run_id, message.id, ending.result())
    finally:
        for waiting in (replying, ending):
            waiting.cancel()
        await asyncio.gather(replying, ending, return_exceptions=True)


async def _last_answer(kernel: Kernel, run_id: RunId, key: str, outcome: Outcome) -> Any:
    """The answer that a run gave before it ended or was blocked."""
    taken = await kernel.store.reply(run_id, key)
    if taken is not None:
        return answer_of(taken)
    if outcome.blocked is not None:
        raise Conflict(
            outcome.blocked.code,
            f"run {caller_id(run_id)} is blocked",
            why=outcome.blocked.message,
            fix=f"the message is kept: once the run continues, ask again with id={key!r}",
        )
    raise unanswered(run_id, outcome.status)


def unanswered(run_id: RunId, status: RunStatus) -> Conflict:
    verb = "was" if status == "cancelled" else "has"
    return Conflict(
        "RUN_FINISHED", f"run {caller_id(run_id)} {verb} {status} without an answer", why="an ended run answers nobody"
    )


def answer_of(taken: Taken) -> Any:
    if (refusal := refusal_of(taken)) is not None:
        raise refusal
    return None if taken.reply is None else values.decode(Raw(taken.reply))


def refusal_of(taken: Taken) -> PlaitError | None:
    """The refusal in a reply, perhaps by an owner in another process; None if it is an answer."""
    if taken.reply is None or not taken.reply.startswith(REFUSAL):
        return None
    refusal = msgspec.json.decode(taken.reply, type=_Refusal)
    info = refusal.error
    what, why, fix = map(str, info.args[1:]) if len(info.args) == 4 else (info.message, "", "")
    kinds = {403: Forbidden, 404: NotFound, 409: Conflict, 412: Stale, 429: Busy}
    return kinds.get(refusal.status, InvalidInput)(info.code, what, why=why, fix=fix, flaws=refusal.flaws)
