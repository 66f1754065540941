"""Parses an attribute in either shape, flat or nested by role, and checks what its role and type allow."""

from __future__ import annotations

import typing
from typing import Any

from plait.definitions.cursor import Cursor
from plait.dialects.goals.limits import LONGEST_DEADLINE
from plait.kernel import values
from plait.kernel.errors import PlaitError

from .attribute import PLAIN, Attribute, Collect, Detail, Kind, Language, Mapping, Role, Script, attribute

ROLES: tuple[Role, ...] = typing.get_args(Role)
KINDS: tuple[Kind, ...] = typing.get_args(Kind)
COLLECTS: tuple[Collect, ...] = typing.get_args(Collect)
LANGUAGES: tuple[Language, ...] = typing.get_args(Language)

ALLOWED: dict[str, tuple[Role, ...]] = {
    "default": ("optional",),
    "for_each": ("required", "optional"),
    "collect": ("required", "optional"),
    "match": ("required",),
    "deadline": ("optional",),
    "mapping": ("required", "optional", "output"),
    "value": ("const",),
    "key": ("meta",),
}
"""The fields of a detail, and the roles that allow them."""


def read_attribute(cursor: Cursor, name: str, strict: bool) -> Attribute:
    if not cursor.data.get("role"):
        cursor.note("role", f"attribute '{name}' has no role", f"add one of {', '.join(ROLES)}")
    role = cursor.choice("role", ROLES)
    kind = cursor.choice("type", KINDS)
    merged = _merged(cursor, name, role, strict)
    if role == "const" and not strict:
        _take_default_as_value(merged)
    _check_allowed(merged, name, role)
    detail = _detail(merged)
    _check_detail(merged, name, role, kind, detail)
    return attribute(role, kind, detail)


class _Merged(Cursor):
    """The fields of a detail, from either shape."""

    def __init__(self, cursor: Cursor) -> None:
        super().__init__({}, cursor.pointer, cursor.notes)
        self.places: dict[str, str] = {}

    def at(self, field: str) -> str:
        return self.places.get(field) or super().at(field)


def _merged(cursor: Cursor, name: str, role: Role, strict: bool) -> _Merged:
    merged = _Merged(cursor)
    if strict:
        cursor.only(("role", "type", *ALLOWED, *ROLES))
    for other in ROLES:
        if other != role and cursor.data.get(other):
            cursor.note(other, f"'{other}' of '{name}' does not fit its role '{role}'", "remove it or change the role")
    nested = cursor.child(role)
    if nested is not None and strict:
        nested.only(ALLOWED)
    for place in (cursor, nested):
        for field in ALLOWED if place is not None else ():
            assert place is not None
            if place.has(field):
                _take(merged, place, field, name)
    return merged


def _take(merged: _Merged, place: Cursor, field: str, name: str) -> None:
    value = place.data[field]
    if field in merged.data and merged.data[field] != value:
        place.note(field, f"'{field}' of '{name}' is given twice and differs", "keep one")
    merged.data[field] = value
    merged.places[field] = place.at(field)


def _take_default_as_value(merged: _Merged) -> None:
    """Accepts the value of a const as its `default`, as older clients of the compatible mount send it."""
    if "default" in merged.data and "value" not in merged.data:
        merged.data["value"] = merged.data.pop("default")
        merged.places["value"] = merged.places.pop("default")


def _check_allowed(merged: _Merged, name: str, role: Role) -> None:
    for field in [each for each in merged.data if role not in ALLOWED[each]]:
        use = " or ".join(f"'{each}'" for each in ALLOWED[field])
        merged.note(field, f"'{field}' of '{name}' is not allowed for role '{role}'", f"remove it or use role {use}")
        del merged.data[field]


def _detail(merged: _Merged) -> Detail:
    if not merged.data:
        return PLAIN
    return Detail(
        default=merged.text("default") or None,
        for_each=merged.flag("for_each"),
        collect=merged.choice("collect", COLLECTS),
        match=read_script(merged.child("match"), LANGUAGES),
        deadline=merged.number("deadline"),
        mapping=_mapping(merged.child("mapping")),
        value=merged.text("value") or None,
        key=merged.text("key"),
    )


def _mapping(cursor: Cursor | None) -> Mapping | None:
    if cursor is None:
        return None
    found = Mapping(cursor.text("name"), read_script(cursor.child("script"), LANGUAGES))
    if found == Mapping():
        cursor.note("", "the mapping is empty", "give it a 'name', a 'script' or both")
        return None
    return found


def read_script(cursor: Cursor | None, languages: tuple[Language, ...]) -> Script | None:
    if cursor is None:
        return None
    cursor.text("language", required=True)
    return Script(cursor.choice("language", languages), cursor.text("script", required=True))


def _check_detail(merged: _Merged, name: str, role: Role, kind: Kind, detail: Detail) -> None:
    if detail.for_each and kind not in ("array", "any"):
        merged.note("for_each", f"'for_each' of '{name}' needs type 'array' or 'any', not '{kind}'", "change the type")
    if not -1 <= detail.deadline <= LONGEST_DEADLINE:
        what = f"'deadline' of '{name}' is {detail.deadline}"
        merged.note("deadline", what, f"use 0 to {LONGEST_DEADLINE} ms, or -1 to wait as long as it takes")
    if role == "const" and detail.value is None:
        merged.note("value", f"const '{name}' has no value", "add 'value', a string holding JSON")
    if role == "meta" and not detail.key:
        merged.note("key", f"meta '{name}' has no key", "add 'key', such as 'flow_id', or a run label")
    for field, text in (("default", detail.default), ("value", detail.value)):
        if text is not None:
            _check_json(merged, name, field, text, kind)


def _check_json(merged: _Merged, name: str, field: str, text: str, kind: Kind) -> None:
    try:
        value = values.parse(text)
    except PlaitError:
        merged.note(
            field, f"'{field}' of '{name}' is not JSON", 'write JSON in the string, such as "\\"text\\"" or "1"'
        )
        return
    if not fits(value, kind):
        merged.note(field, f"'{field}' of '{name}' is no {kind}", "change it or the type")


def fits(value: Any, kind: Kind) -> bool:
    match kind:
        case "any":
            return True
        case "string":
            return isinstance(value, str)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "null":
            return value is None
        case _:
            typing.assert_never(kind)
