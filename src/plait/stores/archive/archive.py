"""Archives of ended runs: a folder, or object storage."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from plait.kernel.errors import InvalidInput, Unavailable
from plait.stores.new_file import sync

from .names import is_of
from .object_archive import ObjectArchive

PLACE = "PLAIT_ARCHIVE"
_SCHEME, _OBJECTS = "file://", "s3://"


class Archive(Protocol):
    async def put(self, name: str, content: bytes) -> None:
        """Stores a document; durable when this returns. Replaces one of the same name: an interrupted removal is
        repeated."""
        ...

    async def find(self, folder: str, run_id: str) -> bytes | None:
        """The run of this id in the folder of its namespace; the one that ended last, if there were several."""
        ...


def configured_archive(given: str | None, environment: Mapping[str, str] = os.environ) -> Archive | None:
    place = given or environment.get(PLACE)
    return archive_of(place) if place else None


def archive_of(place: str) -> Archive:
    """The archive that a setting names: a folder, as a path or as `file:///path`, or `s3://bucket/folder`."""
    if place.startswith(_OBJECTS):
        return ObjectArchive(place)
    path = place.removeprefix(_SCHEME)
    if "://" in path or not Path(path).is_absolute():
        raise InvalidInput(
            "archive.bad_place",
            f"{place} is no place for an archive",
            fix=f"set {PLACE} to the full path of a folder, or to s3://bucket/folder",
        )
    return FolderArchive(Path(path))


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

    async def find(self, folder: str, run_id: str) -> bytes | None:
        try:
            return await asyncio.to_thread(_find, self._folder / folder, run_id)
        except OSError as error:
            raise Unavailable(
                "archive.unreadable",
                f"the archive {self._folder} can't be read",
                why=str(error),
                fix="give Plait read access to it",
            ) from error


def _find(folder: Path, run_id: str) -> bytes | None:
    months = [each for each in folder.iterdir() if each.is_dir()] if folder.is_dir() else []  # people may pack old ones
    for month in sorted(months, reverse=True):
        if found := [file for file in month.iterdir() if is_of(file.name, run_id)]:
            return max(found, key=lambda file: file.name).read_bytes()
    return None


def _write(path: Path, content: bytes) -> None:
    """Writes the file atomically, even across a power cut. Readable for its owner only, as the database is."""
    _make_folder(path.parent)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync(path.parent)


def _make_folder(folder: Path) -> None:
    """Creates a folder durably, like its contents: the first run of a month does."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)
