"""Whether a value fits a type of the language: section 1.6 of the spec."""

from __future__ import annotations

from typing import Any, cast

from plait.dialects.afl.program.program import Program

_LARGEST = 2**63


def misfit(value: Any, type: Any, program: Program) -> str:
    """The misfit of a value, or an empty string. Null fits every type."""
    return "" if value is None or _fits(value, type, program) else f"expected {shown(type)}, got {kind_of(value)}"


def _fits(value: Any, type: Any, program: Program) -> bool:
    if value is None or type is None:
        return True
    if isinstance(type, dict):
        element = cast("dict[str, Any]", type).get("elementType")
        return isinstance(value, list) and all(_fits(each, element, program) for each in cast("list[Any]", value))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match str(type):
        case "String":
            return isinstance(value, str)
        case "Long" | "Int":
            return number and isinstance(value, int) and -_LARGEST <= value < _LARGEST
        case "Double":
            return number
        case "Boolean":
            return isinstance(value, bool)
        case "Json":
            return True
        case name:
            return _fits_schema(value, name, program)


def _fits_schema(value: Any, name: str, program: Program) -> bool:
    """An object with the schema's fields, all optional; extra ones are kept."""
    if not isinstance(value, dict):
        return False
    found = program.find(name)
    if found is None or found.kind != "schema":
        return True
    fields = cast("dict[str, Any]", value)
    return all(_fits(fields.get(field.name), field.type, program) for field in found.params)


def shown(type: Any) -> str:
    if isinstance(type, dict):
        return f"[{shown(cast('dict[str, Any]', type).get('elementType'))}]"
    return str(type)


def kind_of(value: Any) -> str:
    match value:
        case bool():
            return "Boolean"
        case int():
            return "Long"
        case float():
            return "Double"
        case str():
            return "String"
        case list():
            return "a list"
        case _:
            return "an object"
