"""PostgreSQL, the store of many engines: each writes the shards it holds, and hears of the others by notices."""

from plait.kernel.errors import Unavailable

try:
    from .store import PostgresStore
except ModuleNotFoundError as error:
    if error.name != "asyncpg":
        raise
    raise Unavailable(
        "store.no_driver",
        "PostgreSQL can't be used",
        why="the package asyncpg is not installed",
        fix="pip install 'plait[postgres]'",
    ) from error

__all__ = ["PostgresStore"]
