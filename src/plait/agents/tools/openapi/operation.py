"""One operation of a document: its method, address and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, cast
from urllib.parse import urljoin, urlsplit

import msgspec

from plait.agents.tools.tool import ToolFault
from plait.definitions.nearest import did_you_mean

from .document import Document, mapping, resolved

METHODS: Final = ("get", "post", "put", "patch", "delete", "head", "options")
Place = Literal["path", "query", "header"]
_PLACES: Final = ("path", "query", "header")
_NOT_FROM_MODELS: Final = frozenset({"authorization", "cookie", "host", "proxy-authorization"})
"""Headers that only an auth profile may set."""


class Parameter(msgspec.Struct, frozen=True):
    name: str
    place: Place
    required: bool
    schema: Any


class Operation(msgspec.Struct, frozen=True):
    id: str
    method: str
    server: str
    path: str
    """With `{name}` for each path parameter."""
    parameters: Mapping[str, Parameter]
    body: Any
    """The schema of its JSON body; None if it has none."""
    body_required: bool


def find(document: Document, url: str, id: str) -> Operation:
    """Raises `ToolFault`."""
    known: list[str] = []
    for path, item, method, operation in _all(document):
        name = operation.get("operationId")
        if name == id:
            return _read(document, url, path, item, method, operation)
        known += [name] if isinstance(name, str) else []
    hint = did_you_mean(id, known, f"it has {len(known)} others")
    raise ToolFault(f"the OpenAPI document has no operation `{id[:200]}`; {hint}"[:1_000])


def _all(document: Document) -> Iterator[tuple[str, Mapping[str, Any], str, Mapping[str, Any]]]:
    for path, given in mapping(document.get("paths")).items():
        item = mapping(given)
        for method in METHODS:
            if method in item:
                yield path, item, method, mapping(item[method])


def _read(
    document: Document, url: str, path: str, item: Mapping[str, Any], method: str, operation: Mapping[str, Any]
) -> Operation:
    parameters: dict[str, Parameter] = {}
    for given in [*_list(item.get("parameters")), *_list(operation.get("parameters"))]:
        found = _parameter(resolved(document, given))
        if found is not None:
            parameters[found.name] = found
    body = resolved(document, operation.get("requestBody"))
    content = mapping(mapping(body.get("content")).get("application/json"))
    if body and not content:
        raise ToolFault("this operation takes a body that is not JSON, which can't be sent")
    return Operation(
        id=str(operation.get("operationId")),
        method=method.upper(),
        server=_server(document, item, operation, url),
        path=path,
        parameters=parameters,
        body=content.get("schema", {}) if content else None,
        body_required=body.get("required") is True,
    )


def _parameter(given: Mapping[str, Any]) -> Parameter | None:
    """None for what no call may set: cookies, and headers reserved for auth profiles."""
    name, place = given.get("name"), given.get("in")
    if not isinstance(name, str) or place not in _PLACES or (place == "header" and name.lower() in _NOT_FROM_MODELS):
        return None
    required = given.get("required") is True or place == "path"
    return Parameter(name, place, required, given.get("schema", {}))


def _server(document: Document, item: Mapping[str, Any], operation: Mapping[str, Any], url: str) -> str:
    """From the nearest `servers`, relative to the document's own address. Variables have their defaults."""
    servers = [*_list(operation.get("servers")), *_list(item.get("servers")), *_list(document.get("servers"))]
    first = mapping(servers[0] if servers else None)
    address = str(first.get("url") or "/")
    for name, variable in mapping(first.get("variables")).items():
        address = address.replace(f"{{{name}}}", str(mapping(variable).get("default", "")))
    try:
        found = urljoin(url, address)
        parts = urlsplit(found)
    except ValueError:
        raise ToolFault("the address of the API's server can't be read") from None
    if parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise ToolFault("the address of the API's server can't be used")
    if urlsplit(url).scheme == "https" and parts.scheme == "http":
        raise ToolFault("the API's server is http, though its document came by https")
    return found.rstrip("/")


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else list[Any]()
