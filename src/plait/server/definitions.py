"""Definitions: what can be started, in which versions, under which tags."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, TypeVar

import msgspec

from plait.api.definition import (
    Definition,
    DefinitionList,
    DefinitionVersion,
    ListDefinitions,
    TagVersion,
)
from plait.api.route import Answer, Reply, Route
from plait.api.shape import Scoped
from plait.kernel.errors import NotFound

from .call import Call
from .nouns import DEFINITION

T = TypeVar("T")


async def list_definitions(call: Call[ListDefinitions, None]) -> Answer:
    found = await call.host.engine.definitions.list(call.query.dialect, call.namespace)
    return Answer(DefinitionList(definitions=found))


async def show(call: Call[Scoped, None]) -> Answer:
    name = call.params["name"]
    return Answer(await _known(name, call.host.engine.definitions.get(name, call.namespace)))


async def show_version(call: Call[Scoped, None]) -> Answer:
    name, version = call.params["name"], call.params["version"]
    found, facts = await _known(name, call.host.engine.definitions.version(name, version, call.namespace))
    return Answer(
        DefinitionVersion(
            name=found.name,
            dialect=found.dialect,
            version=found.version,
            hash=found.hash,
            created_at=facts.created_at,
            loaded=facts.loaded,
            doc=found.doc,
            source=found.source or _text(found.body),
            file=found.file,
            input_schema=found.input_schema,
            output_schema=found.output_schema,
        )
    )


async def tag(call: Call[Scoped, TagVersion]) -> Answer:
    name, definitions = call.params["name"], call.host.engine.definitions
    return Answer(await _known(name, definitions.tag(name, call.params["tag"], call.body.version, call.namespace)))


async def untag(call: Call[Scoped, None]) -> Answer:
    name, definitions = call.params["name"], call.host.engine.definitions
    return Answer(await _known(name, definitions.untag(name, call.params["tag"], call.namespace)))


def _text(body: Any) -> str:
    """JSON as people read it."""
    return "" if body is None else msgspec.json.format(msgspec.json.encode(body)).decode()


async def _known(name: str, asking: Awaitable[T]) -> T:
    """An unknown name gets the same answer as one that the caller may not see."""
    try:
        return await asking
    except NotFound as error:
        if error.code == DEFINITION.code:
            raise DEFINITION.missing(name) from None
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
        replies=(Reply(200, DefinitionList, "The definitions, by name."),),
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
        noun=DEFINITION,
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
        noun=DEFINITION,
    ),
    Route(
        method="PUT",
        path="/definitions/{name}/tags/{tag}",
        name="definitions.tag",
        role="editor",
        summary="Set or move a tag",
        handler=tag,
        query=Scoped,
        body=TagVersion,
        replies=(Reply(200, Definition, "The definition, with its tags."),),
        noun=DEFINITION,
        example={"version": "2"},
    ),
    Route(
        method="DELETE",
        path="/definitions/{name}/tags/{tag}",
        name="definitions.untag",
        role="editor",
        summary="Remove a tag",
        handler=untag,
        query=Scoped,
        replies=(Reply(200, Definition, "The definition, with its tags."),),
        noun=DEFINITION,
    ),
)
