"""References: to existing steps, where that can be known, and to fields that schemas have."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from plait.definitions.flaws import Note
from plait.definitions.nearest import nearest
from plait.dialects.refs.definition.condition import Condition
from plait.dialects.refs.definition.draft import DraftStep
from plait.dialects.refs.definition.examined import Examined, for_each_ref, listed
from plait.dialects.refs.definition.limits import MAX_PATH
from plait.dialects.refs.definition.schemas import fields_at
from plait.dialects.refs.references.heads import CTX, CTX_FIELDS, INDEX, INPUT, ITEM, Place, places
from plait.dialects.refs.references.template import Malformed, Ref

UNKNOWN, SCOPE, PATH = "unknown_ref", "scope_ref", "path_ref"


@dataclass(frozen=True, slots=True)
class Found:
    """A reference in a step, and what it may refer to."""

    step: DraftStep
    place: Place
    iterates: bool
    """Whether `@item` and `@index` are known there."""
    scope: Collection[str] | None = None
    """The steps known there; None: all of them."""


def references(examined: Examined) -> Iterator[Note]:
    for step in examined.draft.steps:
        yield from _depends_on(examined, step)
        for found in found_in(examined, step):
            yield from _reference(examined, found)


def found_in(examined: Examined, step: DraftStep) -> Iterator[Found]:
    source, at = step.source, step.pointer
    iterates = source.for_each is not None
    for place in places(source.input, f"{at}/input"):
        yield Found(step, place, iterates)
    for name, condition in (("when", step.when), ("bail", step.bail)):
        if isinstance(condition, Condition):
            yield Found(step, Place(f"{at}/{name}/ref", condition.ref, whole=True), iterates=False)
    ref = for_each_ref(step)
    if ref is not None and ref.head not in (ITEM, INDEX):
        yield Found(step, Place(f"{at}/forEach/ref", ref, whole=True), iterates=False)
    if source.compensate is not None:
        scope = examined.before(step.name) | {step.name}
        for place in places(source.compensate.input, f"{at}/compensate/input"):
            yield Found(step, place, iterates, scope)


def _depends_on(examined: Examined, step: DraftStep) -> Iterator[Note]:
    for index, name in enumerate(step.source.depends_on):
        if name not in examined.steps:
            what = f'Step "{step.name}": `dependsOn` names "{name:.80}", no such step. {_meant(examined, name)}'
            yield Note(f"{step.pointer}/dependsOn/{index}", what, "", UNKNOWN)


def _reference(examined: Examined, found: Found) -> Iterator[Note]:
    place, owner = found.place, f'Step "{found.step.name}"'
    token, at = place.token, place.pointer
    if isinstance(token, Malformed):
        what = f'{owner}: "{token.text:.80}" is no reference. Write "@{{step.field}}", or "@{token.text:.80}" for text.'
        yield Note(at, what, "", UNKNOWN)
        return
    if token.head not in examined.known:
        if place.whole or token.braced:
            known = f"Known: {listed(examined.names)}."
            what = f'{owner}: "{token.text:.80}" names no step. {known} For text write "@{token.text:.80}".'
            yield Note(at, what, "", UNKNOWN)
        return
    if len(token.path) > MAX_PATH:
        yield Note(at, f"{owner}: a reference has more than {MAX_PATH} parts.", "", "too_large")
    elif token.head in (ITEM, INDEX):
        if not found.iterates:
            yield Note(at, f'"{token.text}" needs `forEach` on step "{found.step.name}".', "", SCOPE)
    elif token.head == CTX:
        yield from _context(token, at)
    elif found.scope is not None and token.head != INPUT and token.head not in found.scope:
        what = f'{owner}: `compensate` can\'t read "{token.text:.80}". Only `@input`, the step and what it needs.'
        yield Note(at, what, "", SCOPE)
    else:
        yield from _path(examined, token, at)


def _context(ref: Ref, at: str) -> Iterator[Note]:
    if ref.path and (ref.path[0] not in CTX_FIELDS or len(ref.path) > 1):
        yield Note(at, f'"{ref.text:.80}": `@ctx` has {", ".join(CTX_FIELDS)}.', "", SCOPE)


def _path(examined: Examined, ref: Ref, at: str) -> Iterator[Note]:
    schema, path = schema_of(examined, ref)
    for level, field in fields_at(schema, path):
        known = level["properties"]
        if field not in known and level.get("additionalProperties") is False and "patternProperties" not in level:
            meant = nearest(field, known)
            fix = f'Did you mean "{meant}"?' if meant is not None else f"It has: {listed(sorted(known))}."
            yield Note(at, f'"{ref.text:.80}": no such field. {fix}', "", PATH)
            return


def schema_of(examined: Examined, ref: Ref) -> tuple[Any, tuple[str, ...]]:
    """The schema of a reference's head, and the path below it."""
    if ref.head == INPUT:
        return (None if examined.input_schema is None else examined.input_schema.written), ref.path
    schema = examined.output_schemas.get(ref.head)
    if schema is None:
        return None, ref.path
    iterates = examined.steps[ref.head].source.for_each is not None
    return ({"items": schema.written} if iterates else schema.written), ref.path


def _meant(examined: Examined, name: str) -> str:
    meant = nearest(name, examined.names)
    return f'Did you mean "{meant}"?' if meant is not None else f"Known: {listed(examined.names)}."
