"""Whether a node's config fits its type's schema. A template fits anything: its value is checked once it is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from plait.conditions.schema import Misfit, compiled
from plait.definitions.flaws import Note, escape
from plait.definitions.nearest import nearest
from plait.definitions.shape import shown
from plait.kernel import values

from .config_refs import config_ref
from .node_types import NodeType
from .read import Placed
from .templates import BadTemplate, has_hole, parse
from .transforms import TYPE as TRANSFORM
from .transforms import templated, transform_flaws

if TYPE_CHECKING:
    import jsonschema_rs

CODE = "graph.bad_config"

Schema = dict[str, Any]


def config_flaws(placed: Placed, type: NodeType, config: dict[str, Any] | None) -> Iterator[Note]:
    """`config` is None if it is stored elsewhere and could not be read."""
    node = placed.node
    if node.config and node.config_ref is not None:
        what = f"`{node.id}`: it has both config and config_ref"
        yield Note(f"{placed.pointer}/config_ref", what, "remove one", CODE)
    if config is None:
        what = f"`{node.id}`: config_ref {config_ref(node)} is not stored, or no object"
        yield Note(f"{placed.pointer}/config_ref", what, "upload it", CODE)
        return
    written = templated(type.type_name, config)
    yield from template_flaws(written, f"{placed.pointer}/config", f"`{node.id}`: config")
    if type.type_name == TRANSFORM:
        yield from transform_flaws(placed, config)
    for misfit in config_misfits(type, config):
        yield Note(f"{placed.pointer}/config{misfit.pointer}", f"`{node.id}`: {misfit.message}", "", CODE)


def template_flaws(value: Any, pointer: str, label: str) -> Iterator[Note]:
    try:
        parse(value)
    except BadTemplate as error:
        place = "".join(f"/{escape(str(step))}" for step in error.path)
        yield Note(f"{pointer}{place}", f"{label}{_dotted(error.path)}: {error.what}", error.fix, CODE)


def config_misfits(type: NodeType, config: dict[str, Any]) -> Iterator[Misfit]:
    """Also used at dispatch, on the config with its templates resolved."""
    if type.config_schema is None:
        return
    for error in compiled(values.encode(type.config_schema)).iter_errors(config):
        if not _has_template(config, error.instance_path):
            yield _misfit(type, error)


def _misfit(type: NodeType, error: jsonschema_rs.ValidationError) -> Misfit:
    path = [*map(str, error.instance_path)]
    place = f"config{_dotted(path)}"
    pointer = "".join(f"/{escape(part)}" for part in path)
    by = f"by type `{type.type_name}`"
    detail: dict[str, Any] = error.kind.as_dict()
    match error.schema_path[-1]:
        case "required":
            return Misfit(pointer, f"{place}.{detail['property']} is required {by}")
        case "additionalProperties":
            return Misfit(pointer, _unexpected(type, place, path, detail["unexpected"]))
        case "enum":
            allowed = ", ".join(map(str, detail["options"]))
            return Misfit(pointer, f"{place} must be one of {allowed}, got {shown(error.instance)}")
        case "type":
            return Misfit(
                pointer, f"{place} must be of type {' or '.join(detail['types'])}, got {shown(error.instance)}"
            )
        case "oneOf" if choices := _choices(type, path):
            return Misfit(pointer, f"{place} must have exactly one of {choices} {by}")
        case _:
            return Misfit(pointer, f"{place}: {error.message}")


def _unexpected(type: NodeType, place: str, path: Sequence[str], names: Sequence[str]) -> str:
    known: dict[str, Any] = {} if path else (type.config_schema or {}).get("properties", {})
    meant = nearest(names[0], known)
    advice = f"did you mean `{meant}`?" if meant is not None else f"known: {', '.join(sorted(known)) or 'none'}"
    return f"{place}.{names[0]} is unknown to type `{type.type_name}`; {advice}"


def _choices(type: NodeType, path: Sequence[str]) -> str:
    """The fields of which one is required, if the schema demands no more than that."""
    options: list[Schema] = [] if path else (type.config_schema or {}).get("oneOf", [])
    names = [option["required"][0] for option in options if [*option] == ["required"]]
    return ", ".join(names) if len(names) == len(options) else ""


def _has_template(value: Any, path: Sequence[str | int]) -> bool:
    """Whether this part contains a template, whose value is not yet known."""
    for part in path:
        value = value[part]
    return isinstance(value, str) and has_hole(value)


def _dotted(path: Sequence[object]) -> str:
    return "".join(f"[{part}]" if str(part).isdecimal() else f".{part}" for part in path)
