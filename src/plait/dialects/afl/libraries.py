"""Library directories named by an engine's operator, for namespaces that a program uses but does not contain."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .language.loading import with_libraries
from .preparation import check_shape, sources_of

ENVIRONMENT: Final = "PLAIT_AFL_LIBRARIES"
"""Directories or files, separated as in PATH."""


def configured_libraries(environment: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    return tuple(Path(each) for each in environment.get(ENVIRONMENT, "").split(os.pathsep) if each)


async def completed(definition: Mapping[str, Any], libraries: Sequence[str | Path]) -> dict[str, Any]:
    """Adds the files of the namespaces that the program uses and does not declare."""
    check_shape(definition)
    if not libraries:
        return dict(definition)
    return await asyncio.to_thread(_completed, definition, libraries)


def _completed(definition: Mapping[str, Any], libraries: Iterable[str | Path]) -> dict[str, Any]:
    own = sources_of(definition)
    found = with_libraries(own, [Path(each) for each in libraries]) if own else own
    if len(found) == len(own):
        return dict(definition)
    rest = {name: each for name, each in definition.items() if name != "source"}
    return {**rest, "sources": [{"name": each.name, "text": each.text} for each in found]}
