"""Where encrypted engines keep their runs, what their master key is, and how to look at the raw files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plait import Engine
from plait.codec.key_ring import LocalKeyRing, new_master_key

MASTER = new_master_key()
MARKER = "anna-maria-4711"
"""A value that must never be found on a disk."""


def ring(*keys: str) -> LocalKeyRing:
    return LocalKeyRing.parse("\n".join(keys or (MASTER,)), "the test")


@dataclass
class Sealed:
    """One database; each engine is what another process would have."""

    url: str
    keys: LocalKeyRing = field(default_factory=ring)

    def engine(self, *definitions: object, **options: Any) -> Engine:
        return Engine(self.url, definitions=definitions, **{"encryption": self.keys, **options})

    def plain(self, *definitions: object) -> Engine:
        """One that knows of no keys."""
        return Engine(self.url, definitions=definitions)


def files(path: Path) -> bytes:
    """All that SQLite has on disk: the file, the journal and its index."""
    return b"".join(found.read_bytes() for found in sorted(path.parent.glob(f"{path.name}*")))
