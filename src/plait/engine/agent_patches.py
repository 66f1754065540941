"""Patches by agents: of their own run through its inbox, of saved definitions as new versions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from plait.agents.services import AgentPolicy
from plait.agents.tools.patch_workflow import Operations
from plait.agents.tools.tool import ToolUse
from plait.definitions.definitions import Definitions
from plait.kernel import values
from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.ids import run_key
from plait.kernel.inputs import Patch
from plait.kernel.kernel import Kernel

from .ask import ask

_SHOWN: Final = 500
"""Most characters of an agent's description of its version."""
_NEWEST: Final = 5
"""Versions to search, since others may have saved some while a process was down."""


class AgentPatches:
    def __init__(
        self, kernel: Kernel, definitions: Definitions, policy: Callable[[str], Awaitable[AgentPolicy]]
    ) -> None:
        self._kernel = kernel
        self._definitions = definitions
        self._policy = policy

    async def patch_run(self, use: ToolUse, operations: Operations) -> int:
        revision = await self._send(use, operations)
        if revision is None:
            raise Unavailable("kernel.no_owner", "no engine has answered yet", fix="try again later")
        return revision

    async def deny(self, use: ToolUse, operations: Operations, reason: str) -> None:
        with suppress(PlaitError):  # as intended: the run refuses it, and records that in its log
            await self._send(use, operations, reason)

    async def save(self, use: ToolUse, name: str, operations: Operations, description: str) -> str:
        text = f"{description[:_SHOWN] or 'changed'} (agent {use.node_id}, call {use.key})"
        if (before := await self._saved_before(name, text, use.namespace)) is not None:
            return before
        saved = await self._definitions.patch(name, operations, description=text, namespace=use.namespace)
        return saved.version.version

    async def _saved_before(self, name: str, text: str, namespace: str) -> str | None:
        """The version saved by this same call before its process died without reporting it."""
        found = await self._definitions.get(name, namespace)
        for each in found.versions[:_NEWEST]:
            version, _ = await self._definitions.version(name, each.version, namespace)
            if version.patch is not None and version.patch.description == text:
                return each.version
        return None

    async def auto_applies(self, namespace: str) -> bool:
        return (await self._policy(namespace)).auto_apply

    async def _send(self, use: ToolUse, operations: Operations, denied: str = "") -> int | None:
        patch = Patch([dict(each) for each in operations], f"agent {use.node_id}", agent=use.node_id, denied=denied)
        answer = await ask(self._kernel, run_key(use.namespace, use.run_id), patch, f"~patch:{use.key}")
        return None if answer is None else values.decode(answer, int)
