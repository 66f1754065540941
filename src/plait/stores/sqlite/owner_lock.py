"""The lock that shows which living process owns a SQLite file's shards.

It is on a separate file, `<database>-owner`: SQLite's own locks come and go with transactions. If the platform has no
such locks, `enforced` is False and leases alone decide.
"""

from __future__ import annotations

import os
from typing import Literal

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


class OwnerLock:
    def __init__(self, database: str) -> None:
        self._database = database
        self._path = f"{database}-owner"
        self._file: int | None = None
        self.enforced = fcntl is not None and database != ":memory:"

    def acquire(self) -> Literal["fresh", "held", "taken"]:
        """Takes the lock without waiting. `fresh`: nobody held it a moment ago. `taken`: another living process
        does."""
        if not self.enforced or self._file is not None or fcntl is None:
            return "held"
        mode = os.stat(self._database).st_mode & 0o666  # whoever may use the database may hold its lock
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return "taken"
        self._file = file
        return "fresh"

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
