"""The built-in tool `patch_workflow`: changes the current run, or proposes a new version of its workflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from plait.kernel.errors import PlaitError

from .built_in import SCHEMAS
from .tool import ToolFault, ToolUse

Operations = Sequence[Mapping[str, Any]]


class Patcher(Protocol):
    """Applies patches."""

    async def patch_run(self, use: ToolUse, operations: Operations) -> int:
        """Returns the new revision, once it is in the run's log; the same call twice is one patch. Raises a
        `PlaitError`."""
        ...

    async def deny(self, use: ToolUse, operations: Operations, reason: str) -> None:
        """Records that an agent tried to patch without permission."""
        ...

    async def save(self, use: ToolUse, name: str, operations: Operations, description: str) -> str:
        """Returns the new version. Raises a `PlaitError`."""
        ...

    async def auto_applies(self, namespace: str) -> bool:
        """Whether new versions need no approval in that namespace."""
        ...


class PatchTool:
    name = "patch_workflow"
    description = SCHEMAS[name].description
    parameters = SCHEMAS[name].parameters

    def __init__(self, patcher: Patcher) -> None:
        self._patcher = patcher

    async def wants_approval(self, arguments: Mapping[str, Any], use: ToolUse) -> str:
        """The approval question; empty if none is needed: a patch of the run stays within what the run may do."""
        if arguments.get("scope") != "workflow" or await self._patcher.auto_applies(use.namespace):
            return ""
        return f"Agent `{use.node_id}` proposes a new version of `{arguments['workflow_tag']}`"

    async def denied(self, arguments: Any, use: ToolUse, reason: str) -> None:
        spec = arguments.get("patch_spec") if isinstance(arguments, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        found: Any = spec.get("operations") if isinstance(spec, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        operations = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []  # pyright: ignore[reportUnknownVariableType]
        await self._patcher.deny(use, operations[:100], reason)  # pyright: ignore[reportUnknownArgumentType]

    async def call(self, arguments: Mapping[str, Any], use: ToolUse) -> Any:
        spec: Mapping[str, Any] = arguments["patch_spec"]
        operations: Operations = spec["operations"]
        try:
            if arguments.get("scope") == "workflow":
                name = str(arguments["workflow_tag"]).partition("@")[0]
                version = await self._patcher.save(use, name, operations, str(spec.get("description", "")))
                return {"status": "saved", "version": version}
            return {"status": "applied", "revision": await self._patcher.patch_run(use, operations)}
        except PlaitError as error:
            wrong = "; ".join(flaw.message for flaw in error.flaws[:5])
            raise ToolFault(f"{error.text}{f' ({wrong})' if wrong else ''}") from None
