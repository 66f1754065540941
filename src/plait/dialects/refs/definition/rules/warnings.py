"""Warnings: what is probably not meant, but never refused."""

from __future__ import annotations

from collections.abc import Iterator

from plait.definitions.flaws import Note
from plait.dialects.refs.definition.condition import Condition
from plait.dialects.refs.definition.draft import DraftStep
from plait.dialects.refs.definition.examined import Examined
from plait.dialects.refs.definition.schemas import fields_at
from plait.dialects.refs.references.template import Ref, parse

from .references import found_in, schema_of


def warnings(examined: Examined) -> Iterator[Note]:
    yield from _patterns(examined)
    for step in examined.draft.steps:
        yield from _operands(step)
        for found in found_in(examined, step):
            token = found.place.token
            if isinstance(token, Ref):
                yield from _text(examined, step, token, found.place.pointer, whole=found.place.whole)
                yield from _fields(examined, step, token, found.place.pointer)


def _text(examined: Examined, step: DraftStep, ref: Ref, at: str, *, whole: bool) -> Iterator[Note]:
    if not (whole or ref.braced or ref.head in examined.known):
        yield Note(at, f'Step "{step.name}": "{ref.text:.80}" names no step and stays text.', "", "unknown_ref")


def _fields(examined: Examined, step: DraftStep, ref: Ref, at: str) -> Iterator[Note]:
    if ref.head not in examined.known:
        return
    schema, path = schema_of(examined, ref)
    for level, field in fields_at(schema, path):
        if field not in level["properties"] and level.get("additionalProperties") is not False:
            yield Note(at, f'Step "{step.name}": the schema does not declare "{ref.text:.80}".', "", "path_ref")
            return


def _operands(step: DraftStep) -> Iterator[Note]:
    for name, condition in (("when", step.when), ("bail", step.bail)):
        if isinstance(condition, Condition) and isinstance(condition.operand, str) and parse(condition.operand).refs:
            what = f'Step "{step.name}": the operand "{condition.operand:.80}" is text; operands are not resolved.'
            yield Note(f"{step.pointer}/{name}/{condition.operator}", what, "", "bad_condition")


def _patterns(examined: Examined) -> Iterator[Note]:
    if examined.input_schema is not None and examined.input_schema.has_patterns:
        yield Note("/input_schema", "Patterns of the input schema are ignored.", "", "bad_schema")
    for name, schema in examined.output_schemas.items():
        if schema.has_patterns:
            at = f"{examined.steps[name].pointer}/outputSchema"
            yield Note(at, f'Step "{name}": patterns of the output schema are ignored.', "", "bad_schema")
