"""The surface of the Argyll engine, for its public clients: `/engine/*`, `/engine/ws` and `/webhook/*`.

It has its own shapes, names and errors, and shares nothing with `/api/v1` but the engine: what is said here is what
those clients know. They send no credentials, so it is on in `plait dev`, and in `plait serve` if the operator says so.
Webhooks are always on: their addresses are signed.
"""
