"""Finds the tool that a step names: `server:TOOL`, the bare name, or `<server>_<TOOL>`."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import NamedTuple

from . import errors
from .settings import OWN


class Found(NamedTuple):
    server: str
    tool: str


def named_server(tool: str, servers: Collection[str]) -> Found | None:
    """The server named by `server:TOOL` itself, so that no other must be asked."""
    server, colon, rest = tool.partition(":")
    return Found(server, rest) if colon and server in servers else None


def find(tool: str, offered: Mapping[str, Collection[str]]) -> Found:
    """The one tool of this name. Raises `TaskError` with `tool_not_found` or `tool_ambiguous`."""
    said = named_server(tool, offered)
    if said is not None and said.tool in offered[said.server]:
        return said
    bare = [server for server, tools in offered.items() if tool in tools]
    if len(bare) > 1:
        raise errors.ambiguous(tool, bare)
    if bare:
        return Found(bare[0], tool)
    prefixed = [
        Found(server, tool.removeprefix(f"{server}_"))
        for server, tools in offered.items()
        if tool.startswith(f"{server}_") and tool.removeprefix(f"{server}_") in tools
    ]
    if len(prefixed) > 1:
        raise errors.ambiguous(tool, [found.server for found in prefixed])
    if prefixed:
        return prefixed[0]
    if not offered.keys() - {OWN}:
        raise errors.no_servers(tool)
    known = [name for tools in offered.values() for name in tools]
    raise errors.not_found(tool, next(iter(difflib.get_close_matches(tool, known, 1)), ""))
