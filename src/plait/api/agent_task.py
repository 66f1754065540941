"""Requests of workers that run agents, in addition to those for every task: see `plait.api.task`.

Each request is about the attempt that the worker has claimed. The server tells the worker what that attempt may use,
and checks each request against the task and its journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from .shape import Body, Count, Shape, Text
from .task import TaskId


class AskTerms(Body, frozen=True, kw_only=True):
    id: TaskId


class OfferedPipeline(Shape, frozen=True, kw_only=True):
    """A promoted pipeline: the worker runs its steps."""

    name: str
    steps: list[dict[str, Any]]


class OfferedWorkflow(Shape, frozen=True, kw_only=True):
    """A saved workflow: the worker suspends the attempt with `{"for": "child", "definition": reference, …}`."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    dialect: str
    reference: str
    whole_input: bool = False
    """Whether the child's input is the argument `input`, not an object of all arguments."""


class AgentTerms(Shape, frozen=True, kw_only=True):
    """What the attempt may use now."""

    id: str
    allowed_tools: list[str]
    """References of the tools that the node, its capabilities and the policy of the namespace allow together."""
    auto_apply: bool = False
    """Whether new versions of workflows that the agent proposes are saved without an approval."""
    first_calls: dict[str, str] = {}
    """The calls of the first attempt, for a later one: hashes by `turn/index`. An equal call has the same key."""
    pipelines: list[OfferedPipeline] = []
    workflows: list[OfferedWorkflow] = []


class ReserveCall(Body, frozen=True, kw_only=True):
    """Before each call of a model: what it may use at most."""

    id: TaskId
    tokens: Count
    """Tokens of the request and of the longest reply together."""
    cost_usd: Annotated[float, Meta(ge=0)] | None = None
    """The maximum cost in USD; None: the price is not known."""


class ReservedCall(Shape, frozen=True, kw_only=True):
    id: str
    granted: bool
    """False: the call could exceed a budget and must not be made. A grant counts until the next entry."""
    reason: str = ""


class MakePatch(Body, frozen=True, kw_only=True):
    """Makes the call of `patch_workflow` that is next in the attempt's journal."""

    id: TaskId
    denied: Text = ""
    """Why the worker denies the call, which is then only recorded."""


class MadePatch(Shape, frozen=True, kw_only=True):
    id: str
    result: Any = None
    error: str = ""
    """The error for the model, if the patch was not made."""
