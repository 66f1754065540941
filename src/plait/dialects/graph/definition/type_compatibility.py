"""Whether a schema still accepts all that it accepted: within one version of a type it may only be widened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

Schema = Mapping[str, Any]


def narrowed(before: Any, after: Any, path: str = "config") -> Iterator[str]:
    """What the new schema no longer accepts: a property, an optional field, a type."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        if before is not None and after is False:
            yield f"{path} is not allowed any more"
        return
    old, new = cast("Schema", before), cast("Schema", after)
    yield from _fewer_types(old, new, path)
    for name in _names(new, "required") - _names(old, "required"):
        yield f"{path}.{name} became required"
    before_fields, after_fields = _fields(old), _fields(new)
    for name in before_fields:
        if name not in after_fields:
            yield f"{path}.{name} was dropped"
        else:
            yield from narrowed(before_fields[name], after_fields[name], f"{path}.{name}")
    if "items" in old or "items" in new:
        yield from narrowed(old.get("items", {}), new.get("items", {}), f"{path}[]")


def _fewer_types(old: Schema, new: Schema, path: str) -> Iterator[str]:
    before, after = _types(old), _types(new)
    if after is not None and (before is None or not before <= after):
        was = "anything" if before is None else " or ".join(sorted(before))
        yield f"{path} was {was}, and would be {' or '.join(sorted(after))}"
    if "enum" in new:
        allowed = cast("list[Any]", new["enum"])
        if "enum" not in old or any(each not in allowed for each in old["enum"]):
            yield f"{path} allows fewer values"


def _types(schema: Schema) -> set[str] | None:
    """The types that a schema accepts, None for any; integers are numbers."""
    found = schema.get("type")
    if found is None:
        return None
    names = {found} if isinstance(found, str) else {str(each) for each in found}
    return names | {"integer"} if "number" in names else names


def _names(schema: Schema, field: str) -> set[str]:
    return {str(each) for each in schema.get(field, ())}


def _fields(schema: Schema) -> Mapping[str, Any]:
    return schema.get("properties", {})
