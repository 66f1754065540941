"""Models of providers: OpenAI-compatible, Anthropic and Google endpoints behind `plait.agents.model`.

`settings` reads what the operator configured, `provider_model` is one model of it; `conversation` and `failures`
translate messages and errors, and `endpoint` connects under the egress rules. The library that speaks the wire formats
is imported with the first call.
"""
