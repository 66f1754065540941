"""The value of `@ctx`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait.kernel.ids import caller_id
from plait.kernel.machine import RunInfo


def ctx_of(info: RunInfo) -> Mapping[str, Any]:
    return {
        "execution_id": caller_id(info.run_id),
        "workflow_collection_id": info.definition,
        "parent_execution_id": None if info.parent is None else caller_id(info.parent),
        "depth": info.depth,
    }
