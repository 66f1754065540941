"""Replaces references by the values they name. It never fails: what is missing is left out and listed.

Inserted values are not searched again, so no output can introduce a reference of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

import msgspec

from plait.conditions.paths import MISSING, follow

from .heads import CTX, INDEX, INPUT, ITEM
from .template import Malformed, Ref, Template, parse

MAX_BYTES: Final = 16 * 1024 * 1024
"""Bytes that references bring in: a few of them could name one large value thousands of times."""

_encode = msgspec.json.Encoder().encode


class Scope(msgspec.Struct, frozen=True):
    """The values of the heads of references."""

    input: Any = None
    outputs: Mapping[str, Any] = {}
    """Outputs of the steps that a value may name; `None` for one that was skipped, failed or returned nothing."""
    item: Any = MISSING
    index: Any = MISSING
    ctx: Mapping[str, Any] = {}

    def knows(self, head: str) -> bool:
        return head in (INPUT, ITEM, INDEX, CTX) or head in self.outputs


class Resolution(NamedTuple):
    value: Any
    unresolved: list[str]
    """References to missing values, as written; each once."""
    too_large: bool = False
    """Whether references bring in more than `MAX_BYTES`: those past it are null."""


def resolve(value: Any, scope: Scope) -> Resolution:
    """Resolves the references in the strings of any JSON value; keys are left alone."""
    work = _Resolving(scope)
    found = work.value(value)
    return Resolution(None if found is MISSING else found, list(work.unresolved), work.size > MAX_BYTES)


def lookup(ref: Ref, scope: Scope) -> Any:
    """The value that a reference names, or `MISSING`."""
    match ref.head:
        case "input":
            start = scope.input
        case "item":
            start = scope.item
        case "index":
            start = scope.index
        case "ctx":
            start = scope.ctx
        case _:
            start = scope.outputs.get(ref.head, MISSING)
            if start is None:
                return None
    return follow(start, ref.path)


def as_text(value: Any) -> str:
    """The form of a value within a text."""
    match value:
        case None:
            return ""
        case str():
            return value
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return _encode(value).decode().removesuffix(".0")


class _Resolving:
    """The resolution of one value, in progress."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.unresolved: dict[str, None] = {}
        self.size = 0

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value) if "@" in value else value
        if isinstance(value, dict):
            found = ((key, self.value(each)) for key, each in cast("dict[str, Any]", value).items())
            return {key: each for key, each in found if each is not MISSING}
        if isinstance(value, list):
            many = [self.value(each) for each in cast("list[Any]", value)]
            return [None if each is MISSING else each for each in many]
        return value

    def _text(self, text: str) -> Any:
        template = parse(text)
        whole = template.whole
        if whole is not None and self._scope.knows(whole.head):
            return self._found(whole)
        return self._filled(template)

    def _filled(self, template: Template) -> str:
        return "".join(self._part(part) for part in template.parts)

    def _part(self, part: str | Ref | Malformed) -> str:
        if isinstance(part, str):
            return part
        if isinstance(part, Malformed) or not self._scope.knows(part.head):
            return part.text
        found = self._found(part)
        return part.text if found is MISSING else as_text(found)

    def _found(self, ref: Ref) -> Any:
        found = lookup(ref, self._scope)
        if found is MISSING:
            self.unresolved[ref.text] = None
            return found
        self.size += _size(found)
        return found if self.size <= MAX_BYTES else None


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return len(_encode(value)) if isinstance(value, dict | list) else 8
