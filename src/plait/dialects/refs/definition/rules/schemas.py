"""The JSON Schemas in a definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait.definitions.flaws import Note
from plait.dialects.refs.definition.examined import Examined
from plait.dialects.refs.definition.schemas import BadSchema, LargeSchema, read_schema


def schemas(examined: Examined) -> Iterator[Note]:
    yield from _schema(examined.draft.source.input_schema, "/input_schema", "Input schema")
    for step in examined.draft.steps:
        yield from _schema(
            step.source.output_schema, f"{step.pointer}/outputSchema", f'Step "{step.name}": the output schema'
        )


def _schema(written: Any, at: str, owner: str) -> Iterator[Note]:
    if written is None:
        return
    try:
        read_schema(written)
    except LargeSchema as error:
        yield Note(at, f"{owner} {error}.", "", "too_large")
    except BadSchema as error:
        yield Note(at, f"{owner} {error}.", "", "bad_schema")
