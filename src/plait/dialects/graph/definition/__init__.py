"""The definition of a graph as written, and its compilation: pure, without an engine."""
