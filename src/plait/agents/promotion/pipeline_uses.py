"""Tells the promotions of pipelines that agents ran; what goes wrong with that never fails the agent."""

from __future__ import annotations

import logging
from typing import Any

from plait.agents.tools.tool import ToolUse
from plait.kernel.errors import PlaitError

from .promotions import Promotions

_log = logging.getLogger("plait.agents")


class PipelineUses:
    def __init__(self, promotions: Promotions) -> None:
        self._promotions = promotions

    async def told(self, use: ToolUse, pipeline: Any) -> None:
        try:
            await self._promotions.used(use.namespace, pipeline, use.key)
        except PlaitError as error:
            _log.warning("a use of a pipeline could not be counted: %s", error.text)
