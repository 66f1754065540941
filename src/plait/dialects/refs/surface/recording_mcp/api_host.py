"""Recordings through the HTTP API, with the caller's permissions: the host of `Recordings` for MCP clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import msgspec

from plait.api.definition import SavedVersion
from plait.api.mcp_tool import Api
from plait.dialects.refs.names import NAME
from plait.dialects.refs.recordings import Recordings
from plait.kernel.bundle import Reference, RunDraft, Startable

_WAIT_MS: Final = 20_000
"""Milliseconds that one request waits for an answer, before the next one does."""


def recordings_of(api: Api) -> Recordings:
    """The namespace is the API's."""
    return Recordings(ApiHost(api))


class ApiRun:
    def __init__(self, api: Api, id: str) -> None:
        self._api = api
        self.id = id

    async def ask(self, name: str, body: Any = None, id: str | None = None, *, wait: float | None = None) -> Any:
        key = id or uuid4().hex
        sent = {"name": name, "body": body, "id": key, "wait_ms": _WAIT_MS}
        while not (receipt := await self._api.post(self._path("messages"), sent)).get("answered"):
            pass
        return receipt.get("answer")

    async def message(self, name: str, body: Any = None, id: str | None = None) -> str:
        return (await self._api.post(self._path("messages"), {"name": name, "body": body, "id": id}))["id"]

    def _path(self, *more: str) -> str:
        return "/".join(["/runs", quote(self.id, safe=""), *more])


class ApiDrafts:
    def __init__(self, api: Api) -> None:
        self._api = api

    async def make(
        self, run_id: str, options: Mapping[str, Any] | None = None, namespace: str = "", *, dialect: str | None = None
    ) -> RunDraft:
        body = {"dialect": dialect, "from_run": run_id, "options": {**(options or {})}}
        found = await self._api.post("/plan", body)
        return RunDraft(found["dialect"], found["plan"]["definition"], found["plan"], warnings=found.get("notes", []))

    async def save(
        self,
        dialect: str,
        run_id: str,
        name: str,
        options: Mapping[str, Any] | None = None,
        namespace: str = "",
        *,
        breaking: bool = False,
        expected: str | None = None,
    ) -> SavedVersion:
        body = {"dialect": dialect, "name": name, "from_run": run_id, "options": {**(options or {})}}
        saved = await self._api.post("/definitions", body | {"breaking": breaking, "expected": expected})
        return msgspec.convert(saved, SavedVersion)


class ApiHost:
    def __init__(self, api: Api) -> None:
        self._api = api
        self.drafts = ApiDrafts(api)

    async def start(
        self,
        definition: str | Startable | Reference,
        input: Any = None,
        *,
        id: str | None = None,
        namespace: str = "",
        labels: dict[str, str] | None = None,
    ) -> ApiRun:
        given = definition if isinstance(definition, str | Reference) else definition.reference()
        content = given if isinstance(given, str) else given.definition
        body = {"dialect": NAME, "definition": content, "input": input, "id": id, "labels": labels}
        return ApiRun(self._api, (await self._api.post("/runs", body))["id"])

    async def get(self, run_id: str, namespace: str = "") -> ApiRun:
        return ApiRun(self._api, run_id)
