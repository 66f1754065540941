"""What only this dialect shows of a run: the place of each step in the source, its state, and its iterations.

These are the `details` of a run's view. They are part of the OpenAPI document, from which the web UI gets its types.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from plait.dialects.afl.names import NAME
from plait.dialects.afl.program.parts import NOWHERE, Place

from .afl_run import AflRun
from .nodes import StepNode
from .state import Binding
from .view import absent_id, shown_steps

_ONLY_FILE: Final = 0


class SourcePlace(msgspec.Struct, frozen=True):
    """Lines and columns count from 1; the end is behind the last character."""

    file: int
    """The index of the file."""
    line: int
    column: int
    end_line: int
    end_column: int


class SourceView(msgspec.Struct, frozen=True):
    """Where the nodes of a run stand in its source, whose text is at `/runs/{id}/source`."""

    language: str
    files: list[str]
    places: list[SourcePlace]
    nodes: dict[str, int]
    """Node -> the index of its place. Steps of a loop share theirs."""


class StepView(msgspec.Struct, frozen=True, omit_defaults=True):
    state: str
    facet: str = ""
    created_in: int = 0
    ended_in: int = 0
    """The iterations that created and ended it; 0 if none did."""
    statement_id: str = ""
    container_id: str = ""
    block_id: str = ""


class AflDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    workflow: str
    hash: str
    """The hash of the compiled form."""
    iteration: int
    pauses: int
    paused: bool
    strict: bool
    warnings: list[str]
    versions: dict[str, str]
    bindings: dict[str, Binding]
    """Bindings by facet."""
    tree: dict[str, StepView]
    """Steps by node."""
    source: SourceView | None = None
    """None if the program was sent compiled."""


def run_details(run: AflRun) -> dict[str, Any]:
    state = run.state
    found = AflDetails(
        workflow=state.start.workflow,
        hash=state.start.hash,
        iteration=state.iteration,
        pauses=state.pauses,
        paused=state.paused,
        strict=state.start.strict,
        warnings=state.warnings,
        versions={
            "workflow_version": state.start.workflow_version,
            "step_schema_version": state.start.step_schema_version,
            "runtime_version": state.start.runtime_version,
        },
        bindings=state.start.bindings,
        tree={each.id: _step(each) for each in shown_steps(run)},
        source=_source(run) if state.start.sources else None,
    )
    return msgspec.to_builtins(found)


def _step(node: StepNode) -> StepView:
    record = node.record
    return StepView(
        record.state,
        record.facet_name,
        record.created_in,
        record.ended_in,
        record.statement_id,
        record.container_id,
        record.block_id,
    )


def _source(run: AflRun) -> SourceView:
    files = [each.name for each in run.state.start.sources]
    numbers = {name: number for number, name in enumerate(files)}
    places: dict[SourcePlace, int] = {}
    nodes: dict[str, int] = {}
    for id, place in _places(run):
        if place:
            file = numbers.get(str(place.get("sourceId")), _ONLY_FILE)
            found = SourcePlace(file, place["line"], place["column"], place["endLine"], place["endColumn"])
            nodes[id] = places.setdefault(found, len(places))
    return SourceView(NAME, files, list(places), nodes)


def _places(run: AflRun) -> Iterator[tuple[str, Place]]:
    for node in shown_steps(run):
        yield node.id, _place(node)
        plan = node.plan
        for statement in plan.steps if plan is not None and plan.kind == "steps" else ():
            if statement.id not in node.members:
                yield absent_id(run, node, statement), _head(statement.place, statement.call.place)


def _place(node: StepNode) -> Place:
    if node.statement is not None:
        return _head(node.statement.place, node.statement.call.place)
    if node.yielded is not None:
        return node.yielded.place
    if node.plan is not None:
        return _first_line(node.plan.place)
    return NOWHERE if node.declaration is None else _first_line(node.declaration.place)


def _head(statement: Place, call: Place) -> Place:
    """The place of a statement without its bodies, whose steps have places of their own."""
    if not statement or not call:
        return statement
    return {**statement, "endLine": call["endLine"], "endColumn": call["endColumn"]}


def _first_line(place: Place) -> Place:
    """The first line of a container: its contents have places of their own."""
    return {**place, "endLine": place["line"], "endColumn": place["column"]} if place else place
