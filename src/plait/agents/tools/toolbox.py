"""The tools beside the five built-in ones: their sources, and what one execution is offered.

Sources are asked once per execution. Their tools are sorted and then stay fixed: a prompt with the same tools has the
same bytes, so a provider's cache still hits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from plait.agents.model import OfferedTool
from plait.conditions.schema import misfits
from plait.kernel import values
from plait.kernel.errors import PlaitError

from .names import AllowedTools
from .tool import Tool
from .workflow_tool import WorkflowTool

AnyTool = Tool | WorkflowTool
"""A tool with a `call`, or one that is started as a child run."""


class ToolSource(Protocol):
    async def tools(self, namespace: str, allowed: AllowedTools) -> Sequence[AnyTool]:
        """Those that a node with these references may use, and no others."""
        ...


class RegisteredTools:
    """Functions that a program declared as tools, by name. Declaring a name again replaces it."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._known = {each.name: each for each in tools}

    def add(self, tool: Tool) -> None:
        self._known[tool.name] = tool

    @property
    def names(self) -> list[str]:
        return sorted(self._known)

    async def tools(self, namespace: str, allowed: AllowedTools) -> Sequence[Tool]:
        return [tool for name, tool in self._known.items() if name in allowed]


class Offer:
    """The tools that one execution may use beside the built-in ones: sorted, and frozen."""

    def __init__(self, tools: Iterable[AnyTool]) -> None:
        self._tools: dict[str, AnyTool] = {}
        for each in tools:
            self._tools.setdefault(each.name, each)

    @property
    def names(self) -> list[str]:
        return sorted(self._tools)

    @property
    def tools(self) -> list[AnyTool]:
        return [self._tools[name] for name in self.names]

    @property
    def offered(self) -> list[OfferedTool]:
        """As described to the model."""
        return [OfferedTool(each.name, each.description, each.parameters) for each in self.tools]

    def get(self, name: str) -> AnyTool | None:
        return self._tools.get(name)


class Toolbox:
    """The tools of an engine; if two sources share a name, the earlier one wins."""

    def __init__(self, sources: Iterable[ToolSource]) -> None:
        self._sources = tuple(sources)

    async def offer(self, namespace: str, allowed: Iterable[str], only: Iterable[str] | None = None) -> Offer:
        """The tools for nodes with these references. `only` holds the names of an earlier offer: an execution that
        resumes after a crash has the same tools, except those that are gone."""
        references = AllowedTools(allowed)
        asked = await asyncio.gather(*(source.tools(namespace, references) for source in self._sources))
        found = [each for tools in asked for each in tools]
        kept = None if only is None else frozenset(only)
        return Offer(each for each in found if kept is None or each.name in kept)


def needs_approval(tool: object) -> bool:
    """Whether a person has to approve each call."""
    return getattr(tool, "needs_approval", False) is True


def argument_flaws(parameters: Mapping[str, Any], arguments: object, *, most: int = 5) -> list[str]:
    """What is wrong with the arguments of a call, in words for the model; empty if they are valid."""
    if not isinstance(arguments, dict):
        return ["the arguments must be a JSON object"]
    try:
        found = misfits(values.encode(parameters), arguments)
    except PlaitError as error:
        return [f"the tool's own schema can't be used: {error.why or error.what}"]
    return [f"{each.pointer or '/'}: {each.message}"[:300] for each in found[:most]]
