"""The text of references, and replacing references."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import msgspec

from plait.dialects.refs.references.template import Malformed, Ref, escaped, parse

_NAME: Final = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,18}", re.ASCII)


def written(head: str, path: Sequence[str] = (), *, braced: bool = False) -> str:
    """The shortest reference to this place; with braces where a key needs them, or on request."""
    parts = [_part(part) for part in path]
    text = head + "".join(part for part, _ in parts)
    return f"@{{{text}}}" if braced or any(quoted for _, quoted in parts) else f"@{text}"


def _part(part: str) -> tuple[str, bool]:
    if _NAME.fullmatch(part):
        return f".{part}", False
    if _NUMBER.fullmatch(part):
        return f"[{part}]", False
    return f"[{msgspec.json.encode(part).decode()}]", True


def replace_refs(value: Any, change: Callable[[Ref], str]) -> Any:
    """Replaces the text of each reference in a value; everything else stays as it is written."""
    if isinstance(value, str):
        return _text(value, change) if "@" in value else value
    if isinstance(value, dict):
        return {key: replace_refs(each, change) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [replace_refs(each, change) for each in cast("list[Any]", value)]
    return value


def _text(text: str, change: Callable[[Ref], str]) -> str:
    parts = parse(text).parts
    changed = {part: change(part) for part in parts if isinstance(part, Ref)}
    if all(new == old.text for old, new in changed.items()):
        return text
    return "".join(changed[part] if isinstance(part, Ref) else _kept(part) for part in parts)


def _kept(part: str | Malformed) -> str:
    return escaped(part) if isinstance(part, str) else part.text
