"""The servers configured by the operator: the same JSON that MCP clients keep in `.mcp.json`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import msgspec

from plait.kernel import values
from plait.kernel.errors import InvalidInput, PlaitError

OWN: Final = "plait"
"""The engine's own tools."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


class StdioServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A process that speaks MCP on its standard input and output."""

    command: str
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    type: str = "stdio"


class HttpServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A server at an address: streamable HTTP."""

    url: str
    headers: dict[str, str] = {}
    type: str = "http"


class SdkServer(msgspec.Struct, frozen=True):
    """A server of the SDK in this process."""

    server: Any


class OwnServer(msgspec.Struct, frozen=True):
    """The engine's own tools: created when the first step needs one, closed with the session."""

    make: Callable[[], AbstractAsyncContextManager[Any]]


class ServerGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Several servers under one name, for definitions that may use them all."""

    servers: list[str]


Server = StdioServer | HttpServer | SdkServer | OwnServer


class Configured(NamedTuple):
    servers: dict[str, Server]
    groups: dict[str, list[str]]


def read_servers(given: Mapping[str, Any]) -> Configured:
    """Servers and groups by name. Raises `InvalidInput` for an invalid entry."""
    found = {name: _entry(name, entry) for name, entry in given.items()}
    servers = {name: entry for name, entry in found.items() if not isinstance(entry, ServerGroup)}
    groups = {name: entry.servers for name, entry in found.items() if isinstance(entry, ServerGroup)}
    for name, members in groups.items():
        for member in members:
            if member not in servers:
                raise _bad(f"the group {name!r} can't be read", f"there is no server {member!r}")
    return Configured(servers, groups)


def read_file(path: Path) -> dict[str, Any]:
    """The servers in a file, with or without `mcpServers` around them."""
    try:
        found = values.parse(path.read_bytes())
    except OSError as error:
        raise _bad(f"{path} can't be read", error.strerror or str(error)) from None
    except PlaitError as error:
        raise _bad(f"{path} is not JSON", error.why or error.what) from None
    if isinstance(found, dict):
        inside = cast("dict[str, Any]", found).get("mcpServers", cast("Any", found))
        if isinstance(inside, dict):
            return cast("dict[str, Any]", inside)
    raise _bad(f"{path} holds no servers", "it is not an object")


def _entry(name: str, entry: Any) -> Server | ServerGroup:
    if not _NAME.fullmatch(name) or name == OWN:
        why = "it is the engine's own" if name == OWN else "names have letters, digits, `_` and `-`"
        raise _bad(f"an MCP server can't have the name {name!r}", why)
    if not isinstance(entry, Mapping):
        if not hasattr(entry, "__class__") or isinstance(entry, str | int | float | list | type(None)):
            raise _bad(f"MCP server {name!r} can't be read", "it is neither an object nor a server of the SDK")
        return SdkServer(entry)
    kind = ServerGroup if "servers" in entry else HttpServer if "url" in entry else StdioServer
    try:
        return msgspec.convert(entry, kind)
    except msgspec.ValidationError as error:
        raise _bad(f"MCP server {name!r} can't be read", str(error)) from None


def _bad(what: str, why: str) -> InvalidInput:
    fix = (
        'write {"command": "…", "args": […], "env": {…}} or {"url": "https://…", "headers": {…}}, '
        'or {"servers": ["…"]} for a group of them'
    )
    return InvalidInput("mcp.bad_settings", what, why=why, fix=fix)
