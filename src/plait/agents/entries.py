"""What an agent's attempt keeps in its journal: enough to continue after the last entry, and to show each turn.

A `Waiting` entry is followed by the kernel's answer: a person's decision, the end of a child run, or a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import msgspec
from msgspec import Raw

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis
from plait.kernel.values import ABSENT, NULL

from .model import Finish, ToolCall, Usage


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="entry", gc=False):
    """Base class of all entries."""


class Begun(Entry, frozen=True, tag="begun"):
    node_id: str
    job_id: str
    model: str
    at: Millis
    max_turns: int
    tools: Sequence[str] = ()
    """The tools offered beside the built-in ones; they stay the same for the whole attempt."""
    prompt_hash: str = ""
    prompt: str | None = None
    """None if prompts are not kept."""
    instructions: str = ""
    execution: str = ""
    attempt: int = 0
    """The attempt number at the beginning; a worker that takes over from a lost one has another. 0 if not recorded."""


class Replied(Entry, frozen=True, tag="replied"):
    turn: int
    at: Millis
    ms: int
    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    finish: Finish = "stop"
    usage: Usage = Usage()
    cost_usd: float | None = None
    model: str = ""
    """The provider's name for it."""


class FedBack(Entry, frozen=True, tag="fed_back"):
    """The answer of a turn was rejected; the model is told why."""

    turn: int
    problem: str


class ToolDone(Entry, frozen=True, tag="tool"):
    turn: int
    index: int
    tool: str
    at: Millis
    ms: int = 0
    result: Raw = NULL
    """The result as shown to the model."""
    data: Raw = ABSENT
    """The full value, if the model only sees a reference and a preview."""
    ref: str = ""
    error: str = ""
    bad: bool = False
    """A mistake of the model: the call itself can't be parsed."""
    denied: bool = False


class Waiting(Entry, frozen=True, tag="waiting"):
    kind: Literal["approval", "child", "time"]
    turn: int
    index: int = 0
    tool: str = ""
    until: Millis | None = None
    ms: int = 0
    """How long the model took to report that it is rate limited."""


class Ended(Entry, frozen=True, tag="ended"):
    at: Millis
    status: Literal["completed", "failed"]
    output: Raw = NULL
    next_nodes: Sequence[str] | None = None
    reasoning: str = ""
    error: ErrorInfo | None = None
    retryable: bool = False
    warnings: Sequence[str] = ()
    calls: Sequence[ToolCall] = ()
    """Calls made by an external worker; nothing more is known about them."""


AnyEntry = Begun | Replied | FedBack | ToolDone | Waiting | Ended
decode_entry = msgspec.json.Decoder(AnyEntry).decode
decode_answer = msgspec.json.Decoder(dict[str, Any]).decode


def is_begun(entry: Any) -> bool:
    """Whether an entry, as decoded from the log, begins an agent's attempt."""
    return isinstance(entry, dict) and cast("dict[str, Any]", entry).get("entry") == "begun"
