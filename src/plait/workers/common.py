"""The executors that every process has, whatever its dialects: `python`, `http`, `script` and `condition`."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from plait.egress import Egress, EgressSettings, Request, Response
from plait.kernel.ids import RunId
from plait.kernel.task import Executor

if TYPE_CHECKING:
    from plait.scripts.languages import Languages

from .callbacks import CallbackUrls, local_url
from .condition import ConditionExecutor
from .http import HttpExecutor, HttpProbe, Send
from .python import Functions, PythonExecutor
from .script import ScriptExecutor


class CommonExecutors:
    """And what they share. It costs nothing until the first task."""

    def __init__(self, egress: EgressSettings) -> None:
        self.functions = Functions()
        self._languages: Languages | None = None
        self._egress = Egress(egress)
        self.send: Send = self._egress.send
        """How HTTP goes out; a simulation puts a world of its own here."""
        self.callbacks: CallbackUrls = local_url
        """Where results may be reported; a server puts its own address here."""
        self.probe = HttpProbe(self._send)
        self.all: tuple[Executor, ...] = (
            PythonExecutor(self.functions, self._callback),
            HttpExecutor(self._send, self._callback),
            ScriptExecutor(self, self._callback),
            ConditionExecutor(self),
        )

    @property
    def languages(self) -> Languages:
        """Imported and made when the first script, or the first dialect that has some, asks for them."""
        if self._languages is None:
            from plait.scripts.languages import Languages

            self._languages = Languages()
        return self._languages

    async def close(self) -> None:
        """Leaves no process and no connection behind."""
        if self._languages is not None:
            await self._languages.close()
        await self._egress.aclose()

    def _send(self, request: Request) -> Awaitable[Response]:
        return self.send(request)

    def _callback(self, run_id: RunId, node: str, token: str) -> str:
        return self.callbacks(run_id, node, token)
