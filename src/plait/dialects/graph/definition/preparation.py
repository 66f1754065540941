"""A definition made ready to start or to save: checked with the node types of its namespace, which are pinned to it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plait.kernel import values

from .builtin_types import BUILT_IN, BUILT_IN_TYPES
from .compile import compile_graph, references_of
from .ir import Compiled
from .node_types import NodeType, NodeTypes
from .pins import Pins, pinned
from .texts import Texts
from .type_registry import TypeRegistry

_KEPT = 256


@dataclass(frozen=True, slots=True)
class Prepared:
    definition: dict[str, Any]
    """With its pins."""
    compiled: Compiled


class Preparation:
    def __init__(self, types: TypeRegistry | None = None, texts: Texts | None = None) -> None:
        """Without these there are only built-in types, and nothing is stored."""
        self._types = types
        self._texts = texts
        self._recent: OrderedDict[tuple[str, bytes], tuple[NodeTypes, Prepared]] = OrderedDict()
        """By namespace and text of the definition, with the types that it was compiled with."""

    async def prepare(self, definition: Mapping[str, Any], namespace: str) -> Prepared:
        """Refuses with all flaws."""
        types = BUILT_IN_TYPES if self._types is None else await self._types.of(namespace)
        key = namespace, bytes(values.encode(definition))
        known = self._recent.get(key)
        if known is not None and known[0] is types:
            self._recent.move_to_end(key)
            return known[1]
        references = references_of(definition)
        found = await self._made(definition, types, references, namespace)
        if not references:  # others may upload them later, or have them in another namespace
            self._keep(key, types, found)
        return found

    async def _made(
        self, definition: Mapping[str, Any], types: NodeTypes, references: frozenset[str], namespace: str
    ) -> Prepared:
        blobs = await self._texts.load(references, namespace) if references and self._texts is not None else {}
        compiled = compile_graph(definition, types=types, blobs={ref: text.encode() for ref, text in blobs.items()})
        return Prepared(pinned(definition, Pins(_used(compiled), blobs)), compiled)

    def _keep(self, key: tuple[str, bytes], types: NodeTypes, found: Prepared) -> None:
        self._recent[key] = types, found
        if len(self._recent) > _KEPT:
            self._recent.popitem(last=False)


def _used(compiled: Compiled) -> list[NodeType]:
    """Types that are not built in; the highest version last, so that `x` stays what it is now."""
    found = {each.key: each for each in compiled.node_types.values() if each.type_name not in BUILT_IN}
    return [found[key] for key in sorted(found)]
