"""Workflows of steps: how fast they go."""
