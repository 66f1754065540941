"""`$.x` and `step.attribute`: their declarations and types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.dialects.afl.language.links import Binding, StepInfo
from plait.dialects.afl.language.scopes import Scope
from plait.dialects.afl.language.static_types import STRING, Instance, StaticType
from plait.dialects.afl.language.symbols import Symbol
from plait.dialects.afl.language.tree import InputRef, Mixin, Name, Parameter, StepRef

from .check import Check, did_you_mean, have


def check_input(check: Check, ref: InputRef, scope: Scope, *, lenient: bool = False) -> StaticType:
    """`lenient` in the source of a foreach."""
    first = ref.path[0]
    inputs = scope.inputs
    if first.text not in inputs.types:
        severity = "warning" if lenient or inputs.open else "error"
        names = list(inputs.types)
        check.note(
            severity,
            ref,
            "REF_INVALID_INPUT",
            f"Invalid input reference '$.{first.text}'; {have(names)}",
            did_you_mean(first.text, names) or "declare it as a parameter",
        )
        return None
    return check_fields(check, inputs.types[first.text], ref.path[1:], f"$.{first.text}")


def check_step(check: Check, ref: StepRef, scope: Scope) -> StaticType:
    first = ref.path[0]
    found = scope.bind(first.text)
    if found is None:
        _undefined(check, ref, scope)
        return None
    binding, type = found
    check.links.bindings[id(ref)] = binding
    if binding.kind == "foreach":
        return check_fields(check, type, ref.path[1:], first.text)
    if binding.waits_for is not None:
        check.wait_for(binding.waits_for)
    if binding.kind == "nested":
        _note_nested(check, first, binding)
    info = binding.target
    symbol = _symbol(check, info) if info is not None else None
    if info is None or symbol is None:
        return None
    if len(ref.path) == 1:
        return Instance(symbol)
    return _attribute(check, ref, info, symbol)


def check_fields(check: Check, type: StaticType, path: Sequence[Name], owner: str) -> StaticType:
    """Checks fields through nested schemas, as far as they are known; objects may have more fields than a schema."""
    for name in path:
        if not isinstance(type, Instance):
            return None
        fields: Mapping[str, Parameter | None] = (
            type.symbol.returns if type.symbol.kind == "schema" else attributes(check, type.symbol, (), False)
        )
        if name.text not in fields:
            if type.symbol.kind == "schema":
                check.warning(
                    name,
                    "REF_INVALID_STEP_ATTRIBUTE",
                    f"'{name.text}' is no field of {type.symbol.qualified}, the type of '{owner}'; {have(fields)}",
                    did_you_mean(name.text, fields) or "declare it in the schema",
                )
            return None
        field = fields[name.text]
        type = check.type_of(type.symbol, field.type) if field is not None else None
        owner = f"{owner}.{name.text}"
    return type


def attributes(check: Check, symbol: Symbol, mixins: Sequence[Mixin], catches: bool) -> dict[str, Parameter | None]:
    """The readable attributes of a step: returns over params, aliases of mixins, and what mixins without one add."""
    found: dict[str, Parameter | None] = {}
    declared = symbol.facet.mixins if symbol.facet is not None else ()
    for mixin in (*declared, *mixins):
        if mixin.alias is not None:
            found[mixin.alias.text] = None
            continue
        found.update((each.name.text, None) for each in mixin.arguments)
        mixed = check.links.symbol(mixin)
        if mixed is not None:
            found.update(dict.fromkeys(mixed.returns))
    if catches:
        found |= {"error": None, "error_type": None}
    return {**found, **symbol.parameters, **symbol.returns}


def _attribute(check: Check, ref: StepRef, info: StepInfo, symbol: Symbol) -> StaticType:
    name = ref.path[1]
    facet = symbol.facet
    catches = info.step.catch is not None or (facet is not None and facet.catch is not None)
    known = attributes(check, symbol, info.step.call.mixins, catches)
    if name.text not in known:
        open_ = facet is not None and (not facet.returns or facet.script is not None)
        severity = "warning" if open_ else "error"
        needs_catch = name.text in ("error", "error_type")
        check.note(
            "error" if needs_catch else severity,
            name,
            "REF_INVALID_STEP_ATTRIBUTE",
            f"Invalid attribute '{name.text}' for step '{info.step.name.text}'; {have(known)}",
            "only a step with a catch has it"
            if needs_catch
            else did_you_mean(name.text, known) or f"declare it as a return of {symbol.name}",
        )
        return None
    declared = symbol.returns.get(name.text) or symbol.parameters.get(name.text)
    if declared is None:
        return STRING if name.text == "error_type" else None
    type = check.type_of(symbol, declared.type)
    return check_fields(check, type, ref.path[2:], f"{info.step.name.text}.{name.text}")


def _symbol(check: Check, info: StepInfo) -> Symbol | None:
    if info.symbol is not None:
        return info.symbol
    return check.symbols.find(info.step.call.target.text, check.space).symbol


def _note_nested(check: Check, name: Name, binding: Binding) -> None:
    owner = binding.waits_for
    if owner is not None:
        check.warning(
            name,
            "REF_NESTED_STEP",
            f"'{name.text}' is a step inside the body of '{owner.step.name.text}'",
            f"yield what you need from there, and read it from '{owner.step.name.text}'",
        )


def _undefined(check: Check, ref: StepRef, scope: Scope) -> None:
    name = ref.path[0].text
    if scope.is_hidden(name):
        check.error(
            ref,
            "REF_CROSS_BLOCK_STEP",
            f"Cross-block step reference: '{name}'",
            "blocks run at once, use a step body",
        )
        return
    known = scope.known_steps()
    hint = f"write '$.{name}'" if name in scope.inputs.types else did_you_mean(name, known) or "add a step of that name"
    check.error(ref, "REF_UNDEFINED_STEP", f"Reference to undefined step '{name}'; {have(known)}", hint)
