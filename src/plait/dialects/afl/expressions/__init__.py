"""Expressions of AFL: what the compiled form of one is worth."""
