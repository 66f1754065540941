"""Recordings for MCP clients: a proxy that shows the tools of other servers and records their calls."""
