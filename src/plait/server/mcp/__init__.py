"""Plait as an MCP server: at `/mcp` over streamable HTTP, and on standard input and output.

`registry` knows the tools, `server` puts them behind the SDK, `mount` and `stdio` are the two ways to it, `app_api` is
how a tool reaches the API of its own process, and `bridge` hands a client's requests on to another Plait server.
"""
