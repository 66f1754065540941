"""Targets of `$ref` inside a schema: the document itself, parts with an `$id`, anchors, and JSON pointers."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import unquote, urldefrag, urljoin


class OutsideReference(Exception):
    """A `$ref` points outside the document."""


class Resources:
    """All possible targets, found in one walk."""

    def __init__(self, document: Any) -> None:
        self._roots: dict[str, Any] = {"": document}
        self._anchors: dict[tuple[str, str], Any] = {}
        self._dynamic: dict[str, list[Any]] = {}
        self._bases: dict[int, str] = {}
        self._index(document, "")

    def target(self, schema: dict[str, Any], reference: str) -> Any:
        """The target of a `$ref`."""
        address, fragment = urldefrag(urljoin(self._bases.get(id(schema), ""), reference))
        fragment = unquote(fragment)
        if (address, fragment) in self._anchors:
            return self._anchors[address, fragment]
        if address not in self._roots or (fragment and not fragment.startswith("/")):
            raise OutsideReference(reference)
        return _pointed(self._roots[address], fragment, reference)

    def dynamic_targets(self, schema: dict[str, Any], reference: str) -> list[Any]:
        """All possible targets of a `$dynamicRef`."""
        return self._dynamic.get(reference.partition("#")[2]) or [self.target(schema, reference)]

    def _index(self, value: Any, base: str) -> None:
        if isinstance(value, list):
            for each in cast("list[Any]", value):
                self._index(each, base)
        if not isinstance(value, dict):
            return
        schema = cast("dict[str, Any]", value)
        own = schema.get("$id")
        if isinstance(own, str):
            base = urldefrag(urljoin(base, own))[0]
            self._roots.setdefault(base, schema)
        self._bases[id(schema)] = base
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = schema.get(keyword)
            if isinstance(name, str):
                self._anchors[base, name] = schema
                if keyword == "$dynamicAnchor":
                    self._dynamic.setdefault(name, []).append(schema)
        for each in schema.values():
            self._index(each, base)


def _pointed(value: Any, pointer: str, reference: str) -> Any:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            value = cast("list[Any]", value)[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, TypeError, ValueError, IndexError):
            raise OutsideReference(reference) from None
    return value
