"""A route of the mount, a request to it, and what is answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.registry.engine import Engine
from plait.server.body import parse
from plait.server.errors import BadRequest
from plait.server.site import Site

NAMESPACE = DEFAULT_NAMESPACE
"""Its clients know of no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    site: Site
    params: Mapping[str, str]
    query: bytes
    content_type: str
    body: bytes

    @property
    def engine(self) -> Engine:
        return self.site.engine

    @property
    def target(self) -> str | None:
        """What it is about, for the audit trail: all but the token of a webhook, which is a secret."""
        return "/".join(value for name, value in self.params.items() if name != "token") or None

    async def object(self) -> dict[str, Any]:
        """The body, which must be a JSON object, whatever its type is said to be."""
        found = await parse(self.body)
        if not isinstance(found, dict):
            raise BadRequest("http.bad_body", "the body must be a JSON object", fix="send an object")
        return cast("dict[str, Any]", found)


@dataclass(frozen=True, slots=True)
class Said:
    """An answer. None: no body at all."""

    shape: object
    status: int = 200
    target: str | None = None
    """What was changed, for the audit trail."""
    namespace: str = NAMESPACE
    """The one it was changed in."""


Handler = Callable[[Ask], Awaitable[Said]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MountRoute:
    method: str
    full_path: str
    handler: Handler
    name: str = ""
    """In the audit trail; empty for routes that change nothing there."""
    who: str = "argyll client"
    """Who calls it, in the audit trail."""
    limit: int | None = None
    """Bytes of a body; None: what the server takes."""
