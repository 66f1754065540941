"""Reports the pipelines that agents ran to the promotions; an error in that never fails the agent."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from plait.agents.tools.tool import ToolUse
from plait.kernel.errors import PlaitError

from .promotions import Promotions

if TYPE_CHECKING:
    from plait.agents.services import AgentPolicy

_log = logging.getLogger("plait.agents")


class PipelineUses:
    def __init__(self, promotions: Promotions, policy: Callable[[str], Awaitable[AgentPolicy]]) -> None:
        self._promotions = promotions
        self._policy = policy

    async def told(self, use: ToolUse, pipeline: Any) -> None:
        try:
            enough = (await self._policy(use.namespace)).promote_after
            await self._promotions.used(use.namespace, pipeline, use.key, enough)
        except PlaitError as error:
            _log.warning("a use of a pipeline could not be counted: %s", error.text)
