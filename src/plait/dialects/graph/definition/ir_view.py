"""A compiled graph as `POST /api/v1/plan` shows it: the nodes as written, with what was derived for them."""

from __future__ import annotations

from typing import Any

import msgspec

from .ir import Ir, IrNode


def shown(ir: Ir) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(ir)
    return {**plain, "metadata": ir.metadata, "nodes": {id: _node(node) for id, node in ir.nodes.items()}}


def _node(node: IrNode) -> dict[str, Any]:
    """Leaves out empty fields as written; derived fields are always present."""
    plain: dict[str, Any] = msgspec.to_builtins(node)
    written = {key: value for key, value in plain.items() if value not in ({}, [])}
    return {
        **written,
        "dependencies": [*node.dependencies],
        "dependents": [*node.dependents],
        "wait_for_all": node.wait_for_all,
        "is_terminal": node.is_terminal,
    }
