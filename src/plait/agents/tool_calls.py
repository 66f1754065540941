"""One tool call of a model: whether it is allowed, what it must wait for first, and what the model is told about it."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.failures import storable
from plait.kernel.journal import ApprovalWait, ChildWait, Suspended
from plait.kernel.task_inputs import AgentInput

from .conversation import Conversation
from .model import ToolCall
from .preview import preview, reference
from .prompt import SHOWN_BYTES
from .services import AgentServices, DataTool, Load
from .tools.built_in import SCHEMAS
from .tools.names import BUILT_IN
from .tools.patch_workflow import PatchTool
from .tools.search import SearchTools
from .tools.tool import Tool, ToolFault, ToolUse
from .tools.toolbox import AnyTool, Offer, argument_flaws, needs_approval
from .tools.workflow_tool import WorkflowTool

_SHOWN: Final = 2_000
"""Characters of an error shown to a model."""
_log = logging.getLogger("plait.agents")


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of a call that was made or refused."""

    result: Raw = values.NULL
    data: Raw = values.ABSENT
    ref: str = ""
    error: str = ""
    bad: bool = False
    denied: str = ""
    """Why it is not allowed."""


class Wanted(msgspec.Struct, frozen=True):
    """A call that must wait for something first."""

    suspended: Suspended
    kind: Literal["approval", "child"]


class ToolCalls:
    def __init__(self, wanted: AgentInput, services: AgentServices, offer: Offer, allowed: Collection[str]) -> None:
        self._wanted = wanted
        self._services = services
        self._offer = offer
        self._allowed = frozenset(allowed)
        """Checked for built-in tools only; others are offered only if they are allowed."""

    async def make(self, call: ToolCall, use: ToolUse, talk: Conversation) -> Outcome | Wanted:
        """Makes one call, if what it has to wait for is done."""
        tool, schema = self._find(call.name)
        if denial := self._denial(call.name, tool):
            return Outcome(error=denial, denied=denial)
        flaws = argument_flaws(schema, call.arguments)  # a string is what the model wrote when it is not valid JSON
        if flaws:
            return Outcome(error=f"bad arguments for {call.name}: {'; '.join(flaws)}", bad=True)
        arguments = cast("dict[str, Any]", call.arguments)
        if isinstance(tool, WorkflowTool):
            return self._child(tool, arguments, talk)
        if (title := await self._title(tool, call, arguments, use)) and (
            before := self._approval(call, arguments, talk, title)
        ) is not None:
            return before
        try:
            return await self._run(tool, arguments, use, talk)
        except ToolFault as fault:
            return Outcome(error=storable(str(fault), _SHOWN))
        except Exception as error:  # a tool that fails does not fail the agent
            _log.exception("the tool %s broke in run %s", call.name, use.run_id)
            return Outcome(error=storable(f"{call.name} failed: {type(error).__name__}: {error}", _SHOWN))

    def _find(self, name: str) -> tuple[AnyTool | DataTool | None, Mapping[str, Any]]:
        if name == SearchTools.name:
            return SearchTools(self._services.toolbox, self._allowed), SCHEMAS[name].parameters
        if name in BUILT_IN:
            return self._services.built_in.get(name), SCHEMAS[name].parameters
        tool = self._offer.get(name)
        return tool, {} if tool is None else tool.parameters

    def _denial(self, name: str, tool: object) -> str:
        if name in BUILT_IN:
            if name not in self._allowed:
                return f"the tool `{name}` is not allowed here"
            return "" if tool is not None else f"the tool `{name}` is not available here"
        return "" if tool is not None else f"there is no tool `{name}` for this node"

    # -- what has to come before -----------------------------------------------------------------------------------

    def _child(self, tool: WorkflowTool, arguments: dict[str, Any], talk: Conversation) -> Outcome | Wanted:
        if talk.answer is None:
            wait = ChildWait(tool.reference, tool.dialect, values.encode(tool.input_of(arguments)))
            return Wanted(Suspended(wait, f"agent `{self._wanted.node_id}`: workflow `{tool.reference}`"), "child")
        if talk.answer.get("status") == "completed":
            return _shown(talk.answer.get("output"))
        error = cast("dict[str, Any]", talk.answer.get("error") or {})
        return Outcome(error=f"the workflow {talk.answer.get('status')}: {error.get('message', '')}")

    async def _title(self, tool: object, call: ToolCall, arguments: dict[str, Any], use: ToolUse) -> str:
        """What people are asked before the call is made; empty if no approval is needed."""
        if needs_approval(tool):
            return f"Agent `{self._wanted.node_id}` wants to call `{call.name}`"
        return await tool.wants_approval(arguments, use) if isinstance(tool, PatchTool) else ""

    async def denied(self, call: ToolCall, use: ToolUse, reason: str) -> None:
        """Reported to tools that keep a record of such calls."""
        tool = self._services.built_in.get(call.name)
        if isinstance(tool, PatchTool):
            await tool.denied(call.arguments, use, reason)

    def _approval(
        self, call: ToolCall, arguments: dict[str, Any], talk: Conversation, title: str
    ) -> Outcome | Wanted | None:
        """None if it was approved."""
        if talk.answer is None:
            evidence = values.encode({"tool": call.name, "arguments": arguments, "reasoning": talk.replies[-1].text})
            says = f"approval of `{call.name}`, called by agent `{self._wanted.node_id}`"
            return Wanted(Suspended(ApprovalWait(title, evidence=evidence), says), "approval")
        if talk.answer.get("decision") == "approve":
            return None
        by, comment = talk.answer.get("by") or "nobody", talk.answer.get("comment")
        return Outcome(error=f"a person refused this call ({by}){f': {comment}' if comment else ''}")

    # -- the call --------------------------------------------------------------------------------------------------

    async def _run(
        self, tool: AnyTool | DataTool | None, arguments: dict[str, Any], use: ToolUse, talk: Conversation
    ) -> Outcome:
        if tool is None or isinstance(tool, WorkflowTool):
            raise AssertionError("not a tool that is called")
        if hasattr(tool, "compute"):
            value = await cast("DataTool", tool).compute(arguments, use, self._load(talk))
            return _stored(value)
        return _shown(await cast("Tool", tool).call(arguments, use))

    def _load(self, talk: Conversation) -> Load:
        """Only values that this agent has seen: a reference gives no access to another run's values."""
        known = dict(talk.results)
        known[reference(self._wanted.payload)] = self._wanted.payload
        known |= {reference(each.output): each.output for each in self._wanted.previous}

        async def load(name: str) -> Any:
            found = known.get(name.replace("artifact://", "cas://sha256:"))
            if found is None:
                raise ToolFault(f"`{name[:200]}` is no reference that this agent was given")
            return values.decode(found)

        return load


def _stored(value: Any) -> Outcome:
    data = _encoded(value)
    ref = reference(data)
    shown = values.encode({"result_ref": ref, "preview": preview(value)})
    return Outcome(shown, data, ref)


def _shown(value: Any) -> Outcome:
    """In full if it is small enough."""
    data = _encoded(value)
    return Outcome(data, ref=reference(data)) if len(bytes(data)) <= SHOWN_BYTES else _stored(value)


def _encoded(value: Any) -> Raw:
    try:
        return values.encode(value)
    except PlaitError as error:
        raise ToolFault(f"the result can't be kept: {error.what}") from None
