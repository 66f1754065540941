"""What the dialect adds to the HTTP API: node types, the schema of its language, the graph and the record of a run,
the policy of a namespace."""

from .node_type_routes import ROUTES as _NODE_TYPES
from .policy_routes import ROUTES as _POLICY
from .run_graph_routes import ROUTES as _RUN_GRAPH
from .run_record_routes import ROUTES as _RUN_RECORD

routes = (*_NODE_TYPES, *_RUN_GRAPH, *_RUN_RECORD, *_POLICY)

__all__ = ["routes"]
