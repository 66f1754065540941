"""Evaluation of compiled AFL expressions."""
