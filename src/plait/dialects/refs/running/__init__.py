"""Runs of the dialect: their decisions, as pure functions of the state."""
