"""What the dialect adds to the HTTP API: node types, and the schema of its language."""

from .node_type_routes import ROUTES as routes

__all__ = ["routes"]
