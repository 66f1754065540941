"""The catalog of a namespace: the steps that are registered there, and how they hang together."""
