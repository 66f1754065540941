"""The workflows of a saved program, by qualified name, with their docs and the schemas of their inputs and outputs. A
workflow at the top level is left out: it has no name of its own, and other programs may have one called the same."""

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
"""Levels of nested schemas; deeper values may be anything."""


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
    """`around` has the enclosing schemas, which the type may refer to again."""
    if isinstance(type, dict):
        return {"type": "array", "items": _type(cast("Json", type).get("elementType"), program, around)}
    if type in _BUILT_IN:
        return _BUILT_IN[type]
    declared = program.find(str(type))
    if declared is None or declared.name in around or len(around) >= _DEEP:
        return {}
    return _object(declared.params, program, (*around, declared.name))
