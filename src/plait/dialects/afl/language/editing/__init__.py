"""Queries by editors: where something is declared, what it is, and how to complete it."""
