"""The surface of the Argyll engine, for its public clients: `/engine/*`, `/engine/ws` and `/webhook/*`.

It has its own shapes, names and errors, those that Argyll's clients know, and shares only the engine with `/api/v1`.
Those clients send no credentials, so the surface is on in `plait dev`, and in `plait serve` only if the operator turns
it on. Webhooks are always on: their addresses are signed.
"""
