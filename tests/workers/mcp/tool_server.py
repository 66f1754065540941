"""A real MCP server for the tests, over stdio or streamable HTTP: `python tool_server.py [http PORT]`."""

import asyncio
import json
import os
import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("tools of the tests")
calls = 0


@server.tool()
def ADD(a: int, b: int) -> dict[str, int]:
    """Adds."""
    return {"sum": a + b}


@server.tool(structured_output=False)
def TEXT_JSON(value: Any) -> str:
    """Gives its argument back as JSON in a text."""
    return json.dumps(value)


@server.tool(structured_output=False)
def GREET(name: str) -> str:
    """Greets, in plain text."""
    return f"hello {name}"


@server.tool()
def FAIL(text: str) -> str:
    """Fails."""
    raise ToolError(text)


@server.tool(structured_output=False)
def META(ctx: Context) -> str:
    """What came with the request."""
    meta = ctx.request_context.meta
    return json.dumps({key: value for key, value in dict(meta or {}).items() if str(key).startswith("plait/")})


@server.tool(structured_output=False)
def COUNT() -> str:
    """How often it was called in this process."""
    global calls
    calls += 1
    return json.dumps({"calls": calls, "pid": os.getpid()})


@server.tool()
def DIE() -> str:
    """Ends the process in the middle of the call."""
    os._exit(3)


@server.tool(structured_output=False)
async def SLOW(ctx: Context, path: str = "") -> str:
    """Reports progress, then waits until it is cancelled; it notes that in a file."""
    for step in range(3):
        await ctx.report_progress(step + 1, 3, f"step {step + 1}")
    try:
        await asyncio.Event().wait()
    except BaseException:
        if path:
            with open(path, "w") as file:
                file.write("cancelled")
        raise
    return "never"


@server.tool()
async def GROW(ctx: Context) -> str:
    """Adds a tool, and announces it to clients of every age."""

    def NEW() -> dict[str, bool]:
        return {"new": True}

    server.add_tool(NEW, name="NEW")
    await ctx.session.send_tool_list_changed()
    await ctx.notify_tools_changed()
    return "grown"


@server.tool(structured_output=False)
async def ASK(ctx: Context) -> str:
    """Asks the client's user, who is not there."""
    from pydantic import BaseModel

    class Answer(BaseModel):
        yes: bool

    answer = await ctx.elicit("Really?", Answer)
    return str(answer.action)


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        import uvicorn

        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
    else:
        server.run("stdio")
