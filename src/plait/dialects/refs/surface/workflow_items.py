"""Saved workflows as the items of a collection."""

from __future__ import annotations

import re
from typing import Any, Final, cast
from urllib.parse import quote

from plait.api.mcp_tool import Api
from plait.dialects.refs.names import NAME
from plait.kernel.errors import NotFound

_NAMES_KEPT: Final = 10_000
_names: dict[str, tuple[str, str]] = {}
"""Titles and descriptions by the hash of a definition, which are the same for everyone."""


def path_of(name: str, *more: str) -> str:
    return "/".join(["/definitions", quote(name, safe=""), *(quote(part, safe="") for part in more)])


def name_of(title: str) -> str:
    """An id for a workflow that only has a title."""
    return re.sub(r"[^a-z0-9_-]+", "-", title.lower()).strip("-_")[:64].strip("-_") or "workflow"


async def saved(api: Api) -> list[dict[str, Any]]:
    """All of them, by name, with title and description."""
    found = await api.get("/definitions", {"dialect": NAME})
    return [{**each, **await _named(api, each)} for each in found["definitions"]]


async def find(api: Api, name: str) -> dict[str, Any]:
    """The whole item. Raises `NotFound`."""
    return item_of(*await stored(api, name))


async def stored(api: Api, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The overview and the definition as saved. Raises `NotFound`."""
    overview = await api.get(path_of(name))
    if overview["dialect"] != NAME:
        raise NotFound("definition.not_found", f"there is no workflow {name!r}", fix="list the workflows")
    version = await api.get(path_of(name, "versions", overview["version"]), {"materialize": "true"})
    return overview, cast("dict[str, Any]", version.get("definition") or {})


async def _named(api: Api, overview: dict[str, Any]) -> dict[str, str]:
    """Its title and description, which only the whole definition has."""
    hash = next((each["hash"] for each in overview["versions"] if each["version"] == overview["version"]), "")
    known = _names.get(hash)
    if known is None:
        version = await api.get(path_of(overview["name"], "versions", overview["version"]), {"materialize": "true"})
        definition: dict[str, Any] = version.get("definition") or {}
        known = definition.get("title") or overview["name"], definition.get("description") or ""
        if len(_names) >= _NAMES_KEPT:
            _names.clear()
        _names[hash] = known
    return {"title": known[0], "description": known[1]}


def item_of(overview: dict[str, Any], definition: dict[str, Any]) -> dict[str, Any]:
    times = [version["created_at"] for version in overview["versions"]]
    return {
        "title": overview["name"],
        **definition,
        "id": overview["name"],
        "version": overview["version"],
        "created_at_epoch_ms": min(times),
        "updated_at_epoch_ms": max(times),
    }


def listed_item(overview: dict[str, Any]) -> dict[str, Any]:
    """The item without its steps."""
    return item_of(
        overview, {name: overview[name] for name in ("title", "description", "input_schema") if overview.get(name)}
    )
