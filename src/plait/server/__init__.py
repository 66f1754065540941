"""The HTTP API of an engine: one table of routes, from which router, access checks and OpenAPI document are made.

    socket ─> middleware (request id, headers, Host and Origin) ─> dispatch ─> guard ─> query, body ─> handler
                                                                    └─> ui (built files)

The table has the server's own routes and those of the engine's dialects. A handler only translates between HTTP and
the engine.
"""
