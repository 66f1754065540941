"""Sandboxes for script languages, with limits on time, memory and output."""
