"""The engine as an MCP client: tools of the servers configured by the operator.

`settings` reads the configuration, `connection` is one open session, `session` reconnects after a loss and knows its
tools, `servers` has all of them, `lookup` finds the tool that a step names, `output` reads its result. The SDK is
imported with the first connection.
"""
