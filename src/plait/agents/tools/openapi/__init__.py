"""`openapi_action`: calls one operation of an HTTP API, as its OpenAPI document describes it.

`document` reads the document, `operation` finds one of its operations, `arguments` checks the arguments and builds the
request, `action` is the tool. The document comes from wherever the model said: nothing in it is trusted.
"""
