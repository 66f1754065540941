"""What a saved program offers: each of its workflows, by qualified name, with its doc and the schemas of its input and
output. One at the top level has no name of its own: other programs may well have one that is called the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from plait.kernel.definitions import Contents, Offer

from .preparation import Prepared
from .program.parts import Declaration, Param
from .program.program import Program

Json = dict[str, Any]

_BUILT_IN: Final[Mapping[str, Json]] = {
    "String": {"type": "string"},
    "Long": {"type": "integer"},
    "Int": {"type": "integer"},
    "Double": {"type": "number"},
    "Boolean": {"type": "boolean"},
}
_DEEP: Final = 5
"""Schemas inside each other; what is deeper may be anything."""


def contents_of(made: Prepared, definition: Json) -> Contents:
    workflows = [made.program.declarations[name] for name in made.program.workflows]
    whole = made.chosen()
    return Contents(
        definition=definition,
        doc="" if whole is None else whole.doc,
        input_schema=None if whole is None else input_schema(whole, made.program),
        output_schema=None if whole is None else output_schema(whole, made.program),
        offers=[_offer(each, made.program) for each in workflows if each.namespace],
    )


def _offer(workflow: Declaration, program: Program) -> Offer:
    return Offer(
        name=workflow.name,
        selects={"workflow": workflow.name},
        doc=workflow.doc,
        input_schema=input_schema(workflow, program),
        output_schema=output_schema(workflow, program),
    )


def input_schema(workflow: Declaration, program: Program) -> Json:
    required = [each.name for each in workflow.params if each.default is None]
    return _object(workflow.params, program) | ({"required": required} if required else {})


def output_schema(workflow: Declaration, program: Program) -> Json:
    return _object(workflow.returns, program)


def _object(params: tuple[Param, ...], program: Program, around: tuple[str, ...] = ()) -> Json:
    return {"type": "object", "properties": {each.name: _schema(each, program, around) for each in params}}


def _schema(param: Param, program: Program, around: tuple[str, ...]) -> Json:
    found = _type(param.type, program, around)
    default = cast("Json", param.default or {})
    return {**found, "default": default["value"]} if "value" in default else found


def _type(type: Any, program: Program, around: tuple[str, ...]) -> Json:
    """`around`: the schemas that it stands in, which it may name again."""
    if isinstance(type, dict):
        return {"type": "array", "items": _type(cast("Json", type).get("elementType"), program, around)}
    if type in _BUILT_IN:
        return _BUILT_IN[type]
    declared = program.find(str(type))
    if declared is None or declared.name in around or len(around) >= _DEEP:
        return {}
    return _object(declared.params, program, (*around, declared.name))
