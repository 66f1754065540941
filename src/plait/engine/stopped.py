"""What was open when its run ended: it stopped with the run. Only children that outlive their parent go on."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from plait.kernel.ids import run_key
from plait.kernel.kernel import Kernel
from plait.kernel.store import RunRow
from plait.kernel.view import Node

_OPEN = ("running", "waiting", "retrying")


async def stopped(kernel: Kernel, row: RunRow, nodes: Sequence[Node]) -> list[Node]:
    """The nodes of a run that has ended."""
    return [await _stop(kernel, row, node) if node.status in _OPEN else node for node in nodes]


async def _stop(kernel: Kernel, row: RunRow, node: Node) -> Node:
    if node.child is not None and await _goes_on(kernel, row, node.child):
        return node
    return replace(node, status="cancelled", ended_at=row.ended_at if node.started_at is not None else None)


async def _goes_on(kernel: Kernel, row: RunRow, child: str) -> bool:
    found = await kernel.store.run(run_key(row.namespace, child))
    return found is not None and found.parent == row.id and found.status == "running"
