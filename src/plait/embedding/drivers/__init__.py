"""Drivers that come with Plait: a file of SQLite, and LMDB. The one in memory is `plait.testing.MemoryDriver`."""
