"""Two MCP servers of a shop, for the example: `python shop.py crm` and `python shop.py orders` speak MCP on stdio."""

import sys
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

READS = ToolAnnotations(read_only_hint=True)
CUSTOMERS = {
    7: {"id": 42, "name": "Anneliese", "email": "anneliese@example.org"},
    8: {"id": 43, "name": "Bernhard", "email": "bernhard@example.org"},
}


def crm() -> MCPServer:
    server = MCPServer("crm")

    @server.tool(annotations=READS)
    def GET_USER(id: int) -> dict[str, Any]:
        """A customer."""
        return CUSTOMERS[id]

    return server


def orders() -> MCPServer:
    server = MCPServer("orders")

    @server.tool()
    def CREATE_ORDER(userId: int, items: list[str]) -> dict[str, Any]:
        """Orders something for a customer."""
        return {"number": f"order-{userId}", "total": 4 * len(items)}

    @server.tool()
    def SEND_MAIL(to: str, text: str) -> dict[str, Any]:
        """Writes to somebody."""
        print(f"mail to {to}: {text}", file=sys.stderr)
        return {"sent": True}

    return server


if __name__ == "__main__":
    {"crm": crm, "orders": orders}[sys.argv[1]]().run("stdio")
