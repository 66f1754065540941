"""`plait check` of workflows in files: every flaw with its place, and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plait.cli.checked_files import CheckedFiles, check_files
from plait.cli.connect import connect
from plait.cli.options import Where
from plait.cli.session import is_missing
from plait.dialects.refs.definition.compile import INVALID
from plait.dialects.refs.preparation import Preparation
from plait.dialects.refs.refs import refs
from plait.dialects.refs.running.plans import Plans
from plait.scripts.languages import Languages


class Alone:
    """The script languages of this process."""

    def __init__(self) -> None:
        self.languages = Languages()


async def check_workflows(files: Sequence[str], where: Where | None) -> CheckedFiles:
    """Checks with the workflows that the namespace has saved, if there is a database or a server."""
    alone = Alone()

    async def warnings(content: dict[str, Any]) -> list[str]:
        if where is None or is_missing(where.url):
            prepared = await Preparation(Plans(), None, alone).prepare(content, "default")
            return [note.message for note in prepared.compiled.warnings]
        async with connect(where) as session:
            return (await session.engine.plan(refs(content), None, session.namespace)).notes

    try:
        return await check_files("workflow", files, INVALID, warnings)
    finally:
        await alone.languages.close()
