"""Idempotency keys of tool calls: `<execution>/<turn>/<index>`.

A call that is repeated after a crash has the same key. So does the same call made by a later attempt at the same place:
its receiver may have handled it already. A different call at that place must not be mistaken for it, so its key also
has a hash of the call. A fork that continues from the middle of a conversation gets keys of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, cast

from plait.definitions.hashing import canonical
from plait.kernel import values
from plait.kernel.events import Recorded
from plait.kernel.ids import RunId
from plait.kernel.task_inputs import AgentInput

from .conversation import Conversation
from .entries import Begun, Replied, decode_entry, is_begun
from .model import ToolCall
from .turn_key import job_id

_SHOWN: Final = 12
"""Characters of the hash used in a key."""

Place = tuple[int, int]
"""Turn and index."""
FirstCalls = Callable[[RunId, str], Awaitable[Mapping[Place, str]]]
"""Loads the hashes of the calls made by the first attempt of an execution."""


class CallKeys:
    """Idempotency keys for one attempt."""

    def __init__(
        self, wanted: AgentInput, run_id: RunId, attempt: int, talk: Conversation, first_calls: FirstCalls
    ) -> None:
        """`attempt`: the number of the attempt that began the conversation."""
        self._execution = wanted.execution
        self._run_id = run_id
        self._is_first = attempt == 1 and not wanted.generation
        begun_elsewhere = talk.first is not None and talk.first.job_id != job_id(wanted, run_id, attempt)
        self._fork = run_id if begun_elsewhere else ""
        self._first_calls = first_calls
        self._known: Mapping[Place, str] | None = None

    async def of(self, turn: int, index: int, call: ToolCall) -> str:
        place = f"{self._execution}/{turn}/{index}"
        if self._is_first and not self._fork:
            return place
        if self._known is None:
            self._known = {} if self._fork else await self._first_calls(self._run_id, self._execution)
        if self._known.get((turn, index)) == digest_of(call):
            return place
        return f"{place}/{digest_of(call, self._fork)[:_SHOWN]}"


def digest_of(call: ToolCall, *more: str) -> str:
    return hashlib.sha256(canonical([call.name, call.arguments, *more])).hexdigest()


def first_calls(events: Iterable[Recorded], execution: str) -> dict[Place, str]:
    """The calls of an execution's first attempt, read from the run's log, including those without a result. If its
    worker was lost, another continued it under the next number."""
    first = ""
    found: dict[Place, str] = {}
    for event in events:
        if event.type != "task.journaled":
            continue
        token, entry = str(event.data["token"]), event.data.get("entry")
        if not first and _begins(entry, execution):
            first = token
        elif token == first and not event.data["index"]:
            return found  # the second attempt begins here
        elif token == first and _is_reply(entry):
            reply = decode_entry(values.encode(entry))
            if isinstance(reply, Replied):
                found |= {(reply.turn, index): digest_of(call) for index, call in enumerate(reply.tool_calls)}
    return found


def _begins(entry: Any, execution: str) -> bool:
    if not is_begun(entry):
        return False
    begun = decode_entry(values.encode(entry))
    return isinstance(begun, Begun) and begun.execution == execution


def _is_reply(entry: Any) -> bool:
    """Between entries there are answers to waits, in any shape."""
    return isinstance(entry, dict) and cast("dict[str, Any]", entry).get("entry") == "replied"
