"""Definitions: what can be started, in which versions, under which tags; and what a run of one would do."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Any, Literal, TypeVar, cast

from msgspec import Meta

from plait.definitions.definition import Definition
from plait.dialects.goals.catalogs.step_catalog import StepCatalog
from plait.dialects.goals.dialect import GoalsDialect
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step
from plait.kernel.errors import InvalidInput, NotFound
from plait.kernel.ids import Millis

from .missing import missing
from .pointing import inside
from .routes import Answer, Body, Call, Fault, Reply, Route, Scoped
from .runs import must_know
from .shapes import Shape

T = TypeVar("T")

Name = Annotated[str, Meta(min_length=1, max_length=400)]
Mode = Literal["register", "update", "upsert"]
Dialect = Annotated[str, Meta(min_length=1, max_length=40)]


class ListDefinitions(Scoped, frozen=True, kw_only=True):
    dialect: Dialect | None = None


class Definitions(Shape, frozen=True, kw_only=True):
    definitions: list[Definition]


class DefinitionVersion(Shape, frozen=True, kw_only=True):
    name: str
    dialect: str
    version: str
    hash: str
    created_at: Millis
    """When it was first seen."""
    loaded: bool
    doc: str = ""
    source: str = ""
    file: str = ""
    input_schema: Any = None
    output_schema: Any = None


class NewDefinition(Body, frozen=True, kw_only=True):
    dialect: Dialect
    name: Name | None = None
    definition: Any
    """Of `goals`: a step, or a list of steps that are saved all or none."""
    mode: Mode = "register"
    """What may be there before: nothing other than the same, an older version, or either."""


class SavedSteps(Shape, frozen=True, kw_only=True):
    """In the catalog of their namespace, with their defaults filled in."""

    step: Step | None = None
    """If one was sent."""
    steps: list[Step] | None = None
    """If a list was sent."""


class Tag(Body, frozen=True, kw_only=True):
    version: Name


async def list_definitions(call: Call[ListDefinitions, None]) -> Answer:
    found = await call.engine.definitions.list(call.query.dialect, call.namespace)
    return Answer(Definitions(definitions=found))


async def show(call: Call[Scoped, None]) -> Answer:
    name = call.params["name"]
    return Answer(await _known(name, call.engine.definitions.get(name, call.namespace)))


async def show_version(call: Call[Scoped, None]) -> Answer:
    name, version = call.params["name"], call.params["version"]
    found, facts = await _known(name, call.engine.definitions.version(name, version, call.namespace))
    return Answer(
        DefinitionVersion(
            name=found.name,
            dialect=found.dialect,
            version=found.version,
            hash=found.hash,
            created_at=facts.created_at,
            loaded=facts.loaded,
            doc=found.doc,
            source=found.source,
            file=found.file,
            input_schema=found.input_schema,
            output_schema=found.output_schema,
        )
    )


async def save(call: Call[Scoped, NewDefinition]) -> Answer:
    """What is kept as text: the steps of the `goals` dialect."""
    must_know(call.engine, call.body.dialect)
    if call.body.dialect == GoalsDialect.name:
        return await _save_steps(call)
    raise InvalidInput(
        "definitions.not_saved_here",
        f"definitions of `{call.body.dialect}` can't be saved through the API",
        why="code is deployed with its program",
        fix="give the module to the server: plait serve MODULE",
    )


async def _save_steps(call: Call[Scoped, NewDefinition]) -> Answer:
    """One step, or a list of them: all or none."""
    given: Any = call.body.definition
    catalog = call.engine.catalog.of(call.namespace)
    if not isinstance(given, list):
        with inside("/definition"):
            step = read_step(given)
            new = await _put(call, catalog, [step])
        return Answer(SavedSteps(step=step), 201 if new else 200)
    steps = [_read_at(index, each) for index, each in enumerate(cast("list[Any]", given))]
    with inside("/definition", whole=True):
        new = await _put(call, catalog, steps)
    return Answer(SavedSteps(steps=steps), 201 if new else 200)


def _read_at(index: int, given: Any) -> Step:
    with inside(f"/definition/{index}"):
        return read_step(given)


async def _put(call: Call[Scoped, NewDefinition], catalog: StepCatalog, steps: list[Step]) -> bool:
    """Whether one of them was not there before."""
    known = set((await call.engine.goals.catalogs.refresh(call.namespace)).steps)
    async with catalog.transaction() as changes:
        put = {"register": changes.register, "update": changes.update, "upsert": changes.upsert}[call.body.mode]
        for step in steps:
            put(step)
    return any(step.id not in known for step in steps)


async def tag(call: Call[Scoped, Tag]) -> Answer:
    name = call.params["name"]
    tagging = call.engine.definitions.tag(name, call.params["tag"], call.body.version, call.namespace)
    return Answer(await _known(name, tagging))


async def untag(call: Call[Scoped, None]) -> Answer:
    name = call.params["name"]
    return Answer(await _known(name, call.engine.definitions.untag(name, call.params["tag"], call.namespace)))


async def _known(name: str, asking: Awaitable[T]) -> T:
    """An unknown name has the same words as one that the caller may not see."""
    try:
        return await asking
    except NotFound as error:
        if error.code == "definitions.unknown":
            raise missing("definition", name) from None
        raise


ROUTES = (
    Route(
        method="GET",
        path="/definitions",
        name="definitions.list",
        role="viewer",
        summary="What can be started",
        handler=list_definitions,
        query=ListDefinitions,
        replies=(Reply(200, Definitions, "The definitions, by name."),),
    ),
    Route(
        method="POST",
        path="/definitions",
        name="definitions.save",
        role="editor",
        summary="Save a definition, where its dialect is kept as text",
        handler=save,
        query=Scoped,
        body=NewDefinition,
        replies=(
            Reply(201, SavedSteps, "It is saved, and new."),
            Reply(200, SavedSteps, "It is saved; a step with this id was there before."),
        ),
        faults=(
            Fault(404, "goals.step_not_found", "There is no step to update."),
            Fault(409, "goals.step_exists", "Another step has this id."),
            Fault(413, "goals.too_large", "The step is over a limit."),
            Fault(422, "definitions.not_saved_here", "Code is deployed with its program."),
            Fault(422, "goals.step_invalid", "The step is not right; `errors` says where."),
        ),
        example={
            "dialect": "goals",
            "definition": {
                "id": "greet",
                "name": "Greet",
                "type": "script",
                "attributes": {"name": {"role": "required", "type": "string"}, "greeting": {"role": "output"}},
                "script": {"language": "lua", "script": "return {greeting = 'Hello, ' .. name}"},
            },
            "mode": "upsert",
        },
    ),
    Route(
        method="GET",
        path="/definitions/{name}",
        name="definitions.show",
        role="viewer",
        summary="One definition, with its versions and tags",
        handler=show,
        query=Scoped,
        replies=(Reply(200, Definition, "The definition."),),
        noun="definition",
    ),
    Route(
        method="GET",
        path="/definitions/{name}/versions/{version}",
        name="definitions.version",
        role="viewer",
        summary="One version, by its label, hash or tag, with its source",
        handler=show_version,
        query=Scoped,
        replies=(Reply(200, DefinitionVersion, "The version."),),
        noun="definition",
    ),
    Route(
        method="PUT",
        path="/definitions/{name}/tags/{tag}",
        name="definitions.tag",
        role="editor",
        summary="Put a tag on a version, or move it there",
        handler=tag,
        query=Scoped,
        body=Tag,
        replies=(Reply(200, Definition, "The definition, with its tags."),),
        noun="definition",
        example={"version": "2"},
    ),
    Route(
        method="DELETE",
        path="/definitions/{name}/tags/{tag}",
        name="definitions.untag",
        role="editor",
        summary="Take a tag away",
        handler=untag,
        query=Scoped,
        replies=(Reply(200, Definition, "The definition, with its tags."),),
        noun="definition",
    ),
)
