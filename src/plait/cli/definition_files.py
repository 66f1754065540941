"""Reads definitions from files, as JSON or as source text, and finds their dialect."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from plait.kernel.errors import InvalidInput

from .extension import Extension
from .extensions import dialects, extension_of
from .options import read_json

SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class DefinitionFile:
    dialect: str
    extension: Extension
    content: dict[str, Any]


def read_definition_file(name: str) -> DefinitionFile | None:
    """Reads a definition; None if no dialect recognises it."""
    if not name.endswith(SUFFIX):
        return _read_source(Path(name)) if name.endswith(_suffixes()) else None
    content = read_json(f"@{name}", "the definition")
    if not isinstance(content, dict):
        return None
    fields = cast("dict[str, Any]", content)
    for dialect in dialects():
        extension = extension_of(dialect)
        if extension.recognises(fields):
            return DefinitionFile(dialect, extension, fields)
    return None


def _read_source(path: Path) -> DefinitionFile | None:
    for dialect in dialects():
        extension = extension_of(dialect)
        found = extension.content(path)
        if found is not None:
            return DefinitionFile(dialect, extension, found)
    return None


def _suffixes() -> tuple[str, ...]:
    """Returns the suffixes of files with definitions as source text."""
    return tuple(each for dialect in dialects() for each in extension_of(dialect).suffixes if each != SUFFIX)


def must_be_definition(name: str) -> DefinitionFile:
    """Reads a definition that must be one. May be a directory, whose name elsewhere might be that of a definition."""
    found = _read_source(Path(name)) if Path(name).is_dir() else read_definition_file(name)
    if found is None:
        raise InvalidInput(
            "cli.no_definition",
            f"{name} holds no definition",
            fix=f"name a JSON file that holds a definition, or a file or directory of {' or '.join(_suffixes())}",
        )
    return found
