"""Telling a run something that its owner may refuse."""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Raw

from plait.kernel.errors import Busy, Conflict, ErrorInfo, Forbidden, InvalidInput, NotFound, PlaitError
from plait.kernel.ids import RunId
from plait.kernel.inputs import AnyInput
from plait.kernel.kernel import Kernel
from plait.kernel.store import Taken

_PATIENCE = 5.0
"""Seconds to wait for the answer of an owner in another process; the input itself is durable before that."""


class _Refusal(msgspec.Struct):
    error: ErrorInfo
    status: int = 409


async def ask(kernel: Kernel, run_id: RunId, input: AnyInput) -> Raw | None:
    """Gives the owner an input and raises what it refuses. None if no engine answers: it is taken when one runs."""
    asking = kernel.ask(run_id, input, kernel.ids.key())
    try:
        taken = await (asking if kernel.owns(run_id) else asyncio.wait_for(asking, _PATIENCE))
    except TimeoutError:
        return None
    if (refusal := refusal_of(taken)) is not None:
        raise refusal
    return None if taken.reply is None else Raw(taken.reply)


def refusal_of(taken: Taken) -> PlaitError | None:
    """What the owner, perhaps in another process, had against an input."""
    if taken.reply is None or not taken.reply.startswith(b'{"error":'):
        return None
    refusal = msgspec.json.decode(taken.reply, type=_Refusal)
    info = refusal.error
    what, why, fix = map(str, info.args[1:]) if len(info.args) == 4 else (info.message, "", "")
    cls = {403: Forbidden, 404: NotFound, 409: Conflict, 429: Busy}.get(refusal.status, InvalidInput)
    return cls(info.code, what, why=why, fix=fix)
