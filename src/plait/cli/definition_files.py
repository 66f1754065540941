"""Definitions in JSON files: which dialect one is of, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
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
    """None if it is of no dialect that recognises its definitions."""
    if not name.endswith(SUFFIX):
        return None
    content = read_json(f"@{name}", "the definition")
    if not isinstance(content, dict):
        return None
    fields = cast("dict[str, Any]", content)
    for dialect in dialects():
        extension = extension_of(dialect)
        if extension.recognises(fields):
            return DefinitionFile(dialect, extension, fields)
    return None


def must_be_definition(name: str) -> DefinitionFile:
    found = read_definition_file(name)
    if found is None:
        raise InvalidInput(
            "cli.no_definition",
            f"{name} holds no definition",
            fix="name a JSON file that holds a graph",
        )
    return found
