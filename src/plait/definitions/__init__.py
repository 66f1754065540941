"""Definitions of all dialects: stored in versions under names and tags, hashed by content, parsed with all flaws."""
