"""Semantic checks: every rule is checked, every name linked to its declaration."""
