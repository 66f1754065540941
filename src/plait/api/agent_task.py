"""What a worker asks for an agent that it carries, beside what every task has: see `plait.api.task`.

All of it is about the attempt that the worker's claim is on. A worker is told what that attempt may use, and what it
asks for is judged by the server, from the task and its journal.
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
    """The child's input is the argument `input`, not all of them."""


class AgentTerms(Shape, frozen=True, kw_only=True):
    """What the attempt may use now."""

    id: str
    allowed_tools: list[str]
    """References: by the node, its capabilities and the policy of the namespace together."""
    auto_apply: bool = False
    """New versions of workflows that the agent proposes are saved without asking anybody."""
    first_calls: dict[str, str] = {}
    """What the first attempt called, if this is a later one: hashes by `turn/index`. The same call has the same key."""
    pipelines: list[OfferedPipeline] = []
    workflows: list[OfferedWorkflow] = []


class ReserveCall(Body, frozen=True, kw_only=True):
    """Before each call of a model: what it may use at most."""

    id: TaskId
    tokens: Count
    """Of the request, and of the longest reply."""
    cost_usd: Annotated[float, Meta(ge=0)] | None = None
    """None: the price is not known."""


class ReservedCall(Shape, frozen=True, kw_only=True):
    id: str
    granted: bool
    """False: the call could exceed a budget, and must not be made. What is granted counts until the next entry."""
    reason: str = ""


class MakePatch(Body, frozen=True, kw_only=True):
    """Makes the call of `patch_workflow` that is next in the attempt's journal."""

    id: TaskId
    denied: Text = ""
    """Why the worker does not allow it: it is only recorded then."""


class MadePatch(Shape, frozen=True, kw_only=True):
    id: str
    result: Any = None
    error: str = ""
    """For the model: the patch was not made."""
