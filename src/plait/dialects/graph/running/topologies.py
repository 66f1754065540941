"""The compiled graphs that runs of this process use: one for each definition, shared by its runs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from plait.definitions import json_patch
from plait.dialects.graph.definition.ir import Compiled
from plait.dialects.graph.definition.pins import FIELD as PINNED
from plait.kernel.errors import InvalidInput

from .topology import Topology

Compile = Callable[[object], Compiled]

_KEPT = 256


class Topologies:
    def __init__(self, compile: Compile) -> None:
        self._compile = compile
        self._known: OrderedDict[bytes, Topology] = OrderedDict()

    def of(self, definition: Raw) -> Topology:
        """Compiles a definition as recorded in the log."""
        text = bytes(definition)
        found = self._known.get(text)
        if found is None:
            found = Topology(self._compile(msgspec.json.decode(text)), definition)
            self._known[text] = found
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(text)
        return found

    def patched(self, definition: Raw, operations: list[dict[str, Any]]) -> Topology:
        """Applies operations; refuses those that can't be applied or would make the graph invalid."""
        for operation in operations:
            if any(str(operation.get(name, "")).startswith(f"/{PINNED}") for name in ("path", "from")):
                raise InvalidInput(json_patch.CODE, f"`{PINNED}` can't be patched", fix="patch nodes, edges or limits")
        return self.made(json_patch.apply(msgspec.json.decode(bytes(definition)), operations))

    def made(self, definition: Any) -> Topology:
        """Compiles a definition as written; raises with all its flaws."""
        return self.of(Raw(msgspec.json.encode(definition)))
