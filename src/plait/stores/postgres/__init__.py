"""PostgreSQL, the store for many engines: each writes the shards it holds, and is notified of the others' changes."""

from plait.extras import extra

with extra("postgres", "PostgreSQL"):
    from .store import PostgresStore

__all__ = ["PostgresStore"]
