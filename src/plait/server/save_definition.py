"""`POST /definitions`: one route for all dialects; how a definition is saved is up to its dialect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from plait.api.definition import NewDefinition
from plait.api.route import Answer, AnyRoute, Fault, Reply, Route
from plait.api.shape import Scoped
from plait.api.surface import Save, Surface
from plait.kernel.errors import InvalidInput

from .call import Call
from .definition_input import must_know

_NOT_SAVED = Fault(422, "definitions.not_saved_here", "Definitions of this dialect are deployed with their program.")


def save_route(surfaces: Iterable[Surface]) -> AnyRoute:
    saves = {surface.dialect: surface.save for surface in surfaces if surface.save is not None}

    async def save(call: Call[Scoped, NewDefinition]) -> Answer:
        return await _save(call, saves)

    return Route(
        method="POST",
        path="/definitions",
        name="definitions.save",
        role="editor",
        summary="Save a definition, if its dialect supports it",
        handler=save,
        query=Scoped,
        body=NewDefinition,
        replies=_replies(saves.values()),
        faults=(_NOT_SAVED, *(fault for each in saves.values() for fault in each.faults)),
        example=next((each.example for each in saves.values()), None),
    )


async def _save(call: Call[Scoped, NewDefinition], saves: Mapping[str, Save]) -> Answer:
    dialect = call.body.dialect
    must_know(call.host.engine, dialect)
    if (found := saves.get(dialect)) is None:
        raise InvalidInput(
            _NOT_SAVED.code,
            f"definitions of `{dialect}` can't be saved through the API",
            why="they are deployed with their program",
            fix="load the module into the server: plait serve MODULE",
        )
    return await found.handler(replace(call, host=call.host.engine))


def _replies(saves: Iterable[Save]) -> tuple[Reply, ...]:
    shapes = [each.shape for each in saves]
    new = [Reply(201, shape, "Saved; it is new.") for shape in shapes]
    known = [Reply(200, shape, "Saved; a definition with this id was there before.") for shape in shapes]
    return (*new, *known) or (Reply(201, None, "Saved."),)
