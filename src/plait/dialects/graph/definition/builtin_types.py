"""The node types that every namespace has, with the schemas of their config."""

from __future__ import annotations

from typing import Any, Final

from .node_types import NodeType, NodeTypes

_LANGUAGES = ["ale", "lua", "jpath", "python", "javascript"]
_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def _one_of(*names: str) -> list[dict[str, Any]]:
    return [{"required": [name]} for name in names]


_HANDLED: dict[str, Any] = {"type": "object", "properties": {"handler": _TEXT, "action": _TEXT, "url": _TEXT}}

_AGENT = _object(
    {
        "handler": _TEXT,
        "prompt": {"type": "string"},
        "instructions": {"type": "string"},
        "output_schema": {"type": "object"},
    }
)
_HTTP = _object(
    {
        "url": _TEXT,
        "method": {"enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], "default": "GET"},
        "query": {"type": "object"},
        "headers": {"type": "object"},
        "body": True,
        "expect": {"enum": ["2xx", "any"], "default": "2xx"},
        "auth_profile": _TEXT,
    },
    required=["url"],
)
_NUMBER: dict[str, Any] = {"type": ["integer", "string"], "pattern": r"\$"}
"""A whole number, or a template that yields one."""
_RUN = _object(
    {
        "dialect": _TEXT,
        "definition": {"type": ["string", "object"], "minLength": 1},
        "input": True,
        "wait": {"type": "boolean", "default": True},
        "queue": _TEXT,
        "priority": _NUMBER | {"description": "On the queue: lower goes first."},
        "partition": _TEXT,
        "dedup_id": _TEXT,
        "delay_ms": _NUMBER | {"minimum": 0},
    },
    required=["definition"],
)
_WAIT = _object(
    {
        "seconds": {"type": "number", "minimum": 0},
        "until": _TEXT,
        "message": _TEXT,
        "timeout_s": {"type": "number", "minimum": 0},
    },
    oneOf=_one_of("seconds", "until", "message"),
)
_TRANSFORM = _object(
    {
        "output": True,
        "cel": _TEXT,
        "pipeline": {"type": "array", "minItems": 1, "maxItems": 50},
        "script": {
            "type": ["string", "object"],
            "minLength": 1,
            "properties": {"language": {"enum": _LANGUAGES}, "code": _TEXT},
            "required": ["code"],
            "additionalProperties": False,
        },
        "language": {"enum": _LANGUAGES, "default": "ale"},
    },
    oneOf=_one_of("output", "cel", "pipeline", "script"),
)
_TOOL = _object(
    {
        "tool": _TEXT,
        "arguments": True,
        "servers": {"type": "array", "items": _TEXT},
    },
    required=["tool"],
)
_MIGRATION = _object(
    {"from_version": _TEXT, "to_version": _TEXT, "transform": _TEXT, "resume_at": _TEXT},
    required=["from_version", "to_version"],
)


def _type(name: str, schema: dict[str, Any] | None, title: str, description: str) -> NodeType:
    return NodeType(type_name=name, config_schema=schema, display_name=title, description=description)


_BUILT_IN: Final = (
    _type("agent", _AGENT, "Agent", "Asks a language model"),
    _type("decision", _object({}), "Decision", "Chooses a way"),
    _type("function", _HANDLED, "Function", "Calls a handler"),
    _type("http", _HTTP, "HTTP", "Sends an HTTP request"),
    _type("human", None, "Approval", "Waits for a person to decide"),
    _type("migration", _MIGRATION, "Migration", "Moves the run to another version"),
    _type("run", _RUN, "Run", "Starts a run of any dialect"),
    _type("task", _HANDLED, "Task", "Calls a handler"),
    _type("tool", _TOOL, "Tool", "Calls a tool of an MCP server"),
    _type("transform", _TRANSFORM, "Transform", "Computes a new value"),
    _type("wait", _WAIT, "Wait", "Waits for a time or a message"),
)

BUILT_IN: Final = {each.type_name: {each.version: each} for each in _BUILT_IN}
BUILT_IN_TYPES: Final = NodeTypes(BUILT_IN)
