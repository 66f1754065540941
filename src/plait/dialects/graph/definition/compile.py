"""`compile_graph`: from JSON to what is run, or to the list of everything that is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from plait.definitions.flaws import InvalidDefinition, Note

from .build import build
from .builtin_types import BUILT_IN_TYPES
from .examined import Examined
from .ir import Compiled
from .node_types import NodeTypes
from .read import read

INVALID = "graph.invalid"


@dataclass(frozen=True, slots=True)
class Checked:
    """Every flaw and warning of a definition; compiled if there is no flaw."""

    flaws: tuple[Note, ...]
    warnings: tuple[Note, ...] = ()
    compiled: Compiled | None = None


def compile_graph(definition: object, *, types: NodeTypes = BUILT_IN_TYPES, revision: int = 1) -> Compiled:
    """Refuses with `InvalidDefinition`, code `graph.invalid`, and all flaws."""
    checked = check_graph(definition, types=types, revision=revision)
    if checked.compiled is None:
        raise InvalidDefinition(INVALID, checked.flaws)
    return checked.compiled


def check_graph(definition: object, *, types: NodeTypes = BUILT_IN_TYPES, revision: int = 1) -> Checked:
    """Total: any JSON has an answer."""
    draft = read(definition)
    examined = Examined.of(draft, types)
    flaws = (*draft.notes,)
    if flaws:
        return Checked(flaws)
    return Checked((), (), Compiled(draft.source, build(examined, revision), {}))
