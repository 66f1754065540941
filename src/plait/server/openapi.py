"""Builds the OpenAPI 3.1 document from the table of routes and their shapes."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, cast

import msgspec

import plait
from plait.api.noun import PRINTABLE
from plait.api.problem import MEDIA_TYPE, Problem
from plait.api.route import AnyRoute, Fault, Reply
from plait.api.shape import Query

_REF = "#/components/schemas/{name}"
_JSON = "application/json"
_EVENTS = "text/event-stream"

_ANY = (
    Fault(400, "http.bad_query", "Invalid query."),
    Fault(429, "http.overloaded", "Too many requests in progress; retry after `Retry-After` seconds."),
    Fault(431, "http.head_too_large", "The path and headers are over the limit."),
    Fault(500, "server.bug", "Internal server error; `request_id` finds it in the server's log."),
    Fault(
        503,
        "kernel.closed",
        "The database is unavailable, or the server is stopping; see `Retry-After`.",
    ),
)
_AUTHENTICATED = (
    Fault(401, "auth.no_key", "Missing, invalid or expired key or token (`auth.bad_key`, `auth.expired`)."),
    Fault(
        403,
        "auth.forbidden",
        "Not allowed for this role or in this namespace (`auth.wrong_namespace`).",
    ),
)
_FOUND = (Fault(404, "kernel.no_run", "Not found, or in another namespace."),)
_JSON_ONLY = (Fault(406, "http.not_acceptable", "Only JSON is available."),)
_SENT = (
    Fault(400, "http.malformed_json", "Malformed JSON: syntax, duplicate keys, NaN, NUL, nesting depth."),
    Fault(408, "http.slow_body", "The body did not arrive in time."),
    Fault(413, "http.body_too_large", "The body is over the limit."),
    Fault(415, "http.not_json", "The Content-Type is not JSON."),
    Fault(422, "http.bad_body", "The body does not match its schema; `errors` says where."),
)


def document(routes: Iterable[AnyRoute]) -> dict[str, Any]:
    table = list(routes)
    schemas, refs = _schemas(table)
    paths: dict[str, dict[str, Any]] = {}
    for route in table:
        paths.setdefault(route.full_path, {})[route.method.lower()] = _operation(route, refs)
    _link_runs(paths, table)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Plait",
            "version": plait.__version__,
            "summary": "Durable workflows: start, watch and control runs.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": _SECURITY},
    }


def _link_runs(paths: dict[str, dict[str, Any]], routes: list[AnyRoute]) -> None:
    """Adds links: a route that creates a run returns the id that all routes about one run take."""
    about_one = [route for route in routes if route.noun is not None and route.noun.name == "run"]
    links = {route.name: {"operationId": route.name, "parameters": {"id": "$response.body#/id"}} for route in about_one}
    for path in paths.values():
        for operation in path.values():
            if operation["operationId"] in ("runs.start", "runs.fork"):
                operation["responses"]["201"]["links"] = links


_SECURITY: dict[str, Any] = {
    "key": {"type": "http", "scheme": "bearer", "description": "An API key of Plait, or a JWT of your OIDC issuer."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "plait_session",
        "description": "The cookie of a browser session; changes also need the header X-Plait-CSRF.",
    },
}


def _schemas(routes: list[AnyRoute]) -> tuple[dict[str, Any], dict[Any, Any]]:
    """Returns the schemas of all shapes, and for each type the reference to its schema."""
    types: list[Any] = [Problem]
    for route in routes:
        found = [route.body, route.streams, *(reply.shape for reply in route.replies), *route.also]
        types += [each for each in found if each is not None and not isinstance(each, str) and each not in types]
    made, components = msgspec.json.schema_components(types, ref_template=_REF)
    return _tidy(components), dict(zip(types, made, strict=True))


def _tidy(value: Any) -> Any:
    """Replaces Python's end of text in patterns by JavaScript's `$`."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: each.replace(r"\Z", "$") if key == "pattern" else _tidy(each) for key, each in items}
    return [_tidy(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def _operation(route: AnyRoute, refs: dict[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "tags": [route.name.partition(".")[0]],
        "x-plait-role": route.role,
        "parameters": [*_path_parameters(route), *_query_parameters(route.query), *_header_parameters(route)],
        "responses": _responses(route, refs),
        "security": [] if route.role == "public" else [{"key": []}, {"session": []}],
    }
    if route.body is not None:
        content: dict[str, Any] = {"schema": refs[route.body]}
        if route.example is not None:
            content["example"] = route.example
        found["requestBody"] = {"required": not route.body_optional, "content": {_JSON: content}}
    return found


_TAG = {"type": "string", "minLength": 1, "maxLength": 100, "pattern": r"^[^/@\x00-\x1f\x7f]+$"}


def _path_parameters(route: AnyRoute) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, "schema": _parameter(route, name)} for name in names]


def _parameter(route: AnyRoute, name: str) -> dict[str, Any]:
    if name == "tag":
        return _TAG
    character, most = (PRINTABLE, 2000) if route.noun is None else (route.noun.character, route.noun.max_length)
    return {"type": "string", "minLength": 1, "maxLength": most, "pattern": f"^{character}+$"}


def _query_parameters(shape: type[Query]) -> list[dict[str, Any]]:
    (_,), components = msgspec.json.schema_components([shape], ref_template=_REF)
    own: dict[str, Any] = components[shape.__name__]
    properties: dict[str, Any] = _tidy(own.get("properties", {}))
    required: list[str] = own.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _without_null(schema)}
        for name, schema in properties.items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Removes null from a parameter's schema: a parameter is present or absent, never null."""
    options: list[Any] = schema.get("anyOf", [])
    kept = [each for each in options if each != {"type": "null"}]
    if len(kept) != 1:
        return {key: value for key, value in schema.items() if key != "default" or value is not None}
    return kept[0]


