"""Replies to the sender of an input that its run refuses or can't take."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Raw

from . import values
from .errors import Conflict, ErrorInfo, PlaitError
from .failures import describe
from .ids import RunId, caller_id
from .inputs import Cancel, Decided, Delegate, Patch, Resume
from .store import Taken

REFUSAL = b'{"error":'
"""Prefix of a refusal, never of an answer."""

ASKED = (Cancel, Decided, Delegate, Patch, Resume)
"""Inputs whose senders wait for an answer."""


def refused(run_id: RunId, blocked: ErrorInfo, keys: Sequence[str]) -> list[Taken]:
    """The replies of a blocked run to senders that wait for an answer."""
    reply = refusal_reply(Conflict(blocked.code, f"run {caller_id(run_id)} is blocked", why=blocked.message))
    return [Taken(key, reply) for key in keys]


def answer_reply(answer: Raw) -> bytes:
    """Encodes an answer. One that looks like a refusal gets a leading space, which JSON ignores."""
    found = bytes(answer)
    return b" " + found if found.startswith(REFUSAL) else found


def refusal_reply(error: PlaitError) -> bytes:
    flaws = {"flaws": error.flaws} if error.flaws else {}
    return values.plain({"error": describe(error), "status": error.status, **flaws})
