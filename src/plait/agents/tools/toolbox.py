"""The tools beside the five built-in ones: who has some, and what one execution is offered of them.

Sources are asked once for an execution. What they have then is sorted and stays as it is: a prompt with the same tools
is the same bytes, and a provider's cache holds.
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
"""What has a `call`, or is started as a child run."""


class ToolSource(Protocol):
    async def tools(self, namespace: str, allowed: AllowedTools) -> Sequence[AnyTool]:
        """Those that a node with these references may use; none that it may not."""
        ...


class RegisteredTools:
    """Functions that a program declared as tools, by name. A name that is given again means the new one."""

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
        """As a model is told."""
        return [OfferedTool(each.name, each.description, each.parameters) for each in self.tools]

    def get(self, name: str) -> AnyTool | None:
        return self._tools.get(name)


class Toolbox:
    """Of an engine; earlier sources win where two have one name."""

    def __init__(self, sources: Iterable[ToolSource]) -> None:
        self._sources = tuple(sources)

    async def offer(self, namespace: str, allowed: Iterable[str], only: Iterable[str] | None = None) -> Offer:
        """For nodes that may use these references. `only` holds the names of an earlier offer: an execution that goes
        on after a crash has the same tools, but for those that are gone."""
        references = AllowedTools(allowed)
        asked = await asyncio.gather(*(source.tools(namespace, references) for source in self._sources))
        found = [each for tools in asked for each in tools]
        kept = None if only is None else frozenset(only)
        return Offer(each for each in found if kept is None or each.name in kept)


def needs_approval(tool: object) -> bool:
    """Whether a person has to agree to each call."""
    return getattr(tool, "needs_approval", False) is True


def argument_flaws(parameters: Mapping[str, Any], arguments: object, *, most: int = 5) -> list[str]:
    """What is wrong with the arguments of a call, in words for the model; empty if they fit."""
    if not isinstance(arguments, dict):
        return ["the arguments must be a JSON object"]
    try:
        found = misfits(values.encode(parameters), arguments)
    except PlaitError as error:
        return [f"the tool's own schema can't be used: {error.why or error.what}"]
    return [f"{each.pointer or '/'}: {each.message}"[:300] for each in found[:most]]
