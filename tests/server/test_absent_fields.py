"""The types of the web UI take an optional field for absent, never for null: every answer has to leave it out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

from tests.server.route_table import ROUTES


def _structs(found: inspect.Type, seen: set[type]) -> Iterator[type[msgspec.Struct]]:
    match found:
        case inspect.StructType(cls=cls, fields=fields):
            if cls not in seen:
                seen.add(cls)
                yield cls
                for field in fields:
                    yield from _structs(field.type, seen)
        case inspect.UnionType(types=types):
            for each in types:
                yield from _structs(each, seen)
        case inspect.DictType(value_type=inner) | inspect.ListType(item_type=inner):
            yield from _structs(inner, seen)
        case _:
            pass


def _answers() -> Iterator[Any]:
    for route in ROUTES:
        yield from (
            reply.shape for reply in route.replies if reply.shape is not None and not isinstance(reply.shape, str)
        )
        if route.streams is not None:
            yield route.streams


def test_a_field_that_has_its_default_is_left_out_of_every_answer() -> None:
    seen: set[type] = set()
    structs = [each for shape in _answers() for each in _structs(inspect.type_info(shape), seen)]
    assert len(structs) > 30
    assert [
        each.__name__
        for each in structs
        if any(not field.required for field in inspect.type_info(each).fields)  # type: ignore[union-attr]
        and not each.__struct_config__.omit_defaults
    ] == []
