"""Calls and mixins: whether the arguments fit the declaration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plait.dialects.afl.language.links import Links
from plait.dialects.afl.language.scopes import Scope
from plait.dialects.afl.language.static_types import Instance, Plain, StaticType, fits, shown
from plait.dialects.afl.language.symbols import Symbol
from plait.dialects.afl.language.tree import Argument, Call, Mixin, Name

from .check import Check, did_you_mean, have
from .expressions import infer


def check_call(check: Check, call: Call, scope: Scope) -> Symbol | None:
    """Links a call and its mixins, and checks their arguments; returns what is called."""
    symbol = check.call(call)
    given = check_arguments(check, call.arguments, scope)
    if symbol is not None:
        if symbol.kind == "schema":
            _check_schema(check, call, symbol, given)
        else:
            _check_facet(check, call, symbol, given)
    check_mixins(check, call.mixins, scope, symbol)
    return symbol


def check_arguments(check: Check, arguments: Sequence[Argument], scope: Scope) -> list[tuple[Argument, StaticType]]:
    seen: set[str] = set()
    for each in arguments:
        if each.name.text in seen:
            check.error(each.name, "DUPLICATE_ARG", f"Argument '{each.name.text}' twice", "drop one")
        seen.add(each.name.text)
    return [(each, infer(check, each.value, scope)) for each in arguments]


def check_mixins(check: Check, mixins: Sequence[Mixin], scope: Scope, target: Symbol | None) -> None:
    taken = set(target.parameters) | set(target.returns) if target is not None else set[str]()
    for mixin in mixins:
        symbol = check.mixin(mixin)
        given = check_arguments(check, mixin.arguments, scope)
        if symbol is not None:
            check_known(check, symbol, given)
            _check_types(check, symbol, given)
            _link_implicits(check, mixin, symbol)
        if mixin.alias is not None:
            _check_alias(check, mixin.alias, taken)
            taken.add(mixin.alias.text)


def check_known(check: Check, symbol: Symbol, given: Iterable[tuple[Argument, StaticType]]) -> None:
    for argument, _ in given:
        name = argument.name.text
        if name not in symbol.parameters:
            check.error(
                argument.name,
                "SCHEMA_UNKNOWN_FIELD" if symbol.kind == "schema" else "CALL_UNKNOWN_ARG",
                f"Unknown field '{name}' for schema '{symbol.name}'; {have(symbol.parameters)}"
                if symbol.kind == "schema"
                else f"'{name}' is not a parameter of {symbol.name}; {have(symbol.parameters)}",
                did_you_mean(name, symbol.parameters) or f"remove it, or declare it in {symbol.name}",
            )


def _check_facet(check: Check, call: Call, symbol: Symbol, given: list[tuple[Argument, StaticType]]) -> None:
    check.called.setdefault(check.declaration, []).append((symbol.qualified, call.target, check.space))
    check_known(check, symbol, given)
    _check_types(check, symbol, given)
    _link_implicits(check, call, symbol)
    if symbol.kind == "facet":
        return
    names = {argument.name.text for argument, _ in given}
    facet = symbol.facet
    for mixin in (*call.mixins, *(facet.mixins if facet is not None else ())):
        if mixin.alias is None:
            names.update(each.name.text for each in mixin.arguments)
        else:
            names.add(mixin.alias.text)
    for implicit in check.links.implicits.get(id(call), ()):
        names.update(each.name.text for each in implicit.call.arguments)
    missing = [name for name, each in symbol.parameters.items() if name not in names and each.default is None]
    if missing:
        listed = ", ".join(f"'{each}'" for each in missing)
        check.error(
            call.target,
            "CALL_MISSING_ARG",
            f"{symbol.name} needs {listed}",
            f"add {missing[0]} = …, or give the parameter a default",
        )


def _check_schema(check: Check, call: Call, symbol: Symbol, given: list[tuple[Argument, StaticType]]) -> None:
    if call.mixins:
        check.error(
            call.mixins[0],
            "SCHEMA_INSTANTIATION_NO_MIXINS",
            f"Schema '{symbol.name}' takes no mixins",
            "remove it: a schema is data alone",
        )
    check_known(check, symbol, given)
    _check_types(check, symbol, given)


def _check_types(check: Check, symbol: Symbol, given: Iterable[tuple[Argument, StaticType]]) -> None:
    for argument, type in given:
        declared = symbol.parameters.get(argument.name.text)
        if declared is not None:
            check_type(check, argument, type, check.type_of(symbol, declared.type))


def check_type(check: Check, argument: Argument, given: StaticType, wanted: StaticType) -> None:
    name = argument.name.text
    if (
        isinstance(given, Instance)
        and isinstance(wanted, Instance)
        and given.symbol is not wanted.symbol
        and wanted.symbol.kind != "schema"
        and given.symbol.kind != "schema"
    ):
        check.warning(
            argument.value,
            "STEP_REF_FACET_MISMATCH",
            f"'{name}' takes a step of {wanted.symbol.name}, got one of {given.symbol.name}",
            f"pass a step of {wanted.symbol.name}",
        )
    elif not fits(given, wanted):
        check.warning(argument.value, "TYPE_ARGUMENT", f"'{name}' is {shown(wanted)}, got {shown(given)}", _fix(wanted))


def _fix(wanted: StaticType) -> str:
    return "make it text with '++'" if wanted == Plain("String") else "pass a value of that type, or declare Json"


def _link_implicits(check: Check, node: Call | Mixin, symbol: Symbol) -> None:
    found = check.symbols.implicits_for(symbol, check.space)
    if found:
        check.links.implicits[id(node)] = found


def _check_alias(check: Check, alias: Name, taken: set[str]) -> None:
    if alias.text in taken:
        check.error(
            alias,
            "MIXIN_ALIAS_NAME_CONFLICT",
            f"Mixin alias '{alias.text}' is already a parameter, a return or another alias",
            "choose another name",
        )


def implicit_arguments(links: Links, node: Call | Mixin) -> list[Argument]:
    """Arguments that implicits give a call, each name once; the strongest first."""
    found: dict[str, Argument] = {}
    for implicit in links.implicits.get(id(node), ()):
        for argument in implicit.call.arguments:
            found.setdefault(argument.name.text, argument)
    return list(found.values())
