"""Hands: the calls that do what the machine decided. Scripts, HTTP, Python functions, and what is remembered."""
