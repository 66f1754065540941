"""Sandboxes for the languages in which people write scripts: limits on time, memory and output."""
