"""Tool names: as definitions write them, and as models call them.

A definition names a tool by its reference: `lookup_rate` (a registered function), `pipe_…` (a promoted pipeline),
`server:TOOL` (of an MCP server), `workflow:NAME` (a saved workflow). Providers accept only letters, digits, `_` and
`-`, at most 64 of them, so the model calls `server__TOOL` and `workflow__NAME`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from plait.kernel.errors import InvalidInput

BUILT_IN: Final = ("execute_pipeline", "patch_workflow", "search_tools", "openapi_action", "delegate_to_agent")
"""In the order of the prompt's static prefix."""
WORKFLOW: Final = "workflow"
PROMOTED: Final = "pipe_"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
_MOST: Final = 64


def check_name(name: str) -> str:
    """A valid name for a registered tool. Raises `InvalidInput`."""
    reserved = name in BUILT_IN or name.startswith(PROMOTED) or "__" in name
    if reserved or not _NAME.fullmatch(name):
        raise InvalidInput(
            "agent.bad_tool",
            f"a tool can't have the name {name[:80]!r}",
            why="the name is reserved" if reserved else "models call tools by plain names",
            fix=f"use at most {_MOST} letters, digits, `_` and `-`; not `__`, not `{PROMOTED}…`, and not the name of a "
            "built-in tool",
        )
    return name


def called(source: str, name: str) -> str:
    """The model's name for the tool `name` of a source. Different tools have different names: if characters had to be
    replaced, a hash of the original is added."""
    plain = f"{source}__{name}"
    made = _OTHER.sub("_", plain)
    if made == plain and len(made) <= _MOST:
        return made
    mark = sha256(plain.encode()).hexdigest()[:8]
    return f"{made[: _MOST - len(mark) - 1]}_{mark}"


class AllowedTools:
    """The references that a node may use: names, and `server:*` or `workflow:*` for all of one source."""

    def __init__(self, references: Iterable[str]) -> None:
        self._names = frozenset(references)

    def __contains__(self, reference: object) -> bool:
        if not isinstance(reference, str):
            return False
        source, colon, _ = reference.partition(":")
        return reference in self._names or (bool(colon) and f"{source}:*" in self._names)

    @property
    def names(self) -> frozenset[str]:
        return self._names

    def sources(self) -> frozenset[str]:
        """The sources of the listed references: MCP servers, and `workflow`."""
        return frozenset(name.partition(":")[0] for name in self._names if ":" in name)

    def below(self, source: str) -> frozenset[str]:
        """The names after `source:`, one of which may be `*`."""
        return frozenset(name.partition(":")[2] for name in self._names if name.startswith(f"{source}:"))
