"""AFL as a language: from source text to a checked program in JSON, and to tidy source text."""
