"""Inputs of the common kinds of tasks. A dialect creates them, an executor of that kind reads them.

They are plain data: another process than the owner's may execute the task. A field that holds JSON is `Raw`, so that a
value passes through a decision without being decoded.
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
"""The queue of agent tasks that run in other processes and name no queue."""

ROUTE: Final = "plait.route"
"""The only key of a result that also chooses the next nodes: `{"output", "next_nodes", "reasoning"}`."""

EMPTY: Final = Raw(b"{}")


class Callback(msgspec.Struct, frozen=True, gc=False):
    """A callback address for the result. The executor knows the address; this only tells where to put it."""

    token: str
    """The token whose result is reported: mostly the task's own, but a compensator may get that of the task it
    compensates."""
    headers: tuple[str, ...] = ()
    """Headers of an HTTP request."""
    fields: tuple[str, ...] = ()
    """JSON pointers into the arguments, the body or the document."""


class PythonInput(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A call of a registered function."""

    handler: str
    arguments: Raw = EMPTY
    """An object by parameter name; for the kind `step`, a list unless the call needed keywords."""
    callback: Callback | None = None
    discard: bool = False
    """The return value is not needed."""
    memo: str = ""
    """Equal calls with the same memo have equal results, which a worker may take from its cache; empty: not
    cacheable."""


class HttpInput(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One request. The idempotency key is the task's."""

    url: str
    """May contain `{name}`: filled in from `params`, escaped so that a value can't change what the address means."""
    method: str = "POST"
    params: Raw = EMPTY
    headers: dict[str, str] = {}
    body: Raw = ABSENT
    timeout: float | None = None
    retry_statuses: tuple[int, ...] = ()
    """Statuses to retry, beside those from 500 on."""
    max_bytes: int | None = None
    """Most bytes of the response's body."""
    expects: Literal["json", "json_or_later", "object", "nothing", "callback", "response", "any_response"] = "json"
    """`json_or_later`: 202 means that the result comes later. `object`: nothing and null count as an empty one.
    `callback`: the result comes later, and the response is ignored. `response`: its status, headers and body, whatever
    that is. `any_response`: the same, with any status."""
    query: dict[str, str] = {}
    """Query parameters added to the address."""
    attempt_field: str = ""
    result_url_field: str = ""
    """JSON pointers into the body: where the attempt number goes, and the address for its result."""
    callback: Callback | None = None


class ScriptInput(msgspec.Struct, frozen=True, gc=False):
    language: str
    script: str
    names: tuple[str, ...]
    """Parameter names, in order."""
    document: Raw
    mode: Literal["call", "holds"] = "call"
    """`holds`: the result is whether the value counts as true in that language."""
    seed: str = ""
    """Seed of its random numbers."""
    callback: Callback | None = None
    timeout: float | None = None
    """Seconds for one call, if the language measures time; None: the language's own limit."""


class ConditionInput(msgspec.Struct, frozen=True, gc=False):
    """A condition that needs a sandbox. Its result is a verdict: `{value, error}`."""

    condition: Raw
    """The compiled condition, with its references resolved."""
    output: Raw = NULL
    ctx: Raw = EMPTY
    input: Raw = NULL
    metadata: Raw = EMPTY
    node: str = ""
    """The node that just finished, whose `output` and `metadata` these are."""


class PipelineInput(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Steps over data; the result is that of the last step."""

    steps: Raw
    """A list of `{"step", …parameters}`."""
    data: Raw = NULL
    tables: Raw = EMPTY
    """Tables named by joins."""
    into: str = ""
    """The only field of the result, which holds the data; empty: the data is the result."""


class ToolInput(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A call of an MCP server's tool. The result is the tool's output as plain JSON; an error has a code: `tool_error`,
    `tool_timeout`, `tool_unavailable`, `tool_not_found`, `tool_ambiguous` or `input_not_object`."""

    tool: str
    """`server:TOOL`, the bare name, or `server_TOOL`."""
    arguments: Raw = EMPTY
    servers: tuple[str, ...] | None = None
    """Servers to search; None: all configured servers."""
    meta: Raw = EMPTY
    """The request's `_meta`."""
    timeout: float | None = None
    """Seconds until the call is cancelled; None: the executor's own limit."""
    whole: bool = False
    """The result is `{"result", "output"}`: the server's answer, even if it is an error, and the output."""


class AgentBudget(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Limits of an agent's spending; None: no limit."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None

    @property
    def is_limited(self) -> bool:
        return self.max_tokens is not None or self.max_cost_usd is not None


class PreviousResult(msgspec.Struct, frozen=True, gc=False):
    node_id: str
    output: Raw


class AgentInput(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A language model's work on something, with tools. The result is the output; with `next_nodes` it is `{ROUTE:
    {"output", "next_nodes", "reasoning"}}`."""

    model: str
    prompt: str
    execution: str
    """Id of the work for idempotency keys; equal on all attempts."""
    generation: int = 0
    """How often it was restarted under the same id after all of its attempts had failed."""
    node_id: str
    payload: Raw = NULL
    instructions: str = ""
    output_schema: Raw = ABSENT
    next_nodes: tuple[str, ...] | None = None
    """Nodes it may choose from; None: it chooses nothing."""
    previous: tuple[PreviousResult, ...] = ()
    """Earlier results, newest first."""
    tools: tuple[str, ...] | None = None
    """References of tools it may use; None: the two built-in ones that change nothing."""
    limits: tuple[tuple[str, ...], ...] = ()
    """Further lists that must all include a tool."""
    temperature: float = 0.3
    max_tokens: int = 4_096
    """Most tokens of one reply."""
    max_turns: int = 10
    timeout: float = 300.0
    """Seconds of work, not counting waits for people and other runs."""
    budget: AgentBudget = AgentBudget()
    run_budget: AgentBudget = AgentBudget()
    workflow_tag: str = ""
    session_id: str = ""
    user_id: str = ""
    handler: str = ""
    """Handler for workers on queues: `model:<name>`."""
