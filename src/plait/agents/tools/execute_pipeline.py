"""The built-in tool `execute_pipeline`: steps over the payload, or over a result that the agent has seen before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from plait.agents.pipelines.errors import InvalidPipeline, PipelineError, StepError
from plait.agents.pipelines.execution import Execution, no_references
from plait.agents.pipelines.reading import read
from plait.agents.pipelines.requests import Send

from .tool import ToolFault, ToolUse

if TYPE_CHECKING:
    from plait.agents.promotion.promotions import Promotions
    from plait.agents.services import Load
    from plait.scripts.jq import JqPool


class PipelineTool:
    def __init__(
        self,
        send: Send,
        jq: Callable[[], JqPool],
        auth_profiles: Mapping[str, Mapping[str, str]] | None = None,
        promotions: Promotions | None = None,
    ) -> None:
        self._send = send
        self._jq = jq
        self._auth_profiles = auth_profiles or {}
        self._promotions = promotions

    async def compute(self, arguments: Mapping[str, Any], use: ToolUse, load: Load) -> Any:
        async def table(reference: str) -> Any:
            try:
                return await load(reference)
            except ToolFault as fault:
                raise StepError(str(fault)) from None

        data = use.payload if arguments.get("input_ref") is None else await load(str(arguments["input_ref"]))
        found = await self._run(arguments["pipeline"], data, table)
        if self._promotions is not None:
            await self._promotions.used(use.namespace, arguments["pipeline"], use.key)
        return found

    async def run(self, steps: list[dict[str, Any]], use: ToolUse) -> Any:
        """On what the agent works on; a pipeline that is a tool already is not counted."""
        return await self._run(steps, use.payload, no_references)

    async def _run(self, steps: Any, data: Any, table: Load) -> Any:
        execution = Execution(self._send, self._jq(), table, self._auth_profiles)
        try:
            return await execution.run(read(steps), data)
        except InvalidPipeline as error:
            raise ToolFault(error.text) from None
        except PipelineError as error:
            raise ToolFault(error.what) from None