def _header_parameters(route: AnyRoute) -> list[dict[str, Any]]:
    if route.streams is None or route.noun is None:
        return []
    schema = {"type": "string", "pattern": "^[0-9]{0,15}$"}
    return [{"name": "Last-Event-ID", "in": "header", "required": False, "schema": schema}]


def _responses(route: AnyRoute, refs: dict[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for status in dict.fromkeys(reply.status for reply in route.replies):
        found[str(status)] = _success(route, [reply for reply in route.replies if reply.status == status], refs)
    for status, faults in sorted(_faults(route).items()):
        found[str(status)] = _problem(status, faults, refs)
    return found


def _success(route: AnyRoute, replies: list[Reply], refs: dict[Any, Any]) -> dict[str, Any]:
    """Merges replies of one status; if they have several shapes, the answer has any of them."""
    content: dict[str, Any] = {}
    shapes = [reply.shape for reply in replies if reply.shape is not None]
    if shapes and isinstance(shapes[0], str):
        content[shapes[0]] = {"schema": {"type": "string"}}
    elif shapes:
        schemas = [refs[shape] for shape in shapes]
        content[_JSON] = {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}}
    if route.streams is not None and replies[0].status == 200:
        content[_EVENTS] = {"schema": {"type": "string"}, "x-plait-frame": refs[route.streams]}
    return {"description": replies[0].about} | ({"content": content} if content else {})


def _faults(route: AnyRoute) -> dict[int, list[Fault]]:
    """Returns the errors of the route itself and those of every route of its kind."""
    all_of_them = [
        *route.faults,
        *_ANY,
        *(() if route.role == "public" else _AUTHENTICATED),
        *(_FOUND if "{" in route.path else ()),
        *(() if route.bare else _JSON_ONLY),
        *(_SENT if route.body is not None else ()),
    ]
    found: dict[int, list[Fault]] = {}
    for fault in all_of_them:
        found.setdefault(fault.status, []).append(fault)
    return found


def _problem(status: int, faults: list[Fault], refs: dict[Any, Any]) -> dict[str, Any]:
    about = " ".join(dict.fromkeys(fault.about for fault in faults))
    example = {
        "type": f"urn:plait:error:{faults[0].code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": faults[0].about,
        "code": faults[0].code,
    }
    found: dict[str, Any] = {
        "description": about,
        "content": {MEDIA_TYPE: {"schema": refs[Problem], "example": example}},
        "x-plait-codes": sorted({fault.code for fault in faults}),
    }
    if status in (429, 503):
        schema = {"type": "integer", "minimum": 1}
        found["headers"] = {"Retry-After": {"description": "Seconds to wait.", "required": True, "schema": schema}}
    return found
