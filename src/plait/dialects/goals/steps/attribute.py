"""An attribute of a step: an input or output name, in its stored form, nested by role.

{"role": "optional", "type": "string", "optional": {"default": "\\"Hello!\\""}}
"""

from __future__ import annotations

from typing import Literal

import msgspec

Role = Literal["required", "optional", "output", "const", "meta"]
Kind = Literal["any", "string", "number", "boolean", "object", "array", "null"]
Collect = Literal["first", "last", "some", "all", "none"]
Language = Literal["ale", "lua", "jpath", "javascript"]


class Script(msgspec.Struct, frozen=True, gc=False):
    language: Language
    script: str


class Mapping(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """How a name is called inside the step, and what happens to its value on the way."""

    name: str = ""
    script: Script | None = None


class Detail(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a role may say of its attribute; which field goes with which role is checked when it is read."""

    default: str | None = None
    for_each: bool = False
    collect: Collect = "first"
    match: Script | None = None
    deadline: int = 0
    mapping: Mapping | None = None
    value: str | None = None
    key: str = ""


PLAIN = Detail()


class Attribute(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    role: Role
    type: Kind
    required: Detail | None = None
    optional: Detail | None = None
    output: Detail | None = None
    const: Detail | None = None
    meta: Detail | None = None

    @property
    def detail(self) -> Detail:
        return getattr(self, self.role) or PLAIN

    @property
    def goes_in(self) -> bool:
        return self.role != "output"

    def inner(self, name: str) -> str:
        """The name inside the step."""
        mapping = self.detail.mapping
        return mapping.name or name if mapping is not None else name


def attribute(role: Role, type: Kind = "any", detail: Detail = PLAIN) -> Attribute:
    """An attribute with the detail at its role; an empty detail is left out."""
    nested = {} if detail == PLAIN else {role: detail}
    return Attribute(role=role, type=type, **nested)
