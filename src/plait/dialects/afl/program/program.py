"""A whole program: its declarations by qualified name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .parts import Declaration
from .reading import Json, declaration


@dataclass(slots=True)
class Program:
    declarations: dict[str, Declaration] = field(default_factory=dict[str, Declaration])

    def find(self, name: str) -> Declaration | None:
        return self.declarations.get(name)

    @property
    def workflows(self) -> list[str]:
        return [each.name for each in self.declarations.values() if each.kind == "workflow"]

    @property
    def event_facets(self) -> list[Declaration]:
        return [each for each in self.declarations.values() if each.kind == "event"]


def read_program(compiled: Json) -> Program:
    program = Program()
    _read(program, compiled.get("declarations") or (), "")
    return program


def _read(program: Program, nodes: Sequence[Any], namespace: str) -> None:
    for node in nodes:
        match node["type"]:
            case "Namespace":
                _read(program, node.get("declarations") or (), str(node["name"]))
            case "ImplicitDecl":  # its arguments are already in the calls
                pass
            case _:
                found = declaration(node, namespace)
                program.declarations.setdefault(found.name, found)
