"""Parses a condition of any type, including nested ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from .facts import MAX_LEAVES, NAMES, Place
from .findings import Findings
from .source import Source
from .test import Test
from .types import cel, composite, cross_node, jsonpath, python_sandbox, schema_validation, when

MAX_DEPTH: Final = 8
"""Nesting depth of composites."""

_Read = Callable[[Source], Test | None]


class Reader:
    def __init__(self, place: Place, findings: Findings) -> None:
        self._names = NAMES[place]
        self._findings = findings
        self._depth = 0
        self._leaves = 0
        self.needs_task = False
        at_nodes: dict[str, _Read] = {
            "schema_validation": schema_validation.read,
            "jsonpath": jsonpath.read,
            "cross_node_comparison": cross_node.read,
            "python_sandbox": self._sandbox,
        }
        self._readers: dict[str, _Read] = {
            "cel": lambda source: cel.read(source, self._names),
            "composite": self._composite,
            "when": when.read,
            **dict.fromkeys(at_nodes, _refuse_in_policy),
        }
        if place == "node":
            self._readers |= at_nodes

    def read(self, condition: Any, pointer: str) -> Test | None:
        """None if it has flaws, which are added to the findings."""
        if self._leaves > MAX_LEAVES:
            return None
        if isinstance(condition, str):
            self._count(pointer)
            return cel.of_text(condition, pointer, self._findings, self._names)
        if not isinstance(condition, dict):
            what = "a condition is an object with `type`, or the text of a CEL expression"
            self._findings.add("bad_shape", pointer, what)
            return None
        return self._of_type(Source(cast("dict[str, Any]", condition), pointer, self._findings))

    def _of_type(self, source: Source) -> Test | None:
        kind = source.fields.get("type")
        fix = f"use {', '.join(self._readers)}"
        if kind is None:
            source.refuse("condition has no `type`", fix)
            return None
        reader = self._readers.get(kind) if isinstance(kind, str) else None
        if reader is None:
            source.refuse(f'condition type "{kind!s:.40}" is unknown', fix, at="type", code="unknown_type")
            return None
        if kind != "composite":
            self._count(source.pointer)
        return reader(source)

    def _count(self, pointer: str) -> None:
        self._leaves += 1
        if self._leaves == MAX_LEAVES + 1:
            what = f"condition holds more than {MAX_LEAVES} conditions"
            self._findings.add("too_big", pointer, what, "split it over several nodes")

    def _composite(self, source: Source) -> Test | None:
        if self._depth == MAX_DEPTH:
            what = f"composites are nested deeper than {MAX_DEPTH} levels"
            source.refuse(what, "join conditions of the same operator in one list", code="too_big")
            return None
        self._depth += 1
        test = composite.read(source, self.read)
        self._depth -= 1
        return test

    def _sandbox(self, source: Source) -> Test | None:
        self.needs_task = True
        return python_sandbox.read(source)


def _refuse_in_policy(source: Source) -> None:
    kind = source.fields["type"]
    fix = "use cel, when or composite over from_node, to_node, user and input"
    source.refuse(f"a policy can't use `{kind}`: it decides at once, and sees no output", fix, at="type")
