"""SQLite, the default store: one file, one writing process at a time."""

from .store import SqliteStore

__all__ = ["SqliteStore"]
