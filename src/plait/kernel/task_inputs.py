"""What the tasks of the common kinds take. A dialect asks with these, an executor of that kind reads them.

They are plain data: a task may be done by another process than the one whose decision asked for it. A field that
holds JSON is `Raw`, so that a value passes through a decision without being read.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec
from msgspec import Raw

from .values import ABSENT, NULL

PYTHON: Final = "python"
STEP: Final = "step"
"""A step of a workflow that goes to a queue; it takes the same input as `python`."""
HTTP: Final = "http"
SCRIPT: Final = "script"
CONDITION: Final = "condition"
TOOL: Final = "tool"
PIPELINE: Final = "pipeline"
AGENT: Final = "agent"
AGENT_QUEUE: Final = "agent"
"""Of agents that other processes carry, and that name no queue."""

ROUTE: Final = "plait.route"
"""The only key of a result that also says where to go on: `{"output", "next_nodes", "reasoning"}`."""

EMPTY: Final = Raw(b"{}")


class Callback(msgspec.Struct, frozen=True, gc=False):
    """An address at which the result may be reported later. Who does the task knows it; here is only where it goes."""

    token: str
    """Whose result it is: mostly the task's own token, but a compensator may tell the address of what it undoes."""
    headers: tuple[str, ...] = ()
    """Of an HTTP request."""
    fields: tuple[str, ...] = ()
    """JSON pointers into the arguments, the body or the document."""


class PythonInput(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A call of a registered function."""

    handler: str
    arguments: Raw = EMPTY
    """An object, by parameter name; of the kind `step`, a list unless the call needed keywords."""
    callback: Callback | None = None
    discard: bool = False
    """Nobody wants what it returns."""
    memo: str = ""
    """Equal calls with the same have equal results, which a worker may take from memory; empty: it may not."""


class HttpInput(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One request. The idempotency key is the task's."""

    url: str
    """May hold `{name}`: filled in from `params`, escaped so that a value can't change what the address means."""
    method: str = "POST"
    params: Raw = EMPTY
    headers: dict[str, str] = {}
    body: Raw = ABSENT
    timeout: float | None = None
    retry_statuses: tuple[int, ...] = ()
    """Tried again, beside those from 500 on."""
    max_bytes: int | None = None
    """Of the response's body."""
    expects: Literal["json", "json_or_later", "object", "nothing", "callback", "response", "any_response"] = "json"
    """json_or_later: 202 says that the result comes later. object: nothing and null count as an empty one. callback:
    the result comes later, the response says nothing.
    response: its status, headers and body, whatever that is. any_response: of any status."""
    query: dict[str, str] = {}
    """Added to the address."""
    attempt_field: str = ""
    result_url_field: str = ""
    """JSON pointers into the body: where the number of the attempt goes, and the address for its result."""
    callback: Callback | None = None


class ScriptInput(msgspec.Struct, frozen=True, gc=False):
    language: str
    script: str
    names: tuple[str, ...]
    """Its parameters, in order."""
    document: Raw
    mode: Literal["call", "holds"] = "call"
    """holds: whether the result counts as true in that language."""
    seed: str = ""
    """Decides its random numbers."""
    callback: Callback | None = None
    timeout: float | None = None
    """Seconds of one call, where the language measures time; None is the language's own limit."""


class ConditionInput(msgspec.Struct, frozen=True, gc=False):
    """A condition that needs a sandbox. Its result is a verdict: `{value, error}`."""

    condition: Raw
    """As it was compiled, with what its references stood for."""
    output: Raw = NULL
    ctx: Raw = EMPTY
    input: Raw = NULL
    metadata: Raw = EMPTY
    node: str = ""
    """The node that just finished, whose `output` and `metadata` these are."""


class PipelineInput(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Steps over data; the result is what the last one gives."""

    steps: Raw
    """A list of `{"step", …parameters}`."""
    data: Raw = NULL
    tables: Raw = EMPTY
    """That joins name."""
    into: str = ""
    """The only field of the result that holds it; none: it is the result."""


class ToolInput(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A call of a tool that an MCP server has. Its result is the tool's output as plain JSON; its error has a code:
    `tool_error`, `tool_timeout`, `tool_unavailable`, `tool_not_found`, `tool_ambiguous` or `input_not_object`."""

    tool: str
    """`server:TOOL`, the bare name, or `server_TOOL`."""
    arguments: Raw = EMPTY
    servers: tuple[str, ...] | None = None
    """Where it is looked for; None: all servers that are configured."""
    meta: Raw = EMPTY
    """For the request's `_meta`."""
    timeout: float | None = None
    """Seconds until the call is cancelled; None is the executor's own limit."""
    whole: bool = False
    """The result is `{"result", "output"}`: what the server answered, also when that is an error, and the output."""


class AgentBudget(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """None: no limit."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None

    @property
    def is_limited(self) -> bool:
        return self.max_tokens is not None or self.max_cost_usd is not None


class PreviousResult(msgspec.Struct, frozen=True, gc=False):
    node_id: str
    output: Raw


class AgentInput(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A language model works on something, with tools. Its result is the output; with `next_nodes` it is
    `{ROUTE: {"output", "next_nodes", "reasoning"}}`."""

    model: str
    prompt: str
    execution: str
    """Names the work for idempotency keys; equal on all attempts."""
    generation: int = 0
    """How often all of its attempts had failed, and it was taken up anew under the same name."""
    node_id: str
    payload: Raw = NULL
    instructions: str = ""
    output_schema: Raw = ABSENT
    next_nodes: tuple[str, ...] | None = None
    """What it may choose from; None: it chooses nothing."""
    previous: tuple[PreviousResult, ...] = ()
    """What was done before, newest first."""
    tools: tuple[str, ...] | None = None
    """References of those that it may use; None: the two built-in ones that change nothing."""
    limits: tuple[tuple[str, ...], ...] = ()
    """Further lists that a tool must be in."""
    temperature: float = 0.3
    max_tokens: int = 4_096
    """Of one reply."""
    max_turns: int = 10
    timeout: float = 300.0
    """Seconds that it works; waiting for people and other runs is not counted."""
    budget: AgentBudget = AgentBudget()
    run_budget: AgentBudget = AgentBudget()
    workflow_tag: str = ""
    session_id: str = ""
    user_id: str = ""
    handler: str = ""
    """For workers on queues: `model:<name>`."""
