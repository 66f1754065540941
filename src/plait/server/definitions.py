"""Definitions: what can be started, in which versions, under which tags."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, TypeVar

import msgspec

from plait.api.definition import (
    CompareVersions,
    Definition,
    DefinitionDiff,
    DefinitionList,
    DefinitionVersion,
    DeleteDefinition,
    ListDefinitions,
    PatchDefinition,
    SavedVersion,
    ShowVersion,
    StepTag,
    TagVersion,
    Uploaded,
    UploadText,
)
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Deleted, Scoped
from plait.kernel.definitions import Description
from plait.kernel.errors import NotFound, Stale

from .call import Call
from .nouns import DEFINITION, TEXT
from .save_definition import STALE, saved_answer

T = TypeVar("T")


async def list_definitions(call: Call[ListDefinitions, None]) -> Answer:
    found = await call.host.engine.definitions.list(call.query.dialect, call.namespace)
    return Answer(DefinitionList(definitions=found))


async def show(call: Call[Scoped, None]) -> Answer:
    name = call.params["name"]
    return Answer(await _known(name, call.host.engine.definitions.get(name, call.namespace)))


async def show_version(call: Call[ShowVersion, None]) -> Answer:
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
            base="" if found.patch is None else found.patch.base,
            operations=[] if found.patch is None else found.patch.operations,
            description="" if found.patch is None else found.patch.description,
            definition=_whole(found) if call.query.materialize else None,
        )
    )


async def compare(call: Call[CompareVersions, None]) -> Answer:
    name, query = call.params["name"], call.query
    definitions = call.host.engine.definitions
    operations = await _known(name, definitions.diff(name, query.from_, query.to, call.namespace))
    return Answer(DefinitionDiff(name=name, from_=query.from_, to=query.to, operations=operations))


async def patch(call: Call[Scoped, PatchDefinition]) -> Answer:
    name, body = call.params["name"], call.body
    saving = call.host.engine.definitions.patch(
        name,
        body.operations,
        description=body.description,
        breaking=body.breaking,
        expected=body.expected,
        namespace=call.namespace,
    )
    return saved_answer(await _known(name, saving))


async def delete(call: Call[DeleteDefinition, None]) -> Answer:
    name, definitions = call.params["name"], call.host.engine.definitions
    await _known(name, definitions.delete(name, call.namespace, expected=call.query.expected))
    return Answer(Deleted(name=name))


async def tag(call: Call[Scoped, TagVersion]) -> Answer:
    name, definitions, body = call.params["name"], call.host.engine.definitions, call.body
    moving = definitions.tag(name, call.params["tag"], body.version, call.namespace, expected=body.expected)
    return Answer(await _known(name, moving))


async def move(call: Call[Scoped, TagVersion]) -> Answer:
    """A tag that is there moves only from where its mover saw it."""
    name, tag, body = call.params["name"], call.params["tag"], call.body
    definitions = call.host.engine.definitions
    now = (await _known(name, definitions.get(name, call.namespace))).tags.get(tag)
    if now is not None and body.expected is None:
        raise Stale(
            STALE.code,
            f"`{name}@{tag}` is at {now}, and no expected version was given",
            fix=f'send "expected": "{now}" to move it from there',
        )
    moving = definitions.tag(name, tag, body.version, call.namespace, expected=body.expected)
    return Answer(await _known(name, moving))


async def undo(call: Call[Scoped, StepTag]) -> Answer:
    name, definitions = call.params["name"], call.host.engine.definitions
    going = definitions.undo(name, call.params["tag"], call.namespace, expected=call.body.expected)
    return Answer(await _known(name, going))


async def redo(call: Call[Scoped, StepTag]) -> Answer:
    name, definitions = call.params["name"], call.host.engine.definitions
    going = definitions.redo(name, call.params["tag"], call.namespace, expected=call.body.expected)
    return Answer(await _known(name, going))


async def untag(call: Call[Scoped, None]) -> Answer:
    name, definitions = call.params["name"], call.host.engine.definitions
    return Answer(await _known(name, definitions.untag(name, call.params["tag"], call.namespace)))


def _whole(found: Description) -> Any:
    """The definition as JSON; code has a file and no JSON."""
    return found.body if found.file else found.content()


def _text(body: Any) -> str:
    """Indented JSON for people."""
    return "" if body is None else msgspec.json.format(msgspec.json.encode(body)).decode()


async def _known(name: str, asking: Awaitable[T]) -> T:
    """Answers an unknown name like one that the caller may not see."""
    try:
        return await asking
    except NotFound as error:
        if error.code == DEFINITION.code:
            raise DEFINITION.missing(name) from None
        raise


async def upload(call: Call[Scoped, UploadText]) -> Answer:
    content = call.body.text.encode()
    found = await call.host.engine.definitions.uploads.put(content, call.namespace, hash=call.params["hash"])
    return Answer(Uploaded(ref=found))


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
        query=ShowVersion,
        replies=(Reply(200, DefinitionVersion, "The version."),),
        noun=DEFINITION,
    ),
    Route(
        method="PUT",
        path="/blobs/{hash}",
        name="definitions.upload",
        role="editor",
        summary="Store a text that definitions refer to by its SHA-256",
        handler=upload,
        query=Scoped,
        body=UploadText,
        replies=(Reply(200, Uploaded, "Stored; this is how definitions name it."),),
        faults=(
            Fault(413, "definitions.upload_too_large", "The text has more than 1 MB."),
            Fault(422, "definitions.bad_hash", "The text has another hash."),
        ),
        noun=TEXT,
        example={"text": "{}"},
    ),
    Route(
        method="GET",
        path="/definitions/{name}/diff",
        name="definitions.diff",
        role="viewer",
        summary="The patch from one version to another",
        handler=compare,
        query=CompareVersions,
        replies=(Reply(200, DefinitionDiff, "The differences."),),
        noun=DEFINITION,
    ),
    Route(
        method="POST",
        path="/definitions/{name}/patch",
        name="definitions.patch",
        role="editor",
        summary="Save a new version by patch",
        handler=patch,
        query=Scoped,
        body=PatchDefinition,
        replies=(
            Reply(201, SavedVersion, "Saved as a new version."),
            Reply(200, SavedVersion, "The patch changes nothing."),
        ),
        faults=(STALE, Fault(422, "definitions.bad_patch", "An operation can't be applied; none was.")),
        noun=DEFINITION,
        example={"operations": [{"op": "replace", "path": "/nodes/charge/retry/max_attempts", "value": 5}]},
    ),
    Route(
        method="DELETE",
        path="/definitions/{name}",
        name="definitions.delete",
        role="editor",
        summary="Delete a saved definition; its runs continue, and its versions can still be read",
        handler=delete,
        query=DeleteDefinition,
        replies=(Reply(200, Deleted, "Deleted; to save it again brings it back."),),
        faults=(STALE, Fault(422, "definitions.not_deletable", "It is code, which nobody has saved.")),
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
        faults=(STALE,),
        noun=DEFINITION,
        example={"version": "2"},
    ),
    Route(
        method="POST",
        path="/definitions/{name}/tags/{tag}",
        name="definitions.move_tag",
        role="editor",
        summary="Move a tag from the version that was seen",
        handler=move,
        query=Scoped,
        body=TagVersion,
        replies=(Reply(200, Definition, "The definition, with its tags."),),
        faults=(STALE,),
        noun=DEFINITION,
        example={"version": "v1.1", "expected": "v1.0"},
    ),
    Route(
        method="POST",
        path="/definitions/{name}/tags/{tag}/undo",
        name="definitions.undo",
        role="editor",
        summary="Undo the last move of a tag",
        handler=undo,
        query=Scoped,
        body=StepTag,
        body_optional=True,
        replies=(Reply(200, Definition, "The definition, with its tags."),),
        faults=(STALE, Fault(409, "definitions.nothing_to_undo", "The tag was never moved.")),
        noun=DEFINITION,
    ),
    Route(
        method="POST",
        path="/definitions/{name}/tags/{tag}/redo",
        name="definitions.redo",
        role="editor",
        summary="Redo the last undone move of a tag",
        handler=redo,
        query=Scoped,
        body=StepTag,
        body_optional=True,
        replies=(Reply(200, Definition, "The definition, with its tags."),),
        faults=(STALE, Fault(409, "definitions.nothing_to_redo", "Nothing was undone since the last move.")),
        noun=DEFINITION,
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
