"""Two real MCP servers of a shop: `python shop_servers.py crm|orders [http PORT]`. Effects are lines in a file."""

import os
import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

READS = ToolAnnotations(read_only_hint=True)
CUSTOMERS = {
    7: {"id": 42, "name": "Anneliese", "email": "ann@example.org"},
    8: {"id": 43, "name": "Bernhard", "email": "b@example.org"},
}


def _effect(line: str) -> None:
    if path := os.environ.get("SHOP_EFFECTS"):
        with open(path, "a") as file:
            print(line, file=file)


def crm() -> MCPServer:
    server = MCPServer("crm")

    @server.tool(annotations=READS)
    def GET_USER(id: int) -> dict[str, Any]:
        """A customer."""
        if id not in CUSTOMERS:
            raise ToolError(f"there is no user {id}")
        return CUSTOMERS[id]

    @server.tool(annotations=READS)
    def LIST(limit: int = 10) -> dict[str, Any]:
        """All customers."""
        return {"users": [*CUSTOMERS.values()][:limit]}

    return server


def orders() -> MCPServer:
    server = MCPServer("orders")

    @server.tool()
    def CREATE_ORDER(userId: int, items: list[str], note: str = "") -> dict[str, Any]:
        """Orders something."""
        _effect(f"order {userId} {','.join(items)} {note}".strip())
        return {"number": f"order-{userId}", "total": 10 * len(items)}

    @server.tool()
    def SEND_MAIL(to: str, text: str) -> dict[str, Any]:
        """Writes to somebody."""
        _effect(f"mail {to} {text}")
        return {"sent": True}

    @server.tool(annotations=READS)
    def LIST() -> dict[str, Any]:
        """All orders."""
        return {"orders": []}

    @server.tool()
    async def SLOW(ctx: Context) -> dict[str, Any]:
        """Reports progress, and never ends."""
        import asyncio

        for step in range(3):
            await ctx.report_progress(step + 1, 3, f"step {step + 1}")
        try:
            await asyncio.Event().wait()
        except BaseException:
            _effect("slow cancelled")
            raise
        return {}

    return server


if __name__ == "__main__":
    made = {"crm": crm, "orders": orders}[sys.argv[1]]()
    if sys.argv[2:3] == ["http"]:
        import uvicorn

        uvicorn.run(made.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[3]), log_level="error")
    else:
        made.run("stdio")
