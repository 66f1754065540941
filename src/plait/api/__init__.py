"""What the HTTP API sends and takes, declared once for the server, the client, the CLI and the dialects.

    shape       bases of answers, bodies and queries, and the texts they share
    run, …      one noun a file: its answers, its request bodies, its query
    route       a route as a value, which the server and every dialect bring
    surface     all that a dialect adds to the API

The UI's types are generated from the OpenAPI document, which is made from these shapes. An absent field is null,
empty or its default.
"""
