"""A run of a graph: its state, its decisions, and its view."""
