"""The JSON Schema of the language, for editors: generated from the structures that definitions are parsed into."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from .limits import MAX_CONCURRENCY, MAX_STEPS
from .source import Source

ID = "urn:plait:refs"

_CODE = {"type": "string", "description": "export default function(input) { ... }"}
_ACTIONS: list[dict[str, Any]] = [
    {"toolName": {"type": "string", "minLength": 1}, "transformCode": _CODE},
    {"code": _CODE},
    {"return": {"const": True}},
    {
        "agent": {
            "type": "object",
            "properties": {"model": {"type": "string"}, "prompt": {"type": "string"}},
            "required": ["model", "prompt"],
        },
        "transformCode": _CODE,
    },
    {"function": {"type": "string", "minLength": 1}, "transformCode": _CODE},
    {
        "workflow": {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {
                    "type": "object",
                    "properties": {"dialect": {"type": "string"}, "definition": {}},
                    "required": ["dialect", "definition"],
                    "additionalProperties": False,
                },
            ]
        },
        "wait": {"type": "boolean", "default": True},
        "queue": {"type": "string", "minLength": 1},
        "priority": {"type": "integer"},
        "partition": {"type": "string", "minLength": 1},
        "dedup_id": {"type": "string", "minLength": 1},
        "delay_ms": {"type": "integer", "minimum": 0},
        "transformCode": _CODE,
    },
]
_OPERATORS: dict[str, Any] = {
    "eq": {},
    "neq": {},
    **{name: {"type": "number"} for name in ("gt", "lt", "gte", "lte")},
    "exists": {"type": "boolean"},
    "in": {"type": "array"},
}


@cache
def refs_schema() -> dict[str, Any]:
    (top,), parts = msgspec.json.schema_components([Source], ref_template="#/$defs/{name}")
    parts["Action"] = {"oneOf": [_action(fields) for fields in _ACTIONS]}
    parts["Condition"] = {
        "type": "object",
        "properties": {"ref": {"type": "string", "pattern": "^@"}, **_OPERATORS},
        "required": ["ref"],
        "maxProperties": 2,
        "additionalProperties": False,
    }
    step, source = parts["Step"]["properties"], parts["Source"]["properties"]
    condition = {"$ref": "#/$defs/Condition"}
    step["action"] = parts["Compensator"]["properties"]["action"] = {"$ref": "#/$defs/Action"}
    step["when"] = {"anyOf": [condition, {"type": "null"}]}
    step["bail"] = {"anyOf": [{"const": True}, condition, {"type": "null"}]}
    step["input"] = {"anyOf": [{"type": "object"}, {"type": "string", "pattern": "^@"}], "default": {}}
    parts["ForEach"]["properties"]["concurrency"] = {
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_CONCURRENCY,
        "default": 1,
    }
    source["steps"]["maxItems"] = MAX_STEPS
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": ID, "title": "Steps wired by references"}
    return {**title, **top, "$defs": parts}


def _action(fields: dict[str, Any]) -> dict[str, Any]:
    kind = next(iter(fields))
    return {"type": "object", "properties": fields, "required": [kind], "additionalProperties": False}
