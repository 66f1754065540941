"""PostgreSQL, the store of many engines: each writes the shards it holds, and hears of the others by notices."""

from plait.extras import extra

with extra("postgres", "PostgreSQL"):
    from .store import PostgresStore

__all__ = ["PostgresStore"]
