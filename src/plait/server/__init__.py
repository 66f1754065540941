"""The HTTP face of the engine: one table of routes, from which the router, the guard and the OpenAPI document come.

    socket ─> front (request id, headers, overload, Host and Origin) ─> dispatch ─> guard ─> query, body ─> handler
                                                                    └─> ui (built files)

A handler only translates between HTTP and the engine.
"""
