"""`POST /definitions`: one route for all dialects; how a definition is saved is up to its dialect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plait.api.definition import NewDefinition
from plait.api.route import Answer, AnyRoute, Fault, Reply, Route
from plait.api.shape import Scoped
from plait.api.surface import Save, Surface
from plait.kernel.errors import InvalidInput

from .call import Call
from .errors import UnknownDialect

_NOT_SAVED = Fault(422, "definitions.not_saved_here", "Definitions of this dialect are deployed with their program.")


def save_route(surfaces: Iterable[Surface]) -> AnyRoute:
    by_dialect = {surface.dialect: surface for surface in surfaces}
    saves = [surface.save for surface in by_dialect.values() if surface.save is not None]

    async def save(call: Call[Scoped, NewDefinition]) -> Answer:
        return await _save(call, by_dialect.get(call.body.dialect))

    return Route(
        method="POST",
        path="/definitions",
        name="definitions.save",
        role="editor",
        summary="Save a definition, if its dialect supports it",
        handler=save,
        query=Scoped,
        body=NewDefinition,
        replies=_replies(saves),
        faults=(_NOT_SAVED, *(fault for each in saves for fault in each.faults)),
        example=next((each.example for each in saves), None),
    )


async def _save(call: Call[Scoped, NewDefinition], surface: Surface | None) -> Answer:
    dialect = call.body.dialect
    known = call.host.engine.bundles
    if dialect not in known:
        raise UnknownDialect(dialect, known)
    if surface is None or surface.save is None:
        raise InvalidInput(
            _NOT_SAVED.code,
            f"definitions of `{dialect}` can't be saved through the API",
            why="they are deployed with their program",
            fix="load the module into the server: plait serve MODULE",
        )
    return await surface.save.handler(replace(call, host=surface.host))


def _replies(saves: Iterable[Save]) -> tuple[Reply, ...]:
    shapes = [each.shape for each in saves]
    new = [Reply(201, shape, "Saved; it is new.") for shape in shapes]
    known = [Reply(200, shape, "Saved; a definition with this id was there before.") for shape in shapes]
    return (*new, *known) or (Reply(201, None, "Saved."),)
