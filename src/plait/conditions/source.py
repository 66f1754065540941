"""A condition's object as written, parsed field by field. Flaws are added to the findings, and parsing continues."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from .findings import Findings, suggestion


class Source:
    def __init__(self, fields: Mapping[str, Any], pointer: str, findings: Findings) -> None:
        self.fields = fields
        self.pointer = pointer
        self.findings = findings

    def at(self, *parts: str | int) -> str:
        """The JSON pointer of a part."""
        return self.pointer + "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)

    def refuse(self, what: str, fix: str = "", *, at: str | None = None, code: str = "bad_shape") -> None:
        self.findings.add(code, self.pointer if at is None else self.at(at), what, fix)

    def allow(self, *names: str) -> None:
        """Refuses every other field."""
        for name in self.fields:
            if name not in names and name != "type" and not self.findings.full:
                fix = suggestion(name, names, f"use {', '.join(names)}")
                self.refuse(f"unknown field `{name}`", fix, at=name)

    def has(self, name: str) -> bool:
        return name in self.fields

    def require(self, name: str) -> bool:
        if name not in self.fields:
            self.refuse(f"`{name}` is missing", "add it")
        return name in self.fields

    def text(self, name: str) -> str | None:
        if not self.require(name):
            return None
        found = self.fields[name]
        if isinstance(found, str):
            return found
        self.refuse(f"`{name}` must be a string", at=name)
        return None

    def flag(self, name: str) -> bool:
        """False unless the field is true."""
        found = self.fields.get(name, False)
        if not isinstance(found, bool):
            self.refuse(f"`{name}` must be true or false", at=name)
        return found is True

    def number(self, name: str, otherwise: int, most: int) -> int:
        """A positive integer."""
        found = self.fields.get(name, otherwise)
        if isinstance(found, int) and not isinstance(found, bool) and 1 <= found <= most:
            return found
        self.refuse(f"`{name}` must be a whole number from 1 to {most:,}", at=name)
        return otherwise

    def choice(self, name: str, known: Collection[str], otherwise: str | None = None) -> str | None:
        if otherwise is None and not self.require(name):
            return None
        found = self.fields.get(name, otherwise)
        if isinstance(found, str) and found in known:
            return found
        fix = suggestion(str(found), known, f"use {', '.join(known)}")
        self.refuse(f"`{name}` {found!r:.60} is unknown", fix, at=name)
        return None

    def content(self, name: str) -> Any:
        """The value of the field, or of the reference in the field `<name>_ref`: exactly one of the two."""
        reference = f"{name}_ref"
        if self.has(name) == self.has(reference):
            self.refuse(f"exactly one of `{name}` and `{reference}` is needed")
            return None
        if self.has(reference):  # not replaced by its text: loading has reported why
            self.text(reference)
            return None
        return self.text(name) if name == "code" else self._schema(name)

    def _schema(self, name: str) -> Any:
        if not isinstance(self.fields[name], dict | bool):
            self.refuse(f"`{name}` must be an object", at=name)
        return self.fields[name]

    def part(self, name: str) -> Source | None:
        """A field that is an object itself."""
        if not self.require(name):
            return None
        found = self.fields[name]
        if isinstance(found, dict):
            return Source(cast("dict[str, Any]", found), self.at(name), self.findings)
        self.refuse(f"`{name}` must be an object", at=name)
        return None
