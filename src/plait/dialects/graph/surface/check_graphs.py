"""`plait check` of graphs in files: every flaw with its place, and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plait.cli.checked_files import CheckedFiles, check_files
from plait.cli.connect import connect
from plait.cli.options import Where
from plait.cli.session import is_missing
from plait.dialects.graph.definition.compile import INVALID, compile_graph
from plait.dialects.graph.graph import graph


async def check_graphs(files: Sequence[str], where: Where | None) -> CheckedFiles:
    """Checks with the node types of the namespace, if there is a database or a server."""

    async def warnings(content: dict[str, Any]) -> list[str]:
        if where is None or is_missing(where.url):
            return [note.message for note in compile_graph(content).warnings]
        async with connect(where) as session:
            return (await session.engine.plan(graph(content), None, session.namespace)).notes

    return await check_files("graph", files, INVALID, warnings)
