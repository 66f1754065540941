"""A route of the mount, a request to it, and its answer."""

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
"""The only namespace that the mount's clients know."""


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
        """The target for the audit log: all parts of the path except a webhook's token, which is a secret."""
        return "/".join(value for name, value in self.params.items() if name != "token") or None

    async def object(self) -> dict[str, Any]:
        """Reads the body, which must be a JSON object, whatever the content type."""
        found = await parse(self.body)
        if not isinstance(found, dict):
            raise BadRequest("http.bad_body", "the body must be a JSON object", fix="send an object")
        return cast("dict[str, Any]", found)


@dataclass(frozen=True, slots=True)
class Said:
    """An answer. None: no body."""

    shape: object
    status: int = 200
    target: str | None = None
    """What the request changed, for the audit log."""
    namespace: str = NAMESPACE
    """The namespace of the change."""


Handler = Callable[[Ask], Awaitable[Said]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MountRoute:
    method: str
    full_path: str
    handler: Handler
    name: str = ""
    """The action in the audit log; empty for routes that are not audited."""
    who: str = "argyll client"
    """The caller's name in the audit log."""
    limit: int | None = None
    """Maximum bytes of a body; None: the server's limit."""
