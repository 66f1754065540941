"""The engine as an MCP client: tools of the servers that the operator configured.

`settings` reads the configuration, `connection` is one open session, `session` opens it again after a loss and knows
its tools, `servers` has all of them, `lookup` finds the tool that a step names, `output` reads what it answered. The
SDK is imported with the first connection, and not before.
"""
