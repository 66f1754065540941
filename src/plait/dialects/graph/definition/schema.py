"""The JSON Schema of the language, for editors: generated from the structures that definitions are parsed into."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from .limits import MAX_ITERATIONS
from .source import Source

ID = "urn:plait:graph"


@cache
def graph_schema() -> dict[str, Any]:
    (top,), parts = msgspec.json.schema_components([Source], ref_template="#/$defs/{name}")
    node, loop = parts["Node"], parts["Loop"]
    node["properties"]["node_id"] = node["properties"]["id"]  # an alias
    node["required"] = ["type"]
    node["oneOf"] = [{"required": ["id"]}, {"required": ["node_id"]}]
    loop["properties"]["max_iterations"] = {"type": "integer", "minimum": 1, "maximum": MAX_ITERATIONS}
    loop["required"] = ["condition", "max_iterations"]
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": ID, "title": "A graph of nodes"}
    return {**title, **top, "$defs": parts}
