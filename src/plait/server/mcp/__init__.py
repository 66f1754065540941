"""Plait as an MCP server: at `/mcp` over streamable HTTP, and on standard input and output.

`registry` collects the tools, `server` offers them through the SDK, `mount` and `stdio` are its two transports,
`app_api` is how a tool calls the API of its own process, and `bridge` forwards a client's requests to another Plait
server.
"""
