"""Tasks of the kind `tool`: calls of tools on MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from plait.api.progress_line import Progress, progress_line
from plait.kernel import values
from plait.kernel.ids import DEFAULT_NAMESPACE, caller_id
from plait.kernel.task import Attempt, Task
from plait.kernel.task_inputs import TOOL, ToolInput

from .mcp import errors
from .mcp.output import error_text, output_of
from .mcp.settings import OWN

if TYPE_CHECKING:
    from .mcp.servers import McpServers

_SECONDS: Final = 30.0


class HasMcp(Protocol):
    """The owner of the MCP servers, which opens their sessions on demand."""

    @property
    def mcp(self) -> McpServers: ...


class ToolExecutor:
    kinds = (TOOL,)

    def __init__(self, owner: HasMcp) -> None:
        self._owner = owner

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        wanted: ToolInput = task.input
        arguments: Any = values.decode(wanted.arguments)
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise errors.not_an_object(wanted.tool)
        servers = self._owner.mcp
        found = await servers.find(wanted.tool, wanted.servers)
        meta = {"plait/run": caller_id(attempt.run_id), "plait/idempotency-key": task.key} | values.decode(wanted.meta)

        if found.server == OWN:
            meta["plait/namespace"] = attempt.run_id.rpartition("/")[0] or DEFAULT_NAMESPACE

        async def report(progress: float, total: float | None, message: str | None) -> None:
            attempt.beat(values.encode({"progress": progress, "total": total, "message": message}))
            if (line := progress_line(Progress(progress, total, message))) is not None:
                attempt.log(attempt, "info", line)

        timeout = wanted.timeout or task.policy.timeout or _SECONDS
        result = await servers.call(found, cast("dict[str, Any]", arguments), meta, timeout, report)
        if wanted.whole:
            return {"result": result, "output": output_of(result)}
        if result.get("isError"):
            raise errors.failed(wanted.tool, error_text(result))
        return output_of(result)
