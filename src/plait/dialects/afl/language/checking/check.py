"""The state shared by all rules: the program's symbols, links and diagnostics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plait.definitions.nearest import nearest
from plait.dialects.afl.language.diagnostic import Diagnostics, Severity
from plait.dialects.afl.language.links import Links, StepInfo
from plait.dialects.afl.language.static_types import BUILTIN_TYPES, Instance, ListOf, Plain, StaticType
from plait.dialects.afl.language.symbols import Found, Space, Symbol, Symbols
from plait.dialects.afl.language.tree import Call, ListType, Mixin, Name, Node, Type, TypeName


@dataclass(eq=False)
class Check:
    """Rules about one declaration record their findings in `space`; `waiting` is the statement whose references are
    being checked."""

    symbols: Symbols
    links: Links
    diagnostics: Diagnostics
    space: Space
    called: dict[str, list[tuple[str, Name, Space]]]
    """The call graph, for recursion: by qualified name of the caller."""
    declaration: str = ""
    waiting: Node | None = None

    def error(self, node: Node, code: str, message: str, hint: str = "") -> None:
        self.diagnostics.error(self.space.source, node.span, code, message, hint)

    def warning(self, node: Node, code: str, message: str, hint: str = "") -> None:
        self.diagnostics.warning(self.space.source, node.span, code, message, hint)

    def note(self, severity: Severity, node: Node, code: str, message: str, hint: str = "") -> None:
        self.diagnostics.add(self.space.source, node.span, code, message, hint, severity)

    def wait_for(self, info: StepInfo) -> None:
        if self.waiting is not None:
            self.links.waits.setdefault(id(self.waiting), []).append(info)

    def call(self, call: Call) -> Symbol | None:
        return self._linked(call, call.target, mixin=False)

    def mixin(self, mixin: Mixin) -> Symbol | None:
        return self._linked(mixin, mixin.target, mixin=True)

    def _linked(self, node: Call | Mixin, target: Name, *, mixin: bool) -> Symbol | None:
        found = self.symbols.find(target.text, self.space, mixin=mixin)
        if found.builtin:
            self.links.builtins.add(id(node))
            return None
        symbol = self._judged(found, target, "facet")
        if symbol is not None:
            self.links.symbols[id(node)] = symbol
        return symbol

    def type(self, type: Type) -> StaticType:
        """Resolves a written type, and links its names."""
        if isinstance(type, ListType):
            return ListOf(self.type(type.element))
        if type.name in BUILTIN_TYPES:
            return None if type.name == "Json" else Plain(type.name)
        symbol = self._judged(self.symbols.find(type.name, self.space), type, "schema")
        if symbol is None:
            return None
        self.links.symbols[id(type)] = symbol
        return Instance(symbol)

    def type_of(self, symbol: Symbol, type: Type) -> StaticType:
        """Like `type`, for a type in another declaration, which reports its own unknown names."""
        if isinstance(type, ListType):
            return ListOf(self.type_of(symbol, type.element))
        if type.name in BUILTIN_TYPES:
            return None if type.name == "Json" else Plain(type.name)
        found = self.symbols.find(type.name, symbol.space).symbol
        return Instance(found) if found is not None else None

    def _judged(self, found: Found, name: Name | TypeName, noun: str) -> Symbol | None:
        text = name.text if isinstance(name, Name) else name.name
        symbol = found.symbol
        if symbol is None and not found.symbols:
            self._unknown(name, text, noun)
            return None
        if symbol is None:
            choices = " or ".join(sorted(each.qualified for each in found.symbols))
            code = f"REF_AMBIGUOUS_{noun.upper()}"
            self.error(name, code, f"Ambiguous {noun} reference '{text}'", f"write {choices}")
            return None
        if not found.imported:
            where = symbol.space.name
            self.warning(name, "REF_NOT_IMPORTED", f"'{text}' found in {where}", f"add `use {where}`")
        return symbol

    def _unknown(self, name: Node, text: str, noun: str) -> None:
        """An unknown short name in a type may be meant as a built-in type: then it is an unknown type."""
        known: Iterable[str] = self.symbols.visible(self.space)
        if noun == "schema":
            known = (*BUILTIN_TYPES, *known)
        meant = nearest(text, known)
        is_type = noun == "schema" and (meant in BUILTIN_TYPES or (meant is None and "." not in text))
        code = "REF_UNKNOWN_TYPE" if is_type else f"REF_UNKNOWN_{noun.upper()}"
        word = "type" if is_type else noun
        hint = f"did you mean '{meant}'?" if meant is not None else "declare it, or `use` the namespace that has it"
        self.error(name, code, f"Unknown {word} '{text}'", hint)


_SHOWN = 20


def have(names: Iterable[str]) -> str:
    """The end of a message: the available names, in the order of their declaration."""
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"have: {', '.join(found[:_SHOWN])}{more}" if found else "there is none"


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    meant = nearest(wanted, known)
    return f"did you mean '{meant}'?" if meant is not None else ""
