"""The shapes of the HTTP API, declared once for the server, the client, the CLI and the dialects.

    shape       base classes of answers, bodies and queries, and the text types they share
    run, …      one noun per file: its answers, its request bodies, its query
    route       a route as a value, which the server and every dialect define
    surface     everything that a dialect adds to the API

The UI's types are generated from the OpenAPI document, which is made from these shapes. An absent field is null,
empty or its default.
"""
