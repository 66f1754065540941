"""What was open when its run ended: it stopped with the run. Only children that outlive their parent go on."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from plait.kernel.ids import caller_id
from plait.kernel.kernel import Kernel
from plait.kernel.store import RunFilter, RunRow
from plait.kernel.view import Node

_OPEN = ("running", "waiting", "retrying")


async def stopped(kernel: Kernel, row: RunRow, nodes: Sequence[Node]) -> list[Node]:
    """The nodes of a run that has ended."""
    open_nodes = [node for node in nodes if node.status in _OPEN]
    if not open_nodes:
        return list(nodes)
    going_on = await _children(kernel, row) if any(node.child is not None for node in open_nodes) else set[str]()
    return [_stop(node, row) if node.status in _OPEN and node.child not in going_on else node for node in nodes]


async def _children(kernel: Kernel, row: RunRow) -> set[str]:
    rows = await kernel.store.runs(RunFilter(parent=row.id, status="running"))
    return {caller_id(child.id) for child in rows}


def _stop(node: Node, row: RunRow) -> Node:
    return replace(node, status="cancelled", ended_at=row.ended_at if node.started_at is not None else None)
