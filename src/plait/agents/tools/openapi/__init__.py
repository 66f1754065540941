"""`openapi_action`: one operation of an HTTP API, as its OpenAPI document describes it.

`document` reads the document, `operation` finds one of its operations, `arguments` checks what a call gives and makes
the request, `action` is the tool. The document comes from wherever the model said: nothing in it is trusted.
"""
