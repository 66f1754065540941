"""References of conditions to stored texts, `schema_ref` and `code_ref`: found, and replaced by their contents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from plait.kernel import values
from plait.kernel.errors import InvalidInput

from .findings import Findings, shortened
from .source import Source

_STANDS_FOR: Final = {"schema_ref": "schema", "code_ref": "code"}
_DEEPEST: Final = 64
"""Levels of composites that are searched; a deeper one is refused anyway."""


def references(condition: Any) -> frozenset[str]:
    """References that must be loaded before a condition is compiled."""
    return frozenset(reference for _, reference in _found(condition))


def _found(condition: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    if not isinstance(condition, dict) or depth > _DEEPEST:
        return
    fields = cast("dict[str, Any]", condition)
    for name in _STANDS_FOR:
        if isinstance(fields.get(name), str):
            yield name, fields[name]
    children = fields.get("conditions")
    if isinstance(children, list):
        for child in cast("list[Any]", children):
            yield from _found(child, depth + 1)


class Pinning:
    """Replaces references by their texts."""

    def __init__(self, blobs: Mapping[str, bytes], findings: Findings) -> None:
        self._blobs = blobs
        self._findings = findings
        self.pinned: dict[str, str] = {}
        """From the pointer of each inserted text to the pointer of its reference."""

    def pin(self, condition: Any, pointer: str = "", depth: int = 0) -> Any:
        if not isinstance(condition, dict) or depth > _DEEPEST:
            return cast("Any", condition)
        source = Source(cast("dict[str, Any]", condition), pointer, self._findings)
        fields = dict(source.fields)
        for name, stands_for in _STANDS_FOR.items():
            if isinstance(fields.get(name), str) and stands_for not in fields:
                self._pin(source, fields, name)
        children = fields.get("conditions")
        if isinstance(children, list):
            many = enumerate(cast("list[Any]", children))
            fields["conditions"] = [self.pin(child, source.at("conditions", at), depth + 1) for at, child in many]
        return fields

    def _pin(self, source: Source, fields: dict[str, Any], name: str) -> None:
        content = self._content(source, name, fields[name])
        if content is not None:
            del fields[name]
            fields[_STANDS_FOR[name]] = content
            self.pinned[source.at(_STANDS_FOR[name])] = source.at(name)

    def _content(self, source: Source, name: str, reference: str) -> Any:
        """None if it is missing, which is added to the findings."""
        blob = self._blobs.get(reference)
        if blob is None:
            what = f"condition: {name} {shortened(reference)} is not stored"
            source.refuse(what, "upload it", at=name, code="ref_missing")
            return None
        try:
            return values.parse(blob) if name == "schema_ref" else blob.decode()
        except (InvalidInput, UnicodeDecodeError):
            source.refuse(f"condition: {name} {shortened(reference)} holds no {_STANDS_FOR[name]}", at=name)
            return None
