"""A string with `@ref` tokens, parsed once.

A string is read from left to right, by runs of k consecutive `@`:

1. not followed by a letter, `_` or `{`        text
2. k is 2 or more                              an escape: one `@` less, and the name is text
3. k is 1, after a letter or digit, no brace   text, so that e-mail addresses are never references
4. else                                        a token, `@head.path` or `@{head.path}`

Whether a token is a reference depends on its head, which only a definition knows: see `resolve` and `heads`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

_NAME: Final = r"[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?"
"""A hyphen at the end is text."""
_NUMBER: Final = r"[0-9]{1,18}"
_PLAIN: Final = re.compile(rf"(?P<head>{_NAME})(?P<path>(?:\.{_NAME}|\.{_NUMBER}(?![A-Za-z0-9_])|\[{_NUMBER}\])*)")
_BRACED: Final = re.compile(
    rf'\{{(?P<head>{_NAME})(?P<path>(?:\.{_NAME}|\.{_NUMBER}(?![A-Za-z0-9_])|\[{_NUMBER}\]|\["(?:[^"\\]|\\.)*"\])*)\}}'
)
_PART: Final = re.compile(r'\.(?P<name>[^.\[]+)|\[(?P<index>[0-9]+)\]|\[(?P<key>"(?:[^"\\]|\\.)*")\]')
_MARKS: Final = re.compile(r"@+")
_BEGINS: Final = re.compile(r"[A-Za-z_{]")
_KEPT: Final = 4_096


class Ref(msgspec.Struct, frozen=True, gc=False):
    """A token; text if its head is unknown."""

    text: str
    """The token as written."""
    head: str
    path: tuple[str, ...] = ()
    braced: bool = False


class Malformed(msgspec.Struct, frozen=True, gc=False):
    """Braces without a valid reference. They stay as written."""

    text: str


Part = str | Ref | Malformed


class Template(msgspec.Struct, frozen=True, gc=False):
    parts: tuple[Part, ...]

    @property
    def whole(self) -> Ref | None:
        """The reference that is the whole string, if any."""
        only = self.parts[0] if len(self.parts) == 1 else None
        return only if isinstance(only, Ref) else None

    @property
    def refs(self) -> list[Ref]:
        return [part for part in self.parts if isinstance(part, Ref)]

    @property
    def malformed(self) -> list[Malformed]:
        return [part for part in self.parts if isinstance(part, Malformed)]


def parse(text: str) -> Template:
    """The literal parts and the tokens of a string, in order."""
    return _parse(text) if len(text) <= _KEPT else Template(tuple(_parts(text)))


@lru_cache(_KEPT)
def _parse(text: str) -> Template:
    return Template(tuple(_parts(text)))


def _parts(text: str) -> list[Part]:
    parts: list[Part] = []
    literal: list[str] = []
    at = 0
    for marks in _MARKS.finditer(text):
        if marks.start() < at:
            continue
        literal.append(text[at : marks.start()])
        at = marks.end()
        token = _token(text, marks)
        if isinstance(token, str):
            literal.append(token)
            continue
        if kept := "".join(literal):
            parts.append(kept)
        literal = []
        parts.append(token)
        at = marks.start() + len(token.text)
    if kept := "".join([*literal, text[at:]]):
        parts.append(kept)
    return parts


def _token(text: str, marks: re.Match[str]) -> Part:
    """The meaning of a run of `@`; as text, only the marks."""
    start, end = marks.span()
    if _BEGINS.match(text, end) is None:
        return marks[0]
    if end - start > 1:
        return marks[0][1:]
    if text[end] == "{":
        return _braced(text, start)
    if start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        return marks[0]
    found = _PLAIN.match(text, end)
    assert found is not None  # it begins with a letter or `_`
    return Ref(f"@{found[0]}", found["head"], _path(found["path"]))


def _braced(text: str, start: int) -> Part:
    found = _BRACED.match(text, start + 1)
    path = None if found is None else _quoted_path(found["path"])
    if found is None or path is None:
        end = text.find("}", start)
        return Malformed(text[start : end + 1] if end >= 0 else text[start:])
    return Ref(f"@{found[0]}", found["head"], path, braced=True)


def _path(text: str) -> tuple[str, ...]:
    return tuple(part["name"] or part["index"] for part in _PART.finditer(text)) if text else ()


def _quoted_path(text: str) -> tuple[str, ...] | None:
    """None if a key is not a JSON string."""
    try:
        return tuple(
            msgspec.json.decode(part["key"], type=str) if part["key"] else part["name"] or part["index"]
            for part in _PART.finditer(text)
        )
    except msgspec.MsgspecError:
        return None


def escaped(text: str) -> str:
    """A string that stands for this text, whatever steps a definition has."""
    found: list[str] = []
    at = 0
    for marks in _MARKS.finditer(text):
        end = marks.end()
        found.append(text[at:end])
        at = end
        if _BEGINS.match(text, end) is not None and _needs_escape(text, marks):
            found.append("@")
    return "".join([*found, text[at:]])


def _needs_escape(text: str, marks: re.Match[str]) -> bool:
    start, end = marks.span()
    if end - start > 1 or text[end] == "{":
        return True
    return not (start and (text[start - 1].isalnum() or text[start - 1] == "_"))
