"""Models of providers: OpenAI-compatible, Anthropic and Google endpoints, as `plait.agents.model` has them.

`settings` reads what the operator configured, `provider_model` is one model of it; `conversation` and `failures`
translate what is said and what goes wrong, `endpoint` connects under the rules for egress. The library that speaks the
wire formats is imported with the first call, and not before.
"""
