"""What an agent's attempt keeps in its journal: enough to go on behind the last entry, and to show each turn.

After `Waiting` comes what the kernel answers: a decision of people, the end of a child run, a time.
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
    """Base of all entries."""


class Begun(Entry, frozen=True, tag="begun"):
    node_id: str
    job_id: str
    model: str
    at: Millis
    max_turns: int
    tools: Sequence[str] = ()
    """The names that it is offered beside the built-in ones: they stay the same for this attempt."""
    prompt_hash: str = ""
    prompt: str | None = None
    """None: prompts are not kept."""
    instructions: str = ""
    execution: str = ""
    attempt: int = 0
    """The number that it began with: a worker that goes on for one that was lost has another. 0: it was not kept."""


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
    """As the provider calls it."""


class FedBack(Entry, frozen=True, tag="fed_back"):
    """The answer of a turn can't be used, and the model is told why."""

    turn: int
    problem: str


class ToolDone(Entry, frozen=True, tag="tool"):
    turn: int
    index: int
    tool: str
    at: Millis
    ms: int = 0
    result: Raw = NULL
    """As the model sees it."""
    data: Raw = ABSENT
    """The whole of it, where the model sees a reference and a preview."""
    ref: str = ""
    error: str = ""
    bad: bool = False
    """The model's own mistake: the call itself can't be read."""
    denied: bool = False


class Waiting(Entry, frozen=True, tag="waiting"):
    kind: Literal["approval", "child", "time"]
    turn: int
    index: int = 0
    tool: str = ""
    until: Millis | None = None
    ms: int = 0
    """How long the model took to say that it has no time."""


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
    """Calls that somebody else made on the way: nothing more is known of them."""


AnyEntry = Begun | Replied | FedBack | ToolDone | Waiting | Ended
decode_entry = msgspec.json.Decoder(AnyEntry).decode
decode_answer = msgspec.json.Decoder(dict[str, Any]).decode


def is_begun(entry: Any) -> bool:
    """Whether a first entry, as readers of the log have it, is that of an agent."""
    return isinstance(entry, dict) and cast("dict[str, Any]", entry).get("entry") == "begun"
