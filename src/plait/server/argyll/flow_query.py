"""Queries flows page by page. A page continues after the last flow of the one before, whatever has started since."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Literal

import msgspec

from plait.dialects.goals import limits
from plait.kernel.errors import InvalidInput
from plait.registry.engine import Engine

from .flow_rows import Listed, flow_rows, shown_row
from .state import Status

_MOST = 1000
_PREFIX = re.compile(rf"(?!-)[a-z0-9_.+-]{{1,{limits.ID_LENGTH}}}")
"""The pattern for a prefix of flow ids."""


class Query(msgspec.Struct, frozen=True):
    """The body of a query; null means the same as absent."""

    labels: dict[str, str] | None = None
    id_prefix: str | None = None
    statuses: list[Status] | None = None
    sort: Literal["", "recent_asc", "recent_desc"] | None = None
    limit: int | None = None
    cursor: str | None = None


async def query(engine: Engine, sent: dict[str, Any]) -> dict[str, Any]:
    asked = _read(sent)
    flows = await flow_rows(engine, asked.labels, asked.id_prefix)
    found = [flow for flow in flows if not asked.statuses or flow.status in asked.statuses]
    ascending = asked.sort != "recent_desc"
    found.sort(key=_place, reverse=not ascending)
    rest = found if not asked.cursor else _behind(found, _read_cursor(asked.cursor), ascending=ascending)
    page = rest[: asked.limit or _MOST]
    more = len(rest) > len(page)
    return {
        "flows": [shown_row(flow) for flow in page],
        "count": len(page),
        "total": len(found),
        "has_more": more,
        "next_cursor": _cursor(page[-1]) if more else "",
    }


def _read(sent: dict[str, Any]) -> Query:
    try:
        found = msgspec.convert(sent, Query)
    except msgspec.ValidationError as error:
        raise _bad(str(error)) from None
    if not 0 <= (found.limit or 0) <= _MOST:
        raise _bad(f"`limit` must be between 0 and {_MOST}")
    if "" in (found.labels or {}):
        raise _bad("a label has no name")
    if found.id_prefix and not _PREFIX.fullmatch(found.id_prefix):
        raise _bad("no flow's id begins with `id_prefix`")
    return found


def _place(flow: Listed) -> tuple[int, str]:
    return flow.row.created_at, flow.row.id


def _behind(flows: list[Listed], place: tuple[int, str], *, ascending: bool) -> list[Listed]:
    return [flow for flow in flows if (_place(flow) > place if ascending else _place(flow) < place)]


def _cursor(flow: Listed) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(_place(flow))).decode()


def _read_cursor(text: str) -> tuple[int, str]:
    try:
        return msgspec.json.decode(base64.b64decode(text, altchars=b"-_", validate=True), type=tuple[int, str])
    except (binascii.Error, ValueError):
        raise _bad("invalid cursor") from None


def _bad(why: str) -> InvalidInput:
    return InvalidInput("mount.bad_query", "invalid query", why=why, fix="correct the query")
