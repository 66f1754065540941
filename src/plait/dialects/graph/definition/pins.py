"""What a run keeps beside its definition: node types and policy of its namespace, and the stored texts that it uses.

They are kept inside the definition, under a field that nobody can write: a run always compiles to the same graph,
whatever is registered, set or uploaded later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from .builtin_types import BUILT_IN_TYPES
from .config_refs import Blobs
from .namespace_policy import NO_POLICY, NamespacePolicy
from .node_types import NodeType, NodeTypes

FIELD: Final = "$pinned"


class Pins(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    types: list[NodeType] = []
    """The types that are not built in."""
    blobs: dict[str, str] = {}
    """Stored texts by reference."""
    policy: NamespacePolicy = NO_POLICY
    """What the operators of the namespace allow."""

    def node_types(self) -> NodeTypes:
        return BUILT_IN_TYPES.with_types(self.types) if self.types else BUILT_IN_TYPES

    def texts(self) -> Blobs:
        return {ref: text.encode() for ref, text in self.blobs.items()}


NONE: Final = Pins()


def pinned(definition: Mapping[str, Any], pins: Pins) -> dict[str, Any]:
    plain = {key: value for key, value in definition.items() if key != FIELD}
    return plain if pins == NONE else {**plain, FIELD: msgspec.to_builtins(pins)}


def unpinned(definition: object) -> tuple[object, Pins]:
    """Splits a definition into its written form and its pins. An unknown field stays where it is."""
    if not isinstance(definition, dict):
        return definition, NONE
    fields = cast("dict[str, Any]", definition)
    if FIELD not in fields:
        return fields, NONE
    try:
        pins = msgspec.convert(fields[FIELD], Pins)
    except msgspec.ValidationError:
        return fields, NONE
    return {key: value for key, value in fields.items() if key != FIELD}, pins
