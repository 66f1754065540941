"""The tools that a language model may call while it works on a node."""
