"""Calls the HTTP API of this process without a socket, with the caller's own headers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import msgspec
from starlette.types import ASGIApp

from plait.api.route import API
from plait.client.connections import Answer
from plait.client.errors import error_of

_HERE = "http://127.0.0.1"


class AppApi:
    def __init__(self, app: ASGIApp, headers: Mapping[str, str], namespace: str | None) -> None:
        host = headers.get("host", "127.0.0.1")
        self._http = httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False),
            base_url=f"http://{host}",
            headers={**headers, "accept": "application/json"},
        )
        self._query: dict[str, Any] = {} if namespace is None else {"namespace": namespace}

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return await self._ask("GET", path, query)

    async def post(self, path: str, body: Mapping[str, Any], query: Mapping[str, Any] | None = None) -> Any:
        return await self._ask("POST", path, query, body)

    async def put(self, path: str, body: Mapping[str, Any]) -> Any:
        return await self._ask("PUT", path, None, body)

    async def delete(self, path: str) -> Any:
        return await self._ask("DELETE", path, None)

    async def _ask(
        self, method: str, path: str, query: Mapping[str, Any] | None, body: Mapping[str, Any] | None = None
    ) -> Any:
        given = {name: value for name, value in {**self._query, **(query or {})}.items() if value is not None}
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if content is None else {"content-type": "application/json"}
        answer = await self._http.request(method, API + path, params=given, content=content, headers=headers)
        if not answer.is_success:
            raise error_of(Answer(answer.status_code, answer.headers, answer.content), _HERE)
        return msgspec.json.decode(answer.content) if answer.content else None
