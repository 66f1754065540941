"""`POST /definitions`: one route for all dialects. With a name, a definition is saved as a version of that name;
without one, its dialect decides how it is saved, for example the steps of a catalog."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from plait.api.definition import NewDefinition, SavedVersion
from plait.api.route import Answer, AnyRoute, Fault, Reply, Route
from plait.api.shape import Scoped
from plait.api.surface import Save, Surface
from plait.definitions.saved import Saved
from plait.kernel.errors import InvalidInput

from .call import Call
from .errors import UnknownDialect

STALE = Fault(412, "definitions.tag_moved", "The name or the tag means another version than was expected.")
_NOT_SAVED = Fault(422, "definitions.not_saved_here", "Definitions of this dialect are not saved without a name.")


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
        summary="Save a definition",
        handler=save,
        query=Scoped,
        body=NewDefinition,
        replies=_replies(saves),
        faults=(_NOT_SAVED, STALE, *(fault for each in saves for fault in each.faults)),
        example=next((each.example for each in saves), None),
    )


async def _save(call: Call[Scoped, NewDefinition], surface: Surface | None) -> Answer:
    dialect = call.body.dialect
    known = call.host.bundles
    if dialect not in known:
        raise UnknownDialect(dialect, known)
    name, run_id = call.body.name, call.body.from_run
    if (run_id is None) == (call.body.definition is msgspec.UNSET) or (run_id is not None and name is None):
        raise InvalidInput(
            "definitions.no_content",
            "there must be one thing to save",
            fix="send a `definition`, or `from_run` with a `name`",
        )
    if run_id is not None and name is not None:
        return await _save_draft(call, run_id, name)
    if name is not None:
        return await _save_version(call, name)
    if surface is None or surface.save is None:
        raise InvalidInput(
            _NOT_SAVED.code,
            f"definitions of `{dialect}` can't be saved without a name",
            why="code is deployed with its program; JSON and source text are saved under a name",
            fix="load the module into the server: plait serve MODULE; or send a `name`",
        )
    return await surface.save.handler(replace(call, host=surface.host))


async def _save_draft(call: Call[Scoped, NewDefinition], run_id: str, name: str) -> Answer:
    """Saves a run's draft as a version of a name."""
    body, drafts = call.body, call.host.engine.drafts
    saving = drafts.save(
        body.dialect, run_id, name, body.options, call.namespace, breaking=body.breaking, expected=body.expected
    )
    return saved_answer(await saving)


async def _save_version(call: Call[Scoped, NewDefinition], name: str) -> Answer:
    given, definitions = call.body.definition, call.host.engine.definitions
    content = {"source": given} if isinstance(given, str) else {"body": given}
    saved = await definitions.save(
        call.body.dialect,
        name,
        **content,
        namespace=call.namespace,
        breaking=call.body.breaking,
        expected=call.body.expected,
    )
    return saved_answer(saved)


def saved_answer(saved: Saved) -> Answer:
    """Answers 201 for a new version, 200 if an equal version existed."""
    fields = msgspec.structs.asdict(saved.version)
    return Answer(SavedVersion(**fields, warnings=[*saved.warnings]), 201 if saved.new else 200)


def _replies(saves: Iterable[Save]) -> tuple[Reply, ...]:
    shapes = [SavedVersion, *(each.shape for each in saves)]
    new = [Reply(201, shape, "Saved; it is new.") for shape in shapes]
    known = [Reply(200, shape, "Saved; a definition with this id was there before.") for shape in shapes]
    return (*new, *known)
