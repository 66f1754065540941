"""One open session with one server, held by a separate task: the SDK's scopes must end where they began."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Protocol, cast

import anyio
import httpx2
import mcp_types
from mcp import Client, MCPError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from pydantic import BaseModel, ValidationError

from plait.egress import Egress

from . import errors
from .settings import Server
from .transports import transport_of


class Progress(Protocol):
    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


_OPEN_SECONDS = 30.0
_MAX_PAGES = 1000
_BROKEN = (httpx2.HTTPError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)
_SESSION_GONE = "Session terminated"


class Gone(Exception):
    """The server no longer knows this session, and did nothing: the request may be sent in another."""


class Connection:
    def __init__(self, name: str, changed: Callable[[], None]) -> None:
        """`changed` is called when the server announces that its tools changed."""
        self._name = name
        self._changed = changed
        self._end = asyncio.Event()
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._owner: asyncio.Task[None] | None = None
        self.tools: dict[str, dict[str, Any]] | None = None
        """Tools as the server describes them; None if they must be read again."""

    @classmethod
    async def open(cls, name: str, server: Server, egress: Egress, changed: Callable[[], None]) -> Connection:
        """Opens a session. Raises `TaskError` with `tool_unavailable`."""
        made = cls(name, changed)
        made._owner = asyncio.create_task(made._own(server, egress), name=f"plait-mcp-{name}")
        try:
            async with asyncio.timeout(_OPEN_SECONDS):
                await asyncio.shield(made._opened)
        except TimeoutError:
            await made.close()
            raise errors.unavailable(name, f"it did not answer within {_OPEN_SECONDS:g} s") from None
        except asyncio.CancelledError:
            await made.close()
            raise
        return made

    @property
    def lost(self) -> bool:
        return self._end.is_set()

    async def close(self) -> None:
        self._end.set()
        if self._owner is not None:
            if not self._opened.done():
                self._owner.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._owner

    async def listed(self) -> dict[str, dict[str, Any]]:
        """All tools, page by page; cached until the server announces a change."""
        if self.tools is None:
            found: dict[str, dict[str, Any]] = {}
            cursor: str | None = None
            self.tools = found  # a change announced during the read resets it to None
            try:
                for _ in range(_MAX_PAGES):
                    page = await self._client.list_tools(cursor=cursor, cache_mode="refresh")
                    found |= {tool.name: _plain(tool) for tool in page.tools}
                    cursor = page.next_cursor
                    if cursor is None:
                        break
            except BaseException as error:
                self.tools = None
                raise self._failure("tools/list", error, _OPEN_SECONDS) from error
            return found
        return self.tools

    async def call(
        self, tool: str, arguments: dict[str, Any], meta: dict[str, Any], timeout: float, progress: Progress
    ) -> dict[str, Any]:
        """The whole result as JSON. Raises `TaskError`, or `Gone`. A cancelled caller sends a cancel notice."""
        sent: Any = meta
        try:
            result = await self._client.call_tool(
                tool, arguments, read_timeout_seconds=timeout, progress_callback=progress, meta=sent
            )
        except BaseException as error:
            raise self._failure(tool, error, timeout) from error
        return _plain(result)

    @property
    def _client(self) -> Client:
        return self._opened.result()

    def _failure(self, tool: str, error: BaseException, timeout: float) -> BaseException:
        match error:
            case MCPError() if error.code == mcp_types.REQUEST_TIMEOUT:
                return errors.timed_out(tool, timeout)
            case MCPError() if error.code == mcp_types.CONNECTION_CLOSED:
                self._end.set()
                return errors.unavailable(self._name, "the connection was closed")
            case MCPError() if error.message == _SESSION_GONE:
                self._end.set()
                return Gone()
            case MCPError():
                return errors.failed(tool, error.message)
            case ValidationError() | RuntimeError():
                return errors.failed(tool, f"it answered what is no result of this tool: {_first_line(error)}")
            case BaseExceptionGroup():
                self._end.set()
                return errors.unavailable(self._name, _first_line(error.exceptions[0]))
            case _ if isinstance(error, _BROKEN):
                self._end.set()
                return errors.unavailable(self._name, _first_line(error))
            case _:
                return error

    async def _own(self, server: Server, egress: Egress) -> None:
        try:
            async with contextlib.AsyncExitStack() as stack:
                transport = await transport_of(server, egress, self._end.set, stack)
                async with Client(transport, message_handler=self._heard) as client:
                    self._opened.set_result(client)
                    async with asyncio.TaskGroup() as group:
                        listening = group.create_task(self._listen(client))
                        await self._end.wait()
                        listening.cancel()
        except Exception as error:
            if not self._opened.done():
                self._opened.set_exception(errors.unavailable(self._name, _reason(error)))
        finally:
            self._end.set()
            if not self._opened.done():
                self._opened.set_exception(errors.unavailable(self._name, "it was closed while it was opened"))
            self._opened.exception()  # marks it as retrieved, since nobody may be waiting

    async def _heard(self, message: Any) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._forget()

    async def _listen(self, client: Client) -> None:
        """Subscribes to changes: newer servers announce them only on request."""
        with contextlib.suppress(ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError, *_BROKEN):
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._forget()

    def _forget(self) -> None:
        self.tools = None
        self._changed()


def _plain(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, MCPError) and error.code == mcp_types.CONNECTION_CLOSED:
        return "it ended, or closed the connection, while it was opened"
    return _first_line(error)


def _first_line(error: BaseException) -> str:
    text = str(error).strip().partition("\n")[0]
    return text or type(error).__name__
