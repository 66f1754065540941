"""Everything that a program declares, by qualified name; and the resolution of names.

A name is looked up in this order, and the first hit counts: by its qualified name; in its own namespace; in those that
it uses; at the top level; in any other namespace, if only one has it; and among the built-in mixins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from .diagnostic import Diagnostics
from .parser import Parsed
from .source_file import SourceText
from .tree import Declaration, Facet, Implicit, Namespace, Parameter, Schema, same_program

SymbolKind = Literal["facet", "event", "workflow", "schema"]

BUILTIN_MIXINS = ("Timeout", "Retry")
"""Mixins whose meaning the machine defines; `RetryPolicy` and the like are facets that a program declares."""


@dataclass(frozen=True, eq=False)
class Space:
    """The surroundings of a declaration: the names visible to it without qualification."""

    name: str
    """Empty at the top level."""
    uses: tuple[str, ...]
    source: SourceText

    def qualified(self, name: str) -> str:
        return f"{self.name}.{name}" if self.name else name


@dataclass(frozen=True, eq=False)
class Symbol:
    """A declaration that can be called, mixed in, or used as a type."""

    qualified: str
    space: Space
    declaration: Facet | Schema

    @property
    def name(self) -> str:
        return self.declaration.name.text

    @property
    def kind(self) -> SymbolKind:
        return self.declaration.kind if isinstance(self.declaration, Facet) else "schema"

    @property
    def facet(self) -> Facet | None:
        return self.declaration if isinstance(self.declaration, Facet) else None

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        found = self.declaration.parameters if isinstance(self.declaration, Facet) else self.declaration.fields
        return {each.name.text: each for each in found}

    @cached_property
    def returns(self) -> Mapping[str, Parameter]:
        found = self.declaration.returns if isinstance(self.declaration, Facet) else self.declaration.fields
        return {each.name.text: each for each in found}


@dataclass(frozen=True)
class Found:
    """The result of a lookup: one symbol, or several (ambiguous), or a built-in mixin; `imported` says whether it is
    visible."""

    symbols: tuple[Symbol, ...] = ()
    imported: bool = True
    builtin: bool = False

    @property
    def symbol(self) -> Symbol | None:
        return self.symbols[0] if len(self.symbols) == 1 else None


@dataclass(frozen=True, eq=False)
class Member:
    """A declaration with its surroundings."""

    space: Space
    declaration: Declaration
    namespace: Namespace | None


@dataclass(frozen=True, eq=False)
class Symbols:
    by_name: Mapping[str, Symbol]
    by_namespace: Mapping[str, Mapping[str, Symbol]]
    by_short: Mapping[str, Sequence[Symbol]]
    implicits: Mapping[str, Sequence[tuple[Space, Implicit]]]
    """Implicits by namespace, in source order."""
    members: Sequence[Member] = field(repr=False)

    def find(self, name: str, space: Space, *, mixin: bool = False) -> Found:
        if "." in name:
            exact = self.by_name.get(name)
            if exact is not None:
                return Found((exact,))
            return Found()
        own = self.by_namespace.get(space.name, {}).get(name)
        if own is not None:
            return Found((own,))
        used = {use: found[name] for use in space.uses if name in (found := self.by_namespace.get(use, {}))}
        if used:
            return Found(tuple(used.values()))
        top = self.by_namespace.get("", {}).get(name)
        if top is not None:
            return Found((top,))
        elsewhere = self.by_short.get(name, ())
        if elsewhere:
            return Found(tuple(elsewhere), imported=False)
        return Found(builtin=mixin and name in BUILTIN_MIXINS)

    def visible(self, space: Space) -> Iterator[str]:
        """Candidates for "did you mean"."""
        yield from self.by_short
        yield from self.by_name

    def implicits_for(self, target: Symbol, space: Space) -> list[Implicit]:
        """Implicits that apply to calls of `target` from here, the strongest first: of its own namespace, then of the
        used ones in order; within one namespace, the later wins."""
        if not self.implicits:
            return []
        found: list[Implicit] = []
        for namespace in dict.fromkeys((space.name, *space.uses)):
            found.extend(self._implicits_by_target.get(namespace, {}).get(target.qualified, ()))
        return found

    @cached_property
    def _implicits_by_target(self) -> dict[str, dict[str, list[Implicit]]]:
        found: dict[str, dict[str, list[Implicit]]] = {}
        for namespace, given in self.implicits.items():
            by_target = found.setdefault(namespace, {})
            for space, implicit in reversed(given):
                symbol = self.find(implicit.call.target.text, space).symbol
                if symbol is not None:
                    by_target.setdefault(symbol.qualified, []).append(implicit)
        return found


def collect(files: Sequence[Parsed], diagnostics: Diagnostics) -> Symbols:
    """The symbols of a program; a name that is declared twice is reported, and its first declaration counts."""
    members = list(_members(files))
    by_name: dict[str, Symbol] = {}
    by_namespace: dict[str, dict[str, Symbol]] = {"": {}}
    by_short: dict[str, list[Symbol]] = {}
    implicits: dict[str, list[tuple[Space, Implicit]]] = {}
    kept: list[Member] = []
    for member in members:
        space, declaration = member.space, member.declaration
        if isinstance(declaration, Implicit):
            implicits.setdefault(space.name, []).append((space, declaration))
            kept.append(member)
            continue
        symbol = Symbol(space.qualified(declaration.name.text), space, declaration)
        first = by_name.get(symbol.qualified)
        if first is not None:
            _note_duplicate(first, symbol, diagnostics)
            continue
        kept.append(member)
        by_name[symbol.qualified] = symbol
        by_namespace.setdefault(space.name, {})[symbol.name] = symbol
        by_short.setdefault(symbol.name, []).append(symbol)
    for parsed in files:
        for member in parsed.tree.members:
            if isinstance(member, Namespace):
                by_namespace.setdefault(member.name.text, {})
    return Symbols(by_name, by_namespace, by_short, implicits, kept)


def _members(files: Sequence[Parsed]) -> Iterator[Member]:
    for parsed in files:
        top = Space("", (), parsed.source)
        for member in parsed.tree.members:
            if not isinstance(member, Namespace):
                yield Member(top, member, None)
                continue
            space = Space(member.name.text, tuple(use.name.text for use in member.uses), parsed.source)
            for inner in member.members:
                if isinstance(inner, Facet | Schema | Implicit):
                    yield Member(space, inner, member)


_NOUNS = {"facet": "facet", "event": "event facet", "workflow": "workflow", "schema": "schema"}


def _note_duplicate(first: Symbol, again: Symbol, diagnostics: Diagnostics) -> None:
    source = again.space.source
    where = first.space.source.place(first.declaration.name.start)
    same = same_program(_without_doc(first.declaration), _without_doc(again.declaration))
    at = f"line {where.line}" if first.space.source is source else f"{first.space.source.name}:{where.line}"
    diagnostics.add(
        source,
        again.declaration.name.span,
        "DUPLICATE_NAME",
        f"Duplicate {_NOUNS[again.kind]} name '{again.name}' (first at {at})",
        "remove one" if same else "rename one",
        "warning" if same else "error",
    )


def _without_doc(declaration: Facet | Schema) -> object:
    names = (name for name in declaration.__struct_fields__ if name not in ("doc", "start", "end"))
    return tuple(getattr(declaration, name) for name in names)
