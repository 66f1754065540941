"""Yields: their targets and arguments."""

from __future__ import annotations

from collections.abc import Sequence

from plait.dialects.afl.language.links import Capture
from plait.dialects.afl.language.scopes import Owner, Scope
from plait.dialects.afl.language.static_types import StaticType
from plait.dialects.afl.language.symbols import Symbol
from plait.dialects.afl.language.tree import Argument, Yield

from .calls import check_arguments, check_type
from .check import Check, did_you_mean, have


def check_yields(check: Check, yields: Sequence[Yield], scope: Scope) -> None:
    seen: set[tuple[Capture, str]] = set()
    for each in yields:
        check.waiting = each
        given = check_arguments(check, each.call.arguments, scope)
        found = _target(check, each, scope)
        if found is None:
            continue
        capture, symbol = found
        check.links.captures[id(each)] = capture
        if symbol is not None:
            check.links.symbols[id(each.call)] = symbol
            _check_fields(check, symbol, given)
        key = capture, symbol.qualified if symbol is not None else ""
        if key in seen:
            name = each.call.target.text
            check.error(each.call.target, "YIELD_DUPLICATE_TARGET", f"Duplicate yield target '{name}'", "merge them")
        seen.add(key)


def _target(check: Check, each: Yield, scope: Scope) -> tuple[Capture, Symbol | None] | None:
    """The nearest enclosing step of that facet; otherwise a mixin of the owner."""
    name = each.call.target.text
    symbol = check.symbols.find(name, check.space).symbol
    owners = list(scope.owners())
    for level, owner in enumerate(owners):
        if owner.symbol is not None and (owner.symbol is symbol or owner.symbol.qualified == name):
            return Capture(level), owner.symbol
    mixin = _mixin(check, each, owners[0])
    if mixin is not None:
        return mixin
    if all(owner.symbol is not None for owner in owners):  # otherwise one is unknown, and may be meant
        valid = list(dict.fromkeys(owner.symbol.name for owner in owners if owner.symbol is not None))
        valid += [mixin.alias.text if mixin.alias is not None else mixin.target.text for mixin, _ in owners[0].mixins]
        check.error(
            each.call.target,
            "YIELD_INVALID_TARGET",
            f"Invalid yield target '{name}'",
            f"use {' or '.join(dict.fromkeys(valid))}",
        )
    return None


def _mixin(check: Check, each: Yield, owner: Owner) -> tuple[Capture, Symbol | None] | None:
    name = each.call.target.text
    for mixin, symbol in owner.mixins:
        if mixin.alias is not None and mixin.alias.text == name:
            return Capture(0, _called(mixin.target.text, symbol), name), symbol
    found = [(mixin, symbol) for mixin, symbol in owner.mixins if _matches(mixin.target.text, symbol, name)]
    if not found:
        return None
    aliases = {mixin.alias.text if mixin.alias is not None else None for mixin, _ in found}
    if len(aliases) > 1:
        shown = " or ".join(sorted(alias for alias in aliases if alias is not None))
        check.error(
            each.call.target,
            "YIELD_TARGET_AMBIGUOUS",
            f"Mixin '{name}' has several aliases",
            f"yield to one of them: {shown}",
        )
        return None
    mixin, symbol = found[0]
    alias = mixin.alias.text if mixin.alias is not None else None
    return Capture(0, _called(mixin.target.text, symbol), alias), symbol


def _called(written: str, symbol: Symbol | None) -> str:
    return symbol.qualified if symbol is not None else written


def _matches(written: str, symbol: Symbol | None, name: str) -> bool:
    if symbol is None:
        return written == name
    return name in (symbol.qualified, symbol.name, written)


def _check_fields(check: Check, symbol: Symbol, given: Sequence[tuple[Argument, StaticType]]) -> None:
    known = {**symbol.parameters, **symbol.returns}
    for argument, type in given:
        name = argument.name.text
        if name not in known:
            check.error(
                argument.name,
                "YIELD_UNKNOWN_FIELD",
                f"'{name}' is not a return of {symbol.name}; {have(symbol.returns or known)}",
                did_you_mean(name, known) or f"remove it, or declare it as a return of {symbol.name}",
            )
        else:
            check_type(check, argument, type, check.type_of(symbol, known[name].type))
