"""Runs pipelines without a network, and with real processes for jq."""

from __future__ import annotations

from typing import Any, NoReturn

from plait.agents.pipelines.execution import Execution
from plait.agents.pipelines.reading import read
from plait.scripts.jq import JqPool


async def run(*steps: dict[str, Any], data: Any = None) -> Any:
    jq = JqPool(1)
    try:
        return await Execution(_no_network, jq).run(read(list(steps)), data)
    finally:
        await jq.stop()


async def _no_network(request: object) -> NoReturn:
    raise AssertionError("no request was meant")
