"""Differences between two values, and between two runs. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from plait.api.diff import Change, NodeChange
from plait.api.picture import Picture, RunDiff
from plait.kernel.view import Node, RunView

MOST = 1_000
"""Most differences listed; unrelated values have no end of them."""


def difference(a: Picture, b: Picture) -> RunDiff:
    return RunDiff(a.row, b.row, changes(a.input, b.input), changes(a.output, b.output), node_changes(a.view, b.view))


def changes(a: Any, b: Any) -> list[Change]:
    """Changes from `a` to `b`, in the order of the documents."""
    found: list[Change] = []
    for change in _walk("", a, b):
        if len(found) == MOST:
            break
        found.append(change)
    return found


def node_changes(a: RunView, b: RunView) -> list[NodeChange]:
    """The nodes of both runs, in the order of `a`; those only in `b` come last."""
    theirs = {node.id: node for node in b.nodes}
    ours = {node.id for node in a.nodes}
    paired = [_compared(node, theirs.get(node.id)) for node in a.nodes]
    alone = [
        NodeChange(id=node.id, label=node.label, kind=node.kind, change="only_b", b=node)
        for node in b.nodes
        if node.id not in ours
    ]
    return paired + alone


def _compared(a: Node, b: Node | None) -> NodeChange:
    if b is None:
        return NodeChange(id=a.id, label=a.label, kind=a.kind, change="only_a", a=a)
    found = changes(_told(a), _told(b))
    return NodeChange(
        id=a.id, label=a.label, kind=a.kind, change="changed" if found else "same", a=a, b=b, changes=found
    )


def _told(node: Node) -> dict[str, Any]:
    """The fields worth comparing: times and ids differ between any two runs."""
    return {
        "kind": node.kind,
        "status": node.status,
        "attempts": node.attempts,
        "input": node.input,
        "output": node.output,
        "error": None if node.error is None else {"code": node.error.code, "message": node.error.message},
    }


def _walk(path: str, a: Any, b: Any) -> Iterator[Change]:
    match a, b:
        case dict(), dict():
            yield from _walk_objects(path, cast("dict[str, Any]", a), cast("dict[str, Any]", b))
        case list(), list():
            yield from _walk_lists(path, cast("list[Any]", a), cast("list[Any]", b))
        case _:
            if isinstance(a, bool) != isinstance(b, bool) or a != b:
                yield Change(path, "changed", a, b)


def _walk_objects(path: str, a: dict[str, Any], b: dict[str, Any]) -> Iterator[Change]:
    for key, value in a.items():
        place = f"{path}/{_escaped(key)}"
        if key in b:
            yield from _walk(place, value, b[key])
        else:
            yield Change(place, "removed", a=value)
    for key, value in b.items():
        if key not in a:
            yield Change(f"{path}/{_escaped(key)}", "added", b=value)


def _walk_lists(path: str, a: Sequence[Any], b: Sequence[Any]) -> Iterator[Change]:
    for index, (x, y) in enumerate(zip(a, b, strict=False)):
        yield from _walk(f"{path}/{index}", x, y)
    for index in range(len(b), len(a)):
        yield Change(f"{path}/{index}", "removed", a=a[index])
    for index in range(len(a), len(b)):
        yield Change(f"{path}/{index}", "added", b=b[index])


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
