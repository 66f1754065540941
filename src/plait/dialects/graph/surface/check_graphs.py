"""`plait check` of graphs in files: every flaw with its place, and what is probably not meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.text import Text

from plait.cli import exits, words
from plait.cli.connect import connect
from plait.cli.options import Where, read_json
from plait.cli.output import say
from plait.cli.session import is_missing
from plait.dialects.graph.definition.compile import INVALID, compile_graph
from plait.dialects.graph.graph import graph
from plait.kernel.errors import PlaitError


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that is wrong with a graph."""

    file: str
    pointer: str
    code: str
    message: str


@dataclass(slots=True)
class CheckedGraphs:
    files: Sequence[str]
    wrongs: list[Wrong] = field(default_factory=list[Wrong])
    warnings: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """By file."""

    @property
    def exit(self) -> int:
        return exits.FAILED if self.wrongs else exits.OK

    def say(self) -> None:
        for wrong in self.wrongs:
            place = f"{wrong.file}: {wrong.pointer}: " if wrong.pointer else f"{wrong.file}: "
            text = Text.assemble((place, "bold"), ("error ", "red"), wrong.message)
            say(text.append(f" [{wrong.code}]", "bright_black"))
        for file, warnings in self.warnings.items():
            for warning in warnings:
                say(Text.assemble((f"{file}: ", "bold"), ("warning ", "yellow"), warning))
        count = words.counted(len(self.files), "graph")
        say(f"{count}, {words.counted(len(self.wrongs), 'error')}" if self.wrongs else f"{count} right")

    def document(self) -> dict[str, Any]:
        return {"graphs": [*self.files], "errors": [asdict(wrong) for wrong in self.wrongs], "warnings": self.warnings}


async def check_graphs(files: Sequence[str], where: Where | None) -> CheckedGraphs:
    """With the node types of the namespace, if there is a database or a server."""
    result = CheckedGraphs(files)
    for file in files:
        content = read_json(f"@{file}", "the graph")
        try:
            found = await _warnings(content, where)
        except PlaitError as error:
            if error.code != INVALID:
                raise
            result.wrongs += [Wrong(file, flaw.pointer, flaw.code, flaw.message) for flaw in error.flaws]
        else:
            result.warnings |= {file: found} if found else {}
    return result


async def _warnings(content: dict[str, Any], where: Where | None) -> list[str]:
    if where is None or is_missing(where.url):
        return [note.message for note in compile_graph(content).warnings]
    async with connect(where) as session:
        return (await session.engine.plan(graph(content), None, session.namespace)).notes
