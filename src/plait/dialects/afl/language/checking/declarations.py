"""Facets, workflows, schemas, implicits, and the namespaces that a namespace uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plait.dialects.afl.language.scopes import Inputs, Owner, Scope
from plait.dialects.afl.language.static_types import StaticType, fits, shown
from plait.dialects.afl.language.symbols import Member, Symbol
from plait.dialects.afl.language.tree import (
    Expression,
    Facet,
    Implicit,
    Name,
    Namespace,
    Parameter,
    Prompt,
    PromptEntry,
    Schema,
    StepRef,
)

from .blocks import check_bodies, check_script
from .calls import check_arguments, check_mixins
from .check import Check, did_you_mean, have
from .expressions import infer
from .walk import references

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")


def check_member(check: Check, member: Member) -> None:
    match member.declaration:
        case Facet():
            _check_facet(check, member.declaration)
        case Schema():
            _check_schema(check, member.declaration)
        case Implicit():
            _check_implicit(check, member.declaration)


def check_uses(check: Check, namespace: Namespace) -> None:
    for use in namespace.uses:
        name = use.name.text
        if name not in check.symbols.by_namespace:
            check.error(
                use.name,
                "USE_UNKNOWN_NAMESPACE",
                f"Namespace '{name}' does not exist",
                did_you_mean(name, check.symbols.by_namespace) or "pass --library with the directory that has it",
            )


def _check_facet(check: Check, facet: Facet) -> None:
    check.declaration = check.space.qualified(facet.name.text)
    if facet.kind == "workflow" and not check.space.name:
        _note_top_level(check, facet.name, "WORKFLOW_AT_TOP_LEVEL")
    types = _check_parameters(check, facet.parameters)
    _check_parameters(check, facet.returns, inputs=types)
    symbol = check.symbols.by_name[check.declaration]
    inputs = Inputs(types, facet.script is not None)
    bare = Scope(Owner(symbol, (), None), None, inputs)
    check_mixins(check, facet.mixins, bare, symbol)
    if facet.script is not None:
        check_script(check, facet.script)
    if facet.prompt is not None:
        _check_prompt(check, facet, facet.prompt)
    owner = Owner(symbol, [(each, check.links.symbol(each)) for each in facet.mixins], None)
    aliases = {each.alias.text: None for each in facet.mixins if each.alias is not None}
    flat = {each.name.text: None for mixin in facet.mixins if mixin.alias is None for each in mixin.arguments}
    scope = Scope(owner, None, Inputs({**flat, **aliases, **types}, inputs.open))
    check_bodies(check, facet.bodies, facet.catch, scope, check.declaration, 1)


def _check_schema(check: Check, schema: Schema) -> None:
    if not check.space.name:
        _note_top_level(check, schema.name, "SCHEMA_AT_TOP_LEVEL")
    _check_parameters(check, schema.fields)


def _check_implicit(check: Check, implicit: Implicit) -> None:
    call = implicit.call
    check.declaration = check.space.qualified(implicit.name.text)
    symbol = check.call(call)
    for each in call.arguments:
        _check_constant(check, each.value, ())
    check_arguments(check, call.arguments, _nowhere(symbol))
    if symbol is None:
        return
    for each in call.arguments:
        name = each.name.text
        if name not in symbol.parameters:
            check.error(
                each.name,
                "IMPLICIT_UNKNOWN_PARAM",
                f"Implicit '{implicit.name.text}' sets '{name}', not a parameter of {symbol.name}",
                did_you_mean(name, symbol.parameters) or have(symbol.parameters),
            )


def _check_parameters(
    check: Check, parameters: Sequence[Parameter], inputs: dict[str, StaticType] | None = None
) -> dict[str, StaticType]:
    """Their types by name. Defaults may refer to parameters to their left, those of returns to all of `inputs`."""
    types: dict[str, StaticType] = {}
    for each in parameters:
        name = each.name.text
        if name in types:
            check.error(each.name, "DUPLICATE_PARAM", f"Parameter '{name}' twice", "drop one")
        wanted = check.type(each.type)
        if each.default is not None:
            known = {**(inputs or {}), **types}
            _check_constant(check, each.default, known)
            given = infer(check, each.default, _nowhere(None, known))
            if not fits(given, wanted):
                check.warning(
                    each.default,
                    "TYPE_ARGUMENT",
                    f"'{name}' is {shown(wanted)}, got {shown(given)}",
                    "change the default or the type",
                )
        types.setdefault(name, wanted)
    return types


def _check_constant(check: Check, expression: Expression, known: object) -> None:
    for each in references(expression):
        if isinstance(each, StepRef):
            check.error(
                each,
                "DEFAULT_NOT_CONSTANT",
                f"A default cannot read the step '{each.path[0].text}'",
                "use literals, operators and $.p of parameters to its left",
            )


def _nowhere(symbol: Symbol | None, known: dict[str, StaticType] | None = None) -> Scope:
    """A scope without steps."""
    return _Constant(Owner(symbol, (), None), None, Inputs(known or {}))


class _Constant(Scope):
    """Any step that is read here has already been reported."""

    def bind(self, name: str) -> None:
        return None


def _note_top_level(check: Check, name: Name, code: str) -> None:
    noun = "Workflow" if code.startswith("W") else "Schema"
    check.warning(name, code, f"{noun} '{name.text}' is at the top level", f"move '{name.text}' into a namespace")


def _check_prompt(check: Check, facet: Facet, prompt: Prompt) -> None:
    if facet.kind != "event":
        check.warning(
            prompt,
            "PROMPT_NOT_EVENT",
            "Only event facets are answered by a prompt",
            "write `event facet`, or remove it",
        )
    if not any(each.key.text == "template" for each in prompt.entries):
        check.error(prompt, "PROMPT_MISSING_TEMPLATE", "This prompt has no template", 'add template "…"')
    names = [each.name.text for each in facet.parameters]
    for entry in prompt.entries:
        if entry.key.text == "model":
            continue
        for placeholder in _placeholders(entry):
            if placeholder.split(".")[0] not in names:
                check.error(
                    entry,
                    "PROMPT_INVALID_PLACEHOLDER",
                    f"'{{{placeholder}}}' is not a parameter; {have(names)}",
                    did_you_mean(placeholder, names) or "braces of the text itself are written twice: {{ and }}",
                )


def _placeholders(entry: PromptEntry) -> Iterator[str]:
    for found in _PLACEHOLDER.finditer(str(entry.text.value)):
        if found[1] is not None:
            yield found[1]
