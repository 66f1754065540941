"""What tests of tools begin with."""

from __future__ import annotations

from typing import Any

from plait.agents.tools.tool import ToolUse


def use(**changed: Any) -> ToolUse:
    given: dict[str, Any] = {
        "namespace": "default",
        "run_id": "run-1",
        "node_id": "qualify",
        "key": "x1/1/0",
        "payload": {"customer": "Ada"},
    }
    return ToolUse(**(given | changed))
