"""Tasks of the kind `pipeline`: steps over data, in this process except for their requests and queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plait.kernel import values
from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import PIPELINE, PipelineInput

from .http import Send

if TYPE_CHECKING:
    from plait.agents.auth_profiles import AuthProfile
    from plait.scripts.jq import JqPool


class PipelineExecutor:
    kinds = (PIPELINE,)

    def __init__(self, send: Send) -> None:
        self._send = send
        self.auth_profiles: Mapping[str, AuthProfile] = {}
        self._jq: JqPool | None = None

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        from plait.agents.pipelines.errors import (  # imported with the first one
            InvalidPipeline,
            PipelineError,
            StepError,
        )
        from plait.agents.pipelines.execution import Execution
        from plait.agents.pipelines.reading import read

        wanted: PipelineInput = task.input
        tables: dict[str, Any] = values.decode(wanted.tables)

        async def table(name: str) -> Any:
            if name not in tables:
                raise StepError(f"there is no table `{name[:200]}` here")
            return tables[name]

        execution = Execution(self._send, self.queries(), table, self.auth_profiles)
        try:
            found = await execution.run(read(values.decode(wanted.steps)), values.decode(wanted.data))
        except InvalidPipeline as error:
            raise TaskError(error.text, retryable=False) from None
        except PipelineError as error:
            raise TaskError(error.what, retryable=error.retryable) from None
        return {wanted.into: found} if wanted.into else found

    async def close(self) -> None:
        if self._jq is not None:
            await self._jq.stop()

    def queries(self) -> JqPool:
        """The pool for jq queries, created with the first one."""
        if self._jq is None:
            from plait.scripts.jq import JqPool

            self._jq = JqPool()
        return self._jq
