"""Where archived runs are kept. A folder is one such place; whatever takes documents by name can be another."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from plait.kernel.errors import InvalidInput, Unavailable
from plait.kernel.ids import caller_id
from plait.kernel.store import RunRow

PLACE = "PLAIT_ARCHIVE"
_SCHEME = "file://"
_LONGEST = 150


class Archive(Protocol):
    async def put(self, name: str, content: bytes) -> None:
        """Durable when this returns. Replaces a document of that name: a removal that was interrupted comes again."""
        ...


def configured_archive(given: str | None, environment: Mapping[str, str] = os.environ) -> Archive | None:
    place = given or environment.get(PLACE)
    return archive_of(place) if place else None


def archive_of(place: str) -> Archive:
    """The archive that a setting names: a folder, as a path or as `file:///path`."""
    path = place.removeprefix(_SCHEME)
    if "://" in path or not Path(path).is_absolute():
        raise InvalidInput(
            "archive.bad_place", f"{place} is no place for an archive", fix=f"set {PLACE} to the full path of a folder"
        )
    return FolderArchive(Path(path))


def name_of(row: RunRow) -> str:
    """By namespace and by the month in which it ended, so that months can be moved and deleted as a whole."""
    ended = datetime.fromtimestamp((row.ended_at or row.created_at) / 1000, UTC)
    return f"{_part(row.namespace)}/{ended:%Y-%m}/{_part(caller_id(row.id))}-{row.created_at}.jsonl.gz"


def _part(text: str) -> str:
    """A name that every file system takes; what is too long for it ends with a hash."""
    name = quote(text, safe="@=+,")
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"


class FolderArchive:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, name: str, content: bytes) -> None:
        try:
            await asyncio.to_thread(_write, self._folder / name, content)
        except OSError as error:
            raise Unavailable(
                "archive.unwritable",
                f"the archive {self._folder} can't be written",
                why=str(error),
                fix=f"give Plait write access to it, or set {PLACE} to another folder; nothing was removed",
            ) from error


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, also after a power cut. For its owner only, as the database is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
