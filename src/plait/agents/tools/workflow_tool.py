"""Saved workflows as tools. A call is a child run, which only the agent's run can start, so this is data: the loop asks
for the child."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from plait.definitions.definitions import Definitions
from plait.definitions.flaws import InvalidDefinition
from plait.kernel.definitions import Description
from plait.kernel.errors import NotFound

from .names import WORKFLOW, AllowedTools, called

_MOST: Final = 200
"""Saved workflows offered for `workflow:*`."""


class WorkflowTool(msgspec.Struct, frozen=True, kw_only=True):
    """A call starts a child run of `reference` with the arguments as its input, and answers with its result."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    dialect: str
    reference: str
    """`name@version`: the offered version is the one that is started, whatever is saved later."""
    whole_input: bool
    """The input is not an object: it is passed as the argument `input`."""

    def input_of(self, arguments: Mapping[str, Any]) -> Any:
        return arguments.get("input") if self.whole_input else dict(arguments)


class WorkflowTools:
    """The saved workflows of a namespace that a node names as `workflow:NAME`, or all by `workflow:*`."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    async def tools(self, namespace: str, allowed: AllowedTools) -> Sequence[WorkflowTool]:
        names = allowed.below(WORKFLOW)
        if "*" in names:
            names |= {each.name for each in await self._definitions.list(namespace=namespace, limit=_MOST)}
        found = [await self._found(name, namespace) for name in sorted(names - {"*"})]
        return [_tool(name, each) for name, each in found if each is not None]

    async def _found(self, name: str, namespace: str) -> tuple[str, Description | None]:
        """None if it is not saved (any more); then it is not offered."""
        try:
            return name, await self._definitions.find(name, namespace)
        except (NotFound, InvalidDefinition):
            return name, None


def _tool(name: str, found: Description) -> WorkflowTool:
    schema: Any = found.input_schema
    is_object = isinstance(schema, dict) and cast("dict[str, Any]", schema).get("type") == "object"
    untyped = schema is None
    return WorkflowTool(
        name=called(WORKFLOW, name),
        description=found.doc or f"Runs the workflow {found.name}, and answers with its result.",
        parameters=cast("dict[str, Any]", schema) if is_object else {"type": "object"} if untyped else _wrapped(schema),
        dialect=found.dialect,
        reference=f"{found.name}@{found.version}",
        whole_input=not is_object and not untyped,
    )


def _wrapped(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"input": schema}, "required": ["input"], "additionalProperties": False}
