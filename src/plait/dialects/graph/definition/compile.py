"""`compile_graph`: from JSON to a compiled graph, or to the list of all its flaws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from plait.definitions.flaws import InvalidDefinition, Note
from plait.kernel import values
from plait.kernel.errors import PlaitError

from . import conditions, config_refs
from .build import build
from .config_refs import Blobs
from .examined import Examined
from .ir import Compiled
from .limits import MAX_BYTES
from .node_types import NodeTypes
from .pins import NONE as NO_PINS
from .pins import unpinned
from .read import read
from .rules import AFTER_CONDITIONS, BEFORE_CONDITIONS, WARNINGS, FindFlaws, size
from .templates import parse
from .transforms import templated

INVALID = "graph.invalid"


@dataclass(frozen=True, slots=True)
class Checked:
    """Every flaw and warning of a definition; compiled if it has no flaws."""

    flaws: tuple[Note, ...]
    warnings: tuple[Note, ...] = ()
    compiled: Compiled | None = None


def compile_graph(
    definition: object, *, types: NodeTypes | None = None, blobs: Blobs | None = None, revision: int = 1
) -> Compiled:
    """Raises `InvalidDefinition`, code `graph.invalid`, with all flaws."""
    checked = check_graph(definition, types=types, blobs=blobs, revision=revision)
    if checked.compiled is None:
        raise InvalidDefinition(INVALID, checked.flaws)
    return checked.compiled


def check_graph(
    definition: object, *, types: NodeTypes | None = None, blobs: Blobs | None = None, revision: int = 1
) -> Checked:
    """Total: accepts any JSON. Without `types` and `blobs` (see `references_of`), those pinned to the definition are
    used, or else the built-in types."""
    pins = NO_PINS
    if types is None and blobs is None:
        definition, pins = unpinned(definition)
    types, blobs = types or pins.node_types(), blobs or pins.texts()
    draft = read(definition)
    examined = Examined.of(draft, types, blobs)
    if oversized := (*_bytes_over(definition), *size.oversized(draft)):
        return Checked((*draft.notes, *oversized))
    found = conditions.compile_all(examined, pins.policy)
    flaws = (*draft.notes, *_found(BEFORE_CONDITIONS, examined), *found.flaws, *_found(AFTER_CONDITIONS, examined))
    if flaws:
        return Checked(flaws)
    warnings = _found(WARNINGS, examined)
    ir = build(examined, revision)
    compiled = Compiled(
        source=draft.source,
        ir=ir,
        conditions=found.compiled,
        templates={node.id: parse(templated(node.type, node.config)) for node in ir.nodes.values()},
        output=parse(draft.source.output),
        node_types={node.id: type for node in draft.source.nodes if (type := types.get(node.type)) is not None},
        warnings=warnings,
        policy=pins.policy,
    )
    return Checked((), warnings, compiled)


def references_of(definition: object) -> frozenset[str]:
    """The stored texts that must be loaded before a definition is compiled."""
    draft = read(definition)
    return conditions.references(draft) | config_refs.references(draft)


def _found(rules: Iterable[FindFlaws], examined: Examined) -> tuple[Note, ...]:
    return tuple(note for rule in rules for note in rule(examined))


def _bytes_over(definition: object) -> Iterator[Note]:
    try:
        written = len(bytes(values.encode(definition)))
    except PlaitError:  # not JSON: reported by the caller that parsed it
        return
    if written > MAX_BYTES:
        yield Note(
            "", f"the workflow has {written:,} bytes, limit {MAX_BYTES:,}", "keep large values as blobs", size.CODE
        )
