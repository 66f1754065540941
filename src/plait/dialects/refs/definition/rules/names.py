"""Names of steps, and the id of a definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from plait.definitions.flaws import Note
from plait.dialects.refs.definition.examined import Examined
from plait.dialects.refs.references.heads import RESERVED

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)


def names(examined: Examined) -> Iterator[Note]:
    id = examined.draft.source.id
    if id is not None and not _ID.fullmatch(id):
        what = f'Workflow id "{id:.80}" is not valid. Use 1 to 64 lower-case letters, digits, `-` and `_`.'
        yield Note("/id", what, "", "bad_name")
    seen: set[str] = set()
    for step in examined.draft.steps:
        at, name = f"{step.pointer}/name", step.name
        if name in RESERVED:
            yield Note(at, f'Step name "{name}" is reserved. Use "{name}_step".', "", "reserved_name")
        elif not is_step_name(name):
            yield Note(at, f'Step name "{name:.80}" is not valid. Use "{step_name(name)}".', "", "bad_name")
        elif name in seen:
            yield Note(at, f'Two steps are named "{name}". Rename one.', "", "duplicate_name")
        seen.add(name)


def is_step_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and not name.endswith("-")


def step_name(text: str) -> str:
    """A valid name that is close to what was written."""
    found = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_-]", "_", text)).rstrip("-_")[:60]
    return found if found and not found[0].isdigit() and found[0] != "-" else f"step_{found.lstrip('-')}".rstrip("_-")
