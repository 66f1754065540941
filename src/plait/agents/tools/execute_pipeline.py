"""The built-in tool `execute_pipeline`: runs steps over the payload, or over an earlier result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from plait.agents.pipelines.errors import InvalidPipeline, PipelineError, StepError
from plait.agents.pipelines.execution import Execution
from plait.agents.pipelines.reading import read
from plait.agents.pipelines.requests import Profiles, Send

from .tool import ToolFault, ToolUse

if TYPE_CHECKING:
    from plait.agents.services import Load
    from plait.scripts.jq import JqPool

Used = Callable[[ToolUse, Any], Awaitable[None]]
"""Called for each pipeline that an agent ran successfully."""


async def _nobody(use: ToolUse, pipeline: Any) -> None:
    pass


class PipelineTool:
    def __init__(
        self,
        send: Send,
        jq: Callable[[], JqPool],
        auth_profiles: Profiles | None = None,
        used: Used = _nobody,
    ) -> None:
        self._send = send
        self._jq = jq
        self._auth_profiles = auth_profiles or {}
        self._used = used

    async def compute(self, arguments: Mapping[str, Any], use: ToolUse, load: Load) -> Any:
        async def table(reference: str) -> Any:
            try:
                return await load(reference)
            except ToolFault as fault:
                raise StepError(str(fault)) from None

        data = use.payload if arguments.get("input_ref") is None else await load(str(arguments["input_ref"]))
        execution = Execution(self._send, self._jq(), table, self._auth_profiles)
        try:
            found = await execution.run(read(arguments["pipeline"]), data)
        except InvalidPipeline as error:
            raise ToolFault(error.text) from None
        except PipelineError as error:
            raise ToolFault(error.what) from None
        await self._used(use, arguments["pipeline"])
        return found

    async def run(self, pipeline: list[dict[str, Any]], use: ToolUse) -> Any:
        """Runs a pipeline that names no values of the conversation on the payload."""
        return await self.compute({"pipeline": pipeline}, use, _no_values)


async def _no_values(reference: str) -> Any:
    raise ToolFault(f"`{reference[:200]}` can't be read here")
