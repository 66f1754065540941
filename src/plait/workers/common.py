"""The executors that every process has, whatever its dialects: `python`, `http`, `script`, `condition`,
`pipeline` and `tool`."""

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
    """And what they share. It costs nothing until the first task."""

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
        """Also for who offers their tools to others."""
        self.send: Send = self._egress.send
        """How HTTP goes out; a simulation puts a world of its own here."""
        self.callbacks: CallbackUrls = local_url
        """Where results may be reported; a server puts its own address here."""
        self.result_urls: ResultUrls = no_server
        """Where the result of an attempt may be reported; a server has such addresses."""
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
        """Imported and made when the first script, or the first dialect that has some, asks for them."""
        if self._languages is None:
            from plait.scripts.languages import Languages

            self._languages = Languages()
        return self._languages

    def jq(self) -> JqPool:
        return self.pipelines.queries()

    async def close(self) -> None:
        """Leaves no process and no connection behind."""
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
