"""Node types of a namespace over HTTP, and the JSON Schema of definitions, for editors."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from plait.api import route
from plait.api.noun import Noun
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Query, Scoped, Shape
from plait.dialects.graph.definition.node_types import NodeType
from plait.dialects.graph.definition.schema import graph_schema
from plait.dialects.graph.definition.type_registry import TypeRegistry

TYPE = Noun(
    "node type", "graph.type_not_found", "there is no node type `{}`", fix="`GET /api/v1/node-types` lists them"
)


class HasNodeTypes(Protocol):
    """The engine, as far as the handlers need it."""

    @property
    def node_types(self) -> TypeRegistry: ...


Q = TypeVar("Q", bound=Query)
B = TypeVar("B")

Call = route.Call[HasNodeTypes, Q, B]


class NodeTypeList(Shape, frozen=True, kw_only=True):
    node_types: list[NodeType]
    """Types by name, the newest version of each last."""


async def list_types(call: Call[Scoped, None]) -> Answer:
    return Answer(NodeTypeList(node_types=await call.host.node_types.list(call.namespace)))


async def show_type(call: Call[Scoped, None]) -> Answer:
    return Answer(await call.host.node_types.get(call.params["name"], call.namespace))


async def register(call: Call[Scoped, NodeType]) -> Answer:
    return Answer(await call.host.node_types.register(call.body, call.namespace))


async def schema(call: Call[Query, None]) -> Answer:
    return Answer(graph_schema())


ROUTES = (
    Route(
        method="GET",
        path="/node-types",
        name="node_types.list",
        role="viewer",
        summary="The types that nodes of graphs may have",
        handler=list_types,
        query=Scoped,
        replies=(Reply(200, NodeTypeList, "Built-in types, and those of the namespace."),),
    ),
    Route(
        method="GET",
        path="/node-types/{name}",
        name="node_types.show",
        role="viewer",
        summary="One type, by its name or by name@version",
        handler=show_type,
        query=Scoped,
        replies=(Reply(200, NodeType, "The type; without a version, the newest."),),
        noun=TYPE,
    ),
    Route(
        method="POST",
        path="/node-types",
        name="node_types.register",
        role="editor",
        summary="Register a node type, or widen a version of one",
        handler=register,
        query=Scoped,
        body=NodeType,
        replies=(Reply(200, NodeType, "Registered."),),
        faults=(
            Fault(409, "graph.type_breaking", "The version would take less than before."),
            Fault(409, "graph.type_exists", "A built-in type has this name."),
            Fault(422, "graph.bad_type", "It is no node type."),
        ),
        example={"type_name": "mailer", "config_schema": {"type": "object", "required": ["to"]}},
    ),
    Route(
        method="GET",
        path="/graph-schema",
        name="graph.schema",
        role="viewer",
        summary="The JSON Schema of graphs",
        handler=schema,
        query=Query,
        replies=(Reply(200, dict[str, Any], "The schema."),),
    ),
)
