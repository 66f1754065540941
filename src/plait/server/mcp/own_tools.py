"""The engine's own tools for its runs: the server `plait` in tool steps.

A step acts in the namespace of its run, as an operator: it may inspect, start and control runs. It may not decide
approvals or change definitions: the author of a step need not have that right.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send

from plait.api.caller import Caller
from plait.api.mcp_tool import McpSession
from plait.server.dispatch import OWN_CALLER
from plait.server.site import Site

from .sdk import load_sdk

_RUN: Final = "plait/run"
_NAMESPACE: Final = "plait/namespace"


def own_tools(site: Site, app: ASGIApp) -> Callable[[], AbstractAsyncContextManager[Any]]:
    """Returns a function that makes the SDK's server when the first step needs it."""

    @asynccontextmanager
    async def make() -> AsyncGenerator[Any]:
        sdk = await load_sdk()
        yield sdk.PlaitServer(site.engine, _api_of(app), _session_of).sdk

    return make


def _session_of(context: Any) -> McpSession:
    meta: dict[str, Any] = dict(context.meta or {})
    return McpSession(id=f"run:{meta.get(_RUN, '')}")


def _api_of(app: ASGIApp) -> Callable[[Any], Any]:
    from .app_api import AppApi

    def api_of(context: Any) -> Any:
        meta: dict[str, Any] = dict(context.meta or {})
        namespace = str(meta.get(_NAMESPACE, ""))
        caller = Caller(f"run {meta.get(_RUN, '')}", "operator", namespace, "key", f"run:{meta.get(_RUN, '')}")

        async def as_run(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, OWN_CALLER: caller}, receive, send)

        return AppApi(as_run, {}, None)

    return api_of
