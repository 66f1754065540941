"""The types that nodes may have, as one definition sees them: the built-in ones and those of its namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

ALIASES = {"hitl": "human", "conditional": "decision"}


class NodeType(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One version of a type. A schema is written here, or stored and named: then it is loaded when the type is
    registered."""

    type_name: str
    version: str = "v1"
    config_schema: dict[str, Any] | None = None
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    config_schema_ref: str = ""
    input_schema_ref: str = ""
    output_schema_ref: str = ""
    worker_image: str = ""
    worker_queue: str = ""
    capabilities: dict[str, Any] = {}
    display_name: str = ""
    description: str = ""
    icon_url: str = ""

    @property
    def key(self) -> tuple[str, int]:
        """Versions are v1, v2 and so on."""
        return self.type_name, int(self.version[1:])


class NodeTypes:
    """Node types by name: `x` is the newest version of a type, `x@v1` a given one."""

    def __init__(self, types: Mapping[str, Mapping[str, NodeType]]) -> None:
        """Types by name, then by version, newest last."""
        self._types = types

    def with_types(self, types: Iterable[NodeType]) -> NodeTypes:
        """These types and more; the last of a name is its newest version."""
        found = {name: dict(versions) for name, versions in self._types.items()}
        for each in types:
            versions = found.setdefault(each.type_name, {})
            versions.pop(each.version, None)
            versions[each.version] = each
        return NodeTypes(found)

    def all(self) -> list[NodeType]:
        """All types by name, the newest version of each last."""
        return [each for name in self.names() for each in self._types[name].values()]

    def names(self) -> list[str]:
        return sorted(self._types)

    def split(self, written: str) -> tuple[str, str]:
        """The name with aliases resolved, and the version; empty for the newest."""
        name, _, version = written.partition("@")
        return ALIASES.get(name, name), version

    def versions(self, written: str) -> list[str]:
        """The versions of the named type; empty if there is none."""
        return [*self._types.get(self.split(written)[0], ())]

    def get(self, written: str) -> NodeType | None:
        name, version = self.split(written)
        versions = self._types.get(name)
        if not versions:
            return None
        return versions.get(version) if version else [*versions.values()][-1]
