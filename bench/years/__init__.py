"""Years of history in one database: what it costs those who work, list and search beside it."""
