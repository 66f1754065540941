"""Definitions of all dialects: kept in versions under names and tags, hashed by content, read with every flaw named."""
