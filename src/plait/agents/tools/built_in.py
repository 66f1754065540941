"""The five built-in tools, as described to every model: always all, in this order, in the same bytes.

Permission is checked when an agent calls one; leaving one out of the list would invalidate providers' caches.
"""

from __future__ import annotations

from typing import Any, Final

from plait.agents.model import OfferedTool

from .names import BUILT_IN

_TEXT: Final[dict[str, Any]] = {"type": "string"}
_OBJECT: Final[dict[str, Any]] = {"type": "object"}


def _schema(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_PIPELINE: Final = OfferedTool(
    "execute_pipeline",
    "Fast lane: computes data by 1 to 50 steps, each working on what the one before gives. Changes nothing outside. "
    "Works on the payload, or on the value that input_ref names. Returns {result_ref, preview}; the whole result can "
    'be used by later pipelines as input_ref, and be the final output as {"result_ref": …}. Steps: '
    "http_request(url, method=GET, params, headers, auth_profile); table_sort(field, order=asc); "
    "table_filter(condition {field, op, value}), op one of < > <= >= == != in contains; table_select(fields); "
    "top_k(k); groupby(by, agg=count, field), agg one of count sum avg min max; "
    "join(left, right, on, how=inner); jq_transform(query); regex_extract(pattern, field, into); "
    "parse_date(field, format, into, tz=UTC, on_error=fail).",
    _schema(
        {
            "session_id": _TEXT,
            "pipeline": {
                "type": "array",
                "minItems": 1,
                "maxItems": 50,
                "items": {"type": "object", "properties": {"step": _TEXT}, "required": ["step"]},
            },
            "input_ref": _TEXT,
        },
        "pipeline",
    ),
)
_PATCH: Final = OfferedTool(
    "patch_workflow",
    "Patch lane: changes the workflow by RFC 6902 operations on its definition, {nodes: [...], edges: [...]}. "
    'scope "run" (the default) changes only the run that is under way, at once; scope "workflow" proposes a new '
    "version for everybody, which a person approves. Never for computing data.",
    _schema(
        {
            "workflow_tag": _TEXT,
            "patch_spec": {
                "type": "object",
                "properties": {
                    "operations": {"type": "array", "minItems": 1, "maxItems": 100, "items": _OBJECT},
                    "description": _TEXT,
                },
                "required": ["operations"],
                "additionalProperties": False,
            },
            "scope": {"enum": ["run", "workflow"]},
        },
        "workflow_tag",
        "patch_spec",
    ),
)
_SEARCH: Final = OfferedTool(
    "search_tools",
    "Finds further tools and saved workflows that you may use, by what they do. "
    "Returns {tools: [{name, description, parameters, score}]}, best first.",
    _schema({"query": _TEXT, "limit": {"type": "integer", "minimum": 1, "maximum": 50}}, "query"),
)
_OPENAPI: Final = OfferedTool(
    "openapi_action",
    "Calls one operation of an API that an OpenAPI document describes. auth_profile is the name of credentials that "
    "the operator has set up; you never see them.",
    _schema(
        {"openapi_url": _TEXT, "operation_id": _TEXT, "params": _OBJECT, "auth_profile": _TEXT},
        "openapi_url",
        "operation_id",
    ),
)
_DELEGATE: Final = OfferedTool(
    "delegate_to_agent",
    "Hands work to another agent and returns what it answers. code_interpreter runs Python in a sandbox: "
    'inputs {"code": …}.',
    _schema(
        {
            "agent_type": {"enum": ["code_interpreter", "custom_container", "langchain_agent"]},
            "inputs": _OBJECT,
            "container_image": _TEXT,
            "config": _OBJECT,
        },
        "agent_type",
        "inputs",
    ),
)

SCHEMAS: Final = {each.name: each for each in (_PIPELINE, _PATCH, _SEARCH, _OPENAPI, _DELEGATE)}
OFFERED: Final = tuple(SCHEMAS[name] for name in BUILT_IN)
"""In the order of the static prefix."""
DEFAULT_TOOLS: Final = ("execute_pipeline", "search_tools")
"""For nodes that name no tools: these change nothing."""
