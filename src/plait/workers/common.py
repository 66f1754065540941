"""The executors of every process, whatever its dialects: `python`, `http`, `script`, `condition`, `pipeline` and
`tool`."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from plait.clusters.clusters import Clusters
from plait.clusters.names import ClusterName
from plait.clusters.settings import cluster_settings
from plait.egress import Egress, EgressSettings, Request, Response
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.task import Executor

if TYPE_CHECKING:
    from plait.scripts.jq import JqPool
    from plait.scripts.languages import Languages

from .callbacks import CallbackUrls, ResultUrls, local_url, no_server
from .condition import ConditionExecutor
from .http import HttpExecutor, HttpProbe, Send
from .mcp.servers import McpServers
from .pipeline import PipelineExecutor
from .python import Functions, PythonExecutor
from .script import ScriptExecutor
from .tool import ToolExecutor


class CommonExecutors:
    """The common executors and their shared resources. Costs nothing until the first task."""

    def __init__(
        self,
        egress: EgressSettings,
        mcp_servers: Mapping[str, Any] | None = None,
        clusters: Mapping[ClusterName, str] | None = None,
    ) -> None:
        self.functions = Functions()
        self._languages: Languages | None = None
        self._egress = Egress(egress)
        self.clusters = Clusters(cluster_settings(clusters))
        self.mcp = McpServers(mcp_servers or {}, self._egress)
        """Also used to offer the servers' tools to others."""
        self.send: Send = self._egress.send
        """Sends HTTP requests; a simulation replaces it."""
        self.callbacks: CallbackUrls = local_url
        """Callback addresses; a server sets its own."""
        self.result_urls: ResultUrls = no_server
        """Addresses for results of attempts; a server sets its own."""
        self.probe = HttpProbe(self.send_out)
        self.pipelines = PipelineExecutor(self.send_out)
        self.all: tuple[Executor, ...] = (
            PythonExecutor(self.functions, self._callback),
            HttpExecutor(self.send_out, self._callback, self._result_url),
            ScriptExecutor(self, self._callback),
            ConditionExecutor(self),
            self.pipelines,
            ToolExecutor(self),
        )

    @property
    def languages(self) -> Languages:
        """Imported and created with the first script, or with the first dialect that has some."""
        if self._languages is None:
            from plait.scripts.languages import Languages

            self._languages = Languages()
        return self._languages

    def jq(self) -> JqPool:
        return self.pipelines.queries()

    async def close(self) -> None:
        """Stops all processes and closes all connections."""
        if self._languages is not None:
            await self._languages.close()
        await self.pipelines.close()
        await self.mcp.close()
        await self.clusters.close()
        await self._egress.aclose()

    def send_out(self, request: Request) -> Awaitable[Response]:
        return self.send(request)

    def _callback(self, run_id: RunId, node: str, token: str) -> str:
        return self.callbacks(run_id, node, token)

    def _result_url(self, run_id: RunId, token: TaskToken, attempt: int, seconds: float | None) -> str | None:
        return self.result_urls(run_id, token, attempt, seconds)
