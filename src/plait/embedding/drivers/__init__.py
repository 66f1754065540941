"""Drivers that come with Plait: an SQLite file, and LMDB. The in-memory one is `plait.testing.MemoryDriver`."""
