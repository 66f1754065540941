"""The AFL language: from source text to a checked program in JSON, and to formatted source text."""
