"""The differences between two runs."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from plait.kernel.view import Node

from .run import Run
from .shape import RunIdText, Scoped, Shape


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    path: str
    """A JSON pointer."""
    kind: Literal["added", "removed", "changed"]
    a: Any = None
    b: Any = None


class NodeChange(Shape, frozen=True, kw_only=True):
    id: str
    label: str
    kind: str
    change: Literal["same", "changed", "only_a", "only_b"]
    a: Node | None = None
    b: Node | None = None
    changes: list[Change] = []


class Diff(Shape, frozen=True, kw_only=True):
    a: Run
    b: Run
    input: list[Change]
    output: list[Change]
    nodes: list[NodeChange]


class CompareRuns(Scoped, frozen=True, kw_only=True):
    with_: RunIdText = msgspec.field(name="with")
