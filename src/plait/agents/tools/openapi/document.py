"""OpenAPI documents: fetched by the guarded client, cached for an hour."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

from plait.agents.tools.tool import ToolFault
from plait.egress import Request, Response
from plait.egress.errors import EgressError
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import PlaitError

Send = Callable[[Request], Awaitable[Response]]
Document = Mapping[str, Any]

MOST_BYTES: Final = 2 * 1024 * 1024
_KEPT_SECONDS: Final = 3_600.0
_MOST_KEPT: Final = 50
_SECONDS: Final = 30.0
_DEEPEST: Final = 20
"""Length of a chain of references."""


class Documents:
    def __init__(self, send: Send, clock: Clock) -> None:
        self._send = send
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Document]] = OrderedDict()

    async def get(self, url: str) -> Document:
        """Raises `ToolFault`."""
        now = self._clock.monotonic()
        kept = self._kept.get(url)
        if kept is not None and now - kept[0] < _KEPT_SECONDS:
            return kept[1]
        found = await self._fetched(url)
        self._kept[url] = (now, found)
        self._kept.move_to_end(url)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return found

    async def _fetched(self, url: str) -> Document:
        asked = Request(url=url, headers={"Accept": "application/json"}, timeout=_SECONDS, max_bytes=MOST_BYTES)
        try:
            response = await self._send(asked)
        except EgressError as error:
            raise ToolFault(f"the OpenAPI document can't be read: {said(error)}") from error
        if response.status != 200:
            raise ToolFault(f"the OpenAPI document can't be read: status {response.status}")
        try:
            found = values.parse(response.body)
        except PlaitError as error:
            raise ToolFault(f"the OpenAPI document is not JSON: {error.why or error.what}"[:500]) from None
        if not isinstance(found, dict) or not str(cast("dict[str, Any]", found).get("openapi", "")).startswith("3."):
            raise ToolFault("this is not an OpenAPI document of version 3")
        return cast("Document", found)


def said(error: EgressError) -> str:
    return f"{error.what}: {error.why}" if error.why else error.what


def mapping(value: Any) -> Mapping[str, Any]:
    """A part of a document that should be an object; anything else counts as empty."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else dict[str, Any]()


def resolved(document: Document, value: Any) -> Mapping[str, Any]:
    """The part itself, or the target of its reference inside the document. External references are not read."""
    found = mapping(value)
    for _ in range(_DEEPEST):
        reference = found.get("$ref")
        if not isinstance(reference, str):
            return found
        found = mapping(at(document, reference))
    raise ToolFault("the OpenAPI document has references in a circle")


def at(document: Document, reference: str) -> Any:
    found: Any = document
    for part in pointer(reference):
        found = mapping(found).get(part)
    if found is None:
        raise ToolFault(f"the OpenAPI document has no `{reference[:200]}`")
    return found


def pointer(reference: str) -> list[str]:
    """The parts of a reference."""
    if not reference.startswith("#/"):
        raise ToolFault("the OpenAPI document refers to another document, which is not read")
    return [part.replace("~1", "/").replace("~0", "~") for part in reference[2:].split("/")]
