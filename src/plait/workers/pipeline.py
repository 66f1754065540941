"""Tasks of the kind `pipeline`: steps over data, in this process but for their requests and queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plait.kernel import values
from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import PIPELINE, PipelineInput

from .http import Send

if TYPE_CHECKING:
    from plait.scripts.jq import JqPool


class PipelineExecutor:
    kinds = (PIPELINE,)

    def __init__(self, send: Send) -> None:
        self._send = send
        self._jq: JqPool | None = None

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        from plait.agents.pipelines.errors import InvalidPipeline, PipelineError  # with the first one, and not before
        from plait.agents.pipelines.execution import Execution
        from plait.agents.pipelines.reading import read

        wanted: PipelineInput = task.input
        execution = Execution(self._send, self.queries())
        try:
            return await execution.run(read(values.decode(wanted.steps)), values.decode(wanted.data))
        except InvalidPipeline as error:
            raise TaskError(error.text, retryable=False) from None
        except PipelineError as error:
            raise TaskError(error.what, retryable=error.retryable) from None

    async def close(self) -> None:
        if self._jq is not None:
            await self._jq.stop()

    def queries(self) -> JqPool:
        """Made with the first one."""
        if self._jq is None:
            from plait.scripts.jq import JqPool

            self._jq = JqPool()
        return self._jq
