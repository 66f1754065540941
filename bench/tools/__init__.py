"""What a code step and a tool step cost beside the engine: JavaScript in its sandbox, and calls of MCP tools."""
